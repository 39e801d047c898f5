/* covar-gp predict: a saved model at new inputs, to CSV or HDF5.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct predict_line {
    const char *out;
    long samples, threads, seed;
    bool quiet;
} predict_line;

static const app_option table[] = {
    {"-o", APP_TEXT, offsetof(predict_line, out), NULL},
    {"--samples", APP_COUNT, offsetof(predict_line, samples), NULL},
    {"--threads", APP_COUNT, offsetof(predict_line, threads), NULL},
    {"--seed", APP_COUNT, offsetof(predict_line, seed), NULL},
    {"--quiet", APP_FLAG, offsetof(predict_line, quiet), NULL},
    {NULL, APP_FLAG, 0, NULL},
};

typedef struct predict_result {
    size_t n, p, s;
    double *mean, *var_f, *var_y; /* mean (n,p) */
    double *sample;               /* (s,n) or NULL */
} predict_result;

static covar_status predict(predict_result *r, const gp_model *m,
                            covar_context *ctx, la_view X,
                            const predict_line *line)
{
    if (!line->quiet)
        app_blas_note(APP);
    r->n = X.dim[0];
    r->p = gp_outputs(m);
    r->s = (size_t)line->samples;
    r->mean = malloc((r->n * r->p + 1) * sizeof(double));
    r->var_f = malloc((r->n + 1) * sizeof(double));
    r->var_y = malloc((r->n + 1) * sizeof(double));
    if (!r->mean || !r->var_f || !r->var_y)
        return covar_fail(ctx, COVAR_ERR_NOMEM, "out of memory");
    gp_prediction p = {.mean = r->mean, .var_f = r->var_f, .var_y = r->var_y};
    COVAR_TRY(gp_predict(m, ctx, X, &p));
    if (r->s == 0)
        return COVAR_OK;
    r->sample = calloc(r->s, (r->n + 1) * sizeof(double)); /* no overflow */
    if (!r->sample)
        return covar_fail(ctx, COVAR_ERR_NOMEM,
                          "--samples %zu at %zu rows: out of memory", r->s,
                          r->n);
    uint64_t seed = line->seed > 0 ? (uint64_t)line->seed : 0;
    return gp_sample(r->sample, m, ctx, X, r->s, seed, GP_SAMPLE_JOINT);
}

static void print_csv(FILE *f, const predict_result *r)
{
    for (size_t k = 0; k < r->p; k++)
        fprintf(f, r->p > 1 ? "mean_%zu," : "mean,", k);
    fputs("var_f,var_y", f);
    for (size_t s = 0; s < r->s; s++)
        fprintf(f, ",sample_%zu", s);
    putc('\n', f);
    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k < r->p; k++)
            fprintf(f, "%.17g,", r->mean[i * r->p + k]);
        fprintf(f, "%.17g,%.17g", r->var_f[i], r->var_y[i]);
        for (size_t s = 0; s < r->s; s++)
            fprintf(f, ",%.17g", r->sample[s * r->n + i]);
        putc('\n', f);
    }
}

static covar_status save_hdf5(covar_context *ctx, const predict_result *r,
                              la_view X, const char *path)
{
    dataset *d = NULL;
    la_view mean =
        r->p > 1 ? la_mat_f64(r->mean, r->n, r->p) : la_vec_f64(r->mean, r->n);
    COVAR_TRY(dataset_create(&d, ctx, "prediction"));
    covar_status status = dataset_set_member(ctx, d, "X", X);
    if (status == COVAR_OK)
        status = dataset_set_member(ctx, d, "mean", mean);
    if (status == COVAR_OK)
        status =
            dataset_set_member(ctx, d, "var_f", la_vec_f64(r->var_f, r->n));
    if (status == COVAR_OK)
        status =
            dataset_set_member(ctx, d, "var_y", la_vec_f64(r->var_y, r->n));
    if (status == COVAR_OK && r->sample)
        status = dataset_set_member(ctx, d, "samples",
                                    la_mat_f64(r->sample, r->s, r->n));
    if (status == COVAR_OK)
        status = dataset_save(ctx, d, path);
    dataset_free(d);
    return status;
}

static covar_status write(covar_context *ctx, const predict_result *r,
                          la_view X, const char *path)
{
    if (path && app_has_suffix(path, ".h5"))
        return save_hdf5(ctx, r, X, path);
    FILE *f = path ? fopen(path, "w") : stdout;
    if (!f)
        return covar_fail(ctx, COVAR_ERR_IO, "%s: cannot be written", path);
    print_csv(f, r);
    bool ok = fflush(f) == 0 && !ferror(f);
    if (path)
        ok = fclose(f) == 0 && ok;
    if (path && !ok)
        remove(path); /* half a table looks like a whole one */
    return ok ? COVAR_OK
              : covar_fail(ctx, COVAR_ERR_IO, "%s: writing failed",
                           path ? path : "standard output");
}

static covar_status run(covar_context *ctx, const predict_line *line,
                        const char *model_path, const char *inputs)
{
    gp_model *m = NULL;
    dataset *d = NULL;
    model_columns at = {.x = NULL};
    predict_result r = {.n = 0};
    covar_status status = gp_load(&m, ctx, model_path);
    if (status == COVAR_OK)
        status = load_table(&d, ctx, inputs, true, line->quiet);
    if (status == COVAR_OK)
        status = fail_without_text(
            ctx, d, take_columns(&at, ctx, m, d, inputs, line->quiet));
    if (status == COVAR_OK && predict(&r, m, ctx, at.X, line) != COVAR_OK)
        status = covar_fail_in(ctx, inputs);
    if (status == COVAR_OK)
        status = write(ctx, &r, at.X, line->out);
    free(r.mean);
    free(r.var_f);
    free(r.var_y);
    free(r.sample);
    model_columns_clear(&at);
    dataset_free(d);
    gp_model_free(m);
    return status;
}

static int check_line(const predict_line *line, const app_list *rest)
{
    static const char *const table_names[] = {".h5", ".csv", NULL};
    if (rest->n != 2)
        return app_usage_error(APP,
                               "predict: expected MODEL.h5 and INPUTS, "
                               "got %zu arguments",
                               rest->n);
    if (!app_check_threads(APP, line->threads))
        return APP_USAGE;
    const char *input[] = {rest->item[0], rest->item[1], NULL};
    return line->out
               ? app_check_output(APP, "-o", line->out, table_names, input)
               : APP_OK;
}

int run_predict(int argc, char **argv)
{
    predict_line line = {.out = NULL};
    app_list rest = {.n = 0};
    if (!app_parse(APP, argc, argv, table, &line, &rest))
        return APP_USAGE;
    int exit_code = check_line(&line, &rest);
    if (exit_code != APP_OK)
        return exit_code;
    covar_context *ctx = covar_context_create();
    if (!ctx)
        return app_usage_error(APP, "out of memory");
    covar_context_set_threads(ctx, (int)line.threads);
    covar_status status = run(ctx, &line, rest.item[0], rest.item[1]);
    exit_code = status == COVAR_OK ? APP_OK : app_failure(APP, ctx);
    app_leave_after_io(ctx, exit_code);
    covar_context_free(ctx);
    return exit_code;
}
