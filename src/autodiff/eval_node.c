/* The value of one node: what the reference evaluator does at each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inputs get the strides that the operator accepts, by a copy if need be;
 * views are copied; a composite has the values of its expansion. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

static covar_status make_outputs(const la_exec *exec, const ad_node *y,
                                 const size_t *symbol, la_array **out)
{
    size_t dim[LA_MAX_DIMS];
    for (int k = 0; k < y->n_out; k++) {
        const ad_type *t = &y->type[k];
        for (int i = 0; i < t->rank; i++)
            COVAR_TRY(ad_dim_eval(y->graph, t->dim[i], symbol, &dim[i]));
        COVAR_TRY(la_array_create(&out[k], exec, t->dtype, t->rank, dim));
    }
    return COVAR_OK;
}

static bool plain_strides(la_view x)
{
    for (int i = 0; i < x.rank; i++)
        if (x.stride[i] == 0 && x.dim[i] > 1)
            return false;
    return x.rank == 0 || x.dim[x.rank - 1] <= 1 || x.stride[x.rank - 1] == 1;
}

/* What one call of an operator needs beside its inputs and outputs. */
typedef struct scratch {
    covar_heap *heap;
    la_view *x, *out;
    la_array **dense; /* copies of inputs; or NULL */
    void *work;
    int32_t *info;
} scratch;

static void scratch_clear(scratch *s, const ad_node *y)
{
    for (int i = 0; s->dense && i < y->n_in; i++)
        la_array_free(s->dense[i]);
    covar_heap_free(s->heap, s->dense);
    covar_heap_free(s->heap, s->x);
    covar_heap_free(s->heap, s->out);
    covar_heap_free(s->heap, s->work);
    covar_heap_free(s->heap, s->info);
}

static covar_status scratch_init(scratch *s, const la_exec *exec,
                                 const ad_node *y, const la_view *x,
                                 la_array **out)
{
    const ad_op *op = y->op;
    const bool any = (op->flags & (AD_ELEMENTWISE | AD_ANY_STRIDE)) != 0;
    covar_heap *heap = covar_context_heap(exec->ctx);
    *s = (scratch){.heap = heap};
    s->x = covar_heap_calloc(heap, (size_t)y->n_in, sizeof(*s->x));
    s->out = covar_heap_calloc(heap, (size_t)y->n_out, sizeof(*s->out));
    s->dense = covar_heap_calloc(heap, (size_t)y->n_in, sizeof(*s->dense));
    if (!s->x || !s->out || !s->dense)
        return covar_fail_nomem(exec->ctx, op->name);
    for (int i = 0; i < y->n_in; i++) {
        s->x[i] = x[i];
        if (any || plain_strides(x[i]))
            continue;
        COVAR_TRY(la_array_from_view(&s->dense[i], exec, x[i]));
        s->x[i] = la_array_view(s->dense[i]);
    }
    for (int k = 0; k < y->n_out; k++)
        s->out[k] = la_array_view(out[k]);
    if (op->work) {
        s->work = covar_heap_alloc(heap, op->work(y, s->x), 1);
        if (!s->work)
            return covar_fail_nomem(exec->ctx, op->name);
    }
    if (op->flags & AD_FALLIBLE) {
        s->info =
            covar_heap_calloc(heap, ad_info_count(y, s->x), sizeof(*s->info));
        if (!s->info)
            return covar_fail_nomem(exec->ctx, op->name);
    }
    return COVAR_OK;
}

static covar_status call_view(la_exec *exec, const ad_node *y, scratch *s,
                              const size_t *symbol)
{
    const int i = y->op->views;
    la_view v;
    if (!y->op->view(y, s->x[i], s->out[0].dim, symbol, &v)) {
        la_array *copy;
        COVAR_TRY(la_array_from_view(&copy, exec, s->x[i]));
        la_array_free(s->dense[i]);
        s->dense[i] = copy;
        if (!y->op->view(y, la_array_view(copy), s->out[0].dim, symbol, &v))
            return covar_fail(exec->ctx, COVAR_ERR_UNSUPPORTED,
                              "%s: no view of a dense array", y->op->name);
    }
    return la_copy(exec, s->out[0], v);
}

/* The heart: outputs exist, the operator has eval, view or a row. */
static covar_status call(const la_exec *exec, const ad_node *y,
                         const la_view *x, la_array **out, const size_t *symbol)
{
    scratch s;
    la_exec own = *exec;
    covar_status status = scratch_init(&s, exec, y, x, out);
    if (status != COVAR_OK)
        goto out;
    if (y->op->eval)
        status = y->op->eval(&(ad_call){.node = y,
                                        .exec = &own,
                                        .x = s.x,
                                        .out = s.out,
                                        .work = s.work,
                                        .info = s.info,
                                        .symbol = symbol});
    else if (y->op->views >= 0)
        status = call_view(&own, y, &s, symbol);
    else if (y->op->flags & AD_ELEMENTWISE)
        status = la_map(exec, y->op->row, s.out[0], s.x);
    else
        status = covar_fail(exec->ctx, COVAR_ERR_STATE, "%s has no value here",
                            y->op->name);
    if (status == COVAR_OK && s.info)
        status = ad_info_check(exec->ctx, y, s.x, s.info);
out:
    scratch_clear(&s, y);
    return status;
}

bool ad_is_expanded(const ad_node *y)
{
    return y->op->expand && !y->op->eval;
}

covar_status ad_eval_node(const la_exec *exec, ad_node *y, const la_view *x,
                          la_array **out, const size_t *symbol)
{
    for (int k = 0; k < y->n_out; k++)
        out[k] = NULL;
    if (ad_is_expanded(y)) {
        ad_node *const *e = ad_expand_node(y);
        if (!e)
            return ad_graph_error(y->graph);
        return ad_evaluate_at(y->graph, exec, symbol, y->in, x, (size_t)y->n_in,
                              e, (size_t)y->n_out, out);
    }
    covar_status status = make_outputs(exec, y, symbol, out);
    if (status == COVAR_OK)
        status = call(exec, y, x, out, symbol);
    for (int k = 0; status != COVAR_OK && k < y->n_out; k++) {
        la_array_free(out[k]);
        out[k] = NULL;
    }
    return status;
}
