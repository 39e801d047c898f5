/* Fusion: elementwise nodes become clusters that run as one loop each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The graph is rebuilt with every cluster as one node: an item of work is a
 * cluster or a node outside, and an item is made as soon as all items that it
 * reads are. A cluster becomes ready by the last of its members' inputs, so
 * creation order is not enough: items wait in a queue by count of inputs. */
#include "config.h"

#include "autodiff/fuse_impl.h"

#include <string.h>

typedef struct rebuilding {
    ad_fusion *f;
    ad_node **map;  /* by id of the old graph */
    uint32_t *item; /* by id: clusters first, then nodes outside */
    uint32_t n_item;
    uint32_t *edge_start, *edge; /* users of items */
    uint32_t *waiting;           /* by item: inputs yet to be made */
    ad_node **node;              /* by item: the node outside */
    uint32_t *queue;
} rebuilding;

/* ---- Users and items ---------------------------------------------------- */

static bool list_users(ad_fusion *f)
{
    size_t n_edge = 0, n = f->g->n_node;
    for (size_t i = 0; i < f->n_order; i++)
        n_edge += (size_t)f->order[i]->n_in;
    f->user_start = ad_arena_alloc(f->arena, sizeof(uint32_t) * (n + 2));
    f->user = ad_arena_alloc(f->arena, sizeof(uint32_t) * (n_edge + 1));
    if (!f->user_start || !f->user)
        return false;
    uint32_t *start = f->user_start;
    for (size_t i = 0; i < f->n_order; i++)
        for (int j = 0; j < f->order[i]->n_in; j++)
            start[f->order[i]->in[j]->id + 1]++;
    for (size_t i = 1; i < n + 2; i++)
        start[i] += start[i - 1];
    /* filled from the back, which leaves start where it belongs */
    for (size_t i = f->n_order; i-- > 0;)
        for (int j = 0; j < f->order[i]->n_in; j++)
            f->user[--start[f->order[i]->in[j]->id + 1]] = (uint32_t)i;
    memmove(start, start + 1, sizeof(*start) * (n + 1));
    start[n] = (uint32_t)n_edge;
    return true;
}

static void number_items(rebuilding *r)
{
    ad_fusion *f = r->f;
    r->n_item = (uint32_t)f->n_cluster;
    for (size_t i = 0; i < f->n_order; i++) {
        uint32_t id = f->order[i]->id, c = f->cluster[id];
        r->item[id] = c != AD_NO_CLUSTER ? c : r->n_item++;
        if (c == AD_NO_CLUSTER)
            r->node[r->item[id]] = f->order[i];
    }
}

/* Counts the pair (item read, item reading), or in the second round lists
 * it. */
static void add_edge(rebuilding *r, bool fill, uint32_t from, uint32_t to)
{
    if (from == to)
        return;
    if (fill) {
        r->edge[--r->edge_start[from + 1]] = to;
        r->waiting[to]++;
    } else {
        r->edge_start[from + 1]++;
    }
}

static void add_edges(rebuilding *r, bool fill, const ad_node *y, uint32_t to)
{
    for (int j = 0; j < y->n_in; j++)
        add_edge(r, fill, r->item[y->in[j]->id], to);
}

static void all_edges(rebuilding *r, bool fill)
{
    ad_fusion *f = r->f;
    for (uint32_t c = 0; c < f->n_cluster; c++)
        for (size_t i = 0; i < f->list[c].n_member; i++)
            add_edges(r, fill, f->list[c].member[i], c);
    for (uint32_t i = (uint32_t)f->n_cluster; i < r->n_item; i++)
        add_edges(r, fill, r->node[i], i);
}

static bool list_edges(rebuilding *r)
{
    ad_fusion *f = r->f;
    size_t n_edge = 0, n = f->n_cluster + f->n_order;
    for (size_t i = 0; i < f->n_order; i++)
        n_edge += (size_t)f->order[i]->n_in;
    for (size_t c = 0; c < f->n_cluster; c++)
        for (size_t i = 0; i < f->list[c].n_member; i++)
            n_edge += (size_t)f->list[c].member[i]->n_in;
    r->node = ad_arena_alloc(f->arena, sizeof(*r->node) * (n + 1));
    r->waiting = ad_arena_alloc(f->arena, sizeof(uint32_t) * (n + 1));
    r->queue = ad_arena_alloc(f->arena, sizeof(uint32_t) * (n + 1));
    r->edge_start = ad_arena_alloc(f->arena, sizeof(uint32_t) * (n + 2));
    r->edge = ad_arena_alloc(f->arena, sizeof(uint32_t) * (n_edge + 1));
    r->item = ad_arena_alloc(f->arena, sizeof(uint32_t) * f->g->n_node);
    if (!r->node || !r->waiting || !r->queue || !r->edge_start || !r->edge ||
        !r->item)
        return false;
    number_items(r);
    all_edges(r, false);
    for (size_t i = 1; i < n + 2; i++)
        r->edge_start[i] += r->edge_start[i - 1];
    all_edges(r, true);
    return true;
}

