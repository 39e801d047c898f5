/* Products: gemm and syrk.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

static void test_golden(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    const double A[6] = {1, 2, 3, 4, 5, 6}, B[6] = {1, 0, 2, -1, 0, 3};
    double C[4] = {1, 1, 1, 1}, S[4];
    TEST_OK(ctx,
            la_gemm(&exec, 2, LA_NO_TRANS, la_mat_f64(A, 2, 3), LA_NO_TRANS,
                    la_mat_f64(B, 3, 2), -1, la_mat_f64(C, 2, 2)));
    /* A B = [5 7; 14 13] by hand */
    TEST_CLOSE_ARRAY(C, ((double[]){9, 13, 27, 25}), 4, 0);
    TEST_OK(ctx, la_syrk(&exec, 1, LA_NO_TRANS, la_mat_f64(A, 2, 3), 0,
                         la_mat_f64(S, 2, 2)));
    TEST_CLOSE_ARRAY(S, ((double[]){14, 32, 32, 77}), 4, 0);
    covar_context_free(ctx);
}

/* One product against the long double reference. */
static void check_gemm(covar_context *ctx, la_dtype dtype, size_t batch,
                       const size_t size[3], int form, double beta)
{
    const size_t n = size[0], m = size[1], k = size[2];
    const la_trans ta = form & 1, tb = form >> 1 & 1;
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n + 1000 * m, k);
    stack A = stack_create(dtype, batch, ta ? k : n, ta ? n : k, 3);
    stack B = stack_create(dtype, batch, tb ? m : k, tb ? k : m, 1);
    stack C = stack_create(dtype, batch, n, m, 5);
    fill_random(A.view, &rng);
    fill_random(B.view, &rng);
    fill_random(C.view, &rng);
    la_view before = dense_copy(C.view);
    if (beta == 0) /* C must not be read */
        for (size_t i = 0; i < la_view_count(C.view); i++)
            la_view_set(C.view, i, (double)NAN);
    TEST_OK(ctx, la_gemm(&exec, 0.5, ta, A.view, tb, B.view, beta, C.view));
    for (size_t b = 0; b < stack_size(C.view); b++) {
        long double *a = reference(A.view, b), *r = reference(B.view, b);
        long double *expected = reference(C.view, b);
        ref_product(expected, n, m, k, ta, a, ta ? n : k, tb, r, tb ? k : m);
        for (size_t i = 0; i < n * m; i++)
            expected[i] =
                expected[i] / 2 +
                (beta == 0 ? 0
                           : (long double)beta * (long double)la_view_get(
                                                     before, b * n * m + i));
        check_matrix(C.view, b, expected, "gemm");
        free(a);
        free(r);
    }
    stack_check_guard(C, "gemm");
    stack_free(A);
    stack_free(B);
    stack_free(C);
    free(before.data);
}

static void test_gemm(void)
{
    covar_context *ctx = test_context();
    int form = 0;
    for (size_t t = 0; t < NELEM(test_dtypes); t++)
        for (size_t i = 0; i < NELEM(test_sizes); i++)
            for (size_t j = 0; j < NELEM(test_sizes); j++) {
                const size_t k = test_sizes[(i + 3 * j) % NELEM(test_sizes)];
                const size_t size[3] = {test_sizes[i], test_sizes[j], k};
                check_gemm(ctx, test_dtypes[t], (size_t)(form % 3), size,
                           form % 4, form % 5 == 0 ? 0 : 0.75);
                form++;
            }
    covar_context_free(ctx);
}

