/* The rewriter: memoised bottom-up passes that rebuild a graph by rules.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A pass visits what the roots need in order of id, inputs before users; each
 * node is applied anew to its new inputs (equal nodes merge on the way) and
 * then replaced by what the first fitting rule makes of it. At most 3 passes
 * a phase and a bounded number of replacements a node: linear in nodes, and it
 * cannot loop. A rule that returns another type is taken not to apply. */
#include "config.h"

#include "autodiff/rewrite_impl.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PASSES = 3, MOST_REPLACEMENTS = 6, DEEPEST_COMPOSITE = 16 };

/* ---- One pass ----------------------------------------------------------- */

static bool add_use(ad_rewriter *rw, const ad_node *z, uint32_t n)
{
    if (z->id >= rw->n_use) {
        size_t size = 2 * (size_t)z->id + 64;
        uint32_t *use = covar_heap_grow(rw->g->heap, rw->use, rw->n_use, size,
                                        sizeof(*use));
        if (!use)
            return false;
        memset(use + rw->n_use, 0, sizeof(*use) * (size - rw->n_use));
        rw->use = use;
        rw->n_use = size;
    }
    rw->use[z->id] += n;
    return true;
}

size_t ad_use_count(const ad_rewriter *rw, const ad_node *x)
{
    size_t n = x->id < rw->n_use ? rw->use[x->id] : 0;
    return n > 0 ? n : 1; /* made in this pass, for the asking rule */
}

/* May y be made again from the same inputs, to be merged with its equals? */
static bool enterable(const ad_node *y)
{
    return !(y->op->flags & (AD_LEAF | AD_RANDOM)) &&
           ad_fields_mergeable(y->op);
}

/* y with new inputs: itself when none has changed. */
static ad_node *reapply(ad_rewriter *rw, ad_node *y)
{
    ad_node *few[8];
    ad_node **in = few;
    bool same = true;
    if (y->n_in > 8)
        in = covar_heap_alloc(rw->g->heap, (size_t)y->n_in, sizeof(*in));
    if (!in) {
        ad_graph_nomem(rw->g);
        return NULL;
    }
    for (int i = 0; i < y->n_in; i++) {
        in[i] = rw->map[y->in[i]->id];
        same &= in[i] == y->in[i];
    }
    ad_node *z = y;
    if (!same || (rw->own && enterable(y)))
        z = ad_apply(rw->g, y->op, y->n_in, in, y->fields);
    if (in != few)
        covar_heap_free(rw->g->heap, in);
    return z;
}

/* The replacement stands for what it replaces: its name, what is known of it.
 */
static void inherit(const ad_rewriter *rw, ad_node *z, const ad_node *y)
{
    if (z == y || z->n_out != y->n_out)
        return;
    for (int k = 0; k < z->n_out; k++)
        z->type[k].facts |= y->type[k].facts;
    bool fresh = z->id >= rw->n_old;
    if ((fresh || rw->own) && !z->name && y->name && y->op != &ad_op_param &&
        y->op != &ad_op_input)
        z->name = y->name;
}

static ad_node *rebuild(ad_rewriter *rw, ad_node *y)
{
    ad_graph *g = rw->g;
    const char *scope = g->scope, *file = g->file;
    int line = g->line;
    g->scope = y->scope;
    g->file = y->file;
    g->line = y->line;
    ad_node *x = reapply(rw, y);
    ad_node *z = x ? rw->visit(rw, x) : NULL;
    g->scope = scope;
    g->file = file;
    g->line = line;
    if (!z)
        return NULL;
    inherit(rw, z, y);
    rw->changed |= z != y;
    return z;
}

/* Marks what the roots need, not looking below opaque nodes, and counts how
 * many users each has. */
static void mark(ad_rewriter *rw, bool *seen, ad_node **stack,
                 ad_node *const *root, size_t n)
{
    size_t depth = 0;
    for (size_t i = 0; i < rw->n_opaque; i++) {
        seen[rw->opaque[i]->id] = true;
        rw->map[rw->opaque[i]->id] = rw->opaque[i];
    }
    for (size_t i = 0; i < n; i++) {
        rw->old_use[root[i]->id]++;
        if (!seen[root[i]->id]) {
            seen[root[i]->id] = true;
            stack[depth++] = root[i];
        }
    }
    while (depth > 0) {
        ad_node *y = stack[--depth];
        for (int i = 0; i < y->n_in; i++) {
            rw->old_use[y->in[i]->id]++;
            if (!seen[y->in[i]->id]) {
                seen[y->in[i]->id] = true;
                stack[depth++] = y->in[i];
            }
        }
    }
}

static bool rebuild_all(ad_rewriter *rw, const bool *seen)
{
    for (size_t id = 0; id < rw->n_old; id++) {
        ad_node *y = rw->g->node[id];
        if (!seen[id])
            continue;
        if (!rw->map[id])
            rw->map[id] = rebuild(rw, y);
        if (!rw->map[id] || !add_use(rw, rw->map[id], rw->old_use[id]))
            return false;
    }
    return true;
}

