/* Triangular solves and products: trsm and trmm.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

/* The sixteen forms: side, uplo, trans, diag from the bits of `form`. */
typedef struct tri_form {
    la_side side;
    la_uplo uplo;
    la_trans trans;
    la_diag diag;
} tri_form;

static tri_form form_of(unsigned bits)
{
    return (tri_form){
        bits & 1 ? LA_RIGHT : LA_LEFT, bits & 2 ? LA_UPPER : LA_LOWER,
        bits & 4 ? LA_TRANS : LA_NO_TRANS, bits & 8 ? LA_UNIT : LA_NON_UNIT};
}

static void test_golden(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    const double L[4] = {2, NAN, 1, 4};
    double B[4] = {2, 4, 9, 10};
    const la_view l = la_mat_f64(L, 2, 2), b = la_mat_f64(B, 2, 2);
    /* x1 = b1 / 2, x2 = (b2 - x1) / 4, by hand */
    TEST_OK(ctx, la_trsm(&exec, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, 1,
                         l, b));
    TEST_CLOSE_ARRAY(B, ((double[]){1, 2, 2, 2}), 4, 0);
    TEST_OK(ctx, la_trmm(&exec, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, 2,
                         l, b));
    TEST_CLOSE_ARRAY(B, ((double[]){4, 8, 18, 20}), 4, 0);
    covar_context_free(ctx);
}

/* E = op(T) in full, its other triangle zero, unit diagonal if asked. */
static long double *effective(la_view T, size_t b, tri_form f)
{
    const size_t n = T.dim[T.rank - 1];
    long double *E = malloc((n * n + 1) * sizeof *E);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t r = f.trans ? j : i, c = f.trans ? i : j;
            const bool inside = f.uplo == LA_LOWER ? c <= r : c >= r;
            E[i * n + j] = inside ? (long double)element(T, b, r, c) : 0;
            if (i == j && f.diag == LA_UNIT)
                E[i * n + j] = 1;
        }
    return E;
}

/* trmm against the reference, then trsm undoes it: alpha 1/2 and 2. */
static void check_form(covar_context *ctx, la_dtype dtype, size_t batch,
                       size_t n, size_t m, tri_form f)
{
    const size_t order = f.side == LA_LEFT ? n : m;
    const la_exec exec = test_exec(ctx, 1);
    covar_rng rng = covar_rng_init(n * 1000 + m, batch);
    stack T = stack_create(dtype, batch, order, order, 1);
    stack B = stack_create(dtype, batch, n, m, 3);
    fill_triangle(T.view, f.uplo, &rng);
    fill_random(B.view, &rng);
    la_view before = dense_copy(B.view);
    TEST_OK(ctx, la_trmm(&exec, f.side, f.uplo, f.trans, f.diag, 0.5, T.view,
                         B.view));
    for (size_t b = 0; b < stack_size(B.view); b++) {
        long double *E = effective(T.view, b, f), *x = reference(before, b);
        long double *expected = reference(B.view, b);
        if (f.side == LA_LEFT)
            ref_product(expected, n, m, n, 0, E, n, 0, x, m);
        else
            ref_product(expected, n, m, m, 0, x, m, 0, E, m);
        for (size_t i = 0; i < n * m; i++)
            expected[i] /= 2;
        check_matrix(B.view, b, expected, "trmm");
        free(E);
        free(x);
    }
    TEST_OK(ctx,
            la_trsm(&exec, f.side, f.uplo, f.trans, f.diag, 2, T.view, B.view));
    for (size_t b = 0; b < stack_size(B.view); b++)
        check_matrix(B.view, b, reference(before, b), "trsm of trmm");
    stack_check_guard(B, "trsm");
    stack_free(T);
    stack_free(B);
    free(before.data);
}

static void test_forms(void)
{
    covar_context *ctx = test_context();
    unsigned q = 0;
    for (size_t t = 0; t < NELEM(test_dtypes); t++)
        for (size_t i = 0; i < NELEM(test_sizes); i++)
            for (unsigned bits = 0; bits < 16; bits++, q++)
                check_form(ctx, test_dtypes[t], q % 3, test_sizes[i],
                           test_sizes[(i + q) % NELEM(test_sizes)],
                           form_of(bits));
    covar_context_free(ctx);
}

static void test_alpha_zero(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    for (unsigned bits = 0; bits < 16; bits++)
        for (size_t n = 1; n < 70; n += 34) {
            const tri_form f = form_of(bits);
            stack T = stack_create(LA_F64, 0, n, n, 0);
            stack B = stack_create(LA_F64, 0, n, n, 1);
            for (size_t i = 0; i < n * n; i++) {
                la_view_set(T.view, i, (double)NAN);
                la_view_set(B.view, i, (double)NAN);
            }
            TEST_OK(ctx, la_trsm(&exec, f.side, f.uplo, f.trans, f.diag, 0,
                                 T.view, B.view));
            for (size_t i = 0; i < n * n; i++)
                CU_ASSERT_EQUAL(la_view_get(B.view, i), 0.0);
            la_view_set(B.view, 0, (double)NAN);
            TEST_OK(ctx, la_trmm(&exec, f.side, f.uplo, f.trans, f.diag, 0,
                                 T.view, B.view));
            CU_ASSERT_EQUAL(la_view_get(B.view, 0), 0.0);
            stack_free(T);
            stack_free(B);
        }
    covar_context_free(ctx);
}

