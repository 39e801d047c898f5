/* Runners: sizes, pointers, layouts, updates, failures.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file is longer than 400 lines: all of it runs on one fixture. */
#include "config.h"

#include "test_autodiff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    fixture f;
    ad_dim n;
    ad_program *p;
    ad_runner *r;
} job;

static job start(void)
{
    job j = {.f = fixture_create(false)};
    j.n = ad_symbol(j.f.g, "n");
    return j;
}

static ad_node *vector(job *j, const char *name)
{
    return ad_input(j->f.g, name, LA_F64, 1, &j->n);
}

static void compile(job *j, const ad_signature *s, const ad_compile_options *o)
{
    TEST_OK(j->f.ctx, ad_compile(&j->p, j->f.g, s, o));
    TEST_OK(j->f.ctx,
            ad_runner_create(&j->r, j->p, ad_graph_store(j->f.g), j->f.ctx));
}

static void finish(job *j)
{
    ad_runner_free(j->r);
    ad_program_free(j->p);
    fixture_free(&j->f);
}

static double stored(const job *j, const char *name, size_t i)
{
    return la_view_get(ad_store_view(ad_graph_store(j->f.g), name), i);
}

/* ---- Sizes and pointers ------------------------------------------------- */

/* More sizes than plans are kept, back and forth, with moving arrays. */
static void test_sizes(void)
{
    job j = start();
    ad_node *x = vector(&j, "x"), *y = vector(&j, "y");
    ad_node *e = ad_exp(x), *outer = ad_mul(ad_expand(e, 1), ad_expand(y, 0));
    ad_node *s = ad_sum(ad_matmul(outer, outer), AD_ALL);
    compile(&j, AD_SIGNATURE(AD_IN(x), AD_IN(y), AD_OUT(s), AD_OUT(e)), NULL);
    for (size_t k = 0; k < 60; k++) {
        size_t n = (k * 7) % 13;
        double *a = malloc(3 * (n + 1) * sizeof(double)), *b = a + n + 1;
        double *out = b + n + 1, value = -1, p = 0, q = 0, r = 0;
        for (size_t i = 0; i < n; i++) {
            a[i] = 0.1 * (double)i;
            b[i] = 1 + (double)((i + k) % 3);
            p += exp(a[i]);
            q += b[i];
            r += exp(a[i]) * b[i];
        }
        TEST_OK(j.f.ctx,
                ad_run(j.r, (la_view[]){la_vec_f64(a, n), la_vec_f64(b, n)},
                       (la_view[]){la_scalar_f64(&value), la_vec_f64(out, n)}));
        TEST_CLOSE(value, p * q * r, 1e-13);
        for (size_t i = 0; i < n; i++)
            TEST_CLOSE(out[i], exp(a[i]), 1e-15);
        free(a);
    }
    finish(&j);
}

static void test_size_errors(void)
{
    job j = start();
    ad_dim eight = ad_fixed(3), d[2] = {j.n, eight};
    ad_node *X = ad_input(j.f.g, "X", LA_F64, 2, d), *y = vector(&j, "y");
    ad_dim m = ad_symbol(j.f.g, "m");
    ad_node *z = ad_input(j.f.g, "z", LA_F64, 1, &m);
    ad_dim_equal(j.f.g, m, ad_dim_add(j.n, ad_fixed(1)));
    ad_node *v = ad_sum(ad_mul(X, ad_expand(y, 1)), AD_ALL);
    v = ad_add(v, ad_sum(z, AD_ALL));
    compile(&j, AD_SIGNATURE(AD_IN(X), AD_IN(y), AD_IN(z), AD_OUT(v)), NULL);
    double a[16] = {0}, out;
    float narrow = 0;
    la_view o = la_scalar_f64(&out);
    la_view in[3] = {la_mat_f64(a, 5, 3), la_vec_f64(a, 4), la_vec_f64(a, 6)};
    TEST_STATUS(j.f.ctx, ad_run(j.r, in, &o), COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(j.f.ctx),
                  "X is 5 x 3 but y has 4 elements: dim n");
    in[0] = la_mat_f64(a, 4, 2);
    TEST_STATUS(j.f.ctx, ad_run(j.r, in, &o), COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(j.f.ctx),
                  "X is 4 x 2: 2 columns, but needs 3");
    in[0] = la_vec_f64(a, 4);
    TEST_STATUS(j.f.ctx, ad_run(j.r, in, &o), COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(j.f.ctx), "X must have 2 dims but is 4");
    in[0] = la_mat_f64(a, 4, 3);
    TEST_STATUS(j.f.ctx, ad_run(j.r, in, &o), COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(j.f.ctx), "equal");
    in[2] = la_vec_f64(a, 5);
    TEST_OK(j.f.ctx, ad_run(j.r, in, &o));
    in[1] = la_vec_f32(&narrow, 1);
    TEST_STATUS(j.f.ctx, ad_run(j.r, in, &o), COVAR_ERR_DTYPE);
    TEST_CONTAINS(covar_error_text(j.f.ctx), "y must be f64 but is f32");
    in[1] = la_vec_f64(a, 4);
    la_view wrong = la_vec_f64(a, 2);
    TEST_STATUS(j.f.ctx, ad_run(j.r, in, &wrong), COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(j.f.ctx), "output 1");
    TEST_STATUS(j.f.ctx, ad_run(j.r, NULL, &o), COVAR_ERR_ARG);
    finish(&j);
}

