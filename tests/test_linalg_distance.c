/* Squared distances.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

static void *work_for(la_view X, la_view Z)
{
    return aligned_alloc(64, (la_sqdist_work_size(X, Z) + 127) / 64 * 64);
}

static void test_golden(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    const double X[4] = {0, 0, 3, 4}, Z[6] = {0, 0, 1, 1, 3, 0};
    double out[6], sym[4];
    const la_view x = la_mat_f64(X, 2, 2), z = la_mat_f64(Z, 3, 2);
    void *work = work_for(x, z);
    TEST_OK(ctx, la_sqdist(&exec, la_mat_f64(out, 2, 3), x, z, work));
    TEST_CLOSE_ARRAY(out, ((double[]){0, 2, 9, 25, 13, 16}), 6, 0);
    TEST_OK(ctx,
            la_sqdist(&exec, la_mat_f64(sym, 2, 2), x, la_view_none(), work));
    TEST_CLOSE_ARRAY(sym, ((double[]){0, 25, 25, 0}), 4, 0);
    free(work);
    covar_context_free(ctx);
}

static void check_values(la_view out, la_view X, la_view Z, bool symmetric,
                         double bound)
{
    const size_t n = X.dim[X.rank - 2], m = Z.dim[Z.rank - 2];
    const size_t d = X.dim[X.rank - 1];
    size_t bad = 0;
    double worst = 0;
    for (size_t b = 0; b < stack_size(out); b++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++) {
                long double sum = 0;
                for (size_t k = 0; k < d; k++) {
                    const long double t = (long double)element(X, b, i, k) -
                                          (long double)element(Z, b, j, k);
                    sum += t * t;
                }
                const double v = element(out, b, i, j);
                const double error = fabs(v - (double)sum);
                worst = fmax(worst, error);
                bad += !(error <= bound * (double)(d ? d : 1)) || v < 0;
                if (symmetric)
                    bad += v != element(out, b, j, i) || (i == j && v != 0);
            }
    char text[64];
    test_check(bad == 0, __FILE__, __LINE__,
               "sqdist %s, d = %zu: %zu bad elements, largest error %.3g",
               la_view_describe(text, sizeof text, out), d, bad, worst);
}

static void check_sqdist(covar_context *ctx, la_dtype dtype, size_t batch,
                         size_t n, size_t m, size_t d, double offset)
{
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n * 1000 + m, d);
    stack X = stack_create(dtype, batch, n, d, 1);
    stack Z = stack_create(dtype, batch, m, d, 3);
    stack C = stack_create(dtype, batch, n, m, 2);
    stack S = stack_create(dtype, batch, n, n, 5);
    fill_random(X.view, &rng);
    fill_random(Z.view, &rng);
    for (size_t i = 0; i < la_view_count(X.view); i++)
        la_view_set(X.view, i, la_view_get(X.view, i) + offset);
    for (size_t i = 0; i < la_view_count(Z.view); i++)
        la_view_set(Z.view, i, la_view_get(Z.view, i) + offset);
    const double bound = dtype == LA_F64 ? 1e-14 : 1e-6;
    void *work = work_for(X.view, Z.view);
    TEST_OK(ctx, la_sqdist(&exec, C.view, X.view, Z.view, work));
    check_values(C.view, X.view, Z.view, false, bound);
    free(work);
    work = work_for(X.view, la_view_none());
    TEST_OK(ctx, la_sqdist(&exec, S.view, X.view, la_view_none(), work));
    check_values(S.view, X.view, X.view, true, bound);
    free(work);
    stack_check_guard(C, "sqdist");
    stack_check_guard(S, "symmetric sqdist");
    stack_free(X);
    stack_free(Z);
    stack_free(C);
    stack_free(S);
}

static void test_property(void)
{
    covar_context *ctx = test_context();
    static const size_t features[] = {0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 40};
    size_t q = 0;
    for (size_t t = 0; t < NELEM(test_dtypes); t++)
        for (size_t i = 0; i < NELEM(test_sizes); i++)
            for (size_t k = 0; k < NELEM(features); k++, q++)
                check_sqdist(ctx, test_dtypes[t], q % 3, test_sizes[i],
                             test_sizes[(i + q) % NELEM(test_sizes)],
                             features[k], 0);
    covar_context_free(ctx);
}

/* A common offset of 1e6 costs no accuracy: the inputs are what they are, and
 * the reference uses the same rounded inputs. */
