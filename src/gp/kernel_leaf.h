/* Private to src/gp: what the kernel_<type>.c files share.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_KERNEL_LEAF_H
#define COVAR_GP_KERNEL_LEAF_H

#include "kernel_tree.h"

/* Number of columns in the leaf's group. */
size_t gp_leaf_columns(const gp_kernel *leaf, const gp_build *b);

/* The leaf's columns of x (n,d), without those whose lengthscale is dropped;
 * `first` = index of the first lengthscale, SIZE_MAX = keep all. */
ad_node *gp_leaf_select(const gp_kernel *leaf, const gp_build *b, ad_node *x,
                        size_t first);

ad_node *gp_leaf_ones(gp_build *b);     /* (n) */
ad_node *gp_leaf_all_ones(gp_build *b); /* (n,m) */

/* SHAPE when the leaf selects a column that X does not have. */
covar_status gp_leaf_check_columns(gp_params_maker *m, const gp_kernel *leaf);

/* Lengthscales of the leaf: one, or with ard "lengthscale[column]" each. */
covar_status gp_leaf_add_lengthscales(gp_params_maker *m,
                                      const gp_kernel *leaf, gp_kind kind);

/* Squared distances of the leaf's columns divided by its lengthscales, which
 * are taken: (n,m). NULL in *none says that every column is constant. */
ad_node *gp_leaf_scaled_sqdist(const gp_kernel *leaf, gp_build *b);

/* Matern functions of the squared scaled distance D, s = sqrt(c D):
 *   degree 0: exp(-s), 1: (1 + s) exp(-s), 2: (1 + s + s^2/3) exp(-s),
 *   3: (1 + s + 2 s^2/5 + s^3/15) exp(-s).
 * `same` = D is of points with themselves: the diagonal never moves, so the
 * derivative of degree 0 there counts as 0; else it is infinite at D = 0. */
ad_node *gp_matern(ad_node *D, int degree, double c, bool same);

extern const ad_op gp_op_matern;

#endif
