/* The likelihood itself, other optimisers, standard errors.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "gp/gp_impl.h"
#include "test_gp.h"
#include "test_util.h"

#include <math.h>

#include <nlopt.h>

static void test_lml(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_of(ctx, "rbf");
    o.restarts = -1;
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    TEST_INT(gp_lml_dim(m), 3);
    double v, g[3], h[9], at[3];
    TEST_OK(ctx, gp_lml(m, ctx, NULL, &v, g, h));
    TEST_REL(v, r.lml, 1e-12);
    for (size_t i = 0; i < 3; i++) {
        TEST_CLOSE(g[i], gp_param_gradient(m, i), 1e-9);
        at[i] = 1.1 * gp_param_value(m, i);
    }
    double moved;
    TEST_OK(ctx, gp_lml(m, ctx, at, &moved, NULL, NULL));
    double step = log(1.1), second = 0;
    for (size_t i = 0; i < 9; i++)
        second += h[i] * step * step / 2;
    TEST_CLOSE(moved - v, second + (g[0] + g[1] + g[2]) * step, 2e-2);
    at[1] = -1;
    TEST_STATUS(ctx, gp_lml(m, ctx, at, &v, NULL, NULL), COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "lengthscale = -1");
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* Somebody else's optimiser finds the same optimum. */
static void test_nlopt(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_of(ctx, "rbf");
    o.restarts = -1;
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    gp_nlopt data = {m, ctx};
    nlopt_opt opt = nlopt_create(NLOPT_LD_LBFGS, 3);
    nlopt_set_min_objective(opt, gp_nlopt_f, &data);
    nlopt_set_ftol_rel(opt, 1e-12);
    double x[3], f = 0;
    for (size_t i = 0; i < 3; i++)
        x[i] = log(gp_param_value(m, i)) + .2;
    CU_ASSERT(nlopt_optimize(opt, x, &f) > 0);
    TEST_CLOSE(-f, r.lml, 1e-8);
    nlopt_destroy(opt);
    double bad[] = {800, 0, 0}, g[3] = {1, 1, 1};
    CU_ASSERT(gp_nlopt_f(3, bad, g, &data) == HUGE_VAL);
    TEST_CLOSE(g[0], 0, 0);
    CU_ASSERT(gp_nlopt_f(2, bad, g, &data) == HUGE_VAL);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* At an optimum in logs the natural covariance is D H^-1 D. */
static void test_standard_errors(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_of(ctx, "rbf");
    o.restarts = -1;
    gp_options_fix(&o, "noise_variance", .03);
    gp_model *m = NULL;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL));
    double h[9], cov[16], se[4];
    TEST_OK(ctx, gp_lml(m, ctx, NULL, NULL, NULL, h));
    TEST_OK(ctx, gp_param_covariance(m, ctx, cov));
    TEST_OK(ctx, gp_param_std_errors(m, ctx, se));
    double det = h[0] * h[4] - h[1] * h[1];
    double v = gp_param_value(m, 0), l = gp_param_value(m, 1);
    TEST_REL(cov[0], -h[4] / det * v * v, 1e-3);
    TEST_REL(cov[1], h[1] / det * v * l, 1e-3);
    TEST_REL(cov[5], -h[0] / det * l * l, 1e-3);
    TEST_REL(se[1], sqrt(cov[5]), 1e-15);
    CU_ASSERT(isnan(se[2]));
    TEST_TEXT(gp_param_name(m, 3), "mean.constant");
    CU_ASSERT(se[3] > 0);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* Far from an optimum the natural Hessian keeps the gradient's part:
 * checked on the noise alone, by differences of d lml / d noise. */
static void test_information_off_optimum(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    const double noise = .01, e = 1e-6;
    double slope[2], cov[16];
    gp_model *m = NULL;
    for (int k = 0; k < 3; k++) {
        gp_options o = gp_options_of(ctx, "1*rbf(lengthscale=1)");
        o.no_fit = true;
        gp_options_fix_start(&o, "variance");
        gp_options_fix_start(&o, "lengthscale");
        double at = noise + (k == 0 ? -e : k == 1 ? e : 0);
        gp_options_start(&o, "noise_variance", at);
        gp_model_free(m);
        TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL));
        if (k < 2)
            slope[k] = gp_param_gradient(m, 2) / at;
        gp_options_done(&o);
    }
    double information = -(slope[1] - slope[0]) / (2 * e);
    TEST_OK(ctx, gp_param_covariance(m, ctx, cov));
    cutap_note("information of the noise: %g", information);
    if (information > 0)
        TEST_REL(cov[10], 1 / information, 1e-6);
    else
        CU_ASSERT(isnan(cov[10]));
    gp_model_free(m);
    covar_context_free(ctx);
}

/* Two rows at one place with different targets and no noise: the likelihood is
 * 0, but the last pivot is what rounding left, which is positive in about half
 * of these matrices. */
static void test_lost_pivot(void)
{
    covar_context *ctx = test_context();
    for (int single = 0; single < 2; single++) {
        series s = series_make();
        s.x[13] = s.x[6];
        s.y[13] = s.y[6] + .5;
        gp_options o = gp_options_of(ctx, "1.3*rbf(lengthscale=0.8)");
        o.no_fit = true;
        o.dtype = single ? LA_F32 : LA_F64;
        gp_options_start(&o, "noise_variance", .04);
        gp_model *m = NULL;
        TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL));
        gp_nlopt data = {m, ctx};
        const double noise[] = {0, 1e-30};
        for (size_t i = 0; i < 40; i++) {
            double value[] = {1.3, .1 + .01 * (double)i, noise[i % 2]};
            double v, g[3], h[9], x[3];
            TEST_STATUS(ctx, gp_lml(m, ctx, value, &v, NULL, NULL),
                        COVAR_ERR_NOT_PD);
            TEST_CONTAINS(covar_error_text(ctx), "20 x 20");
            TEST_STATUS(ctx, gp_lml(m, ctx, value, &v, g, NULL),
                        COVAR_ERR_NOT_PD);
            TEST_STATUS(ctx, gp_lml(m, ctx, value, NULL, NULL, h),
                        COVAR_ERR_NOT_PD);
            for (size_t k = 0; k < 3; k++)
                x[k] = log(value[k]);
            CU_ASSERT(gp_nlopt_f(3, x, NULL, &data) == HUGE_VAL);
            CU_ASSERT(gp_nlopt_f(3, x, g, &data) == HUGE_VAL);
            TEST_CLOSE_ARRAY(g, ((double[]){0, 0, 0}), 3, 0);
        }
        gp_model_free(m);
        gp_options_done(&o);
    }
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"gp_lml", test_lml},
        {"lost pivot", test_lost_pivot},
        {"nlopt", test_nlopt},
        {"standard errors", test_standard_errors},
        {"information off the optimum", test_information_off_optimum},
    };
    return CUTAP_RUN("gp_lml", cases);
}