/* Strided, transposed, reversed and repeated inputs; strided outputs. */
static void test_layouts(void)
{
    job j = start();
    ad_dim d[2] = {j.n, j.n};
    ad_node *A = ad_input(j.f.g, "A", LA_F64, 2, d);
    ad_node *B = ad_input(j.f.g, "B", LA_F64, 2, d);
    ad_node *P = ad_matmul(A, B),
            *flat = ad_reshape(A, 1, (ad_dim[]){ad_dim_mul(j.n, j.n)});
    compile(&j,
            AD_SIGNATURE(AD_IN(A), AD_IN(B), AD_OUT(P), AD_OUT(flat),
                         AD_OUT(ad_transpose(B))),
            NULL);
    double a[32], b[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    double p[64], f[9], t[9];
    for (int i = 0; i < 32; i++)
        a[i] = i;
    static const ptrdiff_t strides[][2] = {
        {8, 2}, {1, 3}, {-3, 1}, {0, 1}, {4, 0}};
    for (size_t k = 0; k < NELEM(strides); k++) {
        const ptrdiff_t *s = strides[k];
        const double *at = s[0] < 0 ? a + 12 : a;
        size_t dim[2] = {3, 3};
        la_view x = la_view_strided(at, LA_F64, 2, dim, s);
        la_view out = la_view_strided(
            p, LA_F64, 2, dim, (ptrdiff_t[]){k % 2 ? 7 : 3, k % 2 ? 2 : 1});
        TEST_OK(j.f.ctx, ad_run(j.r, (la_view[]){x, la_mat_f64(b, 3, 3)},
                                (la_view[]){out, la_vec_f64(f, 9),
                                            la_mat_f64(t, 3, 3)}));
        for (size_t i = 0; i < 9; i++) {
            double e = 0;
            for (size_t m = 0; m < 3; m++)
                e += la_view_get(x, i / 3 * 3 + m) * b[3 * m + i % 3];
            TEST_CLOSE(la_view_get(out, i), e, 1e-14);
            TEST_CLOSE(f[i], la_view_get(x, i), 0);
            TEST_CLOSE(t[i], b[3 * (i % 3) + i / 3], 0);
        }
    }
    finish(&j);
}

/* Outputs that are inputs, constants, parameters, views, or given twice. */
static void test_plain_outputs(void)
{
    job j = start();
    double w[2] = {3, 4}, c[2] = {5, 6}, in[2] = {1, 2}, out[6][2];
    ad_node *x = vector(&j, "x");
    ad_node *W = ad_param(j.f.g, "W", la_vec_f64(w, 2));
    ad_node *C = ad_constant(j.f.g, la_vec_f64(c, 2)), *e = ad_neg(x);
    compile(&j,
            AD_SIGNATURE(AD_IN(x), AD_OUT(x), AD_OUT(W), AD_OUT(C), AD_OUT(e),
                         AD_OUT(e), AD_OUT(ad_squeeze(ad_expand(e, 0), 0))),
            NULL);
    la_view y[6];
    for (size_t k = 0; k < 6; k++)
        y[k] = la_vec_f64(out[k], 2);
    TEST_OK(j.f.ctx, ad_run(j.r, (la_view[]){la_vec_f64(in, 2)}, y));
    for (size_t i = 0; i < 2; i++) {
        TEST_CLOSE(out[0][i], in[i], 0);
        TEST_CLOSE(out[1][i], w[i], 0);
        TEST_CLOSE(out[2][i], c[i], 0);
        for (size_t k = 3; k < 6; k++)
            TEST_CLOSE(out[k][i], -in[i], 0);
    }
    finish(&j);
}

static void test_overlap(void)
{
    job j = start();
    double w[2] = {1, 2}, a[8] = {0};
    ad_node *x = vector(&j, "x"), *W = ad_param(j.f.g, "W", la_vec_f64(w, 2));
    ad_node *e = ad_exp(x);
    compile(&j,
            AD_SIGNATURE(AD_IN(x), AD_OUT(e), AD_OUT(ad_neg(x)),
                         AD_UPDATE(W, ad_scale(W, 2))),
            NULL);
    la_view in = la_vec_f64(a, 2);
    la_view good[2] = {la_vec_f64(a + 2, 2), la_vec_f64(a + 4, 2)};
    TEST_OK(j.f.ctx, ad_run(j.r, &in, good));
    la_view with_in[2] = {la_vec_f64(a + 1, 2), la_vec_f64(a + 4, 2)};
    TEST_STATUS(j.f.ctx, ad_run(j.r, &in, with_in), COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(j.f.ctx), "output 1 overlaps");
    TEST_STATUS(j.f.ctx, ad_run(j.r, &in, with_in), COVAR_ERR_ARG);
    la_view with_out[2] = {la_vec_f64(a + 2, 2), la_vec_f64(a + 3, 2)};
    TEST_STATUS(j.f.ctx, ad_run(j.r, &in, with_out), COVAR_ERR_ARG);
    la_view store = ad_store_view(ad_graph_store(j.f.g), "W");
    TEST_STATUS(j.f.ctx, ad_run(j.r, &store, good), COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(j.f.ctx), "updated parameter W");
    TEST_OK(j.f.ctx, ad_run(j.r, &in, good));
    finish(&j);
}

/* ---- Updates ------------------------------------------------------------ */

/* Every update sees the old values, also of each other. */
static void test_updates(void)
{
    job j = start();
    double a = 1, b = 2, c = 3, out;
    ad_node *A = ad_param(j.f.g, "a", la_scalar_f64(&a));
    ad_node *B = ad_param(j.f.g, "b", la_scalar_f64(&b));
    ad_node *C = ad_param(j.f.g, "c", la_scalar_f64(&c));
    compile(&j,
            AD_SIGNATURE(AD_OUT(ad_add(A, B)), AD_UPDATE(A, B), AD_UPDATE(B, A),
                         AD_UPDATE(C, ad_add(A, C))),
            NULL);
    la_view o = la_scalar_f64(&out);
    TEST_OK(j.f.ctx, ad_run(j.r, NULL, &o));
    TEST_CLOSE(out, 3, 0);
    TEST_CLOSE(stored(&j, "a", 0), 2, 0);
    TEST_CLOSE(stored(&j, "b", 0), 1, 0);
    TEST_CLOSE(stored(&j, "c", 0), 4, 0);
    size_t done;
    TEST_OK(j.f.ctx, ad_run_many(j.r, 3, NULL, &o, &done));
    TEST_INT(done, 3);
    TEST_CLOSE(stored(&j, "a", 0), 1, 0);
    TEST_CLOSE(stored(&j, "c", 0), 9, 0);
    finish(&j);
}

static void test_busy(void)
{
    job j = start();
    double a = 1;
    ad_node *A = ad_param(j.f.g, "a", la_scalar_f64(&a));
    compile(&j, AD_SIGNATURE(AD_UPDATE(A, ad_scale(A, 2))), NULL);
    ad_store *s = ad_graph_store(j.f.g);
    CU_ASSERT_TRUE(ad_store_acquire(s));
    TEST_STATUS(j.f.ctx, ad_run(j.r, NULL, NULL), COVAR_BUSY);
    TEST_CLOSE(stored(&j, "a", 0), 1, 0);
    ad_store_release(s);
    TEST_OK(j.f.ctx, ad_run(j.r, NULL, NULL));
    TEST_CLOSE(stored(&j, "a", 0), 2, 0);
    finish(&j);
}

/* One program on two stores. */
static void test_two_stores(void)
{
    job j = start();
    double a = 1, b = 10, out;
    ad_node *A = ad_param(j.f.g, "a", la_scalar_f64(&a));
    compile(&j, AD_SIGNATURE(AD_OUT(A), AD_UPDATE(A, ad_add_scalar(A, 1))),
            NULL);
    ad_store *s = NULL;
    ad_runner *r = NULL;
    la_view o = la_scalar_f64(&out);
    TEST_OK(j.f.ctx, ad_store_create(&s, j.f.ctx));
    TEST_STATUS(j.f.ctx, ad_runner_create(&r, j.p, s, j.f.ctx), COVAR_ERR_NAME);
    TEST_CONTAINS(covar_error_text(j.f.ctx), "the store has no 'a'");
    TEST_OK(j.f.ctx, ad_store_set(s, j.f.ctx, "a", la_scalar_f64(&b)));
    TEST_OK(j.f.ctx, ad_runner_create(&r, j.p, s, j.f.ctx));
    TEST_OK(j.f.ctx, ad_run(r, NULL, &o));
    TEST_CLOSE(out, 10, 0);
    TEST_CLOSE(stored(&j, "a", 0), 1, 0);
    TEST_OK(j.f.ctx, ad_run(j.r, NULL, &o));
    TEST_CLOSE(out, 1, 0);
    ad_runner_free(r);
    ad_store_free(s);
    finish(&j);
}

/* ---- Failures ----------------------------------------------------------- */

static void fill_batch(double *a, size_t batch, size_t n, size_t bad)
{
    memset(a, 0, sizeof(double) * batch * n * n);
    for (size_t b = 0; b < batch; b++)
        for (size_t i = 0; i < n; i++)
            a[(b * n + i) * n + i] = b % 3 == bad && i == n - 1 ? -1 : 2;
}

static void test_failure(void)
{
    enum { B = 6, N = 4 };
    job j = start();
    ad_dim d[3] = {ad_symbol(j.f.g, "b"), j.n, j.n};
    double w = 1, a[B * N * N], out[B], single[N * N] = {0};
    ad_node *A = ad_input(j.f.g, "A", LA_F64, 3, d);
    ad_node *W = ad_param(j.f.g, "w", la_scalar_f64(&w));
    ad_node *L = ad_name(ad_cholesky(A), "K_chol");
    compile(&j,
            AD_SIGNATURE(AD_IN(A), AD_OUT(ad_sum_log_diag(L)),
                         AD_UPDATE(W, ad_add_scalar(W, 1))),
            NULL);
    size_t dim[3] = {B, N, N}, n = 0, done = 9;
    la_view in = la_view_dense(a, LA_F64, 3, dim), o = la_vec_f64(out, B);
    fill_batch(a, B, N, 1);
    TEST_STATUS(j.f.ctx, ad_run(j.r, &in, &o), COVAR_ERR_NOT_PD);
    TEST_CONTAINS(covar_error_text(j.f.ctx),
                  "K_chol: cholesky(6 x 4 x 4): 2 of 6 failed, first [1]: "
                  "leading minor 4");
    TEST_CLOSE(stored(&j, "w", 0), 1, 0);
    const int32_t *info = ad_runner_info(j.r, "K_chol", &n);
    TEST_INT(n, B);
    if (n == B) {
        TEST_INT(info[0], 0);
        TEST_INT(info[1], 4);
        TEST_INT(info[4], 4);
    }
    CU_ASSERT_PTR_NULL(ad_runner_info(j.r, "nothing", &n));
    TEST_STATUS(j.f.ctx, ad_run_many(j.r, 5, &in, &o, &done), COVAR_ERR_NOT_PD);
    TEST_INT(done, 0);
    fill_batch(a, B, N, 99);
    TEST_OK(j.f.ctx, ad_run_many(j.r, 5, &in, &o, &done));
    TEST_INT(done, 5);
    TEST_CLOSE(stored(&j, "w", 0), 6, 0);
    TEST_CLOSE(out[5], N * log(2) / 2, 1e-14);
    dim[0] = 1;
    single[0] = -1;
    la_view one = la_view_dense(single, LA_F64, 3, dim);
    la_view first = la_vec_f64(out, 1);
    TEST_STATUS(j.f.ctx, ad_run(j.r, &one, &first), COVAR_ERR_NOT_PD);
    finish(&j);
}

/* [[1, .2], [.2, -2]] is a status with the node's name, not NaN. */
static void test_failure_single(void)
{
    job j = start();
    ad_dim d[2] = {j.n, j.n};
    double a[4] = {1, 0.2, 0.2, -2}, out[4];
    ad_node *A = ad_input(j.f.g, "A", LA_F64, 2, d);
    ad_scope_push(j.f.g, "layer1");
    ad_node *L = ad_name(ad_cholesky(A), "L");
    ad_scope_pop(j.f.g);
    compile(&j, AD_SIGNATURE(AD_IN(A), AD_OUT(L)), NULL);
    TEST_STATUS(j.f.ctx,
                ad_run(j.r, (la_view[]){la_mat_f64(a, 2, 2)},
                       (la_view[]){la_mat_f64(out, 2, 2)}),
                COVAR_ERR_NOT_PD);
    TEST_CONTAINS(covar_error_text(j.f.ctx),
                  "layer1/L: cholesky(2 x 2): failed: leading minor 2");
    finish(&j);
}

static void test_fail_mark(void)
{
    enum { B = 3, N = 2 };
    job j = start();
    ad_dim d[3] = {ad_fixed(B), j.n, j.n};
    double a[B * N * N], out[B];
    ad_node *A = ad_input(j.f.g, "A", LA_F64, 3, d);
    ad_node *s = ad_sum_log_diag(ad_cholesky(A));
    compile(&j, AD_SIGNATURE(AD_IN(A), AD_OUT(s)),
            &(ad_compile_options){.fail_mark = true});
    size_t dim[3] = {B, N, N}, n = 0;
    fill_batch(a, B, N, 1);
    la_view in = la_view_dense(a, LA_F64, 3, dim), o = la_vec_f64(out, B);
    TEST_OK(j.f.ctx, ad_run(j.r, &in, &o));
    TEST_CLOSE(out[0], log(2), 1e-15);
    CU_ASSERT_TRUE(isnan(out[1]));
    TEST_CLOSE(out[2], log(2), 1e-15);
    const int32_t *info = ad_runner_info(j.r, "cholesky", &n);
    TEST_INT(n, B);
    TEST_INT(n == B ? info[1] : -1, 2);
    finish(&j);
}

/* An operator's own failure comes with the node's name. */
static void test_leaf_failure(void)
{
    job j = start();
    ad_node *x = vector(&j, "x");
    ad_dim m = ad_symbol(j.f.g, "m");
    ad_node *i = ad_input(j.f.g, "i", LA_I32, 1, &m);
    compile(&j,
            AD_SIGNATURE(AD_IN(x), AD_IN(i),
                         AD_OUT(ad_name(ad_gather(x, i), "picked"))),
            NULL);
    double a[2] = {1, 2}, out[1];
    int32_t index = 2;
    TEST_STATUS(j.f.ctx,
                ad_run(j.r,
                       (la_view[]){la_vec_f64(a, 2), la_vec_i32(&index, 1)},
                       (la_view[]){la_vec_f64(out, 1)}),
                COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(j.f.ctx), "picked: gather: ");
    finish(&j);
}

static covar_status run_small(covar_context *ctx, void *data)
{
    ad_graph *g = NULL;
    ad_program *p = NULL;
    ad_runner *r = NULL;
    (void)data;
    COVAR_TRY(ad_graph_create(&g, ctx, NULL));
    ad_dim n = ad_symbol(g, "n");
    double w = 1, a[4] = {2, 0, 0, 2}, out;
    ad_node *A = ad_input(g, "A", LA_F64, 2, (ad_dim[]){n, n});
    ad_node *W = ad_param(g, "w", la_scalar_f64(&w));
    ad_node *y = ad_mul(ad_sum(ad_cholesky(ad_transpose(A)), AD_ALL), W);
    covar_status status = ad_graph_error(g);
    if (status == COVAR_OK)
        status = ad_compile(
            &p, g, AD_SIGNATURE(AD_IN(A), AD_OUT(y), AD_UPDATE(W, y)), NULL);
    if (status == COVAR_OK)
        status = ad_runner_create(&r, p, ad_graph_store(g), ctx);
    if (status == COVAR_OK)
        status = ad_run(r, (la_view[]){la_mat_f64(a, 2, 2)},
                        (la_view[]){la_scalar_f64(&out)});
    ad_runner_free(r);
    ad_program_free(p);
    ad_graph_free(g);
    return status;
}

static void test_memory(void)
{
    test_allocation_sweep("compile and run", run_small, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"many sizes", test_sizes},
        {"wrong sizes", test_size_errors},
        {"layouts", test_layouts},
        {"plain outputs", test_plain_outputs},
        {"overlapping arrays", test_overlap},
        {"updates see old values", test_updates},
        {"a busy store", test_busy},
        {"two stores", test_two_stores},
        {"a failed batch element", test_failure},
        {"a failed factorisation", test_failure_single},
        {"failures marked", test_fail_mark},
        {"failure of a leaf", test_leaf_failure},
        {"allocation failures", test_memory},
    };
    return CUTAP_RUN("runner", cases);
}
