/* Runners: a program, a store and a context, with memory and plans.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run finds the plan of its sizes (the last 8 are kept), moves what pointers
 * have moved, and executes. Memory grows with the largest plan seen and stays;
 * with sizes seen before, a run allocates nothing. */
#include "config.h"

#include "autodiff/program_impl.h"

#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { HUGE_PAGE = 1 << 21 };

/* ---- Memory ------------------------------------------------------------- */

/* Asks for huge pages where a block is large enough to gain from them. */
static void advise(void *p, size_t bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    uintptr_t low = (uintptr_t)p, high = low + bytes;
    low = (low + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    high = high / HUGE_PAGE * HUGE_PAGE;
    if (high > low)
        (void)madvise((void *)low, high - low, MADV_HUGEPAGE);
#else
    (void)p, (void)bytes;
#endif
}

static covar_status grow(ad_runner *r, size_t bytes)
{
    bytes = bytes > 0 ? bytes : 1;
    if (r->memory_bytes >= bytes)
        return COVAR_OK;
    void *p = covar_heap_alloc(r->heap, bytes, 1);
    if (!p)
        return covar_fail(r->ctx, COVAR_ERR_NOMEM,
                          "ad_run: no memory for %zu bytes", bytes);
    advise(p, bytes);
    covar_heap_free(r->heap, r->memory);
    r->memory = p;
    r->memory_bytes = bytes;
    return COVAR_OK;
}

/* ---- Creation ----------------------------------------------------------- */

static covar_status find_params(ad_runner *r)
{
    const ad_program *p = r->program;
    for (uint32_t i = 0; i < p->n_param; i++) {
        const ad_node *x = p->param[i];
        char want[96], have[96];
        r->param[i] =
            r->store ? ad_store_view(r->store, x->name) : la_view_none();
        if (la_view_is_none(r->param[i]))
            return covar_fail(r->ctx, COVAR_ERR_NAME,
                              "ad_runner_create: the store has no '%s'",
                              x->name);
        bool same = r->param[i].dtype == x->type->dtype &&
                    r->param[i].rank == x->type->rank;
        for (int k = 0; same && k < x->type->rank; k++)
            same = ad_dim_same(x->type->dim[k], ad_fixed(r->param[i].dim[k]));
        if (!same)
            return covar_fail(r->ctx, COVAR_ERR_SHAPE,
                              "ad_runner_create: '%s' is %s in the store but "
                              "%s in the program",
                              x->name,
                              la_view_describe(have, sizeof(have), r->param[i]),
                              ad_type_describe(want, sizeof(want), x->type));
    }
    return COVAR_OK;
}

covar_status ad_runner_create(ad_runner **out, ad_program *program,
                              ad_store *store, covar_context *ctx)
{
    if (out)
        *out = NULL;
    if (!out || !program || !ctx)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "ad_runner_create: out, program or context is NULL");
    covar_heap *heap = covar_context_heap(ctx);
    ad_runner *r = covar_heap_calloc(heap, 1, sizeof(*r));
    if (!r)
        return covar_fail_nomem(ctx, "ad_runner_create");
    r->heap = covar_heap_retain(heap);
    r->program = ad_program_retain(program);
    r->store = ad_store_retain(store);
    r->ctx = ctx;
    r->exec = la_exec_cpu(ctx);
    r->param =
        covar_heap_calloc(heap, program->n_param + 1u, sizeof(*r->param));
    covar_status status =
        r->param ? find_params(r) : covar_fail_nomem(ctx, "ad_runner_create");
    if (status != COVAR_OK) {
        ad_runner_free(r);
        return status;
    }
    *out = r;
    return COVAR_OK;
}

void ad_runner_free(ad_runner *r)
{
    if (!r)
        return;
    covar_heap *heap = r->heap;
    for (size_t i = 0; i < r->n_plan; i++)
        ad_plan_free(r->plan[i]);
    covar_heap_free(heap, r->memory);
    covar_heap_free(heap, r->param);
    ad_store_free(r->store);
    ad_program_free(r->program);
    covar_heap_free(heap, r);
    covar_heap_release(heap);
}

/* ---- Finding the plan --------------------------------------------------- */

static bool same_layout(const la_view *a, const la_view *b)
{
    if (a->rank != b->rank || a->dtype != b->dtype)
        return false;
    for (int k = 0; k < a->rank; k++)
        if (a->dim[k] != b->dim[k] || a->stride[k] != b->stride[k])
            return false;
    return true;
}

