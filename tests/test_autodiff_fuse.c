/* Fusion: which elementwise operators run in one loop, with what results.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    fixture f;
    ad_dim n;
    ad_node *x, *y;
    ad_program *p;
    ad_runner *r;
} job;

static job start(void)
{
    job j = {.f = fixture_create(false)};
    j.n = ad_symbol(j.f.g, "n");
    j.x = ad_input(j.f.g, "x", LA_F64, 1, &j.n);
    j.y = ad_input(j.f.g, "y", LA_F64, 1, &j.n);
    return j;
}

static void compile(job *j, const ad_signature *s)
{
    TEST_OK(j->f.ctx, ad_compile(&j->p, j->f.g, s, NULL));
    TEST_OK(j->f.ctx,
            ad_runner_create(&j->r, j->p, ad_graph_store(j->f.g), j->f.ctx));
}

static void finish(job *j)
{
    ad_runner_free(j->r);
    ad_program_free(j->p);
    fixture_free(&j->f);
}

/* 35 nested sines are one loop. */
static void test_deep_nest(void)
{
    job j = start();
    ad_node *v = j.x;
    double in[3] = {0.1, 1, -2}, out[3];
    for (int i = 0; i < 35; i++)
        v = ad_sin(v);
    compile(&j, AD_SIGNATURE(AD_IN(j.x), AD_OUT(v)));
    TEST_INT(ad_program_step_count(j.p), 1);
    TEST_INT(ad_program_count(j.p, "sin"), 35);
    la_view x = la_vec_f64(in, 3), y = la_vec_f64(out, 3);
    TEST_OK(j.f.ctx, ad_run(j.r, &x, &y));
    for (int i = 0; i < 3; i++) {
        double e = in[i];
        for (int k = 0; k < 35; k++)
            e = sin(e);
        TEST_CLOSE(out[i], e, 1e-14);
    }
    finish(&j);
}

/* More results than one map can have, and more inputs. */
static void test_wide(void)
{
    enum { WIDE = 90, N = 5 };
    job j = start();
    ad_slot slot[2 * WIDE];
    la_view in[WIDE], out[WIDE];
    double x[WIDE][N], y[WIDE][N];
    ad_node *sum = NULL;
    for (size_t i = 0; i < WIDE; i++) {
        char name[8] = {(char)('a' + i % 26), (char)('a' + i / 26), 0};
        ad_node *v = ad_input(j.f.g, name, LA_F64, 1, &j.n);
        sum = sum ? ad_mul(ad_sin(sum), v) : v;
        slot[i] = (ad_slot)AD_IN(v);
        slot[WIDE + i] = (ad_slot)AD_OUT(ad_exp(sum));
        for (size_t k = 0; k < N; k++)
            x[i][k] = 1 + 0.1 * (double)((i * k) % 7);
        in[i] = la_vec_f64(x[i], N);
        out[i] = la_vec_f64(y[i], N);
    }
    compile(&j, &(ad_signature){2 * WIDE, slot});
    CU_ASSERT(ad_program_step_count(j.p) >= 6);
    CU_ASSERT(ad_program_step_count(j.p) <= 16);
    TEST_OK(j.f.ctx, ad_run(j.r, in, out));
    for (size_t k = 0; k < N; k++) {
        double e = x[0][k];
        for (size_t i = 0; i < WIDE; i++) {
            e = i ? sin(e) * x[i][k] : e;
            TEST_CLOSE(y[i][k], exp(e), 1e-13);
        }
    }
    finish(&j);
}

/* Sums of both shapes and a stored value, from one pass. */
static void test_reductions(void)
{
    job j = start();
    ad_dim d[2] = {j.n, ad_fixed(3)};
    ad_node *A = ad_input(j.f.g, "A", LA_F64, 2, d), *e = ad_exp(A);
    compile(&j, AD_SIGNATURE(AD_IN(A), AD_OUT(e), AD_OUT(ad_sum(e, AD_ALL)),
                             AD_OUT(ad_sum(ad_square(e), AD_AXIS(0))),
                             AD_OUT(ad_reduce_max(e, AD_AXIS(1)))));
    TEST_INT(ad_program_step_count(j.p), 1);
    double in[6] = {0, 1, 2, -1, -2, -3}, out[6], s = 0, t[3], m[2];
    TEST_OK(j.f.ctx,
            ad_run(j.r, (la_view[]){la_mat_f64(in, 2, 3)},
                   (la_view[]){la_mat_f64(out, 2, 3), la_scalar_f64(&s),
                               la_vec_f64(t, 3), la_vec_f64(m, 2)}));
    double total = 0;
    for (int i = 0; i < 6; i++) {
        TEST_CLOSE(out[i], exp(in[i]), 1e-15);
        total += exp(in[i]);
    }
    TEST_CLOSE(s, total, 1e-15);
    TEST_CLOSE(t[2], exp(4) + exp(-6), 1e-15);
    TEST_CLOSE(m[1], exp(-1), 1e-15);
    finish(&j);
}

