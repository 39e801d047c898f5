/* Objectives: value, gradient, Hessian against golden cases and brute force.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"
#include "test_gp_problem.h"
#include "test_util.h"

#include <math.h>
#include <stdio.h>

/* ---- Golden cases ------------------------------------------------------- */

static void test_g01(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G01");
    golden_rows r = golden_rows_read(c);
    for (int single = 0; single < 2; single++) {
        const double tolerance = single ? 1e-4 : 1e-10;
        problem_setup s = problem_begin();
        s.options.mean = GP_MEAN_ZERO;
        s.options.standardise = GP_STANDARDISE_NONE;
        s.options.dtype = single ? LA_F32 : LA_F64;
        problem_finish(&s, "1.3*rbf(lengthscale=0.8)", .05, golden_rows_x(&r),
                       golden_rows_y(&r));
        double v, g[3], h[9], expected[9];
        TEST_OK(s.ctx, gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, g, h));
        TEST_REL(v, golden_number(c, "expected/lml"), tolerance);
        golden_numbers(c, "expected/grad_log_sf2_ell_sn2", expected, 3);
        TEST_CLOSE_ARRAY(g, expected, 3, tolerance);
        golden_numbers(c, "expected/hessian_log_params", expected, 9);
        TEST_CLOSE_ARRAY(h, expected, 9, tolerance);
        TEST_REL(problem_value(&s, GP_ML, 0), v, single ? 1e-6 : 1e-14);
        TEST_REL(problem_value(&s, GP_LOO, 0),
                 golden_number(c, "expected/loo_logpdf_sum"), tolerance);
        problem_clear(&s);
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
        problem_setup s = problem_begin();
        s.options.mean = GP_MEAN_ZERO;
        s.options.standardise = GP_STANDARDISE_NONE;
        s.options.dtype = i % 2 ? LA_F32 : LA_F64;
        problem_finish(&s, kernel, .02, golden_rows_x(&r), golden_rows_y(&r));
        double v, g[4], expected[4];
        TEST_OK(s.ctx,
                gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, g, NULL));
        snprintf(path, sizeof(path), "expected/%s/lml", word);
        TEST_REL(v, golden_number(c, path), tolerance);
        snprintf(path, sizeof(path), "expected/%s/grad_log_sf2_ell1_ell2_sn2",
                 word);
        golden_numbers(c, path, expected, 4);
        TEST_CLOSE_ARRAY(g, expected, 4, tolerance);
        problem_clear(&s);
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
        problem_setup s = problem_begin();
        s.options.dtype = single ? LA_F32 : LA_F64;
        gp_options_fix(&s.options, "mean.constant",
                       golden_number(c, "inputs/c"));
        problem_finish(
            &s,
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
        problem_clear(&s);
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
    problem_setup s = problem_begin();
    s.options.mean = GP_MEAN_ZERO;
    s.options.standardise = GP_STANDARDISE_NONE;
    problem_finish(&s, "2*linear", .25, la_mat_f64(Phi, 6, 3),
                   la_vec_f64(y, 6));
    TEST_OK(s.ctx, gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, g, NULL));
    TEST_REL(v, golden_number(c, "expected/log_evidence"), 1e-10);
    golden_numbers(c, "expected/grad_log_alpha_beta", expected, 2);
    TEST_CLOSE_ARRAY(((double[]){-g[0], -g[1]}), expected, 2, 1e-10);
    problem_clear(&s);
    golden_close(file);
}

static void test_g13(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G13");
    golden_rows r = golden_rows_read(c);
    problem_setup s = problem_begin();
    s.options.mean = GP_MEAN_LINEAR;
    problem_finish(&s, "1.3*rbf(lengthscale=0.8)", .05, golden_rows_x(&r),
                   golden_rows_y(&r));
    TEST_REL(problem_value(&s, GP_ML, 0),
             golden_number(c, "expected/ml_at_beta"), 1e-10);
    problem_clear(&s);
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
    problem_setup s = problem_begin();
    s.options.mean = GP_MEAN_ZERO;
    s.options.standardise = GP_STANDARDISE_NONE;
    s.options.noise_per_point = noise;
    problem_finish(&s, "1.3*rbf(lengthscale=0.8)", 0, golden_rows_x(&r),
                   golden_rows_y(&r));
    CU_ASSERT(s.free[2] == -INFINITY);
    TEST_OK(s.ctx, gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, g, h));
    TEST_REL(v, golden_number(c, "expected/lml"), 1e-10);
    TEST_CLOSE(g[2], 0, 0);
    CU_ASSERT(isfinite(g[0]) && isfinite(g[1]) && isfinite(h[0]));
    TEST_CLOSE(h[8], 0, 0);
    problem_clear(&s);
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
    problem_setup s = problem_begin();
    s.options.mean = GP_MEAN_ZERO;
    s.options.standardise = GP_STANDARDISE_NONE;
    problem_finish(&s, "rbf(lengthscale=0.5)", 0, golden_rows_x(&r),
                   golden_rows_y(&r));
    s.free[0] = 0;
    for (size_t i = 0; i < NELEM(rows_of); i++)
        TEST_REL(problem_value(&s, GP_ML, rows_of[i].level),
                 golden_number(c, rows_of[i].path), rows_of[i].tolerance);
    problem_clear(&s);
    golden_close(file);
}

