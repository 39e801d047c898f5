/* The memory plan: nothing overlaps, little is lost, what dies is reused.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include "autodiff/program_impl.h"

#include <covar/rng.h>
#include <stdlib.h>

/* ---- Placing intervals -------------------------------------------------- */

static covar_status place(fixture *f, ad_interval *x, size_t n, size_t *bytes,
                          size_t *bound)
{
    return ad_plan_offsets(covar_context_heap(f->ctx), x, n, bytes, bound);
}

static void test_golden(void)
{
    fixture f = fixture_create(false);
    /* a large one lives through; two small ones take turns */
    ad_interval x[] = {
        {64, 0, 1, 0}, {640, 0, 9, 0}, {60, 2, 3, 0}, {128, 3, 4, 0}};
    size_t bytes, bound;
    TEST_OK(f.ctx, place(&f, x, 4, &bytes, &bound));
    TEST_INT(bound, 640 + 64 + 128);
    TEST_INT(bytes, 640 + 64 + 128);
    TEST_INT(x[1].offset, 0);
    TEST_INT(x[0].offset, 640);
    TEST_OK(f.ctx, place(&f, x, 0, &bytes, &bound));
    TEST_INT(bytes, 0);
    TEST_INT(bound, 0);
    fixture_free(&f);
}

static void test_random(void)
{
    enum { N = 300 };
    fixture f = fixture_create(false);
    for (uint64_t seed = 0; seed < 20; seed++) {
        ad_interval x[N];
        double u[3 * N];
        covar_rng rng = covar_rng_init(seed, 0);
        covar_rng_uniform(u, 3 * N, &rng);
        for (size_t i = 0; i < N; i++) {
            uint32_t birth = (uint32_t)(u[3 * i] * 400);
            uint32_t life = (uint32_t)(u[3 * i + 1] * u[3 * i + 1] * 60);
            size_t size = (size_t)(1 / (0.0001 + u[3 * i + 2]));
            x[i] = (ad_interval){size * 8, birth, birth + life, 0};
        }
        size_t bytes, bound;
        TEST_OK(f.ctx, place(&f, x, N, &bytes, &bound));
        CU_ASSERT(bytes >= bound);
        test_check((double)bytes <= 1.2 * (double)bound, __FILE__, __LINE__,
                   "seed %d: %zu bytes, bound %zu", (int)seed, bytes, bound);
        for (size_t i = 0; i < N; i++) {
            CU_ASSERT(x[i].offset % 64 == 0);
            CU_ASSERT(x[i].offset + x[i].bytes <= bytes);
            for (size_t j = 0; j < i; j++) {
                bool meet = x[i].birth <= x[j].death &&
                            x[j].birth <= x[i].death &&
                            x[i].offset < x[j].offset + x[j].bytes &&
                            x[j].offset < x[i].offset + x[i].bytes;
                CU_ASSERT_FALSE(meet);
            }
        }
    }
    fixture_free(&f);
}

/* ---- Planned programs --------------------------------------------------- */

/* Bytes that a run with one n x n input plans, in units of n x n doubles. */
static double planned(fixture *f, const ad_signature *s, size_t n,
                      const ad_compile_options *o)
{
    ad_program *p = NULL;
    ad_runner *r = NULL;
    size_t bytes = 0, bound = 0;
    double *a = calloc(n * n, sizeof(double));
    la_view in = la_mat_f64(a, n, n);
    TEST_OK(f->ctx, ad_compile(&p, f->g, s, o));
    TEST_OK(f->ctx, ad_runner_create(&r, p, ad_graph_store(f->g), f->ctx));
    TEST_OK(f->ctx, ad_runner_plan(r, &in, &bytes, &bound));
    ad_runner_free(r);
    ad_program_free(p);
    free(a);
    return (double)bytes / (double)(n * n * sizeof(double));
}

static ad_node *square_input(fixture *f)
{
    ad_dim n = ad_symbol(f->g, "n");
    return ad_input(f->g, "A", LA_F64, 2, (ad_dim[]){n, n});
}

