/* Plans: a program bound to one tuple of sizes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Emits the instructions, places the memory, and sorts every pointer that may
 * move by what it points into, so that moving an array costs one pass over
 * its own pointers. */
#include "config.h"

#include "autodiff/emit_impl.h"

static covar_status nomem(const ad_runner *r)
{
    return covar_fail_nomem(r->ctx, "ad_run");
}

void ad_plan_free(ad_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->n_body; i++)
        ad_runner_free(plan->body[i]);
    ad_arena_free(plan->arena); /* holds the plan itself */
}

/* Room for the worst case: a copy for every operand. */
static bool reserve(ad_emitter *e)
{
    const ad_program *p = e->p;
    size_t n_operand = 0, n_step = p->n_step, n_body = 0;
    for (size_t s = 0; s < n_step; s++) {
        n_operand += (size_t)p->step[s].n_in + (size_t)p->step[s].n_out;
        n_body += p->step[s].body != NULL;
    }
    size_t n_result = (size_t)p->n_out + 2 * (size_t)p->n_update;
    size_t n_copy = n_operand + p->n_value + n_result;
    size_t n_instr = n_step + n_copy;
    ad_plan *plan = e->plan;
    ad_arena *a = e->scratch;
    plan->instr =
        ad_arena_alloc(plan->arena, sizeof(*plan->instr) * (n_instr + 1));
    plan->body =
        ad_arena_alloc(plan->arena, sizeof(ad_runner *) * (n_body + 1));
    e->state = ad_arena_alloc(a, sizeof(*e->state) * ((size_t)p->n_value + 1));
    e->stack = ad_arena_alloc(a, sizeof(*e->stack) * ((size_t)p->n_value + 1));
    e->storage = ad_arena_alloc(a, sizeof(*e->storage) *
                                       (n_instr + n_operand + p->n_value + 1));
    e->ref = ad_arena_alloc(a, sizeof(*e->ref) *
                                   (n_operand + n_step + 2 * n_copy + 1));
    return plan->instr && plan->body && e->state && e->stack && e->storage &&
           e->ref;
}

/* ---- Inputs and outputs ------------------------------------------------- */

static ad_extent extent_of(la_view x)
{
    ad_extent e = {0, 0};
    ptrdiff_t size = (ptrdiff_t)la_dtype_size(x.dtype);
    if (la_view_count(x) == 0)
        return e;
    e.high = size;
    for (int k = 0; k < x.rank; k++) {
        ptrdiff_t span = (ptrdiff_t)(x.dim[k] - 1) * x.stride[k] * size;
        e.low += span < 0 ? span : 0;
        e.high += span > 0 ? span : 0;
    }
    return e;
}

/* Checks the output views, or makes dense ones without data. */
static covar_status bind_outputs(ad_emitter *e, const la_view *out)
{
    const ad_program *p = e->p;
    for (uint32_t j = 0; j < p->n_out; j++) {
        const ad_value_info *v = &p->value[p->out[j]];
        const ad_type *t = &v->node->type[v->out];
        size_t dim[LA_MAX_DIMS];
        char a[128], b[128];
        COVAR_TRY(ad_emit_dims(e, t, dim));
        la_view dense = la_view_dense(NULL, t->dtype, t->rank, dim);
        e->plan->out[j] = out ? out[j] : dense;
        if (!out)
            continue;
        if (out[j].dtype != t->dtype || !la_view_same_dims(out[j], dense))
            return covar_fail(e->r->ctx,
                              out[j].dtype != t->dtype ? COVAR_ERR_DTYPE
                                                       : COVAR_ERR_SHAPE,
                              "ad_run: output %u%s%s is %s, but its array "
                              "is %s",
                              j + 1, v->node->name ? " " : "",
                              v->node->name ? v->node->name : "",
                              la_view_describe(a, sizeof(a), dense),
                              la_view_describe(b, sizeof(b), out[j]));
        if (!out[j].data && la_view_count(dense) > 0)
            return covar_fail(e->r->ctx, COVAR_ERR_ARG,
                              "ad_run: output %u has no array", j + 1);
    }
    return COVAR_OK;
}

