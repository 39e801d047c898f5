/* Eager graphs: every node has its values as soon as it is made.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values are counted arrays that nothing modifies. Views are copied. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

static covar_status from_expansion(ad_node *y)
{
    ad_node *const *e = ad_expand_node(y);
    if (!e)
        return ad_graph_error(y->graph);
    for (int k = 0; k < y->n_out; k++)
        y->value[k] = la_array_retain(e[k]->value[0]);
    return COVAR_OK;
}

static covar_status compute(ad_node *y)
{
    ad_graph *g = y->graph;
    la_exec exec = la_exec_cpu(g->ctx);
    la_view *x = covar_heap_alloc(g->heap, (size_t)y->n_in, sizeof(*x));
    if (!x)
        return ad_graph_nomem(g);
    for (int i = 0; i < y->n_in; i++)
        x[i] = la_array_view(y->in[i]->value[0]);
    covar_status status = ad_eval_node(&exec, y, x, y->value, NULL);
    covar_heap_free(g->heap, x);
    return status;
}

covar_status ad_eval_eager(ad_node *y)
{
    ad_graph *g = y->graph;
    char label[256];
    la_array **value =
        ad_arena_alloc(g->arena, (size_t)y->n_out * sizeof(*value));
    if (!value)
        return ad_graph_nomem(g);
    y->value = value;
    covar_status status;
    if (y->op == &ad_op_out) {
        int64_t k = ((const ad_out_fields *)y->fields)->index;
        value[0] = la_array_retain(y->in[0]->value[k]);
        return COVAR_OK;
    }
    if (y->op == &ad_op_input)
        return ad_node_fail(y, COVAR_ERR_STATE,
                            "an eager graph has no inputs: use ad_constant or "
                            "ad_param");
    status = ad_is_expanded(y) ? from_expansion(y) : compute(y);
    if (status == COVAR_OK || ad_graph_error(g) != COVAR_OK)
        return status;
    if (y->op->flags & AD_FALLIBLE)
        return ad_graph_fail(g, status, "%s", covar_error_text(g->ctx));
    return ad_graph_fail(g, status, "%s: %s",
                         ad_node_label(label, sizeof(label), y),
                         covar_error_text(g->ctx));
}

la_array *ad_value(ad_node *x)
{
    if (!x)
        return NULL;
    if (!x->value) {
        ad_node_fail(x, COVAR_ERR_STATE,
                     "has a value only in an eager graph: compile and run it");
        return NULL;
    }
    return la_array_retain(x->value[0]);
}
