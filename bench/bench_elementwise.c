/* The map interpreter against hand-fused loops, one thread: chains A and B of
 * bench_elementwise.h at 1e5, 1e6 and 1e7 elements in f64 and f32.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Both sides run in turn and the medians are compared. Bytes count the
 * arrays read and written once. Arguments: the number of runs (default 15).
 * The environment: COVAR_ISA = baseline, v3 or v4. */
#include <config.h>

#include "bench_elementwise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNS = 101 };

static const double abc[3] = {1.3, 0.2, 0.7};

/* Inputs x y z w, then the constants a b c. */
static const la_map_step chain_a[] = {
    {LA_MUL, 7, {0, 4, 0}}, {LA_ADD, 7, {7, 5, 0}}, {LA_MUL, 7, {7, 1, 0}},
    {LA_SUB, 7, {7, 2, 0}}, {LA_MUL, 7, {7, 3, 0}}, {LA_ABS, 7, {7, 0, 0}},
    {LA_MUL, 8, {1, 6, 0}}, {LA_ADD, 8, {7, 8, 0}}};
static const la_map_step chain_b[] = {
    {LA_MUL, 7, {0, 4, 0}}, {LA_ADD, 7, {7, 5, 0}},     {LA_TANH, 7, {7, 0, 0}},
    {LA_MUL, 8, {0, 6, 0}}, {LA_SIGMOID, 8, {8, 0, 0}}, {LA_MUL, 7, {7, 8, 0}},
    {LA_ADD, 8, {7, 1, 0}}};

typedef struct chain {
    const char *name;
    const la_map_step *steps;
    int n_step;
    double arrays; /* read or written */
} chain;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, ascending);
    return t[n / 2];
}

static const fused_loops *loops_for(const covar_context *ctx, la_dtype t)
{
#if defined(HAVE_ISA_X86)
    if (covar_context_isa(ctx) == COVAR_ISA_V4)
        return t == LA_F64 ? &fused_loops_f64_v4 : &fused_loops_f32_v4;
    if (covar_context_isa(ctx) == COVAR_ISA_V3)
        return t == LA_F64 ? &fused_loops_f64_v3 : &fused_loops_f32_v3;
#endif
    return t == LA_F64 ? &fused_loops_f64_base : &fused_loops_f32_base;
}

typedef struct problem {
    la_exec exec;
    la_map_code code;
    size_t n;
    la_view in[4], out;
    void *hand; /* result of the hand-fused loop */
    void *work;
    fused_fn *fused;
} problem;

static void run_hand(const problem *p)
{
    p->fused(p->n, p->hand, p->in[0].data, p->in[1].data, p->in[2].data,
             p->in[3].data, abc);
}

static bool run_ours(const problem *p)
{
    return la_map_run(&p->exec, &p->code, 1, &p->n, p->in, &p->out, p->work) ==
           COVAR_OK;
}

/* Largest difference of the two results. */
static double difference(const problem *p)
{
    double worst = 0;
    const la_view hand = la_view_dense(p->hand, p->code.dtype, 1, &p->n);
    for (size_t i = 0; i < p->n; i += 97) {
        const double d = la_view_get(hand, i) - la_view_get(p->out, i);
        worst = d > worst ? d : -d > worst ? -d : worst;
    }
    return worst;
}

static void measure(const problem *p, const chain *c, int runs)
{
    double hand[MAX_RUNS], ours[MAX_RUNS];
    const int inner = p->n < 200000 ? (int)(400000 / p->n) : 1;
    run_hand(p);
    if (!run_ours(p)) {
        printf("%s\n", covar_error_text(p->exec.ctx));
        return;
    }
    for (int r = 0; r < runs; r++) {
        double t = seconds();
        for (int i = 0; i < inner; i++)
            run_hand(p);
        hand[r] = (seconds() - t) / inner;
        t = seconds();
        for (int i = 0; i < inner; i++)
            run_ours(p);
        ours[r] = (seconds() - t) / inner;
    }
    const double a = median(hand, runs), b = median(ours, runs);
    const double n = (double)p->n;
    const double bytes = c->arrays * n * (double)la_dtype_size(p->code.dtype);
    printf("%s  %s  n = %.0e   hand %6.3f ns %6.1f GB/s   ours %6.3f ns %6.1f "
           "GB/s   %3.0f %%   difference %.0e\n",
           c->name, la_dtype_name(p->code.dtype), n, a / n * 1e9,
           bytes / a / 1e9, b / n * 1e9, bytes / b / 1e9, 100 * a / b,
           difference(p));
    fflush(stdout);
}

