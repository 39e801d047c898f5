/* covar-gp fit: load, split, fit, score, save, draw, report.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const mean_names[] = {"constant", "zero", "linear", NULL};
const char *const standardise_names[] = {"xy", "none", "x", "y", NULL};
const char *const objective_names[] = {"ml", "map", "loo", NULL};
static const char *const dtype_names[] = {"f64", "f32", "mixed", NULL};
static const char *const report_names[] = {"text", "json", NULL};

#define AT(member) offsetof(fit_line, member)

static const app_option table[] = {
    {"--target", APP_TEXT, AT(target), NULL},
    {"--kernel", APP_TEXT, AT(kernel), NULL},
    {"--mean", APP_CHOICE, AT(mean), mean_names},
    {"--objective", APP_CHOICE, AT(objective), objective_names},
    {"--prior", APP_REPEAT, AT(prior), NULL},
    {"--noise", APP_REAL, AT(noise), NULL},
    {"--fix-noise", APP_REAL, AT(fix_noise), NULL},
    {"--noise-column", APP_TEXT, AT(noise_column), NULL},
    {"--skip-text", APP_FLAG, AT(skip_text), NULL},
    {"--set", APP_REPEAT, AT(set), NULL},
    {"--fix", APP_REPEAT, AT(fix), NULL},
    {"--no-fit", APP_FLAG, AT(no_fit), NULL},
    {"--jitter", APP_TEXT, AT(jitter), NULL},
    {"--standardise", APP_CHOICE, AT(standardise), standardise_names},
    {"--split", APP_COUNT, AT(split), NULL},
    {"--test-fraction", APP_REAL, AT(test_fraction), NULL},
    {"--restarts", APP_COUNT, AT(restarts), NULL},
    {"--max-iterations", APP_COUNT, AT(max_iterations), NULL},
    {"--max-seconds", APP_REAL, AT(max_seconds), NULL},
    {"--dtype", APP_CHOICE, AT(dtype), dtype_names},
    {"--save", APP_TEXT, AT(save), NULL},
    {"--plot", APP_TEXT, AT(plot), NULL},
    {"--report", APP_CHOICE, AT(report), report_names},
    {"--threads", APP_COUNT, AT(threads), NULL},
    {"--seed", APP_COUNT, AT(seed), NULL},
    {"--quiet", APP_FLAG, AT(quiet), NULL},
    {NULL, APP_FLAG, 0, NULL},
};

static covar_status test_scores(fit_result *r)
{
    size_t n = r->test.n;
    r->test_mean = malloc(n * sizeof(double));
    r->test_var = malloc(n * sizeof(double));
    if (!r->test_mean || !r->test_var)
        return covar_fail(r->ctx, COVAR_ERR_NOMEM, "out of memory");
    gp_prediction p = {.mean = r->test_mean, .var_y = r->test_var};
    COVAR_TRY(gp_predict(r->model, r->ctx, r->test.X, &p));
    r->rounded += p.rounded;
    for (size_t i = 0; r->test_noise && i < n; i++)
        r->test_var[i] += r->test_noise[i];
    const double *y = r->test.y.data;
    double sd = r->report.y_sd;
    r->scores =
        gp_score(y, r->test_mean, r->test_var, n, r->report.y_mean, sd * sd);
    return COVAR_OK;
}

static covar_status fit(fit_result *r, gp_options *o)
{
    COVAR_TRY(load_data(r));
    if (!r->line->quiet)
        app_blas_note(APP);
    o->noise_per_point = r->train_noise;
    o->column_name = r->train.x_name;
    app_show_progress(r->ctx, r->line->quiet);
    covar_status status =
        gp_fit(&r->model, r->ctx, r->train.X, r->train.y, o, &r->report);
    app_end_progress();
    if (status != COVAR_OK)
        return covar_fail_in(r->ctx, r->line->data);
    covar_cancel_clear(r->ctx);
    r->std_error = calloc(gp_param_count(r->model) + 1, sizeof(double));
    return r->std_error ? COVAR_OK
                        : covar_fail(r->ctx, COVAR_ERR_NOMEM, "out of memory");
}

/* A finished fit is reported whatever fails after it; the exit status tells
 * that something did. */
