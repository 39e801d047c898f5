/* Applying operators: nodes are made once for equal arguments.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ad_apply lays the new node out at the top of the arena, looks for an equal
 * older one and, if there is one, takes the arena back. Leaves, random
 * operators and operators with a pointer field are never merged. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

/* ---- Layout and search ------------------------------------------------------
 */

/* A node on top of the arena that the graph does not know yet; NULL when out
 * of memory. n_out < 0: one value, until infer says how many. */
static ad_node *lay_out(ad_graph *g, const ad_op *op, int n_in,
                        ad_node *const *in, const void *fields, int n_out)
{
    n_out = n_out < 0 ? 1 : n_out;
    ad_node *y = ad_arena_alloc(g->arena, sizeof(*y));
    if (!y)
        return NULL;
    y->op = op;
    y->graph = g;
    y->n_in = n_in;
    y->n_out = n_out;
    y->scope = g->scope;
    y->file = g->file;
    y->line = g->line;
    y->in = ad_arena_alloc(g->arena, (size_t)n_in * sizeof(ad_node *));
    y->type = ad_arena_alloc(g->arena, (size_t)n_out * sizeof(ad_type));
    y->fields = ad_arena_alloc(g->arena, op->fields_size);
    if (!y->in || !y->type || !y->fields)
        return NULL;
    for (int i = 0; i < n_in; i++)
        y->in[i] = in[i];
    if (!ad_fields_copy(g, op, y->fields, fields)) {
        ad_fields_release(op, y->fields);
        return NULL;
    }
    return y;
}

static void take_back(ad_graph *g, ad_node *y, size_t mark)
{
    ad_fields_release(y->op, y->fields);
    ad_arena_release(g->arena, mark);
}

static uint64_t hash_node(const ad_node *y)
{
    uint64_t h = ad_fields_hash(y->op, y->fields, ad_hash_text(y->op->name));
    for (int i = 0; i < y->n_in; i++)
        h = ad_hash_mix(h, y->in[i]->id);
    return h;
}

static bool same_node(const ad_node *a, const ad_node *b)
{
    bool same = a->hash == b->hash && a->op == b->op && a->n_in == b->n_in;
    for (int i = 0; same && i < a->n_in; i++)
        same = a->in[i] == b->in[i];
    return same && ad_fields_equal(a->op, a->fields, b->fields);
}

static ad_node *find_equal(const ad_graph *g, const ad_node *y)
{
    if (g->n_bucket == 0)
        return NULL;
    ad_node *x = g->bucket[y->hash & (g->n_bucket - 1)];
    while (x && !same_node(x, y))
        x = x->chain;
    return x;
}

/* Could sizes be computed? The builders of sizes without a graph leave their
 * failure to this check. */
static covar_status check_types(const ad_node *y)
{
    for (int k = 0; k < y->n_out; k++) {
        if (la_dtype_size(y->type[k].dtype) == 0)
            return ad_node_fail(y, COVAR_ERR_DTYPE, "there is no dtype %d",
                                (int)y->type[k].dtype);
        for (int i = 0; i < y->type[k].rank; i++)
            if (ad_dim_is_invalid(y->type[k].dim[i]))
                return ad_node_fail(y, COVAR_ERR_SHAPE,
                                    "dim %d is negative or does not fit", i);
    }
    return COVAR_OK;
}

static bool is_mark(const ad_node *x)
{
    return x == AD_ZERO || x == AD_NO_GRAD;
}

static bool is_around(const ad_graph *outer, const ad_graph *g)
{
    while (g && g != outer)
        g = g->parent;
    return g != NULL;
}

/* The graph that an application belongs to: the innermost of its inputs'. */
static ad_graph *common_graph(ad_graph *g, int n_in, ad_node *const *in)
{
    for (int i = 0; in && i < n_in; i++)
        if (in[i] && !is_mark(in[i]) && (!g || is_around(g, in[i]->graph)))
            g = in[i]->graph;
    return g;
}

