/* What the tests of linalg share: stacks of matrices with odd row strides and
 * guarded padding, random numbers, and long double references.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TEST_LINALG_H
#define TEST_LINALG_H

#include <covar/linalg.h>
#include <covar/rng.h>
#include "test_util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t test_sizes[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 129};
static const la_dtype test_dtypes[] = {LA_F64, LA_F32};

enum { TEST_GUARD = 12345 };

/* Address of element (b,i,j) of a stack: faster than la_view_get. */
static inline void *place(la_view x, size_t b, size_t i, size_t j)
{
    const ptrdiff_t *stride = x.stride + x.rank - 2;
    const ptrdiff_t offset = (ptrdiff_t)i * stride[0] +
                             (ptrdiff_t)j * stride[1] +
                             (x.rank == 3 ? (ptrdiff_t)b * x.stride[0] : 0);
    return (char *)x.data + offset * (ptrdiff_t)la_dtype_size(x.dtype);
}

static inline double element(la_view x, size_t b, size_t i, size_t j)
{
    const void *p = place(x, b, i, j);
    return x.dtype == LA_F64 ? *(const double *)p : (double)*(const float *)p;
}

static inline void set_element(la_view x, size_t b, size_t i, size_t j,
                               double value)
{
    void *p = place(x, b, i, j);
    if (x.dtype == LA_F64)
        *(double *)p = value;
    else
        *(float *)p = (float)value;
}

static inline size_t stack_size(la_view x)
{
    return x.rank == 3 ? x.dim[0] : 1;
}

/* A stack of `batch` (n,m) matrices (batch 0: one matrix of rank 2) inside a
 * block whose padding holds TEST_GUARD. */
typedef struct stack {
    la_view view, whole;
} stack;

static inline stack stack_create(la_dtype dtype, size_t batch, size_t n,
                                 size_t m, size_t pad)
{
    const size_t ld = m + pad, each = (n + (pad > 0)) * ld;
    const size_t total = each * (batch ? batch : 1) + 1;
    void *data = malloc(total * la_dtype_size(dtype));
    stack s = {.whole = la_view_dense(data, dtype, 1, &total)};
    const la_view line = la_view_expand(s.whole, 0);
    for (size_t i = 0; i < total; i++)
        set_element(line, 0, 0, i, TEST_GUARD);
    const size_t dim[] = {batch, n, m};
    const ptrdiff_t stride[] = {(ptrdiff_t)each, (ptrdiff_t)ld, 1};
    s.view = la_view_strided(data, dtype, batch ? 3 : 2, dim + !batch,
                             stride + !batch);
    return s;
}

static inline void stack_free(stack s)
{
    free(s.whole.data);
}

/* Every element of the padding still holds the guard. */
static inline void stack_check_guard(stack s, const char *what)
{
    size_t guards = 0, inside = 0;
    const size_t total = la_view_count(s.whole), count = la_view_count(s.view);
    const la_view line = la_view_expand(s.whole, 0);
    for (size_t i = 0; i < total; i++)
        guards += element(line, 0, 0, i) == TEST_GUARD;
    const size_t n = s.view.dim[s.view.rank - 2];
    const size_t m = s.view.dim[s.view.rank - 1];
    for (size_t r = 0; m > 0 && r < count / m; r++)
        for (size_t j = 0; j < m; j++)
            inside += element(s.view, r / n, r % n, j) == TEST_GUARD;
    test_check(guards - inside == total - count, __FILE__, __LINE__,
               "%s: %zu of %zu elements of padding were written", what,
               total - count - (guards - inside), total - count);
}

/* Uniform on (-1, 1). */
static inline void fill_random(la_view x, covar_rng *rng)
{
    const size_t count = la_view_count(x);
    const size_t n = x.dim[x.rank - 2], m = x.dim[x.rank - 1];
    double *u = malloc((count + 1) * sizeof *u);
    covar_rng_uniform(u, count, rng);
    for (size_t b = 0, e = 0; b < stack_size(x); b++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++)
                set_element(x, b, i, j, 2 * u[e++] - 1);
    free(u);
}

/* Random lower triangles with a strong diagonal and well-sized elements; the
 * other triangle is NaN, so that reading it shows. */
static inline void fill_triangle(la_view x, la_uplo uplo, covar_rng *rng)
{
    const size_t n = x.dim[x.rank - 1];
    fill_random(x, rng);
    for (size_t b = 0; b < stack_size(x); b++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                const bool inside = uplo == LA_LOWER ? j < i : j > i;
                double v = element(x, b, i, j);
                if (i == j)
                    v = 1.5 + v / 2;
                else
                    v = inside ? v / sqrt((double)n) : (double)NAN;
                set_element(x, b, i, j, v);
            }
}

/* Symmetric positive definite: diagonally dominant up to the NaN-filled strict
 * upper triangle. */
static inline void fill_pd(la_view x, covar_rng *rng)
{
    const size_t n = x.dim[x.rank - 1];
    fill_random(x, rng);
    for (size_t b = 0; b < stack_size(x); b++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = i; j < n; j++)
                set_element(x, b, i, j,
                            i == j ? 2 * sqrt((double)n) + 1 : (double)NAN);
}

/* Matrix b of x in long double, (n,m); free it. */
static inline long double *reference(la_view x, size_t b)
{
    const size_t n = x.dim[x.rank - 2], m = x.dim[x.rank - 1];
    long double *r = malloc((n * m + 1) * sizeof *r);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            r[i * m + j] = (long double)element(x, b, i, j);
    return r;
}

