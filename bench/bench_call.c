/* What a call of a compiled program costs beyond its arithmetic.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Calls: ten steps on vectors of 8 numbers, not fused, so that each is an
 * instruction of its own: with the same arrays every time, with arrays that
 * move, and many calls in one. Then a fused chain, a chain of 4 x 4 products,
 * and compilation of chains of 1000 and 10,000 nodes. Medians of batches of
 * calls on one thread, in processor time; `bar` is what the design asks for.
 *     bench_call */
#include "config.h"

#include <covar/autodiff.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 8, STEPS = 10, BATCH = 1000, BATCHES = 101 };

static void must(covar_status status, const covar_context *ctx)
{
    if (status != COVAR_OK) {
        fprintf(stderr, "%s\n", covar_error_text(ctx));
        exit(1);
    }
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, size_t n)
{
    qsort(t, n, sizeof(*t), ascending);
    return t[n / 2];
}

static void print(const char *what, double ours, const char *unit, double bar)
{
    printf("%-44s %8.1f %-3s", what, ours, unit);
    if (bar > 0)
        printf("  bar %5.0f  ratio %.2f%s", bar, ours / bar,
               ours > bar ? "  above" : "");
    printf("\n");
    fflush(stdout);
}

/* ---- Calls -------------------------------------------------------------- */

typedef ad_node *chain_fn(ad_node *x);

/* Ten different elementwise steps. */
static ad_node *elementwise(ad_node *x)
{
    for (int i = 0; i < STEPS / 2; i++)
        x = ad_add_scalar(ad_scale(x, 1.01 + 0.01 * i), 0.1 * (i + 1));
    return x;
}

/* Five products, each followed by an elementwise step. */
static ad_node *products(ad_node *x)
{
    ad_node *a = ad_reshape(x, 2, (ad_dim[]){ad_fixed(2), ad_fixed(N / 2)});
    ad_node *y = a;
    for (int i = 0; i < STEPS / 2; i++)
        y = ad_square(ad_matmul(y, ad_matmul(ad_transpose(a), a)));
    return y;
}

typedef struct job {
    covar_context *ctx;
    ad_graph *g;
    ad_program *program;
    ad_runner *runner;
    double x[2 * N], y[2 * N]; /* two places for the input and the output */
    size_t out_rank, out_dim[2];
} job;

static void start(job *j, chain_fn *chain, bool no_fuse)
{
    *j = (job){.ctx = covar_context_create()};
    covar_context_set_threads(j->ctx, 1);
    must(ad_graph_create(&j->g, j->ctx, NULL), j->ctx);
    const ad_dim n = ad_fixed(N);
    ad_node *x = ad_input(j->g, "x", LA_F64, 1, &n);
    ad_node *y = ad_reshape(chain(x), 1, &n);
    const ad_compile_options o = {.no_rewrite = no_fuse, .no_fuse = no_fuse};
    must(ad_compile(&j->program, j->g, AD_SIGNATURE(AD_IN(x), AD_OUT(y)), &o),
         j->ctx);
    must(ad_runner_create(&j->runner, j->program, NULL, j->ctx), j->ctx);
    for (size_t i = 0; i < 2 * N; i++)
        j->x[i] = 0.1 * (double)(i % N);
}

static void finish(job *j)
{
    ad_runner_free(j->runner);
    ad_program_free(j->program);
    ad_graph_free(j->g);
    covar_context_free(j->ctx);
}

/* Nanoseconds a call; `move`: every call has other arrays. */
static double time_calls(job *j, bool move)
{
    static double t[BATCHES];
    for (size_t b = 0; b < BATCHES; b++) {
        const double began = processor_seconds();
        for (size_t i = 0; i < BATCH; i++) {
            const size_t at = move ? i % 2 * N : 0;
            const la_view in = la_vec_f64(j->x + at, N);
            const la_view out = la_vec_f64(j->y + at, N);
            must(ad_run(j->runner, &in, &out), j->ctx);
        }
        t[b] = 1e9 * (processor_seconds() - began) / BATCH;
    }
    return median(t, BATCHES);
}

static double time_many(job *j)
{
    static double t[BATCHES];
    const la_view in = la_vec_f64(j->x, N), out = la_vec_f64(j->y, N);
    for (size_t b = 0; b < BATCHES; b++) {
        size_t done;
        const double began = processor_seconds();
        must(ad_run_many(j->runner, BATCH, &in, &out, &done), j->ctx);
        t[b] = 1e9 * (processor_seconds() - began) / BATCH;
    }
    return median(t, BATCHES);
}

static void bench_calls(void)
{
    job j;
    start(&j, elementwise, true);
    print("ten steps, same arrays", time_calls(&j, false), "ns", 150);
    print("ten steps, moved arrays", time_calls(&j, true), "ns", 200);
    print("ten steps, a call of ad_run_many", time_many(&j), "ns", 0);
    finish(&j);
    start(&j, elementwise, false);
    print("the same fused to one, same arrays", time_calls(&j, false), "ns", 0);
    finish(&j);
    start(&j, products, false);
    print("ten 4 x 4 products", time_calls(&j, false), "ns", 0);
    finish(&j);
}

/* ---- Compiling ---------------------------------------------------------- */

/* Milliseconds for 1000 nodes of a chain of n: tanh(a x + b) and its gradient
 * grow with the chain. */
static double time_compile(size_t n)
{
    enum { RUNS = 5 };
    double t[RUNS];
    size_t nodes = 0;
    for (size_t k = 0; k < RUNS; k++) {
        covar_context *ctx = covar_context_create();
        ad_graph *g = NULL;
        ad_program *p = NULL;
        must(ad_graph_create(&g, ctx, NULL), ctx);
        const ad_dim d = ad_symbol(g, "n");
        ad_node *x = ad_input(g, "x", LA_F64, 1, &d), *y = x, *dx = NULL;
        for (size_t i = 0; i < n / 5; i++)
            y = ad_tanh(ad_add(ad_scale(y, 1 + 1 / (double)(i + 2)), x));
        ad_node *loss = ad_sum(y, AD_ALL);
        must(ad_grad(&dx, loss, &x, 1), ctx);
        nodes = ad_graph_node_count(g);
        const double began = processor_seconds();
        must(ad_compile(&p, g, AD_SIGNATURE(AD_IN(x), AD_OUT(loss), AD_OUT(dx)),
                        NULL),
             ctx);
        t[k] = 1e3 * (processor_seconds() - began);
        ad_program_free(p);
        ad_graph_free(g);
        covar_context_free(ctx);
    }
    return median(t, RUNS) / ((double)nodes / 1000);
}

int main(void)
{
    bench_calls();
    print("compile, 1000 nodes", time_compile(1000), "ms", 10);
    print("compile, 10,000 nodes, for each 1000", time_compile(10000), "ms",
          10);
    return 0;
}
