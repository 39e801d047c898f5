/* Cholesky factorisation A = L L', its reverse mode, and its condition.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The factorisation is recursive, by halves down to order 32; all but the
 * smallest blocks is gemm, syrk and the solves of solve.c. dpotrf of OpenBLAS
 * 0.3.21 spends half of its time in a trsm that is two to three times slower
 * than gemm (n = 500, AVX-512).
 *
 * Reverse mode: A_bar = 1/2 L^-T sym(L' L_bar) L^-1, sym(M) = the lower
 * triangle mirrored up. It is computed by differentiating the blocked
 * factorisation (Murray, arXiv 1602.07527), here in its recursive
 * form: with L = [L11 0; C L22] the factorisation did
 *     L11 = chol(A11), C = A21 L11^-T, L22 = chol(A22 - C C'),
 * so going backwards, in place over L_bar = [B11 0; C_bar B22],
 *     B22   = rev(L22, B22)
 *     C_bar = (C_bar - (B22 + B22') C) L11^-1
 *     B11   = rev(L11, B11 - tril(C_bar' C)).
 * All of it is level-3 BLAS, 2 n^3/3 flops, without a temporary. During the
 * recursion a triangle holds the derivative by the lower elements alone, which
 * is twice the symmetric A_bar off the diagonal; the last pass halves it. */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/blas.h"
#include "linalg/check.h"
#include "linalg/solve.h"
#include "linalg/triangle.h"

#include <string.h>

typedef struct chol_args {
    la_view L, L_bar;
    int32_t *info;
    const la_leaf *leaf;
    size_t count;
} chol_args;

/* Stacks of small matrices go by groups, one matrix in each vector lane. */
static bool by_groups(const chol_args *c)
{
    return c->count >= 4 && la_rows(c->L) <= LA_LEAF_MAX;
}

static size_t groups(const chol_args *c)
{
    const size_t lanes = c->L.dtype == LA_F64 ? LA_LANES_f64 : LA_LANES_f32;
    return (c->count + lanes - 1) / lanes;
}

#define REAL_BODY "linalg/cholesky.inc"
#include "linalg/each_real.h"

/* `one` and `group` are the functions for f64, f32. */
static void run(const la_exec *exec, const chol_args *c, double flops,
                la_batch_fn *const one[2], la_batch_fn *const group[2])
{
    const int f32 = c->L.dtype == LA_F32;
    const double n = la_rows(c->L);
    flops *= n * n * n;
    if (by_groups(c))
        la_batch_run(exec, groups(c), flops * (f32 ? 16 : 8), 1e300, group[f32],
                     c);
    else
        la_batch_run(exec, c->count, flops, LA_CROSSOVER_CHOL, one[f32], c);
}

covar_status la_cpu_potrf(const la_exec *exec, la_view A, int32_t *info)
{
    const chol_args args = {.L = A,
                            .info = info,
                            .leaf = la_leaf_of(exec),
                            .count = la_batch_count(A, 2)};
    run(exec, &args, 1.0 / 3, (la_batch_fn *[]){potrf_one_f64, potrf_one_f32},
        (la_batch_fn *[]){potrf_group_f64, potrf_group_f32});
    return COVAR_OK;
}

covar_status la_cpu_chol_rev(const la_exec *exec, la_view L, la_view L_bar)
{
    const chol_args args = {.L = L,
                            .L_bar = L_bar,
                            .leaf = la_leaf_of(exec),
                            .count = la_batch_count(L, 2)};
    run(exec, &args, 2.0 / 3, (la_batch_fn *[]){rev_one_f64, rev_one_f32},
        (la_batch_fn *[]){rev_group_f64, rev_group_f32});
    return COVAR_OK;
}

covar_status la_potrf(const la_exec *exec, la_view A, int32_t *info)
{
    static const char who[] = "la_potrf";
    COVAR_TRY(la_check_output(exec, who, "A", A, 2));
    COVAR_TRY(la_check_square(exec, who, "A", A));
    COVAR_TRY(la_check_info(exec, who, info));
    return la_device_of(exec)->potrf(exec, A, info);
}

covar_status la_chol_rev(const la_exec *exec, la_view L, la_view L_bar)
{
    static const char who[] = "la_chol_rev";
    COVAR_TRY(la_check_input(exec, who, "L", L, 2));
    COVAR_TRY(la_check_output(exec, who, "L_bar", L_bar, 2));
    COVAR_TRY(la_check_pair(exec, who, "L", L, 2, "L_bar", L_bar, 2));
    COVAR_TRY(la_check_square(exec, who, "L", L));
    if (!la_view_same_dims(L, L_bar))
        return la_fail_shape(exec, who, "L", L, "L_bar", L_bar,
                             "equal dims are needed");
    return la_device_of(exec)->chol_rev(exec, L, L_bar);
}

covar_status la_rcond_chol(const la_exec *exec, la_view L, double norm1,
                           double *rcond)
{
    static const char who[] = "la_rcond_chol";
    COVAR_TRY(la_check_input(exec, who, "L", L, 2));
    COVAR_TRY(la_check_square(exec, who, "L", L));
    if (!rcond || !(norm1 >= 0))
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "%s: rcond is NULL or the norm, %g, is not >= 0", who,
                          norm1);
    if (L.rank != 2)
        return la_fail_shape(exec, who, "L", L, "the matrix", L,
                             "one matrix without a batch is needed");
    if (la_device_of(exec) != &la_device_cpu)
        return covar_fail(exec->ctx, COVAR_ERR_UNSUPPORTED,
                          "%s: only on the CPU", who);
    const size_t n = (size_t)la_rows(L), size = la_dtype_size(L.dtype);
    covar_heap *heap = covar_context_heap(exec->ctx);
    void *work = covar_heap_alloc(heap, 3 * n, size);
    int *iwork = covar_heap_alloc(heap, n, sizeof(int));
    covar_status status = COVAR_OK;
    if (work && iwork)
        *rcond = L.dtype == LA_F64 ? rcond_f64(L, norm1, work, iwork)
                                   : rcond_f32(L, norm1, work, iwork);
    else
        status = covar_fail_nomem(exec->ctx, who);
    covar_heap_free(heap, work);
    covar_heap_free(heap, iwork);
    return status;
}