static covar_status check_inputs(ad_graph *g, const ad_op *op, int n_in,
                                 ad_node *const *in, const void *fields)
{
    if (!op || n_in < 0 || (n_in > 0 && !in) || (op->fields && !fields))
        return ad_graph_fail(g, COVAR_ERR_ARG,
                             "ad_apply: the operator, its inputs or its fields "
                             "are NULL");
    if (op->n_in >= 0 && op->n_in != n_in)
        return ad_graph_fail(g, COVAR_ERR_ARG, "%s: %d inputs, not %d",
                             op->name, n_in, op->n_in);
    for (int i = 0; i < n_in; i++) {
        if (!in[i])
            return ad_graph_fail(g, COVAR_POISONED, "%s: input %d is NULL",
                                 op->name, i);
        if (is_mark(in[i]))
            return ad_graph_fail(g, COVAR_ERR_ARG,
                                 "%s: input %d is a mark, not a value",
                                 op->name, i);
        if (!is_around(in[i]->graph, g))
            return ad_graph_fail(g, COVAR_ERR_ARG,
                                 "%s: input %d belongs to another graph",
                                 op->name, i);
        if (in[i]->n_out != 1 && op != &ad_op_out)
            return ad_graph_fail(
                g, COVAR_ERR_ARG,
                "%s: input %d (%s) has %d values: take one with ad_out",
                op->name, i, in[i]->op->name, in[i]->n_out);
    }
    if (ad_fields_foreign(g, op, fields))
        return ad_graph_fail(g, COVAR_ERR_ARG,
                             "%s: a size belongs to another graph", op->name);
    return COVAR_OK;
}

static ad_node *make(ad_graph *g, const ad_op *op, int n_in, ad_node *const *in,
                     const void *fields, bool merge)
{
    size_t mark = ad_arena_mark(g->arena);
    ad_node *y = lay_out(g, op, n_in, in, fields, op->n_out);
    if (!y) {
        ad_arena_release(g->arena, mark);
        ad_graph_nomem(g);
        return NULL;
    }
    y->hash = hash_node(y);
    ad_node *old = merge ? find_equal(g, y) : NULL;
    if (old) {
        take_back(g, y, mark);
        return old;
    }
    if (op->infer(y) != COVAR_OK || check_types(y) != COVAR_OK ||
        ad_graph_append(g, y) != COVAR_OK) {
        take_back(g, y, mark);
        return NULL;
    }
    if (g->eager && ad_eval_eager(y) != COVAR_OK)
        return NULL;
    if (merge && ad_graph_enter(g, y) != COVAR_OK)
        return NULL;
    return y;
}

/* The same with inputs of the graphs around g captured. */
static ad_node *make_inside(ad_graph *g, const ad_op *op, int n_in,
                            ad_node *const *in, const void *fields, bool merge)
{
    ad_node **own = covar_heap_alloc(g->heap, (size_t)n_in, sizeof(*own));
    if (!own) {
        ad_graph_nomem(g);
        return NULL;
    }
    bool good = true;
    for (int i = 0; good && i < n_in; i++) {
        own[i] = in[i]->graph == g ? in[i] : ad_capture(g, in[i]);
        good = own[i] != NULL;
    }
    ad_node *y = good ? make(g, op, n_in, own, fields, merge) : NULL;
    covar_heap_free(g->heap, own);
    return y;
}

ad_node *ad_apply(ad_graph *g, const ad_op *op, int n_in, ad_node *const *in,
                  const void *fields)
{
    g = common_graph(g, n_in, in);
    if (!g || check_inputs(g, op, n_in, in, fields) != COVAR_OK)
        return NULL;
    bool merge =
        !(op->flags & (AD_LEAF | AD_RANDOM)) && ad_fields_mergeable(op);
    return g->parent ? make_inside(g, op, n_in, in, fields, merge)
                     : make(g, op, n_in, in, fields, merge);
}

ad_node *ad_apply_merged(ad_graph *g, const ad_op *op, int n_in,
                         ad_node *const *in, const void *fields)
{
    if (!g || check_inputs(g, op, n_in, in, fields) != COVAR_OK)
        return NULL;
    return make(g, op, n_in, in, fields, true);
}

ad_node *ad_node_new(ad_graph *g, const ad_op *op, int n_in, ad_node *const *in,
                     const void *fields, int n_out)
{
    size_t mark = ad_arena_mark(g->arena);
    ad_node *y = lay_out(g, op, n_in, in, fields, n_out);
    if (!y) {
        ad_arena_release(g->arena, mark);
        ad_graph_nomem(g);
        return NULL;
    }
    y->hash = hash_node(y);
    if (ad_graph_append(g, y) != COVAR_OK) {
        take_back(g, y, mark);
        return NULL;
    }
    return y;
}
