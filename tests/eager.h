/* One eager graph for a test, and what tests ask of its values.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EAGER_H
#define EAGER_H

#include <covar/autodiff.h>

#include "test_util.h"

extern covar_context *eager_ctx;
extern ad_graph *eager_g;

void eager_begin(void);
void eager_end(void);

/* A constant that derivatives can be taken to. */
ad_node *eager_constant(la_view x, const char *name);

/* The n elements of x are `expected`? */
void eager_check(ad_node *x, const double *expected, size_t n,
                 double tolerance);

/* The first element; NaN after an error. */
double eager_number(ad_node *x);

/* The adjoint of x for adjoints y_bar of y; the gradient of y (rank 0). */
ad_node *eager_pull(ad_node *y, ad_node *y_bar, ad_node *x);
ad_node *eager_gradient(ad_node *y, ad_node *x);

#endif