static void test_offset(void)
{
    covar_context *ctx = test_context();
    check_sqdist(ctx, LA_F64, 0, 65, 33, 3, 1e6);
    check_sqdist(ctx, LA_F64, 0, 65, 33, 16, 1e6);
    check_sqdist(ctx, LA_F32, 0, 65, 33, 3, 1e6);
    check_sqdist(ctx, LA_F64, 2, 65, 33, 24, 1024);
    check_sqdist(ctx, LA_F32, 2, 65, 33, 24, 1e3);
    covar_context_free(ctx);
}

/* Same bits with one and two threads, at every instruction set. */
static void test_threads(void)
{
    enum { N = 300 };
    covar_context *ctx = test_context();
    covar_rng rng = covar_rng_init(1, 2);
    stack X = stack_create(LA_F64, 0, N, 5, 0);
    fill_random(X.view, &rng);
    void *work = work_for(X.view, la_view_none());
    double *a = malloc(sizeof *a * N * N), *b = malloc(sizeof *b * N * N);
    for (int isa = COVAR_ISA_BASELINE; isa <= COVAR_ISA_V4; isa++) {
        covar_context_set_isa(ctx, (covar_isa)isa);
        const la_exec one = test_exec(ctx, 1), two = test_exec(ctx, 2);
        TEST_OK(ctx, la_sqdist(&one, la_mat_f64(a, N, N), X.view,
                               la_view_none(), work));
        TEST_OK(ctx, la_sqdist(&two, la_mat_f64(b, N, N), X.view,
                               la_view_none(), work));
        TEST_SAME_BITS(b, a, N * N, sizeof *a);
        check_values(la_mat_f64(a, N, N), X.view, X.view, true, 1e-14);
    }
    free(a);
    free(b);
    free(work);
    stack_free(X);
    covar_context_free(ctx);
}

static void test_nan(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double X[40] = {0}, out[4];
    X[20] = NAN;
    for (size_t d = 1; d <= 20; d += 19) {
        const la_view x = la_view_strided(X, LA_F64, 2, (size_t[]){2, d},
                                          (ptrdiff_t[]){20, 1});
        void *work = work_for(x, x);
        TEST_OK(ctx, la_sqdist(&exec, la_mat_f64(out, 2, 2), x, x, work));
        CU_ASSERT(isnan(out[1]) && isnan(out[2]) && isnan(out[3]));
        free(work);
    }
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double p[16] = {0}, out[16], work[256];
    float f[16] = {0};
    const la_view X = la_mat_f64(p, 3, 2), Z = la_mat_f64(p, 4, 2);
    const la_view C = la_mat_f64(out, 3, 4);
    EXPECT(la_sqdist(&exec, C, X, la_mat_f64(p, 4, 3), work), COVAR_ERR_SHAPE,
           "la_sqdist: X is f64 3x2 but Z is f64 4x3");
    EXPECT(la_sqdist(&exec, la_mat_f64(out, 4, 3), X, Z, work), COVAR_ERR_SHAPE,
           "out is f64 4x3 but Z is f64 4x2");
    EXPECT(la_sqdist(&exec, C, X, la_view_none(), work), COVAR_ERR_SHAPE,
           "out is f64 3x4 but X is f64 3x2");
    EXPECT(la_sqdist(&exec, C, X, la_mat_f32(f, 4, 2), work), COVAR_ERR_DTYPE,
           "Z is f32 4x2");
    EXPECT(la_sqdist(&exec, C, X, Z, NULL), COVAR_ERR_ARG, "work is NULL");
    EXPECT(la_sqdist(&exec, C, la_mat_f64(NULL, 3, 2), Z, work), COVAR_ERR_ARG,
           "data is NULL");
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden", test_golden}, {"property", test_property},
        {"offset", test_offset}, {"threads and ISA", test_threads},
        {"NaN", test_nan},       {"errors", test_errors},
    };
    return CUTAP_RUN("linalg distance", cases);
}
