/* Expansions: composites as the graphs that they stand for, made once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The graph lists its expansions, newest first, so that going back to a mark
 * finds those of older nodes. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

struct ad_expansion {
    ad_expansion *prev;
    size_t mark; /* arena position before this block */
    ad_node *node;
    ad_node *out[];
};

ad_node *const *ad_expand_node(ad_node *y)
{
    ad_graph *g = y->graph;
    if (y->expansion || !y->op->expand)
        return y->expansion;
    size_t mark = ad_arena_mark(g->arena);
    ad_expansion *e = ad_arena_alloc(
        g->arena, sizeof(*e) + (size_t)y->n_out * sizeof(ad_node *));
    if (!e) {
        ad_graph_nomem(g);
        return NULL;
    }
    const char *scope = g->scope, *file = g->file;
    int line = g->line;
    g->scope = y->scope;
    g->file = y->file;
    g->line = y->line;
    covar_status status = y->op->expand(y, e->out);
    g->scope = scope;
    g->file = file;
    g->line = line;
    for (int k = 0; status == COVAR_OK && k < y->n_out; k++)
        if (!e->out[k])
            status = ad_graph_error(g) != COVAR_OK
                         ? ad_graph_error(g)
                         : ad_node_fail(y, COVAR_POISONED,
                                        "its expansion lacks value %d", k);
    if (status != COVAR_OK) {
        ad_graph_fail(g, status, "%s: could not be expanded", y->op->name);
        return NULL;
    }
    *e = (ad_expansion){g->expansions, mark, y};
    g->expansions = e;
    y->expansion = e->out;
    return y->expansion;
}

void ad_expansions_release(ad_graph *g, size_t mark)
{
    while (g->expansions && g->expansions->mark >= mark) {
        g->expansions->node->expansion = NULL;
        g->expansions = g->expansions->prev;
    }
}