/* ---- What else a problem owes ------------------------------------------- */

static const double some_x[] = {0, 1, .4, 2, 1.1, 0, 1.9, 3, 2.2, 1, 3, 2.5};
static const double some_y[] = {.3, 1.2, .9, -.4, -1, .5};

/* Memory of value and gradient: a little over two matrices. */
static void test_memory(void)
{
    problem_setup s = problem_begin();
    problem_finish(&s, "matern52(ard)", .1, la_mat_f64(some_x, 6, 2),
                   la_vec_f64(some_y, 6));
    size_t bytes, n = 2000;
    TEST_OK(s.ctx, gp_problem_plan(s.problem, GP_ML, n, &bytes));
    double squares = (double)bytes / (8.0 * (double)n * (double)n);
    cutap_note("value and gradient hold %.3f n^2 at n = %zu", squares, n);
    CU_ASSERT(squares <= 2.3);
    problem_clear(&s);
}

/* A factorisation that fails names its matrix; the problem goes on. */
static void test_not_pd(void)
{
    const double x[] = {1, 1, 2}, y[] = {1, 2, 3};
    problem_setup s = problem_begin();
    s.options.mean = GP_MEAN_ZERO;
    problem_finish(&s, "rbf(lengthscale=1)", 0, la_mat_f64(x, 3, 1),
                   la_vec_f64(y, 3));
    s.free[0] = 0;
    double v = 7;
    TEST_STATUS(s.ctx,
                gp_problem_eval(s.problem, s.free, GP_ML, 0, &v, NULL, NULL),
                COVAR_ERR_NOT_PD);
    TEST_CONTAINS(covar_error_text(s.ctx), "leading minor 2");
    CU_ASSERT(isfinite(problem_value(&s, GP_ML, 1e-10)));
    problem_clear(&s);
}

/* Rounding leaves 1e-16 of the last of two equal rows' pivot, or nothing, or
 * less: no kind has a value there, at the next level each has. */
static void test_lost_pivot(void)
{
    const double x[] = {0, .9, 2.1, 2.1, 3}, y[] = {1, .2, -1, 1, .4};
    static const gp_objective kinds[] = {GP_ML, GP_LOO};
    for (int i = 0; i < 40; i++) {
        char kernel[60];
        snprintf(kernel, sizeof(kernel), "1.7*rq(lengthscale=%g)", .2 + .1 * i);
        problem_setup s = problem_begin();
        problem_finish(&s, kernel, 0, la_mat_f64(x, 5, 1), la_vec_f64(y, 5));
        for (size_t k = 0; k < NELEM(kinds); k++) {
            double v, g[4];
            TEST_STATUS(
                s.ctx,
                gp_problem_eval(s.problem, s.free, kinds[k], 0, &v, NULL, NULL),
                COVAR_ERR_NOT_PD);
            TEST_STATUS(
                s.ctx,
                gp_problem_eval(s.problem, s.free, kinds[k], 0, &v, g, NULL),
                COVAR_ERR_NOT_PD);
            CU_ASSERT(isfinite(problem_value(&s, kinds[k], 1e-12)));
        }
        problem_clear(&s);
    }
}

/* A pivot is compared with its own row of the diagonal: noise of any size on
 * one row is no reason to refuse the others. */
static void test_pivot_of_its_row(void)
{
    const double x[] = {0, .9, 2.1, 2.4, 3}, y[] = {1, .2, -1, 1, .4};
    double noise[] = {.01, .01, 1e20, .01, .01};
    for (int single = 0; single < 2; single++) {
        problem_setup s = problem_begin();
        s.options.mean = GP_MEAN_ZERO;
        s.options.noise_per_point = noise;
        s.options.dtype = single ? LA_F32 : LA_F64;
        problem_finish(&s, "1.7*rbf(lengthscale=1)", 0, la_mat_f64(x, 5, 1),
                       la_vec_f64(y, 5));
        CU_ASSERT(isfinite(problem_value(&s, GP_ML, 0)));
        problem_clear(&s);
    }
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
        {"memory", test_memory},
        {"not positive definite", test_not_pd},
        {"lost pivot", test_lost_pivot},
        {"pivot of its row", test_pivot_of_its_row},
    };
    return CUTAP_RUN("gp_objective", cases);
}
