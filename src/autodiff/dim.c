/* Sizes: interned polynomials with integer coefficients.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Terms are kept by falling degree, then by ascending atoms, constant last.
 * Every computation is checked for overflow. What fails gives the invalid
 * size and, if a graph is in sight, its first error. */
#include "config.h"

#include "autodiff/dim_impl.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- Tables ------------------------------------------------------------- */

ad_dim_table *ad_dim_table_create(covar_heap *heap, ad_graph *g)
{
    ad_dim_table *t = covar_heap_calloc(heap, 1, sizeof(*t));
    if (!t)
        return NULL;
    t->g = g;
    t->heap = covar_heap_retain(heap);
    t->arena = ad_arena_create(heap);
    if (t->arena)
        return t;
    ad_dim_table_free(t);
    return NULL;
}

void ad_dim_table_free(ad_dim_table *t)
{
    if (!t)
        return;
    covar_heap *heap = t->heap;
    ad_arena_free(t->arena);
    covar_heap_free(heap, t->poly);
    covar_heap_free(heap, t->atom);
    covar_heap_free(heap, t->symbol);
    covar_heap_free(heap, t);
    covar_heap_release(heap);
}

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

/* ---- Canonical form ----------------------------------------------------- */

static int compare_terms(const void *p, const void *q)
{
    const ad_term *a = p, *b = q;
    if (a->degree != b->degree)
        return a->degree > b->degree ? -1 : 1;
    for (int i = 0; i < a->degree; i++)
        if (a->atom[i] != b->atom[i])
            return a->atom[i]->id < b->atom[i]->id ? -1 : 1;
    return 0;
}

/* Sorts, adds up equal monomials, drops zeros. False on overflow. */
static bool canonical(ad_term *term, int *n)
{
    qsort(term, (size_t)*n, sizeof(*term), compare_terms);
    int kept = 0;
    for (int i = 0; i < *n;) {
        ad_term sum = term[i++];
        for (; i < *n && compare_terms(&sum, &term[i]) == 0; i++)
            if (dim_add_overflows(sum.coef, term[i].coef, &sum.coef))
                return false;
        if (sum.coef != 0)
            term[kept++] = sum;
    }
    *n = kept;
    return true;
}

/* Independent of the order of terms and atoms, hence of the graph. */
static uint64_t hash_terms(const ad_term *term, int n)
{
    uint64_t h = 0;
    for (int i = 0; i < n; i++) {
        uint64_t monomial = 0;
        for (int k = 0; k < term[i].degree; k++)
            monomial += ad_hash_mix(term[i].atom[k]->hash, 7);
        h += ad_hash_mix(monomial, (uint64_t)term[i].coef);
    }
    return h;
}

static bool same_terms(const ad_poly *p, const ad_term *term, int n)
{
    bool same = p->n == n;
    for (int i = 0; same && i < n; i++)
        same = p->term[i].coef == term[i].coef &&
               compare_terms(&p->term[i], &term[i]) == 0;
    return same;
}

static int depth_of(const ad_term *term, int n)
{
    int depth = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < term[i].degree; k++)
            if (term[i].atom[k]->depth > depth)
                depth = term[i].atom[k]->depth;
    return depth;
}

static bool grow_table(ad_dim_table *t)
{
    size_t n = t->n_bucket ? 2 * t->n_bucket : 32;
    ad_poly **bucket = covar_heap_calloc(t->heap, n, sizeof(ad_poly *));
    if (!bucket)
        return false;
    for (size_t i = 0; i < t->n_bucket; i++)
        for (ad_poly *p = t->poly[i], *next; p; p = next) {
            next = p->chain;
            p->chain = bucket[p->hash & (n - 1)];
            bucket[p->hash & (n - 1)] = p;
        }
    covar_heap_free(t->heap, t->poly);
    t->poly = bucket;
    t->n_bucket = n;
    return true;
}

/* The size with these canonical terms, which lie in the arena above `mark`
 * and stay there only if the polynomial is new. */
static ad_dim intern(ad_dim_table *t, ad_term *term, int n, size_t mark)
{
    if (n == 0 || term[0].degree == 0) {
        int64_t fixed = n == 0 ? 0 : term[0].coef;
        ad_arena_release(t->arena, mark);
        if (fixed >= 0)
            return ad_fixed((size_t)fixed);
        ad_graph_fail(t->g, COVAR_ERR_SHAPE, "a size of %lld is negative",
                      (long long)fixed);
        return ad_dim_invalid();
    }
    uint64_t hash = hash_terms(term, n);
    ad_poly *p = t->n_bucket ? t->poly[hash & (t->n_bucket - 1)] : NULL;
    while (p && !(p->hash == hash && same_terms(p, term, n)))
        p = p->chain;
    if (p) {
        ad_arena_release(t->arena, mark);
        return (ad_dim){p, 0};
    }
    p = ad_arena_alloc(t->arena, sizeof(*p));
    if (!p || (t->n_poly >= t->n_bucket && !grow_table(t))) {
        ad_arena_release(t->arena, mark);
        ad_graph_nomem(t->g);
        return ad_dim_invalid();
    }
    ad_poly **head = &t->poly[hash & (t->n_bucket - 1)];
    *p = (ad_poly){.table = t,
                   .hash = hash,
                   .chain = *head,
                   .depth = depth_of(term, n),
                   .n = n,
                   .term = term};
    *head = p;
    t->n_poly++;
    return (ad_dim){p, 0};
}

