/* Products: C = alpha op(A) op(B) + beta C and its symmetric special case.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A product with one row or one column is a matrix-vector product (gemv). A
 * symmetric product computes the lower triangle (n^2 k flops) and mirrors it.
 * Small products use own loops: no slower than a BLAS call on one thread, and
 * free of the lock of its buffer pool, which keeps stacks of them from scaling
 * over threads. */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/blas.h"
#include "linalg/check.h"
#include "linalg/leaf.h"
#include "linalg/triangle.h"

#include <string.h>

typedef struct gemm_args {
    double alpha, beta;
    la_trans ta, tb;
    la_view A, B, C;
    const la_leaf *leaf;
} gemm_args;

/* Up to this many rows, columns and terms own loops beat a call of gemm. */
enum { SMALL = 16 };

/* Symmetric products up to this order are one call of syrk. */
enum { SYRK_WHOLE = 512 };

#define REAL_BODY "linalg/gemm.inc"
#include "linalg/each_real.h"

covar_status la_cpu_gemm(const la_exec *exec, double alpha, la_trans ta,
                         la_view A, la_trans tb, la_view B, double beta,
                         la_view C)
{
    const gemm_args args = {alpha, beta, ta, tb, A, B, C, la_leaf_of(exec)};
    const double k = ta ? la_rows(A) : la_cols(A);
    const double flops = 2.0 * la_rows(C) * la_cols(C) * k;
    la_batch_run(exec, la_batch_count(C, 2), flops, LA_CROSSOVER_GEMM,
                 C.dtype == LA_F64 ? gemm_one_f64 : gemm_one_f32, &args);
    return COVAR_OK;
}

covar_status la_cpu_syrk(const la_exec *exec, double alpha, la_trans trans,
                         la_view A, double beta, la_view C)
{
    const gemm_args args = {
        .alpha = alpha, .beta = beta, .ta = trans, .A = A, .C = C};
    const double k = trans ? la_rows(A) : la_cols(A);
    const double flops = (double)la_rows(C) * la_rows(C) * k;
    la_batch_run(exec, la_batch_count(C, 2), flops, LA_CROSSOVER_SYRK,
                 C.dtype == LA_F64 ? syrk_one_f64 : syrk_one_f32, &args);
    return COVAR_OK;
}

covar_status la_gemm(const la_exec *exec, double alpha, la_trans ta, la_view A,
                     la_trans tb, la_view B, double beta, la_view C)
{
    static const char who[] = "la_gemm";
    COVAR_TRY(la_check_flag(exec, who, "ta", (int)ta));
    COVAR_TRY(la_check_flag(exec, who, "tb", (int)tb));
    COVAR_TRY(la_check_input(exec, who, "A", A, 2));
    COVAR_TRY(la_check_input(exec, who, "B", B, 2));
    COVAR_TRY(la_check_output(exec, who, "C", C, 2));
    COVAR_TRY(la_check_pair(exec, who, "A", A, 2, "C", C, 2));
    COVAR_TRY(la_check_pair(exec, who, "B", B, 2, "C", C, 2));
    const la_view opA = ta ? la_view_transpose(A) : A;
    const la_view opB = tb ? la_view_transpose(B) : B;
    if (la_cols(opA) != la_rows(opB))
        return la_fail_shape(exec, who, "op(A)", opA, "op(B)", opB,
                             "the inner dims differ");
    if (la_rows(opA) != la_rows(C))
        return la_fail_shape(exec, who, "op(A)", opA, "C", C,
                             "the numbers of rows differ");
    if (la_cols(opB) != la_cols(C))
        return la_fail_shape(exec, who, "op(B)", opB, "C", C,
                             "the numbers of columns differ");
    return la_device_of(exec)->gemm(exec, alpha, ta, A, tb, B, beta, C);
}

covar_status la_syrk(const la_exec *exec, double alpha, la_trans trans,
                     la_view A, double beta, la_view C)
{
    static const char who[] = "la_syrk";
    COVAR_TRY(la_check_flag(exec, who, "trans", (int)trans));
    COVAR_TRY(la_check_input(exec, who, "A", A, 2));
    COVAR_TRY(la_check_output(exec, who, "C", C, 2));
    COVAR_TRY(la_check_pair(exec, who, "A", A, 2, "C", C, 2));
    COVAR_TRY(la_check_square(exec, who, "C", C));
    const la_view opA = trans ? la_view_transpose(A) : A;
    if (la_rows(opA) != la_rows(C))
        return la_fail_shape(exec, who, "op(A)", opA, "C", C,
                             "the numbers of rows differ");
    return la_device_of(exec)->syrk(exec, alpha, trans, A, beta, C);
}
