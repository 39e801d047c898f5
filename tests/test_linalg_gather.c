/* Rows by index: gather and scatter_add.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

static void test_golden(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    const double x[6] = {1, 2, 3, 4, 5, 6};
    const int32_t index[4] = {2, 0, 2, 1};
    double out[8], sum[6] = {0};
    const la_view i = la_vec_i32(index, 4);
    TEST_OK(ctx,
            la_gather(&exec, la_mat_f64(out, 4, 2), la_mat_f64(x, 3, 2), i));
    TEST_CLOSE_ARRAY(out, ((double[]){5, 6, 1, 2, 5, 6, 3, 4}), 8, 0);
    TEST_OK(ctx, la_scatter_add(&exec, la_mat_f64(sum, 3, 2),
                                la_mat_f64(out, 4, 2), i));
    TEST_CLOSE_ARRAY(sum, ((double[]){1, 2, 3, 4, 10, 12}), 6, 0);
    TEST_OK(ctx, la_gather(&exec, la_vec_f64(out, 4), la_vec_f64(x, 3), i));
    TEST_CLOSE_ARRAY(out, ((double[]){3, 1, 3, 2}), 4, 0);
    covar_context_free(ctx);
}

/* Random rows of rank 1, 2 and 3 arrays with padding, f32 and f64. */
static void test_property(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    for (size_t q = 0; q < 6 * NELEM(test_sizes); q++) {
        const la_dtype dtype = test_dtypes[q % 2];
        const size_t n = 5, k = test_sizes[q / 6], m = 3 + q % 4;
        const size_t deep = q % 3 == 0 ? 4 : 0;
        covar_rng rng = covar_rng_init(q, 1);
        stack X = stack_create(dtype, deep ? n : 0, deep ? deep : n, m, 2);
        stack Y = stack_create(dtype, deep ? k : 0, deep ? deep : k, m, 1);
        int32_t index[200];
        for (size_t i = 0; i < k; i++)
            index[i] = (int32_t)((i * 7 + q) % n);
        fill_random(X.view, &rng);
        if (deep && k == 0)
            Y.view = la_view_dense(NULL, dtype, 3, (size_t[]){0, deep, m});
        const la_view idx = la_vec_i32(index, k);
        TEST_OK(ctx, la_gather(&exec, Y.view, X.view, idx));
        const size_t row = deep ? deep * m : m;
        for (size_t i = 0; i < la_view_count(Y.view); i++)
            CU_ASSERT_EQUAL(
                la_view_get(Y.view, i),
                la_view_get(X.view, (size_t)index[i / row] * row + i % row));
        la_view before = dense_copy(X.view);
        TEST_OK(ctx, la_scatter_add(&exec, X.view, Y.view, idx));
        for (size_t i = 0; i < la_view_count(X.view); i++) {
            double count = 1; /* every copy was of the old value */
            for (size_t r = 0; r < k; r++)
                count += (size_t)index[r] == i / row;
            TEST_CLOSE(la_view_get(X.view, i), count * la_view_get(before, i),
                       dtype == LA_F64 ? 1e-13 : 1e-5);
        }
        if (k > 0)
            stack_check_guard(Y, "gather");
        stack_check_guard(X, "scatter_add");
        free(before.data);
        stack_free(X);
        stack_free(Y);
    }
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double x[6] = {0}, out[4] = {1, 1, 1, 1};
    float f[4];
    int32_t index[2] = {0, 3};
    const la_view X = la_mat_f64(x, 3, 2), Y = la_mat_f64(out, 2, 2);
    la_view i = la_vec_i32(index, 2);
    EXPECT(la_gather(&exec, Y, X, i), COVAR_ERR_ARG,
           "la_gather: index[1] = 3 but x has 3 rows");
    index[0] = -1;
    EXPECT(la_scatter_add(&exec, X, Y, i), COVAR_ERR_ARG,
           "la_scatter_add: index[0] = -1 but out has 3 rows");
    index[0] = index[1] = 0;
    EXPECT(la_gather(&exec, Y, la_mat_f64(x, 2, 3), i), COVAR_ERR_SHAPE,
           "their rows differ");
    EXPECT(la_gather(&exec, X, X, i), COVAR_ERR_SHAPE,
           "out is f64 3x2 but index is i32 2");
    EXPECT(la_gather(&exec, Y, X, la_vec_f64(x, 2)), COVAR_ERR_DTYPE,
           "i32 is needed");
    EXPECT(la_gather(&exec, Y, X, la_vec_i32(NULL, 2)), COVAR_ERR_ARG,
           "index is i32 2: data is NULL");
    EXPECT(la_gather(&exec, la_mat_f32(f, 2, 2), X, i), COVAR_ERR_DTYPE,
           "out is f32 2x2");
    EXPECT(la_gather(&exec, la_scalar_f64(out), X, i), COVAR_ERR_SHAPE,
           "a vector");
    for (int k = 0; k < 4; k++)
        CU_ASSERT_EQUAL(out[k], 1.0);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden", test_golden},
        {"property", test_property},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg gather", cases);
}
