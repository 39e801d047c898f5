/* Objectives: value, gradient, Hessian against golden cases and brute force.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "gp/fit_impl.h"
#include "test_gp.h"
#include "test_util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16 };

/* A problem made from a kernel's text, with values set by name. */
typedef struct setup {
    covar_context *ctx;
    gp_options options;
    gp_kernel *kernel;
    gp_data *data;
    gp_params params;
    gp_problem *problem;
    double free[MOST];
} setup;

/* Options are finished by the caller: fixed noise and so on. */
static setup begin(void)
{
    return (setup){.ctx = test_context(), .options = gp_options_default()};
}

static void finish(setup *s, const char *kernel, double noise, la_view X,
                   la_view y)
{
    covar_context *ctx = s->ctx;
    gp_options *o = &s->options;
    if (noise == 0)
        gp_options_fix(o, "noise_variance", 0);
    else
        gp_options_start(o, "noise_variance", noise);
    TEST_OK(ctx, gp_kernel_parse(&s->kernel, ctx, kernel));
    TEST_OK(ctx, gp_data_create(&s->data, ctx, X, y, o));
    TEST_OK(ctx, gp_mean_take_given(s->data, ctx, o));
    TEST_OK(ctx, gp_params_create(&s->params, ctx, s->kernel, s->data, o));
    TEST_OK(ctx, gp_params_apply(&s->params, ctx, o));
    TEST_OK(ctx, gp_problem_create(&s->problem, ctx, s->kernel, &s->params,
                                   s->data, o));
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->problem);
    gp_start_complete(&s->params);
    gp_params_to_free(s->free, &s->params);
}

static void clear(setup *s)
{
    gp_problem_free(s->problem);
    gp_params_clear(&s->params);
    gp_data_free(s->data);
    gp_kernel_free(s->kernel);
    gp_options_clear(&s->options);
    covar_context_free(s->ctx);
}

static double value_of(setup *s, gp_objective kind, double jitter)
{
    double v = NAN;
    TEST_OK(s->ctx,
            gp_problem_eval(s->problem, s->free, kind, jitter, &v, NULL, NULL));
    return v;
}

/* ---- Golden cases ------------------------------------------------------- */

static void test_g01(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G01");
    golden_rows r = golden_rows_read(c);
    for (int single = 0; single < 2; single++) {
        const double tolerance = single ? 1e-4 : 1e-10;
        setup s = begin();
        s.options.mean = GP_MEAN_ZERO;
        s.options.standardise = GP_STANDARDISE_NONE;
        s.options.dtype = single ? LA_F32 : LA_F64;
        finish(&s, "1.3*rbf(lengthscale=0.8)", .05, golden_rows_x(&r),
               golden_rows_y(&r));
        double v, g[3], h[9], expected[9];
        TEST_OK(s.ctx, gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, g, h));
        TEST_REL(v, golden_number(c, "expected/lml"), tolerance);
        golden_numbers(c, "expected/grad_log_sf2_ell_sn2", expected, 3);
        TEST_CLOSE_ARRAY(g, expected, 3, tolerance);
        golden_numbers(c, "expected/hessian_log_params", expected, 9);
        TEST_CLOSE_ARRAY(h, expected, 9, tolerance);
        TEST_REL(value_of(&s, GP_ML, 0), v, single ? 1e-6 : 1e-14);
        TEST_REL(value_of(&s, GP_LOO, 0),
                 golden_number(c, "expected/loo_logpdf_sum"), tolerance);
        clear(&s);
    }
    golden_close(file);
}

static void test_g02(void)
{
    static const char *const words[] = {"matern12", "matern32", "matern52",
                                        "rbf"};
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G02");
    golden_rows r = golden_rows_read(c);
    for (size_t i = 0; i < 2 * NELEM(words); i++) {
        const char *word = words[i / 2];
        const double tolerance = i % 2 ? 1e-4 : 1e-10;
        char kernel[100], path[100];
        snprintf(kernel, sizeof(kernel),
                 "0.9*%s(ard,lengthscale[0]=0.7,lengthscale[1]=1.6)", word);
        setup s = begin();
        s.options.mean = GP_MEAN_ZERO;
        s.options.standardise = GP_STANDARDISE_NONE;
        s.options.dtype = i % 2 ? LA_F32 : LA_F64;
        finish(&s, kernel, .02, golden_rows_x(&r), golden_rows_y(&r));
        double v, g[4], expected[4];
        TEST_OK(s.ctx,
                gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, g, NULL));
        snprintf(path, sizeof(path), "expected/%s/lml", word);
        TEST_REL(v, golden_number(c, path), tolerance);
        snprintf(path, sizeof(path), "expected/%s/grad_log_sf2_ell1_ell2_sn2",
                 word);
        golden_numbers(c, path, expected, 4);
        TEST_CLOSE_ARRAY(g, expected, 4, tolerance);
        clear(&s);
    }
    golden_close(file);
}

