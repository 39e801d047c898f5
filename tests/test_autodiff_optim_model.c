/* The parts of the minimiser against dense and brute-force counterparts.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/optim_impl.h"
#include "test_util.h"

#include <covar/rng.h>

#include <math.h>
#include <string.h>

enum { N = 9, MOST_PAIRS = 12 };

/* A run with random pairs of a convex function and its dense B. */
typedef struct fixture {
    covar_context *ctx;
    ad_optim_run run;
    double B[N * N], g[N], x[N];
} fixture;

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += a[i] * b[i];
    return sum;
}

static void times(double *out, const double *A, const double *v)
{
    for (size_t i = 0; i < N; i++)
        out[i] = dot(A + i * N, v);
}

/* B := B - B s s'B / s'B s + y y' / s'y. */
static void dense_update(double *B, const double *s, const double *y)
{
    double Bs[N];
    times(Bs, B, s);
    const double sBs = dot(s, Bs), sy = dot(s, y);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++)
            B[i * N + j] += y[i] * y[j] / sy - Bs[i] * Bs[j] / sBs;
    }
}

/* Pushes `pairs` pairs into a store of `memory`; B from those that stay. */
static void setup(fixture *f, size_t memory, size_t pairs, uint64_t seed)
{
    *f = (fixture){.ctx = test_context()};
    f->run = (ad_optim_run){.ctx = f->ctx, .n = N};
    f->run.options.memory = memory;
    TEST_OK(f->ctx, ad_optim_run_alloc(&f->run));
    ad_pairs *p = &f->run.pairs;
    ad_pairs_reset(p, 2.5);
    covar_rng rng = covar_rng_init(seed, 0);
    double A[N * N], s[MOST_PAIRS][N], y[MOST_PAIRS][N];
    covar_rng_normal(A, N * N, &rng);
    for (size_t k = 0; k < pairs; k++) {
        covar_rng_normal(s[k], N, &rng);
        double v[N];
        times(v, A, s[k]);
        for (size_t i = 0; i < N; i++) { /* y = (A'A + 1/10) s */
            y[k][i] = 0.1 * s[k][i];
            for (size_t j = 0; j < N; j++)
                y[k][i] += A[j * N + i] * v[j];
        }
        CU_ASSERT_TRUE(ad_pairs_push(p, s[k], y[k]));
    }
    for (size_t i = 0; i < N; i++)
        f->B[i * N + i] = p->theta;
    for (size_t k = pairs - p->count; k < pairs; k++)
        dense_update(f->B, s[k], y[k]);
    covar_rng_normal(f->g, N, &rng);
    covar_rng_normal(f->x, N, &rng);
    f->run.model.x = f->x;
    f->run.model.g = f->g;
}

static void teardown(fixture *f)
{
    ad_optim_run_free(&f->run);
    covar_context_free(f->ctx);
}

static double model(const fixture *f, const double *z)
{
    double Bz[N];
    times(Bz, f->B, z);
    return dot(f->g, z) + 0.5 * dot(z, Bz);
}

static void box(fixture *f, double width)
{
    covar_rng rng = covar_rng_init(99, 1);
    double u[2 * N];
    covar_rng_uniform(u, 2 * N, &rng);
    for (size_t i = 0; i < N; i++) {
        f->run.lower[i] = f->x[i] - width * u[i];
        f->run.upper[i] = f->x[i] + width * u[N + i];
    }
}

static void test_middle(void)
{
    for (size_t k = 0; k <= 5; k++) {
        covar_rng rng = covar_rng_init(k, 2);
        double R[50], E[25], G[25], H[25], A[100] = {0};
        covar_rng_normal(R, 50, &rng);
        covar_rng_normal(G, 25, &rng);
        for (size_t i = 0; i < k; i++) {
            for (size_t j = 0; j < k; j++) {
                E[i * k + j] = H[i * k + j] = i == j ? 0.1 : 0;
                for (size_t l = 0; l < k; l++) {
                    E[i * k + j] += R[i * k + l] * R[j * k + l];
                    H[i * k + j] += R[25 + i * k + l] * R[25 + j * k + l];
                }
                A[i * 2 * k + j] = -E[i * k + j];
                A[i * 2 * k + k + j] = G[j * k + i];
                A[(k + i) * 2 * k + j] = G[i * k + j];
                A[(k + i) * 2 * k + k + j] = H[i * k + j];
            }
        }
        double u[10], v[10] = {0};
        covar_rng_normal(u, 10, &rng);
        for (size_t i = 0; i < 2 * k; i++) {
            for (size_t j = 0; j < 2 * k; j++)
                v[i] += A[i * 2 * k + j] * u[j];
        }
        ad_middle mid = {.k = k, .E = E, .G = G, .T = H};
        CU_ASSERT_TRUE(ad_middle_factor(&mid));
        ad_middle_solve(&mid, v);
        TEST_CLOSE_ARRAY(v, u, 2 * k, 1e-10);
    }
    double E = -1, G = 1, H = 1;
    ad_middle bad = {.k = 1, .E = &E, .G = &G, .T = &H};
    CU_ASSERT_FALSE(ad_middle_factor(&bad));
}

/* theta v - W M W'v is B v of the dense recursion. */
static void test_pairs(void)
{
    for (size_t pairs = 0; pairs <= MOST_PAIRS; pairs++) {
        fixture f;
        setup(&f, 5, pairs, 3);
        const ad_pairs *p = &f.run.pairs;
        TEST_INT(p->count, pairs < 5 ? pairs : 5);
        double Bv[N], own[N], c[10];
        times(Bv, f.B, f.g);
        ad_pairs_project(p, c, f.g);
        ad_middle_solve(&p->M, c);
        for (size_t i = 0; i < N; i++)
            own[i] = p->theta * f.g[i] - ad_pairs_dot_row(p, i, c);
        TEST_CLOSE_ARRAY(own, Bv, N, 1e-9);
        teardown(&f);
    }
}

