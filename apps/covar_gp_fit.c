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

/* Known variances of the rows `rows` (none = all), or NULL without a column. */
static covar_status noise_rows(double **out, fit_result *r, la_view rows,
                               size_t n)
{
    const char *name = r->line->noise_column;
    *out = NULL;
    if (!name || n == 0)
        return COVAR_OK;
    la_view column = dataset_column(r->data, name);
    if (la_view_is_none(column))
        return covar_fail(r->ctx, COVAR_ERR_NAME,
                          "%s: no column %s for the noise", r->line->data,
                          name);
    *out = malloc(n * sizeof(**out));
    if (!*out)
        return covar_fail(r->ctx, COVAR_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        size_t row = la_view_is_none(rows) ? i : (size_t)la_view_get(rows, i);
        (*out)[i] = la_view_get(column, row);
        if (!((*out)[i] >= 0))
            return covar_fail(r->ctx, COVAR_ERR_DATA,
                              "%s: noise variance %g in row %zu of %s",
                              r->line->data, (*out)[i], row, name);
    }
    return COVAR_OK;
}

static covar_status make_split(dataset_split *split, fit_result *r)
{
    const fit_line *line = r->line;
    if (line->split >= 0)
        return dataset_split_get(split, r->ctx, r->data, (size_t)line->split);
    uint64_t seed = line->seed > 0 ? (uint64_t)line->seed : 0;
    return dataset_split_random(split, r->ctx, r->all.n, line->test_fraction,
                                seed);
}

static covar_status load(fit_result *r)
{
    const fit_line *line = r->line;
    const char *without[] = {line->noise_column, NULL};
    la_view all = la_view_none();
    COVAR_TRY(dataset_load(&r->data, r->ctx, line->data));
    COVAR_TRY(dataset_select(&r->all, r->ctx, r->data, line->target, without));
    if (line->split < 0 && isnan(line->test_fraction)) {
        r->train = r->all;
        r->train.owned = NULL;
        return noise_rows(&r->train_noise, r, all, r->train.n);
    }
    dataset_split split = {0};
    covar_status status = make_split(&split, r);
    if (status == COVAR_OK)
        status = dataset_xy_rows(&r->train, r->ctx, &r->all, split.train);
    if (status == COVAR_OK)
        status = dataset_xy_rows(&r->test, r->ctx, &r->all, split.test);
    if (status == COVAR_OK)
        status = noise_rows(&r->train_noise, r, split.train, r->train.n);
    if (status == COVAR_OK)
        status = noise_rows(&r->test_noise, r, split.test, r->test.n);
    dataset_split_clear(&split);
    return status;
}

static covar_status score(fit_result *r)
{
    size_t n = r->test.n;
    if (n == 0)
        return COVAR_OK;
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
    COVAR_TRY(load(r));
    o->noise_per_point = r->train_noise;
    app_show_progress(r->ctx, r->line->quiet);
    covar_status status =
        gp_fit(&r->model, r->ctx, r->train.X, r->train.y, o, &r->report);
    app_end_progress();
    COVAR_TRY(status);
    covar_cancel_clear(r->ctx);
    r->std_error = calloc(gp_param_count(r->model) + 1, sizeof(double));
    if (!r->std_error)
        return covar_fail(r->ctx, COVAR_ERR_NOMEM, "out of memory");
    COVAR_TRY(gp_param_std_errors(r->model, r->ctx, r->std_error));
    COVAR_TRY(score(r));
    return r->line->save ? gp_save(r->model, r->ctx, r->line->save) : COVAR_OK;
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
    if (exit_code == APP_OK && fit(&r, &o) != COVAR_OK)
        exit_code = app_failure(APP, ctx);
    if (exit_code == APP_OK && line->report == 1)
        report_json(stdout, &r);
    else if (exit_code == APP_OK)
        report_text(stdout, &r);
    if (exit_code == APP_OK && line->plot)
        exit_code = plot_fit(&r);
    clear(&r);
    gp_options_clear(&o);
    gp_kernel_free(kernel);
    return exit_code;
}

int run_fit(int argc, char **argv)
{
    fit_line line = {.noise = NAN,
                     .fix_noise = NAN,
                     .split = -1,
                     .restarts = -1,
                     .threads = 0,
                     .test_fraction = NAN};
    app_list rest = {.n = 0};
    if (!app_parse(APP, argc, argv, table, &line, &rest))
        return APP_USAGE;
    if (rest.n != 1)
        return app_usage_error(APP, "fit: expected one data file, got %zu",
                               rest.n);
    if (line.split >= 0 && !isnan(line.test_fraction))
        return app_usage_error(APP, "fit: --split or --test-fraction, not "
                                    "both");
    if (!isnan(line.noise) && !isnan(line.fix_noise))
        return app_usage_error(APP, "fit: --noise or --fix-noise, not both");
    line.data = rest.item[0];
    covar_context *ctx = covar_context_create();
    if (!ctx)
        return app_usage_error(APP, "out of memory");
    covar_context_set_threads(ctx, (int)line.threads);
    app_cancel_on_signal(ctx);
    int exit_code = run(&line, ctx);
    app_cancel_on_signal(NULL);
    covar_context_free(ctx);
    return exit_code;
}
