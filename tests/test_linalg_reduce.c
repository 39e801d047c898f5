/* Reductions of one array: every set of axes, any strides, large results,
 * empty axes, NaN, double accumulation; and la_all_finite.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <covar/linalg.h>
#include <covar/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test_util.h"

static covar_rng stream;

static double draw(void)
{
    double u;
    covar_rng_uniform(&u, 1, &stream);
    return u;
}

/* Sum, maximum and minimum of small integers: exact in every order. */
static void check_axes(covar_context *ctx, la_view x, unsigned axes,
                       int threads)
{
    la_exec exec = la_exec_cpu(ctx);
    size_t dim[LA_MAX_DIMS];
    int rank = 0;
    exec.threads = threads;
    for (int i = 0; i < x.rank; i++)
        if (!(axes >> i & 1))
            dim[rank++] = x.dim[i];
    la_array *array = NULL;
    TEST_OK(ctx, la_array_create(&array, &exec, x.dtype, rank, dim));
    const la_view out = la_array_view(array);
    const size_t n = la_view_count(out);
    double *want = malloc((n + 1) * sizeof(double));
    for (int kind = LA_REDUCE_SUM; kind <= LA_REDUCE_MIN; kind++) {
        const double start = kind == LA_REDUCE_SUM   ? 0
                             : kind == LA_REDUCE_MAX ? -(double)INFINITY
                                                     : (double)INFINITY;
        for (size_t i = 0; i < n; i++)
            want[i] = start;
        for (size_t i = 0; i < la_view_count(x); i++) {
            size_t at = 0, step = 1, rest = i;
            for (int d = x.rank; d-- > 0; rest /= x.dim[d])
                if (!(axes >> d & 1)) {
                    at += rest % x.dim[d] * step;
                    step *= x.dim[d];
                }
            const double v = la_view_get(x, i);
            want[at] = kind == LA_REDUCE_SUM   ? want[at] + v
                       : kind == LA_REDUCE_MAX ? fmax(want[at], v)
                                               : fmin(want[at], v);
        }
        TEST_OK(ctx, la_reduce(&exec, (la_reduce_kind)kind, out, x, axes));
        for (size_t i = 0; i < n; i++)
            if (!test_check(la_view_get(out, i) == want[i], __FILE__, __LINE__,
                            "kind %d, axes 0x%x of rank %d, element %zu: %g, "
                            "not %g",
                            kind, axes, x.rank, i, la_view_get(out, i),
                            want[i]))
                break;
    }
    free(want);
    la_array_free(array);
}

static void fill(la_view x)
{
    for (size_t i = 0; i < la_view_count(x); i++)
        la_view_set(x, i, floor(200 * draw()) - 100);
}

static void test_axes(void)
{
    static const size_t shapes[][4] = {
        {3, 4, 5, 6}, {1, 70, 1, 3}, {2, 3, 1, 130}, {65, 64, 2, 1}};
    covar_context *ctx = test_context();
    double *memory = calloc(40000, sizeof(double));
    stream = covar_rng_init(1, 0);
    for (size_t s = 0; s < NELEM(shapes); s++)
        for (int rank = 0; rank <= 4; rank++)
            for (int layout = 0; layout < 2; layout++) {
                const la_dtype t = layout ? LA_F32 : LA_F64;
                la_view x = la_view_dense(memory, t, rank, shapes[s]);
                if (layout)
                    x = la_view_transpose(x);
                fill(x);
                for (unsigned axes = 0; axes < 1u << rank; axes++)
                    check_axes(ctx, x, axes, 1 + layout);
            }
    free(memory);
    covar_context_free(ctx);
}

/* Results that need more than one piece of accumulators. */
static void test_large_result(void)
{
    const size_t dim[] = {50, 60, 7};
    covar_context *ctx = test_context();
    double *memory = calloc(50 * 60 * 7 * 2, sizeof(double));
    stream = covar_rng_init(2, 0);
    const la_view x = la_view_dense(memory, LA_F64, 3, dim);
    fill(x);
    check_axes(ctx, x, 4, 1);
    check_axes(ctx, x, 4, 2);
    check_axes(ctx, x, 0, 1);
    check_axes(ctx, la_view_transpose(x), 4, 2);
    const size_t wide[] = {2, 20000};
    const la_view y = la_view_dense(memory, LA_F64, 2, wide);
    check_axes(ctx, y, 1, 1);
    check_axes(ctx, y, 1, 3);
    free(memory);
    covar_context_free(ctx);
}

static void test_empty(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    const size_t dim[] = {3, 0};
    double x = 0, y[3] = {1, 1, 1};
    const la_view in = la_view_dense(&x, LA_F64, 2, dim);
    TEST_OK(ctx, la_reduce(&exec, LA_REDUCE_SUM, la_vec_f64(y, 3), in, 2));
    CU_ASSERT(y[0] == 0 && y[1] == 0 && y[2] == 0);
    TEST_OK(ctx, la_reduce(&exec, LA_REDUCE_MAX, la_vec_f64(y, 3), in, 2));
    CU_ASSERT(y[0] == -(double)INFINITY);
    TEST_OK(ctx, la_reduce(&exec, LA_REDUCE_MIN, la_scalar_f64(y), in, 3));
    CU_ASSERT(y[0] == (double)INFINITY);
    TEST_OK(ctx, la_reduce(&exec, LA_REDUCE_SUM, la_vec_f64(y, 0), in, 1));
    covar_context_free(ctx);
}

