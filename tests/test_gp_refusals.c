/* What a fit refuses or repairs, and what it says.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"
#include "test_util.h"

#include <math.h>

static void refuse(covar_context *ctx, la_view X, la_view y,
                   const gp_options *o, covar_status status, const char *part)
{
    gp_model *m = NULL;
    TEST_STATUS(ctx, gp_fit(&m, ctx, X, y, o, NULL), status);
    CU_ASSERT_PTR_NULL(m);
    TEST_CONTAINS(covar_error_text(ctx), part);
}

/* A covariance that is singular in double: repaired and said, or refused. */
static void test_ill_conditioned(void)
{
    covar_context *ctx = test_context();
    double x[40], y[40];
    for (size_t i = 0; i < 40; i++) {
        x[i] = (double)i / 39;
        y[i] = sin(3 * x[i]);
    }
    la_view X = la_mat_f64(x, 40, 1), Y = la_vec_f64(y, 40);
    for (int fit = 0; fit < 2; fit++) {
        gp_options o = gp_options_of(ctx, "1*rbf(lengthscale=2)");
        o.no_fit = !fit;
        o.restarts = -1;
        o.mean = GP_MEAN_ZERO;
        gp_options_fix(&o, "noise_variance", 0);
        gp_model *m = NULL;
        gp_report r;
        TEST_OK(ctx, gp_fit(&m, ctx, X, Y, &o, &r));
        CU_ASSERT(r.notes & GP_NOTE_JITTER);
        CU_ASSERT(r.jitter_relative >= 1e-12 && r.jitter_relative <= 1e-6);
        TEST_REL(r.jitter_absolute,
                 r.jitter_relative * gp_value(m, ctx, "variance"), 1e-12);
        CU_ASSERT(isfinite(r.lml));
        gp_model_free(m);
        o.jitter = GP_JITTER_NONE;
        refuse(ctx, X, Y, &o, COVAR_ERR_NOT_PD, "rbf(lengthscale=2)");
        gp_options_done(&o);
    }
    covar_context_free(ctx);
}

/* Equal rows with different targets and no noise: every level of the ladder
 * that the search and the factor took is the same one, and it is reported;
 * without a ladder no start has an objective. */
static void test_conflicting_rows(void)
{
    covar_context *ctx = test_context();
    for (int run = 0; run < 4; run++) {
        series s = series_make();
        s.x[13] = s.x[6];
        s.y[13] = s.y[6] + .5;
        gp_options o = gp_options_of(ctx, "1.3*rbf(lengthscale=0.3)");
        o.no_fit = run % 2 == 0;
        o.dtype = run < 2 ? LA_F64 : LA_F32;
        gp_options_fix(&o, "noise_variance", 0);
        gp_model *m = NULL;
        gp_report r;
        TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        CU_ASSERT(r.notes & GP_NOTE_JITTER);
        CU_ASSERT(r.jitter_relative > 0);
        double lml, g[3];
        TEST_OK(ctx, gp_lml(m, ctx, NULL, &lml, g, NULL));
        TEST_REL(lml, r.lml, o.dtype == LA_F64 ? 1e-3 : .1);
        TEST_REL(g[1], gp_param_gradient(m, 1), 1e-6);
        gp_model_free(m);
        o.jitter = GP_JITTER_NONE;
        refuse(ctx, series_x(&s), series_y(&s), &o, COVAR_ERR_NOT_PD,
               "no finite likelihood with kernel");
        gp_options_done(&o);
    }
    covar_context_free(ctx);
}

static ad_node *minus_identity(ad_node *const *param, ad_node *X, ad_node *Z,
                               void *data)
{
    (void)data;
    ad_node *D = ad_sqdist(X, Z); /* zero on the diagonal */
    return ad_mul(ad_neg(param[0]), ad_add_scalar(D, 1));
}

