/* covar-gp: pictures of a fit, drawn by gnuplot.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One input: data, posterior mean, 95 % bands of f and of y, the forecast
 * beyond the data, and below it the standardised residuals. Several inputs:
 * predicted against observed values with 95 % intervals, and standardised
 * residuals against predictions. Training rows are judged by leave-one-out
 * predictions, never by fitted values; with a split the test rows are shown.
 *
 * PICTURE.gp (the script) and PICTURE.dat (its data) stay beside the picture:
 * restyle the script and run gnuplot on it in that folder. */
#include "config.h"

#include "covar-gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRID = 1201, PATH = 1024 };

typedef struct plot_paths {
    char folder[PATH], base[PATH]; /* base: the picture without extension */
    const char *extension;
    char script[2 * PATH + 8], data[2 * PATH + 8];
} plot_paths;

static bool make_paths(plot_paths *p, const char *picture)
{
    const char *slash = strrchr(picture, '/');
    const char *name = slash ? slash + 1 : picture;
    const char *dot = strrchr(name, '.');
    size_t folder = slash ? (size_t)(slash - picture) : 0;
    size_t base = dot ? (size_t)(dot - name) : strlen(name);
    if (folder >= PATH || base >= PATH || base == 0)
        return false;
    snprintf(p->folder, PATH, "%.*s", (int)folder, picture);
    if (!slash)
        strcpy(p->folder, ".");
    else if (folder == 0)
        strcpy(p->folder, "/");
    snprintf(p->base, PATH, "%.*s", (int)base, name);
    p->extension = dot ? dot + 1 : "svg";
    snprintf(p->script, sizeof(p->script), "%s/%s.gp", p->folder, p->base);
    snprintf(p->data, sizeof(p->data), "%s/%s.dat", p->folder, p->base);
    return true;
}

static const char *terminal(const char *extension)
{
    if (strcmp(extension, "png") == 0)
        return "pngcairo size 1000,640 font 'DejaVu Sans,11'";
    if (strcmp(extension, "pdf") == 0)
        return "pdfcairo size 18cm,11.5cm font 'DejaVu Sans,9'";
    if (strcmp(extension, "svg") == 0)
        return "svg size 1000,640 font 'Helvetica,14' background '#ffffff'";
    return NULL;
}

/* ---- The data file: blocks separated by two blank lines
 * ---------------------- */

/* What is compared: n observed values with prediction and variance of y. */
typedef struct comparison {
    size_t n;
    double *y, *mean, *var; /* one block, owned at y */
    la_view X;
    bool is_test;
} comparison;

static covar_status compare(comparison *c, const fit_result *r)
{
    const gp_model *m = r->model;
    c->is_test = r->test.n > 0;
    c->n = c->is_test ? r->test.n : gp_n(m);
    c->X = c->is_test ? r->test.X : gp_inputs(m);
    c->y = malloc(3 * (c->n + 1) * sizeof(double));
    if (!c->y)
        return covar_fail(r->ctx, COVAR_ERR_NOMEM, "out of memory");
    c->mean = c->y + c->n;
    c->var = c->mean + c->n;
    la_view y = c->is_test ? r->test.y : gp_targets(m);
    for (size_t i = 0; i < c->n; i++)
        c->y[i] = la_view_get(y, i);
    if (!c->is_test)
        return gp_loo(m, r->ctx, c->mean, c->var, NULL);
    memcpy(c->mean, r->test_mean, c->n * sizeof(double));
    memcpy(c->var, r->test_var, c->n * sizeof(double));
    return COVAR_OK;
}

static double input(const comparison *c, size_t i)
{
    return la_view_get(c->X, i * c->X.dim[1]);
}

static void write_comparison(FILE *f, const comparison *c, size_t d)
{
    fprintf(f,
            "# %s: input (first column), observed, predicted, sd of y, "
            "standardised residual\n",
            c->is_test ? "test rows" : "leave-one-out");
    for (size_t i = 0; i < c->n; i++) {
        double sd = sqrt(c->var[i]);
        if (isnan(c->y[i]))
            continue;
        fprintf(f, "%.17g %.17g %.17g %.17g %.17g\n", d > 0 ? input(c, i) : 0.0,
                c->y[i], c->mean[i], sd, (c->y[i] - c->mean[i]) / sd);
    }
    fprintf(f, "\n\n");
}

/* Training rows for the picture with one input. */
static void write_training(FILE *f, const gp_model *m, double *low,
                           double *high)
{
    la_view X = gp_inputs(m), y = gp_targets(m);
    *low = INFINITY;
    *high = -INFINITY;
    fprintf(f, "# training rows: input, target\n");
    for (size_t i = 0; i < gp_n(m); i++) {
        double x = la_view_get(X, i);
        *low = fmin(*low, x);
        *high = fmax(*high, x);
        fprintf(f, "%.17g %.17g\n", x, la_view_get(y, i * gp_outputs(m)));
    }
    fprintf(f, "\n\n");
}

