/* Regions: the part of a graph that a derivative has to look at.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/derive_impl.h"

#include <stdlib.h>
#include <string.h>

bool ad_is_real(const ad_node *y, int k)
{
    return la_dtype_is_real(y->type[k].dtype);
}

/* ---- The set of places by id -------------------------------------------- */

static size_t probe(const ad_region *r, uint32_t id)
{
    size_t mask = r->n_table - 1;
    size_t i = (size_t)ad_hash_mix(id, 1) & mask;
    while (r->table[i] != 0 && r->node[r->table[i] - 1]->id != id)
        i = (i + 1) & mask;
    return i;
}

ptrdiff_t ad_region_find(const ad_region *r, const ad_node *y)
{
    if (r->n_table == 0)
        return AD_NOWHERE;
    return (ptrdiff_t)r->table[probe(r, y->id)] - 1;
}

static void enter_all(ad_region *r)
{
    memset(r->table, 0, r->n_table * sizeof(*r->table));
    for (size_t i = 0; i < r->n; i++)
        r->table[probe(r, r->node[i]->id)] = (uint32_t)(i + 1);
}

static covar_status grow(ad_region *r)
{
    covar_heap *heap = r->g->heap;
    size_t cap = r->n_table / 2, n = cap ? 2 * cap : 32;
    ad_node **node = covar_heap_grow(heap, r->node, r->n, n, sizeof(*node));
    if (!node)
        return ad_graph_nomem(r->g);
    r->node = node;
    uint32_t *table = covar_heap_alloc(heap, 2 * n, sizeof(*table));
    if (!table)
        return ad_graph_nomem(r->g);
    covar_heap_free(heap, r->table);
    r->table = table;
    r->n_table = 2 * n;
    enter_all(r);
    return COVAR_OK;
}

static covar_status add(ad_region *r, ad_node *y)
{
    if (r->n >= r->n_table / 2)
        COVAR_TRY(grow(r));
    size_t i = probe(r, y->id);
    if (r->table[i] != 0)
        return COVAR_OK;
    r->node[r->n++] = y;
    r->table[i] = (uint32_t)r->n;
    return COVAR_OK;
}

/* ---- What lies between -------------------------------------------------- */

static int by_id(const void *p, const void *q)
{
    uint32_t a = (*(ad_node *const *)p)->id, b = (*(ad_node *const *)q)->id;
    return a < b ? -1 : a > b;
}

static uint32_t oldest(ad_node *const *wrt, size_t n)
{
    uint32_t id = UINT32_MAX;
    for (size_t i = 0; i < n; i++)
        id = wrt[i]->id < id ? wrt[i]->id : id;
    return id;
}

/* Breadth first: the list of found nodes is the queue. */
static covar_status collect(ad_region *r, ad_node *const *root, size_t n_root,
                            uint32_t from, ad_node *const *wrt, size_t n_wrt,
                            bool opaque)
{
    ad_region stop = {.g = r->g};
    covar_status status = COVAR_OK;
    for (size_t i = 0; opaque && status == COVAR_OK && i < n_wrt; i++)
        status = add(&stop, wrt[i]);
    for (size_t i = 0; status == COVAR_OK && i < n_root; i++)
        if (root[i]->id >= from)
            status = add(r, root[i]);
    for (size_t i = 0; status == COVAR_OK && i < r->n; i++) {
        const ad_node *y = r->node[i];
        if (ad_region_find(&stop, y) != AD_NOWHERE)
            continue;
        for (int k = 0; status == COVAR_OK && k < y->n_in; k++)
            if (y->in[k]->id >= from)
                status = add(r, y->in[k]);
    }
    ad_region_clear(&stop);
    return status;
}

static bool depends(const ad_region *r, const ad_node *y)
{
    for (int k = 0; k < y->n_in; k++) {
        ptrdiff_t i = ad_region_find(r, y->in[k]);
        if (i != AD_NOWHERE && r->active[i])
            return true;
    }
    return false;
}

static void activate(ad_region *r, ad_node *const *wrt, size_t n_wrt)
{
    for (size_t i = 0; i < n_wrt; i++) {
        ptrdiff_t at = ad_region_find(r, wrt[i]);
        if (at != AD_NOWHERE)
            r->wrt[at] = true;
    }
    for (size_t i = 0; i < r->n; i++) {
        const ad_node *y = r->node[i];
        bool real = false;
        for (int k = 0; k < y->n_out; k++)
            real = real || ad_is_real(y, k);
        r->active[i] = real && (r->wrt[i] || depends(r, y));
        r->first[i] = r->n_value;
        r->n_value += (size_t)y->n_out;
        r->most_in = y->n_in > r->most_in ? y->n_in : r->most_in;
        r->most_out = y->n_out > r->most_out ? y->n_out : r->most_out;
    }
}

covar_status ad_region_init(ad_region *r, ad_graph *g, ad_node *const *root,
                            size_t n_root, ad_node *const *wrt, size_t n_wrt,
                            bool opaque)
{
    *r = (ad_region){.g = g};
    COVAR_TRY(collect(r, root, n_root, oldest(wrt, n_wrt), wrt, n_wrt, opaque));
    if (r->n > 0) {
        qsort(r->node, r->n, sizeof(*r->node), by_id);
        enter_all(r);
    }
    r->active = covar_heap_calloc(g->heap, r->n, sizeof(*r->active));
    r->wrt = covar_heap_calloc(g->heap, r->n, sizeof(*r->wrt));
    r->first = covar_heap_calloc(g->heap, r->n, sizeof(*r->first));
    if (!r->active || !r->wrt || !r->first)
        return ad_graph_nomem(g);
    activate(r, wrt, n_wrt);
    return COVAR_OK;
}

void ad_region_clear(ad_region *r)
{
    covar_heap *heap = r->g->heap;
    covar_heap_free(heap, r->node);
    covar_heap_free(heap, r->active);
    covar_heap_free(heap, r->wrt);
    covar_heap_free(heap, r->first);
    covar_heap_free(heap, r->table);
}
