/* Objectives against differences, refits and equal models in other forms.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"
#include "test_gp_problem.h"
#include "test_util.h"

#include <math.h>
#include <string.h>

static const double some_x[] = {0, 1, .4, 2, 1.1, 0, 1.9, 3, 2.2, 1, 3, 2.5};
static const double some_y[] = {.3, 1.2, .9, -.4, -1, .5};

/* Gradients and Hessians of every objective and mean against differences. */
static void check_derivatives(const char *kernel, gp_mean_kind mean,
                              gp_objective kind, const double *weights)
{
    problem_setup s = problem_begin();
    s.options.mean = mean;
    s.options.weights = weights;
    problem_finish(&s, kernel, .1, la_mat_f64(some_x, 6, 2),
                   la_vec_f64(some_y, 6));
    size_t n = s.params.n;
    double v, g[PROBLEM_PARAMS], h[PROBLEM_PARAMS * PROBLEM_PARAMS],
        gs[2][PROBLEM_PARAMS], vs[2];
    const double step = 1e-5;
    TEST_OK(s.ctx, gp_problem_eval(s.problem, s.free, kind, 1e-3, &v, g, h));
    for (size_t j = 0; j < n; j++) {
        double at = s.free[j], slope[PROBLEM_PARAMS];
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
    problem_clear(&s);
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
    problem_setup s = problem_begin();
    s.options.mean = GP_MEAN_LINEAR;
    problem_finish(&s, "1*rbf(lengthscale=1)", .1, la_mat_f64(some_x, 6, 2),
                   la_vec_f64(some_y, 6));
    TEST_REL(problem_value(&s, GP_LOO, 0), sum, 1e-10);
    problem_clear(&s);
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
        problem_setup s = problem_begin();
        s.options.mean = GP_MEAN_LINEAR;
        problem_finish(&s, "1*rbf(lengthscale=1)", .1, la_mat_f64(some_x, 6, 2),
                       k == 2 ? la_mat_f64(both, 6, 2)
                              : la_vec_f64(one[k % 2], 6));
        double *into = k == 2 ? together : sum;
        double ml = problem_value(&s, GP_ML, 0),
               loo = problem_value(&s, GP_LOO, 0);
        into[0] = k == 2 ? ml : into[0] + ml;
        into[1] = k == 2 ? loo : into[1] + loo;
        problem_clear(&s);
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
        problem_setup s = problem_begin();
        if (k == 1)
            s.options.noise_per_point = known;
        else
            s.options.weights = weights;
        problem_finish(&s, "1*matern32(ard,lengthscale=1)", k == 1 ? 0 : .1,
                       k == 2 ? la_mat_f64(wide, 6, 3)
                              : la_mat_f64(some_x, 6, 2),
                       la_vec_f64(some_y, 6));
        v[k] = problem_value(&s, GP_ML, 0);
        problem_clear(&s);
    }
    TEST_REL(v[1], v[0], 1e-13);
    TEST_REL(v[2], v[0], 1e-13);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"derivatives", test_derivatives},
        {"leave-one-out by refits", test_loo_by_refits},
        {"outputs add up", test_outputs_add},
        {"equal models", test_equal_models},
    };
    return CUTAP_RUN("gp_derivatives", cases);
}
