/* Captures: how a body under construction uses the graph around it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The step function of a scan may use any node of the outer graphs. In the
 * child each such node is a placeholder, merged by the outer node's id, so
 * that there is one for each. A node from two levels out is captured by the
 * graph between first. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

covar_status ad_graph_child(ad_graph **out, ad_graph *parent)
{
    covar_status status = ad_graph_like(out, parent);
    if (status == COVAR_OK)
        (*out)->parent = parent;
    else
        ad_graph_fail(parent, status, "%s", covar_error_text(parent->ctx));
    return status;
}

/* Recursion over the nesting of bodies, not over nodes. */
ad_node *ad_capture(ad_graph *g, ad_node *outer)
{
    if (!g || !outer || outer->graph == g)
        return outer;
    if (!g->parent) {
        ad_graph_fail(g, COVAR_ERR_ARG, "%s: belongs to no graph around",
                      outer->op->name);
        return NULL;
    }
    if (outer->graph != g->parent)
        outer = ad_capture(g->parent, outer);
    return outer ? ad_placeholder_for(g, outer) : NULL;
}

size_t ad_graph_captures(const ad_graph *g, ad_node **inner, ad_node **outer)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++) {
        int64_t id = ad_placeholder_outer(g->node[i]);
        if (id < 0)
            continue;
        if (inner)
            inner[n] = g->node[i];
        if (outer)
            outer[n] = g->parent->node[id];
        n++;
    }
    return n;
}
