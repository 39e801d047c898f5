/* What follows from a model: updates, cross validation, samples, files.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"
#include "test_util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const g01_kernel = "1.3*rbf(lengthscale=0.8)";

static void test_g22(void)
{
    covar_context *ctx = test_context();
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G22");
    golden_rows r = golden_rows_read(c);
    double Xs[4], fX[5], fXs[4], eps[5], out[4];
    golden_numbers(c, "inputs/Xs", Xs, 4);
    golden_numbers(c, "inputs/prior_fX", fX, 5);
    golden_numbers(c, "inputs/prior_fXs", fXs, 4);
    golden_numbers(c, "inputs/eps", eps, 5);
    gp_model *m = gp_fixed_model(ctx, &r, g01_kernel, 0.05, GP_MEAN_ZERO, NULL);
    TEST_OK(ctx, gp_pathwise(out, m, ctx, la_mat_f64(Xs, 4, 1), fX, fXs, eps));
    golden_expect(c, "expected/posterior_sample", out, 1e-10);
    gp_model_free(m);
    golden_close(file);
    covar_context_free(ctx);
}

static double lml_of(const gp_model *m, covar_context *ctx)
{
    double lml = NAN;
    TEST_OK(ctx, gp_lml(m, ctx, NULL, &lml, NULL, NULL));
    return lml;
}

static void test_g23(void)
{
    covar_context *ctx = test_context();
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G23");
    golden_rows r = golden_rows_read(c);
    size_t all = r.n;
    r.n = 2;
    gp_model *m = gp_fixed_model(ctx, &r, g01_kernel, 0.05, GP_MEAN_ZERO, NULL);
    for (size_t n = 2; n <= all; n++) {
        char path[40];
        snprintf(path, sizeof(path), "expected/lml_first_%zu", n);
        TEST_CLOSE(lml_of(m, ctx), golden_number(c, path), 1e-10);
        if (n == all)
            break;
        gp_model *next = NULL;
        TEST_OK(ctx, gp_append(&next, m, ctx, la_mat_f64(r.X + n, 1, 1),
                               la_vec_f64(r.y + n, 1)));
        gp_model_free(m);
        m = next;
    }
    gp_model *less = NULL;
    TEST_OK(ctx, gp_remove(&less, m, ctx, 2));
    TEST_CLOSE(lml_of(less, ctx),
               golden_number(c, "expected/lml_without_index2"), 1e-10);
    golden_expect(c, "expected/chol_after_removing_index2",
                  gp_cholesky(less).data, 1e-10);
    gp_model_free(less);
    gp_model_free(m);
    golden_close(file);
    covar_context_free(ctx);
}

/* Leaving rows out and predicting them = the closed forms. */
static void test_cv_brute_force(void)
{
    enum { N = 12 };
    covar_context *ctx = test_context();
    series s = series_make();
    golden_rows r = {.n = N, .d = 1};
    memcpy(r.X, s.x, sizeof(double) * N);
    memcpy(r.y, s.y, sizeof(double) * N);
    for (int mean_kind = 0; mean_kind < 3; mean_kind++) {
        double mean[N], var[N], log_p[N];
        int32_t fold[N];
        gp_mean_kind kind = (gp_mean_kind)mean_kind;
        gp_model *m = gp_fixed_model(ctx, &r, "1.2*matern32(lengthscale=1.5)",
                                     0.1, kind, NULL);
        for (int i = 0; i < N; i++)
            fold[i] = i % 4;
        TEST_OK(ctx, gp_cv(m, ctx, fold, 4, mean, var, log_p));
        for (int k = 0; k < 4; k++) {
            golden_rows rest = {.n = 0, .d = 1};
            double at[N], expected[N], v[N];
            size_t out = 0, row[N];
            for (size_t i = 0; i < N; i++) {
                if (fold[i] == k) {
                    row[out] = i;
                    at[out++] = r.X[i];
                    continue;
                }
                rest.X[rest.n] = r.X[i];
                rest.y[rest.n++] = r.y[i];
            }
            gp_model *part = gp_fixed_model(
                ctx, &rest, "1.2*matern32(lengthscale=1.5)", 0.1, kind, NULL);
            gp_prediction p = {.mean = expected, .var_y = v};
            TEST_OK(ctx, gp_predict(part, ctx, la_mat_f64(at, out, 1), &p));
            for (size_t i = 0; i < out; i++) {
                TEST_CLOSE(mean[row[i]], expected[i], 1e-9);
                TEST_CLOSE(var[row[i]], v[i], 1e-9);
            }
            gp_model_free(part);
        }
        gp_model_free(m);
    }
    covar_context_free(ctx);
}

