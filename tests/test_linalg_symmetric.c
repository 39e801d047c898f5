/* Symmetric map programs against the same programs over the whole square.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Elements on and below the diagonal come from the same rows and must agree to
 * the bit, those above must be their mirror, and sums are compared with long
 * double. Threads must not change a bit. */
#include <config.h>

#include "linalg/map_table.h"
#include "test_util.h"

#include <covar/rng.h>
#include <math.h>
#include <stdlib.h>

enum { N_IN = 4, N_RESULT = 5 };

/* Inputs: a symmetric A, a vector as column and as row, a number.
 * r6 = exp(A s) (v v'), r7 = sin(v - v')^2 + A; results: r6, r7, the sum of r6,
 * the largest of r6, the sum of r7. */
static const la_map_step steps[] = {
    {LA_MUL, 4, {0, 3, 0}},    {LA_EXP, 4, {4, 0, 0}}, {LA_MUL, 5, {1, 2, 0}},
    {LA_MUL, 6, {4, 5, 0}},    {LA_SUB, 5, {1, 2, 0}}, {LA_SIN, 5, {5, 0, 0}},
    {LA_SQUARE, 5, {5, 0, 0}}, {LA_ADD, 7, {5, 0, 0}}};
static const la_map_result results[N_RESULT] = {{6, LA_REDUCE_NONE, 0},
                                                {7, LA_REDUCE_NONE, 0},
                                                {6, LA_REDUCE_SUM, 3},
                                                {6, LA_REDUCE_MAX, 3},
                                                {7, LA_REDUCE_SUM, 3}};

typedef struct problem {
    la_dtype t;
    size_t n;
    ptrdiff_t ld;
    char *memory;
    la_view in[N_IN], out[N_RESULT];
} problem;

static const la_map_code *program(la_dtype t, bool symmetric)
{
    static la_map_code code;
    code = (la_map_code){.dtype = t,
                         .n_in = N_IN,
                         .n_step = (int)NELEM(steps),
                         .n_result = N_RESULT,
                         .n_reg = 8,
                         .steps = steps,
                         .results = results,
                         .symmetric = symmetric};
    return &code;
}

static void fill_inputs(const problem *p)
{
    covar_rng rng = covar_rng_init(7, p->n);
    double u;
    for (size_t i = 0; i < p->n; i++) {
        covar_rng_uniform(&u, 1, &rng);
        la_view_set(p->in[1], i, 2 * u - 1);
        for (size_t j = 0; j <= i; j++) {
            covar_rng_uniform(&u, 1, &rng);
            la_view_set(p->in[0], i * p->n + j, u);
            la_view_set(p->in[0], j * p->n + i, u);
        }
    }
    la_view_set(p->in[3], 0, -0.75);
}

static problem make(la_dtype t, size_t n, ptrdiff_t pad, bool by_columns)
{
    problem p = {.t = t, .n = n, .ld = (ptrdiff_t)n + pad};
    const size_t size = la_dtype_size(t), matrix = n * (size_t)p.ld * size;
    const size_t square[] = {n, n}, column[] = {n, 1}, row[] = {1, n};
    const ptrdiff_t rows[] = {p.ld, 1}, columns[] = {1, p.ld};
    p.memory = calloc(1, 3 * matrix + (n + 4) * size);
    char *v = p.memory + 3 * matrix, *numbers = v + n * size;
    p.in[0] = la_view_strided(p.memory, t, 2, square, rows);
    p.in[1] = la_view_dense(v, t, 2, column);
    p.in[2] = la_view_dense(v, t, 2, row);
    p.in[3] = la_view_dense(numbers, t, 0, NULL);
    p.out[0] = la_view_strided(p.memory + matrix, t, 2, square,
                               by_columns ? columns : rows);
    p.out[1] = la_view_strided(p.memory + 2 * matrix, t, 2, square, rows);
    for (size_t k = 2; k < N_RESULT; k++)
        p.out[k] = la_view_dense(numbers + (k - 1) * size, t, 0, NULL);
    fill_inputs(&p);
    return p;
}

static void run(covar_context *ctx, problem *p, bool symmetric, int threads)
{
    const size_t dim[] = {p->n, p->n};
    la_exec exec = la_exec_cpu(ctx);
    exec.threads = threads;
    const la_map_code *code = program(p->t, symmetric);
    void *work = malloc(la_map_work_size(code, 2, dim, threads));
    TEST_OK(ctx, la_map_run(&exec, code, 2, dim, p->in, p->out, work));
    free(work);
}

/* Stored result k of `half` is that of `full` below the diagonal and its own
 * mirror above. */
static void compare_stored(const problem *half, const problem *full, int k)
{
    const size_t n = half->n;
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        for (size_t j = 0; j <= i && good; j++) {
            const double x = la_view_get(half->out[k], i * n + j);
            const double y = la_view_get(full->out[k], i * n + j);
            good = x == y && x == la_view_get(half->out[k], j * n + i);
            test_check(good, __FILE__, __LINE__,
                       "result %d of %zu at %zu,%zu: %g, not %g", k, n, i, j, x,
                       y);
        }
}