/* Mean and sds on a grid from low to high. */
static covar_status write_curve(FILE *f, const fit_result *r, double low,
                                double high)
{
    static const size_t columns = 4;
    double *x = malloc(columns * GRID * sizeof(*x));
    if (!x)
        return covar_fail(r->ctx, COVAR_ERR_NOMEM, "out of memory");
    double *mean = x + GRID, *var_f = mean + GRID, *var_y = var_f + GRID;
    for (size_t i = 0; i < GRID; i++)
        x[i] = low + (high - low) * (double)i / (GRID - 1);
    gp_prediction p = {.mean = mean, .var_f = var_f, .var_y = var_y};
    covar_status status =
        gp_predict(r->model, r->ctx, la_mat_f64(x, GRID, 1), &p);
    fprintf(f, "# posterior: input, mean, sd of f, sd of y\n");
    for (size_t i = 0; status == COVAR_OK && i < GRID; i++)
        fprintf(f, "%.17g %.17g %.17g %.17g\n", x[i], mean[i], sqrt(var_f[i]),
                sqrt(var_y[i]));
    free(x);
    return status;
}

/* ---- The script
 * -------------------------------------------------------------- */

/* Text inside a gnuplot string in single quotes. */
static void quoted(FILE *f, const char *s)
{
    putc('\'', f);
    for (; *s; s++)
        if (*s == '\'')
            fputs("''", f);
        else if ((unsigned char)*s >= 0x20)
            putc(*s, f);
    putc('\'', f);
}

static void script_head(FILE *f, const plot_paths *p, const fit_result *r)
{
    const char *title = dataset_attribute(r->data, "title");
    char name[PATH + 8];
    fprintf(f, "set terminal %s\nset output ", terminal(p->extension));
    snprintf(name, sizeof(name), "%s.%s", p->base, p->extension);
    quoted(f, name);
    fputs("\ndata = ", f);
    snprintf(name, sizeof(name), "%s.dat", p->base);
    quoted(f, name);
    fputs("\nset border 3 lc rgb '#606060'\nset tics nomirror out scale 0.6\n"
          "set grid lc rgb '#e6e6e6' lw 1\nset key noenhanced\n"
          "set multiplot title ",
          f);
    quoted(f, title ? title : r->line->data);
    fputs(" noenhanced\n", f);
}

static void curve_script(FILE *f, const fit_result *r, double last,
                         bool is_test)
{
    const char *x = r->train.x_name[0], *y = r->train.y_name;
    fputs("set lmargin 11\nset rmargin 3\n"
          "set origin 0,0.30\nset size 1,0.64\nset format x ''\n"
          "set key top left reverse Left samplen 2 spacing 1.1\nset ylabel ",
          f);
    quoted(f, y ? y : "y");
    fprintf(f,
            " noenhanced\n"
            "set arrow 1 from first %.17g, graph 0 to first %.17g, graph 1 "
            "nohead dt 2 lc rgb '#808080'\n",
            last, last);
    fputs("stats data index 2 using 1 nooutput\n"
          "set xrange [STATS_min:STATS_max]\n"
          "plot data index 2 using 1:($2-1.96*$4):($2+1.96*$4) with "
          "filledcurves fc rgb '#cfe0f3' fs solid 1 noborder title "
          "'95 % band of y', \\\n"
          "     data index 2 using 1:($2-1.96*$3):($2+1.96*$3) with "
          "filledcurves fc rgb '#7fb0dd' fs solid 1 noborder title "
          "'95 % band of f', \\\n"
          "     data index 2 using 1:2 with lines lw 1.6 lc rgb '#1f4e8c' "
          "title 'posterior mean', \\\n"
          "     data index 1 using 1:2 with points pt 7 ps 0.35 lc rgb "
          "'#202020' title 'observations'",
          f);
    if (is_test)
        fputs(", \\\n     data index 0 using 1:2 with points pt 6 ps 0.6 lc "
              "rgb '#c8442b' title 'test observations'",
              f);
    fputs("\nunset key\nset origin 0,0\nset size 1,0.31\n"
          "set format x '%g'\nset yrange [-4:4]\nset ytics -4,2,4\n"
          "set ylabel 'std. residual'\nset xlabel ",
          f);
    quoted(f, x);
    fprintf(f,
            " noenhanced\nplot 1.96 with lines dt 2 lc rgb '#808080', "
            "-1.96 with lines dt 2 lc rgb '#808080', \\\n"
            "     data index 0 using 1:5 with impulses lw 1 lc rgb "
            "'%s'\n",
            is_test ? "#c8442b" : "#5a7fa8");
}

