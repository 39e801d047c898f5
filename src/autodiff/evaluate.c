/* The reference evaluator: one node at a time, without rewriting.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Eager graphs evaluate each node as it is made; ad_evaluate walks over what
 * a lazy graph needs. Both are slow and plain on purpose: every other way to
 * run is compared with them. A composite has the values of its expansion. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <string.h>

/* ---- One node ----------------------------------------------------------- */

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

static bool is_expanded(const ad_node *y)
{
    return y->op->expand && !y->op->eval;
}

static covar_status evaluate(ad_graph *g, const la_exec *exec,
                             const size_t *symbol, ad_node *const *leaf,
                             const la_view *value, size_t n_leaf,
                             ad_node *const *y, size_t n, la_array **out);

covar_status ad_eval_node(const la_exec *exec, ad_node *y, const la_view *x,
                          la_array **out, const size_t *symbol)
{
    for (int k = 0; k < y->n_out; k++)
        out[k] = NULL;
    if (is_expanded(y)) {
        ad_node *const *e = ad_expand_node(y);
        if (!e)
            return ad_graph_error(y->graph);
        return evaluate(y->graph, exec, symbol, y->in, x, (size_t)y->n_in, e,
                        (size_t)y->n_out, out);
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

/* ---- Many nodes --------------------------------------------------------- */

typedef enum { NEW, OPEN, DONE } slot_state;

typedef struct slot {
    slot_state state;
    la_array **array; /* n_out; NULL for a bound leaf */
    la_view view;     /* of value 0 */
} slot;

/* Values by node id; grows with the graph, which expansions extend. */
typedef struct walk {
    ad_graph *g;
    const la_exec *exec;
    const size_t *symbol;
    slot *slots;
    size_t n_slot;
    ad_node **stack;
    size_t depth, cap;
} walk;

static covar_status reserve(walk *w, size_t more)
{
    covar_heap *heap = w->g->heap;
    if (w->n_slot < w->g->n_node) {
        size_t n = 2 * w->g->n_node;
        slot *s = covar_heap_grow(heap, w->slots, w->n_slot, n, sizeof(*s));
        if (!s)
            return ad_graph_nomem(w->g);
        memset(s + w->n_slot, 0, (n - w->n_slot) * sizeof(*s));
        w->slots = s;
        w->n_slot = n;
    }
    if (w->cap < w->depth + more) {
        size_t n = 2 * (w->depth + more);
        ad_node **p = covar_heap_grow(heap, w->stack, w->depth, n, sizeof(*p));
        if (!p)
            return ad_graph_nomem(w->g);
        w->stack = p;
        w->cap = n;
    }
    return COVAR_OK;
}

static void walk_clear(walk *w)
{
    for (size_t i = 0; i < w->n_slot && i < w->g->n_node; i++) {
        la_array **array = w->slots[i].array;
        for (int k = 0; array && k < w->g->node[i]->n_out; k++)
            la_array_free(array[k]);
        covar_heap_free(w->g->heap, array);
    }
    covar_heap_free(w->g->heap, w->slots);
    covar_heap_free(w->g->heap, w->stack);
}

/* Value k of a finished node as an array of its own. */
static covar_status take(const walk *w, const ad_node *y, int k, la_array **out)
{
    const slot *s = &w->slots[y->id];
    if (!s->array)
        return la_array_from_view(out, w->exec, s->view);
    *out = la_array_retain(s->array[k]);
    return COVAR_OK;
}

/* Computes y, whose dependencies are finished. */
static covar_status finish(walk *w, ad_node *y)
{
    covar_heap *heap = w->g->heap;
    slot *s = &w->slots[y->id];
    s->array = covar_heap_calloc(heap, (size_t)y->n_out, sizeof(*s->array));
    la_view *x = covar_heap_alloc(heap, (size_t)y->n_in, sizeof(*x));
    covar_status status = s->array && x ? COVAR_OK : ad_graph_nomem(w->g);
    for (int i = 0; status == COVAR_OK && i < y->n_in; i++)
        x[i] = w->slots[y->in[i]->id].view;
    if (status != COVAR_OK)
        goto out;
    if (y->op == &ad_op_out)
        status = take(w, y->in[0],
                      (int)((const ad_out_fields *)y->fields)->index, s->array);
    else if (is_expanded(y))
        for (int k = 0; status == COVAR_OK && k < y->n_out; k++)
            status = take(w, y->expansion[k], 0, &s->array[k]);
    else
        status = ad_eval_node(w->exec, y, x, s->array, w->symbol);
    if (status == COVAR_OK)
        s->view = la_array_view(s->array[0]);
    s->state = DONE;
out:
    covar_heap_free(heap, x);
    return status;
}

/* Pushes what y depends on. */
static covar_status enter(walk *w, ad_node *y)
{
    ad_node *const *dep = y->in;
    int n = y->n_in;
    if (y->op == &ad_op_placeholder || y->op == &ad_op_input)
        return covar_fail(w->exec->ctx, COVAR_ERR_STATE,
                          "ad_evaluate: %s '%s' has no value", y->op->name,
                          y->name ? y->name : "");
    if (is_expanded(y)) {
        dep = ad_expand_node(y);
        n = y->n_out;
        if (!dep)
            return ad_graph_error(w->g);
    }
    COVAR_TRY(reserve(w, (size_t)n));
    w->slots[y->id].state = OPEN;
    for (int i = 0; i < n; i++)
        if (w->slots[dep[i]->id].state != DONE)
            w->stack[w->depth++] = dep[i];
    return COVAR_OK;
}

static covar_status visit(walk *w, ad_node *root)
{
    COVAR_TRY(reserve(w, 1));
    w->stack[w->depth++] = root;
    while (w->depth > 0) {
        ad_node *y = w->stack[w->depth - 1];
        slot_state state = w->slots[y->id].state;
        if (state == NEW) {
            COVAR_TRY(enter(w, y));
            continue;
        }
        w->depth--;
        if (state == OPEN)
            COVAR_TRY(finish(w, y));
    }
    return COVAR_OK;
}

static covar_status evaluate(ad_graph *g, const la_exec *exec,
                             const size_t *symbol, ad_node *const *leaf,
                             const la_view *value, size_t n_leaf,
                             ad_node *const *y, size_t n, la_array **out)
{
    walk w = {.g = g, .exec = exec, .symbol = symbol};
    covar_status status = reserve(&w, n);
    for (size_t i = 0; status == COVAR_OK && i < n_leaf; i++) {
        w.slots[leaf[i]->id].state = DONE;
        w.slots[leaf[i]->id].view = value[i];
    }
    for (size_t i = 0; status == COVAR_OK && i < n; i++) {
        status = visit(&w, y[i]);
        if (status == COVAR_OK)
            status = take(&w, y[i], 0, &out[i]);
    }
    for (size_t i = 0; status != COVAR_OK && i < n; i++) {
        la_array_free(out[i]);
        out[i] = NULL;
    }
    walk_clear(&w);
    return status;
}

/* Finds the symbols from the sizes of the leaves and checks all of them. */
static covar_status bind(ad_graph *g, size_t *symbol, bool *bound,
                         ad_node *const *leaf, const la_view *value, size_t n)
{
    char a[128], b[128];
    for (size_t i = 0; i < ad_dim_symbol_count(g->dims); i++)
        symbol[i] = AD_UNBOUND;
    for (size_t i = 0; i < n; i++) {
        const ad_type *t = &leaf[i]->type[0];
        bool good = t->dtype == value[i].dtype && t->rank == value[i].rank;
        for (int k = 0; good && k < t->rank; k++)
            good = ad_dim_bind(t->dim[k], value[i].dim[k], symbol, bound);
        for (int k = 0; good && k < t->rank; k++) {
            size_t n_k;
            COVAR_TRY(ad_dim_eval(g, t->dim[k], symbol, &n_k));
            good = n_k == value[i].dim[k];
        }
        if (!good)
            return covar_fail(g->ctx, COVAR_ERR_SHAPE,
                              "ad_evaluate: '%s' is %s but its value is %s",
                              leaf[i]->name ? leaf[i]->name : "",
                              ad_type_describe(a, sizeof(a), t),
                              la_view_describe(b, sizeof(b), value[i]));
    }
    return ad_dim_check(g, symbol);
}

covar_status ad_evaluate(ad_graph *g, ad_node *const *leaf,
                         const la_view *value, size_t n_leaf, ad_node *const *y,
                         size_t n, la_array **out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = NULL;
    COVAR_TRY(ad_graph_error(g));
    la_exec exec = la_exec_cpu(g->ctx);
    size_t n_symbol = ad_dim_symbol_count(g->dims);
    size_t *symbol = covar_heap_alloc(g->heap, n_symbol, sizeof(*symbol));
    bool *bound = covar_heap_calloc(g->heap, n_symbol, sizeof(*bound));
    covar_status status = symbol && bound
                              ? bind(g, symbol, bound, leaf, value, n_leaf)
                              : covar_fail_nomem(g->ctx, "ad_evaluate");
    if (status == COVAR_OK)
        status = evaluate(g, &exec, symbol, leaf, value, n_leaf, y, n, out);
    covar_heap_free(g->heap, bound);
    covar_heap_free(g->heap, symbol);
    return status;
}
