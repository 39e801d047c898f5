/* Misuse of linalg: NULL for every pointer, views that cannot be, wrong
 * shapes. Everything is refused with a status and a sentence.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file is longer than 400 lines: all of it stands on one fixture. */
#include "config.h"

#include "test_util.h"

#include <covar/gsl.h>
#include <covar/linalg.h>

#include <math.h>
#include <string.h>

/* Views that cannot be: what every function meets in every place. */
enum { BAD_NULL, BAD_DTYPE, BAD_RANK, BAD_NEGATIVE, BAD_COUNT };

static la_view bad_view(int kind)
{
    static double x[4];
    la_view v = la_mat_f64(x, 2, 2);
    switch (kind) {
    case BAD_NULL:
        v.data = NULL;
        break;
    case BAD_DTYPE:
        v.dtype = (la_dtype)77;
        break;
    case BAD_RANK:
        v.rank = 99;
        break;
    default:
        v.rank = -3;
    }
    return v;
}

/* The operands of one call; `bad` takes the place of one of them. */
typedef struct operands {
    covar_context *ctx;
    la_exec exec;
    double a[4], b[4], c[4], v[2], s;
    int32_t k[3], info;
    la_view A, B, C, V, S, key, index;
    double work[4096] __attribute__((aligned(64)));
} operands;

static operands fresh(void)
{
    operands o = {.ctx = test_context(),
                  .a = {4, 1, 1, 3},
                  .b = {1, 2, 3, 4},
                  .k = {1, 0, 1}};
    o.exec = la_exec_cpu(o.ctx);
    return o;
}

static void point(operands *o)
{
    o->exec.ctx = o->ctx;
    o->A = la_mat_f64(o->a, 2, 2);
    o->B = la_mat_f64(o->b, 2, 2);
    o->C = la_mat_f64(o->c, 2, 2);
    o->V = la_vec_f64(o->v, 2);
    o->S = la_scalar_f64(&o->s);
    o->key = la_vec_i32(o->k, 3);
    o->index = la_vec_i32(o->k, 2);
}

/* Is the failure one, with a sentence that begins with `who`? */
static void refused(operands *o, covar_status status, const char *who, int line)
{
    test_check(status != COVAR_OK &&
                   strncmp(covar_error_text(o->ctx), who, strlen(who)) == 0,
               __FILE__, line, "%s: %s, '%s'", who, covar_status_name(status),
               covar_error_text(o->ctx));
    covar_error_clear(o->ctx);
}

#define REFUSED(who, call) refused(o, call, who, __LINE__)
/* The same call without exec or context: a status alone. */
#define WITHOUT_EXEC(call)                                                     \
    do {                                                                       \
        const la_exec *exec = NULL;                                            \
        TEST_INT(call, COVAR_ERR_ARG);                                         \
        la_exec lost = {.threads = 1};                                         \
        exec = &lost;                                                          \
        TEST_INT(call, COVAR_ERR_ARG);                                         \
    } while (0)

/* ---- Dtypes, views, arrays ---------------------------------------------- */

static void test_views(void)
{
    double x[4] = {1, 2, 3, 4};
    const size_t dim[2] = {2, 2};
    const ptrdiff_t stride[2] = {2, 1};
    TEST_TEXT(la_dtype_name((la_dtype)77), "unknown");
    TEST_TEXT(la_dtype_name((la_dtype)-1), "unknown");
    TEST_INT(la_dtype_size((la_dtype)77), 0);
    CU_ASSERT_FALSE(la_dtype_is_real((la_dtype)77));
    CU_ASSERT(la_view_is_none(la_view_dense(x, LA_F64, 2, NULL)));
    CU_ASSERT(la_view_is_none(la_view_dense(x, LA_F64, 99, dim)));
    CU_ASSERT(la_view_is_none(la_view_dense(x, LA_F64, -3, dim)));
    CU_ASSERT(la_view_is_none(la_view_dense(x, (la_dtype)77, 2, dim)));
    CU_ASSERT(la_view_is_none(la_view_strided(x, LA_F64, 2, NULL, stride)));
    CU_ASSERT(la_view_is_none(la_view_strided(x, LA_F64, 2, dim, NULL)));
    CU_ASSERT(la_view_is_none(la_view_strided(x, LA_F64, 7, dim, stride)));
    CU_ASSERT_FALSE(la_view_is_valid(la_vec_f64(NULL, 3)));
    CU_ASSERT(la_view_is_valid(la_vec_f64(NULL, 0)));
    CU_ASSERT_FALSE(la_view_is_valid(la_vec_f32(NULL, 3)));
    CU_ASSERT_FALSE(la_view_is_valid(la_mat_f32(NULL, 3, 1)));
    CU_ASSERT_FALSE(la_view_is_valid(la_vec_u8(NULL, 3)));
    CU_ASSERT_FALSE(la_view_is_valid(la_scalar_f32(NULL)));
    CU_ASSERT_FALSE(la_view_is_valid(la_view_none()));
    CU_ASSERT(la_view_is_none(la_from_gsl_vector(NULL)));
    CU_ASSERT(la_view_is_none(la_from_gsl_matrix(NULL)));
    CU_ASSERT(la_view_is_none(la_from_gsl_vector_float(NULL)));
    CU_ASSERT(la_view_is_none(la_from_gsl_matrix_float(NULL)));
}

