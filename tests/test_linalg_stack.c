/* Stacks of small matrices, which go side by side through vector lanes: every
 * order, stacks that fill the lanes and stacks that do not, every instruction
 * set, against one matrix at a time.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

enum { MOST = 35 };

static const size_t counts[] = {4, 5, 7, 8, 9, 15, 16, 17, 31, MOST};

static la_view one_of(la_view x, size_t b)
{
    return la_view_strided(place(x, b, 0, 0), x.dtype, 2, x.dim + 1,
                           x.stride + 1);
}

/* Matrix b of `x` equals `y` to rounding, NaN where it is NaN. */
static void check_equal(la_view x, size_t b, la_view y, const char *what)
{
    const size_t n = y.dim[0];
    const double eps = x.dtype == LA_F64 ? 0x1p-52 : 0x1p-23;
    const double tol = 16 * (double)(n + 1) * eps;
    size_t wrong = 0;
    double size = 1;
    for (size_t e = 0; e < n * n; e++)
        size = fmax(size, fabs(element(y, 0, e / n, e % n)));
    for (size_t e = 0; e < n * n; e++) {
        const double u = element(x, b, e / n, e % n);
        const double v = element(y, 0, e / n, e % n);
        if (isnan(v) ? !isnan(u) : !(fabs(u - v) <= tol * size))
            wrong++;
    }
    test_check(wrong == 0, __FILE__, __LINE__,
               "%s: %zu of %zux%zu elements of matrix %zu of %zu are wrong",
               what, wrong, n, n, b, stack_size(x));
}

/* Breaks some of the matrices, each in another way and at another place. */
static void spoil(la_view A, size_t count, size_t n)
{
    static const double bad[] = {-1, 0, (double)NAN, INFINITY};
    for (size_t b = n % 3, k = 0; b < count; b += 1 + (b * n) % 7, k++)
        set_element(A, b, (b + n) % n, (b + n) % n, bad[k % NELEM(bad)]);
}

static void check_potrf(covar_context *ctx, la_dtype dtype, size_t count,
                        size_t n, bool broken)
{
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n, count);
    stack A = stack_create(dtype, count, n, n, n % 2 ? 3 : 0);
    fill_pd(A.view, &rng);
    if (broken)
        spoil(A.view, count, n);
    const la_view single = dense_copy(A.view);
    int32_t info[MOST], expected;
    memset(info, 9, sizeof info);
    TEST_OK(ctx, la_potrf(&exec, A.view, info));
    for (size_t b = 0; b < count; b++) {
        TEST_OK(ctx, la_potrf(&exec, one_of(single, b), &expected));
        TEST_INT(info[b], expected);
        check_equal(A.view, b, one_of(single, b), "potrf");
    }
    stack_check_guard(A, "potrf");
    stack_free(A);
    free(single.data);
}

static void check_reverse(covar_context *ctx, la_dtype dtype, size_t count,
                          size_t n)
{
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n, 100 + count);
    stack L = stack_create(dtype, count, n, n, n % 3);
    stack B = stack_create(dtype, count, n, n, n % 2 ? 3 : 0);
    fill_triangle(L.view, LA_LOWER, &rng);
    fill_triangle(B.view, LA_LOWER, &rng);
    const la_view single = dense_copy(B.view);
    TEST_OK(ctx, la_chol_rev(&exec, L.view, B.view));
    for (size_t b = 0; b < count; b++) {
        const la_view L1 = one_of(L.view, b), B1 = one_of(single, b);
        TEST_OK(ctx, la_chol_rev(&exec, L1, B1));
        check_equal(B.view, b, B1, "chol_rev");
        for (size_t e = 0; e < n * n; e++)
            if (element(B.view, b, e / n, e % n) !=
                element(B.view, b, e % n, e / n))
                CU_FAIL("chol_rev: result is not symmetric");
    }
    stack_check_guard(B, "chol_rev");
    stack_free(L);
    stack_free(B);
    free(single.data);
}

typedef void check_fn(covar_context *ctx, la_dtype dtype, size_t count,
                      size_t n);

static void each_stack(check_fn *check)
{
    for (int isa = COVAR_ISA_BASELINE; isa <= COVAR_ISA_V4; isa++) {
        covar_context *ctx = test_context();
        covar_context_set_isa(ctx, (covar_isa)isa);
        for (size_t t = 0; t < NELEM(test_dtypes); t++)
            for (size_t c = 0; c < NELEM(counts); c++)
                for (size_t n = 1; n <= 33; n++)
                    check(ctx, test_dtypes[t], counts[c], n);
        covar_context_free(ctx);
    }
}

static void check_good(covar_context *ctx, la_dtype dtype, size_t count,
                       size_t n)
{
    check_potrf(ctx, dtype, count, n, false);
}

static void check_broken(covar_context *ctx, la_dtype dtype, size_t count,
                         size_t n)
{
    check_potrf(ctx, dtype, count, n, true);
}

static void test_potrf(void)
{
    each_stack(check_good);
}

static void test_failures(void)
{
    each_stack(check_broken);
}

static void test_reverse(void)
{
    each_stack(check_reverse);
}

/* Stacks of stacks with strides of their own, on two threads. */
static void test_nested(void)
{
    enum { ROWS = 3, COLS = 7, N = 5 };
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 2);
    covar_rng rng = covar_rng_init(5, 5);
    stack A = stack_create(LA_F64, ROWS * COLS, N, N, 2);
    fill_pd(A.view, &rng);
    const la_view single = dense_copy(A.view);
    const ptrdiff_t step = A.view.stride[0];
    const la_view turned =
        la_view_strided(A.view.data, LA_F64, 4, (size_t[]){COLS, ROWS, N, N},
                        (ptrdiff_t[]){step, COLS * step, A.view.stride[1], 1});
    int32_t info[ROWS * COLS], one;
    memset(info, 9, sizeof info);
    TEST_OK(ctx, la_potrf(&exec, turned, info));
    for (size_t b = 0; b < ROWS * COLS; b++) {
        TEST_INT(info[b], 0);
        TEST_OK(ctx, la_potrf(&exec, one_of(single, b), &one));
        check_equal(A.view, b, one_of(single, b), "nested potrf");
    }
    stack_check_guard(A, "nested potrf");
    stack_free(A);
    free(single.data);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"potrf", test_potrf},
        {"failures", test_failures},
        {"chol_rev", test_reverse},
        {"stacks of stacks", test_nested},
    };
    return CUTAP_RUN("linalg stack", cases);
}
