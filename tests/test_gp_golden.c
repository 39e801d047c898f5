/* Golden cases through gp_fit without a search.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"
#include "test_util.h"

#include <math.h>

/* Conditions at given parameters. */
static gp_model *at_start(covar_context *ctx, gp_options *o,
                          const golden_rows *rows, double noise, gp_report *r)
{
    gp_model *m = NULL;
    o->no_fit = true;
    gp_options_start(o, "noise_variance", noise);
    TEST_OK(ctx,
            gp_fit(&m, ctx, golden_rows_x(rows), golden_rows_y(rows), o, r));
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    return m;
}

static void test_g01_hessian(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G01");
    golden_rows rows = golden_rows_read(c);
    covar_context *ctx = test_context();
    gp_options o = gp_options_of(ctx, "1.3*rbf(lengthscale=0.8)");
    o.mean = GP_MEAN_ZERO;
    o.standardise = GP_STANDARDISE_NONE;
    gp_report r;
    gp_model *m = at_start(ctx, &o, &rows, .05, &r);
    double v, g[3], h[9], expected[9];
    TEST_REL(r.lml, golden_number(c, "expected/lml"), 1e-10);
    TEST_OK(ctx, gp_lml(m, ctx, NULL, &v, g, h));
    TEST_REL(v, golden_number(c, "expected/lml"), 1e-10);
    golden_numbers(c, "expected/grad_log_sf2_ell_sn2", expected, 3);
    TEST_CLOSE_ARRAY(g, expected, 3, 1e-10);
    golden_numbers(c, "expected/hessian_log_params", expected, 9);
    TEST_CLOSE_ARRAY(h, expected, 9, 1e-10);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
    golden_close(file);
}

/* Given coefficients: the gradient is the plain partial derivative. */
static void test_g03_gradient(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G03");
    golden_rows rows = golden_rows_read(c);
    double g[9];
    golden_numbers(c, "expected/grad", g, 9);
    covar_context *ctx = test_context();
    gp_options o = gp_options_of(
        ctx, "1.1*rbf(lengthscale=2.5)*periodic(lengthscale=0.9,period=1.3)"
             " + 0.4*rq(lengthscale=0.6,alpha=0.75)");
    gp_options_start(&o, "mean.constant", 2.2);
    gp_report r;
    gp_model *m = at_start(ctx, &o, &rows, .03, &r);
    TEST_REL(r.lml, golden_number(c, "expected/lml"), 1e-10);
    size_t last = gp_param_count(m) - 1;
    TEST_TEXT(gp_param_name(m, last), "mean.constant");
    TEST_CLOSE(gp_param_value(m, last), 2.2, 0);
    CU_ASSERT_TRUE(gp_param_is_fixed(m, last));
    double scale = 0;
    for (size_t i = 0; i < 9; i++)
        scale = fmax(scale, fabs(g[i]));
    TEST_CLOSE(gp_param_gradient(m, last), g[8], 1e-10 * scale);
    TEST_CLOSE(gp_param_gradient(m, last - 1), g[7], 1e-10 * scale);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
    golden_close(file);
}

/* Coefficients are in user units whatever is centred. */
static void test_g13_coefficients(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G13");
    golden_rows rows = golden_rows_read(c);
    double beta[2], cov[4], all[25];
    golden_numbers(c, "expected/beta_gls", beta, 2);
    golden_numbers(c, "expected/beta_cov", cov, 4);
    covar_context *ctx = test_context();
    for (int s = GP_STANDARDISE_XY; s <= GP_STANDARDISE_Y; s++) {
        gp_options o = gp_options_of(ctx, "1.3*rbf(lengthscale=0.8)");
        o.mean = GP_MEAN_LINEAR;
        o.standardise = (gp_standardise)s;
        gp_report r;
        gp_model *m = at_start(ctx, &o, &rows, .05, &r);
        TEST_REL(r.lml, golden_number(c, "expected/ml_at_beta"), 1e-10);
        const double got[] = {gp_value(m, ctx, "mean.constant"),
                              gp_value(m, ctx, "mean.slope[0]")};
        TEST_CLOSE_ARRAY(got, beta, 2, 1e-10);
        TEST_OK(ctx, gp_param_covariance(m, ctx, all));
        const double part[] = {all[18], all[19], all[23], all[24]};
        TEST_CLOSE_ARRAY(part, cov, 4, 1e-10);
        TEST_CLOSE(gp_param_gradient(m, 3), 0, 0);
        gp_model_free(m);
        gp_options_done(&o);
    }
    covar_context_free(ctx);
    golden_close(file);
}

static void test_g18_map(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G18");
    golden_rows rows = golden_rows_read(golden_case(file, "G01"));
    covar_context *ctx = test_context();
    gp_options o = gp_options_of(ctx, "1.3*rbf(lengthscale=0.8)");
    o.mean = GP_MEAN_ZERO;
    o.standardise = GP_STANDARDISE_NONE;
    o.objective = GP_MAP;
    gp_options_prior(&o, "lengthscale", (gp_prior){GP_PRIOR_GAMMA, 3, 6});
    gp_options_prior(&o, "variance", (gp_prior){GP_PRIOR_GAMMA, 2, .15});
    gp_options_prior(&o, "noise_variance",
                     (gp_prior){GP_PRIOR_LOGNORMAL, -4, 1});
    gp_report r;
    gp_model *m = at_start(ctx, &o, &rows, .05, &r);
    TEST_REL(r.lml, golden_number(c, "expected/lml"), 1e-10);
    TEST_REL(r.objective, golden_number(c, "expected/map_constrained"), 1e-10);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
    golden_close(file);
}

/* The jitter asked for is the jitter used and reported. */
static void test_g27_jitter(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G27");
    golden_rows rows = golden_rows_read(c);
    covar_context *ctx = test_context();
    gp_options o = gp_options_of(ctx, "1*rbf(lengthscale=0.5)");
    o.mean = GP_MEAN_ZERO;
    o.standardise = GP_STANDARDISE_NONE;
    o.jitter = GP_JITTER_FIXED;
    o.jitter_value = 1e-6;
    gp_options_fix(&o, "noise_variance", 0);
    o.no_fit = true;
    gp_report r;
    gp_model *m = NULL;
    TEST_OK(ctx, gp_fit(&m, ctx, golden_rows_x(&rows), golden_rows_y(&rows), &o,
                        &r));
    TEST_REL(r.lml, golden_number(c, "expected/lml_jitter_1e-6"), 1e-6);
    TEST_CLOSE(r.jitter_relative, 1e-6, 0);
    TEST_REL(r.jitter_absolute, 1e-6, 1e-14);
    CU_ASSERT(r.notes & GP_NOTE_JITTER);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
    golden_close(file);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"G01 value, gradient, Hessian", test_g01_hessian},
        {"G03 gradient of given coefficients", test_g03_gradient},
        {"G13 coefficients", test_g13_coefficients},
        {"G18 MAP", test_g18_map},
        {"G27 jitter", test_g27_jitter},
    };
    return CUTAP_RUN("gp_golden", cases);
}
