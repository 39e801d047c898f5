/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"

#include <math.h>

#include "test_util.h"

series series_make(void)
{
    series s;
    for (size_t i = 0; i < SERIES_N; i++) {
        s.x[i] = 0.25 * (double)i;
        s.y[i] = sin(1.7 * s.x[i]) + 0.2 * cos(37.0 * (double)(i * i));
    }
    return s;
}

la_view series_x(const series *s)
{
    return la_mat_f64(s->x, SERIES_N, 1);
}

la_view series_y(const series *s)
{
    return la_vec_f64(s->y, SERIES_N);
}

golden_rows golden_rows_read(const golden *c)
{
    golden_rows r = {.d = 1};
    r.n = golden_numbers(c, "inputs/y", r.y, GOLDEN_ROWS);
    r.d = golden_numbers(c, "inputs/X", r.X, GOLDEN_ROWS) / r.n;
    return r;
}

la_view golden_rows_x(const golden_rows *r)
{
    return la_mat_f64(r->X, r->n, r->d);
}

la_view golden_rows_y(const golden_rows *r)
{
    return la_vec_f64(r->y, r->n);
}

void golden_expect(const golden *c, const char *path, const double *actual,
                   double tolerance)
{
    double expected[GOLDEN_ROWS];
    size_t n = golden_numbers(c, path, expected, GOLDEN_ROWS);
    CU_ASSERT(n > 0);
    TEST_CLOSE_ARRAY(actual, expected, n, tolerance);
}

gp_options gp_options_of(covar_context *ctx, const char *kernel)
{
    gp_options o = gp_options_default();
    TEST_OK(ctx, gp_kernel_parse(&o.kernel, ctx, kernel));
    return o;
}

void gp_options_done(gp_options *o)
{
    gp_kernel_free(o->kernel);
    o->kernel = NULL;
    gp_options_clear(o);
}

double gp_value(const gp_model *m, covar_context *ctx, const char *name)
{
    double value = NAN;
    TEST_OK(ctx, gp_param_get(m, ctx, name, &value));
    return value;
}

gp_model *gp_fixed_model(covar_context *ctx, const golden_rows *r,
                         const char *kernel, double noise, gp_mean_kind mean,
                         const double *per_point)
{
    gp_options o = gp_options_of(ctx, kernel);
    gp_model *m = NULL;
    o.mean = mean;
    o.standardise = GP_STANDARDISE_NONE;
    o.no_fit = true;
    o.noise_per_point = per_point;
    gp_options_fix(&o, "noise_variance", noise);
    TEST_OK(ctx, gp_fit(&m, ctx, golden_rows_x(r), golden_rows_y(r), &o, NULL));
    gp_options_done(&o);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    return m;
}

gp_model *gp_small_model(covar_context *ctx, const char *kernel,
                         gp_mean_kind mean)
{
    series s = series_make();
    gp_options o = gp_options_of(ctx, kernel);
    gp_model *m = NULL;
    o.no_fit = true;
    o.mean = mean;
    gp_options_start(&o, "noise_variance", 0.04);
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL));
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    gp_options_done(&o);
    return m;
}