covar_status ad_rewrite_pass(ad_rewriter *rw, ad_node **root, size_t n)
{
    ad_graph *g = rw->g;
    covar_heap *heap = g->heap;
    size_t n_old = g->n_node;
    bool *seen = covar_heap_calloc(heap, n_old, sizeof(*seen));
    ad_node **stack = covar_heap_alloc(heap, n_old, sizeof(*stack));
    rw->map = covar_heap_calloc(heap, n_old, sizeof(*rw->map));
    rw->old_use = covar_heap_calloc(heap, n_old, sizeof(*rw->old_use));
    rw->use = NULL;
    rw->n_use = 0;
    rw->n_old = n_old;
    rw->changed = false;
    bool ok = seen && stack && rw->map && rw->old_use;
    if (ok) {
        mark(rw, seen, stack, root, n);
        ok = rebuild_all(rw, seen);
    }
    for (size_t i = 0; ok && i < n; i++)
        root[i] = rw->map[root[i]->id];
    covar_heap_free(heap, seen);
    covar_heap_free(heap, stack);
    covar_heap_free(heap, rw->map);
    covar_heap_free(heap, rw->old_use);
    covar_heap_free(heap, rw->use);
    if (ok)
        return COVAR_OK;
    ad_graph_nomem(g); /* unless an error came first */
    return ad_graph_error(g);
}

/* ---- Rules -------------------------------------------------------------- */

const ad_rule *ad_rule_get(size_t i)
{
    static const ad_rule *const tables[] = {
        ad_rules_identity, ad_rules_canonical, ad_rules_shape,
        ad_rules_log,      ad_rules_stable,    ad_rules_linalg,
        ad_rules_diagonal, ad_rules_blas};
    for (size_t t = 0; t < NELEM(tables); t++)
        for (const ad_rule *r = tables[t]; r->name; r++)
            if (i-- == 0)
                return r;
    return NULL;
}

/* A phase also runs the canonical rules, which keep what it makes tidy, and
 * those after derivatives the identity rules: stable forms hold barriers. */
static bool belongs(const ad_rule *r, ad_phase phase)
{
    if (r->phase == AD_PHASE_IDENTITY)
        return phase != AD_PHASE_CANONICAL && phase != AD_PHASE_STABLE;
    return r->phase == phase ||
           (r->phase == AD_PHASE_CANONICAL && phase != AD_PHASE_IDENTITY);
}

static int by_root(const void *a, const void *b)
{
    const ad_rule *const *x = a, *const *y = b;
    uintptr_t p = (uintptr_t)(*x)->root, q = (uintptr_t)(*y)->root;
    if (p != q)
        return p < q ? -1 : 1;
    return (*x)->phase != (*y)->phase ? ((*x)->phase > (*y)->phase ? -1 : 1)
           : *x < *y                  ? -1
                                      : 1;
}

/* First rule of the sorted table whose root is op. */
static size_t first_rule(const ad_rewriter *rw, const ad_op *op)
{
    size_t low = 0, high = rw->n_rule;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if ((uintptr_t)rw->rule[mid]->root < (uintptr_t)op)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static ad_node *apply_rules(ad_rewriter *rw, ad_node *y)
{
    for (int round = 0; round < MOST_REPLACEMENTS; round++) {
        ad_node *z = NULL;
        for (size_t i = first_rule(rw, y->op);
             i < rw->n_rule && rw->rule[i]->root == y->op && !z; i++) {
            z = rw->rule[i]->apply(rw, y);
            if (ad_graph_error(rw->g) != COVAR_OK)
                return NULL;
            if (z && (z == y || z->n_out != 1 || !ad_same_shape(z, y)))
                z = NULL;
        }
        if (!z)
            break;
        inherit(rw, z, y);
        y = z;
        if (z->id < rw->n_old)
            return z; /* has its form already, or is not to be touched */
    }
    return ad_fold_constants(rw->g, y);
}

covar_status ad_rewrite_opaque(ad_graph *g, ad_phase phase, ad_node **root,
                               size_t n, ad_node *const *opaque,
                               size_t n_opaque)
{
    const ad_rule *rule[AD_RULE_MOST];
    ad_rewriter rw = {.g = g,
                      .visit = apply_rules,
                      .rule = rule,
                      .own = phase == AD_PHASE_IDENTITY,
                      .opaque = opaque,
                      .n_opaque = n_opaque};
    const ad_rule *r;
    for (size_t i = 0; (r = ad_rule_get(i)) && rw.n_rule < NELEM(rule); i++)
        if (belongs(r, phase))
            rule[rw.n_rule++] = r;
    qsort(rule, rw.n_rule, sizeof(rule[0]), by_root);
    rw.changed = true;
    for (int pass = 0; pass < MOST_PASSES && rw.changed; pass++) {
        COVAR_TRY(ad_rewrite_pass(&rw, root, n));
        rw.own = false; /* every node has been entered by now */
    }
    return COVAR_OK;
}

covar_status ad_rewrite(ad_graph *g, ad_phase phase, ad_node **root, size_t n)
{
    return ad_rewrite_opaque(g, phase, root, n, NULL, 0);
}

/* ---- Composites --------------------------------------------------------- */

static bool is_composite(const ad_node *y)
{
    return y->op->flags & AD_COMPOSITE && y->op->expand;
}

/* The node itself stays for its projections, which take its parts. */
static ad_node *expand_visit(ad_rewriter *rw, ad_node *y)
{
    ad_node *const *part;
    (void)rw;
    if (y->op == &ad_op_out && is_composite(y->in[0])) {
        const ad_out_fields *f = y->fields;
        part = ad_expand_node(y->in[0]);
        return part ? part[f->index] : NULL;
    }
    if (y->n_out != 1 || !is_composite(y))
        return y;
    part = ad_expand_node(y);
    return part ? part[0] : NULL;
}

covar_status ad_expand_composites(ad_graph *g, ad_node **root, size_t n)
{
    ad_rewriter rw = {.g = g, .visit = expand_visit};
    rw.changed = true;
    for (int pass = 0; pass < DEEPEST_COMPOSITE && rw.changed; pass++)
        COVAR_TRY(ad_rewrite_pass(&rw, root, n));
    return COVAR_OK;
}
