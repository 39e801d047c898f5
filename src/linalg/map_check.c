/* What can be wrong with a map program or its operands.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * After these checks a device's interpreter may rely on registers that are in
 * range and written before they are read, on inputs broadcast to the index
 * space, on results of exactly the right shape, and on no overlap but "in
 * place". */
#include <config.h>

#include "linalg/check.h"
#include "linalg/map_table.h"

typedef struct map_check {
    const la_exec *exec;
    const la_map_code *code;
    int rank;
    const size_t *dim;
} map_check;

static covar_status fail_code(const map_check *c, int step, const char *what,
                              int value)
{
    return covar_fail(c->exec->ctx, COVAR_ERR_ARG,
                      "la_map_run: step %d has %s %d; the program has %d "
                      "registers, %d of them inputs and constants",
                      step, what, value, c->code->n_reg,
                      c->code->n_in + c->code->n_const);
}

static covar_status check_pointers(const map_check *c, const la_view *in,
                                   const la_view *out)
{
    const la_map_code *p = c->code;
    const char *missing = !p                                ? "code"
                          : p->n_step > 0 && !p->steps      ? "code.steps"
                          : p->n_result > 0 && !p->results  ? "code.results"
                          : p->n_const > 0 && !p->constants ? "code.constants"
                          : c->rank > 0 && !c->dim          ? "dim"
                          : p->n_in > 0 && !in              ? "in"
                          : p->n_result > 0 && !out         ? "out"
                                                            : NULL;
    if (missing)
        return covar_fail(c->exec->ctx, COVAR_ERR_ARG, "la_map_run: %s is NULL",
                          missing);
    return COVAR_OK;
}

static covar_status check_counts(const map_check *c)
{
    const la_map_code *p = c->code;
    const bool bad = p->n_in < 0 || p->n_const < 0 || p->n_step < 0 ||
                     p->n_in > LA_MAP_MAX_REG || p->n_const > LA_MAP_MAX_REG ||
                     p->n_result < 0 || p->n_result > LA_MAP_MAX_RESULT ||
                     p->n_reg < p->n_in + p->n_const ||
                     p->n_reg > LA_MAP_MAX_REG;
    if (bad)
        return covar_fail(c->exec->ctx, COVAR_ERR_ARG,
                          "la_map_run: %d inputs, %d constants, %d registers "
                          "and %d results; at most %d registers and %d "
                          "results are possible",
                          p->n_in, p->n_const, p->n_reg, p->n_result,
                          LA_MAP_MAX_REG, LA_MAP_MAX_RESULT);
    if (!la_dtype_is_real(p->dtype))
        return covar_fail(c->exec->ctx, COVAR_ERR_DTYPE,
                          "la_map_run: the program is in %s, not f64 or f32",
                          la_dtype_name(p->dtype));
    if (c->rank < 0 || c->rank > LA_MAX_DIMS)
        return covar_fail(c->exec->ctx, COVAR_ERR_ARG,
                          "la_map_run: rank %d is outside 0..%d", c->rank,
                          LA_MAX_DIMS);
    return COVAR_OK;
}

static covar_status check_steps(const map_check *c)
{
    const la_map_code *p = c->code;
    const int fixed = p->n_in + p->n_const;
    uint64_t known = fixed ? ~UINT64_C(0) >> (64 - fixed) : 0;
    for (int i = 0; i < p->n_step; i++) {
        const la_map_step *s = &p->steps[i];
        if (s->row >= LA_ROW_COUNT)
            return fail_code(c, i, "row", s->row);
        for (int k = 0; k < la_row_arity(s->row); k++) {
            const int r = la_step_operand(s, k);
            if (r >= p->n_reg || !(known >> r & 1))
                return fail_code(c, i, "an operand never written, register", r);
        }
        if (s->out < fixed || s->out >= p->n_reg)
            return fail_code(c, i, "for result register", s->out);
        known |= UINT64_C(1) << s->out;
    }
    for (int i = 0; i < p->n_result; i++) {
        const la_map_result *r = &p->results[i];
        if (r->reg >= p->n_reg || !(known >> r->reg & 1))
            return fail_code(c, p->n_step, "a result never written, register",
                             r->reg);
        if (r->reduce > LA_REDUCE_MIN || r->axes >> c->rank)
            return covar_fail(c->exec->ctx, COVAR_ERR_ARG,
                              "la_map_run: result %d has reduction %d over "
                              "axes 0x%x of rank %d",
                              i, (int)r->reduce, r->axes, c->rank);
    }
    return COVAR_OK;
}