static void test_bad_views(void)
{
    double x[4] = {1, 2, 3, 4};
    const size_t dim[2] = {2, 2};
    char text[64];
    la_view out;
    for (int k = 0; k < BAD_COUNT; k++) {
        const la_view v = bad_view(k), good = la_mat_f64(x, 2, 2);
        CU_ASSERT_FALSE(la_view_is_valid(v));
        CU_ASSERT_PTR_NOT_NULL(la_view_describe(text, sizeof(text), v));
        (void)la_view_count(v);
        (void)la_view_is_dense(v);
        (void)la_view_same_dims(v, good);
        (void)la_view_same_dims(v, v);
        (void)la_view_overlap(v, good);
        (void)la_view_transpose(v);
        (void)la_view_slice(v, 0, 0, 1);
        (void)la_view_row(v, 0);
        (void)la_view_diag(v);
        (void)la_view_expand(v, 0);
        (void)la_view_broadcast(&out, v, 2, dim);
        CU_ASSERT(isnan(la_view_get(v, 0)));
        la_view_set(v, 0, 1);
        size_t first = 9;
        CU_ASSERT_FALSE(la_all_finite(v, &first));
        TEST_INT(first, 0);
        CU_ASSERT_FALSE(la_all_finite(v, NULL));
    }
    CU_ASSERT_FALSE(la_view_broadcast(NULL, la_mat_f64(x, 2, 2), 2, dim));
    CU_ASSERT_FALSE(la_view_broadcast(&out, la_mat_f64(x, 2, 2), 2, NULL));
    TEST_TEXT(la_view_describe(NULL, 5, la_mat_f64(x, 2, 2)), "");
    CU_ASSERT(isnan(la_view_get(la_vec_f64(x, 4), 4)));
    CU_ASSERT(isnan(la_view_get(la_vec_f64(x, 0), 0)));
    la_view_set(la_vec_f64(x, 4), SIZE_MAX, 1);
}

static void test_arrays(void)
{
    operands fixture = fresh(), *o = &fixture;
    point(o);
    la_array *a = NULL;
    const size_t two[2] = {2, 2}, many[2] = {SIZE_MAX, 3};
    WITHOUT_EXEC(la_array_create(&a, exec, LA_F64, 2, two));
    WITHOUT_EXEC(la_array_from_view(&a, exec, o->A));
    REFUSED("la_array_create", la_array_create(NULL, &o->exec, LA_F64, 2, two));
    REFUSED("la_array_create", la_array_create(&a, &o->exec, LA_F64, 2, NULL));
    REFUSED("la_array_create", la_array_create(&a, &o->exec, LA_F64, 9, two));
    REFUSED("la_array_create", la_array_create(&a, &o->exec, LA_F64, -1, two));
    REFUSED("la_array_create",
            la_array_create(&a, &o->exec, (la_dtype)77, 2, two));
    REFUSED("la_array_create", la_array_create(&a, &o->exec, LA_F64, 2, many));
    REFUSED("la_array_create", la_array_from_view(NULL, &o->exec, o->A));
    for (int k = 0; k < BAD_COUNT; k++)
        REFUSED("la_array_from_view",
                la_array_from_view(&a, &o->exec, bad_view(k)));
    CU_ASSERT_PTR_NULL(a);
    CU_ASSERT(la_view_is_none(la_array_view(NULL)));
    CU_ASSERT_PTR_NULL(la_array_retain(NULL));
    la_array_free(NULL);
    covar_context_free(o->ctx);
}

