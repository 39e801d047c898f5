/* Rows by index: out[i] = x[index[i]], and its adjoint out[index[i]] += x[i].
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row is everything behind the first dim; its last stride is 1. All indices
 * are checked before anything is written. scatter_add keeps the order of i, so
 * that repeated indices add up the same way on every run. */
#include <config.h>

#include "linalg/check.h"

#include <string.h>

/* Vectors in one row, and elements in one vector. */
static size_t row_vectors(la_view row)
{
    return row.rank > 0 ? la_batch_count(row, 1) : 1;
}

static size_t row_length(la_view row)
{
    return row.rank > 0 ? row.dim[row.rank - 1] : 1;
}

static void *row_at(la_view row, size_t v)
{
    return row.rank > 0 ? la_batch_at(row, 1, v) : row.data;
}

#define REAL_BODY "linalg/gather.inc"
#include "linalg/each_real.h"

static covar_status check_indices(const la_exec *exec, const char *who,
                                  const char *name, la_view x, la_view index)
{
    const int32_t *at = index.data;
    for (size_t i = 0; i < index.dim[0]; i++)
        if (at[i] < 0 || (size_t)at[i] >= x.dim[0])
            return covar_fail(exec->ctx, COVAR_ERR_ARG,
                              "%s: index[%zu] = %d but %s has %zu rows", who, i,
                              (int)at[i], name, x.dim[0]);
    return COVAR_OK;
}

covar_status la_cpu_gather(const la_exec *exec, la_view out, la_view x,
                           la_view index)
{
    COVAR_TRY(check_indices(exec, "la_gather", "x", x, index));
    const int32_t *at = index.data;
    const size_t size = la_dtype_size(x.dtype);
    for (size_t i = 0; i < index.dim[0]; i++) {
        const la_view to = la_view_row(out, i);
        const la_view from = la_view_row(x, (size_t)at[i]);
        for (size_t v = 0; v < row_vectors(to); v++)
            memcpy(row_at(to, v), row_at(from, v), row_length(to) * size);
    }
    return COVAR_OK;
}

covar_status la_cpu_scatter_add(const la_exec *exec, la_view out, la_view x,
                                la_view index)
{
    COVAR_TRY(check_indices(exec, "la_scatter_add", "out", out, index));
    if (x.dtype == LA_F64)
        scatter_f64(out, x, index.data, index.dim[0]);
    else
        scatter_f32(out, x, index.data, index.dim[0]);
    return COVAR_OK;
}

/* `many` has the rows that `few` names by index: few[i] ~ many[index[i]]. */
static covar_status check_rows(const la_exec *exec, const char *who,
                               const char *name_few, la_view few,
                               const char *name_many, la_view many,
                               la_view index)
{
    COVAR_TRY(la_check_i32(exec, who, "index", index));
    bool same = few.rank == many.rank;
    for (int k = 1; same && k < few.rank; k++)
        same = few.dim[k] == many.dim[k];
    if (!same)
        return la_fail_shape(exec, who, name_few, few, name_many, many,
                             "their rows differ");
    if (few.dim[0] != index.dim[0])
        return la_fail_shape(exec, who, name_few, few, "index", index,
                             "one row per index is needed");
    return COVAR_OK;
}

covar_status la_gather(const la_exec *exec, la_view out, la_view x,
                       la_view index)
{
    static const char who[] = "la_gather";
    COVAR_TRY(la_check_input(exec, who, "x", x, 1));
    COVAR_TRY(la_check_output(exec, who, "out", out, 1));
    if (x.dtype != out.dtype)
        COVAR_TRY(la_check_pair(exec, who, "x", x, 1, "out", out, 1));
    COVAR_TRY(check_rows(exec, who, "out", out, "x", x, index));
    return la_device_of(exec)->gather(exec, out, x, index);
}

covar_status la_scatter_add(const la_exec *exec, la_view out, la_view x,
                            la_view index)
{
    static const char who[] = "la_scatter_add";
    COVAR_TRY(la_check_input(exec, who, "x", x, 1));
    COVAR_TRY(la_check_output(exec, who, "out", out, 1));
    if (x.dtype != out.dtype)
        COVAR_TRY(la_check_pair(exec, who, "x", x, 1, "out", out, 1));
    COVAR_TRY(check_rows(exec, who, "x", x, "out", out, index));
    return la_device_of(exec)->scatter_add(exec, out, x, index);
}
