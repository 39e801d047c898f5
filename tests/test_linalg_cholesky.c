/* Cholesky factorisation, its reverse mode, the condition.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

/* Golden values of the operator papers' implementations: M = L L' exactly. */
static const double M[16] = {9,  3,  -6, 12, 3,  26,  -7, -11,
                             -6, -7, 9,  7,  12, -11, 7,  65};
static const double M_factor[16] = {3,  0,  0, 0, 1, 5,  0, 0,
                                    -2, -1, 2, 0, 4, -3, 6, 2};

static void test_golden(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double L[16], G[16];
    float Lf[16];
    int32_t info = -1;
    memcpy(L, M, sizeof L);
    TEST_OK(ctx, la_potrf(&exec, la_mat_f64(L, 4, 4), &info));
    TEST_INT(info, 0);
    TEST_CLOSE_ARRAY(L, M_factor, 16, 0);
    for (int i = 0; i < 16; i++) {
        G[i] = 1;
        Lf[i] = (float)M[i];
    }
    TEST_OK(ctx, la_potrf(&exec, la_mat_f32(Lf, 4, 4), &info));
    for (int i = 0; i < 16; i++)
        CU_ASSERT_EQUAL((double)Lf[i], L[i]);
    TEST_OK(ctx, la_chol_rev(&exec, la_mat_f64(L, 4, 4), la_mat_f64(G, 4, 4)));
    const double expected[16] = {2.202222222222,
                                 -0.006666666667,
                                 1.95,
                                 -0.55,
                                 -0.006666666667,
                                 .22,
                                 .15,
                                 .15,
                                 1.95,
                                 .15,
                                 1.75,
                                 -.5,
                                 -.55,
                                 .15,
                                 -.5,
                                 .25};
    TEST_CLOSE_ARRAY(G, expected, 16, 1e-12);
    covar_context_free(ctx);
}

/* The batch of the design: the first has a negative leading minor of order 2,
 * the second is diag(1, 4). */
static void test_golden_batch(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double A[8] = {1, 0, 0, -2, 1, 0, 0, 4};
    int32_t info[2] = {7, 7};
    const size_t dim[3] = {2, 2, 2};
    TEST_OK(ctx, la_potrf(&exec, la_view_dense(A, LA_F64, 3, dim), info));
    TEST_INT(info[0], 2);
    TEST_INT(info[1], 0);
    for (int i = 0; i < 4; i++)
        CU_ASSERT(isnan(A[i]));
    TEST_CLOSE_ARRAY(A + 4, ((double[]){1, 0, 0, 2}), 4, 0);
    covar_context_free(ctx);
}

static void check_potrf(covar_context *ctx, la_dtype dtype, size_t batch,
                        size_t n)
{
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n, batch);
    stack A = stack_create(dtype, batch, n, n, 3);
    fill_pd(A.view, &rng);
    la_view before = dense_copy(A.view);
    int32_t info[3] = {9, 9, 9};
    TEST_OK(ctx, la_potrf(&exec, A.view, info));
    for (size_t b = 0; b < stack_size(A.view); b++) {
        TEST_INT(info[b], 0);
        long double *L = reference(A.view, b), *a = reference(before, b);
        la_view product = dense_copy(A.view);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                if (L[i * n + j] != 0)
                    CU_FAIL("potrf: upper triangle not zero");
        mirror(a, n);
        long double *p = reference(before, b);
        ref_product(p, n, n, n, 0, L, n, 1, L, n);
        for (size_t i = 0; i < n * n; i++)
            la_view_set(product, b * n * n + i, (double)p[i]);
        check_matrix(product, b, a, "potrf: L L'");
        free(product.data);
        free(L);
        free(p);
    }
    stack_check_guard(A, "potrf");
    stack_free(A);
    free(before.data);
}

/* 1/2 L^-T sym(L' L_bar) L^-1 in long double. */
static long double *ref_reverse(const long double *L, const long double *L_bar,
                                size_t n)
{
    long double *X = ref_inverse(L, n);
    long double *S = malloc((n * n + 1) * sizeof *S);
    long double *R = malloc((n * n + 1) * sizeof *R);
    ref_product(S, n, n, n, 1, L, n, 0, L_bar, n);
    mirror(S, n);
    ref_product(R, n, n, n, 1, X, n, 0, S, n);
    ref_product(S, n, n, n, 0, R, n, 0, X, n);
    for (size_t i = 0; i < n * n; i++)
        S[i] /= 2;
    free(X);
    free(R);
    return S;
}