static bool plan_fits(const ad_program *p, const ad_plan *plan,
                      const la_view *in, const la_view *out)
{
    for (uint32_t i = 0; i < p->n_in; i++)
        if (!same_layout(&plan->in[i], &in[i]))
            return false;
    for (uint32_t j = 0; j < p->n_out; j++)
        if (out ? !same_layout(&plan->out[j], &out[j])
                : !la_view_is_dense(plan->out[j]))
            return false;
    return true;
}

static covar_status make_plan(ad_runner *r, const la_view *in,
                              const la_view *out, ad_plan **found)
{
    COVAR_TRY(ad_plan_create(found, r, in, out));
    size_t at = r->n_plan;
    if (r->n_plan == AD_PLAN_CACHE) {
        at = 0;
        for (size_t i = 1; i < r->n_plan; i++)
            if (r->plan[i]->used < r->plan[at]->used)
                at = i;
        if (r->current == r->plan[at])
            r->current = NULL;
        ad_plan_free(r->plan[at]);
    } else {
        r->n_plan++;
    }
    r->plan[at] = *found;
    return COVAR_OK;
}

static covar_status find_plan(ad_runner *r, const la_view *in,
                              const la_view *out, ad_plan **found)
{
    *found = NULL;
    for (size_t i = 0; i < r->n_plan && !*found; i++)
        if (plan_fits(r->program, r->plan[i], in, out))
            *found = r->plan[i];
    if (!*found)
        COVAR_TRY(make_plan(r, in, out, found));
    (*found)->used = ++r->clock;
    return COVAR_OK;
}

/* ---- Pointing ----------------------------------------------------------- */

static void repoint(ad_plan *plan, size_t base, void *data)
{
    const ad_slot_ref *end = plan->ref + plan->ref_start[base + 1];
    for (ad_slot_ref *f = plan->ref + plan->ref_start[base]; f < end; f++)
        *f->where = (char *)data + f->offset;
}

static bool meet(const void *a, ad_extent x, const void *b, ad_extent y)
{
    uintptr_t p = (uintptr_t)a, q = (uintptr_t)b;
    return p + (uintptr_t)x.low < q + (uintptr_t)y.high &&
           q + (uintptr_t)y.low < p + (uintptr_t)x.high;
}

static covar_status fail_overlap(const ad_runner *r, const char *what,
                                 uint32_t j, const char *with, const char *name)
{
    return covar_fail(r->ctx, COVAR_ERR_ARG,
                      "ad_run: the array of %s %u overlaps that of %s %s", what,
                      j + 1, with, name ? name : "");
}

/* Outputs must not touch inputs, the store or each other; inputs must not
 * touch what updates change. */
static covar_status check_overlap(const ad_runner *r, const ad_plan *plan,
                                  const la_view *in, const la_view *out)
{
    const ad_program *p = r->program;
    const ad_extent *ex = plan->extent, *ey = ex + p->n_in;
    for (uint32_t j = 0; j < p->n_out; j++) {
        for (uint32_t i = 0; i < p->n_in; i++)
            if (meet(out[j].data, ey[j], in[i].data, ex[i]))
                return fail_overlap(r, "output", j, "input", p->in[i]->name);
        for (uint32_t k = 0; k < j; k++)
            if (meet(out[j].data, ey[j], out[k].data, ey[k]))
                return fail_overlap(r, "output", j, "an earlier output", "");
        for (uint32_t k = 0; k < p->n_param; k++)
            if (la_view_overlap(out[j], r->param[k]))
                return fail_overlap(r, "output", j, "parameter",
                                    p->param[k]->name);
    }
    for (uint32_t u = 0; u < p->n_update; u++)
        for (uint32_t i = 0; i < p->n_in; i++)
            if (la_view_overlap(in[i], r->param[p->update[u].param]))
                return fail_overlap(r, "input", i, "the updated parameter",
                                    p->param[p->update[u].param]->name);
    return COVAR_OK;
}

static covar_status fail_missing(const ad_runner *r, const char *what,
                                 uint32_t i)
{
    return covar_fail(r->ctx, COVAR_ERR_ARG, "ad_run: %s %u has no data", what,
                      i + 1);
}

/* Is there data wherever there are elements? */
static covar_status check_data(const ad_runner *r, const ad_plan *plan,
                               const la_view *in, const la_view *out)
{
    const ad_program *p = r->program;
    const ad_extent *ex = plan->extent, *ey = ex + p->n_in;
    for (uint32_t i = 0; i < p->n_in; i++)
        if (!in[i].data && ex[i].high > ex[i].low)
            return fail_missing(r, "input", i);
    for (uint32_t j = 0; j < p->n_out; j++)
        if (!out[j].data && ey[j].high > ey[j].low)
            return fail_missing(r, "output", j);
    return COVAR_OK;
}

