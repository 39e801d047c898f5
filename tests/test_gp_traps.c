/* Traps that other libraries fell into, each with the outcome it must have.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"
#include "test_util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A fit without a search at the kernel's values. */
static gp_model *condition(covar_context *ctx, const char *kernel, double noise,
                           gp_mean_kind mean, la_view X, la_view y,
                           gp_report *r)
{
    gp_options o = gp_options_of(ctx, kernel);
    gp_model *m = NULL;
    o.no_fit = true;
    o.mean = mean;
    gp_options_fix(&o, "noise_variance", noise);
    TEST_OK(ctx, gp_fit(&m, ctx, X, y, &o, r));
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    gp_options_done(&o);
    return m;
}

static void refuse(covar_context *ctx, la_view X, la_view y,
                   const gp_options *o, covar_status status, const char *part)
{
    gp_model *m = NULL;
    TEST_STATUS(ctx, gp_fit(&m, ctx, X, y, o, NULL), status);
    CU_ASSERT_PTR_NULL(m);
    TEST_CONTAINS(covar_error_text(ctx), part);
}

/* Nothing happens at any size: lml(n + 1) - lml(n) is the log density that
 * the model of n rows predicts for row n + 1. */
static void check_step(size_t n)
{
    covar_context *ctx = test_context();
    double *x = malloc((n + 1) * sizeof(*x)), *y = malloc((n + 1) * sizeof(*y));
    for (size_t i = 0; i <= n; i++) {
        x[i] = 1e4 + (double)((i * 7919) % 9973) / 50;
        y[i] = sin(x[i] / 9) + .1 * cos(31.0 * (double)(i * i % 997));
    }
    gp_report r[2];
    const char *kernel = "2*matern52(lengthscale=12)";
    gp_model *m = condition(ctx, kernel, .02, GP_MEAN_ZERO, la_mat_f64(x, n, 1),
                            la_vec_f64(y, n), &r[0]);
    double mean, var;
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(x + n, 1, 1),
                            &(gp_prediction){.mean = &mean, .var_y = &var}));
    double shift = r[0].y_mean;
    gp_model_free(m);
    for (size_t i = 0; i <= n; i++)
        y[i] -= shift;
    for (size_t k = 0; k < 2; k++) {
        gp_options o = gp_options_of(ctx, kernel);
        o.no_fit = true;
        o.mean = GP_MEAN_ZERO;
        o.standardise = GP_STANDARDISE_NONE;
        gp_options_fix(&o, "noise_variance", .02);
        TEST_OK(ctx, gp_fit(&m, ctx, la_mat_f64(x, n + k, 1),
                            la_vec_f64(y, n + k), &o, &r[k]));
        gp_model_free(m);
        gp_options_done(&o);
    }
    double e = y[n] - (mean - shift);
    TEST_CLOSE(r[1].lml - r[0].lml, -(log(2 * M_PI * var) + e * e / var) / 2,
               1e-8);
    free(x);
    free(y);
    covar_context_free(ctx);
}

static void test_no_size_is_special(void)
{
    static const size_t sizes[] = {1, 63, 64, 127, 308, 512, 800};
    for (size_t i = 0; i < NELEM(sizes); i++)
        check_step(sizes[i]);
}

