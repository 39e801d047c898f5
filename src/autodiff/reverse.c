/* Reverse accumulation: adjoints as graph, v'J.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One pass over the region in falling id order: every user of a node comes
 * before it, so its adjoint is complete when its turn comes. The adjoint of
 * value k of node t is bar[first[t] + k]; NULL is zero. */
#include "config.h"

#include "autodiff/derive_impl.h"

/* ---- Small builders ----------------------------------------------------- */

ad_node *ad_plus(ad_node *a, ad_node *b)
{
    if (!a || !b)
        return a ? a : b;
    return ad_add(a, b);
}

ad_node *ad_zeros_like(const ad_node *x)
{
    return ad_fill(x->graph, x->type[0].dtype, 0, x->type[0].rank,
                   x->type[0].dim);
}

ad_origin ad_origin_begin(const ad_node *y)
{
    ad_graph *g = y->graph;
    ad_origin o = {g->scope, g->file, g->line};
    g->scope = y->scope;
    g->file = y->file;
    g->line = y->line;
    return o;
}

void ad_origin_end(ad_graph *g, ad_origin o)
{
    g->scope = o.scope;
    g->file = o.file;
    g->line = o.line;
}

/* ---- The rule of one node ----------------------------------------------- */

static bool same_type(const ad_graph *g, const ad_type *a, const ad_type *b)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = ad_dims_equal(g, a->dim[i], b->dim[i]);
    return same;
}

/* Turns marks into NULL or errors, and checks what a rule has built. */
static covar_status check_adjoints(ad_node *y, const bool need[],
                                   ad_node *x_bar[])
{
    char a[128], b[128];
    COVAR_TRY(ad_graph_error(y->graph));
    for (int i = 0; i < y->n_in; i++) {
        if (!need[i] || x_bar[i] == AD_ZERO)
            x_bar[i] = NULL;
        if (x_bar[i] == AD_NO_GRAD)
            return ad_node_fail(y, COVAR_ERR_NO_GRAD,
                                "has no derivative with respect to its input "
                                "%d",
                                i);
        if (x_bar[i] && !same_type(y->graph, x_bar[i]->type, y->in[i]->type))
            return ad_node_fail(y, COVAR_ERR_SHAPE,
                                "its vjp gives %s for input %d, which is %s",
                                ad_type_describe(a, sizeof(a), x_bar[i]->type),
                                i,
                                ad_type_describe(b, sizeof(b), y->in[i]->type));
    }
    return COVAR_OK;
}

/* Through the expansion: its inputs are cut off, and each is asked for once,
 * at its first place among y's inputs. */
static covar_status expanded_vjp(ad_node *y, ad_node *const y_bar[],
                                 const bool need[], ad_node *x_bar[])
{
    ad_graph *g = y->graph;
    ad_node *const *e = ad_expand_node(y);
    if (!e)
        return ad_graph_error(g);
    size_t n_in = (size_t)y->n_in, n_out = (size_t)y->n_out, n = 0, m = 0;
    ad_node **list =
        covar_heap_calloc(g->heap, 2 * (n_in + n_out), sizeof(*list));
    if (!list)
        return ad_graph_nomem(g);
    ad_node **wrt = list, **bar = wrt + n_in, **root = bar + n_in;
    ad_node **root_bar = root + n_out;
    for (int k = 0; k < y->n_out; k++)
        if (y_bar[k]) {
            root[m] = e[k];
            root_bar[m++] = y_bar[k];
        }
    for (int i = 0; i < y->n_in; i++)
        wrt[n++] = y->in[i];
    covar_status status =
        ad_reverse(bar, NULL, g, root, root_bar, m, wrt, n, true);
    for (int i = 0; status == COVAR_OK && i < y->n_in; i++) {
        bool again = false;
        for (int k = 0; k < i; k++)
            again = again || (need[k] && y->in[k] == y->in[i]);
        x_bar[i] = need[i] && !again ? bar[i] : NULL;
    }
    covar_heap_free(g->heap, list);
    return status;
}

covar_status ad_vjp_node(ad_node *y, ad_node *const y_bar[], const bool need[],
                         ad_node *x_bar[])
{
    covar_status status;
    for (int i = 0; i < y->n_in; i++)
        x_bar[i] = NULL;
    ad_origin origin = ad_origin_begin(y);
    if (y->op->vjp)
        status = y->op->vjp(y, y_bar, need, x_bar);
    else if (y->op->expand)
        status = expanded_vjp(y, y_bar, need, x_bar);
    else
        status = ad_node_fail(y, COVAR_ERR_NO_GRAD, "has no derivative");
    ad_origin_end(y->graph, origin);
    if (status != COVAR_OK)
        return ad_graph_fail(y->graph, status, "%s: its vjp failed",
                             y->op->name);
    return check_adjoints(y, need, x_bar);
}

