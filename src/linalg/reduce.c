/* Reductions of one array: a map program without steps.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/linalg_impl.h"
#include "linalg/nest.h"

covar_status la_reduce(const la_exec *exec, la_reduce_kind kind, la_view out,
                       la_view x, unsigned axes)
{
    if (kind < LA_REDUCE_SUM || kind > LA_REDUCE_MIN)
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "la_reduce: there is no reduction %d", (int)kind);
    const la_map_result result = {.reg = 0, .reduce = kind, .axes = axes};
    const la_map_code code = {.dtype = x.dtype,
                              .n_in = 1,
                              .n_result = 1,
                              .n_reg = 1,
                              .results = &result};
    return la_map_run(exec, &code, x.rank, x.dim, &x, &out, NULL);
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
    if (la_view_count(x) == 0)
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
