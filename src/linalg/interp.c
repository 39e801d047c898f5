/* The blocked interpreter of map programs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A register is a block of L1 cache, or no memory at all: inputs that are
 * contiguous are read where they are, and a stored result is written where it
 * goes by the step that computes it. Each step is one call of a row function
 * over the block; what it reads and writes is decided once for all blocks, or
 * for each block anew where the program is very long. Reduced results are
 * added up block by block and never stored. */
#include <config.h>

#include "linalg/map_decode.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

enum { MOST_CALLS = 96 }; /* decoded at a time */

/* What one thread works with. */
typedef struct runner {
    const la_map_plan *plan;
    double *acc; /* of all chunks */
    char *place[LA_MAP_MAX_PLACE];
    la_map_call call[MOST_CALLS];
    la_map_decoder end;            /* where registers are after all steps */
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

/* Points each input at its elements for the block [start, start + n), or
 * copies them to its block. */
static void bind_inputs(runner *r, size_t start, size_t n, bool new_row)
{
    const la_map_plan *p = r->plan;
    const la_map_code *c = p->code;
    const ptrdiff_t col = (ptrdiff_t)(start % p->row);
    const ptrdiff_t size = (ptrdiff_t)p->size;
    for (int k = 0; k < c->n_in; k++) {
        char *data = p->in[k].data,
             *block = r->place[la_map_place_of_block(c, k)];
        if (p->access[k] == LA_MAP_DENSE)
            r->place[k] = data + start * p->size;
        else if (p->access[k] == LA_MAP_ROW)
            r->place[k] = data + (r->offset[k] + col) * size;
        else if (p->access[k] == LA_MAP_REPEAT && new_row)
            la_map_fill_vector(r->place[la_map_place_of_vector(c, k)],
                               data + r->offset[k] * size, p->size);
        else if (p->access[k] == LA_MAP_GATHER)
            la_map_move(p, LA_MAP_READ, k, r->offset[k], block, data, start, n);
        if (p->stage[k] &&
            (p->access[k] == LA_MAP_DENSE || p->access[k] == LA_MAP_ROW))
            memcpy(block, r->place[k], n * p->size);
    }
}

static void bind_outputs(runner *r, size_t start)
{
    const la_map_plan *p = r->plan;
    const ptrdiff_t col = (ptrdiff_t)(start % p->row);
    for (int k = 0; k < p->code->n_result; k++) {
        const int o = p->code->n_in + k;
        char *data = p->out[k].data;
        if (p->code->results[k].reduce != LA_REDUCE_NONE)
            continue;
        if (p->access[o] == LA_MAP_ROW)
            data += (r->offset[o] + col) * (ptrdiff_t)p->size;
        else if (p->access[o] == LA_MAP_DENSE)
            data += start * p->size;
        r->place[la_map_place_of_result(p->code, k)] = data;
    }
}

static void run_steps(runner *r, size_t n)
{
    const la_map_plan *p = r->plan;
    const int n_step = p->code->n_step;
    la_map_decoder d;
    if (n_step <= MOST_CALLS) {
        la_map_run_calls(r->call, n_step, r->place, p->lanes, n);
        return;
    }
    la_map_decode_start(&d, p);
    for (int i = 0, count = 0; i < n_step; i += count) {
        for (count = 0; count < MOST_CALLS && i + count < n_step; count++)
            r->call[count] = la_map_decode(&d, i + count);
        la_map_run_calls(r->call, count, r->place, p->lanes, n);
    }
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

/* The register at place `from` as a full block at place `to`. */
static void copy_register(runner *r, uint8_t from, bool uniform, uint8_t to,
                          size_t n)
{
    const la_map_call copy = la_map_copy_call(r->plan, from, uniform, to);
    la_map_run_calls(&copy, 1, r->place, r->plan->lanes, n);
}

static void finish_result(runner *r, int k, size_t start, size_t n, double *acc)
{
    const la_map_plan *p = r->plan;
    const la_map_result *q = &p->code->results[k];
    const int o = p->code->n_in + k;
    const bool reduced = q->reduce != LA_REDUCE_NONE;
    const bool uniform = r->end.uniform >> q->reg & 1;
    const uint8_t out = la_map_place_of_result(p->code, k);
    uint8_t from = r->end.at[q->reg];
    if (!reduced && p->access[o] != LA_MAP_GATHER) {
        if (from != out)
            copy_register(r, from, uniform, out, n);
        return;
    }
    if (uniform) {
        const uint8_t block =
            la_map_place_of_block(p->code, p->code->n_reg + k);
        copy_register(r, from, true, block, n);
        from = block;
    }
    if (!reduced)
        la_map_move(p, LA_MAP_WRITE, o, r->offset[o], r->place[from],
                    p->out[k].data, start, n);
    else if (p->triangle)
        reduce_triangle(r, k, r->place[from], start, n, acc + p->acc_start[k]);
    else
        la_map_move(p, LA_MAP_REDUCE, o, r->offset[o], r->place[from],
                    (char *)(acc + p->acc_start[k]), start, n);
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
        run_steps(r, n);
        for (int k = 0; k < p->code->n_result; k++)
            finish_result(r, k, i, n, acc);
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

/* Slots without memory stay NULL: nothing is decoded to be there. */
static void place_slots(runner *r, char *vectors)
{
    const la_map_plan *p = r->plan;
    const la_map_code *c = p->code;
    char *blocks = vectors + (size_t)c->n_reg * LA_MAP_SPLAT;
    const size_t bytes = p->block * p->size;
    for (int k = 0; k < c->n_reg + c->n_result; k++) {
        const int slot = k < c->n_reg ? p->slot[k] : p->out_slot[k - c->n_reg];
        r->place[la_map_place_of_block(c, k)] =
            slot < 0 ? NULL : blocks + (size_t)slot * bytes;
    }
    for (int k = 0; k < c->n_reg; k++)
        r->place[la_map_place_of_vector(c, k)] =
            vectors + (size_t)k * LA_MAP_SPLAT;
}

static void start_runner(runner *r, const la_map_plan *p, double *acc,
                         char *scratch)
{
    const la_map_code *c = p->code;
    r->plan = p;
    r->acc = acc;
    place_slots(r, scratch);
    for (int k = 0; k < c->n_in; k++) {
        char *vector = r->place[la_map_place_of_vector(c, k)];
        r->place[k] = p->in[k].data;
        if (p->access[k] == LA_MAP_UNIFORM)
            la_map_fill_vector(vector, p->in[k].data, p->size);
    }
    for (int k = 0; k < c->n_const; k++)
        la_map_fill_constant(r->place[la_map_place_of_vector(c, c->n_in + k)],
                             c, k);
    la_map_decode_start(&r->end, p);
    for (int i = 0; i < c->n_step; i++) {
        const la_map_call call = la_map_decode(&r->end, i);
        if (i < MOST_CALLS)
            r->call[i] = call;
    }
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
