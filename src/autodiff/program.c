/* Programs: from a graph and a signature to steps in order.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything happens on a private copy of what the outputs need, so that the
 * program outlives its graph and the graph is left as it was. Phases: names
 * and equal nodes, canonical, stable, composites, linear algebra and products
 * (each with the canonical rules), fusion, order. Sizes stay symbolic. */
#include "config.h"

#include "autodiff/ops/ops.h"
#include "autodiff/program_impl.h"

#include <string.h>

/* A signature sorted out. */
typedef struct request {
    covar_context *ctx;
    ad_graph *g;
    ad_node **in, **root, **param; /* root: outputs, update values */
    size_t n_in, n_out, n_update;
    ad_compile_options options;
} request;

/* ---- The signature ------------------------------------------------------ */

static covar_status fail_slot(const request *q, size_t i, const char *what)
{
    return covar_fail(q->ctx, COVAR_ERR_ARG, "ad_compile: slot %zu %s", i + 1,
                      what);
}

static bool same_type(const ad_graph *g, const ad_type *a, const ad_type *b)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int k = 0; same && k < a->rank; k++)
        same = ad_dims_equal(g, a->dim[k], b->dim[k]);
    return same;
}

static covar_status check_update(const request *q, size_t i, const ad_slot *s)
{
    char want[128], have[128];
    if (s->node->op != &ad_op_param)
        return fail_slot(q, i, "updates a node that is no parameter");
    if (!s->value)
        return fail_slot(q, i, "has no value for its parameter (NULL)");
    if (s->value->graph != q->g)
        return fail_slot(q, i, "has a value of another graph");
    if (s->value->n_out != 1)
        return fail_slot(q, i, "has a node with several values: use ad_out");
    if (!same_type(q->g, s->node->type, s->value->type))
        return covar_fail(q->ctx, COVAR_ERR_SHAPE,
                          "ad_compile: parameter '%s' is %s but its update "
                          "is %s",
                          s->node->name,
                          ad_type_describe(want, sizeof(want), s->node->type),
                          ad_type_describe(have, sizeof(have), s->value->type));
    return COVAR_OK;
}

static covar_status check_slot(const request *q, size_t i, const ad_slot *slot)
{
    const ad_slot *s = &slot[i];
    if (!s->node)
        return fail_slot(q, i, "has no node (NULL)");
    if (s->kind != AD_SLOT_IN && s->kind != AD_SLOT_OUT &&
        s->kind != AD_SLOT_UPDATE)
        return fail_slot(q, i, "is of no kind");
    if (s->node->graph != q->g)
        return fail_slot(q, i, "has a node of another graph");
    if (s->kind == AD_SLOT_IN && !(s->node->op->flags & AD_LEAF))
        return fail_slot(q, i, "is an input but its node is not (ad_input)");
    if (s->kind == AD_SLOT_OUT && s->node->n_out != 1)
        return fail_slot(q, i, "has a node with several values: use ad_out");
    if (s->kind == AD_SLOT_UPDATE)
        COVAR_TRY(check_update(q, i, s));
    for (size_t j = 0; s->kind != AD_SLOT_OUT && j < i; j++)
        if (slot[j].kind == s->kind && slot[j].node == s->node)
            return covar_fail(q->ctx, COVAR_ERR_ARG,
                              "ad_compile: slots %zu and %zu are both '%s'",
                              j + 1, i + 1, s->node->name ? s->node->name : "");
    return COVAR_OK;
}

/* Sorts the slots by kind; the arrays have room for all. */
static covar_status read_signature(request *q, const ad_signature *signature)
{
    const ad_slot *slot = signature->slots;
    for (size_t i = 0; i < signature->n; i++)
        COVAR_TRY(check_slot(q, i, slot));
    for (size_t i = 0; i < signature->n; i++) {
        if (slot[i].kind == AD_SLOT_IN)
            q->in[q->n_in++] = slot[i].node;
        if (slot[i].kind == AD_SLOT_OUT)
            q->root[q->n_out++] = slot[i].node;
        if (slot[i].kind == AD_SLOT_UPDATE)
            q->param[q->n_update++] = slot[i].node;
    }
    for (size_t i = 0, u = 0; i < signature->n; i++)
        if (slot[i].kind == AD_SLOT_UPDATE)
            q->root[q->n_out + u++] = slot[i].value;
    return COVAR_OK;
}

/* ---- The private copy --------------------------------------------------- */