static void test_syrk(void)
{
    covar_context *ctx = test_context();
    for (size_t q = 0; q < 4 * NELEM(test_sizes); q++) {
        const la_dtype dtype = test_dtypes[q % 2];
        const la_trans trans = q / 2 % 2 ? LA_TRANS : LA_NO_TRANS;
        const size_t n = test_sizes[q / 4], batch = q % 3;
        const size_t k = test_sizes[(q / 4 * 7 + 3) % NELEM(test_sizes)];
        const la_exec exec = test_exec(ctx, 1);
        covar_rng rng = covar_rng_init(q, 5);
        stack A = stack_create(dtype, batch, trans ? k : n, trans ? n : k, 2);
        stack C = stack_create(dtype, batch, n, n, 3);
        fill_random(A.view, &rng);
        for (size_t i = 0; i < la_view_count(C.view); i++)
            la_view_set(C.view, i, (double)NAN);
        TEST_OK(ctx, la_syrk(&exec, 1, trans, A.view, 0, C.view));
        TEST_OK(ctx, la_syrk(&exec, 2, trans, A.view, 0.5, C.view));
        for (size_t b = 0; b < stack_size(C.view); b++) {
            long double *a = reference(A.view, b);
            long double *expected = reference(C.view, b);
            ref_product(expected, n, n, k, trans, a, trans ? n : k, !trans, a,
                        trans ? n : k);
            for (size_t i = 0; i < n * n; i++)
                expected[i] *= 2.5L;
            check_matrix(C.view, b, expected, "syrk");
            free(a);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < i; j++)
                    if (element(C.view, b, i, j) != element(C.view, b, j, i))
                        CU_FAIL("syrk: result is not symmetric");
        }
        stack_check_guard(C, "syrk");
        stack_free(A);
        stack_free(C);
    }
    covar_context_free(ctx);
}

/* alpha = 0 and k = 0 leave beta C, and A with NaN is not read. */
static void test_degenerate(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    const double A[4] = {NAN, NAN, NAN, NAN};
    double C[4] = {1, 2, 2, 4};
    const la_view a = la_mat_f64(A, 2, 2), c = la_mat_f64(C, 2, 2);
    TEST_OK(ctx, la_gemm(&exec, 0, 0, a, 0, a, 2, c));
    TEST_OK(ctx, la_gemm(&exec, 1, 0, la_mat_f64(NULL, 2, 0), 0,
                         la_mat_f64(NULL, 0, 2), 0.5, c));
    TEST_OK(ctx, la_syrk(&exec, 0, 0, a, 3, c));
    TEST_CLOSE_ARRAY(C, ((double[]){3, 6, 6, 12}), 4, 0);
    TEST_OK(ctx, la_gemm(&exec, 1, 0, la_mat_f64(NULL, 2, 0), 0,
                         la_mat_f64(NULL, 0, 2), 0, c));
    TEST_CLOSE_ARRAY(C, ((double[4]){0}), 4, 0);
    covar_context_free(ctx);
}

/* A batch stride of 0 repeats an input. */
static void test_repeated_input(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    const double A[4] = {1, 2, 3, 4}, B[8] = {1, 0, 0, 1, 2, 0, 0, 2};
    double C[8];
    la_view a = la_view_expand(la_mat_f64(A, 2, 2), 0);
    a.dim[0] = 2;
    const size_t dim[3] = {2, 2, 2};
    TEST_OK(ctx, la_gemm(&exec, 1, 0, a, 0, la_view_dense(B, LA_F64, 3, dim), 0,
                         la_view_dense(C, LA_F64, 3, dim)));
    TEST_CLOSE_ARRAY(C, ((double[]){1, 2, 3, 4, 2, 4, 6, 8}), 8, 0);
    covar_context_free(ctx);
}

