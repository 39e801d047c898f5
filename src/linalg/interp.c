/* The blocked interpreter of map programs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A register is a block of L1 cache, or no memory at all: inputs that are
 * contiguous are read where they are, and a stored result is written where it
 * goes by the step that computes it. Each step is one call of a row function
 * over the block. A register with one value for the whole block (a constant,
 * a broadcast input, and what is computed from these alone) is a single vector.
 * Reduced results are added up block by block and never stored.
 *
 * The file is longer than 400 lines: the parts of one inner loop, which share
 * their state. */
#include <config.h>

#include "linalg/map_plan.h"

#include <string.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

/* What one thread works with. */
typedef struct runner {
    const la_map_plan *plan;
    double *acc; /* of all chunks */
    char *splat, *blocks;
    const char *at[LA_MAP_MAX_REG]; /* elements of each register now */
    char *out[LA_MAP_MAX_RESULT];
    uint64_t uniform;              /* registers with one value */
    size_t index[LA_MAX_DIMS];     /* of the row */
    ptrdiff_t offset[LA_NEST_MAX]; /* of the row, in elements */
} runner;

/* ---- rows ------------------------------------------------------------------
 */

static void go_to_row(runner *r, size_t row)
{
    const la_nest *nest = &r->plan->nest;
    const int outer = nest->rank - 1;
    for (int k = 0; k < nest->n; k++)
        r->offset[k] = la_nest_offset(nest, k, outer, row);
    for (int d = outer; d-- > 0; row /= nest->dim[d])
        r->index[d] = row % nest->dim[d];
}

static void next_row(runner *r)
{
    const la_nest *nest = &r->plan->nest;
    for (int d = nest->rank - 1; d-- > 0;) {
        const bool carry = ++r->index[d] == nest->dim[d];
        const ptrdiff_t back = carry ? (ptrdiff_t)nest->dim[d] : 0;
        for (int k = 0; k < nest->n; k++)
            r->offset[k] += (1 - back) * nest->stride[k][d];
        if (!carry)
            return;
        r->index[d] = 0;
    }
}

/* ---- blocks ----------------------------------------------------------------
 */

static char *slot(const runner *r, int number)
{
    return r->blocks + (size_t)number * r->plan->block * r->plan->size;
}

static void fill_splat(const runner *r, int reg, const void *element)
{
    const size_t size = r->plan->size;
    for (size_t i = 0; i < r->plan->lanes; i++)
        memcpy(r->splat + reg * LA_MAP_SPLAT + i * size, element, size);
}

static void set_constants(runner *r)
{
    const la_map_code *c = r->plan->code;
    for (int k = 0; k < c->n_const; k++) {
        const int reg = c->n_in + k;
        const float single = (float)c->constants[k];
        const double full = c->constants[k];
        fill_splat(r, reg, c->dtype == LA_F64 ? (const void *)&full : &single);
        r->at[reg] = r->splat + reg * LA_MAP_SPLAT;
    }
}

/* Points each input at its elements for the block [start, start + n). */
static void bind_inputs(runner *r, size_t start, size_t n, bool new_row)
{
    const la_map_plan *p = r->plan;
    const size_t col = start % p->row;
    r->uniform = 0;
    for (int k = 0; k < p->code->n_in; k++) {
        char *data = p->in[k].data;
        const char *x = data;
        switch (p->access[k]) {
        case LA_MAP_DENSE:
            x = data + start * p->size;
            break;
        case LA_MAP_ROW:
            x = data + (r->offset[k] + (ptrdiff_t)col) * (ptrdiff_t)p->size;
            break;
        case LA_MAP_REPEAT:
            if (new_row)
                fill_splat(r, k, data + r->offset[k] * (ptrdiff_t)p->size);
            /* fall through */
        case LA_MAP_UNIFORM:
            x = r->splat + k * LA_MAP_SPLAT;
            r->uniform |= UINT64_C(1) << k;
            break;
        default:
            la_map_move(p, LA_MAP_READ, k, r->offset[k], slot(r, p->slot[k]),
                        data, start, n);
            x = slot(r, p->slot[k]);
        }
        r->at[k] = x;
        if (p->stage[k] && !(r->uniform >> k & 1) &&
            p->access[k] != LA_MAP_GATHER) {
            memcpy(slot(r, p->slot[k]), x, n * p->size);
            r->at[k] = slot(r, p->slot[k]);
        }
    }
    for (int k = 0; k < p->code->n_const; k++)
        r->uniform |= UINT64_C(1) << (p->code->n_in + k);
}