static covar_status bind(ad_emitter *e, const la_view *in, const la_view *out)
{
    const ad_program *p = e->p;
    ad_plan *plan = e->plan;
    size_t n_symbol = ad_dim_symbol_count(p->g->dims);
    bool *bound = ad_arena_alloc(e->scratch, sizeof(*bound) * (n_symbol + 1));
    plan->symbol =
        ad_arena_alloc(plan->arena, sizeof(*plan->symbol) * (n_symbol + 1));
    plan->in = ad_arena_alloc(plan->arena, sizeof(la_view) * (p->n_in + 1u));
    plan->out = ad_arena_alloc(plan->arena, sizeof(la_view) * (p->n_out + 1u));
    plan->extent = ad_arena_alloc(
        plan->arena, sizeof(ad_extent) * ((size_t)p->n_in + p->n_out + 1));
    if (!bound || !plan->symbol || !plan->in || !plan->out || !plan->extent)
        return nomem(e->r);
    for (size_t i = 0; i < n_symbol; i++)
        plan->symbol[i] = AD_UNBOUND;
    COVAR_TRY(ad_bind_sizes(e->r, in, plan->symbol, bound));
    COVAR_TRY(bind_outputs(e, out));
    for (uint32_t i = 0; i < p->n_in; i++) {
        plan->in[i] = in[i];
        plan->extent[i] = extent_of(in[i]);
        plan->in[i].data = NULL; /* not yet pointing anywhere */
    }
    for (uint32_t j = 0; j < p->n_out; j++) {
        plan->extent[p->n_in + j] = extent_of(plan->out[j]);
        plan->out[j].data = NULL;
    }
    return COVAR_OK;
}

/* ---- Memory ------------------------------------------------------------- */

static covar_status place_memory(ad_emitter *e)
{
    ad_interval *x =
        ad_arena_alloc(e->scratch, sizeof(*x) * (e->n_storage + 1));
    if (!x)
        return nomem(e->r);
    size_t n = 0;
    for (size_t i = 0; i < e->n_storage; i++) {
        ad_storage *m = &e->storage[i];
        if (m->base == AD_BASE_ARENA && m->birth != UINT32_MAX)
            x[n++] = (ad_interval){m->bytes, m->birth, m->death, 0};
    }
    covar_heap *heap = e->r->heap;
    covar_status status =
        ad_plan_offsets(heap, x, n, &e->plan->bytes, &e->plan->live_bound);
    if (status != COVAR_OK)
        return nomem(e->r);
    n = 0;
    for (size_t i = 0; i < e->n_storage; i++) {
        ad_storage *m = &e->storage[i];
        if (m->base == AD_BASE_ARENA && m->birth != UINT32_MAX)
            m->offset = x[n++].offset;
    }
    return COVAR_OK;
}

/* Sorts the moving pointers by base (a counting sort); sets the others. */
static covar_status sort_refs(ad_emitter *e)
{
    ad_plan *plan = e->plan;
    size_t n_base = (size_t)AD_BASE_INPUT + e->p->n_in + e->p->n_out;
    size_t n = 0;
    plan->ref_start =
        ad_arena_alloc(plan->arena, sizeof(size_t) * (n_base + 2));
    plan->ref =
        ad_arena_alloc(plan->arena, sizeof(*plan->ref) * (e->n_ref + 1));
    if (!plan->ref_start || !plan->ref)
        return nomem(e->r);
    size_t *start = plan->ref_start;
    for (size_t i = 0; i < e->n_ref; i++) {
        uint32_t base = e->storage[e->ref[i].storage].base;
        if (base != AD_FIXED)
            start[base + 2]++; /* one ahead: becomes the filling position */
    }
    for (size_t b = 2; b < n_base + 2; b++)
        start[b] += start[b - 1];
    for (size_t i = 0; i < e->n_ref; i++) {
        const ad_raw_ref *f = &e->ref[i];
        const ad_storage *m = &e->storage[f->storage];
        if (m->base == AD_FIXED)
            *f->where = m->origin + f->offset;
        else
            plan->ref[start[m->base + 1]++] =
                (ad_slot_ref){f->where, m->offset + f->offset};
        n++;
    }
    return COVAR_OK;
}

static covar_status fill(ad_emitter *e, const la_view *in, const la_view *out)
{
    COVAR_TRY(bind(e, in, out));
    if (!reserve(e))
        return nomem(e->r);
    ad_emit_leaves(e, in);
    for (uint32_t s = 0; s < e->p->n_step; s++)
        COVAR_TRY(ad_emit_step(e, s));
    COVAR_TRY(ad_emit_results(e, e->plan->out));
    COVAR_TRY(place_memory(e));
    return sort_refs(e);
}

covar_status ad_plan_create(ad_plan **out_plan, ad_runner *r, const la_view *in,
                            const la_view *out)
{
    ad_arena *arena = ad_arena_create(r->heap);
    ad_arena *scratch = ad_arena_create(r->heap);
    ad_plan *plan = NULL;
    covar_status status = COVAR_ERR_NOMEM;
    *out_plan = NULL;
    if (arena && scratch)
        plan = ad_arena_alloc(arena, sizeof(*plan));
    if (plan) {
        plan->arena = arena;
        plan->runner = r;
        ad_emitter e = {
            .r = r, .p = r->program, .plan = plan, .scratch = scratch};
        status = fill(&e, in, out);
    }
    ad_arena_free(scratch);
    if (!plan)
        nomem(r);
    if (status != COVAR_OK) {
        if (plan)
            ad_plan_free(plan);
        else
            ad_arena_free(arena);
        return status;
    }
    *out_plan = plan;
    return COVAR_OK;
}