static void test_samples(void)
{
    enum { S = 4000, NS = 3 };
    static double f[S * NS], again[S * NS];
    covar_context *ctx = test_context();
    golden *file = golden_open("gp_public.json");
    golden_rows r = golden_rows_read(golden_case(file, "G01"));
    double at[NS] = {-2, 0.7, 3}, mean[NS], cov[NS * NS];
    la_view Xs = la_mat_f64(at, NS, 1);
    gp_model *m =
        gp_fixed_model(ctx, &r, g01_kernel, 0.05, GP_MEAN_CONSTANT, NULL);
    gp_prediction p = {.mean = mean, .cov = cov};
    TEST_OK(ctx, gp_predict(m, ctx, Xs, &p));
    for (int kind = 0; kind < 2; kind++) {
        bool pathwise = kind == 1;
        size_t s = pathwise ? 500 : S;
        TEST_OK(ctx, gp_sample(f, m, ctx, Xs, s, 7, (gp_sample_kind)kind));
        TEST_OK(ctx, gp_sample(again, m, ctx, Xs, s, 7, (gp_sample_kind)kind));
        TEST_SAME_BITS(f, again, s * NS, sizeof(double));
        for (size_t i = 0; i < NS; i++) {
            double sum = 0, se = sqrt(cov[i * (NS + 1)] / (double)s);
            for (size_t k = 0; k < s; k++)
                sum += f[k * NS + i];
            /* pathwise draws do not vary the mean's coefficients */
            double slack = pathwise ? 0.5 : 0;
            CU_ASSERT(fabs(sum / (double)s - mean[i]) <
                      4.5 * se + slack * sqrt(cov[i * (NS + 1)]));
        }
    }
    gp_model_free(m);
    golden_close(file);
    covar_context_free(ctx);
}

static void test_save_load(void)
{
    static const char *const kernels[] = {
        "matern52(ard)", "rbf + 0.5*periodic(period=2) + linear",
        "spectral_mixture(q=2)"};
    covar_context *ctx = test_context();
    series s = series_make();
    for (size_t k = 0; k < NELEM(kernels); k++) {
        double at[] = {0.3, 4, 11}, a[9], b[9];
        gp_options o = gp_options_of(ctx, kernels[k]);
        o.mean = k == 1 ? GP_MEAN_LINEAR : GP_MEAN_CONSTANT;
        o.restarts = -1;
        gp_model *m = NULL, *again = NULL;
        TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL));
        TEST_OK(ctx, gp_save(m, ctx, "test_gp_predict.h5"));
        TEST_OK(ctx, gp_load(&again, ctx, "test_gp_predict.h5"));
        CU_ASSERT_PTR_NOT_NULL_FATAL(again);
        gp_prediction p = {.mean = a, .var_f = a + 3, .var_y = a + 6};
        gp_prediction q = {.mean = b, .var_f = b + 3, .var_y = b + 6};
        TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(at, 3, 1), &p));
        TEST_OK(ctx, gp_predict(again, ctx, la_mat_f64(at, 3, 1), &q));
        TEST_SAME_BITS(a, b, 9, sizeof(double));
        TEST_INT(gp_param_count(again), gp_param_count(m));
        for (size_t i = 0; i < gp_param_count(m); i++) {
            TEST_TEXT(gp_param_name(again, i), gp_param_name(m, i));
            TEST_CLOSE(gp_param_value(again, i), gp_param_value(m, i), 0);
        }
        gp_model_free(m);
        gp_model_free(again);
        gp_options_done(&o);
    }
    remove("test_gp_predict.h5");
    covar_context_free(ctx);
}

static void expect_names(const gp_model *m, const char *const *name)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    for (size_t k = 0; k < 2; k++)
        TEST_TEXT(gp_column_name(m, k), name[k]);
    CU_ASSERT_PTR_NULL(gp_column_name(m, 2));
}