/* A sum of products with a given constant mean. */
static void test_g03(void)
{
    static const char *const names[] = {
        "0.variance", "0.0.lengthscale", "0.1.lengthscale", "0.1.period",
        "1.variance", "1.lengthscale",   "1.alpha",         "noise_variance"};
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G03");
    golden_rows r = golden_rows_read(c);
    for (int single = 0; single < 2; single++) {
        const double tolerance = single ? 1e-4 : 1e-10;
        setup s = begin();
        s.options.dtype = single ? LA_F32 : LA_F64;
        gp_options_fix(&s.options, "mean.constant",
                       golden_number(c, "inputs/c"));
        finish(&s,
               "1.1*rbf(lengthscale=2.5)*periodic(lengthscale=0.9,period=1.3)"
               " + 0.4*rq(lengthscale=0.6,alpha=0.75)",
               .03, golden_rows_x(&r), golden_rows_y(&r));
        double v, g[8], ordered[8], expected[9];
        TEST_OK(s.ctx,
                gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, g, NULL));
        TEST_REL(v, golden_number(c, "expected/lml"), tolerance);
        golden_numbers(c, "expected/grad", expected, 9);
        for (size_t i = 0; i < NELEM(names); i++) {
            ptrdiff_t at = gp_params_find(&s.params, names[i]);
            CU_ASSERT_FATAL(at >= 0);
            ordered[i] = g[at];
        }
        TEST_CLOSE_ARRAY(ordered, expected, 8, tolerance);
        clear(&s);
    }
    golden_close(file);
}

/* Bayesian linear regression is a linear kernel of variance 1 / alpha. */
static void test_g04(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G04");
    double Phi[18], y[6], expected[2], v, g[2];
    golden_numbers(c, "inputs/Phi", Phi, 18);
    golden_numbers(c, "inputs/y", y, 6);
    setup s = begin();
    s.options.mean = GP_MEAN_ZERO;
    s.options.standardise = GP_STANDARDISE_NONE;
    finish(&s, "2*linear", .25, la_mat_f64(Phi, 6, 3), la_vec_f64(y, 6));
    TEST_OK(s.ctx, gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, g, NULL));
    TEST_REL(v, golden_number(c, "expected/log_evidence"), 1e-10);
    golden_numbers(c, "expected/grad_log_alpha_beta", expected, 2);
    TEST_CLOSE_ARRAY(((double[]){-g[0], -g[1]}), expected, 2, 1e-10);
    clear(&s);
    golden_close(file);
}

static void test_g13(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G13");
    golden_rows r = golden_rows_read(c);
    setup s = begin();
    s.options.mean = GP_MEAN_LINEAR;
    finish(&s, "1.3*rbf(lengthscale=0.8)", .05, golden_rows_x(&r),
           golden_rows_y(&r));
    TEST_REL(value_of(&s, GP_ML, 0), golden_number(c, "expected/ml_at_beta"),
             1e-10);
    clear(&s);
    golden_close(file);
}

/* Known noise for every point, no other: log 0 is a legal coordinate. */
static void test_g14(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G14");
    golden_rows r = golden_rows_read(c);
    double noise[5], v, g[3], h[9];
    golden_numbers(c, "inputs/noise_var", noise, 5);
    setup s = begin();
    s.options.mean = GP_MEAN_ZERO;
    s.options.standardise = GP_STANDARDISE_NONE;
    s.options.noise_per_point = noise;
    finish(&s, "1.3*rbf(lengthscale=0.8)", 0, golden_rows_x(&r),
           golden_rows_y(&r));
    CU_ASSERT(s.free[2] == -INFINITY);
    TEST_OK(s.ctx, gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, g, h));
    TEST_REL(v, golden_number(c, "expected/lml"), 1e-10);
    TEST_CLOSE(g[2], 0, 0);
    CU_ASSERT(isfinite(g[0]) && isfinite(g[1]) && isfinite(h[0]));
    TEST_CLOSE(h[8], 0, 0);
    clear(&s);
    golden_close(file);
}