/* C (n,m) = op(A) op(B) with row strides lda, ldb and the inner size k. */
static inline void ref_product(long double *C, size_t n, size_t m, size_t k,
                               la_trans ta, const long double *A, size_t lda,
                               la_trans tb, const long double *B, size_t ldb)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            long double sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += (ta ? A[l * lda + i] : A[i * lda + l]) *
                       (tb ? B[j * ldb + l] : B[l * ldb + j]);
            C[i * m + j] = sum;
        }
}

/* Mirrors the lower triangle of a reference (n,n). */
static inline void mirror(long double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            a[j * n + i] = a[i * n + j];
}

static inline void lower_only(long double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            a[i * n + j] = 0;
}

/* X = L^-1 (lower) in long double. */
static inline long double *ref_inverse(const long double *L, size_t n)
{
    long double *X = calloc(n * n + 1, sizeof *X);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            long double sum = i == j;
            for (size_t k = j; k < i; k++)
                sum -= L[i * n + k] * X[k * n + j];
            X[i * n + j] = sum / L[i * n + i];
        }
    return X;
}

/* Tolerance of the design: f64 1e-10, f32 1e-5 sqrt(n), relative to the
 * larger of 1 and the largest expected element. */
static inline double tolerance(la_dtype dtype, size_t n)
{
    return dtype == LA_F64 ? 1e-10 : 1e-5 * sqrt((double)(n ? n : 1));
}

/* Matrix b of x against the reference, which is freed. */
static inline bool check_matrix(la_view x, size_t b, long double *expected,
                                const char *what)
{
    const size_t n = x.dim[x.rank - 2], m = x.dim[x.rank - 1];
    long double scale = 1, worst = 0;
    size_t at = 0;
    bool nan = false;
    for (size_t i = 0; i < n * m; i++)
        if (fabsl(expected[i]) > scale)
            scale = fabsl(expected[i]);
    for (size_t i = 0; i < n * m; i++) {
        const double actual = element(x, b, i / m, i % m);
        const long double error = fabsl((long double)actual - expected[i]);
        if (!(error <= worst) && !nan) {
            worst = error;
            at = i;
            nan = isnan(error);
        }
    }
    char text[64];
    const double bound = tolerance(x.dtype, n > m ? n : m) * (double)scale;
    const bool good = test_check(
        !nan && worst <= (long double)bound, __FILE__, __LINE__,
        "%s: %s, matrix %zu, element (%zu, %zu) is %.17g, expected %.17Lg: "
        "error %.3Lg > %.3g",
        what, la_view_describe(text, sizeof text, x), b, m ? at / m : 0,
        m ? at % m : 0, n * m > 0 ? la_view_get(x, b * n * m + at) : 0,
        n * m > 0 ? expected[at] : 0, worst, bound);
    free(expected);
    return good;
}

typedef void checker(covar_context *ctx, la_dtype dtype, size_t batch,
                     size_t n);

static inline void each_size(checker *check)
{
    covar_context *ctx = test_context();
    for (size_t t = 0; t < NELEM(test_dtypes); t++)
        for (size_t i = 0; i < NELEM(test_sizes); i++)
            for (size_t batch = 0; batch < 4; batch += 3)
                if (batch == 0 || test_sizes[i] < 100)
                    check(ctx, test_dtypes[t], batch, test_sizes[i]);
    covar_context_free(ctx);
}

static inline la_exec test_exec(covar_context *ctx, int threads)
{
    la_exec exec = la_exec_cpu(ctx);
    exec.threads = threads;
    return exec;
}

static inline void copy_elements(la_view to, la_view from)
{
    const size_t m = from.dim[from.rank - 1];
    const size_t rows = m ? la_view_count(from) / m : 0;
    const size_t n = from.rank > 1 ? from.dim[from.rank - 2] : 1;
    if (from.rank < 2) {
        to = la_view_expand(to, 0);
        from = la_view_expand(from, 0);
    }
    for (size_t r = 0; r < rows; r++)
        memcpy(place(to, r / n, r % n, 0), place(from, r / n, r % n, 0),
               m * la_dtype_size(from.dtype));
}

/* The elements of x as a dense copy of the same dtype; free its data. */
static inline la_view dense_copy(la_view x)
{
    void *data = malloc((la_view_count(x) + 1) * la_dtype_size(x.dtype));
    const la_view y = la_view_dense(data, x.dtype, x.rank, x.dim);
    copy_elements(y, x);
    return y;
}

/* Element by element to a relative bound of the largest one. */
static inline void check_same(la_view a, la_view b, double bound,
                              const char *what)
{
    double worst = 0, scale = 1;
    for (size_t i = 0; i < la_view_count(a); i++) {
        const double x = la_view_get(a, i), y = la_view_get(b, i);
        if (isnan(x) && isnan(y))
            continue;
        worst = isnan(x - y) ? INFINITY : fmax(worst, fabs(x - y));
        scale = fmax(scale, fabs(y));
    }
    test_check(worst <= bound * scale, __FILE__, __LINE__,
               "%s: differ by %g, largest %g", what, worst, scale);
}

/* The call fails with `status`, and its sentence has `part` in it. */
#define EXPECT(call, status, part)                                             \
    do {                                                                       \
        TEST_STATUS(ctx, call, status);                                        \
        TEST_CONTAINS(covar_error_text(ctx), part);                            \
    } while (0)

#endif
