/* Copies with any strides and every pair of dtypes; fills.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <covar/linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test_util.h"

static const la_dtype dtypes[] = {LA_F64, LA_F32, LA_I32, LA_U8};

/* Element i of out is element i of x, as the dtypes allow. */
static void check_copy(covar_context *ctx, la_view out, la_view x)
{
    la_view full;
    la_exec exec = la_exec_cpu(ctx);
    exec.threads = 2;
    CU_ASSERT(la_view_broadcast(&full, x, out.rank, out.dim));
    TEST_OK(ctx, la_copy(&exec, out, x));
    size_t i = 0;
    while (i < la_view_count(out) &&
           la_view_get(out, i) == la_view_get(full, i))
        i++;
    test_check(i == la_view_count(out), __FILE__, __LINE__,
               "%s to %s: element %zu differs", la_dtype_name(x.dtype),
               la_dtype_name(out.dtype), i);
}

/* Layout 0 dense, 1 transposed, 2 with gaps, 3 backwards. */
static la_view lay_out(void *p, la_dtype t, const size_t *dim, int layout)
{
    const size_t swapped[] = {dim[0], dim[2], dim[1]};
    ptrdiff_t stride[3] = {(ptrdiff_t)(3 * dim[1] * dim[2]),
                           (ptrdiff_t)(2 * dim[2]), 2};
    if (layout == 0)
        return la_view_dense(p, t, 3, dim);
    if (layout == 1)
        return la_view_transpose(la_view_dense(p, t, 3, swapped));
    if (layout == 2)
        return la_view_strided(p, t, 3, dim, stride);
    stride[1] = -(ptrdiff_t)dim[2];
    stride[2] = 1;
    const size_t last = dim[1] > 0 ? (dim[1] - 1) * dim[2] : 0;
    return la_view_strided((char *)p + last * la_dtype_size(t), t, 3, dim,
                           stride);
}

static void test_layouts(void)
{
    static const size_t shapes[][3] = {{1, 1, 1},  {2, 3, 4},    {3, 0, 2},
                                       {1, 70, 1}, {2, 33, 100}, {5, 64, 32}};
    covar_context *ctx = test_context();
    char *a = calloc(60000, 8), *b = calloc(60000, 8);
    for (size_t s = 0; s < NELEM(shapes); s++)
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++) {
                const la_view x = lay_out(a, dtypes[i / 4], shapes[s], i % 4);
                const la_view y = lay_out(b, dtypes[j / 4], shapes[s], j % 4);
                for (size_t k = 0; k < la_view_count(x); k++)
                    la_view_set(x, k, (double)(k % 251));
                memset(b, 0x55, 60000);
                check_copy(ctx, y, x);
            }
    free(a);
    free(b);
    covar_context_free(ctx);
}

static void test_broadcast(void)
{
    covar_context *ctx = test_context();
    const double x[] = {1, 2, 3};
    const size_t dim[] = {2, 4, 3}, row[] = {1, 1, 3}, column[] = {1, 3, 1};
    const size_t tall[] = {2, 3, 5};
    float y[30];
    double z[30];
    check_copy(ctx, la_view_dense(y, LA_F32, 3, dim),
               la_view_dense(x, LA_F64, 3, row));
    check_copy(ctx, la_view_dense(z, LA_F64, 3, dim),
               la_view_dense(x, LA_F64, 3, row));
    check_copy(ctx, la_view_dense(z, LA_F64, 3, tall),
               la_view_dense(x, LA_F64, 3, column));
    check_copy(ctx, la_view_dense(z, LA_F64, 3, tall), la_scalar_f64(x));
    covar_context_free(ctx);
}

static void test_large_transpose(void)
{
    enum { N = 700 };
    covar_context *ctx = test_context();
    double *x = malloc(2 * N * N * sizeof(double)), *y = x + N * N;
    for (size_t i = 0; i < N * N; i++)
        x[i] = (double)i;
    check_copy(ctx, la_mat_f64(y, N, N),
               la_view_transpose(la_mat_f64(x, N, N)));
    free(x);
    covar_context_free(ctx);
}

