/* Map programs bound once and run often, on arrays of one block.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Planning a map costs a microsecond, as much as its arithmetic on a thousand
 * numbers. Where all elements fit in one block and every operand is contiguous
 * or one value, the plan is decoded into a list of row calls: each operand is
 * the number of a place, and the places of arrays are looked up anew in every
 * run. Rows and their order are those of the interpreter, and so are the bits.
 * What does not fit is left to the interpreter. */
#include <config.h>

#include "linalg/check.h"
#include "linalg/map_plan.h"

#include <string.h>

/* out = row(in...) on n elements, by places. */
typedef struct small_step {
    la_row_fn *row;
    size_t n;
    uint8_t out, in[LA_ROW_MAX_ARITY];
    uint8_t arity, uniform;
} small_step;

/* Result `out` = the reduction of the elements at a place. */
typedef struct small_reduction {
    double (*reduce)(size_t n, const void *x);
    la_reduce_kind kind;
    uint8_t place, out;
} small_reduction;

/* Places: inputs, results, then in `work` a block for each register and each
 * result and a vector for each register with one value, then constants. */
struct la_map_bound {
    const la_exec *exec;
    const la_map_code *code;
    int rank;
    size_t dim[LA_MAX_DIMS];
    bool small; /* else everything below is unset */

    size_t total, size, block; /* elements, bytes of one, of a block */
    int n_step, n_reduction, n_block;
    uint64_t splat;   /* inputs of one value: copied to a vector first */
    const void *work; /* what the places of blocks follow from */
    small_step *step; /* the arrays follow the struct */
    small_reduction *reduction;
    char **place;
    char *constants;
};

/* ---- Memory ------------------------------------------------------------- */

static size_t count_places(const la_map_code *c)
{
    return (size_t)(c->n_in + 2 * c->n_result + 2 * c->n_reg + c->n_const);
}

/* Every result may need a copy besides its reduction. */
static size_t count_steps(const la_map_code *c)
{
    return (size_t)(c->n_step + c->n_result);
}

size_t la_map_bound_size(const la_map_code *code)
{
    if (!code)
        return 0;
    return sizeof(la_map_bound) + count_steps(code) * sizeof(small_step) +
           (size_t)code->n_result * sizeof(small_reduction) +
           count_places(code) * sizeof(char *) +
           (1 + (size_t)code->n_const) * LA_MAP_SPLAT;
}

static void lay_out(la_map_bound *b)
{
    const la_map_code *c = b->code;
    b->step = (small_step *)(void *)(b + 1);
    b->reduction = (small_reduction *)(void *)(b->step + count_steps(c));
    b->place = (char **)(void *)(b->reduction + c->n_result);
    const uintptr_t end = (uintptr_t)(b->place + count_places(c));
    b->constants =
        (char *)((end + LA_MAP_SPLAT - 1) / LA_MAP_SPLAT * LA_MAP_SPLAT);
}

static void fill_splat(char *to, const void *element, size_t size)
{
    for (size_t i = 0; i < LA_MAP_SPLAT; i += size)
        memcpy(to + i, element, size);
}

/* ---- Decoding ----------------------------------------------------------- */

/* One value in all dims? Then its reduction is one number. */
static bool to_a_number(const la_map_plan *p, int result)
{
    return p->nest.rank == 1 &&
           (p->nest.stride[p->code->n_in + result][0] == 0 || p->total == 1);
}

static bool is_small(const la_map_plan *p)
{
    const la_map_code *c = p->code;
    bool fits = !p->triangle && p->total > 0 && p->total <= p->block &&
                p->threads == 1 && p->n_chunk == 1;
    for (int k = 0; k < c->n_in && fits; k++)
        fits = !p->stage[k] &&
               (p->access[k] == LA_MAP_DENSE || p->access[k] == LA_MAP_UNIFORM);
    for (int k = 0; k < c->n_result && fits; k++)
        fits = c->results[k].reduce == LA_REDUCE_NONE
                   ? p->access[c->n_in + k] == LA_MAP_DENSE
                   : to_a_number(p, k);
    return fits;
}

/* Where each register is while the program is decoded. */
typedef struct decoder {
    la_map_bound *b;
    const la_map_plan *p;
    uint8_t at[LA_MAP_MAX_REG];
    uint64_t uniform; /* registers with one value */
} decoder;

