/* Forward accumulation: tangents as graph, J v.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An operator without a jvp gets one from its vjp, which is linear in the
 * adjoint: with u a placeholder like y and g(u) = vjp(u) = u'J,
 *     J v = d/du <g(u), v>,
 * the vjp of g along v. The result must not depend on u any more. */
#include "config.h"

#include "autodiff/derive_impl.h"

/* Places for one node's rule. */
typedef struct rule {
    ad_node **x_dot;                /* most_in */
    ad_node **y_dot;                /* most_out */
    ad_node **u;                    /* most_out */
    ad_node **g;                    /* most_in */
    ad_node **gs, **vs, **us, **ds; /* the same, without gaps */
    bool *need;                     /* most_in */
} rule;

/* ---- Derived rule ------------------------------------------------------- */

static covar_status check_free(ad_node *y, ad_node *const *u, size_t n_u,
                               ad_node *const *d, size_t n)
{
    ad_region r = {.g = y->graph};
    covar_status status = ad_region_init(&r, y->graph, d, n, u, n_u, true);
    bool free = true;
    for (size_t i = 0; status == COVAR_OK && i < n_u; i++)
        free = free && ad_region_find(&r, u[i]) == AD_NOWHERE;
    ad_region_clear(&r);
    if (status == COVAR_OK && !free)
        status = ad_node_fail(y, COVAR_ERR_NO_GRAD,
                              "its vjp is not linear in the adjoint, so that "
                              "no jvp follows from it");
    return status;
}

static covar_status derived_jvp(ad_node *y, rule *s)
{
    ad_graph *g = y->graph;
    size_t n_u = 0, n_g = 0, n_d = 0;
    for (int k = 0; k < y->n_out; k++) {
        s->u[k] = NULL;
        if (!ad_is_real(y, k))
            continue;
        ad_type type = y->type[k];
        type.facts = 0;
        s->u[k] = s->us[n_u++] = ad_placeholder(g, &type, "u");
        if (!s->u[k])
            return ad_graph_error(g);
    }
    for (int i = 0; i < y->n_in; i++)
        s->need[i] = s->x_dot[i] != NULL;
    COVAR_TRY(ad_vjp_node(y, s->u, s->need, s->g));
    for (int i = 0; i < y->n_in; i++)
        if (s->g[i] && s->x_dot[i]) {
            s->gs[n_g] = s->g[i];
            s->vs[n_g++] = s->x_dot[i];
        }
    if (n_u == 0 || n_g == 0)
        return COVAR_OK;
    COVAR_TRY(ad_reverse(s->ds, NULL, g, s->gs, s->vs, n_g, s->us, n_u, true));
    for (int k = 0, j = 0; k < y->n_out; k++)
        if (s->u[k])
            s->y_dot[k] = s->ds[j++];
    for (size_t j = 0; j < n_u; j++)
        if (s->ds[j])
            s->ds[n_d++] = s->ds[j];
    return check_free(y, s->us, n_u, s->ds, n_d);
}

/* ---- The rule of one node ----------------------------------------------- */

static covar_status expanded_jvp(ad_node *y, rule *s)
{
    ad_node *const *e = ad_expand_node(y);
    if (!e)
        return ad_graph_error(y->graph);
    size_t n = 0;
    for (int i = 0; i < y->n_in; i++) {
        bool again = false;
        for (int k = 0; k < i; k++)
            again = again || y->in[k] == y->in[i];
        if (!again && s->x_dot[i]) {
            s->gs[n] = y->in[i];
            s->vs[n++] = s->x_dot[i];
        }
    }
    return ad_forward(s->y_dot, y->graph, e, (size_t)y->n_out, s->gs, s->vs, n,
                      true);
}

static covar_status check_tangents(ad_node *y, ad_node **y_dot)
{
    char a[128], b[128];
    COVAR_TRY(ad_graph_error(y->graph));
    for (int k = 0; k < y->n_out; k++) {
        if (y_dot[k] == AD_ZERO || !ad_is_real(y, k))
            y_dot[k] = NULL;
        if (y_dot[k] == AD_NO_GRAD)
            return ad_node_fail(y, COVAR_ERR_NO_GRAD, "has no tangent");
        if (!y_dot[k])
            continue;
        const ad_type *s = y->type + k, *t = y_dot[k]->type;
        bool same = s->dtype == t->dtype && s->rank == t->rank;
        for (int i = 0; same && i < s->rank; i++)
            same = ad_dims_equal(y->graph, s->dim[i], t->dim[i]);
        if (!same)
            return ad_node_fail(y, COVAR_ERR_SHAPE,
                                "its jvp gives %s for value %d, which is %s",
                                ad_type_describe(a, sizeof(a), t), k,
                                ad_type_describe(b, sizeof(b), s));
    }
    return COVAR_OK;
}

