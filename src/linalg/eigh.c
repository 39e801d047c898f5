/* Symmetric eigenproblem U A = diag(lambda) U, divide and conquer (syevd).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * LAPACK returns eigenvectors as columns of a column-major matrix: read
 * row-major these are rows, as wanted. An eigenvector is unique up to its
 * sign; ours has its entry of largest magnitude positive (the first of equal
 * ones), so that results can be compared and differentiated. An input that
 * is not finite is reported as not converged, with info = n + 1: LAPACK may
 * not come back from it. */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/blas.h"
#include "linalg/check.h"
#include "linalg/triangle.h"

#include <math.h>

enum { ALIGN = 64 };

typedef struct eigh_args {
    la_view A, lambda;
    void *work;
    int32_t *info;
} eigh_args;

/* LAPACK's workspace for eigenvectors: reals and integers. */
static size_t real_work(size_t n)
{
    return n > 1 ? 1 + 6 * n + 2 * n * n : 1;
}

static size_t int_work(size_t n)
{
    return n > 1 ? 3 + 5 * n : 1;
}

static size_t real_bytes(la_dtype dtype, size_t n)
{
    return (real_work(n) * la_dtype_size(dtype) + ALIGN - 1) / ALIGN * ALIGN;
}

#define REAL_BODY "linalg/eigh.inc"
#include "linalg/each_real.h"

size_t la_syevd_work_size(la_dtype dtype, size_t n)
{
    return real_bytes(dtype, n) + int_work(n) * sizeof(int);
}

covar_status la_cpu_syevd(const la_exec *exec, la_view A, la_view lambda,
                          void *work, int32_t *info)
{
    const eigh_args args = {A, lambda, work, info};
    const double n = la_rows(A), flops = 9 * n * n * n;
    /* one workspace: the stack is worked off one after another */
    la_exec one = *exec;
    if (flops < LA_CROSSOVER_EIGH)
        one.threads = 1;
    const int saved = la_blas_enter(one.threads > 1 ? one.threads : 1);
    for (size_t b = 0; b < la_batch_count(A, 2); b++)
        (A.dtype == LA_F64 ? eigh_one_f64 : eigh_one_f32)(&args, b);
    la_blas_leave(saved);
    return COVAR_OK;
}

covar_status la_syevd(const la_exec *exec, la_view A, la_view lambda,
                      void *work, int32_t *info)
{
    static const char who[] = "la_syevd";
    COVAR_TRY(la_check_output(exec, who, "A", A, 2));
    COVAR_TRY(la_check_output(exec, who, "lambda", lambda, 1));
    COVAR_TRY(la_check_pair(exec, who, "A", A, 2, "lambda", lambda, 1));
    COVAR_TRY(la_check_square(exec, who, "A", A));
    if (lambda.dim[lambda.rank - 1] != A.dim[A.rank - 1])
        return la_fail_shape(exec, who, "A", A, "lambda", lambda,
                             "lambda needs one element per row of A");
    COVAR_TRY(la_check_info(exec, who, info));
    if (!work && la_view_count(A) > 0)
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "%s: work is NULL: la_syevd_work_size bytes are "
                          "needed",
                          who);
    if (real_work((size_t)la_rows(A)) > INT32_MAX)
        return la_fail_shape(exec, who, "A", A, "lambda", lambda,
                             "the workspace exceeds LAPACK's integers");
    return la_device_of(exec)->syevd(exec, A, lambda, work, info);
}