/* ---- Maps and copies ---------------------------------------------------- */

static void test_maps(void)
{
    operands fixture = fresh(), *o = &fixture;
    point(o);
    const la_exec *e = &o->exec;
    const size_t dim[2] = {2, 2};
    const la_map_step step = {.row = LA_EXP, .out = 1, .in = {0}};
    const la_map_result result = {.reg = 1};
    const la_map_code code = {.dtype = LA_F64,
                              .n_in = 1,
                              .n_step = 1,
                              .n_result = 1,
                              .n_reg = 2,
                              .steps = &step,
                              .results = &result};
    la_map_code no_steps = code, no_results = code, no_constants = code;
    no_steps.steps = NULL;
    no_results.results = NULL;
    no_constants.n_const = 1;
    no_constants.n_reg = 3;
    la_map_bound *b = (la_map_bound *)(void *)o->work;
    WITHOUT_EXEC(la_map_run(exec, &code, 2, dim, &o->A, &o->C, NULL));
    WITHOUT_EXEC(la_map_bind(b, exec, &code, 2, dim, &o->A, &o->C));
    WITHOUT_EXEC(la_map(exec, LA_EXP, o->C, &o->A));
    REFUSED("la_map_run", la_map_run(e, NULL, 2, dim, &o->A, &o->C, NULL));
    REFUSED("la_map_run", la_map_run(e, &no_steps, 2, dim, &o->A, &o->C, NULL));
    REFUSED("la_map_run",
            la_map_run(e, &no_results, 2, dim, &o->A, &o->C, NULL));
    REFUSED("la_map_run",
            la_map_run(e, &no_constants, 2, dim, &o->A, &o->C, NULL));
    REFUSED("la_map_run", la_map_run(e, &code, 2, NULL, &o->A, &o->C, NULL));
    REFUSED("la_map_run", la_map_run(e, &code, 99, dim, &o->A, &o->C, NULL));
    REFUSED("la_map_run", la_map_run(e, &code, -3, dim, &o->A, &o->C, NULL));
    REFUSED("la_map_run", la_map_run(e, &code, 2, dim, NULL, &o->C, NULL));
    REFUSED("la_map_run", la_map_run(e, &code, 2, dim, &o->A, NULL, NULL));
    REFUSED("la_map_bind", la_map_bind(NULL, e, &code, 2, dim, &o->A, &o->C));
    REFUSED("la_map_run", la_map_bind(b, e, NULL, 2, dim, &o->A, &o->C));
    TEST_INT(la_map_run_bound(NULL, &o->A, &o->C, NULL), COVAR_ERR_ARG);
    TEST_OK(o->ctx, la_map_bind(b, e, &code, 2, dim, &o->A, &o->C));
    REFUSED("la_map_run_bound", la_map_run_bound(b, NULL, &o->C, NULL));
    REFUSED("la_map_run_bound", la_map_run_bound(b, &o->A, NULL, NULL));
    REFUSED("la_map", la_map(e, (la_map_row)9999, o->C, &o->A));
    REFUSED("la_map_run", la_map(e, LA_EXP, o->C, NULL));
    TEST_INT(la_map_bound_size(NULL), 0);
    TEST_INT(la_map_work_size(NULL, 2, dim, 1), 0);
    TEST_INT(la_map_work_size(&code, 2, NULL, 1), 0);
    TEST_INT(la_map_work_size(&code, 99, dim, 1), 0);
    TEST_INT(la_map_optimise(NULL, 1, &code), 0);
    TEST_TEXT(la_map_name((la_map_row)9999), "unknown");
    TEST_INT(la_map_arity((la_map_row)-1), 0);
    for (int k = 0; k < BAD_COUNT; k++) {
        const la_view v = bad_view(k);
        REFUSED("la_map_run", la_map(e, LA_EXP, o->C, &v));
        REFUSED("la_map_run", la_map(e, LA_EXP, v, &o->A));
    }
    covar_context_free(o->ctx);
}

