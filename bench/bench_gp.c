/* Value and gradient of an exact GP against one Cholesky factorisation.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * RBF with one lengthscale per column, d = 8, zero mean, learned noise: ten
 * parameters. Each line: median processor time of ours and of dpotrf_ on the
 * same matrix, interleaved, their ratio (3 is the floor: n^3/3 flops for the
 * factor, 2 n^3/3 for the inverse), and the planned memory in n^2 doubles.
 *     bench_gp [--full] [--threads N] [--pairs]
 * --full adds n = 4000; --pairs compares N threads (default 2) with one
 * instead, as 21 pairs of runs one after the other: the median ratio, which
 * should be 0.95 at least. */
#include "config.h"

#include "gp/fit_impl.h"
#include "linalg/blas.h"

#include <covar/rng.h>

#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { D = 8, MOST_RUNS = 21 };

static double clock_now(int threads)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
                  &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, size_t n)
{
    qsort(t, n, sizeof(*t), ascending);
    return t[n / 2];
}

typedef struct case_data {
    covar_context *ctx;
    int threads;
    size_t n;
    double *X, *y, *K, *L;
    gp_options options;
    gp_kernel *kernel;
    gp_data *data;
    gp_params params;
    gp_problem *problem;
    double free[D + 2];
} case_data;

static void must(covar_status status, const case_data *c)
{
    if (status != COVAR_OK) {
        fprintf(stderr, "bench_gp: %s\n", covar_error_text(c->ctx));
        exit(1);
    }
}

static void make_data(case_data *c)
{
    size_t n = c->n;
    c->X = malloc(n * D * sizeof(double));
    c->y = malloc(n * sizeof(double));
    c->K = malloc(n * n * sizeof(double));
    c->L = malloc(n * n * sizeof(double));
    if (!c->X || !c->y || !c->K || !c->L)
        exit(1);
    covar_rng rng = covar_rng_init(1, 0);
    covar_rng_uniform(c->X, n * D, &rng);
    covar_rng_normal(c->y, n, &rng);
    for (size_t i = 0; i < n; i++) {
        c->y[i] = 0.1 * c->y[i] + sin(3 * c->X[i * D]);
        for (size_t j = 0; j < n; j++) {
            double r2 = 0;
            for (size_t k = 0; k < D; k++) {
                double diff = c->X[i * D + k] - c->X[j * D + k];
                r2 += diff * diff;
            }
            c->K[i * n + j] = exp(-0.5 * r2) + 0.1 * (i == j);
        }
    }
}

static void setup(case_data *c)
{
    make_data(c);
    c->options = gp_options_default();
    c->options.mean = GP_MEAN_ZERO;
    c->kernel = gp_rbf(D);
    must(gp_data_create(&c->data, c->ctx, la_mat_f64(c->X, c->n, D),
                        la_vec_f64(c->y, c->n), &c->options),
         c);
    must(gp_params_create(&c->params, c->ctx, c->kernel, c->data, &c->options),
         c);
    must(gp_problem_create(&c->problem, c->ctx, c->kernel, &c->params, c->data,
                           &c->options),
         c);
    for (size_t i = 0; i < D + 2; i++)
        c->free[i] = 0;
    c->free[D + 1] = log(0.1);
}

static void clear(case_data *c)
{
    gp_problem_free(c->problem);
    gp_params_clear(&c->params);
    gp_data_free(c->data);
    gp_kernel_free(c->kernel);
    free(c->X);
    free(c->y);
    free(c->K);
    free(c->L);
}

static double time_ours(case_data *c)
{
    double value, grad[D + 2], began = clock_now(c->threads);
    must(gp_problem_eval(c->problem, c->free, GP_ML, 0, &value, grad, NULL), c);
    return clock_now(c->threads) - began;
}

static double time_potrf(case_data *c)
{
    int n = (int)c->n, info = 0;
    memcpy(c->L, c->K, c->n * c->n * sizeof(double));
    double began = clock_now(c->threads);
    dpotrf_("U", &n, c->L, &n, &info, 1);
    return clock_now(c->threads) - began;
}

static void run_case(covar_context *ctx, int threads, size_t n)
{
    case_data c = {.ctx = ctx, .threads = threads, .n = n};
    double ours[MOST_RUNS], floor_time[MOST_RUNS];
    size_t runs = n <= 1000 ? 15 : n <= 2000 ? 7 : 3;
    setup(&c);
    time_ours(&c);
    time_potrf(&c);
    for (size_t i = 0; i < runs; i++) {
        ours[i] = time_ours(&c);
        floor_time[i] = time_potrf(&c);
    }
    double a = median(ours, runs), b = median(floor_time, runs);
    printf("n = %5zu  value + gradient %9.2f ms  potrf %9.2f ms  ratio %5.2f  "
           "(bar 3.7)  memory %.2f n^2 (bar 2.3)\n",
           n, 1e3 * a, 1e3 * b, a / b,
           (double)gp_problem_peak_bytes(c.problem) /
               ((double)n * (double)n * sizeof(double)));
    fflush(stdout);
    clear(&c);
}

static void prepare(case_data *c)
{
    c->ctx = covar_context_create();
    if (!c->ctx)
        exit(1);
    covar_context_set_threads(c->ctx, c->threads);
    setup(c);
    time_ours(c);
}

static double wall_time_with(case_data *c)
{
#ifdef _OPENMP
    omp_set_num_threads(c->threads);
#endif
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    time_ours(c);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (double)(b.tv_sec - a.tv_sec) +
           1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

static void run_pairs(int threads, size_t n)
{
    case_data one = {.threads = 1, .n = n}, more = {.threads = threads, .n = n};
    double ratio[MOST_RUNS], alone[MOST_RUNS];
    prepare(&one);
    prepare(&more);
    for (size_t i = 0; i < MOST_RUNS; i++) {
        alone[i] = wall_time_with(&one);
        ratio[i] = alone[i] / wall_time_with(&more);
    }
    printf("n = %5zu  one thread %9.2f ms  %d threads are %.2f times as fast "
           "(bar 0.95)\n",
           n, 1e3 * median(alone, MOST_RUNS), threads,
           median(ratio, MOST_RUNS));
    fflush(stdout);
    covar_context *contexts[] = {one.ctx, more.ctx};
    clear(&one);
    clear(&more);
    covar_context_free(contexts[0]);
    covar_context_free(contexts[1]);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {500, 1000, 2000, 4000};
    bool full = false, pairs = false;
    int threads = 0;
    for (int i = 1; i < argc; i++) {
        full = full || strcmp(argv[i], "--full") == 0;
        pairs = pairs || strcmp(argv[i], "--pairs") == 0;
        if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads = atoi(argv[i + 1]);
    }
    threads = threads > 0 ? threads : pairs ? 2 : 1;
    const char *core = getenv("OPENBLAS_CORETYPE");
    printf("GP, RBF-ARD, d = %d, f64, %d thread(s), OPENBLAS_CORETYPE %s\n", D,
           threads, core ? core : "unset");
    const size_t n_size = full ? 4 : 3;
    for (size_t i = 0; i < n_size && pairs; i++)
        run_pairs(threads, sizes[i]);
    if (pairs)
        return 0;
    covar_context *ctx = covar_context_create();
    if (!ctx)
        return 1;
    covar_context_set_threads(ctx, threads);
#ifdef _OPENMP
    omp_set_num_threads(threads); /* for the bare dpotrf_ */
#endif
    for (size_t i = 0; i < n_size; i++)
        run_case(ctx, threads, sizes[i]);
    covar_context_free(ctx);
    return 0;
}
