/* Private to src/gp: making kernel trees (kernel.c, kernel_parse.c).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_KERNEL_TREE_H
#define COVAR_GP_KERNEL_TREE_H

#include "gp_impl.h"

/* ---- Kernels that could not be made (kernel_broken.c) ------------------- */

/* A kernel that carries this sentence; the out-of-memory one if it must. */
gp_kernel *gp_kernel_broken(const char *format, ...) COVAR_PRINTF(1, 2);
gp_kernel *gp_kernel_or_no_memory(gp_kernel *k); /* for NULL */

/* What keeps a and b from being combined, counted anew: one of them is NULL or
 * broken. NULL: nothing. */
gp_kernel *gp_kernel_fault(const char *who, gp_kernel *a, gp_kernel *b);

/* ---- Trees -------------------------------------------------------------- */

/* A node without children; NULL when out of memory. */
gp_kernel *gp_node_create(covar_heap *heap, gp_form form);

/* Appends child to a node under construction. Consumes child, also on failure
 * (false: out of memory, or one of them NULL). */
bool gp_node_adopt(gp_kernel *parent, gp_kernel *child);

/* Gives a leaf's parameter a start or fixed value; false: out of memory. */
bool gp_node_set_arg(gp_kernel *leaf, const char *name, double value,
                     bool fixed);
bool gp_node_set_columns(gp_kernel *leaf, const size_t *column, size_t n);

/* The start or fixed value given for a parameter of a leaf, or NULL. */
const gp_arg *gp_leaf_arg(const gp_kernel *leaf, const char *name);

/* A term of leaves only has a variance; with a sum among its factors its
 * number is a fixed scale (1 if absent), for the variances are inside. */
bool gp_term_has_variance(const gp_kernel *term);

/* A new tree with equal contents (opaque leaves are shared). */
gp_kernel *gp_kernel_copy(const gp_kernel *k);

/* The leaf's word, or the name of a user's kernel or feature module. */
const char *gp_leaf_title(const gp_kernel *leaf);

/* Wraps a leaf as the sum of one term; consumes it. */
gp_kernel *gp_sum_of(gp_kernel *leaf);

/* The type of a word of the grammar, or NULL. */
const gp_kernel_type *gp_kernel_type_find(const char *word, size_t length);

#endif
