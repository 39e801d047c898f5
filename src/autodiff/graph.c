/* Graphs: who owns nodes, keeps the first error, and goes back to a mark.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * node[id] is every node in the order of making. The buckets chain the nodes
 * that may be merged with; a bucket's newest node comes first, so that going
 * back to a mark finds what it removes near the front. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ad_scope {
    ad_scope *prev;
    size_t mark; /* arena position before this block */
    char path[];
};

/* ---- Errors ------------------------------------------------------------- */

covar_status ad_graph_fail(ad_graph *g, covar_status status, const char *format,
                           ...)
{
    if (g->error != COVAR_OK)
        return status;
    va_list list;
    va_start(list, format);
    vsnprintf(g->error_text, sizeof(g->error_text), format, list);
    va_end(list);
    g->error = status;
    return covar_fail(g->ctx, status, "%s", g->error_text);
}

covar_status ad_graph_nomem(ad_graph *g)
{
    return ad_graph_fail(g, COVAR_ERR_NOMEM, "graph: out of memory");
}

covar_status ad_graph_error(const ad_graph *g)
{
    return g ? g->error : COVAR_POISONED;
}

const char *ad_graph_error_text(const ad_graph *g)
{
    return g ? g->error_text : "no graph";
}

void ad_graph_clear_error(ad_graph *g)
{
    if (!g)
        return;
    g->error = COVAR_OK;
    g->error_text[0] = '\0';
}

/* ---- Creation ----------------------------------------------------------- */

static ad_graph *blank(covar_context *ctx)
{
    covar_heap *heap = covar_context_heap(ctx);
    ad_graph *g = covar_heap_calloc(heap, 1, sizeof(*g));
    if (!g)
        return NULL;
    g->ctx = ctx;
    g->heap = covar_heap_retain(heap);
    g->scope = "";
    g->arena = ad_arena_create(heap);
    g->dims = ad_dim_table_create(heap, g);
    if (g->arena && g->dims)
        return g;
    ad_graph_free(g);
    return NULL;
}

covar_status ad_graph_create(ad_graph **out, covar_context *ctx,
                             const ad_graph_options *options)
{
    if (out)
        *out = NULL;
    if (!out || !ctx)
        return covar_fail(ctx, COVAR_ERR_ARG, "ad_graph_create: %s is NULL",
                          ctx ? "out" : "ctx");
    ad_graph *g = blank(ctx);
    if (!g)
        return covar_fail_nomem(ctx, "ad_graph_create");
    g->eager = options && options->eager;
    if (options && options->store) {
        g->store = ad_store_retain(options->store);
    } else {
        covar_status status = ad_store_create(&g->store, ctx);
        if (status != COVAR_OK) {
            ad_graph_free(g);
            return status;
        }
    }
    *out = g;
    return COVAR_OK;
}

covar_status ad_graph_like(ad_graph **out, const ad_graph *g)
{
    *out = blank(g->ctx);
    if (!*out)
        return covar_fail_nomem(g->ctx, "ad_graph_like");
    (*out)->store = ad_store_retain(g->store);
    return COVAR_OK;
}

static void drop_values(ad_node *y)
{
    for (int k = 0; y->value && k < y->n_out; k++)
        la_array_free(y->value[k]);
    ad_fields_release(y->op, y->fields);
}

void ad_graph_free(ad_graph *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n_node; i++)
        drop_values(g->node[i]);
    ad_store_free(g->store);
    ad_dim_table_free(g->dims);
    ad_arena_free(g->arena);
    covar_heap *heap = g->heap;
    covar_heap_free(heap, g->node);
    covar_heap_free(heap, g->bucket);
    covar_heap_free(heap, g);
    covar_heap_release(heap);
}

ad_store *ad_graph_store(const ad_graph *g)
{
    return g ? g->store : NULL;
}

covar_context *ad_graph_context(const ad_graph *g)
{
    return g ? g->ctx : NULL;
}

bool ad_graph_is_eager(const ad_graph *g)
{
    return g && g->eager;
}

size_t ad_graph_node_count(const ad_graph *g)
{
    return g ? g->n_node : 0;
}

/* ---- Entering nodes ----------------------------------------------------- */