/* Jitter is part of K, relative to its diagonal. */
static void test_g27(void)
{
    static const struct {
        double level, tolerance;
        const char *path;
    } rows_of[] = {{1e-10, 1e-3, "expected/lml_jitter_1e-10"},
                   {1e-8, 1e-4, "expected/lml_jitter_1e-8"},
                   {1e-6, 1e-6, "expected/lml_jitter_1e-6"},
                   {1e-4, 1e-6, "expected/lml_jitter_1e-4"}};
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G27");
    golden_rows r = golden_rows_read(c);
    setup s = begin();
    s.options.mean = GP_MEAN_ZERO;
    s.options.standardise = GP_STANDARDISE_NONE;
    finish(&s, "rbf(lengthscale=0.5)", 0, golden_rows_x(&r), golden_rows_y(&r));
    s.free[0] = 0;
    for (size_t i = 0; i < NELEM(rows_of); i++)
        TEST_REL(value_of(&s, GP_ML, rows_of[i].level),
                 golden_number(c, rows_of[i].path), rows_of[i].tolerance);
    clear(&s);
    golden_close(file);
}

/* ---- Brute force -------------------------------------------------------- */

static const double some_x[] = {0, 1, .4, 2, 1.1, 0, 1.9, 3, 2.2, 1, 3, 2.5};
static const double some_y[] = {.3, 1.2, .9, -.4, -1, .5};

/* Gradients and Hessians of every objective and mean against differences. */
static void check_derivatives(const char *kernel, gp_mean_kind mean,
                              gp_objective kind, const double *weights)
{
    setup s = begin();
    s.options.mean = mean;
    s.options.weights = weights;
    finish(&s, kernel, .1, la_mat_f64(some_x, 6, 2), la_vec_f64(some_y, 6));
    size_t n = s.params.n;
    double v, g[MOST], h[MOST * MOST], gs[2][MOST], vs[2];
    const double step = 1e-5;
    TEST_OK(s.ctx, gp_problem_eval(s.problem, s.free, kind, 1e-3, &v, g, h));
    for (size_t j = 0; j < n; j++) {
        double at = s.free[j], slope[MOST];
        for (int side = 0; side < 2; side++) {
            s.free[j] = at + (side ? step : -step);
            TEST_OK(s.ctx, gp_problem_eval(s.problem, s.free, kind, 1e-3,
                                           &vs[side], gs[side], NULL));
        }
        s.free[j] = at;
        TEST_CLOSE(g[j], (vs[1] - vs[0]) / (2 * step), 1e-7);
        for (size_t i = 0; i < n; i++)
            slope[i] = (gs[1][i] - gs[0][i]) / (2 * step);
        TEST_CLOSE_ARRAY(h + j * n, slope, n, 2e-7);
    }
    clear(&s);
}

static void test_derivatives(void)
{
    static const double weights[] = {1, 2, .5, 1, 3, 1};
    static const char *const kernels[] = {
        "matern52(ard)", "rbf + 0.5*linear",
        "rq*periodic(period=2)[0] + matern32[1]"};
    for (size_t k = 0; k < NELEM(kernels); k++)
        for (gp_mean_kind m = GP_MEAN_CONSTANT; m <= GP_MEAN_LINEAR; m++) {
            check_derivatives(kernels[k], m, GP_ML, k == 0 ? weights : NULL);
            check_derivatives(kernels[k], m, GP_LOO, NULL);
        }
}

/* The value of row i's target left out, its mean refitted, by the ratio
 * p(y_i | others) of two likelihoods at the right coefficients. */
static void test_loo_by_refits(void)
{
    double sum = 0;
    for (size_t i = 0; i < 6; i++) {
        double y[6];
        memcpy(y, some_y, sizeof(y));
        y[i] = NAN;
        covar_context *ctx = test_context();
        gp_options o = gp_options_default();
        o.standardise = GP_STANDARDISE_NONE;
        o.no_fit = true;
        o.mean = GP_MEAN_LINEAR;
        gp_options_start(&o, "noise_variance", .1);
        TEST_OK(ctx, gp_kernel_parse(&o.kernel, ctx, "rbf(lengthscale=1)"));
        gp_options_start(&o, "variance", 1);
        gp_model *m = NULL;
        TEST_OK(ctx, gp_fit(&m, ctx, la_mat_f64(some_x, 6, 2), la_vec_f64(y, 6),
                            &o, NULL));
        double mean, var;
        TEST_OK(ctx,
                gp_predict(m, ctx, la_mat_f64(some_x + 2 * i, 1, 2),
                           &(gp_prediction){.mean = &mean, .var_y = &var}));
        double e = some_y[i] - mean;
        sum -= (log(2 * M_PI * var) + e * e / var) / 2;
        gp_model_free(m);
        gp_kernel_free(o.kernel);
        gp_options_clear(&o);
        covar_context_free(ctx);
    }
    setup s = begin();
    s.options.mean = GP_MEAN_LINEAR;
    finish(&s, "1*rbf(lengthscale=1)", .1, la_mat_f64(some_x, 6, 2),
           la_vec_f64(some_y, 6));
    TEST_REL(value_of(&s, GP_LOO, 0), sum, 1e-10);
    clear(&s);
}

