/* Tables of sizes: canonical form, interned polynomials and atoms.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Terms are kept by falling degree, then by ascending atoms, constant last.
 * What is new stays in the table's arena; what turns out to be known gives
 * its place back. */
#include "config.h"

#include "autodiff/dim_impl.h"

#include <stdlib.h>
#include <string.h>

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

bool dim_canonical(ad_term *term, int *n)
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

ad_dim dim_intern(ad_dim_table *t, ad_term *term, int n, size_t mark)
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
    bool same = ad_dim_same(a->a, b->a) && ad_dim_same(a->b, b->b);
    bool swapped =
        a->kind->commutes && ad_dim_same(a->a, b->b) && ad_dim_same(a->b, b->a);
    return (same || swapped) && a->c == b->c;
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
    return dim_intern(t, term, 1, mark);
}

ad_dim dim_of_atom(ad_dim_table *t, const ad_atom *proto)
{
    if (proto->depth > DIM_MAX_DEPTH)
        return dim_fail(t, COVAR_ERR_UNSUPPORTED, "nested too deep", proto->a,
                        proto->b);
    ad_atom key = *proto;
    key.hash =
        ad_hash_mix(ad_hash_text(key.kind->name), ad_hash_text(key.name));
    key.hash = ad_hash_mix(key.hash, (uint64_t)key.c);
    key.hash = ad_hash_mix(key.hash, ad_hash_mix(ad_dim_hash(key.a), 5) +
                                         ad_hash_mix(ad_dim_hash(key.b), 5));
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