covar_status ad_graph_append(ad_graph *g, ad_node *y)
{
    if (g->n_node >= UINT32_MAX)
        return ad_graph_fail(g, COVAR_ERR_UNSUPPORTED, "graph: 2^32 nodes");
    if (g->n_node == g->cap_node) {
        size_t cap = g->cap_node ? 2 * g->cap_node : 64;
        ad_node **node =
            covar_heap_grow(g->heap, g->node, g->n_node, cap, sizeof(*node));
        if (!node)
            return ad_graph_nomem(g);
        g->node = node;
        g->cap_node = cap;
    }
    y->id = (uint32_t)g->n_node;
    g->node[g->n_node++] = y;
    return COVAR_OK;
}

static void link_node(ad_node **bucket, size_t n_bucket, ad_node *y)
{
    ad_node **head = &bucket[y->hash & (n_bucket - 1)];
    y->chain = *head;
    *head = y;
    y->merged = true;
}

static covar_status grow_buckets(ad_graph *g)
{
    size_t n = g->n_bucket ? 2 * g->n_bucket : 128;
    ad_node **bucket = covar_heap_calloc(g->heap, n, sizeof(*bucket));
    if (!bucket)
        return ad_graph_nomem(g);
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->merged)
            link_node(bucket, n, g->node[i]);
    covar_heap_free(g->heap, g->bucket);
    g->bucket = bucket;
    g->n_bucket = n;
    return COVAR_OK;
}

covar_status ad_graph_enter(ad_graph *g, ad_node *y)
{
    if (g->n_node > g->n_bucket)
        COVAR_TRY(grow_buckets(g));
    link_node(g->bucket, g->n_bucket, y);
    return COVAR_OK;
}

static void unlink_node(ad_graph *g, ad_node *y)
{
    ad_node **at = &g->bucket[y->hash & (g->n_bucket - 1)];
    while (*at != y)
        at = &(*at)->chain;
    *at = y->chain;
}

/* ---- Marks -------------------------------------------------------------- */

ad_mark ad_graph_mark(const ad_graph *g)
{
    return g ? (ad_mark){g->n_node, ad_arena_mark(g->arena)} : (ad_mark){0, 0};
}

void ad_graph_release(ad_graph *g, ad_mark mark)
{
    if (!g || mark.nodes > g->n_node)
        return;
    ad_expansions_release(g, mark.bytes);
    while (g->n_node > mark.nodes) {
        ad_node *y = g->node[--g->n_node];
        if (y->merged)
            unlink_node(g, y);
        drop_values(y);
    }
    while (g->scope_top && g->scope_top->mark >= mark.bytes)
        ad_scope_pop(g);
    if (g->file && g->file_mark >= mark.bytes)
        g->file = NULL;
    ad_arena_release(g->arena, mark.bytes);
}

/* ---- Provenance --------------------------------------------------------- */

void ad_scope_push(ad_graph *g, const char *name)
{
    if (!g || !name)
        return;
    size_t mark = ad_arena_mark(g->arena);
    size_t outer = strlen(g->scope), bytes = outer + strlen(name) + 2;
    ad_scope *s = ad_arena_alloc(g->arena, sizeof(*s) + bytes);
    if (!s) {
        ad_graph_nomem(g);
        return;
    }
    s->prev = g->scope_top;
    s->mark = mark;
    snprintf(s->path, bytes, "%s%s%s", g->scope, outer ? "/" : "", name);
    g->scope_top = s;
    g->scope = s->path;
}

void ad_scope_pop(ad_graph *g)
{
    if (!g || !g->scope_top)
        return;
    g->scope_top = g->scope_top->prev;
    g->scope = g->scope_top ? g->scope_top->path : "";
}

void ad_set_site(ad_graph *g, const char *file, int line)
{
    if (!g || !file)
        return;
    g->line = line;
    if (g->file && strcmp(g->file, file) == 0)
        return;
    size_t mark = ad_arena_mark(g->arena), bytes = strlen(file) + 1;
    char *copy = ad_arena_alloc(g->arena, bytes);
    if (!copy) {
        ad_graph_nomem(g);
        return;
    }
    g->file = memcpy(copy, file, bytes);
    g->file_mark = mark;
}