static void test_to_integers(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    const double good[] = {-0.9, 0, 254.5, 255.9};
    const double wide[] = {-2147483648.9, -1.5, 1.5, 2147483647.9};
    const double bad[] = {-1, 256, (double)NAN, -(double)INFINITY};
    uint8_t u[4] = {9, 9, 9, 9};
    int32_t k[4] = {0};
    TEST_OK(ctx, la_copy(&exec, la_vec_u8(u, 4), la_vec_f64(good, 4)));
    CU_ASSERT(u[0] == 0 && u[1] == 0 && u[2] == 254 && u[3] == 255);
    TEST_OK(ctx, la_copy(&exec, la_vec_i32(k, 4), la_vec_f64(wide, 4)));
    CU_ASSERT(k[0] == INT32_MIN && k[1] == -1 && k[2] == 1 &&
              k[3] == INT32_MAX);
    for (int i = 0; i < 4; i++) {
        const double x[] = {3, bad[i]};
        u[0] = 9;
        TEST_STATUS(ctx, la_copy(&exec, la_vec_u8(u, 2), la_vec_f64(x, 2)),
                    COVAR_ERR_NUMERIC);
        TEST_CONTAINS(covar_error_text(ctx), "has no value in u8");
        TEST_INT(u[0], 9);
    }
    const double beyond = 2147483648.0;
    TEST_STATUS(ctx, la_copy(&exec, la_vec_i32(k, 1), la_vec_f64(&beyond, 1)),
                COVAR_ERR_NUMERIC);
    covar_context_free(ctx);
}

static void test_bits(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    const uint64_t words[] = {0x7ff0000000000001, 0x8000000000000000,
                              0xfff8000000000123};
    double x[3], y[3];
    memcpy(x, words, sizeof x);
    TEST_OK(ctx, la_copy(&exec, la_vec_f64(y, 3), la_vec_f64(x, 3)));
    TEST_SAME_BITS(y, x, 3, sizeof(double));
    covar_context_free(ctx);
}

static void test_fill(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    double x[24];
    int32_t k[3];
    const size_t dim[] = {3, 2};
    const ptrdiff_t stride[] = {8, 3};
    memset(x, 0, sizeof x);
    TEST_OK(ctx,
            la_fill(&exec, la_view_strided(x, LA_F64, 2, dim, stride), 2.5));
    for (int i = 0; i < 24; i++)
        CU_ASSERT_EQUAL(x[i], i % 8 == 0 || i % 8 == 3 ? 2.5 : 0);
    TEST_OK(ctx, la_fill(&exec, la_vec_i32(k, 3), -7.9));
    CU_ASSERT(k[0] == -7 && k[2] == -7);
    TEST_STATUS(ctx, la_fill(&exec, la_vec_i32(k, 3), (double)NAN),
                COVAR_ERR_NUMERIC);
    TEST_OK(ctx, la_fill(&exec, la_vec_f64(x, 0), 1));
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    double x[9] = {0};
    const size_t dim[] = {3};
    const ptrdiff_t zero[] = {0};
    TEST_STATUS(ctx, la_copy(&exec, la_vec_f64(x, 3), la_vec_f64(x + 3, 2)),
                COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(ctx), "x is f64 2 but out is f64 3");
    TEST_STATUS(ctx, la_copy(&exec, la_vec_f64(x, 3), la_vec_f64(x + 2, 3)),
                COVAR_ERR_ARG);
    TEST_STATUS(ctx,
                la_fill(&exec, la_view_strided(x, LA_F64, 1, dim, zero), 0),
                COVAR_ERR_SHAPE);
    TEST_STATUS(ctx, la_fill(&exec, la_vec_f64(NULL, 3), 0), COVAR_ERR_ARG);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"layouts and dtypes", test_layouts},
        {"broadcast", test_broadcast},
        {"a large transpose", test_large_transpose},
        {"to integers", test_to_integers},
        {"bits of NaN and zero", test_bits},
        {"fill", test_fill},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg copy", cases);
}
