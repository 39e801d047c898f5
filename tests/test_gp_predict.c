/* Prediction: golden cases, slopes, blocks, errors.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"
#include "test_util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const g01_kernel = "1.3*rbf(lengthscale=0.8)";

static void test_g01(void)
{
    covar_context *ctx = test_context();
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G01");
    golden_rows r = golden_rows_read(c);
    double Xs[4], mean[4], f[4], v[4], cov[16], dm[4], dv[4];
    golden_numbers(c, "inputs/Xs", Xs, 4);
    gp_model *m = gp_fixed_model(ctx, &r, g01_kernel, 0.05, GP_MEAN_ZERO, NULL);
    gp_prediction p = {.mean = mean,
                       .var_f = f,
                       .var_y = v,
                       .cov = cov,
                       .dmean = dm,
                       .dvar = dv};
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(Xs, 4, 1), &p));
    TEST_INT(p.rounded, 0);
    golden_expect(c, "expected/mean", mean, 1e-10);
    golden_expect(c, "expected/var_latent", f, 1e-10);
    golden_expect(c, "expected/var_observed", v, 1e-10);
    golden_expect(c, "expected/cov_latent", cov, 1e-10);
    golden_expect(c, "expected/dmean_dx", dm, 1e-10);
    golden_expect(c, "expected/dvar_dx", dv, 1e-10);
    golden_expect(c, "expected/alpha", gp_alpha(m).data, 1e-10);
    golden_expect(c, "expected/chol_L", gp_cholesky(m).data, 1e-10);
    TEST_CLOSE(gp_log_det(m), golden_number(c, "expected/logdet"), 1e-10);
    double loo_m[5], loo_v[5], loo_p[5];
    TEST_OK(ctx, gp_loo(m, ctx, loo_m, loo_v, loo_p));
    golden_expect(c, "expected/loo_mean", loo_m, 1e-10);
    golden_expect(c, "expected/loo_var_observed", loo_v, 1e-10);
    golden_expect(c, "expected/loo_logpdf", loo_p, 1e-10);
    gp_model_free(m);
    golden_close(file);
    covar_context_free(ctx);
}

static void test_g02(void)
{
    static const struct {
        const char *word, *path;
    } kinds[] = {{"matern12", "expected/matern12/"},
                 {"matern32", "expected/matern32/"},
                 {"matern52", "expected/matern52/"},
                 {"rbf", "expected/rbf/"}};
    covar_context *ctx = test_context();
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G02");
    golden_rows r = golden_rows_read(c);
    double Xs[6], mean[3], var[3];
    golden_numbers(c, "inputs/Xs", Xs, 6);
    gp_prediction p = {.mean = mean, .var_f = var};
    for (size_t k = 0; k < NELEM(kinds); k++) {
        char text[120], path[80];
        snprintf(text, sizeof(text),
                 "0.9*%s(ard,lengthscale[0]=0.7,lengthscale[1]=1.6)",
                 kinds[k].word);
        gp_model *m = gp_fixed_model(ctx, &r, text, 0.02, GP_MEAN_ZERO, NULL);
        TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(Xs, 3, 2), &p));
        snprintf(path, sizeof(path), "%smean", kinds[k].path);
        golden_expect(c, path, mean, 1e-10);
        snprintf(path, sizeof(path), "%svar_latent", kinds[k].path);
        golden_expect(c, path, var, 1e-10);
        gp_model_free(m);
    }
    golden_close(file);
    covar_context_free(ctx);
}

static void test_g13_g14(void)
{
    covar_context *ctx = test_context();
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G13");
    golden_rows r = golden_rows_read(c);
    double Xs[4], mean[4], var[4], beta[2], noise[5];
    golden_numbers(c, "inputs/Xs", Xs, 4);
    golden_numbers(c, "expected/beta_gls", beta, 2);
    gp_prediction p = {.mean = mean, .var_f = var};
    gp_model *m =
        gp_fixed_model(ctx, &r, g01_kernel, 0.05, GP_MEAN_LINEAR, NULL);
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(Xs, 4, 1), &p));
    golden_expect(c, "expected/mean", mean, 1e-10);
    golden_expect(c, "expected/var_latent", var, 1e-10);
    TEST_CLOSE(gp_value(m, ctx, "mean.constant"), beta[0], 1e-10);
    TEST_CLOSE(gp_value(m, ctx, "mean.slope[0]"), beta[1], 1e-10);
    gp_model_free(m);
    c = golden_case(file, "G14");
    golden_numbers(c, "inputs/noise_var", noise, 5);
    m = gp_fixed_model(ctx, &r, g01_kernel, 0, GP_MEAN_ZERO, noise);
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(Xs, 4, 1), &p));
    golden_expect(c, "expected/mean", mean, 1e-10);
    golden_expect(c, "expected/var_latent", var, 1e-10);
    gp_model_free(m);
    golden_close(file);
    covar_context_free(ctx);
}

static void test_g26(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G26");
    double y[3], mean[3], sd[3], train[4], var[3], m = 0, v = 0;
    golden_numbers(c, "inputs/y_test", y, 3);
    golden_numbers(c, "inputs/pred_mean", mean, 3);
    golden_numbers(c, "inputs/pred_sd", sd, 3);
    golden_numbers(c, "inputs/y_train", train, 4);
    for (int i = 0; i < 3; i++)
        var[i] = sd[i] * sd[i];
    for (int i = 0; i < 4; i++)
        m += train[i] / 4;
    for (int i = 0; i < 4; i++)
        v += (train[i] - m) * (train[i] - m) / 4;
    gp_scores s = gp_score(y, mean, var, 3, m, v);
    double crps[3], average = 0;
    golden_numbers(c, "expected/crps", crps, 3);
    for (int i = 0; i < 3; i++)
        average += crps[i] / 3;
    TEST_CLOSE(s.rmse, golden_number(c, "expected/rmse"), 1e-10);
    TEST_CLOSE(s.nlpd, golden_number(c, "expected/mean_nlpd"), 1e-10);
    TEST_CLOSE(s.crps, average, 1e-10);
    TEST_CLOSE(s.smse, golden_number(c, "expected/smse"), 1e-10);
    TEST_CLOSE(s.msll, golden_number(c, "expected/msll"), 1e-10);
    golden_close(file);
}

/* Slopes against central differences, several columns and a linear mean. */
static void test_slopes(void)
{
    enum { N = 15, D = 3 };
    static const char *const kernels[] = {
        "rbf(ard,lengthscale=0.9)", "matern52(lengthscale=1)",
        "matern12(lengthscale=1)", "linear + rq(lengthscale=1,alpha=1)",
        "periodic(period=2,lengthscale=1)[0]*rbf(lengthscale=2)[1,2]"};
    covar_context *ctx = test_context();
    golden_rows r = {.n = N, .d = D};
    for (size_t i = 0; i < N * D; i++)
        r.X[i] = sin(1.7 * (double)(i * i)) + 0.1 * (double)(i % 3);
    for (size_t i = 0; i < N; i++)
        r.y[i] = cos(0.9 * (double)i);
    for (size_t k = 0; k < NELEM(kernels); k++) {
        double at[D] = {0.21, -0.37, 0.55}, dm[D], dv[D], h = 1e-6;
        gp_model *m =
            gp_fixed_model(ctx, &r, kernels[k], 0.3, GP_MEAN_LINEAR, NULL);
        TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(at, 1, D),
                                &(gp_prediction){.dmean = dm, .dvar = dv}));
        for (size_t j = 0; j < D; j++) {
            double around[2 * D], mean[2], var[2];
            memcpy(around, at, sizeof(at));
            memcpy(around + D, at, sizeof(at));
            around[j] += h;
            around[D + j] -= h;
            gp_prediction p = {.mean = mean, .var_f = var};
            TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(around, 2, D), &p));
            TEST_CLOSE(dm[j], (mean[0] - mean[1]) / (2 * h), 1e-7);
            TEST_CLOSE(dv[j], (var[0] - var[1]) / (2 * h), 1e-7);
        }
        gp_model_free(m);
    }
    covar_context_free(ctx);
}

