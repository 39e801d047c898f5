/* Plans of map programs.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/map_plan.h"

enum {
    ROW_LENGTH = 64,      /* shorter rows are gathered */
    CHUNK_BLOCKS = 32,    /* of a chunk without reductions */
    CHUNK_ELEMENTS = 8192 /* at least, in one with reductions */
};

static const double thread_ns = 20000; /* work that a thread is worth */
static const double mirror_ns = 1;     /* to copy an element across */

static int operand_of_result(const la_map_plan *p, int k)
{
    return p->code->n_in + k;
}

/* Strides of result k over all dims: of its elements if it is stored, of its
 * accumulators if it is reduced. */
static void result_strides(la_map_plan *p, int k, int rank, const size_t *dim,
                           ptrdiff_t *stride)
{
    const la_map_result *r = &p->code->results[k];
    ptrdiff_t step = 1;
    for (int i = rank; i-- > 0;) {
        if (r->reduce == LA_REDUCE_NONE) {
            stride[i] = p->out[k].stride[i];
        } else {
            const bool gone = r->axes >> i & 1;
            stride[i] = gone ? 0 : step;
            step *= gone ? 1 : (ptrdiff_t)dim[i];
        }
    }
    if (r->reduce == LA_REDUCE_NONE)
        return;
    p->acc_start[k] = p->n_acc;
    p->n_acc += (size_t)step;
}

/* Steps in every dim: fit to lead the order of the dims. */
static bool can_lead(const la_nest *nest, int k)
{
    for (int i = 0; i < nest->rank; i++)
        if (nest->dim[i] > 1 && nest->stride[k][i] == 0)
            return false;
    return true;
}

static void sort_nest(la_map_plan *p)
{
    const int n_in = p->code->n_in;
    for (int k = 0; k < p->nest.n; k++) {
        const int lead = (k + n_in) % p->nest.n; /* results first */
        if (can_lead(&p->nest, lead)) {
            la_nest_sort(&p->nest, lead);
            return;
        }
    }
}

static void build_nest(la_map_plan *p, int rank, const size_t *dim)
{
    la_nest_init(&p->nest, rank, dim);
    for (int k = 0; k < p->code->n_in; k++)
        la_nest_add(&p->nest, p->in[k].stride);
    for (int k = 0; k < p->code->n_result; k++) {
        ptrdiff_t stride[LA_MAX_DIMS];
        result_strides(p, k, rank, dim, stride);
        la_nest_add(&p->nest, stride);
    }
    if (p->nest.n > 0)
        sort_nest(p);
    if (!p->triangle)
        la_nest_collapse(&p->nest);
    p->total = la_nest_count(&p->nest);
    p->row = p->nest.dim[p->nest.rank - 1];
    p->long_rows = p->row >= ROW_LENGTH || p->nest.rank == 1;
}

static la_map_access access_of(const la_map_plan *p, int operand)
{
    const la_nest *nest = &p->nest;
    const ptrdiff_t *s = nest->stride[operand];
    const int last = nest->rank - 1;
    bool uniform = true, dense = true;
    ptrdiff_t step = 1;
    for (int i = last; i >= 0; i--) {
        uniform = uniform && s[i] == 0;
        dense = dense && (s[i] == step || nest->dim[i] == 1);
        step *= (ptrdiff_t)nest->dim[i];
    }
    if (uniform)
        return LA_MAP_UNIFORM;
    if (dense)
        return LA_MAP_DENSE;
    if (!p->long_rows || (s[last] != 0 && s[last] != 1))
        return LA_MAP_GATHER;
    return s[last] == 1 ? LA_MAP_ROW : LA_MAP_REPEAT;
}

/* Which results are written by the step that computes them, and which inputs
 * must be copied first because such a write comes before their last use. */
static void find_targets(la_map_plan *p)
{
    const la_map_code *c = p->code;
    int last_read[LA_MAP_MAX_REG];
    for (int r = 0; r < c->n_reg; r++) {
        p->last_write[r] = p->target[r] = -1;
        p->stage[r] = false;
        last_read[r] = -1;
    }
    for (int i = 0; i < c->n_step; i++) {
        const la_map_step *s = &c->steps[i];
        for (int k = 0; k < la_row_arity(s->row); k++)
            last_read[la_step_operand(s, k)] = i;
        p->last_write[s->out] = (int16_t)i;
    }
    for (int k = c->n_result; k-- > 0;) {
        const la_map_result *r = &c->results[k];
        const la_map_access a = p->access[operand_of_result(p, k)];
        last_read[r->reg] = c->n_step;
        if (r->reduce == LA_REDUCE_NONE && p->last_write[r->reg] >= 0 &&
            (a == LA_MAP_DENSE || a == LA_MAP_ROW))
            p->target[r->reg] = (int8_t)k;
    }
    for (int k = 0; k < c->n_result; k++)
        for (int j = 0; j < c->n_in; j++) {
            const int written = p->last_write[c->results[k].reg];
            if (last_read[j] > written && la_view_overlap(p->in[j], p->out[k]))
                p->stage[j] = true;
        }
}

static int new_slot(la_map_plan *p, bool needed)
{
    return needed ? p->n_slot++ : -1;
}