static void check_reverse(covar_context *ctx, la_dtype dtype, size_t batch,
                          size_t n)
{
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n, 100 + batch);
    stack L = stack_create(dtype, batch, n, n, 1);
    stack B = stack_create(dtype, batch, n, n, 3);
    fill_triangle(L.view, LA_LOWER, &rng);
    fill_random(B.view, &rng);
    for (size_t b = 0; b < stack_size(B.view); b++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                set_element(B.view, b, i, j, (double)NAN);
    la_view before = dense_copy(B.view);
    TEST_OK(ctx, la_chol_rev(&exec, L.view, B.view));
    for (size_t b = 0; b < stack_size(B.view); b++) {
        long double *l = reference(L.view, b), *l_bar = reference(before, b);
        lower_only(l, n);
        lower_only(l_bar, n);
        check_matrix(B.view, b, ref_reverse(l, l_bar, n), "chol_rev");
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                if (element(B.view, b, i, j) != element(B.view, b, j, i))
                    CU_FAIL("chol_rev: result is not symmetric");
        free(l);
        free(l_bar);
    }
    stack_check_guard(B, "chol_rev");
    stack_free(L);
    stack_free(B);
    free(before.data);
}

static void test_potrf(void)
{
    each_size(check_potrf);
}

static void test_reverse(void)
{
    each_size(check_reverse);
}

/* Breaks element (i,j) of matrix 1 of 3 and expects it alone to fail, with
 * leading minor i + 1. The others are compared with a stack of another stride,
 * whose products some BLAS kernels sum in another order. */
static void check_failure(covar_context *ctx, la_dtype dtype, size_t n,
                          size_t i, size_t j, double value)
{
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n, 300);
    stack A = stack_create(dtype, 3, n, n, 1);
    fill_pd(A.view, &rng);
    la_view good = dense_copy(A.view);
    const double tol = 4 * (double)n * (dtype == LA_F64 ? 0x1p-52 : 0x1p-23);
    int32_t info[3], none[3];
    set_element(A.view, 1, i, j, value);
    TEST_OK(ctx, la_potrf(&exec, A.view, info));
    TEST_OK(ctx, la_potrf(&exec, good, none));
    TEST_INT(info[0], 0);
    test_check(info[1] == (int32_t)i + 1, __FILE__, __LINE__,
               "n = %zu, (%zu, %zu) = %g: info is %d", n, i, j, value,
               (int)info[1]);
    TEST_INT(info[2], 0);
    for (size_t k = 0; k < n * n; k++) {
        const size_t r = k / n, c = k % n;
        if (!isnan(element(A.view, 1, r, c)))
            CU_FAIL_FATAL("a failed matrix is not all NaN");
        for (size_t b = 0; b < 3; b += 2)
            if (!(fabs(element(A.view, b, r, c) - element(good, b, r, c)) <=
                  tol))
                CU_FAIL_FATAL("a failed matrix disturbed another one");
    }
    stack_check_guard(A, "failed potrf");
    stack_free(A);
    free(good.data);
}

static void test_failures(void)
{
    covar_context *ctx = test_context();
    for (size_t t = 0; t < NELEM(test_dtypes); t++)
        for (size_t k = 1; k < NELEM(test_sizes); k++) {
            const size_t n = test_sizes[k];
            for (size_t i = n / 5; i < n; i += n / 2 + 1) {
                check_failure(ctx, test_dtypes[t], n, i, i, -1);
                check_failure(ctx, test_dtypes[t], n, i, i, 0);
                check_failure(ctx, test_dtypes[t], n, i, i, (double)NAN);
                check_failure(ctx, test_dtypes[t], n, i, i / 2, (double)NAN);
                check_failure(ctx, test_dtypes[t], n, i, i, INFINITY);
            }
        }
    covar_context_free(ctx);
}

