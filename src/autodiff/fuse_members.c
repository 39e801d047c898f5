/* Fusion, second part: what each cluster computes and what it gives away.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A cluster that reads an elementwise value of an earlier one computes it anew
 * when that spares a large buffer: when all that the value is made of is read
 * there anyway, when one new input replaces several, or when somebody is to
 * overwrite the value. Members are then ordered depth first, which keeps few
 * registers busy; a value that anybody outside needs becomes a result. */
#include "config.h"

#include "autodiff/fuse_impl.h"

enum { MOST_CONE = 24, MOST_COSTLY = 4, MOST_CANDIDATES = 32, MOST_READS = 64 };

typedef struct collecting {
    ad_fusion *f;
    uint32_t *mark; /* by id: in_set(c), then in_set(c) + 1 when ordered */
    uint32_t stamp; /* of the cluster whose results are listed */
    bool *needed;   /* by id: stored by its own cluster */
    ad_node **stack;
    ad_node **set; /* members of the cluster at hand, clones included */
    size_t n_set, cap_set;
} collecting;

static uint32_t in_set(size_t c)
{
    return 2 * (uint32_t)c + 1;
}

static bool holds(const collecting *k, size_t c, const ad_node *x)
{
    return k->mark[x->id] >= in_set(c);
}

static bool add(collecting *k, size_t c, ad_node *x)
{
    if (k->n_set == k->cap_set)
        return false;
    k->mark[x->id] = in_set(c);
    k->set[k->n_set++] = x;
    return true;
}

/* ---- Recomputing -------------------------------------------------------- */

static bool costly(const ad_node *y)
{
    return y->op != &ad_op_add && y->op != &ad_op_sub && y->op != &ad_op_mul &&
           y->op != &ad_op_div && y->op != &ad_op_neg && y->op != &ad_op_abs &&
           y->op != &ad_op_square && y->op != &ad_op_sqrt &&
           y->op != &ad_op_recip && y->op != &ad_op_min && y->op != &ad_op_max;
}

typedef struct cone {
    ad_node *node[MOST_CONE];
    int n;
    ad_node *leaf[2]; /* large values of its own program that it reads */
    int n_leaf;
} cone;