/* ---- Rebuilding --------------------------------------------------------- */

/* A node outside, with new inputs. */
static bool emit_node(rebuilding *r, ad_node *y)
{
    ad_graph *g = r->f->g;
    bool same = true;
    if (r->map[y->id])
        return true; /* a reduction that came with its cluster */
    size_t mark = ad_arena_mark(r->f->arena);
    ad_node **in = ad_arena_alloc(r->f->arena, sizeof(*in) * (size_t)y->n_in);
    if (!in)
        return false;
    for (int j = 0; j < y->n_in; j++) {
        in[j] = r->map[y->in[j]->id];
        same &= in[j] == y->in[j];
    }
    ad_node *z = y;
    if (!same) {
        z = ad_node_new(g, y->op, y->n_in, in, y->fields, y->n_out);
        for (int k = 0; z && k < y->n_out; k++)
            z->type[k] = y->type[k];
        if (z) {
            z->name = y->name;
            z->scope = y->scope;
            z->file = y->file;
            z->line = y->line;
        }
    }
    ad_arena_release(r->f->arena, mark);
    r->map[y->id] = z;
    return z != NULL;
}

/* Node ids grow with creation, so items are made in a topological order; the
 * smallest item that is ready need not come first. */
static bool rebuild(rebuilding *r, size_t n_cluster)
{
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; i < r->n_item; i++)
        if (r->waiting[i] == 0)
            r->queue[tail++] = i;
    while (head < tail) {
        uint32_t i = r->queue[head++];
        bool ok = i < n_cluster ? ad_fuse_emit(r->f, &r->f->list[i], r->map)
                                : emit_node(r, r->node[i]);
        if (!ok)
            return false;
        for (uint32_t e = r->edge_start[i + 1]; e < r->edge_start[i + 2]; e++)
            if (--r->waiting[r->edge[e]] == 0)
                r->queue[tail++] = r->edge[e];
    }
    return head == r->n_item;
}

static bool prepare(ad_fusion *f)
{
    size_t n = f->g->n_node;
    f->cluster = ad_arena_alloc(f->arena, sizeof(*f->cluster) * n);
    f->is_root = ad_arena_alloc(f->arena, sizeof(*f->is_root) * n);
    f->operand = ad_arena_alloc(f->arena, sizeof(*f->operand) * n);
    f->stamp_of = ad_arena_alloc(f->arena, sizeof(*f->stamp_of) * n);
    if (!f->cluster || !f->is_root || !f->operand || !f->stamp_of ||
        !list_users(f))
        return false;
    for (size_t i = 0; i < f->n_root; i++)
        f->is_root[f->root[i]->id] = true;
    return true;
}

covar_status ad_fuse(ad_graph *g, ad_node **root, size_t n, bool single)
{
    ad_fusion f = {.g = g, .root = root, .n_root = n, .single = single};
    rebuilding r = {.f = &f};
    f.arena = ad_arena_create(g->heap);
    f.order = ad_topological(g, root, n, &f.n_order);
    bool ok = f.arena && f.order && prepare(&f) && ad_fuse_assign(&f) &&
              ad_fuse_members(&f) && list_edges(&r);
    if (ok) {
        r.map = ad_arena_alloc(f.arena, sizeof(*r.map) * g->n_node);
        ok = r.map && rebuild(&r, f.n_cluster);
    }
    for (size_t i = 0; ok && i < n; i++)
        root[i] = r.map[root[i]->id];
    covar_heap_free(g->heap, f.order);
    ad_arena_free(f.arena);
    if (ok)
        return COVAR_OK;
    ad_graph_nomem(g); /* unless an error came first */
    return ad_graph_error(g);
}