/* ---- The pass ----------------------------------------------------------- */

typedef struct pass {
    ad_region r;
    ad_node **bar;   /* r.n_value */
    ad_node **x_bar; /* r.most_in */
    bool *need;
} pass;

static covar_status pass_init(pass *p, ad_graph *g, ad_node *const *y,
                              size_t n_y, ad_node *const *wrt, size_t n,
                              bool opaque)
{
    COVAR_TRY(ad_region_init(&p->r, g, y, n_y, wrt, n, opaque));
    size_t most = (size_t)p->r.most_in;
    p->bar = covar_heap_calloc(g->heap, p->r.n_value, sizeof(*p->bar));
    p->x_bar = covar_heap_calloc(g->heap, most, sizeof(*p->x_bar));
    p->need = covar_heap_calloc(g->heap, most, sizeof(*p->need));
    return p->bar && p->x_bar && p->need ? COVAR_OK : ad_graph_nomem(g);
}

static void pass_clear(pass *p)
{
    covar_heap *heap = p->r.g->heap;
    covar_heap_free(heap, p->bar);
    covar_heap_free(heap, p->x_bar);
    covar_heap_free(heap, p->need);
    ad_region_clear(&p->r);
}

static covar_status accumulate(pass *p, size_t value, ad_node *bar)
{
    p->bar[value] = ad_plus(p->bar[value], bar);
    return p->bar[value] ? COVAR_OK : ad_graph_error(p->r.g);
}

/* Hands the adjoint of node number i on to its inputs. */
static covar_status propagate(pass *p, size_t i)
{
    const ad_region *r = &p->r;
    ad_node *t = r->node[i];
    ad_node *const *bar = p->bar + r->first[i];
    bool any = false;
    for (int k = 0; k < t->n_out; k++)
        any = any || bar[k];
    if (!any || t->n_in == 0)
        return COVAR_OK;
    if (t->op == &ad_op_out) {
        ptrdiff_t from = ad_region_find(r, t->in[0]);
        int64_t k = ((const ad_out_fields *)t->fields)->index;
        return from == AD_NOWHERE || !r->active[from]
                   ? COVAR_OK
                   : accumulate(p, r->first[from] + (size_t)k, bar[0]);
    }
    for (int k = 0; k < t->n_in; k++) {
        ptrdiff_t from = ad_region_find(r, t->in[k]);
        p->need[k] = from != AD_NOWHERE && r->active[from];
    }
    COVAR_TRY(ad_vjp_node(t, bar, p->need, p->x_bar));
    for (int k = 0; k < t->n_in; k++) {
        ptrdiff_t from = ad_region_find(r, t->in[k]);
        if (p->x_bar[k])
            COVAR_TRY(accumulate(p, r->first[from], p->x_bar[k]));
    }
    return COVAR_OK;
}

covar_status ad_reverse(ad_node **x_bar, bool *connected, ad_graph *g,
                        ad_node *const *y, ad_node *const *y_bar, size_t n_y,
                        ad_node *const *wrt, size_t n, bool opaque)
{
    pass p = {.r.g = g};
    covar_status status = pass_init(&p, g, y, n_y, wrt, n, opaque);
    for (size_t i = 0; status == COVAR_OK && i < n_y; i++) {
        ptrdiff_t at = ad_region_find(&p.r, y[i]);
        if (at != AD_NOWHERE && p.r.active[at] && y_bar[i])
            status = accumulate(&p, p.r.first[at], y_bar[i]);
    }
    for (size_t i = p.r.n; status == COVAR_OK && i > 0; i--)
        if (p.r.active[i - 1] && !(opaque && p.r.wrt[i - 1]))
            status = propagate(&p, i - 1);
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t at =
            status == COVAR_OK ? ad_region_find(&p.r, wrt[i]) : AD_NOWHERE;
        x_bar[i] = at == AD_NOWHERE ? NULL : p.bar[p.r.first[at]];
        if (connected)
            connected[i] = at != AD_NOWHERE;
    }
    pass_clear(&p);
    return status;
}
