/* Dense kernels against direct LAPACK and BLAS calls on the same matrices.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each line: the median time of ours, of the floor, and the ratio of the
 * medians, from interleaved runs. On one thread (the default) it is the time
 * of the processor, which other programs disturb less. The floor is the bare
 * Fortran routine (without zeroing or mirroring a triangle, which ours
 * includes); chol_rev and potri are measured in units of potrf, whose flops
 * they double. `bar` is the ratio that the design asks for under the machine's
 * OPENBLAS_CORETYPE. For sqdist (d = 8) the floor is writing the result once;
 * for the stack of 1000 small matrices it is a loop of dpotrf_ calls.
 *     bench_linalg [--full] [--threads N]     (--full adds n = 2048) */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/blas.h"
#include "linalg/linalg_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One problem: `input` (the state to restore), `state` (worked on in place),
 * `other` (a second, constant operand). */
typedef struct problem {
    la_exec exec;
    la_dtype dtype;
    size_t n, batch;
    void *input, *state, *other;
    size_t bytes; /* of input and state */
    int32_t info[1000];
} problem;

typedef void runner(problem *p);

typedef struct row {
    const char *name, *floor_name;
    void (*prepare)(problem *p);
    runner *ours, *floor;
    double bar;
} row;

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static la_view matrix(const problem *p, void *data)
{
    const size_t dim[3] = {p->batch, p->n, p->n};
    return p->batch > 1 ? la_view_dense(data, p->dtype, 3, dim)
                        : la_view_dense(data, p->dtype, 2, dim + 1);
}

static void must(covar_status status, const problem *p)
{
    if (status != COVAR_OK) {
        fprintf(stderr, "%s\n", covar_error_text(p->exec.ctx));
        exit(1);
    }
}

static void fill(la_view x, double (*f)(size_t i, size_t j))
{
    const size_t n = x.dim[x.rank - 1];
    for (size_t e = 0; e < la_view_count(x); e++)
        la_view_set(x, e, f(e / n % n, e % n));
}

/* 1 / (1 + |i - j|) + [i = j]: positive definite (convex in |i - j|), well
 * conditioned, and nowhere so small that f32 computes with denormal numbers,
 * which takes ten times as long. */
static double kernel(size_t i, size_t j)
{
    return 1 / (1 + fabs((double)i - (double)j)) + (i == j);
}

static double wave(size_t i, size_t j)
{
    return sin((double)(i * 7 + j * 3));
}

/* ---- the operators ------------------------------------------------------ */

static void prepare_potrf(problem *p)
{
    fill(matrix(p, p->input), kernel);
    memcpy(p->other, p->input, p->bytes);
}

static void run_potrf(problem *p)
{
    must(la_potrf(&p->exec, matrix(p, p->state), p->info), p);
}

/* A bare dpotrf_ on p->state, whose content is set by the caller. */
static void lapack_potrf(problem *p)
{
    const int n = (int)p->n;
    for (size_t b = 0; b < p->batch; b++) {
        int info;
        if (p->dtype == LA_F64)
            dpotrf_("U", &n, (double *)p->state + b * p->n * p->n, &n, &info,
                    1);
        else
            spotrf_("U", &n, (float *)p->state + b * p->n * p->n, &n, &info, 1);
    }
}

/* other = L, input = an adjoint, for chol_rev; the floor factors `input` with
 * a dominant diagonal, which costs the same. */
static void prepare_rev(problem *p)
{
    fill(matrix(p, p->other), kernel);
    must(la_potrf(&p->exec, matrix(p, p->other), p->info), p);
    fill(matrix(p, p->input), wave);
    const la_view diag = la_view_diag(matrix(p, p->input));
    for (size_t i = 0; i < p->n; i++)
        la_view_set(diag, i, (double)p->n);
}

static void run_rev(problem *p)
{
    must(la_chol_rev(&p->exec, matrix(p, p->other), matrix(p, p->state)), p);
}

/* The state is a factor for ours and, its diagonal being what it is, also
 * positive definite enough for the floor. */
static void prepare_potri(problem *p)
{
    fill(matrix(p, p->input), kernel);
    must(la_potrf(&p->exec, matrix(p, p->input), p->info), p);
    const la_view diag = la_view_diag(matrix(p, p->input));
    for (size_t i = 0; i < p->n; i++)
        la_view_set(diag, i, 3);
}

static void run_potri(problem *p)
{
    must(la_potri(&p->exec, matrix(p, p->state), p->info), p);
}

static void prepare_trsm(problem *p)
{
    prepare_rev(p);
}

static void run_trsm(problem *p)
{
    must(la_trsm(&p->exec, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, 1,
                 matrix(p, p->other), matrix(p, p->state)),
         p);
}

static void blas_trsm(problem *p)
{
    const int n = (int)p->n;
    if (p->dtype == LA_F64)
        row_trsm_f64(LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, n, n, 1,
                     p->other, n, p->state, n);
    else
        row_trsm_f32(LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, n, n, 1,
                     p->other, n, p->state, n);
}

static void run_syrk(problem *p)
{
    must(la_syrk(&p->exec, 1, LA_NO_TRANS, matrix(p, p->other), 0,
                 matrix(p, p->state)),
         p);
}