/* An offset of all inputs is no change for a stationary kernel. */
static void test_offset(void)
{
    static const char *const kernels[] = {
        "rbf(ard,lengthscale=1)", "matern12(lengthscale=2)",
        "rq(lengthscale=1) + 0.5*periodic(period=2,lengthscale=1)[0]"};
    covar_context *ctx = test_context();
    double X[2][2 * SERIES_N], y[SERIES_N];
    for (size_t i = 0; i < SERIES_N; i++) { /* short binary fractions */
        X[0][2 * i] = (double)(i * 13 % 32) / 8;
        X[0][2 * i + 1] = (double)(i * 11 % 64) / 16;
        y[i] = sin(X[0][2 * i]) + X[0][2 * i + 1] / 3;
        X[1][2 * i] = X[0][2 * i] + 1e6;
        X[1][2 * i + 1] = X[0][2 * i + 1] - 1e6;
    }
    for (size_t k = 0; k < NELEM(kernels); k++)
        for (int mean = GP_MEAN_CONSTANT; mean <= GP_MEAN_LINEAR; mean++) {
            gp_report r[2];
            for (size_t i = 0; i < 2; i++)
                gp_model_free(condition(ctx, kernels[k], .1, mean,
                                        la_mat_f64(X[i], SERIES_N, 2),
                                        la_vec_f64(y, SERIES_N), &r[i]));
            TEST_REL(r[1].lml, r[0].lml, 1e-9);
        }
    covar_context_free(ctx);
}

/* Units of the targets move the likelihood by n log s and nothing else. */
static void test_units(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    double lml[3], l[3], x[SERIES_N], y[SERIES_N];
    const double xs[] = {1, 1e6, 1e-6}, ys[] = {1, 1e-8, 1e8};
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < SERIES_N; i++) {
            x[i] = xs[k] * s.x[i];
            y[i] = ys[k] * s.y[i];
        }
        gp_model *m = NULL;
        gp_report r;
        gp_options o = gp_options_default();
        o.restarts = -1;
        TEST_OK(ctx, gp_fit(&m, ctx, la_mat_f64(x, SERIES_N, 1),
                            la_vec_f64(y, SERIES_N), &o, &r));
        lml[k] = r.lml + SERIES_N * log(ys[k]);
        l[k] = gp_value(m, ctx, "lengthscale[0]") / xs[k];
        gp_model_free(m);
    }
    TEST_CLOSE(lml[1], lml[0], 1e-8);
    TEST_CLOSE(lml[2], lml[0], 1e-8);
    TEST_REL(l[1], l[0], 1e-4);
    TEST_REL(l[2], l[0], 1e-4);
    covar_context_free(ctx);
}

static void test_stationary_centring(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    double lml[4];
    for (int k = 0; k < 4; k++) {
        gp_options o = gp_options_of(ctx, "1*rq(lengthscale=1)");
        o.no_fit = true;
        o.standardise = (gp_standardise)k;
        gp_options_start(&o, "noise_variance", .1);
        gp_model *m = NULL;
        gp_report r;
        TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
        lml[k] = r.lml;
        gp_model_free(m);
        gp_options_done(&o);
    }
    for (int k = 1; k < 4; k++)
        TEST_REL(lml[k], lml[0], 1e-9);
    covar_context_free(ctx);
}

static void test_duplicate_rows(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    s.x[5] = s.x[4];
    s.y[5] = s.y[4];
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), NULL, &r));
    CU_ASSERT(r.notes & GP_NOTE_DUPLICATE_ROWS);
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_constant_target(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_default();
    for (size_t i = 0; i < SERIES_N; i++)
        s.y[i] = 3;
    refuse(ctx, series_x(&s), series_y(&s), &o, COVAR_ERR_DATA,
           "all 20 targets are equal");
    o.objective = GP_MAP;
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    double mean;
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(s.x, 1, 1),
                            &(gp_prediction){.mean = &mean}));
    TEST_CLOSE(mean, 3, 1e-9);
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_missing_targets(void)
{
    covar_context *ctx = test_context();
    series s = series_make(), t = s;
    gp_model *m = NULL;
    gp_report r[2];
    gp_options o = gp_options_default();
    o.restarts = -1;
    s.y[3] = s.y[19] = NAN;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r[0]));
    TEST_INT(r[0].n, SERIES_N - 2);
    TEST_INT(r[0].n_missing, 2);
    gp_model_free(m);
    memmove(t.x + 3, t.x + 4, 15 * sizeof(*t.x));
    memmove(t.y + 3, t.y + 4, 15 * sizeof(*t.y));
    TEST_OK(ctx, gp_fit(&m, ctx, la_mat_f64(t.x, 18, 1), la_vec_f64(t.y, 18),
                        &o, &r[1]));
    TEST_CLOSE(r[1].lml, r[0].lml, 0);
    gp_model_free(m);
    for (size_t i = 0; i < SERIES_N; i++)
        s.y[i] = NAN;
    refuse(ctx, series_x(&s), series_y(&s), &o, COVAR_ERR_DATA, "none of the");
    covar_context_free(ctx);
}