static void test_singular(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    const double L[4] = {1, 0, 1, 0};
    double b[2] = {1, 3};
    TEST_OK(ctx, la_trsm(&exec, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, 1,
                         la_mat_f64(L, 2, 2), la_mat_f64(b, 2, 1)));
    CU_ASSERT_EQUAL(b[0], 1.0);
    CU_ASSERT(isinf(b[1]));
    covar_context_free(ctx);
}

/* Sizes at which leaves, their remainders and products all take part. */
static void test_instruction_sets(void)
{
    static const size_t n[] = {5, 34, 96, 131}, m[] = {64, 33, 256, 3};
    for (int isa = COVAR_ISA_BASELINE; isa <= COVAR_ISA_V4; isa++) {
        covar_context *ctx = test_context();
        covar_context_set_isa(ctx, (covar_isa)isa);
        for (size_t t = 0; t < NELEM(test_dtypes); t++)
            for (size_t i = 0; i < NELEM(n); i++)
                for (unsigned bits = 0; bits < 16; bits++) {
                    check_form(ctx, test_dtypes[t], 0, n[i], m[i],
                               form_of(bits));
                    check_form(ctx, test_dtypes[t], 0, m[i], n[i],
                               form_of(bits));
                }
        covar_context_free(ctx);
    }
}

static void check_threads(covar_context *ctx, size_t batch, size_t n, size_t m,
                          tri_form f)
{
    const size_t order = f.side == LA_LEFT ? n : m;
    covar_rng rng = covar_rng_init(3, 4);
    stack T = stack_create(LA_F64, batch, order, order, 0);
    stack B = stack_create(LA_F64, batch, n, m, 0);
    fill_triangle(T.view, f.uplo, &rng);
    fill_random(B.view, &rng);
    la_view C = dense_copy(B.view);
    const la_exec one = test_exec(ctx, 1), two = test_exec(ctx, 2);
    TEST_OK(ctx,
            la_trsm(&one, f.side, f.uplo, f.trans, f.diag, 1, T.view, B.view));
    TEST_OK(ctx, la_trsm(&two, f.side, f.uplo, f.trans, f.diag, 1, T.view, C));
    check_same(C, B.view, 1e-13, "trsm threads");
    stack_free(T);
    stack_free(B);
    free(C.data);
}

static void test_threads(void)
{
    covar_context *ctx = test_context();
    for (unsigned bits = 0; bits < 8; bits++) {
        check_threads(ctx, 0, 301, 260, form_of(bits));
        check_threads(ctx, 20, 50, 50, form_of(bits));
    }
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    double p[32] = {0};
    float f[32] = {0};
    const la_view T = la_mat_f64(p, 3, 3), B = la_mat_f64(p + 9, 3, 2);
    EXPECT(la_trsm(&exec, 0, 0, 0, 0, 1, la_mat_f64(p, 2, 3), B),
           COVAR_ERR_SHAPE, "la_trsm: T is f64 2x3: a square");
    EXPECT(la_trsm(&exec, LA_RIGHT, 0, 0, 0, 1, T, B), COVAR_ERR_SHAPE,
           "T is f64 3x3 but B is f64 3x2: B needs as many columns");
    EXPECT(la_trmm(&exec, LA_LEFT, 0, 0, 0, 1, la_mat_f64(p, 2, 2), B),
           COVAR_ERR_SHAPE,
           "la_trmm: T is f64 2x2 but B is f64 3x2: B needs "
           "as many rows");
    EXPECT(la_trsm(&exec, 0, 0, 0, 0, 1, la_mat_f32(f, 3, 3), B),
           COVAR_ERR_DTYPE, "f32 3x3");
    EXPECT(la_trsm(&exec, 0, 0, 0, 0, 1, T, la_mat_f64(NULL, 3, 2)),
           COVAR_ERR_ARG, "NULL");
    EXPECT(la_trmm(&exec, 0, 0, 0, 0, 1, T, la_view_expand(B, 0)),
           COVAR_ERR_SHAPE, "batches");
    EXPECT(la_trmm(&exec, 0, 0, 0, 0, 1, T,
                   la_view_transpose(la_mat_f64(p, 2, 3))),
           COVAR_ERR_SHAPE, "last stride");
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden", test_golden},
        {"all forms", test_forms},
        {"alpha 0", test_alpha_zero},
        {"singular", test_singular},
        {"threads", test_threads},
        {"errors", test_errors},
        {"instruction sets", test_instruction_sets},
    };
    return CUTAP_RUN("linalg trsm", cases);
}
