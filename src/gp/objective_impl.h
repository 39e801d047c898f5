/* Private to src/gp: the graph behind an objective (objective_graph.c).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_OBJECTIVE_IMPL_H
#define COVAR_GP_OBJECTIVE_IMPL_H

#include "gp_impl.h"

/* Inputs in the order in which they are bound; NULL where there is none. */
typedef enum gp_in {
    GP_IN_FREE,   /* (P) f64 */
    GP_IN_JITTER, /* rank 0, f64 */
    GP_IN_X,      /* (n,d) model coordinates */
    GP_IN_Y,      /* (n,p) targets without the known part of the mean */
    GP_IN_H,      /* (n,q) basis of the profiled mean */
    GP_IN_WEIGHT, /* (n) 1 / weight */
    GP_IN_NOISE,  /* (n) known variances */
    GP_IN_COUNT
} gp_in;

/* Values of rank 0 in f64. */
typedef struct gp_objective_graph {
    ad_graph *g;
    ad_node  *in[GP_IN_COUNT];
    ad_node  *ml;      /* beta held fixed: right value and gradient */
    ad_node  *ml_full; /* beta follows: right second derivatives too */
    ad_node  *loo;
    ad_node  *pivot; /* least L_ii^2 / A_ii, for gp_pivot_is_lost */
} gp_objective_graph;

covar_status gp_objective_graph_create(gp_objective_graph *out,
                                       covar_context *ctx, const gp_kernel *k,
                                       const gp_params *params,
                                       const gp_data *data,
                                       const gp_options *options);
void         gp_objective_graph_clear(gp_objective_graph *o);

#endif
