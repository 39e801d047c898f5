/* What tests of gp share: a small series, options from a kernel's text.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TEST_GP_H
#define TEST_GP_H

#include <covar/gp.h>

#include "golden_json.h"

enum { SERIES_N = 20, GOLDEN_ROWS = 64 };

/* A noisy sine on an even grid. */
typedef struct series {
    double x[SERIES_N], y[SERIES_N];
} series;

series series_make(void);
la_view series_x(const series *s); /* (20,1) */
la_view series_y(const series *s);

/* Inputs X (n,d) and y of a golden case. */
typedef struct golden_rows {
    size_t n, d;
    double X[GOLDEN_ROWS], y[GOLDEN_ROWS];
} golden_rows;

golden_rows golden_rows_read(const golden *c);
la_view golden_rows_x(const golden_rows *r);
la_view golden_rows_y(const golden_rows *r);

/* Asserts the numbers of a golden case at `path`. */
void golden_expect(const golden *c, const char *path, const double *actual,
                   double tolerance);

/* Default options with a kernel; free both together. */
gp_options gp_options_of(covar_context *ctx, const char *kernel);
void gp_options_done(gp_options *o);

/* A model of a golden case's rows at fixed parameters. */
gp_model *gp_fixed_model(covar_context *ctx, const golden_rows *r,
                         const char *kernel, double noise, gp_mean_kind mean,
                         const double *per_point);

/* A sound model to misuse: the series, one lengthscale, no search. */
gp_model *gp_small_model(covar_context *ctx, const char *kernel,
                         gp_mean_kind mean);

/* The value of a model's parameter; asserts that there is one. */
double gp_value(const gp_model *m, covar_context *ctx, const char *name);

/* The call fails with this status and a sentence that has this part. */
#define TEST_REFUSED(ctx, call, expected, part)                                \
    do {                                                                       \
        covar_error_clear(ctx);                                                \
        TEST_STATUS(ctx, call, expected);                                      \
        TEST_CONTAINS(covar_error_text(ctx), part);                            \
    } while (0)

#endif