static void test_copies(void)
{
    operands fixture = fresh(), *o = &fixture;
    point(o);
    const la_exec *e = &o->exec;
    WITHOUT_EXEC(la_copy(exec, o->C, o->A));
    WITHOUT_EXEC(la_fill(exec, o->C, 1));
    WITHOUT_EXEC(la_reduce(exec, LA_REDUCE_SUM, o->V, o->A, 1));
    REFUSED("la_copy", la_copy(e, o->V, o->A));
    REFUSED("la_reduce", la_reduce(e, (la_reduce_kind)77, o->V, o->A, 1));
    REFUSED("la_map_run", la_reduce(e, LA_REDUCE_SUM, o->C, o->A, 1));
    for (int k = 0; k < BAD_COUNT; k++) {
        REFUSED("la_copy", la_copy(e, o->C, bad_view(k)));
        REFUSED("la_copy", la_copy(e, bad_view(k), o->A));
        REFUSED("la_fill", la_fill(e, bad_view(k), 1));
        REFUSED("la_", la_reduce(e, LA_REDUCE_SUM, o->V, bad_view(k), 1));
        REFUSED("la_", la_reduce(e, LA_REDUCE_SUM, bad_view(k), o->A, 1));
    }
    covar_context_free(o->ctx);
}

/* ---- Everything else: one table row for each place of each function ------ */

typedef struct place {
    const char *who;
    covar_status (*call)(const la_exec *e, operands *o);
    la_view *operand; /* in the fixture's layout: see below */
} place;

static operands O; /* what the rows below point into */

/* X(function, operand, call) */
#define PLACES(X)                                                              \
    X(la_gemm, B, la_gemm(e, 1, LA_NO_TRANS, o->A, LA_TRANS, o->B, 0, o->C))   \
    X(la_gemm, C, la_gemm(e, 1, LA_NO_TRANS, o->A, LA_TRANS, o->B, 0, o->C))   \
    X(la_syrk, A, la_syrk(e, 1, LA_NO_TRANS, o->A, 0, o->C))                   \
    X(la_syrk, C, la_syrk(e, 1, LA_NO_TRANS, o->A, 0, o->C))                   \
    X(la_trmm, A,                                                              \
      la_trmm(e, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_UNIT, 1, o->A, o->B))      \
    X(la_trmm, B,                                                              \
      la_trmm(e, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_UNIT, 1, o->A, o->B))      \
    X(la_trsm, A,                                                              \
      la_trsm(e, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_UNIT, 1, o->A, o->B))      \
    X(la_trsm, B,                                                              \
      la_trsm(e, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_UNIT, 1, o->A, o->B))      \
    X(la_potrf, A, la_potrf(e, o->A, &o->info))                                \
    X(la_potri, A, la_potri(e, o->A, &o->info))                                \
    X(la_chol_rev, A, la_chol_rev(e, o->A, o->B))                              \
    X(la_chol_rev, B, la_chol_rev(e, o->A, o->B))                              \
    X(la_syevd, A, la_syevd(e, o->A, o->V, o->work, &o->info))                 \
    X(la_syevd, V, la_syevd(e, o->A, o->V, o->work, &o->info))                 \
    X(la_rcond_chol, A, la_rcond_chol(e, o->A, 4, &o->s))                      \
    X(la_tri, A, la_tri(e, LA_TRIL, o->C, o->A))                               \
    X(la_tri, C, la_tri(e, LA_TRIL, o->C, o->A))                               \
    X(la_extract_diag, V, la_extract_diag(e, 0, o->V, o->A))                   \
    X(la_extract_diag, A, la_extract_diag(e, 0, o->V, o->A))                   \
    X(la_make_diag, C, la_make_diag(e, 0, o->C, o->V))                         \
    X(la_make_diag, V, la_make_diag(e, 0, o->C, o->V))                         \
    X(la_add_diag, A, la_add_diag(e, o->A, o->V))                              \
    X(la_add_diag, V, la_add_diag(e, o->A, o->V))                              \
    X(la_extract_trian, V, la_extract_trian(e, o->V, o->A))                    \
    X(la_extract_trian, A, la_extract_trian(e, o->V, o->A))                    \
    X(la_make_trian, C, la_make_trian(e, o->C, o->V))                          \
    X(la_make_trian, V, la_make_trian(e, o->C, o->V))                          \
    X(la_sum_log_diag, S, la_sum_log_diag(e, o->S, o->A))                      \
    X(la_sum_log_diag, A, la_sum_log_diag(e, o->S, o->A))                      \
    X(la_sqdist, C, la_sqdist(e, o->C, o->A, o->B, o->work))                   \
    X(la_sqdist, A, la_sqdist(e, o->C, o->A, o->B, o->work))                   \
    X(la_sqdist, B, la_sqdist(e, o->C, o->A, o->B, o->work))                   \
    X(la_gather, C, la_gather(e, o->C, o->A, o->index))                        \
    X(la_gather, A, la_gather(e, o->C, o->A, o->index))                        \
    X(la_gather, index, la_gather(e, o->C, o->A, o->index))                    \
    X(la_scatter_add, C, la_scatter_add(e, o->C, o->A, o->index))              \
    X(la_scatter_add, A, la_scatter_add(e, o->C, o->A, o->index))              \
    X(la_scatter_add, index, la_scatter_add(e, o->C, o->A, o->index))          \
    X(la_random, C, la_random(e, LA_NORMAL, o->C, o->key, 1))                  \
    X(la_random, key, la_random(e, LA_NORMAL, o->C, o->key, 1))