static void check_threads(size_t batch, size_t n)
{
    covar_context *ctx = test_context();
    covar_rng rng = covar_rng_init(1, 1);
    stack A = stack_create(LA_F64, batch, n, n, 0);
    stack G = stack_create(LA_F64, batch, n, n, 0);
    fill_pd(A.view, &rng);
    fill_random(G.view, &rng);
    int32_t info[32];
    la_view A1 = dense_copy(A.view), A2 = dense_copy(A.view);
    la_view G1 = dense_copy(G.view), G2 = dense_copy(G.view);
    const la_exec one = test_exec(ctx, 1), two = test_exec(ctx, 2);
    TEST_OK(ctx, la_potrf(&one, A1, info));
    TEST_OK(ctx, la_potrf(&two, A2, info));
    check_same(A2, A1, 1e-13, "potrf threads");
    TEST_OK(ctx, la_chol_rev(&one, A1, G1));
    TEST_OK(ctx, la_chol_rev(&two, A1, G2));
    check_same(G2, G1, 1e-13, "chol_rev threads");
    stack_free(A);
    stack_free(G);
    free(A1.data);
    free(A2.data);
    free(G1.data);
    free(G2.data);
    covar_context_free(ctx);
}

static void test_threads(void)
{
    check_threads(0, 550);
    check_threads(20, 40);
}

static void test_rcond(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double L[9] = {1, 0, 0, 0, 1e-3, 0, 0, 0, 2}, rcond = -1;
    float F[4] = {1, 0, 0, 1};
    TEST_OK(ctx, la_rcond_chol(&exec, la_mat_f64(L, 3, 3), 4, &rcond));
    TEST_REL(rcond, 1e-6 / 4, 1e-12);
    TEST_OK(ctx, la_rcond_chol(&exec, la_mat_f32(F, 2, 2), 1, &rcond));
    TEST_REL(rcond, 1, 1e-6);
    TEST_OK(ctx, la_rcond_chol(&exec, la_mat_f64(L, 0, 0), 0, &rcond));
    TEST_REL(rcond, 1, 0);
    L[0] = NAN;
    TEST_OK(ctx, la_rcond_chol(&exec, la_mat_f64(L, 3, 3), 4, &rcond));
    TEST_CLOSE(rcond, 0, 0);
    covar_context_free(ctx);
}

static covar_status one_rcond(covar_context *ctx, void *data)
{
    const la_exec exec = test_exec(ctx, 1);
    double rcond;
    return la_rcond_chol(&exec, la_mat_f64(data, 4, 4), 100, &rcond);
}

static void test_rcond_memory(void)
{
    double L[16];
    memcpy(L, M_factor, sizeof L);
    test_allocation_sweep("rcond", one_rcond, L);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double p[32] = {0}, rcond;
    float f[32] = {0};
    int32_t info = 5;
    const la_view L = la_mat_f64(p, 3, 3);
    EXPECT(la_potrf(&exec, la_mat_f64(p, 3, 2), &info), COVAR_ERR_SHAPE,
           "la_potrf: A is f64 3x2: a square matrix");
    EXPECT(la_potrf(&exec, L, NULL), COVAR_ERR_ARG, "info is NULL");
    EXPECT(la_potrf(&exec, la_mat_f64(NULL, 3, 3), &info), COVAR_ERR_ARG,
           "data is NULL");
    EXPECT(la_potrf(&exec, la_vec_i32(&info, 1), &info), COVAR_ERR_DTYPE,
           "A is i32 1: f64 or f32");
    EXPECT(la_chol_rev(&exec, L, la_mat_f64(p, 2, 2)), COVAR_ERR_SHAPE,
           "la_chol_rev: L is f64 3x3 but L_bar is f64 2x2");
    EXPECT(la_chol_rev(&exec, L, la_mat_f32(f, 3, 3)), COVAR_ERR_DTYPE,
           "f32 3x3");
    EXPECT(la_rcond_chol(&exec, la_view_expand(L, 0), 1, &rcond),
           COVAR_ERR_SHAPE, "without a batch");
    TEST_INT(info, 5);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden", test_golden},
        {"golden batch", test_golden_batch},
        {"potrf against long double", test_potrf},
        {"chol_rev against long double", test_reverse},
        {"failures", test_failures},
        {"threads", test_threads},
        {"rcond", test_rcond},
        {"rcond allocation failures", test_rcond_memory},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg cholesky", cases);
}
