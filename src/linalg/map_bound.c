/* Map programs bound once and run often, on arrays of one block.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Planning a map costs a microsecond, as much as its arithmetic on a thousand
 * numbers. Where all elements fit in one block and every operand is contiguous
 * or one value, the calls of its rows (map_decode.h) are kept, and only the
 * places of arrays are looked up anew in every run. Rows and their order are
 * those of the interpreter, and so are the bits. What does not fit is left to
 * it. */
#include <config.h>

#include "linalg/check.h"
#include "linalg/map_decode.h"

/* Result `out` = the reduction of the elements at a place. */
typedef struct small_reduction {
    double (*reduce)(size_t n, const void *x);
    la_reduce_kind kind;
    uint8_t place, out;
} small_reduction;

/* Blocks and vectors are in `work`, but for the constants. */
struct la_map_bound {
    const la_exec *exec;
    const la_map_code *code;
    int rank;
    size_t dim[LA_MAX_DIMS];
    bool small; /* else everything below is unset */

    size_t total, size, lanes; /* elements, bytes of one, in a vector */
    size_t block;              /* bytes */
    int n_call, n_reduction;
    uint64_t splat;    /* inputs of one value: copied to a vector first */
    const void *work;  /* what the places of blocks follow from */
    la_map_call *call; /* the arrays follow the struct */
    small_reduction *reduction;
    char **place, **vector; /* vector: the places of vectors */
    char *constants;
};

/* ---- Memory ------------------------------------------------------------- */

/* Every result may need a copy besides its reduction. */
static size_t count_calls(const la_map_code *c)
{
    return (size_t)(c->n_step + c->n_result);
}

size_t la_map_bound_size(const la_map_code *code)
{
    if (!code)
        return 0;
    return sizeof(la_map_bound) + count_calls(code) * sizeof(la_map_call) +
           (size_t)code->n_result * sizeof(small_reduction) +
           (size_t)la_map_place_count(code) * sizeof(char *) +
           (1 + (size_t)code->n_const) * LA_MAP_SPLAT;
}

static void lay_out(la_map_bound *b)
{
    const la_map_code *c = b->code;
    b->call = (la_map_call *)(void *)(b + 1);
    b->reduction = (small_reduction *)(void *)(b->call + count_calls(c));
    b->place = (char **)(void *)(b->reduction + c->n_result);
    b->vector = b->place + la_map_place_of_vector(c, 0);
    const uintptr_t end = (uintptr_t)(b->place + la_map_place_count(c));
    b->constants =
        (char *)((end + LA_MAP_SPLAT - 1) / LA_MAP_SPLAT * LA_MAP_SPLAT);
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

/* Stores or reduces result k; a value alone becomes a whole block first. */
static void decode_result(la_map_bound *b, const la_map_decoder *d, int k)
{
    const la_map_code *c = b->code;
    const la_map_result *r = &c->results[k];
    const uint8_t out = la_map_place_of_result(c, k);
    uint8_t from = d->at[r->reg];
    const bool uniform = d->uniform >> r->reg & 1;
    const bool stored = r->reduce == LA_REDUCE_NONE;
    if (stored && from == out)
        return;
    if (stored || uniform) {
        const uint8_t to =
            stored ? out : la_map_place_of_block(c, c->n_reg + k);
        b->call[b->n_call++] = la_map_copy_call(d->plan, from, uniform, to);
        from = to;
    }
    if (!stored)
        b->reduction[b->n_reduction++] =
            (small_reduction){.reduce = d->plan->kernels->reduce[r->reduce],
                              .kind = r->reduce,
                              .place = from,
                              .out = out};
}

static void decode(la_map_bound *b, const la_map_plan *p)
{
    const la_map_code *c = p->code;
    la_map_decoder d;
    b->total = p->total;
    b->size = p->size;
    b->lanes = p->lanes;
    b->block = (p->total * p->size + 63) / 64 * 64;
    b->block = b->block > LA_MAP_SPLAT ? b->block : LA_MAP_SPLAT;
    lay_out(b);
    for (int k = 0; k < c->n_in; k++)
        b->splat |= (uint64_t)(p->access[k] == LA_MAP_UNIFORM) << k;
    for (int k = 0; k < c->n_const; k++)
        la_map_fill_constant(b->constants + (size_t)k * LA_MAP_SPLAT, c, k);
    la_map_decode_start(&d, p);
    for (int i = 0; i < c->n_step; i++)
        b->call[b->n_call++] = la_map_decode(&d, i);
    for (int k = 0; k < c->n_result; k++)
        decode_result(b, &d, k);
}

covar_status la_map_bind(la_map_bound *b, const la_exec *exec,
                         const la_map_code *code, int rank, const size_t *dim,
                         const la_view *in, const la_view *out)
{
    la_view full[LA_MAP_MAX_REG];
    la_map_plan plan;
    COVAR_TRY(la_check_exec(exec));
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
    const la_map_code *c = b->code;
    const int n_block = c->n_reg + c->n_result;
    char *vectors = (char *)work + (size_t)n_block * b->block;
    char **at = b->place + la_map_place_of_block(c, 0);
    for (int k = 0; k < n_block; k++)
        *at++ = (char *)work + (size_t)k * b->block;
    for (int k = 0; k < c->n_reg; k++) {
        const bool constant = k >= c->n_in && k < c->n_in + c->n_const;
        *at++ = constant ? b->constants + (size_t)(k - c->n_in) * LA_MAP_SPLAT
                         : vectors + (size_t)k * LA_MAP_SPLAT;
    }
    b->work = work;
}

static void place_arrays(la_map_bound *b, const la_view *in, const la_view *out)
{
    const int n_in = b->code->n_in, n_result = b->code->n_result;
    for (int k = 0; k < n_in; k++)
        b->place[k] = in[k].data;
    for (int k = 0; k < n_result; k++)
        b->place[n_in + k] = out[k].data;
    for (uint64_t left = b->splat; left; left &= left - 1) {
        const int k = __builtin_ctzll(left);
        la_map_fill_vector(b->vector[k], in[k].data, b->size);
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
    la_map_run_calls(b->call, b->n_call, b->place, b->lanes, b->total);
    reduce(b);
    return COVAR_OK;
}