#define CALL(who, at, expression)                                              \
    static covar_status call_##who##_##at(const la_exec *e, operands *o)       \
    {                                                                          \
        return expression;                                                     \
    }
#define PLACE(who, at, expression) {#who, call_##who##_##at, &O.at},
PLACES(CALL)
static const place places[] = {PLACES(PLACE)};

static void test_places(void)
{
    for (size_t i = 0; i < NELEM(places); i++) {
        const place *p = &places[i];
        for (int k = 0; k < BAD_COUNT; k++) {
            O = fresh();
            point(&O);
            *p->operand = bad_view(k);
            refused(&O, p->call(&O.exec, &O), p->who, (int)(i + 1));
            covar_context_free(O.ctx);
        }
        O = fresh();
        point(&O);
        TEST_INT(p->call(NULL, &O), COVAR_ERR_ARG);
        const la_exec lost = {.threads = 1};
        TEST_INT(p->call(&lost, &O), COVAR_ERR_ARG);
        covar_context_free(O.ctx);
    }
}

/* Flags that are neither 0 nor 1. */
static void test_flags(void)
{
    operands fixture = fresh(), *o = &fixture;
    point(o);
    const la_exec *e = &o->exec;
    REFUSED("la_gemm",
            la_gemm(e, 1, (la_trans)7, o->A, LA_TRANS, o->B, 0, o->C));
    REFUSED("la_gemm",
            la_gemm(e, 1, LA_TRANS, o->A, (la_trans)-1, o->B, 0, o->C));
    REFUSED("la_syrk", la_syrk(e, 1, (la_trans)7, o->A, 0, o->C));
    for (int k = 0; k < 4; k++) {
        const la_side side = k == 0 ? (la_side)7 : LA_LEFT;
        const la_uplo uplo = k == 1 ? (la_uplo)7 : LA_LOWER;
        const la_trans trans = k == 2 ? (la_trans)7 : LA_TRANS;
        const la_diag diag = k == 3 ? (la_diag)7 : LA_UNIT;
        REFUSED("la_trsm", la_trsm(e, side, uplo, trans, diag, 1, o->A, o->B));
        REFUSED("la_trmm", la_trmm(e, side, uplo, trans, diag, 1, o->A, o->B));
    }
    covar_context_free(o->ctx);
}