/* A chain of operators, unfused, stays in the caller's output. */
static void test_in_place(void)
{
    fixture f = fixture_create(false);
    ad_node *A = square_input(&f), *x = A;
    for (int i = 0; i < 5; i++)
        x = ad_exp(ad_neg(x));
    ad_compile_options o = {.no_rewrite = true, .no_fuse = true};
    CU_ASSERT(planned(&f, AD_SIGNATURE(AD_IN(A), AD_OUT(x)), 600, &o) < 0.3);
    ad_node *L = ad_cholesky(ad_add_diag(ad_neg(A), ad_scalar(f.g, LA_F64, 1)));
    CU_ASSERT(planned(&f, AD_SIGNATURE(AD_IN(A), AD_OUT(L)), 600, NULL) < 0.3);
    fixture_free(&f);
}

/* All other readers of K run before the factorisation takes its memory. */
static void test_readers_first(void)
{
    fixture f = fixture_create(false);
    ad_node *A = square_input(&f), *K = ad_syrk(1, LA_NO_TRANS, A);
    ad_node *d = ad_sum_log_diag(ad_cholesky(K));
    ad_node *t = ad_sum(ad_extract_diag(K, 0), AD_ALL);
    ad_node *m = ad_reduce_max(
        ad_matmul(K, ad_expand(ad_extract_diag(A, 0), 1)), AD_ALL);
    double used = planned(
        &f, AD_SIGNATURE(AD_IN(A), AD_OUT(d), AD_OUT(t), AD_OUT(m)), 100, NULL);
    CU_ASSERT(used < 1.3);
    fixture_free(&f);
}

/* Value and gradient of a GP with an RBF-ARD kernel: two n x n matrices. */
static void test_gp_gradient(void)
{
    enum { D = 8, N = 2000 };
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    double zero[D] = {0};
    ad_node *X = ad_input(f.g, "X", LA_F64, 2, (ad_dim[]){n, ad_fixed(D)});
    ad_node *y = ad_input(f.g, "y", LA_F64, 1, &n);
    ad_node *wrt[3] = {ad_param(f.g, "log_lengthscale", la_vec_f64(zero, D)),
                       ad_param(f.g, "log_variance", la_scalar_f64(zero)),
                       ad_param(f.g, "log_noise", la_scalar_f64(zero))};
    ad_node *S = ad_sqdist(ad_div(X, ad_expand(ad_exp(wrt[0]), 0)), NULL);
    ad_node *K = ad_mul(ad_exp(wrt[1]), ad_exp(ad_scale(S, -0.5)));
    ad_node *lml = ad_mvn_logpdf(y, ad_fill(f.g, LA_F64, 0, 1, &n),
                                 ad_add_diag(K, ad_exp(wrt[2])));
    ad_node *slope[3] = {NULL};
    TEST_OK(f.ctx, ad_grad(slope, lml, wrt, 3));
    ad_program *p = NULL;
    ad_runner *r = NULL;
    TEST_OK(f.ctx, ad_compile(&p, f.g,
                              AD_SIGNATURE(AD_IN(X), AD_IN(y), AD_OUT(lml),
                                           AD_OUT(slope[0]), AD_OUT(slope[1]),
                                           AD_OUT(slope[2])),
                              NULL));
    TEST_INT(ad_program_count(p, "cholesky"), 1);
    TEST_INT(ad_program_count(p, "potri"), 1);
    TEST_OK(f.ctx, ad_runner_create(&r, p, ad_graph_store(f.g), f.ctx));
    double *x = calloc(N * (D + 1), sizeof(double));
    size_t bytes = 0, bound = 0;
    TEST_OK(f.ctx,
            ad_runner_plan(
                r, (la_view[]){la_mat_f64(x, N, D), la_vec_f64(x + N * D, N)},
                &bytes, &bound));
    double unit = (double)N * N * sizeof(double);
    cutap_note("GP gradient, n = %d: %.3f n^2 planned, %.3f n^2 alive", N,
               (double)bytes / unit, (double)bound / unit);
    CU_ASSERT((double)bytes <= 2.3 * unit);
    CU_ASSERT((double)bytes <= 1.2 * (double)bound);
    free(x);
    ad_runner_free(r);
    ad_program_free(p);
    fixture_free(&f);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden", test_golden},
        {"random intervals", test_random},
        {"in place", test_in_place},
        {"readers before the overwriter", test_readers_first},
        {"GP gradient", test_gp_gradient},
    };
    return CUTAP_RUN("plan", cases);
}