/* Many rows in blocks = one by one; variances = diagonal of the covariance. */
static void test_blocks(void)
{
    enum { NS = 2100 };
    static double at[NS], mean[NS], var[NS], one_mean, one_var;
    covar_context *ctx = test_context();
    series s = series_make();
    gp_model *m = NULL;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), NULL, NULL));
    for (int i = 0; i < NS; i++)
        at[i] = -1 + 0.01 * i;
    gp_prediction all = {.mean = mean, .var_f = var};
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(at, NS, 1), &all));
    for (int i = 0; i < NS; i += 173) {
        gp_prediction p = {.mean = &one_mean, .var_f = &one_var};
        TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(at + i, 1, 1), &p));
        TEST_CLOSE(mean[i], one_mean, 1e-12);
        TEST_CLOSE(var[i], one_var, 1e-12);
    }
    static double cov[50 * 50];
    gp_prediction joint = {.cov = cov};
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(at, 50, 1), &joint));
    for (int i = 0; i < 50; i++)
        TEST_CLOSE(cov[51 * i], var[i], 1e-11);
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    golden *file = golden_open("gp_public.json");
    golden_rows r = golden_rows_read(golden_case(file, "G01"));
    gp_model *m = gp_fixed_model(ctx, &r, "matern12(lengthscale=1)", 0.1,
                                 GP_MEAN_ZERO, NULL);
    double at[2] = {r.X[1], NAN}, out[4], slope[2];
    gp_prediction p = {.mean = out}, q = {.dmean = slope};
    TEST_STATUS(ctx, gp_predict(NULL, ctx, la_mat_f64(at, 1, 1), &p),
                COVAR_ERR_ARG);
    TEST_STATUS(ctx, gp_predict(m, ctx, la_mat_f64(at, 1, 1), NULL),
                COVAR_ERR_ARG);
    TEST_STATUS(ctx, gp_predict(m, ctx, la_mat_f64(at, 1, 2), &p),
                COVAR_ERR_SHAPE);
    TEST_STATUS(ctx, gp_predict(m, ctx, la_mat_f64(at, 2, 1), &p),
                COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "row 1");
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(at, 0, 1), &p));
    TEST_STATUS(ctx, gp_predict(m, ctx, la_mat_f64(at, 1, 1), &q),
                COVAR_ERR_NO_GRAD);
    gp_model *next = NULL;
    TEST_STATUS(
        ctx, gp_append(&next, m, ctx, la_mat_f64(at, 1, 1), la_vec_f64(out, 2)),
        COVAR_ERR_SHAPE);
    TEST_STATUS(ctx, gp_remove(&next, m, ctx, 99), COVAR_ERR_ARG);
    int32_t fold[5] = {0, 1, 2, 0, 1};
    TEST_STATUS(ctx, gp_cv(m, ctx, fold, 2, out, NULL, NULL), COVAR_ERR_ARG);
    TEST_STATUS(ctx, gp_load(&next, ctx, "no such file.h5"), COVAR_ERR_IO);
    TEST_STATUS(ctx, gp_save(m, ctx, "no/such/folder.h5"), COVAR_ERR_IO);
    CU_ASSERT_PTR_NULL(next);
    gp_model_free(m);
    gp_model_free(NULL);
    golden_close(file);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden G01", test_g01},          {"golden G02", test_g02},
        {"golden G13, G14", test_g13_g14}, {"golden G26: scores", test_g26},
        {"slopes", test_slopes},           {"blocks", test_blocks},
        {"errors", test_errors},
    };
    return CUTAP_RUN("gp_predict", cases);
}
