/* Diagonals and packed triangles: taken out, put in, added to, summed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A diagonal is a strided view, so these are copies and maps on views and run
 * on every device; only sum_i log L_ii has a kernel of its own. It adds in
 * double for f32, too. */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/check.h"

#include <math.h>

typedef struct log_args {
    la_view out, L;
} log_args;

#define REAL_BODY "linalg/diag.inc"
#include "linalg/each_real.h"

/* Diagonal k of the last two dims of x; empty when it lies outside. */
static la_view diagonal(la_view x, ptrdiff_t k)
{
    const int axis = k < 0 ? x.rank - 2 : x.rank - 1;
    const size_t skip = k < 0 ? (size_t)0 - (size_t)k : (size_t)k;
    const size_t size = x.dim[axis];
    const size_t start = skip < size ? skip : size;
    return la_view_diag(la_view_slice(x, axis, start, size - start));
}

static covar_status check_diagonal(const la_exec *exec, const char *who,
                                   const char *name_m, la_view m,
                                   const char *name_v, la_view v, ptrdiff_t k)
{
    COVAR_TRY(la_check_pair(exec, who, name_m, m, 2, name_v, v, 1));
    if (diagonal(m, k).dim[m.rank - 2] != v.dim[v.rank - 1])
        return la_fail_shape(exec, who, name_m, m, name_v, v,
                             "the diagonal has another length");
    return COVAR_OK;
}

covar_status la_extract_diag(const la_exec *exec, ptrdiff_t k, la_view out,
                             la_view x)
{
    static const char who[] = "la_extract_diag";
    COVAR_TRY(la_check_input(exec, who, "x", x, 2));
    COVAR_TRY(la_check_output(exec, who, "out", out, 1));
    COVAR_TRY(check_diagonal(exec, who, "x", x, "out", out, k));
    return la_device_of(exec)->copy(exec, out, diagonal(x, k));
}

covar_status la_make_diag(const la_exec *exec, ptrdiff_t k, la_view out,
                          la_view x)
{
    static const char who[] = "la_make_diag";
    COVAR_TRY(la_check_input(exec, who, "x", x, 1));
    COVAR_TRY(la_check_output(exec, who, "out", out, 2));
    COVAR_TRY(check_diagonal(exec, who, "out", out, "x", x, k));
    COVAR_TRY(la_device_of(exec)->fill(exec, out, 0.0));
    return la_device_of(exec)->copy(exec, diagonal(out, k), x);
}

covar_status la_add_diag(const la_exec *exec, la_view A, la_view v)
{
    static const char who[] = "la_add_diag";
    COVAR_TRY(la_check_output(exec, who, "A", A, 2));
    COVAR_TRY(la_check_square(exec, who, "A", A));
    const bool scalars = v.rank == A.rank - 2;
    COVAR_TRY(la_check_input(exec, who, "v", v, scalars ? 0 : 1));
    if (scalars)
        COVAR_TRY(la_check_pair(exec, who, "A", A, 2, "v", v, 0));
    else
        COVAR_TRY(check_diagonal(exec, who, "A", A, "v", v, 0));
    const la_view diag = la_view_diag(A);
    const la_view in[2] = {diag, scalars ? la_view_expand(v, v.rank) : v};
    return la_map(exec, LA_ADD, diag, in);
}

static covar_status check_trian(const la_exec *exec, const char *who,
                                const char *name_m, la_view m,
                                const char *name_v, la_view v)
{
    COVAR_TRY(la_check_pair(exec, who, name_m, m, 2, name_v, v, 1));
    COVAR_TRY(la_check_square(exec, who, name_m, m));
    const size_t n = m.dim[m.rank - 1];
    if (v.dim[v.rank - 1] != n * (n + 1) / 2)
        return la_fail_shape(exec, who, name_m, m, name_v, v,
                             "the triangle has n (n + 1) / 2 elements");
    return COVAR_OK;
}

/* Row i of the lower triangle of m, and its place in the packed v. */
static la_view matrix_row(la_view m, size_t i)
{
    la_view row = la_view_slice(m, m.rank - 2, i, 1);
    row = la_view_slice(row, m.rank - 1, 0, i + 1);
    row.dim[m.rank - 2] = i + 1;
    row.stride[m.rank - 2] = row.stride[m.rank - 1];
    row.rank--;
    return row;
}

static la_view packed_row(la_view v, size_t i)
{
    return la_view_slice(v, v.rank - 1, i * (i + 1) / 2, i + 1);
}

covar_status la_extract_trian(const la_exec *exec, la_view out, la_view x)
{
    static const char who[] = "la_extract_trian";
    COVAR_TRY(la_check_input(exec, who, "x", x, 2));
    COVAR_TRY(la_check_output(exec, who, "out", out, 1));
    COVAR_TRY(check_trian(exec, who, "x", x, "out", out));
    for (size_t i = 0; i < x.dim[x.rank - 1]; i++)
        COVAR_TRY(la_device_of(exec)->copy(exec, packed_row(out, i),
                                           matrix_row(x, i)));
    return COVAR_OK;
}

covar_status la_make_trian(const la_exec *exec, la_view out, la_view x)
{
    static const char who[] = "la_make_trian";
    COVAR_TRY(la_check_input(exec, who, "x", x, 1));
    COVAR_TRY(la_check_output(exec, who, "out", out, 2));
    COVAR_TRY(check_trian(exec, who, "out", out, "x", x));
    COVAR_TRY(la_device_of(exec)->fill(exec, out, 0.0));
    for (size_t i = 0; i < out.dim[out.rank - 1]; i++)
        COVAR_TRY(la_device_of(exec)->copy(exec, matrix_row(out, i),
                                           packed_row(x, i)));
    return COVAR_OK;
}

covar_status la_cpu_sum_log_diag(const la_exec *exec, la_view out, la_view L)
{
    const log_args args = {out, L};
    la_batch_run(exec, la_batch_count(L, 2), 50.0 * la_rows(L), 1e300,
                 L.dtype == LA_F64 ? log_one_f64 : log_one_f32, &args);
    return COVAR_OK;
}

covar_status la_sum_log_diag(const la_exec *exec, la_view out, la_view L)
{
    static const char who[] = "la_sum_log_diag";
    COVAR_TRY(la_check_input(exec, who, "L", L, 2));
    COVAR_TRY(la_check_output(exec, who, "out", out, 0));
    COVAR_TRY(la_check_pair(exec, who, "L", L, 2, "out", out, 0));
    COVAR_TRY(la_check_square(exec, who, "L", L));
    return la_device_of(exec)->sum_log_diag(exec, out, L);
}
