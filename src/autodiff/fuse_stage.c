/* Fusion, first part: which elementwise nodes form a cluster.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The stage of an elementwise node is the largest number of barriers (other
 * operators, other index spaces) on any way to it. Nodes of one stage and one
 * space are convex: a way between two of them that left the set would have to
 * cross a barrier, and so end in a later stage. A node that is only needed
 * later sinks to the stage of its users when that keeps no more than one large
 * value alive in its place. Clusters are the connected parts of a stage and
 * space; small spaces are taken whole. All of it is linear in edges. */
#include "config.h"

#include "autodiff/fuse_impl.h"

enum { SMALL = 4096, OVERFLOW = 3 };

typedef struct leaves { /* large values that a node's cluster must read */
    uint32_t id[2];
    int n; /* OVERFLOW: more than two */
} leaves;

typedef struct staging {
    ad_fusion *f;
    int32_t *stage; /* by id */
    leaves *leaf;
    uint32_t *parent; /* union-find over ids */
} staging;

/* ---- Properties --------------------------------------------------------- */

bool ad_fusable(const ad_node *y)
{
    return y->op->flags & AD_ELEMENTWISE && y->n_out == 1 &&
           la_dtype_is_real(y->type->dtype);
}

bool ad_same_space(const ad_node *a, const ad_node *b)
{
    bool same =
        a->type->dtype == b->type->dtype && a->type->rank == b->type->rank;
    for (int k = 0; same && k < a->type->rank; k++)
        same = ad_dim_same(a->type->dim[k], b->type->dim[k]);
    return same;
}

la_reduce_kind ad_reduction_of(const ad_node *y)
{
    return y->op == &ad_op_sum          ? LA_REDUCE_SUM
           : y->op == &ad_op_reduce_max ? LA_REDUCE_MAX
           : y->op == &ad_op_reduce_min ? LA_REDUCE_MIN
                                        : LA_REDUCE_NONE;
}

static bool small_space(const ad_node *y)
{
    size_t n = 1, d;
    for (int k = 0; k < y->type->rank; k++) {
        if (!ad_dim_is_fixed(y->type->dim[k], &d) || d > SMALL)
            return false;
        n *= d;
    }
    return n <= SMALL;
}

/* The node whose memory x shows; *repeats if a smaller value is repeated. */
static const ad_node *root_of(const ad_node *x, bool *repeats)
{
    *repeats = false;
    while (ad_node_is_view(x)) {
        *repeats |= x->op == &ad_op_broadcast;
        x = x->in[x->op->views];
    }
    return x;
}

/* ---- Earliest stages ---------------------------------------------------- */

static void add_leaf(leaves *to, uint32_t id)
{
    for (int i = 0; i < to->n && i < 2; i++)
        if (to->id[i] == id)
            return;
    if (to->n < 2)
        to->id[to->n] = id;
    to->n += to->n < OVERFLOW;
}

static void add_leaves(leaves *to, const leaves *from)
{
    for (int i = 0; i < from->n && i < 2; i++)
        add_leaf(to, from->id[i]);
    if (from->n == OVERFLOW)
        to->n = OVERFLOW;
}

/* Does reading x keep a large value of the program's own alive? */
static bool keeps_memory(const ad_node *x, const ad_node *y, uint32_t *id)
{
    bool repeats;
    const ad_node *r = root_of(x, &repeats);
    *id = r->id;
    return ad_same_space(x, y) && !repeats && !(r->op->flags & AD_LEAF) &&
           r->op != &ad_op_constant;
}

static void set_stage(staging *s, const ad_node *y)
{
    bool fusable = ad_fusable(y);
    int32_t stage = fusable ? 0 : -1;
    for (int i = 0; i < y->n_in; i++) {
        const ad_node *x = y->in[i];
        int32_t at = s->stage[x->id];
        bool joined = fusable && ad_fusable(x) && ad_same_space(x, y);
        at += fusable && !joined;
        stage = at > stage ? at : stage;
    }
    s->stage[y->id] = stage;
    for (int i = 0; fusable && i < y->n_in; i++) {
        const ad_node *x = y->in[i];
        uint32_t id;
        if (ad_fusable(x) && ad_same_space(x, y) && s->stage[x->id] == stage)
            add_leaves(&s->leaf[y->id], &s->leaf[x->id]);
        else if (keeps_memory(x, y, &id))
            add_leaf(&s->leaf[y->id], id);
    }
}

/* ---- Sinking ------------------------------------------------------------ */