static ad_node **pick(ad_program *p, ad_node *const *x, size_t n,
                      ad_node *const *map)
{
    ad_node **copy = ad_arena_alloc(p->g->arena, sizeof(*copy) * (n + 1));
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = map[x[i]->id];
    return copy;
}

static covar_status nomem(const request *q)
{
    return covar_fail_nomem(q->ctx, "ad_compile");
}

static covar_status import_all(ad_program *p, const request *q, ad_node ***root)
{
    size_t n_root = q->n_out + q->n_update;
    ad_node **map = covar_heap_calloc(p->heap, q->g->n_node, sizeof(*map));
    if (!map)
        return nomem(q);
    covar_status status = ad_graph_import(p->g, q->root, n_root, map);
    if (status == COVAR_OK)
        status = ad_graph_import(p->g, q->in, q->n_in, map);
    if (status == COVAR_OK)
        status = ad_graph_import(p->g, q->param, q->n_update, map);
    if (status == COVAR_OK) {
        *root = pick(p, q->root, n_root, map);
        p->in = pick(p, q->in, q->n_in, map);
        p->param = pick(p, q->param, q->n_update, map);
        p->out = ad_arena_alloc(p->g->arena, sizeof(*p->out) * (q->n_out + 1));
        p->update =
            ad_arena_alloc(p->g->arena, sizeof(*p->update) * (q->n_update + 1));
        if (!*root || !p->in || !p->param || !p->out || !p->update)
            status = nomem(q);
    }
    covar_heap_free(p->heap, map);
    p->n_in = (uint32_t)q->n_in;
    p->n_out = (uint32_t)q->n_out;
    p->n_update = p->n_param = (uint32_t)q->n_update;
    for (uint32_t u = 0; status == COVAR_OK && u < p->n_update; u++)
        p->update[u].param = u;
    return status;
}

/* Every free leaf that the roots need must be in the list. */
static covar_status check_leaves(const ad_program *p, const request *q,
                                 ad_node *const *root)
{
    size_t n;
    ad_node **order = ad_topological(p->g, root, q->n_out + q->n_update, &n);
    if (!order)
        return nomem(q);
    covar_status status = COVAR_OK;
    for (size_t i = 0; i < n && status == COVAR_OK; i++) {
        const ad_node *x = order[i];
        bool listed = !(x->op->flags & AD_LEAF) || x->op == &ad_op_param;
        for (uint32_t j = 0; j < p->n_in && !listed; j++)
            listed = p->in[j] == x;
        if (!listed)
            status = covar_fail(q->ctx, COVAR_ERR_ARG,
                                "ad_compile: the outputs need %s '%s', which "
                                "the signature lacks",
                                x->op->name, x->name ? x->name : "");
    }
    covar_heap_free(p->heap, order);
    return status;
}

/* ---- Phases ------------------------------------------------------------- */

static covar_status transform(ad_program *p, const request *q, ad_node **root)
{
    static const ad_phase early[] = {AD_PHASE_CANONICAL, AD_PHASE_STABLE};
    static const ad_phase late[] = {AD_PHASE_LINALG, AD_PHASE_BLAS};
    ad_graph *g = p->g;
    size_t n = q->n_out + q->n_update;
    bool rules = !q->options.no_rewrite;
    COVAR_TRY(ad_rewrite(g, AD_PHASE_IDENTITY, root, n));
    for (size_t i = 0; rules && i < NELEM(early); i++)
        COVAR_TRY(ad_rewrite(g, early[i], root, n));
    COVAR_TRY(ad_expand_composites(g, root, n));
    for (size_t i = 0; rules && i < NELEM(late); i++)
        COVAR_TRY(ad_rewrite(g, late[i], root, n));
    return ad_fuse(g, root, n, q->options.no_fuse);
}

static covar_status compile(ad_program **out, const request *q);

/* Programs of the bodies that steps hold. */
static covar_status compile_bodies(ad_program *p, const request *q)
{
    for (uint32_t s = 0; s < p->n_step; s++) {
        const ad_node *y = p->step[s].node;
        const ad_body *b = NULL;
        for (const ad_field *f = y->op->fields; f && f->name; f++)
            if (f->kind == AD_FIELD_BODY)
                memcpy(&b, (const char *)y->fields + f->offset, sizeof(b));
        if (!b)
            continue;
        request child = {.ctx = q->ctx,
                         .g = b->g,
                         .in = b->in,
                         .root = b->out,
                         .n_in = (size_t)b->n_in,
                         .n_out = (size_t)b->n_out,
                         .options = q->options};
        COVAR_TRY(compile(&p->step[s].body, &child));
    }
    return COVAR_OK;
}