static covar_status check_view(const map_check *c, const char *kind, int k,
                               la_view x)
{
    char text[64];
    if (x.dtype != c->code->dtype)
        return covar_fail(c->exec->ctx, COVAR_ERR_DTYPE,
                          "la_map_run: %s %d is %s but the program is in %s",
                          kind, k, la_view_describe(text, sizeof text, x),
                          la_dtype_name(c->code->dtype));
    if (!la_view_is_valid(x))
        return covar_fail(c->exec->ctx, COVAR_ERR_ARG,
                          "la_map_run: %s %d (%s) has no data", kind, k,
                          la_view_describe(text, sizeof text, x));
    return COVAR_OK;
}

static covar_status fail_shape(const map_check *c, const char *kind, int k,
                               la_view x, la_view expected)
{
    char have[64], need[64];
    return covar_fail(c->exec->ctx, COVAR_ERR_SHAPE,
                      "la_map_run: %s %d is %s but %s is needed", kind, k,
                      la_view_describe(have, sizeof have, x),
                      la_view_describe(need, sizeof need, expected));
}

static covar_status check_output(const map_check *c, int k, la_view x)
{
    const la_map_result *r = &c->code->results[k];
    size_t dim[LA_MAX_DIMS];
    int rank = 0;
    for (int i = 0; i < c->rank; i++)
        if (r->reduce == LA_REDUCE_NONE || !(r->axes >> i & 1))
            dim[rank++] = c->dim[i];
    const la_view expected = la_view_dense(NULL, c->code->dtype, rank, dim);
    if (!la_view_same_dims(x, expected))
        return fail_shape(c, "result", k, x, expected);
    for (int i = 0; i < rank; i++)
        if (dim[i] > 1 && x.stride[i] == 0 && la_view_count(x) > 0)
            return covar_fail(c->exec->ctx, COVAR_ERR_SHAPE,
                              "la_map_run: result %d has stride 0 in axis %d "
                              "of size %zu: it would be written many times",
                              k, i, dim[i]);
    return check_view(c, "result", k, x);
}

/* Equal in place and shape: the one overlap that is allowed. */
static bool same_view(la_view a, la_view b)
{
    bool same = a.data == b.data && a.rank == b.rank;
    for (int k = 0; same && k < a.rank; k++)
        same = a.dim[k] == b.dim[k] &&
               (a.dim[k] == 1 || a.stride[k] == b.stride[k]);
    return same;
}

static covar_status check_overlap(const map_check *c, const la_view *in,
                                  const la_view *out)
{
    const la_map_code *p = c->code;
    for (int k = 0; k < p->n_result; k++) {
        const bool stored = p->results[k].reduce == LA_REDUCE_NONE;
        for (int i = 0; i < p->n_in; i++)
            if (la_view_overlap(out[k], in[i]) &&
                !(stored && same_view(out[k], in[i])))
                return covar_fail(c->exec->ctx, COVAR_ERR_ARG,
                                  "la_map_run: result %d overlaps input %d "
                                  "without being the same view",
                                  k, i);
        for (int i = 0; i < k; i++)
            if (la_view_overlap(out[k], out[i]))
                return covar_fail(c->exec->ctx, COVAR_ERR_ARG,
                                  "la_map_run: results %d and %d overlap", i,
                                  k);
    }
    return COVAR_OK;
}

static covar_status check_symmetric(const map_check *c)
{
    const la_map_code *p = c->code;
    if (c->rank != 2 || c->dim[0] != c->dim[1])
        return covar_fail(c->exec->ctx, COVAR_ERR_SHAPE,
                          "la_map_run: a symmetric program needs a square "
                          "index space, not one of rank %d%s",
                          c->rank, c->rank == 2 ? " with other dims" : "");
    for (int k = 0; k < p->n_result; k++)
        if (p->results[k].reduce != LA_REDUCE_NONE && p->results[k].axes != 3)
            return covar_fail(c->exec->ctx, COVAR_ERR_ARG,
                              "la_map_run: result %d of a symmetric program "
                              "is reduced over axes 0x%x, not both",
                              k, p->results[k].axes);
    return COVAR_OK;
}

covar_status la_map_check(const la_exec *exec, const la_map_code *code,
                          int rank, const size_t *dim, const la_view *in,
                          const la_view *out, la_view *full)
{
    const map_check check = {exec, code, rank, dim};
    const map_check *c = &check;
    COVAR_TRY(la_check_exec(exec));
    COVAR_TRY(check_pointers(c, in, out));
    COVAR_TRY(check_counts(c));
    COVAR_TRY(check_steps(c));
    if (code->symmetric)
        COVAR_TRY(check_symmetric(c));
    const la_view space = la_view_dense(NULL, c->code->dtype, c->rank, c->dim);
    for (int i = 0; i < c->code->n_in; i++) {
        COVAR_TRY(check_view(c, "input", i, in[i]));
        if (!la_view_broadcast(&full[i], in[i], c->rank, c->dim))
            return fail_shape(c, "input", i, in[i], space);
    }
    for (int i = 0; i < c->code->n_result; i++)
        COVAR_TRY(check_output(c, i, out[i]));
    return check_overlap(c, full, out);
}
