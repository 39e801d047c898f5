/* Starts of a fit and the coordinates it searches in.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "gp/fit_impl.h"
#include "test_util.h"

#include <math.h>

enum { N = 6 };
static const double X[2 * N] = {0, 3, 1, 3, 2, 5, 5, 8, 7, 9, 10, 13};
static const double y[N] = {1, 4, 2, 8, 5, 7};

typedef struct table {
    gp_kernel *kernel;
    gp_data *data;
    gp_params params;
    gp_space space;
} table;

/* In place: the space points at the table. */
static void make(table *t, covar_context *ctx, const char *kernel,
                 gp_options *o)
{
    *t = (table){.kernel = NULL};
    TEST_OK(ctx, gp_kernel_parse(&t->kernel, ctx, kernel));
    TEST_OK(ctx, gp_data_create(&t->data, ctx, la_mat_f64(X, N, 2),
                                la_vec_f64(y, N), o));
    TEST_OK(ctx, gp_params_create(&t->params, ctx, t->kernel, t->data, o));
    TEST_OK(ctx, gp_params_apply(&t->params, ctx, o));
    TEST_OK(ctx, gp_space_create(&t->space, ctx, &t->params));
}

static void clear(table *t)
{
    gp_space_clear(&t->space);
    gp_params_clear(&t->params);
    gp_data_free(t->data);
    gp_kernel_free(t->kernel);
}

/* exp of the coordinates of a start: conditioned values. */
static void place(double *value, const table *t, gp_start which)
{
    gp_start_place(value, &t->space, which);
    for (size_t j = 0; j < t->space.n; j++)
        value[j] = exp(value[j]);
}

static void test_deterministic(void)
{
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    table t;
    make(&t, ctx, "matern52(ard)", &o);
    double v[4];
    TEST_INT(t.space.n, 4);
    CU_ASSERT_FALSE(gp_start_is_given(&t.params));
    place(v, &t, GP_START_SHORT);
    TEST_CLOSE_ARRAY(v, ((double[]){1, .3 * M_SQRT2, .3 * M_SQRT2, .1}), 4,
                     1e-14);
    place(v, &t, GP_START_LONG);
    TEST_CLOSE_ARRAY(v, ((double[]){1, 1.5 * M_SQRT2, 1.5 * M_SQRT2, .0025}), 4,
                     1e-14);
    double x[4], free[4];
    gp_start_place(x, &t.space, GP_START_SHORT);
    gp_space_expand(free, &t.space, x);
    TEST_CLOSE(exp(free[1]), .3 * M_SQRT2 * 10, 1e-14);
    TEST_CLOSE(exp(free[3]), .1 * pow(t.data->y_sd[0], 2), 1e-14);
    clear(&t);
    covar_context_free(ctx);
}

/* Variances share what there is; a given period stays in every start. */
static void test_given(void)
{
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    gp_options_start(&o, "0.lengthscale", 4);
    table t;
    make(&t, ctx, "2*rbf[0] + periodic(period=3)[0]", &o);
    double v[6];
    CU_ASSERT_TRUE(gp_start_is_given(&t.params));
    double sd2 = pow(t.data->y_sd[0], 2);
    place(v, &t, GP_START_GIVEN);
    TEST_CLOSE_ARRAY(v, ((double[]){2 / sd2, .4, .5, 1, .3, .1}), 6, 1e-14);
    place(v, &t, GP_START_LONG);
    TEST_CLOSE_ARRAY(v, ((double[]){.5, 1.5, .5, 1, .3, .0025}), 6, 1e-14);
    clear(&t);
    gp_options_clear(&o);
    covar_context_free(ctx);
}

/* Spread points stay in their ranges, also where bounds cut them. */
static void test_spread(void)
{
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    gp_options_bounds(&o, "variance", 1e-3, 2e-3); /* below the range */
    gp_options_bounds(&o, "noise_variance", 1e-3, 1e-1);
    table t;
    make(&t, ctx, "rbf(ard)", &o);
    double low[4], high[4], sd2 = pow(t.data->y_sd[0], 2);
    gp_start_spread(low, &t.space, (double[]){0, 0, 0, 0});
    gp_start_spread(high, &t.space, (double[]){1, 1, 1, 1});
    for (size_t j = 0; j < 4; j++) {
        low[j] = exp(low[j]);
        high[j] = exp(high[j]);
    }
    TEST_CLOSE_ARRAY(
        low, ((double[]){1e-3 / sd2, .05 * M_SQRT2, .05 * M_SQRT2, 1e-3 / sd2}),
        4, 1e-14);
    TEST_CLOSE_ARRAY(
        high, ((double[]){2e-3 / sd2, 20 * M_SQRT2, 20 * M_SQRT2, 1e-1 / sd2}),
        4, 1e-14);
    clear(&t);
    gp_options_clear(&o);
    covar_context_free(ctx);
}

static void test_fixed_and_tied(void)
{
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    gp_options_fix(&o, "noise_variance", 0);
    gp_options_tie(&o, "lengthscale[1]", "lengthscale[0]");
    table t;
    make(&t, ctx, "rbf(ard)", &o);
    TEST_INT(t.space.n, 2);
    double x[2] = {.5, .25}, free[4], g[2], back[2];
    gp_space_expand(free, &t.space, x);
    CU_ASSERT(free[3] == -INFINITY);
    TEST_CLOSE(free[1], .25 + log(10), 1e-15);
    TEST_CLOSE(free[2], free[1], 0);
    gp_space_take(back, &t.space, free);
    TEST_CLOSE_ARRAY(back, x, 2, 1e-15);
    gp_space_gradient(g, &t.space, (double[]){1, 2, 4, 8});
    TEST_CLOSE(g[0], 1, 0);
    TEST_CLOSE(g[1], 6, 0);
    gp_params_from_free(&t.params, free);
    TEST_CLOSE(t.params.param[3].value, 0, 0);
    TEST_CLOSE(t.params.param[2].value, 10 * exp(.25), 1e-14);
    clear(&t);
    gp_options_clear(&o);
    covar_context_free(ctx);
}

static void test_at_bound(void)
{
    gp_param p = {.log = true, .tie = -1, .lower = 1e-3, .upper = 1e3};
    p.value = exp(log(1e3));
    CU_ASSERT_TRUE(gp_param_is_at_bound(&p));
    p.value = 999;
    CU_ASSERT_FALSE(gp_param_is_at_bound(&p));
    p.value = 1e-3 * (1 + 1e-12);
    CU_ASSERT_TRUE(gp_param_is_at_bound(&p));
    p.fixed = true;
    CU_ASSERT_FALSE(gp_param_is_at_bound(&p));
}

int main(void)
{
    static const cutap_case cases[] = {
        {"deterministic starts", test_deterministic},
        {"given values", test_given},
        {"spread", test_spread},
        {"fixed and tied", test_fixed_and_tied},
        {"at a bound", test_at_bound},
    };
    return CUTAP_RUN("gp_start", cases);
}