static void bind_outputs(runner *r, size_t start)
{
    const la_map_plan *p = r->plan;
    const size_t col = start % p->row;
    for (int k = 0; k < p->code->n_result; k++) {
        const int o = p->code->n_in + k;
        char *data = p->out[k].data;
        const uint8_t a = p->access[o];
        r->out[k] = NULL;
        if (p->code->results[k].reduce != LA_REDUCE_NONE)
            continue;
        if (a == LA_MAP_ROW)
            r->out[k] =
                data + (r->offset[o] + (ptrdiff_t)col) * (ptrdiff_t)p->size;
        else if (a != LA_MAP_GATHER)
            r->out[k] = data + start * p->size;
    }
}

static void run_step(runner *r, int i, size_t n)
{
    const la_map_plan *p = r->plan;
    const la_map_step *s = &p->code->steps[i];
    const int arity = la_row_arity(s->row);
    const void *in[LA_ROW_MAX_ARITY];
    unsigned uniform = 0;
    for (int k = 0; k < arity; k++) {
        const int reg = la_step_operand(s, k);
        in[k] = r->at[reg];
        uniform |= (unsigned)(r->uniform >> reg & 1) << k;
    }
    if ((uniform & 3) == 1 && arity > 1 && la_row_commutes(s->row)) {
        const void *first = in[0];
        in[0] = in[1];
        in[1] = first;
        uniform ^= 3;
    }
    const bool one_value = uniform == (1u << arity) - 1;
    const bool direct = p->last_write[s->out] == i && p->target[s->out] >= 0;
    char *out = direct ? r->out[p->target[s->out]] : slot(r, p->slot[s->out]);
    if (one_value)
        out = r->splat + s->out * LA_MAP_SPLAT;
    p->kernels->row[s->row](one_value ? p->lanes : n, out, in,
                            one_value ? 0 : uniform);
    r->at[s->out] = out;
    r->uniform &= ~(UINT64_C(1) << s->out);
    r->uniform |= (uint64_t)one_value << s->out;
}

/* Register `reg` as a full block at `block`. */
static void copy_register(const runner *r, int reg, char *block, size_t n)
{
    const void *in[1] = {r->at[reg]};
    r->plan->kernels->row[LA_COPY](n, block, in, r->uniform >> reg & 1);
}

/* A block of a row of the triangle into an accumulator. */
static void reduce_triangle(const runner *r, int result, const char *block,
                            size_t start, size_t n, double *acc)
{
    const la_map_plan *p = r->plan;
    const la_reduce_kind kind = p->code->results[result].reduce;
    const bool diagonal = start % p->row + n - 1 == start / p->row;
    double value;
    if (kind == LA_REDUCE_SUM) {
        value = 2 * p->kernels->reduce[kind](n - diagonal, block);
        if (diagonal)
            value += p->kernels->reduce[kind](1, block + (n - 1) * p->size);
    } else {
        value = p->kernels->reduce[kind](n, block);
    }
    *acc = la_map_join(kind, *acc, value);
}

static void finish_results(runner *r, size_t start, size_t n, double *acc)
{
    const la_map_plan *p = r->plan;
    for (int k = 0; k < p->code->n_result; k++) {
        const la_map_result *q = &p->code->results[k];
        const int o = p->code->n_in + k;
        char *block = (char *)(uintptr_t)r->at[q->reg];
        if (r->out[k]) {
            if (block != r->out[k])
                copy_register(r, q->reg, r->out[k], n);
            continue;
        }
        if (r->uniform >> q->reg & 1) {
            block = slot(r, p->out_slot[k]);
            copy_register(r, q->reg, block, n);
        }
        if (q->reduce == LA_REDUCE_NONE)
            la_map_move(p, LA_MAP_WRITE, o, r->offset[o], block, p->out[k].data,
                        start, n);
        else if (p->triangle)
            reduce_triangle(r, k, block, start, n, acc + p->acc_start[k]);
        else
            la_map_move(p, LA_MAP_REDUCE, o, r->offset[o], block,
                        (char *)(acc + p->acc_start[k]), start, n);
    }
}

/* Elements from flat index i to the end of its row. */
static size_t left_in_row(const la_map_plan *p, size_t i)
{
    const size_t col = i % p->row;
    return p->triangle ? i / p->row + 1 - col : p->row - col;
}

static void run_chunk(runner *r, size_t chunk)
{
    const la_map_plan *p = r->plan;
    const size_t start = chunk * p->chunk;
    const size_t left = p->total - start;
    const size_t end = start + (left < p->chunk ? left : p->chunk);
    double *acc = p->private_acc ? r->acc + chunk * p->n_acc : r->acc;
    bool new_row = true;
    go_to_row(r, start / p->row);
    for (size_t i = start, n = 0; i < end; i += n) {
        const size_t row = p->long_rows ? left_in_row(p, i) : end - i;
        n = row < p->block ? row : p->block;
        n = n < end - i ? n : end - i;
        bind_inputs(r, i, n, new_row);
        bind_outputs(r, i);
        for (int k = 0; k < p->code->n_step; k++)
            run_step(r, k, n);
        finish_results(r, i, n, acc);
        new_row = p->long_rows && n == row;
        if (new_row)
            next_row(r);
        if (new_row && p->triangle)
            i += p->row - 1 - i / p->row; /* what is right of the diagonal */
    }
    if (p->triangle)
        la_map_mirror(p, start / p->row, end / p->row);
}

