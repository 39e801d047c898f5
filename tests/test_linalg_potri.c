/* The inverse from the Cholesky factor.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

static void test_golden(void)
{
    /* M = L L' of the design, and its exact inverse in thirds */
    static const double M[16] = {9,  3,  -6, 12, 3,  26,  -7, -11,
                                 -6, -7, 9,  7,  12, -11, 7,  65};
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double P[16] = {3,  NAN, NAN, NAN, 1, 5,  NAN, NAN,
                    -2, -1,  2,   NAN, 4, -3, 6,   2};
    int32_t info = 9;
    TEST_OK(ctx, la_potri(&exec, la_mat_f64(P, 4, 4), &info));
    TEST_INT(info, 0);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            double sum = 0;
            for (size_t k = 0; k < 4; k++)
                sum += M[i * 4 + k] * P[k * 4 + j];
            TEST_CLOSE(sum, i == j ? 1.0 : 0.0, 1e-12);
        }
    covar_context_free(ctx);
}

static void check_potri(covar_context *ctx, la_dtype dtype, size_t batch,
                        size_t n)
{
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n, 200 + batch);
    stack L = stack_create(dtype, batch, n, n, 3);
    fill_triangle(L.view, LA_LOWER, &rng);
    la_view before = dense_copy(L.view);
    int32_t info[3] = {9, 9, 9};
    TEST_OK(ctx, la_potri(&exec, L.view, info));
    for (size_t b = 0; b < stack_size(L.view); b++) {
        TEST_INT(info[b], 0);
        long double *l = reference(before, b);
        lower_only(l, n);
        long double *X = ref_inverse(l, n);
        ref_product(l, n, n, n, 1, X, n, 0, X, n);
        check_matrix(L.view, b, l, "potri");
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                if (element(L.view, b, i, j) != element(L.view, b, j, i))
                    CU_FAIL("potri: result is not symmetric");
        free(X);
    }
    stack_check_guard(L, "potri");
    stack_free(L);
    free(before.data);
}

static void test_potri(void)
{
    each_size(check_potri);
}

static void test_potri_failures(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double L[8] = {1, 0, 3, 0, 2, 0, 1, 4};
    int32_t info[2];
    const size_t dim[3] = {2, 2, 2};
    TEST_OK(ctx, la_potri(&exec, la_view_dense(L, LA_F64, 3, dim), info));
    TEST_INT(info[0], 2);
    TEST_INT(info[1], 0);
    CU_ASSERT(isnan(L[0]) && isnan(L[3]));
    TEST_CLOSE(L[4], 17.0 / 64, 1e-15);
    L[0] = NAN;
    TEST_OK(ctx, la_potri(&exec, la_mat_f64(L, 2, 2), info));
    TEST_INT(info[0], 1);
    covar_context_free(ctx);
}

static void check_threads(size_t batch, size_t n)
{
    covar_context *ctx = test_context();
    const la_exec one = test_exec(ctx, 1), two = test_exec(ctx, 2);
    covar_rng rng = covar_rng_init(1, 1);
    stack L = stack_create(LA_F64, batch, n, n, 0);
    int32_t info[32];
    fill_triangle(L.view, LA_LOWER, &rng);
    la_view M = dense_copy(L.view);
    TEST_OK(ctx, la_potri(&one, L.view, info));
    TEST_OK(ctx, la_potri(&two, M, info));
    check_same(M, L.view, 1e-13, "potri threads");
    stack_free(L);
    free(M.data);
    covar_context_free(ctx);
}

static void test_threads(void)
{
    check_threads(0, 450);
    check_threads(20, 40);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double p[32] = {0};
    int32_t info = 5;
    const la_view L = la_mat_f64(p, 3, 3);
    EXPECT(la_potri(&exec, la_mat_f64(p, 3, 2), &info), COVAR_ERR_SHAPE,
           "la_potri: L is f64 3x2");
    EXPECT(la_potri(&exec, L, NULL), COVAR_ERR_ARG, "info is NULL");
    TEST_INT(info, 5);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden", test_golden},
        {"potri against long double", test_potri},
        {"failures", test_potri_failures},
        {"threads", test_threads},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg potri", cases);
}
