/* Private to scan.c and scan_grad.c.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_AUTODIFF_SCAN_H
#define COVAR_AUTODIFF_SCAN_H

#include "autodiff/ops/ops.h"

/* Most inputs, and most outputs, of a scan or of its derivative. */
enum { AD_SCAN_MAX = 512 };

/* The type that a step sees of an input. */
ad_type ad_scan_slice(const ad_type *x, bool sequence);

/* A new body graph inside g; NULL after an error of g. */
ad_graph *ad_scan_open(ad_graph *g);

/* An input of the body, of this type of the graph around. */
ad_node *ad_scan_leaf(ad_graph *body, const ad_type *outer, const char *name);

/* Freezes the body (its owner from here on) and applies scan to `outer`;
 * inner[] are the body's inputs, result[] its outputs. counts->body is not
 * read. NULL after an error of g. */
ad_node *ad_scan_close(ad_graph *g, ad_graph *body, ad_node *const *inner,
                       ad_node *const *result, const ad_scan_fields *counts,
                       ad_node *const *outer);

covar_status ad_scan_vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                         ad_node *x_bar[]);
covar_status ad_scan_jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[]);

#endif