/* The names of the columns go with the model wherever it goes. */
static void test_column_names(void)
{
    enum { N = 8 };
    covar_context *ctx = test_context();
    series s = series_make();
    double X[2 * N], bad[2] = {1, NAN}, mean;
    char first[] = "depth, m";
    const char *name[] = {first, ""};
    for (size_t i = 0; i < 2 * N; i++)
        X[i] = s.x[(i * 7) % SERIES_N];
    gp_options o = gp_options_of(ctx, "rbf");
    gp_model *m = NULL, *other = NULL;
    la_view x = la_mat_f64(X, N, 2), y = la_vec_f64(s.y, N);
    o.no_fit = true;
    TEST_OK(ctx, gp_fit(&m, ctx, x, y, &o, NULL));
    CU_ASSERT_PTR_NULL(gp_column_name(m, 0));
    CU_ASSERT_PTR_NULL(gp_column_name(NULL, 0));
    gp_model_free(m);
    o.column_name = name;
    TEST_OK(ctx, gp_fit(&m, ctx, x, y, &o, NULL));
    o.column_name = NULL;
    first[0] = 'D'; /* the fit has a copy */
    name[0] = "depth, m";
    expect_names(m, name);
    TEST_OK(ctx, gp_append(&other, m, ctx, la_view_slice(x, 0, 0, 2),
                           la_vec_f64(s.y, 2)));
    expect_names(other, name);
    gp_model_free(other);
    TEST_OK(ctx, gp_remove(&other, m, ctx, 1));
    expect_names(other, name);
    gp_model_free(other);
    TEST_OK(ctx, gp_refit(&other, m, ctx, &o, NULL));
    expect_names(other, name);
    gp_model_free(other);
    TEST_OK(ctx, gp_save(m, ctx, "test_gp_names.h5"));
    TEST_OK(ctx, gp_load(&other, ctx, "test_gp_names.h5"));
    expect_names(other, name);
    gp_model_free(other);
    remove("test_gp_names.h5");
    name[1] = NULL;
    o.column_name = name;
    TEST_STATUS(ctx, gp_fit(&other, ctx, x, y, &o, NULL), COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "column_name[1] is NULL");
    gp_prediction p = {.mean = &mean};
    bad[0] = INFINITY;
    TEST_STATUS(ctx, gp_predict(m, ctx, la_mat_f64(bad, 1, 2), &p),
                COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "column 0 (\"depth, m\")");
    X[2] = NAN;
    name[1] = "b";
    TEST_STATUS(ctx, gp_fit(&other, ctx, x, y, &o, NULL), COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "row 1, column 0 (\"depth, m\")");
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

static covar_status life_of_a_model(covar_context *ctx, void *data)
{
    const series *s = data;
    double at[2] = {0.5, 3.3}, mean[2], var[2], slope[2], cov[4], f[4];
    gp_options o = gp_options_default();
    gp_model *m = NULL, *next = NULL;
    o.no_fit = true;
    o.column_name = &(const char *){"x"};
    covar_status status = gp_kernel_parse(&o.kernel, ctx, "rbf");
    la_view X = la_mat_f64(s->x, 5, 1), y = la_vec_f64(s->y, 5);
    if (status == COVAR_OK)
        status = gp_fit(&m, ctx, X, y, &o, NULL);
    gp_prediction p = {.mean = mean, .var_f = var, .dmean = slope, .cov = cov};
    if (status == COVAR_OK)
        status = gp_predict(m, ctx, la_mat_f64(at, 2, 1), &p);
    if (status == COVAR_OK)
        status = gp_sample(f, m, ctx, la_mat_f64(at, 2, 1), 2, 1,
                           GP_SAMPLE_PATHWISE);
    if (status == COVAR_OK)
        status =
            gp_append(&next, m, ctx, la_mat_f64(at, 1, 1), la_vec_f64(mean, 1));
    gp_model_free(next);
    gp_model_free(m);
    gp_kernel_free(o.kernel);
    gp_options_clear(&o);
    return status;
}

static void test_allocations(void)
{
    series s = series_make();
    test_allocation_sweep("fit, predict, sample, append", life_of_a_model, &s);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden G22: pathwise", test_g22},
        {"golden G23: updates", test_g23},
        {"cross validation", test_cv_brute_force},
        {"samples", test_samples},
        {"save and load", test_save_load},
        {"names of columns", test_column_names},
        {"failed allocations", test_allocations},
    };
    return CUTAP_RUN("gp_model", cases);
}
