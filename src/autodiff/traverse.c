/* Walks over a graph: what roots need, in order, and copies of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No recursion: a stack on the heap serves chains of any length. Since ids
 * grow with creation, sorting by id orders inputs before users. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <string.h>

/* Marks in seen[id] what the roots need; stack holds n_node pointers. */
static size_t mark_needed(bool *seen, ad_node **stack, ad_node *const *root,
                          size_t n)
{
    size_t depth = 0, count = 0;
    for (size_t i = 0; i < n; i++)
        if (root[i] && !seen[root[i]->id]) {
            seen[root[i]->id] = true;
            stack[depth++] = root[i];
        }
    while (depth > 0) {
        ad_node *y = stack[--depth];
        count++;
        for (int i = 0; i < y->n_in; i++)
            if (!seen[y->in[i]->id]) {
                seen[y->in[i]->id] = true;
                stack[depth++] = y->in[i];
            }
    }
    return count;
}

ad_node **ad_topological(ad_graph *g, ad_node *const *root, size_t n,
                         size_t *n_out)
{
    *n_out = 0;
    bool *seen = covar_heap_calloc(g->heap, g->n_node, sizeof(*seen));
    ad_node **order = covar_heap_alloc(g->heap, g->n_node, sizeof(*order));
    if (!seen || !order) {
        covar_heap_free(g->heap, seen);
        covar_heap_free(g->heap, order);
        ad_graph_nomem(g);
        return NULL;
    }
    mark_needed(seen, order, root, n);
    size_t count = 0;
    for (size_t i = 0; i < g->n_node; i++)
        if (seen[i])
            order[count++] = g->node[i];
    covar_heap_free(g->heap, seen);
    *n_out = count;
    return order;
}

/* ---- Copies ------------------------------------------------------------- */

static const char *copy_text(ad_graph *to, const char *text)
{
    if (!text || !*text)
        return text ? "" : NULL;
    size_t bytes = strlen(text) + 1;
    char *copy = ad_arena_alloc(to->arena, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static void import_type(ad_graph *to, ad_type *type)
{
    for (int i = 0; i < type->rank; i++)
        type->dim[i] = ad_dim_import(to, type->dim[i]);
}

/* The last scope and file that were copied: neighbours mostly share them. */
typedef struct origin {
    const char *scope, *scope_copy, *file, *file_copy;
} origin;

static ad_node *copy_node(ad_graph *to, ad_node *x, ad_node **map, ad_node **in,
                          origin *o)
{
    for (int i = 0; i < x->n_in; i++)
        in[i] = map[x->in[i]->id];
    ad_node *y = ad_node_new(to, x->op, x->n_in, in, x->fields, x->n_out);
    if (!y)
        return NULL;
    for (int k = 0; k < x->n_out; k++) {
        y->type[k] = x->type[k];
        import_type(to, &y->type[k]);
    }
    if (o->scope != x->scope) {
        o->scope = x->scope;
        o->scope_copy = copy_text(to, x->scope);
    }
    if (o->file != x->file) {
        o->file = x->file;
        o->file_copy = copy_text(to, x->file);
    }
    y->name = copy_text(to, x->name);
    y->scope = o->scope_copy ? o->scope_copy : "";
    y->file = o->file_copy;
    y->line = x->line;
    return ad_graph_error(to) == COVAR_OK ? y : NULL;
}

/* The nodes to copy: those that the roots need short of what map holds. */
static size_t mark_missing(bool *seen, ad_node **stack, ad_node *const *root,
                           size_t n, ad_node *const *map, int *most)
{
    size_t depth = 0, last = 0;
    for (size_t i = 0; i < n; i++)
        if (root[i] && !seen[root[i]->id] && !map[root[i]->id]) {
            seen[root[i]->id] = true;
            stack[depth++] = root[i];
        }
    while (depth > 0) {
        ad_node *y = stack[--depth];
        last = y->id >= last ? (size_t)y->id + 1 : last;
        *most = y->n_in > *most ? y->n_in : *most;
        for (int i = 0; i < y->n_in; i++) {
            uint32_t id = y->in[i]->id;
            if (!seen[id] && !map[id]) {
                seen[id] = true;
                stack[depth++] = y->in[i];
            }
        }
    }
    return last;
}

covar_status ad_graph_import(ad_graph *to, ad_node *const *root, size_t n,
                             ad_node **map)
{
    ad_graph *from = NULL;
    for (size_t i = 0; i < n && !from; i++)
        from = ad_node_graph(root[i]);
    if (!from)
        return COVAR_OK;
    COVAR_TRY(ad_dim_import_equal(to, from));
    covar_status status = COVAR_ERR_NOMEM;
    int most = 1;
    bool *seen = covar_heap_calloc(to->heap, from->n_node, sizeof(*seen));
    ad_node **stack = covar_heap_alloc(to->heap, from->n_node, sizeof(*stack));
    ad_node **in = NULL;
    if (!seen || !stack)
        goto out;
    size_t last = mark_missing(seen, stack, root, n, map, &most);
    in = covar_heap_alloc(to->heap, (size_t)most, sizeof(*in));
    if (!in)
        goto out;
    origin o = {NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < last; i++)
        if (seen[i]) {
            map[i] = copy_node(to, from->node[i], map, in, &o);
            if (!map[i])
                goto out;
        }
    status = COVAR_OK;
out:
    covar_heap_free(to->heap, in);
    covar_heap_free(to->heap, stack);
    covar_heap_free(to->heap, seen);
    if (status == COVAR_OK)
        return COVAR_OK;
    ad_graph_nomem(to);
    return ad_graph_error(to);
}
