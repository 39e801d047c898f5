/* Triangles and diagonals.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

static double part(la_tri_kind kind, const double *x, size_t n, size_t i,
                   size_t j)
{
    const double a = x[i * n + j], t = x[j * n + i];
    switch (kind) {
    case LA_TRIL:
        return j <= i ? a : 0;
    case LA_TRIU:
        return j >= i ? a : 0;
    case LA_TRI_PHI:
        return j < i ? a : i == j ? a / 2 : 0;
    case LA_TRI_SYM:
        return j <= i ? a : t;
    case LA_TRI_MEAN:
        return (a + t) / 2;
    }
    return 0;
}

static void check_tri(covar_context *ctx, la_dtype dtype, la_tri_kind kind,
                      size_t batch, size_t n)
{
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n, batch);
    stack X = stack_create(dtype, batch, n, n, 3);
    stack Y = stack_create(dtype, batch, n, n, 1);
    fill_random(X.view, &rng);
    la_view before = dense_copy(X.view);
    TEST_OK(ctx, la_tri(&exec, kind, Y.view, X.view));
    TEST_OK(ctx, la_tri(&exec, kind, X.view, X.view));
    double *x = malloc((n * n + 1) * sizeof *x);
    size_t bad = 0;
    for (size_t b = 0; b < stack_size(X.view); b++) {
        for (size_t i = 0; i < n * n; i++)
            x[i] = la_view_get(before, b * n * n + i);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double v = part(kind, x, n, i, j);
                if (dtype == LA_F32)
                    v = (double)(float)v;
                bad += fabs(element(X.view, b, i, j) - v) > 1e-7 ||
                       element(X.view, b, i, j) != element(Y.view, b, i, j) ||
                       (dtype == LA_F64 && element(X.view, b, i, j) != v);
            }
    }
    test_check(bad == 0, __FILE__, __LINE__,
               "tri kind %d, n = %zu, batch %zu: %zu wrong elements", (int)kind,
               n, batch, bad);
    stack_check_guard(X, "tri in place");
    stack_check_guard(Y, "tri");
    free(x);
    free(before.data);
    stack_free(X);
    stack_free(Y);
}

static void test_kinds(void)
{
    covar_context *ctx = test_context();
    for (size_t t = 0; t < NELEM(test_dtypes); t++)
        for (size_t i = 0; i < NELEM(test_sizes); i++)
            for (int kind = LA_TRIL; kind <= LA_TRI_MEAN; kind++)
                check_tri(ctx, test_dtypes[t], (la_tri_kind)kind,
                          (size_t)kind % 3, test_sizes[i]);
    covar_context_free(ctx);
}

static void test_diagonals(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double x[12], d[3], full[12];
    for (int i = 0; i < 12; i++)
        x[i] = i;
    const la_view X = la_mat_f64(x, 3, 4);
    TEST_OK(ctx, la_extract_diag(&exec, 0, la_vec_f64(d, 3), X));
    TEST_CLOSE_ARRAY(d, ((double[]){0, 5, 10}), 3, 0);
    TEST_OK(ctx, la_extract_diag(&exec, 1, la_vec_f64(d, 3), X));
    TEST_CLOSE_ARRAY(d, ((double[]){1, 6, 11}), 3, 0);
    TEST_OK(ctx, la_extract_diag(&exec, -1, la_vec_f64(d, 2), X));
    TEST_CLOSE_ARRAY(d, ((double[]){4, 9}), 2, 0);
    TEST_OK(ctx, la_extract_diag(&exec, 3, la_vec_f64(d, 1), X));
    TEST_CLOSE_ARRAY(d, ((double[]){3}), 1, 0);
    TEST_OK(ctx, la_extract_diag(&exec, 7, la_vec_f64(d, 0), X));
    TEST_OK(ctx, la_extract_diag(&exec, -7, la_vec_f64(d, 0), X));
    TEST_OK(ctx,
            la_make_diag(&exec, -1, la_mat_f64(full, 3, 3), la_vec_f64(d, 2)));
    TEST_CLOSE_ARRAY(full, ((double[]){0, 0, 0, 3, 0, 0, 0, 9, 0}), 9, 0);
    covar_context_free(ctx);
}

static void test_add_diag(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double A[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const double v[4] = {10, 20, 30, 40}, s[2] = {100, 200};
    const size_t dim[3] = {2, 2, 2};
    const la_view a = la_view_dense(A, LA_F64, 3, dim);
    TEST_OK(ctx, la_add_diag(&exec, a, la_mat_f64(v, 2, 2)));
    TEST_CLOSE_ARRAY(A, ((double[]){11, 2, 3, 24, 35, 6, 7, 48}), 8, 0);
    TEST_OK(ctx, la_add_diag(&exec, a, la_vec_f64(s, 2)));
    TEST_CLOSE_ARRAY(A, ((double[]){111, 2, 3, 124, 235, 6, 7, 248}), 8, 0);
    TEST_OK(ctx, la_add_diag(&exec, la_mat_f64(A, 2, 2), la_scalar_f64(v)));
    TEST_CLOSE_ARRAY(A, ((double[]){121, 2, 3, 134}), 4, 0);
    TEST_OK(ctx, la_add_diag(&exec, la_mat_f64(A, 0, 0), la_scalar_f64(v)));
    covar_context_free(ctx);
}

static void test_trian(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double p[12], back[18];
    const double x[18] = {1, NAN, NAN, 2, 3, NAN, 4,  5,  6,
                          7, NAN, NAN, 8, 9, NAN, 10, 11, 12};
    const size_t dim[3] = {2, 3, 3};
    const la_view X = la_view_dense(x, LA_F64, 3, dim);
    TEST_OK(ctx, la_extract_trian(&exec, la_mat_f64(p, 2, 6), X));
    for (int i = 0; i < 12; i++)
        CU_ASSERT_EQUAL(p[i], i + 1.0);
    TEST_OK(ctx, la_make_trian(&exec, la_view_dense(back, LA_F64, 3, dim),
                               la_mat_f64(p, 2, 6)));
    for (int i = 0; i < 18; i++)
        CU_ASSERT_EQUAL(back[i], isnan(x[i]) ? 0 : x[i]);
    TEST_OK(ctx,
            la_extract_trian(&exec, la_vec_f64(p, 0), la_mat_f64(x, 0, 0)));
    covar_context_free(ctx);
}

static void test_sum_log_diag(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    for (size_t q = 0; q < 4 * NELEM(test_sizes); q++) {
        const la_dtype dtype = test_dtypes[q % 2];
        const size_t n = test_sizes[q / 4], batch = q / 2 % 2 * 3;
        covar_rng rng = covar_rng_init(q, 1);
        stack L = stack_create(dtype, batch, n, n, 1);
        double out64[3] = {9, 9, 9};
        float out32[3] = {9, 9, 9};
        const la_view out =
            la_view_dense(dtype == LA_F64 ? (void *)out64 : (void *)out32,
                          dtype, batch > 0, &batch);
        fill_triangle(L.view, LA_LOWER, &rng);
        TEST_OK(ctx, la_sum_log_diag(&exec, out, L.view));
        for (size_t b = 0; b < stack_size(L.view); b++) {
            long double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += logl((long double)element(L.view, b, i, i));
            TEST_CLOSE(la_view_get(out, b), (double)sum,
                       dtype == LA_F64 ? 1e-13 : 1e-7);
        }
        stack_free(L);
    }
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double p[16] = {0};
    float f[16] = {0};
    const la_view A = la_mat_f64(p, 3, 3), R = la_mat_f64(p, 3, 4);
    EXPECT(la_tri(&exec, LA_TRIL, R, R), COVAR_ERR_SHAPE, "square");
    EXPECT(la_tri(&exec, LA_TRIL, la_mat_f64(p, 2, 2), A), COVAR_ERR_SHAPE,
           "la_tri: x is f64 3x3 but out is f64 2x2");
    EXPECT(la_tri(&exec, (la_tri_kind)9, A, A), COVAR_ERR_ARG, "no kind 9");
    EXPECT(la_tri(&exec, LA_TRIL, la_mat_f32(f, 3, 3), A), COVAR_ERR_DTYPE,
           "out is f32 3x3");
    EXPECT(la_extract_diag(&exec, 0, la_vec_f64(p, 2), R), COVAR_ERR_SHAPE,
           "la_extract_diag: x is f64 3x4 but out is f64 2");
    EXPECT(la_make_diag(&exec, 1, A, la_vec_f64(p, 3)), COVAR_ERR_SHAPE,
           "la_make_diag: out is f64 3x3 but x is f64 3");
    EXPECT(la_add_diag(&exec, A, la_vec_f64(p, 2)), COVAR_ERR_SHAPE,
           "la_add_diag: A is f64 3x3 but v is f64 2");
    EXPECT(la_add_diag(&exec, A, la_mat_f64(p, 3, 3)), COVAR_ERR_SHAPE,
           "batches");
    EXPECT(la_extract_trian(&exec, la_vec_f64(p, 5), A), COVAR_ERR_SHAPE,
           "la_extract_trian: x is f64 3x3 but out is f64 5");
    EXPECT(la_make_trian(&exec, R, la_vec_f64(p, 6)), COVAR_ERR_SHAPE,
           "square");
    EXPECT(la_sum_log_diag(&exec, la_vec_f64(p, 1), A), COVAR_ERR_SHAPE,
           "la_sum_log_diag: L is f64 3x3 but out is f64 1");
    EXPECT(la_sum_log_diag(&exec, la_scalar_f64(NULL), A), COVAR_ERR_ARG,
           "NULL");
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"kinds", test_kinds},
        {"diagonals", test_diagonals},
        {"add_diag", test_add_diag},
        {"packed triangles", test_trian},
        {"sum_log_diag", test_sum_log_diag},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg tri", cases);
}