static void blas_syrk(problem *p)
{
    const int n = (int)p->n;
    if (p->dtype == LA_F64)
        row_syrk_f64(LA_NO_TRANS, n, n, 1, p->other, n, 0, p->state, n);
    else
        row_syrk_f32(LA_NO_TRANS, n, n, 1, p->other, n, 0, p->state, n);
}

/* `other` holds X (n,8), then the work. */
static void prepare_sqdist(problem *p)
{
    for (size_t i = 0; i < 8 * p->n; i++)
        la_view_set(la_view_dense(p->other, p->dtype, 1, &p->bytes), i,
                    wave(i, i / 3));
}

static void run_sqdist(problem *p)
{
    const la_view X = la_view_dense(p->other, p->dtype, 2, (size_t[]){p->n, 8});
    must(la_sqdist(&p->exec, matrix(p, p->state), X, la_view_none(),
                   (char *)p->other + p->bytes / 2),
         p);
}

static void write_once(problem *p)
{
    memset(p->state, 1, p->bytes);
}

static const row rows[] = {
    {"potrf", "potrf", prepare_potrf, run_potrf, lapack_potrf, 1.05},
    {"chol_rev", "potrf", prepare_rev, run_rev, lapack_potrf, 2.3},
    {"potri", "potrf", prepare_potri, run_potri, lapack_potrf, 2.4},
    {"trsm", "trsm", prepare_trsm, run_trsm, blas_trsm, 1.05},
    {"syrk", "syrk", prepare_trsm, run_syrk, blas_syrk, 1.05},
};

static const row distance = {"sqdist",   "write",    prepare_sqdist,
                             run_sqdist, write_once, 2.5};
static const row stack = {"stack potrf", "potrf loop", prepare_potrf,
                          run_potrf,     lapack_potrf, 0.25};

/* ---- measuring ---------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double once(problem *p, runner *run)
{
    memcpy(p->state, p->input, p->bytes);
    const clockid_t clock =
        p->exec.threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const double start = read_clock(clock);
    run(p);
    return read_clock(clock) - start;
}

/* Medians of pairs of runs for about `budget` seconds. */
static void measure(problem *p, const row *r, double budget, double out[2])
{
    enum { MOST = 2001 };
    static double ours[MOST], floor[MOST];
    int count = 0;
    const double end = read_clock(CLOCK_MONOTONIC) + budget;
    once(p, r->ours);
    once(p, r->floor);
    while (count < 5 || (count < MOST && read_clock(CLOCK_MONOTONIC) < end)) {
        ours[count] = once(p, r->ours);
        floor[count++] = once(p, r->floor);
    }
    qsort(ours, (size_t)count, sizeof *ours, compare);
    qsort(floor, (size_t)count, sizeof *floor, compare);
    out[0] = ours[count / 2];
    out[1] = floor[count / 2];
}

static void bench(const row *r, la_exec exec, la_dtype dtype, size_t n,
                  size_t batch, double budget)
{
    static problem p;
    p = (problem){.exec = exec, .dtype = dtype, .n = n, .batch = batch};
    p.bytes = n * n * batch * la_dtype_size(dtype);
    const size_t size = (p.bytes + 127) / 64 * 64;
    p.input = aligned_alloc(64, size);
    p.state = aligned_alloc(64, size);
    p.other = aligned_alloc(64, size);
    if (!p.input || !p.state || !p.other)
        exit(1);
    memset(p.input, 0, size);
    memset(p.other, 0, size);
    r->prepare(&p);
    double median[2];
    measure(&p, r, budget, median);
    const double ratio = median[0] / median[1];
    printf("%-12s %s %5zu %12.1f us %12.1f us  %-10s %6.2f %6.2f%s\n", r->name,
           la_dtype_name(dtype), n, 1e6 * median[0], 1e6 * median[1],
           r->floor_name, ratio, r->bar, ratio > r->bar ? "  above" : "");
    fflush(stdout);
    free(p.input);
    free(p.state);
    free(p.other);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {128, 256, 512, 1024, 2048};
    size_t count = 4;
    covar_context *ctx = covar_context_create();
    la_exec exec = la_exec_cpu(ctx);
    exec.threads = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--full") == 0)
            count = 5;
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            exec.threads = atoi(argv[++i]);
    }
    const int saved = la_blas_enter(exec.threads);
    const char *core = getenv("OPENBLAS_CORETYPE");
    printf("OPENBLAS_CORETYPE=%s, own kernels %s, %d thread(s)\n",
           core ? core : "(unset)", covar_isa_name(covar_context_isa(ctx)),
           exec.threads);
    printf("%-12s %s %5s %15s %15s  %-10s %6s %6s\n", "operator", "dt ", "n",
           "ours", "floor", "floor is", "ratio", "bar");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t s = 0; s < count; s++)
            for (int t = LA_F64; t <= LA_F32; t++)
                bench(rows + r, exec, (la_dtype)t, sizes[s], 1, 0.4);
    for (int t = LA_F64; t <= LA_F32; t++) {
        bench(&distance, exec, (la_dtype)t, 2000, 1, 0.4);
        bench(&stack, exec, (la_dtype)t, 8, 1000, 0.2);
        bench(&stack, exec, (la_dtype)t, 16, 1000, 0.2);
        bench(&stack, exec, (la_dtype)t, 32, 1000, 0.2);
    }
    la_blas_leave(saved);
    covar_context_free(ctx);
    return 0;
}