static void scatter_script(FILE *f, const fit_result *r, bool is_test)
{
    const char *y = r->train.y_name ? r->train.y_name : "y";
    const char *what = is_test ? "test rows" : "leave-one-out";
    fputs("unset key\nset origin 0,0\nset size 0.5,0.95\nset xlabel ", f);
    char label[300];
    snprintf(label, sizeof(label), "predicted %.200s (%s)", y, what);
    quoted(f, label);
    snprintf(label, sizeof(label), "observed %.200s", y);
    fputs(" noenhanced\nset ylabel ", f);
    quoted(f, label);
    fputs(" noenhanced\nplot data index 0 using 3:2:(1.96*$4) with xerrorbars "
          "pt 7 ps 0.4 lw 0.7 lc rgb '#7fb0dd', \\\n"
          "     data index 0 using 3:2 with points pt 7 ps 0.45 lc rgb "
          "'#1f4e8c', x with lines lc rgb '#c8442b'\n"
          "set origin 0.5,0\nset size 0.5,0.95\n"
          "set ylabel 'standardised residual'\nset yrange [-5:5]\n"
          "plot 1.96 with lines dt 2 lc rgb '#808080', -1.96 with lines dt 2 "
          "lc rgb '#808080', 0 with lines lc rgb '#808080', \\\n"
          "     data index 0 using 3:5 with points pt 7 ps 0.45 lc rgb "
          "'#1f4e8c'\n",
          f);
}

/* ---- Running
 * --------------------------------------------------------------------- */

/* gnuplot on the script, in its folder. -1: it could not be started. */
static int run_gnuplot(const plot_paths *p)
{
    char script[PATH + 4];
    snprintf(script, sizeof(script), "%s.gp", p->base);
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        if (chdir(p->folder) == 0)
            execlp("gnuplot", "gnuplot", script, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

static int write_files(FILE *data, FILE *script, const plot_paths *p,
                       const fit_result *r)
{
    comparison c = {.n = 0};
    covar_status status = compare(&c, r);
    size_t d = gp_d(r->model);
    if (status == COVAR_OK) {
        write_comparison(data, &c, d);
        script_head(script, p, r);
    }
    if (status == COVAR_OK && d == 1) {
        double low, high;
        write_training(data, r->model, &low, &high);
        double last = high;
        for (size_t i = 0; c.is_test && i < c.n; i++)
            high = fmax(high, input(&c, i));
        double ahead = 0.12 * (high - low);
        status = write_curve(data, r, low, high + ahead);
        curve_script(script, r, last, c.is_test);
    } else if (status == COVAR_OK) {
        scatter_script(script, r, c.is_test);
    }
    free(c.y);
    if (status != COVAR_OK)
        return app_failure(APP, r->ctx);
    fputs("unset multiplot\n", script);
    return APP_OK;
}

int plot_check(const fit_line *line)
{
    static const char *const picture[] = {".svg", ".png", ".pdf", NULL};
    static const char *const data[] = {".dat", NULL}, *const script[] = {".gp",
                                                                         NULL};
    const char *input[] = {line->data, NULL};
    plot_paths p;
    int status = app_check_output(APP, "--plot", line->plot, picture, input);
    if (status != APP_OK)
        return status;
    if (!make_paths(&p, line->plot))
        return app_usage_error(APP, "--plot: the name is too long");
    status = app_check_output(APP, "--plot, which writes", p.data, data, input);
    return status == APP_OK ? app_check_output(APP, "--plot, which writes",
                                               p.script, script, input)
                            : status;
}

int plot_fit(const fit_result *r)
{
    plot_paths p;
    if (!make_paths(&p, r->line->plot))
        return APP_FAILED;
    FILE *data = fopen(p.data, "w"), *script = fopen(p.script, "w");
    int result = APP_FAILED;
    if (data && script)
        result = write_files(data, script, &p, r);
    else
        fprintf(stderr, "%s: cannot write %s or %s\n", APP, p.script, p.data);
    bool written = (!data || fclose(data) == 0);
    written = (!script || fclose(script) == 0) && written;
    if (result != APP_OK || !written)
        return APP_FAILED;
    int code = run_gnuplot(&p);
    if (code < 0)
        fprintf(stderr, "%s: no gnuplot here; the script is %s\n", APP,
                p.script);
    else if (code > 0)
        fprintf(stderr, "%s: gnuplot failed (%d) on %s\n", APP, code, p.script);
    return code > 0 ? APP_FAILED : APP_OK;
}
