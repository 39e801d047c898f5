/* Interpreter of map programs: one element after the other, in double.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/map_table.h"

#include <float.h>
#include <math.h>

static double log_erfc(double x)
{
    if (x < 20)
        return log(erfc(x));
    const double y = 1 / (2 * x * x);
    return -x * x - log(x * sqrt(M_PI)) + log1p(-y * (1 - 3 * y * (1 - 5 * y)));
}

static double log1mexp(double x)
{
    return x > -M_LN2 ? log(-expm1(x)) : log1p(-exp(x));
}

static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double unary(int row, double a)
{
    switch (row) {
    case LA_COPY:
        return a;
    case LA_NEG:
        return -a;
    case LA_ABS:
        return fabs(a);
    case LA_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a;
    case LA_FLOOR:
        return floor(a);
    case LA_CEIL:
        return ceil(a);
    case LA_ROUND:
        return round(a);
    case LA_SQUARE:
        return a * a;
    case LA_RECIP:
        return 1 / a;
    case LA_SQRT:
        return sqrt(a);
    case LA_EXP:
        return exp(a);
    case LA_EXPM1:
        return expm1(a);
    case LA_LOG:
        return log(a);
    case LA_LOG1P:
        return log1p(a);
    case LA_LOG1MEXP:
        return log1mexp(a);
    case LA_SIN:
        return sin(a);
    case LA_COS:
        return cos(a);
    case LA_TAN:
        return tan(a);
    case LA_ATAN:
        return atan(a);
    case LA_SINH:
        return sinh(a);
    case LA_COSH:
        return cosh(a);
    case LA_TANH:
        return tanh(a);
    case LA_SIGMOID:
        return a < 0 ? exp(a) / (1 + exp(a)) : 1 / (1 + exp(-a));
    case LA_SOFTPLUS:
        return softplus(a);
    case LA_SOFTPLUS_INV:
        return a > 40 ? a : a + log1mexp(-a);
    case LA_LOG_SIGMOID:
        return -softplus(-a);
    case LA_ERF:
        return erf(a);
    case LA_ERFC:
        return erfc(a);
    case LA_LOG_ERFC:
        return log_erfc(a);
    case LA_NDTR:
        return 0.5 * erfc(-a * M_SQRT1_2);
    case LA_LOG_NDTR:
        return a > 0 ? log1p(-0.5 * erfc(a * M_SQRT1_2))
                     : log_erfc(-a * M_SQRT1_2) - M_LN2;
    case LA_IS_FINITE:
        return isfinite(a);
    default:
        return a == 0;
    }
}

static double binary(int row, double a, double b)
{
    switch (row) {
    case LA_ADD:
        return a + b;
    case LA_SUB:
        return a - b;
    case LA_MUL:
        return a * b;
    case LA_DIV:
        return a / b;
    case LA_POW:
        return pow(a, b);
    case LA_MIN:
        return isnan(a) || a < b ? a : b;
    case LA_MAX:
        return isnan(a) || a > b ? a : b;
    case LA_EQ:
        return a == b;
    case LA_NE:
        return a != b;
    case LA_LT:
        return a < b;
    default:
        return a <= b;
    }
}

static double apply(const la_map_step *s, const double *reg)
{
    const double a = reg[s->in[0]];
    switch (la_row_arity(s->row)) {
    case 1:
        return unary(s->row, a);
    case 2:
        return binary(s->row, a, reg[s->in[1]]);
    default:
        return s->row == LA_WHERE ? (a != 0 ? reg[s->in[1]] : reg[s->in[2]])
                                  : a * reg[s->in[1]] + reg[s->in[2]];
    }
}

static double reduce(la_reduce_kind kind, double acc, double x)
{
    switch (kind) {
    case LA_REDUCE_SUM:
        return acc + x;
    case LA_REDUCE_MAX:
        return isnan(acc) || acc > x ? acc : x;
    case LA_REDUCE_MIN:
        return isnan(acc) || acc < x ? acc : x;
    default:
        return x;
    }
}

static const double starts[] = {0, 0, -INFINITY, INFINITY};

int la_map_optimise(la_map_step *steps, int n_step, const la_map_code *code)
{
    (void)steps;
    (void)code;
    return n_step;
}

size_t la_map_work_size(const la_map_code *code, int rank, const size_t *dim,
                        int threads)
{
    (void)code;
    (void)rank;
    (void)dim;
    (void)threads;
    return 64;
}

/* The element of `out` that index i of the space goes to. */
static size_t target(const la_map_result *r, int rank, const size_t *dim,
                     size_t i)
{
    size_t at = 0, step = 1;
    for (int k = rank; k-- > 0; i /= dim[k])
        if (r->reduce == LA_REDUCE_NONE || !(r->axes >> k & 1)) {
            at += i % dim[k] * step;
            step *= dim[k];
        }
    return at;
}

covar_status la_cpu_map_run(const la_exec *exec, const la_map_code *code,
                            int rank, const size_t *dim, const la_view *in,
                            const la_view *out, void *work)
{
    (void)work;
    covar_heap *heap = covar_context_heap(exec->ctx);
    double reg[LA_MAP_MAX_REG];
    double *acc[LA_MAP_MAX_RESULT] = {NULL};
    const size_t n = la_view_count(la_view_dense(NULL, LA_F64, rank, dim));
    for (int k = 0; k < code->n_result; k++) {
        const size_t m = la_view_count(out[k]);
        acc[k] = covar_heap_alloc(heap, m, sizeof(double));
        for (size_t i = 0; acc[k] && i < m; i++)
            acc[k][i] = starts[code->results[k].reduce];
    }
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < code->n_in; k++)
            reg[k] = la_view_get(in[k], i);
        for (int k = 0; k < code->n_const; k++)
            reg[code->n_in + k] = code->dtype == LA_F32
                                      ? (double)(float)code->constants[k]
                                      : code->constants[k];
        for (int k = 0; k < code->n_step; k++) {
            const double y = apply(&code->steps[k], reg);
            reg[code->steps[k].out] =
                code->dtype == LA_F32 ? (double)(float)y : y;
        }
        for (int k = 0; k < code->n_result && acc[k]; k++) {
            const la_map_result *r = &code->results[k];
            double *a = &acc[k][target(r, rank, dim, i)];
            *a = reduce(r->reduce, *a, reg[r->reg]);
        }
    }
    for (int k = 0; k < code->n_result; k++) {
        for (size_t i = 0; acc[k] && i < la_view_count(out[k]); i++)
            la_view_set(out[k], i, acc[k][i]);
        covar_heap_free(heap, acc[k]);
    }
    return COVAR_OK;
}
