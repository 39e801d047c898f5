/* Reductions of one array: a map program without steps.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/check.h"
#include "linalg/map_plan.h"

enum { PARALLEL_ELEMENTS = 1 << 16 };

typedef struct reduction {
    const la_exec *exec;
    la_map_code code;
    unsigned axes;
} reduction;

static covar_status run(const reduction *r, la_view out, la_view x)
{
    const la_device *device = la_device_of(r->exec);
    return device->map_run(r->exec, &r->code, x.rank, x.dim, &x, &out, NULL);
}

/* The longest kept axis of x, and its place in out. */
static int kept_axis(const reduction *r, la_view x, int *out_axis)
{
    int best = -1;
    for (int i = 0, o = 0; i < x.rank; i++) {
        if (r->axes >> i & 1)
            continue;
        if (best < 0 || x.dim[i] > x.dim[best]) {
            best = i;
            *out_axis = o;
        }
        o++;
    }
    return best;
}

/* Piece by piece, so that the accumulators of one fit on the stack. */
static covar_status run_pieces(const reduction *r, la_view out, la_view x)
{
    const size_t count = la_view_count(out);
    if (count <= LA_MAP_STACK_ACC || r->exec->device)
        return run(r, out, x);
    int out_axis = 0;
    const int axis = kept_axis(r, x, &out_axis);
    const size_t n = x.dim[axis];
    const size_t length = n * LA_MAP_STACK_ACC / count;
    const size_t step = length > 0 ? length : 1;
    const size_t pieces = (n + step - 1) / step;
    la_exec one = *r->exec;
    reduction part = *r;
    const bool many = la_view_count(x) > PARALLEL_ELEMENTS;
    const int threads = many ? r->exec->threads : 1;
    one.threads = 1;
    part.exec = &one;
    covar_status status = COVAR_OK;
    (void)threads;
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t k = 0; k < pieces; k++) {
        const size_t start = k * step;
        const size_t size = n - start < step ? n - start : step;
        const covar_status s =
            run_pieces(&part, la_view_slice(out, out_axis, start, size),
                       la_view_slice(x, axis, start, size));
        if (s != COVAR_OK)
#pragma omp atomic write
            status = s;
    }
    return status;
}

covar_status la_reduce(const la_exec *exec, la_reduce_kind kind, la_view out,
                       la_view x, unsigned axes)
{
    COVAR_TRY(la_check_exec(exec));
    if (kind < LA_REDUCE_SUM || kind > LA_REDUCE_MIN)
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "la_reduce: there is no reduction %d", (int)kind);
    if (x.rank < 0 || x.rank > LA_MAX_DIMS)
        return covar_fail(exec->ctx, COVAR_ERR_SHAPE,
                          "la_reduce: x has rank %d, not one in 0..%d", x.rank,
                          LA_MAX_DIMS);
    const la_map_result result = {.reg = 0, .reduce = kind, .axes = axes};
    const reduction r = {.exec = exec,
                         .code = {.dtype = x.dtype,
                                  .n_in = 1,
                                  .n_result = 1,
                                  .n_reg = 1,
                                  .results = &result},
                         .axes = axes};
    la_view full;
    COVAR_TRY(la_map_check(exec, &r.code, x.rank, x.dim, &x, &out, &full));
    return run_pieces(&r, out, x);
}

/* First index in [0, n) whose element is not finite, or n. Adds up x - x,
 * which is 0 or NaN, so that the loop has no branch. */
static size_t bad_f64(const double *x, ptrdiff_t s, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[(ptrdiff_t)i * s] - x[(ptrdiff_t)i * s];
    size_t i = 0;
    while (sum != 0 && x[(ptrdiff_t)i * s] - x[(ptrdiff_t)i * s] == 0)
        i++;
    return sum == 0 ? n : i;
}

static size_t bad_f32(const float *x, ptrdiff_t s, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[(ptrdiff_t)i * s] - x[(ptrdiff_t)i * s];
    size_t i = 0;
    while (sum != 0 && x[(ptrdiff_t)i * s] - x[(ptrdiff_t)i * s] == 0)
        i++;
    return sum == 0 ? n : i;
}

bool la_all_finite(la_view x, size_t *first)
{
    la_nest nest;
    if (!la_view_is_valid(x)) {
        if (first)
            *first = 0;
        return false;
    }
    if (la_view_count(x) == 0 || !la_dtype_is_real(x.dtype))
        return true;
    la_nest_init(&nest, x.rank, x.dim);
    la_nest_add(&nest, x.stride);
    la_nest_collapse(&nest);
    const int last = nest.rank - 1;
    const size_t rows = la_nest_outer(&nest), n = nest.dim[last];
    const ptrdiff_t s = nest.stride[0][last];
    for (size_t i = 0; i < rows; i++) {
        const ptrdiff_t at = la_nest_offset(&nest, 0, last, i);
        const size_t bad = x.dtype == LA_F64
                               ? bad_f64((const double *)x.data + at, s, n)
                               : bad_f32((const float *)x.data + at, s, n);
        if (bad == n)
            continue;
        if (first)
            *first = i * n + bad;
        return false;
    }
    return true;
}