static void test_singular_user_kernel(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    const gp_user_param param = {"strength", 1, true};
    gp_options o = gp_options_default();
    o.kernel = gp_user_kernel("mykernel", minus_identity, NULL, &param, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(o.kernel);
    gp_options_fix(&o, "noise_variance", 0);
    refuse(ctx, series_x(&s), series_y(&s), &o, COVAR_ERR_NOT_PD, "mykernel");
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* A start that fails is skipped and reported. */
static void test_failed_start(void)
{
    covar_context *ctx = test_context();
    double x[14], y[14];
    for (size_t i = 0; i < 14; i++) {
        x[i] = (double)i;
        y[i] = i % 2 ? 1 : -1;
    }
    gp_options o = gp_options_of(ctx, "rbf");
    o.jitter = GP_JITTER_NONE;
    o.mean = GP_MEAN_ZERO;
    o.restarts = 1;
    gp_options_fix(&o, "noise_variance", 0);
    gp_options_bounds(&o, "lengthscale", .1, 1e4);
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx,
            gp_fit(&m, ctx, la_mat_f64(x, 14, 1), la_vec_f64(y, 14), &o, &r));
    CU_ASSERT(r.notes & GP_NOTE_RESTART_FAILED);
    CU_ASSERT(isnan(r.restart[1].objective));
    TEST_TEXT(r.restart[1].start, "long");
    TEST_CONTAINS(r.restart[1].reason, "not positive definite");
    CU_ASSERT(isfinite(r.restart[0].objective));
    TEST_CLOSE(r.jitter_relative, 0, 0);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

static void test_collinear_mean(void)
{
    covar_context *ctx = test_context();
    double X[3 * SERIES_N];
    series s = series_make();
    for (size_t i = 0; i < SERIES_N; i++) {
        X[3 * i] = s.x[i];
        X[3 * i + 1] = (double)(i * i % 7);
        X[3 * i + 2] = 3 - 2 * s.x[i] + X[3 * i + 1];
    }
    gp_options o = gp_options_default();
    o.mean = GP_MEAN_LINEAR;
    refuse(ctx, la_mat_f64(X, SERIES_N, 3), series_y(&s), &o, COVAR_ERR_DATA,
           "column 2 of X is a linear combination");
    covar_context_free(ctx);
}

static void test_white_and_noise(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_of(ctx, "rbf + white");
    o.restarts = -1;
    refuse(ctx, series_x(&s), series_y(&s), &o, COVAR_ERR_ARG,
           "cannot be told apart");
    gp_options_fix(&o, "noise_variance", 0);
    gp_model *m = NULL;
    gp_report r[2];
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r[0]));
    gp_model_free(m);
    gp_options_done(&o);
    o = gp_options_of(ctx, "rbf");
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r[1]));
    TEST_CLOSE(r[0].lml, r[1].lml, 1e-6);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* Sentences that name what is wrong and what is known. */
static void test_errors(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    la_view X = series_x(&s), y = series_y(&s);
    static const struct {
        const char *name;
        double value;
        covar_status status;
        const char *part;
    } rows[] = {
        {"lenghtscale", 1, COVAR_ERR_NAME, "known: variance, lengthscale"},
        {"lenghtscale", 1, COVAR_ERR_NAME, "; did you mean lengthscale? known"},
        {"mean_constant", 1, COVAR_ERR_NAME, "did you mean mean.constant?"},
        {"noise", 1, COVAR_ERR_NAME, "did you mean noise_variance?"},
        {"frob", 1, COVAR_ERR_NAME, "no parameter is called frob; known"},
        {"lengthscale", -1, COVAR_ERR_ARG, "lengthscale = -1"},
        {"lengthscale", 1e9, COVAR_ERR_ARG, "outside its bounds"},
        {"mean.constant", 1, COVAR_ERR_ARG, "least squares"},
    };
    for (size_t i = 0; i < NELEM(rows); i++) {
        gp_options o = gp_options_of(ctx, "rbf");
        gp_options_start(&o, rows[i].name, rows[i].value);
        refuse(ctx, X, y, &o, rows[i].status, rows[i].part);
        gp_options_done(&o);
    }
    gp_options o = gp_options_default();
    o.dtype = LA_I32;
    refuse(ctx, X, y, &o, COVAR_ERR_DTYPE, "i32");
    o = gp_options_default();
    o.mean = GP_MEAN_USER;
    refuse(ctx, X, y, &o, COVAR_ERR_ARG, "mean_fn is NULL");
    o = gp_options_default();
    o.restarts = 100;
    refuse(ctx, X, y, &o, COVAR_ERR_ARG, "restarts = 100");
    o = gp_options_default();
    o.jitter = GP_JITTER_FIXED;
    o.jitter_value = -1;
    refuse(ctx, X, y, &o, COVAR_ERR_ARG, "jitter_value");
    o = gp_options_default();
    gp_options_start(&o, NULL, 1);
    refuse(ctx, X, y, &o, COVAR_ERR_ARG, "name is NULL");
    gp_options_clear(&o);
    TEST_STATUS(ctx, gp_fit(NULL, ctx, X, y, NULL, NULL), COVAR_ERR_ARG);
    gp_model *m = NULL;
    TEST_STATUS(ctx, gp_refit(&m, NULL, ctx, NULL, NULL), COVAR_ERR_ARG);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"ill conditioned", test_ill_conditioned},
        {"conflicting rows", test_conflicting_rows},
        {"singular user kernel", test_singular_user_kernel},
        {"failed start", test_failed_start},
        {"collinear mean", test_collinear_mean},
        {"white and noise", test_white_and_noise},
        {"errors", test_errors},
    };
    return CUTAP_RUN("gp_refusals", cases);
}