/* ---- the whole -------------------------------------------------------------
 */

static void start_runner(runner *r, const la_map_plan *p, double *acc,
                         char *scratch)
{
    r->plan = p;
    r->acc = acc;
    r->splat = scratch;
    r->blocks = scratch + (size_t)p->code->n_reg * LA_MAP_SPLAT;
    set_constants(r);
    for (int k = 0; k < p->code->n_in; k++)
        if (p->access[k] == LA_MAP_UNIFORM)
            fill_splat(r, k, p->in[k].data);
}

/* Without a parallel region, which takes a while even for one thread. */
static void run_alone(const la_map_plan *p, double *acc, char *scratch)
{
    _Alignas(64) char local[LA_MAP_STACK_BYTES];
    runner r;
    start_runner(&r, p, acc, scratch ? scratch : local);
    for (size_t c = 0; c < p->n_chunk; c++)
        run_chunk(&r, c);
}

static void run_all(const la_map_plan *p, double *acc, char *scratch)
{
    const size_t bytes = la_map_scratch(p->code);
    if (p->threads == 1) {
        run_alone(p, acc, scratch);
        return;
    }
#pragma omp parallel num_threads(p->threads)
    {
        _Alignas(64) char local[LA_MAP_STACK_BYTES];
        runner r;
        size_t id = 0;
#if defined(_OPENMP)
        id = (size_t)omp_get_thread_num();
#endif
        start_runner(&r, p, acc, scratch ? scratch + id * bytes : local);
        if (p->triangle) { /* the last chunks, the longest, first */
#pragma omp for schedule(dynamic, 1)
            for (size_t c = 0; c < p->n_chunk; c++)
                run_chunk(&r, p->n_chunk - 1 - c);
        } else {
#pragma omp for schedule(static)
            for (size_t c = 0; c < p->n_chunk; c++)
                run_chunk(&r, c);
        }
    }
}

/* Adds up the chunks and stores the reduced results. */
static covar_status store_reduced(const la_exec *exec, const la_map_plan *p,
                                  double *acc)
{
    const size_t sets = p->private_acc ? p->n_chunk : 1;
    for (int k = 0; k < p->code->n_result; k++) {
        const la_reduce_kind kind = p->code->results[k].reduce;
        const la_view out = p->out[k];
        if (kind == LA_REDUCE_NONE)
            continue;
        double *a = acc + p->acc_start[k];
        const size_t n = la_view_count(out);
        for (size_t c = 1; c < sets; c++)
            for (size_t i = 0; i < n; i++)
                a[i] = la_map_join(kind, a[i], a[c * p->n_acc + i]);
        COVAR_TRY(la_cpu_copy(exec, out,
                              la_view_dense(a, LA_F64, out.rank, out.dim)));
    }
    return COVAR_OK;
}

static void clear_acc(const la_map_plan *p, double *acc)
{
    const size_t sets = p->private_acc && p->n_chunk > 0 ? p->n_chunk : 1;
    for (int k = 0; k < p->code->n_result; k++) {
        const la_reduce_kind kind = p->code->results[k].reduce;
        const size_t n = la_view_count(p->out[k]);
        for (size_t c = 0; kind != LA_REDUCE_NONE && c < sets; c++)
            for (size_t i = 0; i < n; i++)
                acc[c * p->n_acc + p->acc_start[k] + i] = la_map_neutral[kind];
    }
}

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t la_map_work_size(const la_map_code *code, int rank, const size_t *dim,
                        int threads)
{
    if (!code || rank < 0 || rank > LA_MAX_DIMS || (rank > 0 && !dim))
        return 0;
    const size_t n = la_map_max_acc(code, rank, dim);
    return round_up(n * sizeof(double)) +
           la_map_scratch(code) * (size_t)(threads > 1 ? threads : 1);
}

covar_status la_cpu_map_run(const la_exec *exec, const la_map_code *code,
                            int rank, const size_t *dim, const la_view *in,
                            const la_view *out, void *work)
{
    la_map_plan plan;
    double few[LA_MAP_STACK_ACC];
    const size_t max_acc =
        work ? la_map_max_acc(code, rank, dim) : LA_MAP_STACK_ACC;
    double *acc = work ? work : few;
    char *scratch =
        work ? (char *)work + round_up(max_acc * sizeof(double)) : NULL;
    la_map_plan_init(&plan, exec, code, rank, dim, in, out, max_acc,
                     work ? la_map_scratch(code) : LA_MAP_STACK_BYTES);
    clear_acc(&plan, acc);
    if (plan.total > 0)
        run_all(&plan, acc, scratch);
    return store_reduced(exec, &plan, acc);
}