/* Views of inputs cost nothing: row, column, transpose, slice. */
static void test_views(void)
{
    job j = start();
    ad_dim d[2] = {j.n, j.n};
    ad_node *A = ad_input(j.f.g, "A", LA_F64, 2, d);
    ad_node *row = ad_expand(j.x, 0), *column = ad_expand(j.y, 1);
    ad_node *v = ad_add(ad_mul(A, column), ad_mul(ad_transpose(A), row));
    ad_node *w = ad_slice(v, 1, ad_fixed(1), ad_fixed(1));
    compile(&j, AD_SIGNATURE(AD_IN(A), AD_IN(j.x), AD_IN(j.y), AD_OUT(v),
                             AD_OUT(ad_neg(w))));
    TEST_INT(ad_program_count(j.p, "fused"), 2);
    TEST_INT(ad_program_step_count(j.p), 2);
    double a[4] = {1, 2, 3, 4}, x[2] = {5, 6}, y[2] = {7, 8}, out[4], z[2];
    TEST_OK(j.f.ctx,
            ad_run(j.r,
                   (la_view[]){la_mat_f64(a, 2, 2), la_vec_f64(x, 2),
                               la_vec_f64(y, 2)},
                   (la_view[]){la_mat_f64(out, 2, 2), la_mat_f64(z, 2, 1)}));
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            TEST_CLOSE(out[2 * i + k],
                       a[2 * i + k] * y[i] + a[2 * k + i] * x[k], 0);
    TEST_CLOSE(z[0], -out[1], 0);
    TEST_CLOSE(z[1], -out[3], 0);
    finish(&j);
}

/* u -> product -> back to u: u and what follows the product are two loops, for
 * the product stands between them. */
static void test_convex(void)
{
    job j = start();
    ad_dim d[2] = {j.n, j.n};
    ad_node *A = ad_input(j.f.g, "A", LA_F64, 2, d), *u = ad_exp(A);
    ad_node *v = ad_mul(ad_sin(u), ad_matmul(u, u));
    compile(&j, AD_SIGNATURE(AD_IN(A), AD_OUT(v)));
    TEST_INT(ad_program_count(j.p, "fused"), 2);
    TEST_INT(ad_program_count(j.p, "gemm"), 1);
    double a[4] = {0.1, 0.2, 0.3, 0.4}, out[4], e[4];
    TEST_OK(j.f.ctx, ad_run(j.r, (la_view[]){la_mat_f64(a, 2, 2)},
                            (la_view[]){la_mat_f64(out, 2, 2)}));
    for (int i = 0; i < 4; i++)
        e[i] = exp(a[i]);
    TEST_CLOSE(out[0], sin(e[0]) * (e[0] * e[0] + e[1] * e[2]), 1e-14);
    finish(&j);
}

/* A value that is to be overwritten is computed again rather than kept. */
static void test_recompute(void)
{
    job j = start();
    ad_dim d[2] = {j.n, j.n};
    ad_node *S = ad_input(j.f.g, "S", LA_F64, 2, d);
    ad_node *X = ad_matmul(S, S), *K = ad_exp(ad_neg(X));
    ad_node *L = ad_cholesky(ad_add_diag(K, ad_scalar(j.f.g, LA_F64, 9)));
    ad_node *v = ad_sum(ad_mul(ad_potri(L), K), AD_ALL);
    compile(&j, AD_SIGNATURE(AD_IN(S), AD_OUT(v)));
    TEST_INT(ad_program_count(j.p, "exp"), 2);
    size_t bytes, bound, n = 400;
    double *s = calloc(n * n, sizeof(double));
    TEST_OK(j.f.ctx, ad_runner_plan(j.r, (la_view[]){la_mat_f64(s, n, n)},
                                    &bytes, &bound));
    CU_ASSERT(bytes < 5 * n * n * sizeof(double) / 2);
    free(s);
    finish(&j);
}

/* The small numbers of a program share one loop a stage. */
static void test_small_numbers(void)
{
    job j = start();
    ad_slot slot[12];
    double w[6] = {0, 1, 2, 3, 4, 5}, out[6];
    la_view in[6], y[6];
    for (size_t i = 0; i < 6; i++) {
        char name[3] = {'w', (char)('0' + i), 0};
        ad_node *v = ad_input(j.f.g, name, LA_F64, 0, NULL);
        slot[i] = (ad_slot)AD_IN(v);
        slot[6 + i] = (ad_slot)AD_OUT(ad_exp(v));
        in[i] = la_scalar_f64(&w[i]);
        y[i] = la_scalar_f64(&out[i]);
    }
    compile(&j, &(ad_signature){12, slot});
    TEST_INT(ad_program_step_count(j.p), 1);
    TEST_OK(j.f.ctx, ad_run(j.r, in, y));
    for (size_t i = 0; i < 6; i++)
        TEST_REL(out[i], exp(w[i]), 1e-15);
    finish(&j);
}