static void assign_slots(la_map_plan *p)
{
    const la_map_code *c = p->code;
    for (int r = 0; r < c->n_reg; r++) {
        const bool input = r < c->n_in;
        const bool copied =
            input && (p->stage[r] || p->access[r] == LA_MAP_GATHER);
        p->slot[r] = (int8_t)new_slot(p, copied || p->last_write[r] >= 0);
    }
    for (int k = 0; k < c->n_result; k++) {
        const la_map_access a = p->access[operand_of_result(p, k)];
        const bool reduced = c->results[k].reduce != LA_REDUCE_NONE;
        p->out_slot[k] = (int8_t)new_slot(p, reduced || a == LA_MAP_GATHER);
    }
}

static void choose_block(la_map_plan *p, size_t scratch)
{
    const size_t splats = (size_t)p->code->n_reg * LA_MAP_SPLAT;
    size_t bytes = LA_MAP_BLOCK_BYTES;
    while (p->n_slot > 0 && bytes > 4 * LA_MAP_SPLAT &&
           splats + (size_t)p->n_slot * bytes > scratch)
        bytes /= 2;
    p->block = bytes / p->size;
}

/* What one element costs. */
static double element_ns(const la_map_code *code)
{
    double ns = 0.3 * code->n_result;
    for (int i = 0; i < code->n_step; i++)
        ns += la_row_cost(code->steps[i].row);
    return ns;
}

/* Does it pay to compute half of the elements and copy the other half? */
static bool is_triangle(const la_map_code *code, const size_t *dim)
{
    if (!code->symmetric || dim[0] < ROW_LENGTH)
        return false;
    int stored = 0;
    for (int k = 0; k < code->n_result; k++)
        stored += code->results[k].reduce == LA_REDUCE_NONE;
    return element_ns(code) > 2 * mirror_ns * stored;
}

static bool outermost_is_kept(const la_map_plan *p)
{
    for (int k = 0; k < p->code->n_result; k++)
        if (p->code->results[k].reduce != LA_REDUCE_NONE &&
            p->nest.stride[operand_of_result(p, k)][0] == 0)
            return false;
    return true;
}

static void choose_chunks(la_map_plan *p, const la_exec *exec, size_t max_acc)
{
    p->private_acc = false;
    p->chunk = CHUNK_BLOCKS * p->block;
    if (p->total == 0) {
        p->chunk = 0;
    } else if (p->n_acc > 0 && outermost_is_kept(p)) {
        const size_t step = p->total / p->nest.dim[0];
        const size_t n = CHUNK_ELEMENTS / step;
        p->chunk = (n > 0 ? n : 1) * step;
    } else if (p->n_acc > 0) {
        size_t n = p->total / CHUNK_ELEMENTS;
        n = n < LA_MAP_PRIVATE_CHUNKS ? n : LA_MAP_PRIVATE_CHUNKS;
        n = n < max_acc / p->n_acc ? n : max_acc / p->n_acc;
        n = n > 0 ? n : 1;
        p->private_acc = true;
        p->chunk = (p->total + n - 1) / n;
        p->chunk += (p->block - p->chunk % p->block) % p->block;
    }
    if (p->triangle && p->chunk > 0)
        p->chunk += (p->row - p->chunk % p->row) % p->row;
    const double part = p->triangle ? 0.5 : 1;
    const double ns = part * element_ns(p->code) * (double)p->total;
    const double useful = ns / thread_ns;
    p->threads = useful < exec->threads ? (int)useful : exec->threads;
    p->threads = p->threads > 1 ? p->threads : 1;
    if (p->n_acc == 0 && p->threads == 1)
        p->chunk = p->total;
    p->n_chunk = p->total == 0 ? 0 : (p->total + p->chunk - 1) / p->chunk;
}

void la_map_plan_init(la_map_plan *plan, const la_exec *exec,
                      const la_map_code *code, int rank, const size_t *dim,
                      const la_view *in, const la_view *out, size_t max_acc,
                      size_t scratch)
{
    plan->code = code;
    plan->kernels =
        la_map_kernels_of(covar_context_isa(exec->ctx), code->dtype);
    plan->in = in;
    plan->out = out;
    plan->size = la_dtype_size(code->dtype);
    plan->lanes = LA_MAP_SPLAT / plan->size;
    plan->n_acc = 0;
    plan->n_slot = 0;
    plan->triangle = is_triangle(code, dim);
    build_nest(plan, rank, dim);
    for (int k = 0; k < plan->nest.n; k++)
        plan->access[k] = (uint8_t)access_of(plan, k);
    find_targets(plan);
    assign_slots(plan);
    choose_block(plan, scratch);
    choose_chunks(plan, exec, max_acc);
}

size_t la_map_max_acc(const la_map_code *code, int rank, const size_t *dim)
{
    size_t n = 0;
    for (int k = 0; k < code->n_result; k++) {
        size_t count = code->results[k].reduce != LA_REDUCE_NONE;
        for (int i = 0; i < rank; i++)
            count *= code->results[k].axes >> i & 1 ? 1 : dim[i];
        n += count;
    }
    if (n == 0 || n > LA_MAP_PRIVATE_ACC)
        return n;
    const size_t chunks = LA_MAP_PRIVATE_ACC / n;
    return n *
           (chunks < LA_MAP_PRIVATE_CHUNKS ? chunks : LA_MAP_PRIVATE_CHUNKS);
}

size_t la_map_scratch(const la_map_code *code)
{
    const size_t n_reg = (size_t)code->n_reg;
    const size_t slots = n_reg + (size_t)code->n_result;
    return n_reg * LA_MAP_SPLAT + slots * LA_MAP_BLOCK_BYTES;
}
