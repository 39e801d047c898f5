/* Bodies: closed child graphs inside a node, frozen and shared.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A body owns its graph. The hash covers structure alone: operators, fields,
 * wiring, types of the inputs, which outputs; not names or ids. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <stdatomic.h>

struct ad_body_owner {
    covar_heap *heap;
    atomic_size_t references;
};

/* The place of each node of order[] by id, and of the inputs. */
static uint64_t hash_type(const ad_type *t)
{
    uint64_t h = ad_hash_mix((uint64_t)t->dtype, (uint64_t)t->rank);
    for (int i = 0; i < t->rank; i++)
        h = ad_hash_mix(h, ad_dim_hash(t->dim[i]));
    return h;
}

/* Structural hashes by id: of inputs by position, of others by content. */
static void hash_nodes(const ad_body *b, ad_node **order, size_t n, uint64_t *h)
{
    for (size_t i = 0; i < n; i++) {
        const ad_node *y = order[i];
        h[y->id] = ad_hash_text(y->op->name);
        if (!(y->op->flags & AD_LEAF))
            h[y->id] = ad_fields_hash(y->op, y->fields, h[y->id]);
        for (int k = 0; k < y->n_in; k++)
            h[y->id] = ad_hash_mix(h[y->id], h[y->in[k]->id]);
        for (int k = 0; k < b->n_in; k++)
            if (b->in[k] == y)
                h[y->id] = ad_hash_mix((uint64_t)k, hash_type(y->type));
    }
}

static covar_status hash_body(ad_body *b)
{
    ad_graph *g = b->g;
    size_t n;
    ad_node **order = ad_topological(g, b->out, (size_t)b->n_out, &n);
    uint64_t *h = covar_heap_calloc(g->heap, g->n_node, sizeof(*h));
    if (order && h) {
        hash_nodes(b, order, n, h);
        b->hash = ad_hash_mix((uint64_t)b->n_in, (uint64_t)b->n_out);
        for (int k = 0; k < b->n_in; k++)
            b->hash = ad_hash_mix(b->hash, hash_type(b->in[k]->type));
        for (int k = 0; k < b->n_out; k++)
            b->hash = ad_hash_mix(b->hash, h[b->out[k]->id]);
    }
    covar_heap_free(g->heap, h);
    covar_heap_free(g->heap, order);
    return order && h ? COVAR_OK : ad_graph_nomem(g);
}

covar_status ad_body_create(ad_body **out, ad_graph *g, ad_node *const *in,
                            int n_in, ad_node *const *y, int n_out)
{
    covar_heap *heap = g->heap;
    *out = NULL;
    COVAR_TRY(ad_graph_error(g));
    for (int i = 0; i < n_in + n_out; i++) {
        const ad_node *x = i < n_in ? in[i] : y[i - n_in];
        if (!x || x->graph != g)
            return ad_graph_fail(
                g, COVAR_ERR_ARG, "body: %s %d does not belong to it",
                i < n_in ? "input" : "output", i < n_in ? i : i - n_in);
    }
    ad_body *b = covar_heap_calloc(heap, 1, sizeof(*b));
    if (!b)
        return ad_graph_nomem(g);
    b->owner = covar_heap_calloc(heap, 1, sizeof(*b->owner));
    b->in = covar_heap_calloc(heap, (size_t)n_in, sizeof(*b->in));
    b->out = covar_heap_calloc(heap, (size_t)n_out, sizeof(*b->out));
    if (!b->owner || !b->in || !b->out) {
        ad_graph_nomem(g);
        goto fail;
    }
    atomic_init(&b->owner->references, 1);
    b->g = g;
    g->parent = NULL; /* from here on closed */
    b->n_in = n_in;
    b->n_out = n_out;
    for (int i = 0; i < n_in; i++)
        b->in[i] = in[i];
    for (int i = 0; i < n_out; i++)
        b->out[i] = y[i];
    if (hash_body(b) != COVAR_OK)
        goto fail;
    *out = b;
    return COVAR_OK;
fail:
    covar_heap_free(heap, b->owner);
    covar_heap_free(heap, b->in);
    covar_heap_free(heap, b->out);
    covar_heap_free(heap, b);
    return ad_graph_error(g);
}

ad_body *ad_body_retain(ad_body *b)
{
    if (b)
        atomic_fetch_add_explicit(&b->owner->references, 1,
                                  memory_order_relaxed);
    return b;
}

void ad_body_release(ad_body *b)
{
    if (!b || atomic_fetch_sub_explicit(&b->owner->references, 1,
                                        memory_order_acq_rel) != 1)
        return;
    covar_heap *heap = covar_heap_retain(b->g->heap);
    ad_graph_free(b->g);
    covar_heap_free(heap, b->owner);
    covar_heap_free(heap, b->in);
    covar_heap_free(heap, b->out);
    covar_heap_free(heap, b);
    covar_heap_release(heap);
}

/* ---- Equality ----------------------------------------------------------- */

/* The number of y's place among the inputs, or -1. */
static int input_place(const ad_body *b, const ad_node *y)
{
    for (int k = 0; k < b->n_in; k++)
        if (b->in[k] == y)
            return k;
    return -1;
}

static bool same_type(const ad_type *s, const ad_type *t)
{
    bool same = s->dtype == t->dtype && s->rank == t->rank;
    for (int i = 0; same && i < s->rank; i++)
        same = ad_dim_hash(s->dim[i]) == ad_dim_hash(t->dim[i]);
    return same;
}

/* Is y of b the partner of x of a, all earlier nodes being paired? */
static bool same_node(const ad_body *a, const ad_body *b, const ad_node *x,
                      const ad_node *y, const uint32_t *partner)
{
    int place = input_place(a, x);
    if (place != input_place(b, y) || x->op != y->op || x->n_in != y->n_in ||
        x->n_out != y->n_out || !same_type(x->type, y->type))
        return false;
    for (int i = 0; i < x->n_in; i++)
        if (partner[x->in[i]->id] != y->in[i]->id)
            return false;
    if (place >= 0)
        return true;
    /* fields: dims of different graphs agree by structure, not by pointer */
    return ad_fields_mergeable(x->op) &&
           ad_fields_hash(x->op, x->fields, 0) ==
               ad_fields_hash(y->op, y->fields, 0);
}

static bool pair_up(const ad_body *a, const ad_body *b, ad_node **p,
                    ad_node **q, size_t n, uint32_t *partner)
{
    for (size_t i = 0; i < n; i++) {
        if (!same_node(a, b, p[i], q[i], partner))
            return false;
        partner[p[i]->id] = q[i]->id;
    }
    for (int k = 0; k < a->n_out; k++)
        if (partner[a->out[k]->id] != b->out[k]->id)
            return false;
    return true;
}

bool ad_body_equal(const ad_body *a, const ad_body *b)
{
    if (a == b || !a || !b)
        return a == b;
    if (a->hash != b->hash || a->n_in != b->n_in || a->n_out != b->n_out)
        return false;
    covar_heap *heap = a->g->heap;
    size_t n, m;
    ad_node **p = ad_topological(a->g, a->out, (size_t)a->n_out, &n);
    ad_node **q = ad_topological(b->g, b->out, (size_t)b->n_out, &m);
    uint32_t *partner = covar_heap_alloc(heap, a->g->n_node, sizeof(*partner));
    bool equal = p && q && partner && n == m && pair_up(a, b, p, q, n, partner);
    covar_heap_free(heap, partner);
    covar_heap_free(a->g->heap, p);
    covar_heap_free(b->g->heap, q);
    return equal;
}