/* Arrays x y z w, out and hand in one block. */
static char *make_arrays(problem *p)
{
    const size_t size = la_dtype_size(p->code.dtype);
    const size_t length = (p->n + 63) / 64 * 64;
    char *memory = aligned_alloc(64, 6 * length * size + 64 * 64);
    if (!memory)
        return NULL;
    memset(memory, 0, 6 * length * size);
    for (size_t k = 0; k < 4; k++) {
        /* apart from each other modulo 4 KiB */
        p->in[k] = la_view_dense(memory + k * (length * size + 640),
                                 p->code.dtype, 1, &p->n);
        for (size_t i = 0; i < p->n; i++)
            la_view_set(p->in[k], i,
                        (double)((i * 7919 + k * 101) % 2001) / 500 - 2);
    }
    p->out = la_view_dense(memory + 4 * (length * size + 640), p->code.dtype, 1,
                           &p->n);
    p->hand = memory + 5 * (length * size + 640);
    return memory;
}

static void run_chain(covar_context *ctx, const chain *c, la_dtype t, size_t n,
                      int runs)
{
    la_map_step steps[16];
    const la_map_result result = {.reg = 8};
    const fused_loops *loops = loops_for(ctx, t);
    problem p = {.exec = la_exec_cpu(ctx),
                 .code = {.dtype = t,
                          .n_in = 4,
                          .n_const = 3,
                          .n_step = c->n_step,
                          .n_result = 1,
                          .n_reg = 9,
                          .constants = abc,
                          .steps = steps,
                          .results = &result},
                 .n = n,
                 .fused = c->name[0] == 'A' ? loops->a : loops->b};
    p.exec.threads = 1;
    memcpy(steps, c->steps, (size_t)c->n_step * sizeof *steps);
    p.code.n_step = la_map_optimise(steps, c->n_step, &p.code);
    char *memory = make_arrays(&p);
    p.work =
        aligned_alloc(64, (la_map_work_size(&p.code, 1, &n, 1) + 63) / 64 * 64);
    if (memory && p.work)
        measure(&p, c, runs);
    free(p.work);
    free(memory);
}

int main(int argc, char **argv)
{
    static const chain chains[] = {
        {"A", chain_a, (int)(sizeof chain_a / sizeof *chain_a), 5},
        {"B", chain_b, (int)(sizeof chain_b / sizeof *chain_b), 3}};
    static const size_t sizes[] = {100000, 1000000, 10000000};
    int runs = argc > 1 ? atoi(argv[1]) : 15;
    runs = runs < 1 ? 1 : runs > MAX_RUNS ? MAX_RUNS : runs;
    covar_context *ctx = covar_context_create();
    const char *isa = getenv("COVAR_ISA");
    for (int i = COVAR_ISA_BASELINE; isa && i <= COVAR_ISA_V4; i++)
        if (strstr(covar_isa_name((covar_isa)i), isa))
            covar_context_set_isa(ctx, (covar_isa)i);
    printf(
        "map interpreter against hand-fused loops, one thread, %s\n"
        "A: |((a x + b) y - z) w| + c y   B: tanh(a x + b) sigmoid(c x) + y\n",
        covar_isa_name(covar_context_isa(ctx)));
    for (int c = 0; c < 2; c++)
        for (int t = LA_F32; t >= LA_F64; t--)
            for (int s = 0; s < 3; s++)
                run_chain(ctx, &chains[c], (la_dtype)t, sizes[s], runs);
    covar_context_free(ctx);
    return 0;
}
