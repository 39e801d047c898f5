/* Private to the derivative files: regions, and rules of single nodes.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_DERIVE_IMPL_H
#define COVAR_DERIVE_IMPL_H

#include "autodiff/autodiff_impl.h"

/* The nodes between `wrt` and the roots, in order. What depends on a wrt was
 * made after it, so that nothing older than the oldest wrt is visited: the
 * derivative of a few new nodes costs nothing for the old graph below. */
typedef struct ad_region {
    ad_graph *g;
    ad_node **node; /* ascending id */
    size_t n;
    bool *active;  /* by place: depends on a wrt, through real values */
    bool *wrt;     /* by place: is one */
    size_t *first; /* by place: number of its value 0 */
    size_t n_value;
    uint32_t *table; /* open addressing, place + 1 */
    size_t n_table;  /* a power of two */
    int most_in, most_out;
} ad_region;

enum { AD_NOWHERE = -1 };

/* opaque: do not look behind a wrt. Clear it in any case. */
covar_status ad_region_init(ad_region *r, ad_graph *g, ad_node *const *root,
                            size_t n_root, ad_node *const *wrt, size_t n_wrt,
                            bool opaque);
void ad_region_clear(ad_region *r);

/* The place of y in r->node, or AD_NOWHERE. */
ptrdiff_t ad_region_find(const ad_region *r, const ad_node *y);

/* Does y carry derivatives: is value k real? */
bool ad_is_real(const ad_node *y, int k);

/* v'J: x_bar[i] = NULL where it is exactly zero or there is no path;
 * connected[i] (may be NULL) says whether there is one. opaque as above. */
covar_status ad_reverse(ad_node **x_bar, bool *connected, ad_graph *g,
                        ad_node *const *y, ad_node *const *y_bar, size_t n_y,
                        ad_node *const *wrt, size_t n, bool opaque);

/* J v: y_dot[i] = NULL where it is exactly zero. x_dot[i] may be NULL. */
covar_status ad_forward(ad_node **y_dot, ad_graph *g, ad_node *const *y,
                        size_t n_y, ad_node *const *wrt, ad_node *const *x_dot,
                        size_t n, bool opaque);

/* The rule of one node: own vjp or that of its expansion; NULL is zero. */
covar_status ad_vjp_node(ad_node *y, ad_node *const y_bar[], const bool need[],
                         ad_node *x_bar[]);

/* a + b where NULL is zero; NULL after an error too. */
ad_node *ad_plus(ad_node *a, ad_node *b);

/* Zeros of the type of x. */
ad_node *ad_zeros_like(const ad_node *x);

/* The checks that all verbs share: POISONED when there is no graph, then the
 * graph's first error, then foreign or integer arguments. */
covar_status ad_derive_begin(ad_graph **g, const char *verb, ad_node *const *y,
                             size_t n_y, ad_node *const *wrt, size_t n);
covar_status ad_derive_types(ad_graph *g, const char *verb, const char *what,
                             ad_node *const *x, ad_node *const *v, size_t n);

/* Is there room for the result, and are the counts of nodes not negative? */
covar_status ad_derive_result(ad_graph *g, const char *verb,
                              ad_node *const *result, int n_result, int n);

/* Naive forms between wrt and the roots made stable, in place (stabilise.c) */
covar_status ad_stabilise(ad_graph *g, ad_node **root, size_t n_root,
                          ad_node *const *wrt, size_t n);

/* New nodes carry y's origin until the end. */
typedef struct ad_origin {
    const char *scope, *file;
    int line;
} ad_origin;
ad_origin ad_origin_begin(const ad_node *y);
void ad_origin_end(ad_graph *g, ad_origin o);

#endif