/* One and two threads: a large product and a long stack. */
static void test_threads(void)
{
    covar_context *ctx = test_context();
    const size_t n[2] = {600, 40}, batch[2] = {0, 30};
    for (int q = 0; q < 2; q++) {
        covar_rng rng = covar_rng_init(9, 9);
        stack A = stack_create(LA_F64, batch[q], n[q], n[q], 1);
        stack C = stack_create(LA_F64, batch[q], n[q], n[q], 0);
        stack D = stack_create(LA_F64, batch[q], n[q], n[q], 0);
        fill_random(A.view, &rng);
        const la_exec one = test_exec(ctx, 1), two = test_exec(ctx, 2);
        TEST_OK(ctx, la_gemm(&one, 1, 0, A.view, 1, A.view, 0, C.view));
        TEST_OK(ctx, la_gemm(&two, 1, 0, A.view, 1, A.view, 0, D.view));
        check_same(D.view, C.view, 1e-14, "gemm threads");
        TEST_OK(ctx, la_syrk(&two, 1, 0, A.view, 0, D.view));
        check_same(D.view, C.view, 1e-14, "syrk threads");
        stack_free(A);
        stack_free(C);
        stack_free(D);
    }
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double p[64] = {0};
    float f[64] = {0};
    const la_view A = la_mat_f64(p, 2, 3), B = la_mat_f64(p, 3, 4);
    const la_view C = la_mat_f64(p + 20, 2, 4);
    la_view bad = C;
    EXPECT(la_gemm(&exec, 1, 0, A, 0, A, 0, C), COVAR_ERR_SHAPE,
           "la_gemm: op(A) is f64 2x3 but op(B) is f64 2x3");
    EXPECT(la_gemm(&exec, 1, 0, A, 0, B, 0, A), COVAR_ERR_SHAPE,
           "op(B) is f64 3x4 but C is f64 2x3");
    EXPECT(la_gemm(&exec, 1, 1, la_mat_f64(p, 3, 5), 0, B, 0, C),
           COVAR_ERR_SHAPE, "op(A) is f64 5x3 but C is f64 2x4");
    EXPECT(la_gemm(&exec, 1, 0, la_mat_f64(NULL, 2, 3), 0, B, 0, C),
           COVAR_ERR_ARG, "A is f64 2x3: data is NULL");
    EXPECT(la_gemm(&exec, 1, 0, la_vec_f64(p, 3), 0, B, 0, C), COVAR_ERR_SHAPE,
           "A is f64 3: a matrix");
    EXPECT(la_gemm(&exec, 1, 0, la_mat_f32(f, 2, 3), 0, B, 0, C),
           COVAR_ERR_DTYPE, "A is f32 2x3 but C is f64 2x4");
    bad.dtype = LA_I32;
    EXPECT(la_gemm(&exec, 1, 0, A, 0, B, 0, bad), COVAR_ERR_DTYPE,
           "f64 or f32");
    bad = la_view_transpose(la_mat_f64(p, 4, 2));
    EXPECT(la_gemm(&exec, 1, 0, A, 0, B, 0, bad), COVAR_ERR_SHAPE,
           "last stride");
    bad = C;
    bad.stride[0] = 3;
    EXPECT(la_gemm(&exec, 1, 0, A, 0, B, 0, bad), COVAR_ERR_SHAPE,
           "row stride");
    bad = la_view_expand(C, 0);
    EXPECT(la_gemm(&exec, 1, 0, A, 0, B, 0, bad), COVAR_ERR_SHAPE,
           "batches differ");
    bad.dim[0] = 2;
    la_view A2 = la_view_expand(A, 0), B2 = la_view_expand(B, 0);
    A2.dim[0] = B2.dim[0] = 2;
    EXPECT(la_gemm(&exec, 1, 0, A2, 0, B2, 0, bad), COVAR_ERR_SHAPE,
           "batch stride of 0");
    EXPECT(la_gemm(&exec, 1, 0, la_mat_f64(p, (size_t)1 << 32, 3), 0, B, 0, C),
           COVAR_ERR_SHAPE, "2^31");
    EXPECT(la_syrk(&exec, 1, 0, A, 0, C), COVAR_ERR_SHAPE, "square");
    EXPECT(la_syrk(&exec, 1, 0, B, 0, la_mat_f64(p, 2, 2)), COVAR_ERR_SHAPE,
           "la_syrk: op(A) is f64 3x4 but C is f64 2x2");
    for (int i = 0; i < 64; i++)
        CU_ASSERT_EQUAL(p[i], 0.0);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden", test_golden},
        {"gemm against long double", test_gemm},
        {"syrk against long double", test_syrk},
        {"alpha 0, k 0", test_degenerate},
        {"repeated input", test_repeated_input},
        {"threads", test_threads},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg gemm", cases);
}