static bool listed(ad_node *const *list, int n, const ad_node *x)
{
    for (int i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

/* The memory that reading x keeps alive, or NULL. */
static ad_node *kept(ad_node *x, const ad_node *y)
{
    bool repeats = false;
    if (!ad_same_space(x, y))
        return NULL;
    while (ad_node_is_view(x)) {
        repeats |= x->op == &ad_op_broadcast;
        x = x->in[x->op->views];
    }
    return repeats || x->op->flags & AD_LEAF || x->op == &ad_op_constant ||
                   x->op == &ad_op_fill
               ? NULL
               : x;
}

/* What u is made of inside its own cluster; false when that is too much. */
static bool find_cone(const collecting *k, ad_node *u, cone *out)
{
    uint32_t home = k->f->cluster[u->id];
    int n_costly = 0;
    out->n = out->n_leaf = 0;
    out->node[out->n++] = u;
    for (int i = 0; i < out->n; i++) {
        ad_node *y = out->node[i];
        n_costly += costly(y);
        for (int j = 0; j < y->n_in; j++) {
            ad_node *x = y->in[j];
            if (k->f->cluster[x->id] == home) {
                if (listed(out->node, out->n, x))
                    continue;
                if (out->n == MOST_CONE)
                    return false;
                out->node[out->n++] = x;
                continue;
            }
            ad_node *leaf = kept(x, u);
            if (!leaf || listed(out->leaf, out->n_leaf, leaf))
                continue;
            if (out->n_leaf == 2)
                return false;
            out->leaf[out->n_leaf++] = leaf;
        }
    }
    return n_costly <= MOST_COSTLY;
}

static bool overwritten(const ad_fusion *f, const ad_node *u)
{
    for (uint32_t i = f->user_start[u->id]; i < f->user_start[u->id + 1]; i++) {
        const ad_node *c = f->order[f->user[i]];
        for (int j = 0; j < c->n_in && j < 32; j++)
            if (c->in[j] == u && (c->op->overwrites >> j & 1) &&
                !ad_node_is_view(c))
                return true;
    }
    return false;
}

typedef struct candidate {
    ad_node *u;
    cone cone;
    ad_node *missing[2]; /* leaves that the cluster does not read yet */
    int n_missing;
} candidate;

/* Takes the cone of u into the cluster. */
static bool take(collecting *k, size_t c, const cone *x)
{
    for (int i = 0; i < x->n; i++)
        if (!holds(k, c, x->node[i]) && !add(k, c, x->node[i]))
            return false;
    return true;
}

static bool worth_it(const collecting *k, const candidate *all, int n, int i)
{
    const candidate *a = &all[i];
    if (a->n_missing == 0 || (a->n_missing == 1 && overwritten(k->f, a->u)))
        return true;
    int same = 0; /* values that one new input would replace */
    for (int j = 0; j < n && a->n_missing == 1; j++)
        same += all[j].n_missing == 1 && all[j].missing[0] == a->missing[0];
    return same >= 2;
}

static bool is_small(const ad_node *y)
{
    size_t n = 1, d;
    for (int i = 0; i < y->type->rank; i++) {
        if (!ad_dim_is_fixed(y->type->dim[i], &d))
            return false;
        n *= d;
    }
    return n <= 4096;
}

/* The distinct memories that the set reads; direct[i]: never by a view. */
static int find_reads(const collecting *k, size_t c, ad_node **read,
                      bool *direct)
{
    int n = 0;
    for (size_t i = 0; i < k->n_set; i++)
        for (int j = 0; j < k->set[i]->n_in; j++) {
            ad_node *x = k->set[i]->in[j], *m = kept(x, k->set[i]);
            int at = 0;
            if (!m || holds(k, c, x))
                continue;
            while (at < n && read[at] != m)
                at++;
            if (at == MOST_READS)
                continue;
            if (at == n) {
                read[n] = m;
                direct[n++] = true;
            }
            direct[at] &= x == m;
        }
    return n;
}

/* Values of other clusters that the set reads, with what they need. */
static int find_candidates(const collecting *k, size_t c, candidate *all)
{
    ad_node *read[MOST_READS];
    bool direct[MOST_READS];
    int n_read = find_reads(k, c, read, direct), n = 0;
    for (int i = 0; i < n_read && n < MOST_CANDIDATES; i++) {
        candidate *a = &all[n];
        if (!direct[i] || k->f->cluster[read[i]->id] == AD_NO_CLUSTER ||
            !ad_same_space(read[i], k->set[0]) || is_small(read[i]) ||
            !find_cone(k, read[i], &a->cone))
            continue;
        a->u = read[i];
        a->n_missing = 0;
        for (int j = 0; j < a->cone.n_leaf; j++)
            if (!listed(read, n_read, a->cone.leaf[j]))
                a->missing[a->n_missing++] = a->cone.leaf[j];
        n++;
    }
    return n;
}

static bool recompute(collecting *k, size_t c)
{
    candidate all[MOST_CANDIDATES];
    int n = find_candidates(k, c, all);
    bool wanted[MOST_CANDIDATES];
    for (int i = 0; i < n; i++)
        wanted[i] = worth_it(k, all, n, i);
    for (int i = 0; i < n; i++)
        if (wanted[i] && !take(k, c, &all[i].cone))
            return false;
    return true;
}

/* ---- Order -------------------------------------------------------------- */

/* Appends y after everything of the set that it needs. */
static void depth_first(collecting *k, size_t c, ad_node *y, ad_cluster *out)
{
    size_t depth = 0;
    k->stack[depth++] = y;
    while (depth > 0) {
        ad_node *x = k->stack[depth - 1];
        bool ready = true;
        for (int j = 0; j < x->n_in && ready; j++)
            if (k->mark[x->in[j]->id] == in_set(c)) {
                k->stack[depth++] = x->in[j];
                ready = false;
            }
        if (!ready)
            continue;
        depth--;
        if (k->mark[x->id] == in_set(c)) {
            k->mark[x->id] = in_set(c) + 1;
            out->member[out->n_member++] = x;
        }
    }
}

/* Does the set use y itself? Then y's user brings it into the order. */
static bool used_inside(const collecting *k, size_t c, const ad_node *y)
{
    const ad_fusion *f = k->f;
    for (uint32_t i = f->user_start[y->id]; i < f->user_start[y->id + 1]; i++)
        if (holds(k, c, f->order[f->user[i]]))
            return true;
    return false;
}

static bool close_set(collecting *k, size_t c)
{
    ad_cluster *out = &k->f->list[c];
    out->member = ad_arena_alloc(k->f->arena, sizeof(*out->member) * k->n_set);
    if (!out->member)
        return false;
    for (size_t i = 0; i < k->n_set; i++)
        if (!used_inside(k, c, k->set[i]))
            depth_first(k, c, k->set[i], out);
    for (size_t i = 0; i < out->n_member; i++)
        for (int j = 0; j < out->member[i]->n_in; j++)
            if (!holds(k, c, out->member[i]->in[j]))
                k->needed[out->member[i]->in[j]->id] = true;
    return true;
}

/* ---- Results ------------------------------------------------------------ */

static bool absorbed(const ad_node *c)
{
    const ad_reduce_fields *r = c->fields;
    return ad_reduction_of(c) != LA_REDUCE_NONE && r->axes != 0;
}

static void add_result(collecting *k, ad_cluster *out, ad_node *y, ad_node *z)
{
    const ad_reduce_fields *r = z->fields;
    unsigned all = (1u << y->type->rank) - 1;
    ad_cluster_result x = {y, z, LA_REDUCE_NONE, 0};
    if (z != y) {
        x.reduce = ad_reduction_of(z);
        x.axes = (unsigned)r->axes & all;
    }
    out->result[out->n_result++] = x;
    k->mark[y->id] = k->stamp;
}

/* Drops members that no result needs. */
static void prune(collecting *k, ad_cluster *out)
{
    size_t n = out->n_member;
    for (size_t i = n; i-- > 0;) {
        const ad_node *y = out->member[i];
        for (int j = 0; k->mark[y->id] == k->stamp && j < y->n_in; j++)
            k->mark[y->in[j]->id] = k->stamp;
    }
    out->n_member = 0;
    for (size_t i = 0; i < n; i++)
        if (k->mark[out->member[i]->id] == k->stamp)
            out->member[out->n_member++] = out->member[i];
}

static bool add_results(collecting *k, size_t c)
{
    ad_fusion *f = k->f;
    ad_cluster *out = &f->list[c];
    size_t most = 0;
    for (size_t i = 0; i < out->n_member; i++)
        most += 1 + f->user_start[out->member[i]->id + 1] -
                f->user_start[out->member[i]->id];
    out->result = ad_arena_alloc(f->arena, sizeof(*out->result) * (most + 1));
    if (!out->result)
        return false;
    k->stamp++;
    for (size_t i = 0; i < out->n_member; i++) {
        ad_node *y = out->member[i];
        bool stored = k->needed[y->id] || f->is_root[y->id];
        if (f->cluster[y->id] != c)
            continue; /* a clone: its own cluster gives it */
        for (uint32_t u = f->user_start[y->id]; u < f->user_start[y->id + 1];
             u++) {
            ad_node *z = f->order[f->user[u]];
            if (absorbed(z))
                add_result(k, out, y, z);
            else
                stored |= f->cluster[z->id] == AD_NO_CLUSTER;
        }
        if (stored)
            add_result(k, out, y, y);
    }
    prune(k, out);
    return true;
}

/* Lists the nodes by cluster: those of c are home[start[c]] .. [c + 1]. */
static void sort_by_cluster(const ad_fusion *f, size_t *start, ad_node **home)
{
    for (size_t i = 0; i < f->n_order; i++)
        if (f->cluster[f->order[i]->id] != AD_NO_CLUSTER)
            start[f->cluster[f->order[i]->id] + 2]++;
    for (size_t c = 2; c < f->n_cluster + 2; c++)
        start[c] += start[c - 1];
    for (size_t i = 0; i < f->n_order; i++)
        if (f->cluster[f->order[i]->id] != AD_NO_CLUSTER)
            home[start[f->cluster[f->order[i]->id] + 1]++] = f->order[i];
}

bool ad_fuse_members(ad_fusion *f)
{
    collecting k = {.f = f, .cap_set = f->n_order};
    size_t n = f->g->n_node;
    size_t *start =
        ad_arena_alloc(f->arena, sizeof(*start) * (f->n_cluster + 3));
    ad_node **home = ad_arena_alloc(f->arena, sizeof(*home) * (n + 1));
    k.mark = ad_arena_alloc(f->arena, sizeof(*k.mark) * n);
    k.needed = ad_arena_alloc(f->arena, sizeof(*k.needed) * n);
    k.stack = ad_arena_alloc(f->arena, sizeof(*k.stack) * (n + 1));
    k.set = ad_arena_alloc(f->arena, sizeof(*k.set) * (f->n_order + 1));
    f->list = ad_arena_alloc(f->arena, sizeof(*f->list) * (f->n_cluster + 1));
    if (!start || !home || !k.mark || !k.needed || !k.stack || !k.set ||
        !f->list)
        return false;
    sort_by_cluster(f, start, home);
    for (size_t c = 0; c < f->n_cluster; c++) {
        k.n_set = 0;
        for (size_t i = start[c]; i < start[c + 1]; i++)
            if (!add(&k, c, home[i]))
                return false;
        if (!f->single && !recompute(&k, c))
            return false;
        if (!close_set(&k, c))
            return false;
    }
    k.stamp = in_set(f->n_cluster);
    for (size_t c = 0; c < f->n_cluster; c++)
        if (!add_results(&k, c))
            return false;
    return true;
}