/* ---- Atoms -------------------------------------------------------------- */

static bool same_atom(const ad_atom *a, const ad_atom *b)
{
    if (a->kind != b->kind || a->hash != b->hash)
        return false;
    if (a->name)
        return strcmp(a->name, b->name) == 0;
    return ad_dim_same(a->a, b->a) && ad_dim_same(a->b, b->b) && a->c == b->c;
}

/* Appends p to a growing list of pointers. */
static bool append(covar_heap *heap, ad_atom ***list, size_t *n, size_t *cap,
                   ad_atom *p)
{
    if (*n == *cap) {
        size_t grown = *cap ? 2 * *cap : 8;
        ad_atom **q = covar_heap_grow(heap, *list, *n, grown, sizeof(*q));
        if (!q)
            return false;
        *list = q;
        *cap = grown;
    }
    (*list)[(*n)++] = p;
    return true;
}

static ad_atom *new_atom(ad_dim_table *t, const ad_atom *proto)
{
    ad_atom *a = ad_arena_alloc(t->arena, sizeof(*a));
    if (!a || !append(t->heap, &t->atom, &t->n_atom, &t->cap_atom, a))
        return NULL;
    *a = *proto;
    a->id = (uint32_t)(t->n_atom - 1);
    if (!proto->name)
        return a;
    size_t bytes = strlen(proto->name) + 1;
    char *name = ad_arena_alloc(t->arena, bytes);
    a->name = name ? memcpy(name, proto->name, bytes) : "";
    a->symbol = t->n_symbol;
    if (name && append(t->heap, &t->symbol, &t->n_symbol, &t->cap_symbol, a))
        return a;
    t->n_atom--;
    return NULL;
}

/* 1 * a, without interning the atom (which must be). */
static ad_dim poly_of(ad_dim_table *t, ad_atom *a)
{
    size_t mark = ad_arena_mark(t->arena);
    ad_term *term = ad_arena_alloc(t->arena, sizeof(*term));
    const ad_atom **atom = ad_arena_alloc(t->arena, sizeof(*atom));
    if (!term || !atom)
        return dim_fail(t, COVAR_ERR_NOMEM, "", a->a, a->b);
    atom[0] = a;
    *term = (ad_term){1, 1, atom};
    return intern(t, term, 1, mark);
}

ad_dim dim_of_atom(ad_dim_table *t, const ad_atom *proto)
{
    if (proto->depth > DIM_MAX_DEPTH)
        return dim_fail(t, COVAR_ERR_UNSUPPORTED, "nested too deep", proto->a,
                        proto->b);
    ad_atom key = *proto;
    key.hash =
        ad_hash_mix(ad_hash_text(key.kind->name), ad_hash_text(key.name));
    key.hash = ad_hash_mix(key.hash, ad_dim_hash(key.a) + (uint64_t)key.c);
    key.hash = ad_hash_mix(key.hash, ad_dim_hash(key.b));
    ad_atom *a = NULL;
    for (size_t i = 0; i < t->n_atom && !a; i++)
        if (same_atom(t->atom[i], &key))
            a = t->atom[i];
    if (!a)
        a = new_atom(t, &key);
    if (!a)
        return dim_fail(t, COVAR_ERR_NOMEM, "", key.a, key.b);
    return poly_of(t, a);
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
    if (good && canonical(term, &n))
        return intern(t, term, n, mark);
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
    if (good && canonical(term, &n))
        return intern(t, term, n, mark);
    ad_arena_release(t->arena, mark);
    return dim_fail(t, COVAR_ERR_SHAPE, "the product overflows", a, b);
}

/* The table of a or b; *good is false when they have different ones or one
 * of them is invalid. NULL: both are constants. */
static ad_dim_table *table_of(ad_dim a, ad_dim b, bool *good)
{
    ad_dim_table *t = a.poly ? a.poly->table : b.poly ? b.poly->table : NULL;
    *good = !ad_dim_is_invalid(a) && !ad_dim_is_invalid(b);
    if (a.poly && b.poly && a.poly->table != b.poly->table) {
        dim_fail(t, COVAR_ERR_ARG, "they belong to different graphs", a, b);
        *good = false;
    }
    return t;
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
    ad_dim_table *t = table_of(a, b, &good);
    if (!good)
        return ad_dim_invalid();
    return t ? dim_combine(t, 1, a, 1, b) : ad_fixed(a.fixed + b.fixed);
}

ad_dim ad_dim_sub(ad_dim a, ad_dim b)
{
    bool good;
    ad_dim_table *t = table_of(a, b, &good);
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
    ad_dim_table *t = table_of(a, b, &good);
    if (!good)
        return ad_dim_invalid();
    if (t)
        return multiply(t, a, b);
    return dim_mul_overflows((int64_t)a.fixed, (int64_t)b.fixed, &product)
               ? ad_dim_invalid()
               : ad_fixed((size_t)product);
}
