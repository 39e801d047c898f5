/* The reference evaluator: what a lazy graph needs, one node at a time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slow and plain on purpose: every other way to run is compared with it. The
 * walk keeps its own stack; composites extend the graph while it runs. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <string.h>

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
    else if (ad_is_expanded(y))
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
    if (ad_is_expanded(y)) {
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

covar_status ad_evaluate_at(ad_graph *g, const la_exec *exec,
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
        status =
            ad_evaluate_at(g, &exec, symbol, leaf, value, n_leaf, y, n, out);
    covar_heap_free(g->heap, bound);
    covar_heap_free(g->heap, symbol);
    return status;
}