/* Numbers that do not fit where they go. */
static void test_numbers(void)
{
    operands fixture = fresh(), *o = &fixture;
    point(o);
    const la_exec *e = &o->exec;
    static double x[1025], sums[1025];
    const size_t dim[2] = {1025, 1}, square[2] = {SIZE_MAX / 2, 3};
    const la_map_result result = {.reduce = LA_REDUCE_SUM, .axes = 2};
    const la_map_code code = {.dtype = LA_F64,
                              .n_in = 1,
                              .n_result = 1,
                              .n_reg = 1,
                              .results = &result};
    la_map_code huge = code;
    la_view in = la_mat_f64(x, 1025, 1), out = la_vec_f64(sums, 1025);
    REFUSED("la_map_run", la_map_run(e, &code, 2, dim, &in, &out, NULL));
    huge.n_in = huge.n_const = INT32_MAX;
    huge.constants = x;
    REFUSED("la_map_run", la_map_run(e, &huge, 2, dim, &in, &out, NULL));
    la_map_step odd = {.row = 60000};
    TEST_INT(la_map_optimise(&odd, 1, &code), 1);
    REFUSED("la_rcond_chol", la_rcond_chol(e, o->A, (double)NAN, &o->s));
    REFUSED("la_rcond_chol", la_rcond_chol(e, o->A, -1, &o->s));
    const la_view wide = la_view_dense(NULL, LA_F64, 2, square);
    TEST_INT(la_view_count(wide), SIZE_MAX);
    CU_ASSERT_FALSE(la_view_is_valid(wide));
    la_view_set(la_vec_i32(o->k, 3), 0, (double)NAN);
    la_view_set(la_vec_i32(o->k, 3), 0, 1e10);
    TEST_INT(o->k[0], 1);
    uint8_t byte = 3;
    la_view_set(la_vec_u8(&byte, 1), 0, 256);
    la_view_set(la_vec_u8(&byte, 1), 0, -1);
    TEST_INT(byte, 3);
    CU_ASSERT(la_all_finite(la_vec_u8(&byte, 1), NULL));
    covar_context_free(o->ctx);
}

static void test_pointers(void)
{
    operands fixture = fresh(), *o = &fixture;
    point(o);
    const la_exec *e = &o->exec;
    REFUSED("la_potrf", la_potrf(e, o->A, NULL));
    REFUSED("la_potri", la_potri(e, o->A, NULL));
    REFUSED("la_syevd", la_syevd(e, o->A, o->V, o->work, NULL));
    REFUSED("la_syevd", la_syevd(e, o->A, o->V, NULL, &o->info));
    REFUSED("la_rcond_chol", la_rcond_chol(e, o->A, 1, NULL));
    REFUSED("la_sqdist", la_sqdist(e, o->C, o->A, o->B, NULL));
    REFUSED("la_tri", la_tri(e, (la_tri_kind)77, o->C, o->A));
    REFUSED("la_random", la_random(e, (la_random_kind)77, o->C, o->key, 0));
    TEST_INT(la_sqdist_work_size(bad_view(BAD_RANK), o->A), 0);
    TEST_INT(la_sqdist_work_size(o->A, bad_view(BAD_RANK)), 0);
    TEST_INT(la_sqdist_work_size(bad_view(BAD_NEGATIVE), la_view_none()), 0);
    (void)la_syevd_work_size((la_dtype)77, 4);
    TEST_INT(la_exec_cpu(NULL).threads, 1);
    covar_context_free(o->ctx);
}

/* Sizes of 0 are fine everywhere. */
static void test_nothing(void)
{
    operands fixture = fresh(), *o = &fixture;
    point(o);
    const la_exec *e = &o->exec;
    const la_view none = la_mat_f64(NULL, 0, 0), nil = la_vec_f64(NULL, 0);
    TEST_OK(o->ctx, la_potrf(e, none, &o->info));
    TEST_OK(o->ctx, la_potri(e, none, &o->info));
    TEST_OK(o->ctx,
            la_gemm(e, 1, LA_NO_TRANS, none, LA_NO_TRANS, none, 0, none));
    TEST_OK(o->ctx, la_extract_diag(e, 0, nil, none));
    TEST_OK(o->ctx, la_sum_log_diag(e, o->S, none));
    TEST_CLOSE(o->s, 0, 0);
    TEST_OK(o->ctx, la_copy(e, none, none));
    CU_ASSERT(la_all_finite(none, NULL));
    covar_context_free(o->ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"dtypes and views", test_views},
        {"views that cannot be", test_bad_views},
        {"arrays", test_arrays},
        {"maps", test_maps},
        {"copies and reductions", test_copies},
        {"every operand of every kernel", test_places},
        {"flags", test_flags},
        {"numbers", test_numbers},
        {"other pointers and kinds", test_pointers},
        {"sizes of 0", test_nothing},
    };
    return CUTAP_RUN("misuse linalg", cases);
}