static void test_useless_pairs_are_left_out(void)
{
    fixture f;
    setup(&f, 5, 2, 4);
    double s[N] = {1}, y[N] = {-1}, none[N] = {0};
    CU_ASSERT_TRUE(ad_pairs_push(&f.run.pairs, s, y));
    CU_ASSERT_TRUE(ad_pairs_push(&f.run.pairs, s, none));
    CU_ASSERT_TRUE(ad_pairs_push(&f.run.pairs, none, s));
    TEST_INT(f.run.pairs.count, 2);
    teardown(&f);
}

/* The first local minimum along the projected path, by small steps. */
static void test_cauchy(void)
{
    for (size_t k = 0; k < 20; k++) {
        fixture f;
        setup(&f, 6, k % 9, k);
        box(&f, k % 2 ? 0.3 : 3);
        ad_model_cauchy(&f.run.model);
        double z[N], best = 0, before = 0;
        for (double t = 0; t < 100; t += 1e-4) {
            for (size_t i = 0; i < N; i++)
                z[i] = fmin(fmax(-t * f.g[i], f.run.lower[i] - f.x[i]),
                            f.run.upper[i] - f.x[i]);
            const double value = model(&f, z);
            if (value > before + 1e-13)
                break;
            best = before = value;
        }
        const double own = model(&f, f.run.model.z);
        test_check(own <= best + 1e-9 && own >= best - 1e-4, __FILE__, __LINE__,
                   "case %zu: %.12g, by small steps %.12g", k, own, best);
        double c[12];
        ad_pairs_project(&f.run.pairs, c, f.run.model.z);
        TEST_CLOSE_ARRAY(f.run.model.c, c, 2 * f.run.pairs.count, 1e-8);
        teardown(&f);
    }
}

/* Without bounds B z = -g; within them the gradient of the model vanishes in
 * the free coordinates and z is no worse than the Cauchy point. */
static void test_subspace(void)
{
    static const double widths[] = {INFINITY, 3, 1, 0.3, 0.1};
    for (size_t k = 0; k < 60; k++) {
        fixture f;
        setup(&f, 6, 1 + k % 9, k);
        box(&f, widths[k % NELEM(widths)]);
        ad_model_step *m = &f.run.model;
        ad_model_cauchy(m);
        const double cauchy = model(&f, m->z);
        CU_ASSERT_TRUE(ad_model_subspace(m));
        CU_ASSERT_TRUE(model(&f, m->z) <= cauchy + 1e-12);
        double slope[N];
        times(slope, f.B, m->z);
        for (size_t i = 0; i < N; i++) {
            const double z = m->z[i], x = f.x[i];
            CU_ASSERT_TRUE(z >= f.run.lower[i] - x && z <= f.run.upper[i] - x);
            test_check(m->fixed[i] || fabs(slope[i] + f.g[i]) < 1e-8, __FILE__,
                       __LINE__, "case %zu: slope %g of coordinate %zu", k,
                       slope[i] + f.g[i], i);
        }
        teardown(&f);
    }
}

/* ---- the line search, on functions of one variable ---- */

static double parabola(double *slope, double a)
{
    *slope = a - 3;
    return 0.5 * (a - 3) * (a - 3);
}

static double walled(double *slope, double a)
{
    *slope = a - 3;
    return a > 0.1 ? INFINITY : 0.5 * (a - 3) * (a - 3);
}

static double steep(double *slope, double a)
{
    *slope = 1e4 * (a - 1e-4);
    return 0.5e4 * (a - 1e-4) * (a - 1e-4);
}

static double rising(double *slope, double a)
{
    *slope = -1;
    return a;
}

static ad_search_state search(ad_search *s, double f(double *, double),
                              double a_max)
{
    double slope;
    const double start = f(&slope, 0);
    ad_search_begin(s, start, slope, 1, a_max);
    ad_search_state state = AD_SEARCH_TRY;
    while (state == AD_SEARCH_TRY) {
        CU_ASSERT_TRUE(s->a > 0 && s->a <= a_max);
        const double value = f(&slope, s->a);
        state = ad_search_update(s, value, slope);
    }
    return state;
}

static void test_line_search(void)
{
    ad_search s;
    TEST_INT(search(&s, parabola, 100), AD_SEARCH_DONE);
    TEST_INT(s.trials, 1);
    TEST_INT(search(&s, steep, 100), AD_SEARCH_DONE);
    CU_ASSERT_TRUE(s.a < 2e-4 && s.trials < 8);
    TEST_INT(search(&s, walled, 100), AD_SEARCH_DONE); /* halved, then taken */
    CU_ASSERT_TRUE(s.a > 0.05 && s.a <= 0.1);
    TEST_INT(s.trials, 5);
    TEST_INT(search(&s, rising, 100), AD_SEARCH_FAILED);
    CU_ASSERT_TRUE(s.trials < 60);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"systems of the middle matrix", test_middle},
        {"compact against dense BFGS", test_pairs},
        {"useless pairs", test_useless_pairs_are_left_out},
        {"Cauchy point against small steps", test_cauchy},
        {"subspace minimiser", test_subspace},
        {"line search", test_line_search},
    };
    return CUTAP_RUN("autodiff_optim_model", cases);
}
