/* Symmetric eigenproblem.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

static void *work_for(la_dtype dtype, size_t n)
{
    const size_t bytes = la_syevd_work_size(dtype, n);
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

static void test_golden(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double A[4] = {1, NAN, 2, 5}, lambda[2];
    int32_t info = 9;
    void *work = work_for(LA_F64, 2);
    TEST_OK(ctx, la_syevd(&exec, la_mat_f64(A, 2, 2), la_vec_f64(lambda, 2),
                          work, &info));
    TEST_INT(info, 0);
    TEST_CLOSE_ARRAY(lambda, ((double[]){.171572875254, 5.828427124746}), 2,
                     1e-12);
    TEST_CLOSE_ARRAY(
        A, ((double[]){.92387953, -.38268343, .38268343, .92387953}), 4, 1e-8);
    free(work);
    covar_context_free(ctx);
}

/* Ties in magnitude: the first of equal entries is the positive one. */
static void test_sign(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double A[4] = {0, 0, 1, 0}, lambda[2];
    int32_t info;
    void *work = work_for(LA_F64, 2);
    TEST_OK(ctx, la_syevd(&exec, la_mat_f64(A, 2, 2), la_vec_f64(lambda, 2),
                          work, &info));
    TEST_CLOSE_ARRAY(lambda, ((double[]){-1, 1}), 2, 1e-15);
    test_check(A[0] > 0 || fabs(A[1]) > fabs(A[0]), __FILE__, __LINE__,
               "sign rule: %.17g %.17g", A[0], A[1]);
    CU_ASSERT(A[2] > 0 && A[3] > 0);
    free(work);
    covar_context_free(ctx);
}

static void check_one(la_view U, la_view lambda, la_view before, size_t b)
{
    const size_t n = U.dim[U.rank - 1];
    long double *u = reference(U, b), *a = reference(before, b);
    long double *product = reference(U, b), *unit = reference(U, b);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            a[j * n + i] = a[i * n + j];
    /* A = U' diag(lambda) U and U U' = 1 */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            product[i * n + j] =
                (long double)la_view_get(lambda, b * n + i) * u[i * n + j];
    la_view back = dense_copy(U);
    long double *full = reference(U, b);
    ref_product(full, n, n, n, 1, u, n, 0, product, n);
    ref_product(unit, n, n, n, 0, u, n, 1, u, n);
    for (size_t i = 0; i < n * n; i++)
        la_view_set(back, b * n * n + i, (double)full[i]);
    check_matrix(back, b, a, "syevd: U' diag(lambda) U");
    for (size_t i = 0; i < n * n; i++)
        la_view_set(back, b * n * n + i, (double)unit[i]);
    for (size_t i = 0; i < n * n; i++)
        unit[i] = i / n == i % n;
    check_matrix(back, b, unit, "syevd: U U'");
    for (size_t i = 0; i < n; i++) {
        size_t largest = 0;
        for (size_t j = 1; j < n; j++)
            if (fabsl(u[i * n + j]) > fabsl(u[i * n + largest]))
                largest = j;
        CU_ASSERT(u[i * n + largest] > 0);
        if (i > 0)
            CU_ASSERT(la_view_get(lambda, b * n + i) >=
                      la_view_get(lambda, b * n + i - 1));
    }
    free(u);
    free(product);
    free(full);
    free(back.data);
}

static void test_property(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    for (size_t q = 0; q < 4 * NELEM(test_sizes); q++) {
        const la_dtype dtype = test_dtypes[q % 2];
        const size_t n = test_sizes[q / 4], batch = q / 2 % 2 * 2;
        if (batch && n > 100)
            continue;
        covar_rng rng = covar_rng_init(q, 1);
        stack A = stack_create(dtype, batch, n, n, 3);
        stack lambda = stack_create(dtype, batch, 1, n, 0);
        la_view l = lambda.view;
        l.dim[l.rank - 2] = n;
        l.stride[l.rank - 2] = 1;
        l.rank--;
        fill_random(A.view, &rng);
        la_view before = dense_copy(A.view);
        void *work = work_for(dtype, n);
        int32_t info[2] = {9, 9};
        TEST_OK(ctx, la_syevd(&exec, A.view, l, work, info));
        for (size_t b = 0; b < stack_size(A.view); b++) {
            TEST_INT(info[b], 0);
            check_one(A.view, l, before, b);
        }
        stack_check_guard(A, "syevd");
        free(work);
        free(before.data);
        stack_free(A);
        stack_free(lambda);
    }
    covar_context_free(ctx);
}

static void test_failure(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double A[8] = {1, 0, NAN, 1, 2, 0, 0, 1}, lambda[4];
    int32_t info[2];
    void *work = work_for(LA_F64, 2);
    const size_t dim[3] = {2, 2, 2};
    TEST_OK(ctx, la_syevd(&exec, la_view_dense(A, LA_F64, 3, dim),
                          la_mat_f64(lambda, 2, 2), work, info));
    TEST_INT(info[0], 3);
    TEST_INT(info[1], 0);
    CU_ASSERT(isnan(A[0]) && isnan(A[3]) && isnan(lambda[0]));
    TEST_CLOSE_ARRAY(lambda + 2, ((double[]){1, 2}), 2, 1e-15);
    TEST_CLOSE_ARRAY(A + 4, ((double[]){0, 1, 1, 0}), 4, 1e-15);
    free(work);
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double p[9] = {0}, l[3], work[64];
    float f[3];
    int32_t info;
    const la_view A = la_mat_f64(p, 3, 3), lambda = la_vec_f64(l, 3);
    EXPECT(la_syevd(&exec, la_mat_f64(p, 3, 2), lambda, work, &info),
           COVAR_ERR_SHAPE, "square");
    EXPECT(la_syevd(&exec, A, la_vec_f64(l, 2), work, &info), COVAR_ERR_SHAPE,
           "la_syevd: A is f64 3x3 but lambda is f64 2");
    EXPECT(la_syevd(&exec, A, la_vec_f32(f, 3), work, &info), COVAR_ERR_DTYPE,
           "f32 3");
    EXPECT(la_syevd(&exec, A, lambda, NULL, &info), COVAR_ERR_ARG,
           "work is NULL");
    EXPECT(la_syevd(&exec, A, lambda, work, NULL), COVAR_ERR_ARG,
           "info is NULL");
    EXPECT(la_syevd(&exec, A, la_view_expand(lambda, 0), work, &info),
           COVAR_ERR_SHAPE, "batches");
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden", test_golden},     {"sign rule", test_sign},
        {"property", test_property}, {"failure", test_failure},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg eigh", cases);
}
