/* Sizes: polynomials with integer coefficients, and their arithmetic.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every computation is checked for overflow. What fails gives the invalid
 * size and, if a graph is in sight, its first error. */
#include "config.h"

#include "autodiff/dim_impl.h"

/* ---- Checked integers --------------------------------------------------- */

bool dim_add_overflows(int64_t a, int64_t b, int64_t *out)
{
    if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b))
        return true;
    *out = a + b;
    return false;
}

bool dim_mul_overflows(int64_t a, int64_t b, int64_t *out)
{
    const int64_t low = -INT64_MAX; /* symmetric: no case of its own for -1 */
    if (a < low || b < low)
        return true;
    int64_t p = a < 0 ? -a : a, q = b < 0 ? -b : b;
    if (p != 0 && q > INT64_MAX / p)
        return true;
    *out = a * b;
    return false;
}

int64_t dim_floor_div(int64_t a, int64_t c)
{
    int64_t q = a / c;
    return a % c < 0 ? q - 1 : q;
}

/* ---- Failures ----------------------------------------------------------- */

ad_dim ad_dim_invalid(void)
{
    return (ad_dim){NULL, SIZE_MAX};
}

bool ad_dim_is_invalid(ad_dim d)
{
    return !d.poly && d.fixed > INT64_MAX;
}

ad_dim dim_fail(ad_dim_table *t, covar_status status, const char *what,
                ad_dim a, ad_dim b)
{
    char x[128], y[128];
    if (status == COVAR_ERR_NOMEM)
        ad_graph_nomem(t->g);
    else
        ad_graph_fail(t->g, status, "size of %s and %s: %s",
                      ad_dim_text(x, sizeof(x), a),
                      ad_dim_text(y, sizeof(y), b), what);
    return ad_dim_invalid();
}

/* ---- Arithmetic --------------------------------------------------------- */

/* A dim as terms: `one` serves a constant. */
static const ad_term *terms_of(ad_dim d, ad_term *one, int *n)
{
    if (d.poly) {
        *n = d.poly->n;
        return d.poly->term;
    }
    *one = (ad_term){(int64_t)d.fixed, 0, NULL};
    *n = d.fixed != 0;
    return one;
}

ad_dim dim_combine(ad_dim_table *t, int64_t alpha, ad_dim a, int64_t beta,
                   ad_dim b)
{
    ad_term one_a, one_b;
    int n_a, n_b, n = 0;
    const ad_term *p = terms_of(a, &one_a, &n_a);
    const ad_term *q = terms_of(b, &one_b, &n_b);
    size_t mark = ad_arena_mark(t->arena);
    ad_term *term =
        ad_arena_alloc(t->arena, (size_t)(n_a + n_b) * sizeof(*term));
    if (!term)
        return dim_fail(t, COVAR_ERR_NOMEM, "", a, b);
    bool good = true;
    for (int i = 0; i < n_a + n_b; i++, n++) {
        term[n] = i < n_a ? p[i] : q[i - n_a];
        good = good && !dim_mul_overflows(term[n].coef, i < n_a ? alpha : beta,
                                          &term[n].coef);
    }
    if (good && dim_canonical(term, &n))
        return dim_intern(t, term, n, mark);
    ad_arena_release(t->arena, mark);
    return dim_fail(t, COVAR_ERR_SHAPE, "the sum overflows", a, b);
}

/* Merges the atoms of two monomials, ascending. */
static bool multiply_term(ad_dim_table *t, ad_term *out, const ad_term *a,
                          const ad_term *b)
{
    int degree = a->degree + b->degree, i = 0, j = 0;
    *out = (ad_term){0, degree, NULL};
    if (degree > DIM_MAX_DEGREE ||
        dim_mul_overflows(a->coef, b->coef, &out->coef))
        return false;
    out->atom = ad_arena_alloc(t->arena, (size_t)degree * sizeof(ad_atom *));
    if (!out->atom) {
        ad_graph_nomem(t->g);
        return false;
    }
    for (int k = 0; k < degree; k++) {
        bool from_a = j == b->degree ||
                      (i < a->degree && a->atom[i]->id <= b->atom[j]->id);
        out->atom[k] = from_a ? a->atom[i++] : b->atom[j++];
    }
    return true;
}