static covar_status build(ad_program *p, const request *q)
{
    ad_node **root = NULL;
    COVAR_TRY(import_all(p, q, &root));
    COVAR_TRY(check_leaves(p, q, root));
    covar_status status = transform(p, q, root);
    if (status == COVAR_OK)
        status = ad_program_lower(p, root);
    if (status == COVAR_OK)
        status = ad_program_order(p);
    if (status == COVAR_ERR_NOMEM)
        return nomem(q);
    COVAR_TRY(status);
    return compile_bodies(p, q);
}

/* The copy must not keep what the program is meant to outlive. */
static void detach(ad_graph *g)
{
    ad_store_free(g->store);
    g->store = NULL;
    g->ctx = NULL;
}

static covar_status compile(ad_program **out, const request *q)
{
    covar_heap *heap = covar_context_heap(q->ctx);
    ad_program *p = covar_heap_calloc(heap, 1, sizeof(*p));
    *out = NULL;
    if (!p)
        return nomem(q);
    atomic_init(&p->count, 1);
    p->heap = covar_heap_retain(heap);
    p->fail_mark = q->options.fail_mark;
    ad_graph from = *q->g; /* a body's graph may have lost its context */
    from.ctx = q->ctx;
    covar_status status = ad_graph_like(&p->g, &from);
    if (status == COVAR_OK)
        status = build(p, q);
    if (p->g)
        detach(p->g);
    if (status != COVAR_OK) {
        ad_program_free(p);
        return status;
    }
    *out = p;
    return COVAR_OK;
}

covar_status ad_compile(ad_program **out, ad_graph *g,
                        const ad_signature *signature,
                        const ad_compile_options *options)
{
    if (out)
        *out = NULL;
    if (!g)
        return COVAR_POISONED;
    if (!out)
        return covar_fail(g->ctx, COVAR_ERR_ARG, "ad_compile: out is NULL");
    if (ad_graph_error(g) != COVAR_OK)
        return covar_fail(g->ctx, ad_graph_error(g), "%s",
                          ad_graph_error_text(g));
    if (!signature || (signature->n > 0 && !signature->slots))
        return covar_fail(g->ctx, COVAR_ERR_ARG, "ad_compile: no signature");
    request q = {.ctx = g->ctx, .g = g};
    if (options)
        q.options = *options;
    size_t n = signature->n;
    ad_node **room = covar_heap_calloc(g->heap, 3 * n + 1, sizeof(*room));
    if (!room)
        return nomem(&q);
    q.in = room;
    q.root = room + n;
    q.param = room + 2 * n;
    covar_status status = read_signature(&q, signature);
    if (status == COVAR_OK)
        status = compile(out, &q);
    covar_heap_free(g->heap, room);
    return status;
}

/* ---- Ownership and counts ----------------------------------------------- */

ad_program *ad_program_retain(ad_program *p)
{
    if (p)
        atomic_fetch_add_explicit(&p->count, 1, memory_order_relaxed);
    return p;
}

void ad_program_free(ad_program *p)
{
    if (!p ||
        atomic_fetch_sub_explicit(&p->count, 1, memory_order_acq_rel) != 1)
        return;
    covar_heap *heap = p->heap;
    for (uint32_t s = 0; p->step && s < p->n_step; s++)
        ad_program_free(p->step[s].body);
    ad_graph_free(p->g);
    covar_heap_free(heap, p);
    covar_heap_release(heap);
}

size_t ad_program_step_count(const ad_program *p)
{
    return p ? p->n_step : 0;
}

static size_t count_rows(const ad_fused *fused, const char *name)
{
    size_t n = 0;
    for (int i = 0; i < fused->n_row; i++)
        n += strcmp(la_map_name((la_map_row)fused->row[i]), name) == 0;
    return n;
}

size_t ad_program_count(const ad_program *p, const char *name)
{
    size_t n = 0;
    for (uint32_t s = 0; p && name && s < p->n_step; s++) {
        const ad_node *y = p->step[s].node;
        n += strcmp(y->op->name, name) == 0;
        if (y->op == &ad_op_fused)
            n += count_rows(((const ad_fused_fields *)y->fields)->fused, name);
    }
    return n;
}
