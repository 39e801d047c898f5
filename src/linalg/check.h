/* Private: what the public la_* functions ask of their operands.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every check returns COVAR_OK or a status with a sentence such as
 * "la_gemm: A is f64 3x4 but C is f64 5x2: op(A) and C need equal rows".
 * After them a kernel may rely on: real dtype, equal dtypes, the executing
 * device, data present when there are elements, unit last stride, row stride
 * >= columns, every size and row stride within int. */
#ifndef COVAR_LINALG_CHECK_H
#define COVAR_LINALG_CHECK_H

#include "linalg/linalg_impl.h"

/* exec and its context are there; without them no sentence can be left. The
 * other checks on exec begin with it. */
covar_status la_check_exec(const la_exec *exec);

/* x is the operand `name` of function `who`: dtype, rank and data are there
 * (la_view_is_valid); its last `core` dims (0, 1, 2)
 * are the scalar, vector or matrix, the others a batch. */
covar_status la_check_input(const la_exec *exec, const char *who,
                            const char *name, la_view x, int core);

/* The same; and no element is written twice. */
covar_status la_check_output(const la_exec *exec, const char *who,
                             const char *name, la_view x, int core);

/* The last two dims are equal (after la_check_input with core 2). */
covar_status la_check_square(const la_exec *exec, const char *who,
                             const char *name, la_view x);

/* a and b have one dtype, and equal batches in front of their cores. */
covar_status la_check_pair(const la_exec *exec, const char *who,
                           const char *name_a, la_view a, int core_a,
                           const char *name_b, la_view b, int core_b);

/* x has integer elements of dtype i32, on the device, in a unit-stride
 * vector. */
covar_status la_check_i32(const la_exec *exec, const char *who,
                          const char *name, la_view x);

/* Two operands and why they do not fit: COVAR_ERR_SHAPE. */
covar_status la_fail_shape(const la_exec *exec, const char *who,
                           const char *name_a, la_view a, const char *name_b,
                           la_view b, const char *why);

/* A flag (la_trans, la_side, la_uplo, la_diag) is 0 or 1: else ARG. */
covar_status la_check_flag(const la_exec *exec, const char *who,
                           const char *name, int flag);

/* `info` must be there: COVAR_ERR_ARG. */
covar_status la_check_info(const la_exec *exec, const char *who,
                           const int32_t *info);

/* Sizes of the last two dims and the row stride as BLAS wants it. */
static inline int la_rows(la_view x)
{
    return (int)x.dim[x.rank - 2];
}

static inline int la_cols(la_view x)
{
    return (int)x.dim[x.rank - 1];
}

static inline int la_ld(la_view x)
{
    const int cols = la_cols(x) > 1 ? la_cols(x) : 1;
    return la_rows(x) > 1 && la_cols(x) > 0 ? (int)x.stride[x.rank - 2] : cols;
}

#endif