/* Outputs share the factor, so their values add up. */
static void test_outputs_add(void)
{
    double both[12], z[6], sum[2] = {0, 0}, together[2];
    for (size_t i = 0; i < 6; i++) {
        z[i] = some_y[i] * some_y[i] - .3;
        both[2 * i] = some_y[i];
        both[2 * i + 1] = z[i];
    }
    const double *one[] = {some_y, z};
    for (int k = 0; k < 3; k++) {
        setup s = begin();
        s.options.mean = GP_MEAN_LINEAR;
        finish(&s, "1*rbf(lengthscale=1)", .1, la_mat_f64(some_x, 6, 2),
               k == 2 ? la_mat_f64(both, 6, 2) : la_vec_f64(one[k % 2], 6));
        double *into = k == 2 ? together : sum;
        double ml = value_of(&s, GP_ML, 0), loo = value_of(&s, GP_LOO, 0);
        into[0] = k == 2 ? ml : into[0] + ml;
        into[1] = k == 2 ? loo : into[1] + loo;
        clear(&s);
    }
    TEST_CLOSE_ARRAY(together, sum, 2, 1e-13);
}

/* Weights are known noises in another form; a constant column changes
 * nothing. */
static void test_equal_models(void)
{
    static const double weights[] = {1, 2, .5, 1, 3, 1};
    double known[6], wide[18];
    for (size_t i = 0; i < 6; i++) {
        known[i] = .1 / weights[i];
        wide[3 * i] = some_x[2 * i];
        wide[3 * i + 1] = 1e9;
        wide[3 * i + 2] = some_x[2 * i + 1];
    }
    double v[3];
    for (int k = 0; k < 3; k++) {
        setup s = begin();
        if (k == 1)
            s.options.noise_per_point = known;
        else
            s.options.weights = weights;
        finish(&s, "1*matern32(ard,lengthscale=1)", k == 1 ? 0 : .1,
               k == 2 ? la_mat_f64(wide, 6, 3) : la_mat_f64(some_x, 6, 2),
               la_vec_f64(some_y, 6));
        v[k] = value_of(&s, GP_ML, 0);
        clear(&s);
    }
    TEST_REL(v[1], v[0], 1e-13);
    TEST_REL(v[2], v[0], 1e-13);
}

/* Memory of value and gradient: a little over two matrices. */
static void test_memory(void)
{
    setup s = begin();
    finish(&s, "matern52(ard)", .1, la_mat_f64(some_x, 6, 2),
           la_vec_f64(some_y, 6));
    size_t bytes, n = 2000;
    TEST_OK(s.ctx, gp_problem_plan(s.problem, GP_ML, n, &bytes));
    double squares = (double)bytes / (8.0 * (double)n * (double)n);
    cutap_note("value and gradient hold %.3f n^2 at n = %zu", squares, n);
    CU_ASSERT(squares <= 2.3);
    clear(&s);
}

/* A factorisation that fails names its matrix; the problem goes on. */
static void test_not_pd(void)
{
    const double x[] = {1, 1, 2}, y[] = {1, 2, 3};
    setup s = begin();
    s.options.mean = GP_MEAN_ZERO;
    finish(&s, "rbf(lengthscale=1)", 0, la_mat_f64(x, 3, 1), la_vec_f64(y, 3));
    s.free[0] = 0;
    double v = 7;
    TEST_STATUS(s.ctx,
                gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, NULL, NULL),
                COVAR_ERR_NOT_PD);
    TEST_CONTAINS(covar_error_text(s.ctx), "leading minor 2");
    CU_ASSERT(isfinite(value_of(&s, GP_ML, 1e-10)));
    clear(&s);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden G01", test_g01},
        {"golden G02", test_g02},
        {"golden G03", test_g03},
        {"golden G04", test_g04},
        {"golden G13", test_g13},
        {"golden G14", test_g14},
        {"golden G27", test_g27},
        {"derivatives", test_derivatives},
        {"leave-one-out by refits", test_loo_by_refits},
        {"outputs add up", test_outputs_add},
        {"equal models", test_equal_models},
        {"memory", test_memory},
        {"not positive definite", test_not_pd},
    };
    return CUTAP_RUN("gp_objective", cases);
}