static covar_status jvp_node(ad_node *y, rule *s)
{
    covar_status status;
    for (int k = 0; k < y->n_out; k++)
        s->y_dot[k] = NULL;
    ad_origin origin = ad_origin_begin(y);
    if (y->op->jvp)
        status = y->op->jvp(y, s->x_dot, s->y_dot);
    else if (y->op->vjp)
        status = derived_jvp(y, s);
    else if (y->op->expand)
        status = expanded_jvp(y, s);
    else
        status = ad_node_fail(y, COVAR_ERR_NO_GRAD, "has no derivative");
    ad_origin_end(y->graph, origin);
    if (status != COVAR_OK)
        return ad_graph_fail(y->graph, status, "%s: its jvp failed",
                             y->op->name);
    return check_tangents(y, s->y_dot);
}

/* ---- The pass ----------------------------------------------------------- */

static covar_status rule_init(rule *s, const ad_region *r)
{
    size_t n = (size_t)r->most_in, m = (size_t)r->most_out;
    covar_heap *heap = r->g->heap;
    s->x_dot = covar_heap_calloc(heap, 4 * n + 4 * m, sizeof(ad_node *));
    s->need = covar_heap_calloc(heap, n, sizeof(bool));
    if (!s->x_dot || !s->need)
        return ad_graph_nomem(r->g);
    s->g = s->x_dot + n;
    s->gs = s->g + n;
    s->vs = s->gs + n;
    s->y_dot = s->vs + n;
    s->u = s->y_dot + m;
    s->us = s->u + m;
    s->ds = s->us + m;
    return COVAR_OK;
}

/* The tangents of node number i from those of its inputs. */
static covar_status advance(const ad_region *r, size_t i, ad_node **dot,
                            rule *s)
{
    ad_node *t = r->node[i];
    bool any = false;
    for (int k = 0; k < t->n_in; k++) {
        ptrdiff_t from = ad_region_find(r, t->in[k]);
        size_t value = 0;
        s->x_dot[k] = NULL;
        if (from == AD_NOWHERE)
            continue;
        if (t->op == &ad_op_out)
            value = (size_t)((const ad_out_fields *)t->fields)->index;
        s->x_dot[k] = dot[r->first[from] + value];
        any = any || s->x_dot[k];
    }
    if (!any)
        return COVAR_OK;
    if (t->op == &ad_op_out)
        s->y_dot[0] = s->x_dot[0];
    else
        COVAR_TRY(jvp_node(t, s));
    for (int k = 0; k < t->n_out; k++) {
        ad_node **at = &dot[r->first[i] + (size_t)k];
        *at = ad_plus(*at, s->y_dot[k]);
    }
    return ad_graph_error(r->g);
}

covar_status ad_forward(ad_node **y_dot, ad_graph *g, ad_node *const *y,
                        size_t n_y, ad_node *const *wrt, ad_node *const *x_dot,
                        size_t n, bool opaque)
{
    ad_region r = {.g = g};
    rule s = {0};
    ad_node **dot = NULL;
    for (size_t i = 0; i < n_y; i++)
        y_dot[i] = NULL;
    covar_status status = ad_region_init(&r, g, y, n_y, wrt, n, opaque);
    if (status == COVAR_OK)
        status = rule_init(&s, &r);
    if (status != COVAR_OK)
        goto out;
    dot = covar_heap_calloc(g->heap, r.n_value, sizeof(*dot));
    if (!dot) {
        status = ad_graph_nomem(g);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t at = ad_region_find(&r, wrt[i]);
        if (at != AD_NOWHERE)
            dot[r.first[at]] = ad_plus(dot[r.first[at]], x_dot[i]);
    }
    for (size_t i = 0; status == COVAR_OK && i < r.n; i++)
        if (r.active[i] && !(opaque && r.wrt[i]))
            status = advance(&r, i, dot, &s);
    for (size_t i = 0; status == COVAR_OK && i < n_y; i++) {
        ptrdiff_t at = ad_region_find(&r, y[i]);
        y_dot[i] = at == AD_NOWHERE ? NULL : dot[r.first[at]];
    }
out:
    covar_heap_free(g->heap, dot);
    covar_heap_free(g->heap, s.x_dot);
    covar_heap_free(g->heap, s.need);
    ad_region_clear(&r);
    return status;
}