static ad_dim multiply(ad_dim_table *t, ad_dim a, ad_dim b)
{
    ad_term one_a, one_b;
    int n_a, n_b, n = 0;
    const ad_term *p = terms_of(a, &one_a, &n_a);
    const ad_term *q = terms_of(b, &one_b, &n_b);
    size_t mark = ad_arena_mark(t->arena);
    ad_term *term =
        ad_arena_alloc(t->arena, (size_t)n_a * (size_t)n_b * sizeof(*term));
    if (!term)
        return dim_fail(t, COVAR_ERR_NOMEM, "", a, b);
    bool good = true;
    for (int i = 0; good && i < n_a; i++)
        for (int j = 0; good && j < n_b; j++)
            good = multiply_term(t, &term[n++], &p[i], &q[j]);
    if (good && dim_canonical(term, &n))
        return dim_intern(t, term, n, mark);
    ad_arena_release(t->arena, mark);
    return dim_fail(t, COVAR_ERR_SHAPE, "the product overflows", a, b);
}

static bool is_around(const ad_graph *outer, const ad_graph *g)
{
    while (g && g != outer)
        g = g->parent;
    return g != NULL;
}

ad_dim_table *dim_common_table(ad_dim *a, ad_dim *b, bool *good)
{
    ad_graph *g = ad_dim_graph(*a), *h = ad_dim_graph(*b);
    *good = !ad_dim_is_invalid(*a) && !ad_dim_is_invalid(*b);
    if (g && h && g != h && is_around(g, h)) {
        *a = ad_dim_import(h, *a);
        g = h;
    } else if (g && h && g != h && is_around(h, g)) {
        *b = ad_dim_import(g, *b);
    } else if (g && h && g != h) {
        dim_fail(g->dims, COVAR_ERR_ARG, "they belong to different graphs", *a,
                 *b);
        *good = false;
    }
    g = g ? g : h;
    return g ? g->dims : NULL;
}

ad_dim ad_fixed(size_t n)
{
    return n <= INT64_MAX ? (ad_dim){NULL, n} : ad_dim_invalid();
}

ad_dim ad_symbol(ad_graph *g, const char *name)
{
    if (!g)
        return ad_dim_invalid();
    if (!name || !*name) {
        ad_graph_fail(g, COVAR_ERR_ARG, "ad_symbol: a symbol needs a name");
        return ad_dim_invalid();
    }
    return dim_of_atom(g->dims, &(ad_atom){.kind = &dim_symbol, .name = name});
}

ad_dim ad_dim_add(ad_dim a, ad_dim b)
{
    bool good;
    ad_dim_table *t = dim_common_table(&a, &b, &good);
    if (!good)
        return ad_dim_invalid();
    return t ? dim_combine(t, 1, a, 1, b) : ad_fixed(a.fixed + b.fixed);
}

ad_dim ad_dim_sub(ad_dim a, ad_dim b)
{
    bool good;
    ad_dim_table *t = dim_common_table(&a, &b, &good);
    if (!good)
        return ad_dim_invalid();
    if (t)
        return dim_combine(t, 1, a, -1, b);
    return a.fixed < b.fixed ? ad_dim_invalid() : ad_fixed(a.fixed - b.fixed);
}

ad_dim ad_dim_mul(ad_dim a, ad_dim b)
{
    bool good;
    int64_t product;
    ad_dim_table *t = dim_common_table(&a, &b, &good);
    if (!good)
        return ad_dim_invalid();
    if (t)
        return multiply(t, a, b);
    return dim_mul_overflows((int64_t)a.fixed, (int64_t)b.fixed, &product)
               ? ad_dim_invalid()
               : ad_fixed((size_t)product);
}
