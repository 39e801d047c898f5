/* Stated equalities of sizes, and sizes of other graphs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * "n = m + 1" makes n resolve to m + 1 wherever it stands, so that n k equals
 * m k + k; a statement without a bare symbol on either side joins just these
 * two polynomials (union-find). Each is checked when sizes are bound. */
#include "config.h"

#include "autodiff/dim_impl.h"

/* ---- Rebuilding --------------------------------------------------------- */

ad_dim dim_rebuild(ad_graph *to, ad_dim d, bool resolve)
{
    if (!d.poly || (!resolve && ad_dim_graph(d) == to))
        return d;
    ad_dim sum = ad_fixed(0);
    for (int i = 0; i < d.poly->n; i++) {
        const ad_term *t = &d.poly->term[i];
        ad_dim product = ad_fixed(1);
        for (int k = 0; k < t->degree; k++) {
            const ad_atom *a = t->atom[k];
            product = ad_dim_mul(product, a->kind->rebuild(to, a, resolve));
        }
        if (ad_dim_is_invalid(product) || ad_dim_is_invalid(sum))
            return ad_dim_invalid();
        sum = dim_combine(to->dims, 1, sum, t->coef, product);
    }
    return sum;
}

ad_dim ad_dim_import(ad_graph *to, ad_dim d)
{
    return dim_rebuild(to, d, false);
}

static ad_dim resolved(ad_dim d)
{
    if (!d.poly || !d.poly->table->resolves)
        return d;
    return dim_rebuild(ad_dim_graph(d), d, true);
}

/* ---- Union-find --------------------------------------------------------- */

/* Works on interned polynomials: they are const for what they mean, not for
 * what was stated of them. */
static ad_poly *root_of(const ad_poly *p)
{
    ad_poly *r = (ad_poly *)p;
    while (r->stated)
        r = r->stated;
    for (ad_poly *q = (ad_poly *)p, *next; q != r; q = next) {
        next = q->stated;
        q->stated = r;
    }
    return r;
}

static bool known_value(ad_dim d, size_t *value)
{
    if (!d.poly) {
        *value = d.fixed;
        return !ad_dim_is_invalid(d);
    }
    const ad_poly *r = root_of(d.poly);
    *value = r->fixed;
    return r->known;
}

bool ad_dims_equal(const ad_graph *g, ad_dim a, ad_dim b)
{
    size_t p, q;
    (void)g;
    if (ad_dim_same(a, b))
        return true;
    bool good;
    dim_common_table(&a, &b, &good);
    if (!good)
        return false;
    a = resolved(a);
    b = resolved(b);
    if (ad_dim_same(a, b))
        return !ad_dim_is_invalid(a);
    if (a.poly && b.poly && root_of(a.poly) == root_of(b.poly))
        return true;
    return known_value(a, &p) && known_value(b, &q) && p == q;
}

/* ---- Statements --------------------------------------------------------- */

static void join(ad_dim a, ad_dim b)
{
    size_t p, q;
    bool known_a = known_value(a, &p), known_b = known_value(b, &q);
    ad_poly *x = a.poly ? root_of(a.poly) : NULL;
    ad_poly *y = b.poly ? root_of(b.poly) : NULL;
    if (x && y && x != y)
        y->stated = x;
    x = x ? x : y;
    x->known = known_a || known_b;
    x->fixed = known_a ? p : known_b ? q : 0;
}

static bool mentions(ad_dim d, const ad_atom *s)
{
    bool found = false;
    for (int i = 0; d.poly && !found && i < d.poly->n; i++)
        for (int k = 0; !found && k < d.poly->term[i].degree; k++) {
            const ad_atom *a = d.poly->term[i].atom[k];
            found = a == s || mentions(a->a, s) || mentions(a->b, s);
        }
    return found;
}

/* Lets the bare symbol a resolve to b; false when b contains it. */
static bool resolve_to(ad_dim_table *t, ad_dim a, ad_dim b)
{
    ad_atom *s = dim_bare_symbol(a);
    if (!s || mentions(b, s))
        return false;
    s->resolved = true;
    s->equal = b;
    t->resolves = true;
    return true;
}

static covar_status state(ad_dim_table *t, ad_dim a, ad_dim b)
{
    dim_statement *s = ad_arena_alloc(t->arena, sizeof(*s));
    if (!s)
        return ad_graph_nomem(t->g);
    *s = (dim_statement){t->statements, a, b};
    t->statements = s;
    a = resolved(a);
    b = resolved(b);
    if (!ad_dim_is_invalid(a) && !ad_dim_is_invalid(b) &&
        !resolve_to(t, a, b) && !resolve_to(t, b, a))
        join(a, b);
    return ad_graph_error(t->g);
}

covar_status ad_dim_equal(ad_graph *g, ad_dim a, ad_dim b)
{
    char x[128], y[128];
    size_t p, q;
    if (!g)
        return COVAR_POISONED;
    if (ad_dim_is_invalid(a) || ad_dim_is_invalid(b))
        return ad_graph_fail(g, COVAR_POISONED,
                             "ad_dim_equal: a size is invalid");
    if ((a.poly && ad_dim_graph(a) != g) || (b.poly && ad_dim_graph(b) != g))
        return ad_graph_fail(g, COVAR_ERR_ARG,
                             "ad_dim_equal: a size belongs to another graph");
    if (ad_dims_equal(g, a, b))
        return COVAR_OK;
    if (known_value(resolved(a), &p) && known_value(resolved(b), &q))
        return ad_graph_fail(
            g, COVAR_ERR_SHAPE, "ad_dim_equal: %s is %zu but %s is %zu",
            ad_dim_text(x, sizeof(x), a), p, ad_dim_text(y, sizeof(y), b), q);
    return state(g->dims, a, b);
}

covar_status ad_dim_check(const ad_graph *g, const size_t *symbol)
{
    char x[128], y[128];
    for (const dim_statement *s = g->dims->statements; s; s = s->next) {
        size_t p, q;
        COVAR_TRY(ad_dim_eval(g, s->a, symbol, &p));
        COVAR_TRY(ad_dim_eval(g, s->b, symbol, &q));
        if (p != q)
            return covar_fail(g->ctx, COVAR_ERR_SHAPE,
                              "%s is %zu but %s is %zu: stated to be equal",
                              ad_dim_text(x, sizeof(x), s->a), p,
                              ad_dim_text(y, sizeof(y), s->b), q);
    }
    return COVAR_OK;
}

covar_status ad_dim_import_equal(ad_graph *to, const ad_graph *from)
{
    for (const dim_statement *s = from->dims->statements; s; s = s->next)
        COVAR_TRY(
            ad_dim_equal(to, ad_dim_import(to, s->a), ad_dim_import(to, s->b)));
    return COVAR_OK;
}