static covar_status point(ad_runner *r, ad_plan *plan, const la_view *in,
                          const la_view *out)
{
    const ad_program *p = r->program;
    bool moved = false;
    for (uint32_t i = 0; i < p->n_in; i++)
        moved |= plan->in[i].data != in[i].data;
    for (uint32_t j = 0; j < p->n_out; j++)
        moved |= plan->out[j].data != out[j].data;
    if (plan->arena_base != r->memory) {
        repoint(plan, 0, r->memory);
        plan->arena_base = r->memory;
    }
    if (!moved)
        return COVAR_OK;
    COVAR_TRY(check_data(r, plan, in, out));
    COVAR_TRY(check_overlap(r, plan, in, out));
    for (uint32_t i = 0; i < p->n_in; i++)
        if (plan->in[i].data != in[i].data) {
            repoint(plan, 1u + i, in[i].data);
            plan->in[i].data = in[i].data;
        }
    for (uint32_t j = 0; j < p->n_out; j++)
        if (plan->out[j].data != out[j].data) {
            repoint(plan, 1u + p->n_in + j, out[j].data);
            plan->out[j].data = out[j].data;
        }
    return COVAR_OK;
}

/* ---- Running ------------------------------------------------------------ */

static covar_status bind_run(ad_runner *r, const la_view *in,
                             const la_view *out)
{
    const ad_program *p = r->program;
    ad_plan *plan = r->current;
    if ((p->n_in > 0 && !in) || (p->n_out > 0 && !out))
        return covar_fail(r->ctx, COVAR_ERR_ARG,
                          "ad_run: needs %u inputs and %u outputs", p->n_in,
                          p->n_out);
    if (!plan || !plan_fits(p, plan, in, out)) {
        COVAR_TRY(find_plan(r, in, out, &plan));
        COVAR_TRY(grow(r, plan->bytes));
        r->current = plan;
    }
    return point(r, plan, in, out);
}

static covar_status run_times(ad_runner *r, size_t n_calls, size_t *done)
{
    bool updates = r->program->n_update > 0;
    if (updates && !ad_store_acquire(r->store))
        return covar_fail(r->ctx, COVAR_BUSY,
                          "ad_run: another program is updating the store");
    covar_status status = COVAR_OK;
    for (*done = 0; *done < n_calls && status == COVAR_OK;) {
        status = ad_exec(r, r->current);
        *done += status == COVAR_OK;
    }
    if (updates)
        ad_store_release(r->store);
    return status;
}

covar_status ad_run(ad_runner *r, const la_view *in, const la_view *out)
{
    size_t done;
    if (!r)
        return COVAR_ERR_ARG;
    COVAR_TRY(bind_run(r, in, out));
    return run_times(r, 1, &done);
}

covar_status ad_run_many(ad_runner *r, size_t n_calls, const la_view *in,
                         const la_view *out, size_t *done)
{
    size_t completed = 0;
    if (done)
        *done = 0;
    if (!r)
        return COVAR_ERR_ARG;
    COVAR_TRY(bind_run(r, in, out));
    covar_status status = run_times(r, n_calls, &completed);
    if (done)
        *done = completed;
    return status;
}

covar_status ad_runner_plan(ad_runner *r, const la_view *in, size_t *bytes,
                            size_t *live_bound)
{
    ad_plan *plan = NULL;
    if (!r)
        return COVAR_ERR_ARG;
    if (r->program->n_in > 0 && !in)
        return covar_fail(r->ctx, COVAR_ERR_ARG,
                          "ad_runner_plan: needs %u inputs", r->program->n_in);
    COVAR_TRY(find_plan(r, in, NULL, &plan));
    if (bytes)
        *bytes = plan->bytes;
    if (live_bound)
        *live_bound = plan->live_bound;
    return COVAR_OK;
}

const int32_t *ad_runner_info(const ad_runner *r, const char *name, size_t *n)
{
    const ad_plan *plan = r ? r->current : NULL;
    if (!n)
        return NULL;
    *n = 0;
    for (size_t i = 0; plan && name && i < plan->n_instr; i++) {
        const ad_instr *x = &plan->instr[i];
        if (!x->call.info)
            continue;
        const ad_node *y = x->step->node;
        if ((y->name && strcmp(y->name, name) == 0) ||
            strcmp(y->op->name, name) == 0) {
            *n = x->n_info;
            return x->call.info;
        }
    }
    return NULL;
}