/* 20,000 operators in a row: one loop, without recursion. */
static void test_long_chain(void)
{
    job j = start();
    ad_node *v = j.x;
    double in[2] = {0.25, -0.5}, out[2];
    for (int i = 0; i < 10000; i++)
        v = ad_mul(ad_sin(v), j.y);
    compile(&j, AD_SIGNATURE(AD_IN(j.x), AD_IN(j.y), AD_OUT(v)));
    TEST_INT(ad_program_step_count(j.p), 1);
    double y[2] = {1.5, 1.4};
    TEST_OK(j.f.ctx,
            ad_run(j.r, (la_view[]){la_vec_f64(in, 2), la_vec_f64(y, 2)},
                   (la_view[]){la_vec_f64(out, 2)}));
    double e = in[0];
    for (int i = 0; i < 10000; i++)
        e = sin(e) * y[0];
    TEST_CLOSE(out[0], e, 1e-12);
    finish(&j);
}

static void compile_and_expect(job *j, const ad_signature *s, bool symmetric)
{
    compile(j, s);
    char *text = ad_program_print(j->p);
    CU_ASSERT_FATAL(text != NULL);
    CU_ASSERT((strstr(text, "symmetric {") != NULL) == symmetric);
    ad_text_free(j->f.g, text);
}

/* K = exp(-l d^2) + sin(r d)^2 of differences d, with w' K w and its gradient:
 * loops over half of the matrix; large enough that they are used. */
static void test_symmetric(void)
{
    enum { N = 131 };
    static double x[N], w[N], K[N * N];
    job j = start();
    ad_dim column[2] = {j.n, ad_fixed(1)};
    ad_node *X = ad_input(j.f.g, "X", LA_F64, 2, column);
    ad_node *l = ad_input(j.f.g, "l", LA_F64, 0, NULL);
    ad_node *r = ad_input(j.f.g, "r", LA_F64, 0, NULL);
    ad_node *d = ad_sub(X, ad_transpose(X)), *grad[2], *in[] = {l, r};
    ad_node *k = ad_add(ad_exp(ad_neg(ad_mul(ad_sqdist(X, NULL), l))),
                        ad_square(ad_sin(ad_mul(d, r))));
    ad_node *W = ad_mul(ad_expand(j.x, 0), ad_expand(j.x, 1));
    ad_node *s = ad_sum(ad_mul(W, k), AD_ALL);
    TEST_OK(j.f.ctx, ad_grad(grad, s, in, 2));
    compile_and_expect(&j,
                       AD_SIGNATURE(AD_IN(X), AD_IN(l), AD_IN(r), AD_IN(j.x),
                                    AD_OUT(k), AD_OUT(s), AD_OUT(grad[0]),
                                    AD_OUT(grad[1])),
                       true);
    double lr[2] = {0.7, 1.9}, out[3];
    long double e[3] = {0, 0, 0};
    for (int i = 0; i < N; i++) {
        x[i] = 3 * sin(i);
        w[i] = cos(2 * i);
    }
    TEST_OK(
        j.f.ctx,
        ad_run(j.r,
               (la_view[]){la_mat_f64(x, N, 1), la_scalar_f64(&lr[0]),
                           la_scalar_f64(&lr[1]), la_vec_f64(w, N)},
               (la_view[]){la_mat_f64(K, N, N), la_scalar_f64(&out[0]),
                           la_scalar_f64(&out[1]), la_scalar_f64(&out[2])}));
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            const double t = x[a] - x[b], ww = w[a] * w[b];
            const double g = exp(-lr[0] * t * t), h = sin(lr[1] * t);
            TEST_CLOSE(K[a * N + b], g + h * h, 1e-14);
            e[0] += ww * (g + h * h);
            e[1] -= ww * t * t * g;
            e[2] += 2 * ww * t * h * cos(lr[1] * t);
        }
    for (int i = 0; i < 3; i++)
        TEST_CLOSE(out[i], (double)e[i], 1e-11);
    finish(&j);
}

/* One operand without symmetry, and the whole matrix is computed. */
static void test_not_symmetric(void)
{
    job j = start();
    ad_dim d[2] = {j.n, j.n};
    ad_node *A = ad_input(j.f.g, "A", LA_F64, 2, d);
    ad_node *W = ad_mul(ad_expand(j.x, 0), ad_expand(j.x, 1));
    ad_node *s = ad_sum(ad_mul(ad_exp(W), A), AD_ALL);
    compile_and_expect(&j, AD_SIGNATURE(AD_IN(j.x), AD_IN(A), AD_OUT(s)),
                       false);
    finish(&j);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"35 nested sines", test_deep_nest},
        {"90 inputs and results", test_wide},
        {"reductions", test_reductions},
        {"views of inputs", test_views},
        {"a product in between", test_convex},
        {"recomputed, not kept", test_recompute},
        {"small numbers together", test_small_numbers},
        {"20,000 operators", test_long_chain},
        {"half of a symmetric matrix", test_symmetric},
        {"no symmetry, no half", test_not_symmetric},
    };
    return CUTAP_RUN("fuse", cases);
}
