/* Private to src/gp: what the files of the fit share.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_FIT_IMPL_H
#define COVAR_GP_FIT_IMPL_H

#include "gp_impl.h"

/* ---- Coordinates of the search (space.c) -------------------------------- */

/* The parameters that a fit moves: neither fixed, dropped nor tied. Their free
 * values are shifted by the log of the scale (conditioned coordinates), so
 * that starts are of order one; gradients in logs do not change. */
typedef struct gp_space {
    covar_heap      *heap;
    const gp_params *params; /* borrowed */
    size_t           n;
    size_t          *index;         /* (n) in the table */
    double          *lower, *upper; /* (n) */
    double          *shift;         /* (n): free = x + shift */
} gp_space;

covar_status gp_space_create(gp_space *out, covar_context *ctx,
                             const gp_params *params);
void         gp_space_clear(gp_space *s);

/* x (n) to the free values of the whole table, with fixed ones at their value,
 * ties followed and NaN for dropped entries; and back. */
void gp_space_expand(double *free, const gp_space *s, const double *x);
void gp_space_take(double *x, const gp_space *s, const double *free);

/* Gradient in x from the one in free values: ties add up. */
void gp_space_gradient(double *g, const gp_space *s, const double *grad);

/* ---- Starts (start.c) --------------------------------------------------- */

typedef enum gp_start {
    GP_START_GIVEN, /* what the caller gave, else as GP_START_SHORT */
    GP_START_SHORT,
    GP_START_LONG
} gp_start;

bool gp_start_is_given(const gp_params *p); /* any start by the caller? */

/* Free coordinates x of a deterministic start. */
void gp_start_place(double *x, const gp_space *s, gp_start which);

/* Free coordinates for a point u (n) of the unit cube. */
void gp_start_spread(double *x, const gp_space *s, const double *u);

/* Fills values that have no start, for conditioning without a fit. */
void gp_start_complete(gp_params *p);

#endif