static void test_constant_column(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    double X[2 * SERIES_N];
    for (size_t i = 0; i < SERIES_N; i++) {
        X[2 * i] = 7;
        X[2 * i + 1] = s.x[i];
    }
    gp_model *m = NULL;
    gp_report r[2];
    gp_options o = gp_options_default();
    o.restarts = -1;
    TEST_OK(ctx, gp_fit(&m, ctx, la_mat_f64(X, SERIES_N, 2), series_y(&s), &o,
                        &r[0]));
    CU_ASSERT(r[0].notes & GP_NOTE_DROPPED_COLUMN);
    CU_ASSERT(isnan(gp_value(m, ctx, "lengthscale[0]")));
    CU_ASSERT(gp_value(m, ctx, "lengthscale[1]") > 0);
    gp_model_free(m);
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r[1]));
    TEST_CLOSE(r[0].lml, r[1].lml, 1e-9);
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_few_rows(void)
{
    covar_context *ctx = test_context();
    const double x[] = {1, 2}, y[] = {3, 4};
    gp_options o = gp_options_default();
    refuse(ctx, la_mat_f64(x, 1, 1), la_vec_f64(y, 1), &o, COVAR_ERR_DATA,
           "too few");
    refuse(ctx, la_mat_f64(x, 2, 1), la_vec_f64(y, 2), &o, COVAR_ERR_DATA,
           "at least 3");
    o.objective = GP_MAP;
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx,
            gp_fit(&m, ctx, la_mat_f64(x, 1, 1), la_vec_f64(y, 1), &o, &r));
    TEST_INT(r.n, 1);
    double mean;
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(x + 1, 1, 1),
                            &(gp_prediction){.mean = &mean}));
    TEST_CLOSE(mean, 3, 1e-9);
    gp_model_free(m);
    o.mean = GP_MEAN_LINEAR;
    const double z[] = {1, 2, 5, 4};
    refuse(ctx, la_mat_f64(z, 2, 2), la_vec_f64(y, 2), &o, COVAR_ERR_DATA,
           "3 coefficients");
    covar_context_free(ctx);
}

static void test_many_columns(void)
{
    enum { ROWS = 30, COLS = 100 };
    static double X[ROWS * COLS], y[ROWS];
    for (size_t i = 0; i < ROWS * COLS; i++)
        X[i] = cos(17.0 * (double)(i * i % 1013));
    for (size_t i = 0; i < ROWS; i++)
        y[i] = X[i * COLS] + .1 * X[i * COLS + 1];
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    o.restarts = -1;
    o.max_iterations = 10;
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx, gp_fit(&m, ctx, la_mat_f64(X, ROWS, COLS), la_vec_f64(y, ROWS),
                        &o, &r));
    CU_ASSERT(isfinite(r.lml));
    TEST_INT(r.d, COLS);
    gp_model_free(m);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"no size is special", test_no_size_is_special},
        {"offset of the inputs", test_offset},
        {"units", test_units},
        {"centring a stationary model", test_stationary_centring},
        {"duplicate rows", test_duplicate_rows},
        {"constant target", test_constant_target},
        {"missing targets", test_missing_targets},
        {"constant column", test_constant_column},
        {"few rows", test_few_rows},
        {"100 columns", test_many_columns},
    };
    return CUTAP_RUN("gp_traps", cases);
}