/* No block is shared: register r has block r, result k has block n_reg + k. */
static uint8_t block_place(const decoder *d, int block)
{
    return (uint8_t)(d->b->code->n_in + d->b->code->n_result + block);
}

/* Apart from the block, which a step may write while it reads the vector. */
static uint8_t vector_place(const decoder *d, int reg)
{
    return block_place(d, d->b->n_block + reg);
}

static void add_step(decoder *d, int row, uint8_t out, const uint8_t *in,
                     unsigned uniform, size_t n)
{
    small_step *s = &d->b->step[d->b->n_step++];
    *s = (small_step){.row = d->p->kernels->row[row],
                      .n = n,
                      .out = out,
                      .arity = (uint8_t)la_row_arity(row),
                      .uniform = (uint8_t)uniform};
    memcpy(s->in, in, s->arity);
}

static void decode_step(decoder *d, int i)
{
    const la_map_plan *p = d->p;
    const la_map_step *s = &p->code->steps[i];
    const int arity = la_row_arity(s->row);
    uint8_t in[LA_ROW_MAX_ARITY];
    unsigned uniform = 0;
    for (int k = 0; k < arity; k++) {
        const int reg = la_step_operand(s, k);
        in[k] = d->at[reg];
        uniform |= (unsigned)(d->uniform >> reg & 1) << k;
    }
    if ((uniform & 3) == 1 && arity > 1 && la_row_commutes(s->row)) {
        const uint8_t first = in[0];
        in[0] = in[1];
        in[1] = first;
        uniform ^= 3;
    }
    const bool one_value = uniform == (1u << arity) - 1;
    const bool direct = p->last_write[s->out] == i && p->target[s->out] >= 0;
    const uint8_t out = one_value ? vector_place(d, s->out)
                        : direct  ? (uint8_t)(p->code->n_in + p->target[s->out])
                                  : block_place(d, s->out);
    add_step(d, s->row, out, in, one_value ? 0 : uniform,
             one_value ? p->lanes : p->total);
    d->at[s->out] = out;
    d->uniform &= ~(UINT64_C(1) << s->out);
    d->uniform |= (uint64_t)one_value << s->out;
}

/* Stores or reduces result k; a value alone becomes a whole block first. */
static void decode_result(decoder *d, int k)
{
    const la_map_result *r = &d->p->code->results[k];
    const uint8_t out = (uint8_t)(d->p->code->n_in + k);
    uint8_t from = d->at[r->reg];
    const unsigned uniform = d->uniform >> r->reg & 1;
    const bool stored = r->reduce == LA_REDUCE_NONE;
    if (stored && from == out)
        return;
    if (stored || uniform) {
        const uint8_t to = stored ? out : block_place(d, d->p->code->n_reg + k);
        add_step(d, LA_COPY, to, &from, uniform, d->p->total);
        from = to;
    }
    if (!stored)
        d->b->reduction[d->b->n_reduction++] =
            (small_reduction){.reduce = d->p->kernels->reduce[r->reduce],
                              .kind = r->reduce,
                              .place = from,
                              .out = out};
}

static void decode_constants(decoder *d)
{
    la_map_bound *b = d->b;
    const la_map_code *c = b->code;
    for (int k = 0; k < c->n_const; k++) {
        const float single = (float)c->constants[k];
        const double full = c->constants[k];
        char *at = b->constants + (size_t)k * LA_MAP_SPLAT;
        fill_splat(at, c->dtype == LA_F64 ? (const void *)&full : &single,
                   b->size);
        const uint8_t place = vector_place(d, c->n_reg + k);
        b->place[place] = at;
        d->at[c->n_in + k] = place;
        d->uniform |= UINT64_C(1) << (c->n_in + k);
    }
}