static void compare_sum(const problem *p, int sum, int stored)
{
    long double exact = 0;
    for (size_t i = 0; i < p->n * p->n; i++)
        exact += la_view_get(p->out[stored], i);
    TEST_CLOSE(la_view_get(p->out[sum], 0), (double)exact,
               p->t == LA_F64 ? 1e-13 : 1e-5);
}

static void one_case(covar_context *ctx, la_dtype t, size_t n, ptrdiff_t pad)
{
    problem full = make(t, n, pad, false);
    problem half = make(t, n, pad, false);
    problem threaded = make(t, n, pad, false);
    run(ctx, &full, false, 1);
    run(ctx, &half, true, 1);
    run(ctx, &threaded, true, 3);
    compare_stored(&half, &full, 0);
    compare_stored(&half, &full, 1);
    compare_sum(&half, 2, 0);
    compare_sum(&half, 4, 1);
    CU_ASSERT(n == 0 ||
              la_view_get(half.out[3], 0) == la_view_get(full.out[3], 0));
    TEST_SAME_BITS(threaded.memory, half.memory,
                   3 * n * (size_t)half.ld + n + 4, la_dtype_size(t));
    free(full.memory);
    free(half.memory);
    free(threaded.memory);
}

static void test_squares(void)
{
    static const size_t sizes[] = {0, 1, 2, 5, 63, 64, 65, 130, 257, 600, 1100};
    covar_context *ctx = test_context();
    for (size_t i = 0; i < NELEM(sizes); i++)
        for (la_dtype t = LA_F64; t <= LA_F32; t++) {
            one_case(ctx, t, sizes[i], 0);
            one_case(ctx, t, sizes[i], 3);
        }
    covar_context_free(ctx);
}

/* Stored by columns the mirror goes the slow way. */
static void test_columns(void)
{
    covar_context *ctx = test_context();
    for (la_dtype t = LA_F64; t <= LA_F32; t++) {
        problem p = make(t, 97, 2, true);
        run(ctx, &p, true, 2);
        for (size_t i = 0; i < p.n; i++)
            for (size_t j = 0; j < i; j++)
                CU_ASSERT_FATAL(la_view_get(p.out[0], i * p.n + j) ==
                                la_view_get(p.out[0], j * p.n + i));
        compare_sum(&p, 2, 0);
        free(p.memory);
    }
    covar_context_free(ctx);
}

/* A NaN below the diagonal is seen by every reduction. */
static void test_nan(void)
{
    covar_context *ctx = test_context();
    problem p = make(LA_F64, 90, 0, false);
    la_view_set(p.in[0], 80 * 90 + 3, (double)NAN);
    la_view_set(p.in[0], 3 * 90 + 80, (double)NAN);
    run(ctx, &p, true, 1);
    for (size_t k = 2; k < N_RESULT; k++)
        CU_ASSERT(isnan(la_view_get(p.out[k], 0)));
    free(p.memory);
    covar_context_free(ctx);
}

/* The result takes the place of the input. */
static void test_in_place(void)
{
    covar_context *ctx = test_context();
    problem full = make(LA_F64, 211, 0, false);
    problem half = make(LA_F64, 211, 0, false);
    full.out[0] = full.in[0];
    half.out[0] = half.in[0];
    run(ctx, &full, false, 1);
    run(ctx, &half, true, 2);
    compare_stored(&half, &full, 0);
    compare_stored(&half, &full, 1);
    free(full.memory);
    free(half.memory);
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    double x[30] = {0}, y[30];
    const la_map_step step = {LA_NEG, 1, {0, 0, 0}};
    la_map_result result = {.reg = 1};
    const la_map_code code = {.dtype = LA_F64,
                              .n_in = 1,
                              .n_step = 1,
                              .n_result = 1,
                              .n_reg = 2,
                              .steps = &step,
                              .results = &result,
                              .symmetric = true};
    const size_t oblong[] = {5, 6}, square[] = {5, 5};
    la_view in = la_mat_f64(x, 5, 6), out = la_mat_f64(y, 5, 6);
    TEST_STATUS(ctx, la_map_run(&exec, &code, 2, oblong, &in, &out, NULL),
                COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(ctx), "square");
    in = la_vec_f64(x, 5);
    out = la_vec_f64(y, 5);
    TEST_STATUS(ctx, la_map_run(&exec, &code, 1, oblong, &in, &out, NULL),
                COVAR_ERR_SHAPE);
    in = la_mat_f64(x, 5, 5);
    out = la_vec_f64(y, 5);
    result = (la_map_result){1, LA_REDUCE_SUM, 1};
    TEST_STATUS(ctx, la_map_run(&exec, &code, 2, square, &in, &out, NULL),
                COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "axes 0x1");
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"squares of many sizes", test_squares},
        {"by columns", test_columns},
        {"a NaN is seen", test_nan},
        {"in place", test_in_place},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg symmetric", cases);
}