/* NaN wins wherever it stands, in every kind. */
static void test_nan(void)
{
    enum { N = 77 };
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    double x[N], y[N] = {0};
    for (int place = 0; place < N; place++)
        for (int kind = LA_REDUCE_SUM; kind <= LA_REDUCE_MIN; kind++) {
            const size_t dim[] = {N, 1};
            const la_view column = la_view_dense(x, LA_F64, 2, dim);
            for (int i = 0; i < N; i++)
                x[i] = i == place ? (double)NAN : i % 7;
            TEST_OK(ctx, la_reduce(&exec, (la_reduce_kind)kind,
                                   la_scalar_f64(y), la_vec_f64(x, N), 1));
            CU_ASSERT(isnan(y[0]));
            TEST_OK(ctx, la_reduce(&exec, (la_reduce_kind)kind,
                                   la_vec_f64(y, N), column, 2));
            CU_ASSERT(isnan(y[place]) && !isnan(y[(place + 1) % N]));
        }
    covar_context_free(ctx);
}

/* f32 sums in double: 2^24 + 1 + 1 + ... and many thirds. */
static void test_double(void)
{
    enum { N = 300000 };
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    float *x = malloc(N * sizeof(float)), sum;
    for (int i = 0; i < N; i++)
        x[i] = 1.0f / 3;
    TEST_OK(ctx, la_reduce(&exec, LA_REDUCE_SUM, la_scalar_f32(&sum),
                           la_vec_f32(x, N), 1));
    CU_ASSERT(sum == (float)(N * (double)x[0]));
    for (int i = 0; i < 1001; i++)
        x[i] = i == 500 ? 0x1p24f : 1;
    TEST_OK(ctx, la_reduce(&exec, LA_REDUCE_SUM, la_scalar_f32(&sum),
                           la_vec_f32(x, 1001), 1));
    CU_ASSERT(sum == 0x1p24f + 1000);
    free(x);
    covar_context_free(ctx);
}

static void test_all_finite(void)
{
    double x[60];
    float f[60];
    size_t first = 99;
    const size_t dim[] = {5, 4};
    const ptrdiff_t stride[] = {12, -2};
    for (int i = 0; i < 60; i++)
        x[i] = f[i] = (float)i;
    CU_ASSERT(la_all_finite(la_vec_f64(x, 60), &first));
    CU_ASSERT(la_all_finite(la_vec_f64(x, 0), &first));
    TEST_INT(first, 99);
    x[41] = (double)INFINITY;
    x[42] = (double)NAN;
    CU_ASSERT(!la_all_finite(la_vec_f64(x, 60), &first));
    TEST_INT(first, 41);
    /* row i = x[12 i + 6], x[12 i + 4], ...: 42 = 12 * 3 + 6 */
    const la_view v = la_view_strided(x + 6, LA_F64, 2, dim, stride);
    CU_ASSERT(!la_all_finite(v, &first));
    TEST_INT(first, 12);
    CU_ASSERT(!la_all_finite(la_view_transpose(v), &first));
    TEST_INT(first, 3);
    f[7] = -INFINITY;
    CU_ASSERT(!la_all_finite(la_vec_f32(f, 60), NULL));
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    double x[6] = {0}, y[6];
    int32_t k[3] = {0};
    const la_view m = la_mat_f64(x, 2, 3);
    TEST_STATUS(ctx, la_reduce(&exec, LA_REDUCE_NONE, la_vec_f64(y, 2), m, 2),
                COVAR_ERR_ARG);
    TEST_STATUS(ctx, la_reduce(&exec, LA_REDUCE_SUM, la_vec_f64(y, 3), m, 2),
                COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(ctx), "f64 3 but f64 2");
    TEST_STATUS(ctx, la_reduce(&exec, LA_REDUCE_SUM, la_vec_f64(y, 2), m, 4),
                COVAR_ERR_ARG);
    TEST_STATUS(
        ctx,
        la_reduce(&exec, LA_REDUCE_SUM, la_vec_i32(k, 1), la_vec_i32(k, 3), 1),
        COVAR_ERR_DTYPE);
    TEST_STATUS(ctx, la_reduce(&exec, LA_REDUCE_SUM, la_vec_f64(x, 2), m, 2),
                COVAR_ERR_ARG);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"every set of axes", test_axes},
        {"large results", test_large_result},
        {"empty axes", test_empty},
        {"NaN", test_nan},
        {"f32 sums in double", test_double},
        {"all finite", test_all_finite},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg reduce", cases);
}