/* The latest stage at which y may be: below every user. *joins: a user of
 * its own space is there. limit[] is set for all users. */
static int32_t latest(const staging *s, const int32_t *limit, const ad_node *y,
                      bool *joins)
{
    const ad_fusion *f = s->f;
    int32_t late = INT32_MAX;
    bool fusable = ad_fusable(y);
    *joins = false;
    for (uint32_t u = f->user_start[y->id]; u < f->user_start[y->id + 1]; u++) {
        const ad_node *c = f->order[f->user[u]];
        bool joined = fusable && ad_fusable(c) && ad_same_space(c, y);
        int32_t at = limit[c->id] - (ad_fusable(c) && !joined);
        if (at < late)
            *joins = joined;
        else if (at == late)
            *joins |= joined;
        late = at < late ? at : late;
    }
    return late;
}

static void sink(staging *s, int32_t *limit)
{
    const ad_fusion *f = s->f;
    for (size_t i = f->n_order; i-- > 0;) {
        const ad_node *y = f->order[i];
        bool joins;
        int32_t late = latest(s, limit, y, &joins);
        if (late == INT32_MAX || f->is_root[y->id])
            late = s->stage[y->id];
        limit[y->id] = late;
        if (!ad_fusable(y))
            continue;
        if (late > s->stage[y->id] && (!joins || s->leaf[y->id].n > 1))
            limit[y->id] = s->stage[y->id];
    }
    for (size_t i = 0; i < f->n_order; i++) {
        const ad_node *y = f->order[i];
        if (ad_fusable(y))
            s->stage[y->id] = limit[y->id];
    }
}

/* ---- Clusters ----------------------------------------------------------- */

static uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(staging *s, uint32_t a, uint32_t b)
{
    a = find(s->parent, a);
    b = find(s->parent, b);
    if (a < b)
        s->parent[b] = a;
    else
        s->parent[a] = b;
}

/* Joins members of one small space and stage: a table of the last one seen,
 * by a hash of both; a collision only misses a union. */
static void join_small(staging *s, const ad_node *y, const ad_node **last,
                       size_t n_last)
{
    if (!small_space(y))
        return;
    uint64_t h =
        ad_hash_mix((uint64_t)s->stage[y->id], (uint64_t)y->type->dtype);
    for (int k = 0; k < y->type->rank; k++)
        h = ad_hash_mix(h, y->type->dim[k].fixed);
    const ad_node **at = &last[h % n_last];
    if (*at && s->stage[(*at)->id] == s->stage[y->id] && ad_same_space(*at, y))
        join(s, (*at)->id, y->id);
    *at = y;
}

static void connect(staging *s)
{
    const ad_fusion *f = s->f;
    const ad_node *last[256] = {NULL};
    for (size_t i = 0; i < f->n_order; i++) {
        const ad_node *y = f->order[i];
        s->parent[y->id] = y->id;
        if (!ad_fusable(y))
            continue;
        for (int k = 0; k < y->n_in; k++) {
            const ad_node *x = y->in[k];
            if (ad_fusable(x) && ad_same_space(x, y) &&
                s->stage[x->id] == s->stage[y->id])
                join(s, x->id, y->id);
        }
        join_small(s, y, last, 256);
    }
}

bool ad_fuse_assign(ad_fusion *f)
{
    size_t n = f->g->n_node;
    staging s = {.f = f};
    s.stage = ad_arena_alloc(f->arena, sizeof(*s.stage) * n);
    s.leaf = ad_arena_alloc(f->arena, sizeof(*s.leaf) * n);
    s.parent = ad_arena_alloc(f->arena, sizeof(*s.parent) * n);
    int32_t *limit = ad_arena_alloc(f->arena, sizeof(*limit) * n);
    if (!s.stage || !s.leaf || !s.parent || !limit)
        return false;
    for (size_t i = 0; i < f->n_order; i++)
        set_stage(&s, f->order[i]);
    sink(&s, limit);
    connect(&s);
    f->n_cluster = 0;
    for (size_t i = 0; i < f->n_order; i++) {
        const ad_node *y = f->order[i];
        f->cluster[y->id] = AD_NO_CLUSTER;
        if (!ad_fusable(y))
            continue;
        uint32_t r = f->single ? y->id : find(s.parent, y->id);
        if (r == y->id)
            f->cluster[r] = (uint32_t)f->n_cluster++;
        f->cluster[y->id] = f->cluster[r];
    }
    return true;
}