static void decode(la_map_bound *b, const la_map_plan *p)
{
    const la_map_code *c = p->code;
    decoder d = {.b = b, .p = p};
    b->total = p->total;
    b->size = p->size;
    b->block = (p->total * p->size + 63) / 64 * 64;
    b->block = b->block > LA_MAP_SPLAT ? b->block : LA_MAP_SPLAT;
    b->n_block = c->n_reg + c->n_result;
    lay_out(b);
    for (int k = 0; k < c->n_in; k++) {
        const uint64_t bit = UINT64_C(1) << k;
        d.at[k] = (uint8_t)k;
        if (p->access[k] == LA_MAP_UNIFORM) {
            d.at[k] = vector_place(&d, k);
            d.uniform |= bit;
            b->splat |= bit;
        }
    }
    decode_constants(&d);
    for (int i = 0; i < c->n_step; i++)
        decode_step(&d, i);
    for (int k = 0; k < c->n_result; k++)
        decode_result(&d, k);
}

covar_status la_map_bind(la_map_bound *b, const la_exec *exec,
                         const la_map_code *code, int rank, const size_t *dim,
                         const la_view *in, const la_view *out)
{
    la_view full[LA_MAP_MAX_REG];
    la_map_plan plan;
    COVAR_TRY(la_check_exec(exec, "la_map_bind"));
    if (!b)
        return covar_fail(exec->ctx, COVAR_ERR_ARG, "la_map_bind: b is NULL");
    COVAR_TRY(la_map_check(exec, code, rank, dim, in, out, full));
    memset(b, 0, sizeof(*b));
    b->exec = exec;
    b->code = code;
    b->rank = rank;
    memcpy(b->dim, dim, sizeof(*dim) * (size_t)rank);
    if (la_device_of(exec) != &la_device_cpu)
        return COVAR_OK;
    la_map_plan_init(&plan, exec, code, rank, dim, full, out,
                     la_map_max_acc(code, rank, dim), la_map_scratch(code));
    b->small = is_small(&plan);
    if (b->small)
        decode(b, &plan);
    return COVAR_OK;
}

/* ---- Running ------------------------------------------------------------ */

static void place_blocks(la_map_bound *b, void *work)
{
    char **at = b->place + b->code->n_in + b->code->n_result;
    char *vectors = (char *)work + (size_t)b->n_block * b->block;
    for (int k = 0; k < b->n_block; k++)
        at[k] = (char *)work + (size_t)k * b->block;
    for (int k = 0; k < b->code->n_reg; k++)
        at[b->n_block + k] = vectors + (size_t)k * LA_MAP_SPLAT;
    b->work = work;
}

static void place_arrays(la_map_bound *b, const la_view *in, const la_view *out)
{
    const int n_in = b->code->n_in, n_result = b->code->n_result;
    for (int k = 0; k < n_in; k++)
        b->place[k] = in[k].data;
    for (int k = 0; k < n_result; k++)
        b->place[n_in + k] = out[k].data;
    char **vector = b->place + n_in + n_result + b->n_block;
    for (uint64_t left = b->splat; left; left &= left - 1) {
        const int k = __builtin_ctzll(left);
        fill_splat(vector[k], in[k].data, b->size);
    }
}

static void run_steps(const la_map_bound *b)
{
    const small_step *end = b->step + b->n_step;
    for (const small_step *s = b->step; s < end; s++) {
        const void *in[LA_ROW_MAX_ARITY];
        for (int k = 0; k < s->arity; k++)
            in[k] = b->place[s->in[k]];
        s->row(s->n, b->place[s->out], in, s->uniform);
    }
}

static void reduce(const la_map_bound *b)
{
    for (int k = 0; k < b->n_reduction; k++) {
        const small_reduction *r = &b->reduction[k];
        const double value =
            la_map_join(r->kind, la_map_neutral[r->kind],
                        r->reduce(b->total, b->place[r->place]));
        if (b->code->dtype == LA_F64)
            *(double *)(void *)b->place[r->out] = value;
        else
            *(float *)(void *)b->place[r->out] = (float)value;
    }
}

covar_status la_map_run_bound(la_map_bound *b, const la_view *in,
                              const la_view *out, void *work)
{
    if (!b || (!in && b->code->n_in > 0) || (!out && b->code->n_result > 0))
        return covar_fail(b ? b->exec->ctx : NULL, COVAR_ERR_ARG,
                          "la_map_run_bound: in or out is NULL");
    if (!b->small || !work)
        return la_map_run(b->exec, b->code, b->rank, b->dim, in, out, work);
    if (b->work != work)
        place_blocks(b, work);
    place_arrays(b, in, out);
    run_steps(b);
    reduce(b);
    return COVAR_OK;
}
