/* Random arrays by counter.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

enum { N = 20011 };

static const int32_t key[3] = {-5, 77, 123};
static const uint32_t stream = 9;

static covar_rng same_stream(void)
{
    return covar_rng_init((uint64_t)77 << 32 | (uint32_t)-5,
                          (uint64_t)9 << 32 | 123);
}

static void check_kind(la_random_kind kind)
{
    covar_context *ctx = test_context();
    double *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N);
    float *f = malloc(sizeof *f * N);
    for (size_t k = 0; k < NELEM(test_sizes) + 1; k++) {
        const size_t n = k < NELEM(test_sizes) ? test_sizes[k] : N;
        const la_exec exec = test_exec(ctx, 1 + (int)(k % 2));
        covar_rng rng = same_stream();
        if (kind == LA_UNIFORM)
            covar_rng_uniform(b, n, &rng);
        else
            covar_rng_normal(b, n, &rng);
        TEST_OK(ctx, la_random(&exec, kind, la_vec_f64(a, n),
                               la_vec_i32(key, 3), stream));
        TEST_SAME_BITS(a, b, n, sizeof *a);
        TEST_OK(ctx, la_random(&exec, kind, la_vec_f32(f, n),
                               la_vec_i32(key, 3), stream));
        size_t bad = 0;
        for (size_t i = 0; i < n; i++) {
            bad += fabs((double)f[i] - b[i]) > 6e-8 * fmax(1, fabs(b[i]));
            if (kind == LA_UNIFORM)
                bad += !(f[i] >= 0 && f[i] < 1);
        }
        TEST_INT(bad, 0);
    }
    free(a);
    free(b);
    free(f);
    covar_context_free(ctx);
}

static void test_uniform(void)
{
    check_kind(LA_UNIFORM);
}

static void test_normal(void)
{
    check_kind(LA_NORMAL);
}

static void test_threads(void)
{
    covar_context *ctx = test_context();
    double *a = malloc(sizeof *a * N), *b = malloc(sizeof *b * N);
    const la_exec one = test_exec(ctx, 1), three = test_exec(ctx, 3);
    TEST_OK(ctx, la_random(&one, LA_NORMAL, la_vec_f64(a, N),
                           la_vec_i32(key, 3), stream));
    TEST_OK(ctx, la_random(&three, LA_NORMAL, la_vec_f64(b, N),
                           la_vec_i32(key, 3), stream));
    TEST_SAME_BITS(a, b, N, sizeof *a);
    TEST_OK(ctx, la_random(&one, LA_NORMAL, la_vec_f64(b, N),
                           la_vec_i32(key, 3), stream + 1));
    CU_ASSERT(a[0] != b[0]);
    free(a);
    free(b);
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double x[6];
    const la_view k = la_vec_i32(key, 3), X = la_mat_f64(x, 2, 3);
    EXPECT(la_random(&exec, LA_NORMAL, X, la_vec_i32(key, 2), 0),
           COVAR_ERR_SHAPE, "key is i32 2");
    EXPECT(la_random(&exec, LA_NORMAL, X, la_vec_f64(x, 3), 0), COVAR_ERR_DTYPE,
           "i32 is needed");
    EXPECT(la_random(&exec, LA_NORMAL, la_view_transpose(X), k, 0),
           COVAR_ERR_SHAPE, "out must be dense");
    EXPECT(la_random(&exec, (la_random_kind)5, X, k, 0), COVAR_ERR_ARG,
           "no kind 5");
    EXPECT(la_random(&exec, LA_NORMAL, la_mat_f64(NULL, 2, 3), k, 0),
           COVAR_ERR_ARG, "data is NULL");
    EXPECT(la_random(&exec, LA_NORMAL, la_vec_i32(key, 3), k, 0),
           COVAR_ERR_DTYPE, "f64 or f32");
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"uniform", test_uniform},
        {"normal", test_normal},
        {"threads", test_threads},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg random", cases);
}
