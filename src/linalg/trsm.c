/* Triangular solves and products, in place over B:
 *     B = alpha op(T)^-1 B   or   alpha B op(T)^-1   (trsm)
 *     B = alpha op(T) B      or   alpha B op(T)      (trmm)
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One right-hand side goes to trsv: solve.c packs for many and is slower there.
 * alpha = 0 never reads B, so that NaN * 0 does not survive. */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/blas.h"
#include "linalg/check.h"
#include "linalg/solve.h"

#include <string.h>

typedef struct tri_args {
    la_side side;
    la_uplo uplo;
    la_trans trans;
    la_diag diag;
    double alpha;
    la_view T, B;
    const la_leaf *leaf; /* of solves */
} tri_args;

#define REAL_BODY "linalg/trsm.inc"
#include "linalg/each_real.h"

static double flops_of(la_view T, la_view B)
{
    return (double)la_rows(B) * la_cols(B) * la_rows(T);
}

covar_status la_cpu_trmm(const la_exec *exec, la_side side, la_uplo uplo,
                         la_trans trans, la_diag diag, double alpha, la_view T,
                         la_view B)
{
    const tri_args args = {side, uplo, trans, diag, alpha, T, B, NULL};
    la_batch_run(exec, la_batch_count(B, 2), flops_of(T, B), LA_CROSSOVER_TRMM,
                 B.dtype == LA_F64 ? trmm_one_f64 : trmm_one_f32, &args);
    return COVAR_OK;
}

covar_status la_cpu_trsm(const la_exec *exec, la_side side, la_uplo uplo,
                         la_trans trans, la_diag diag, double alpha, la_view T,
                         la_view B)
{
    const tri_args args = {side,  uplo, trans, diag,
                           alpha, T,    B,     la_leaf_of(exec)};
    la_batch_run(exec, la_batch_count(B, 2), flops_of(T, B), LA_CROSSOVER_TRSM,
                 B.dtype == LA_F64 ? trsm_one_f64 : trsm_one_f32, &args);
    return COVAR_OK;
}

static covar_status check_flags(const la_exec *exec, const char *who,
                                la_side side, la_uplo uplo, la_trans trans,
                                la_diag diag)
{
    COVAR_TRY(la_check_flag(exec, who, "side", (int)side));
    COVAR_TRY(la_check_flag(exec, who, "uplo", (int)uplo));
    COVAR_TRY(la_check_flag(exec, who, "trans", (int)trans));
    return la_check_flag(exec, who, "diag", (int)diag);
}

static covar_status check(const la_exec *exec, const char *who, la_side side,
                          la_view T, la_view B)
{
    COVAR_TRY(la_check_input(exec, who, "T", T, 2));
    COVAR_TRY(la_check_output(exec, who, "B", B, 2));
    COVAR_TRY(la_check_pair(exec, who, "T", T, 2, "B", B, 2));
    COVAR_TRY(la_check_square(exec, who, "T", T));
    if (side == LA_LEFT && la_cols(T) != la_rows(B))
        return la_fail_shape(exec, who, "T", T, "B", B,
                             "B needs as many rows as T");
    if (side == LA_RIGHT && la_cols(B) != la_rows(T))
        return la_fail_shape(exec, who, "T", T, "B", B,
                             "B needs as many columns as T");
    return COVAR_OK;
}

covar_status la_trmm(const la_exec *exec, la_side side, la_uplo uplo,
                     la_trans trans, la_diag diag, double alpha, la_view T,
                     la_view B)
{
    COVAR_TRY(check_flags(exec, "la_trmm", side, uplo, trans, diag));
    COVAR_TRY(check(exec, "la_trmm", side, T, B));
    return la_device_of(exec)->trmm(exec, side, uplo, trans, diag, alpha, T, B);
}

covar_status la_trsm(const la_exec *exec, la_side side, la_uplo uplo,
                     la_trans trans, la_diag diag, double alpha, la_view T,
                     la_view B)
{
    COVAR_TRY(check_flags(exec, "la_trsm", side, uplo, trans, diag));
    COVAR_TRY(check(exec, "la_trsm", side, T, B));
    return la_device_of(exec)->trsm(exec, side, uplo, trans, diag, alpha, T, B);
}