static int deliver(fit_result *r)
{
    int exit_code = APP_OK;
    const fit_line *line = r->line;
    if (gp_param_std_errors(r->model, r->ctx, r->std_error) != COVAR_OK) {
        exit_code = app_failure(APP, r->ctx);
        for (size_t i = 0; i < gp_param_count(r->model); i++)
            r->std_error[i] = NAN;
    }
    if (r->test.n > 0 && test_scores(r) != COVAR_OK) {
        exit_code = app_failure(APP, r->ctx);
        dataset_xy_clear(&r->test);
    }
    if (line->save) {
        r->saved = gp_save(r->model, r->ctx, line->save) == COVAR_OK;
        if (!r->saved)
            exit_code = app_failure(APP, r->ctx);
    }
    if (line->report == 1)
        report_json(stdout, r);
    else
        report_text(stdout, r);
    exit_code = app_end_output(APP, exit_code);
    if (line->plot && plot_fit(r) != APP_OK)
        exit_code = APP_FAILED;
    return exit_code;
}

static int check_outputs(const fit_line *line)
{
    static const char *const model[] = {".h5", NULL};
    const char *input[] = {line->data, NULL};
    int status = line->save
                     ? app_check_output(APP, "--save", line->save, model, input)
                     : APP_OK;
    return status == APP_OK && line->plot ? plot_check(line) : status;
}

static void clear(fit_result *r)
{
    gp_model_free(r->model);
    free(r->train_noise);
    free(r->test_noise);
    free(r->std_error);
    free(r->test_mean);
    free(r->test_var);
    dataset_xy_clear(&r->train);
    dataset_xy_clear(&r->test);
    dataset_xy_clear(&r->all);
    dataset_free(r->data);
}

static int run(const fit_line *line, covar_context *ctx)
{
    gp_options o;
    gp_kernel *kernel;
    fit_result r = {.line = line, .ctx = ctx};
    int exit_code = fit_options(&o, &kernel, ctx, line);
    if (exit_code == APP_OK)
        exit_code = check_outputs(line);
    if (exit_code == APP_OK)
        exit_code =
            fit(&r, &o) == COVAR_OK ? deliver(&r) : app_failure(APP, ctx);
    clear(&r);
    gp_options_clear(&o);
    gp_kernel_free(kernel);
    return exit_code;
}

/* Options that contradict each other; data is set. */
static int check_line(const fit_line *line)
{
    if (!app_check_threads(APP, line->threads))
        return APP_USAGE;
    if (line->split >= 0 && !isnan(line->test_fraction))
        return app_usage_error(APP, "fit: --split or --test-fraction, not "
                                    "both");
    if (!isnan(line->noise) && !isnan(line->fix_noise))
        return app_usage_error(APP, "fit: --noise or --fix-noise, not both");
    return APP_OK;
}

int run_fit(int argc, char **argv)
{
    fit_line line = {.noise = NAN,
                     .fix_noise = NAN,
                     .split = -1,
                     .restarts = -1,
                     .max_iterations = -1,
                     .threads = 0,
                     .test_fraction = NAN};
    app_list rest = {.n = 0};
    if (!app_parse(APP, argc, argv, table, &line, &rest))
        return APP_USAGE;
    if (rest.n != 1)
        return app_usage_error(APP, "fit: expected one data file, got %zu",
                               rest.n);
    if (check_line(&line) != APP_OK)
        return APP_USAGE;
    line.data = rest.item[0];
    covar_context *ctx = covar_context_create();
    if (!ctx)
        return app_usage_error(APP, "out of memory");
    covar_context_set_threads(ctx, (int)line.threads);
    app_cancel_on_signal(ctx);
    int exit_code = run(&line, ctx);
    app_cancel_on_signal(NULL);
    app_leave_after_io(ctx, exit_code);
    covar_context_free(ctx);
    return exit_code;
}
