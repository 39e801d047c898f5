/* After one warm-up a run allocates nothing, whoever would do it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * malloc, calloc, realloc, the aligned ones and mmap are interposed for the
 * whole process: what BLAS, OpenMP and vector math allocate counts as well as
 * what goes around a context's allocator. */
#include "config.h"

#include "test_autodiff.h"
#include "test_gp_problem.h"

#include <covar/rng.h>

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(SANITIZED)
#define INTERPOSED 1
#else
#define INTERPOSED 0
#endif

static atomic_bool armed;
static atomic_size_t calls;

#if INTERPOSED
static void count(void)
{
    if (atomic_load_explicit(&armed, memory_order_relaxed))
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes)
{
    count();
    return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    count();
    return __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
    count();
    return __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    count();
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    count();
    *out = __libc_memalign(alignment, bytes);
    return *out ? 0 : ENOMEM;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file,
           off_t offset)
{
    count();
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file,
                           offset);
}
#endif

/* Calls made by `run`, the second time and later. */
static size_t allocations(void run(void *data), void *data)
{
    for (int i = 0; i < 3; i++)
        run(data);
    atomic_store(&calls, 0);
    atomic_store(&armed, true);
    for (int i = 0; i < 5; i++)
        run(data);
    atomic_store(&armed, false);
    return atomic_load(&calls);
}

static void allocate(void *data)
{
    void **keep = data;
    free(*keep);
    *keep = malloc(1000);
}

/* The count itself works. */
static void test_counter(void)
{
    void *keep = NULL;
    if (!INTERPOSED)
        CUTAP_SKIP("allocation functions cannot be interposed here");
    TEST_INT(allocations(allocate, &keep), 5);
    free(keep);
}

/* ---- The objective of a GP ---------------------------------------------- */

enum { ROWS = 200, COLUMNS = 3 };

static void evaluate_gp(void *data)
{
    problem_setup *s = data;
    double value, grad[PROBLEM_PARAMS];
    TEST_OK(s->ctx,
            gp_problem_eval(s->problem, s->free, GP_ML, 0, &value, grad, NULL));
}

static void check_gp(int threads)
{
    static double X[ROWS * COLUMNS], y[ROWS];
    covar_rng rng = covar_rng_init(3, 0);
    covar_rng_normal(X, ROWS * COLUMNS, &rng);
    covar_rng_normal(y, ROWS, &rng);
    problem_setup s = problem_begin();
    covar_context_set_threads(s.ctx, threads);
    problem_finish(&s, "matern52(ard) + rbf*periodic(period=1)[0]", .1,
                   la_mat_f64(X, ROWS, COLUMNS), la_vec_f64(y, ROWS));
    const size_t n = allocations(evaluate_gp, &s);
    test_check(n == 0, __FILE__, __LINE__,
               "%zu allocations in 5 evaluations on %d thread(s)", n, threads);
    problem_clear(&s);
}

static void test_gp(void)
{
    if (!INTERPOSED)
        CUTAP_SKIP("allocation functions cannot be interposed here");
    check_gp(1);
    check_gp(2);
}

/* ---- A training step with updates, at changing sizes -------------------- */

typedef struct step {
    fixture f;
    ad_runner *r;
    double X[12 * 4], y[12];
} step;

static void train(void *data)
{
    step *s = data;
    double loss;
    for (size_t n = 4; n <= 12; n += 4)
        TEST_OK(s->f.ctx,
                ad_run(s->r,
                       (la_view[]){la_mat_f64(s->X, n, 4), la_vec_f64(s->y, n)},
                       (la_view[]){la_scalar_f64(&loss)}));
}

static void test_training(void)
{
    if (!INTERPOSED)
        CUTAP_SKIP("allocation functions cannot be interposed here");
    step s = {.f = fixture_create(false)};
    ad_graph *g = s.f.g;
    const double w[4] = {.1, .2, .3, .4};
    covar_rng rng = covar_rng_init(4, 0);
    covar_rng_normal(s.X, NELEM(s.X), &rng);
    covar_rng_normal(s.y, NELEM(s.y), &rng);
    ad_dim n = ad_symbol(g, "n");
    ad_node *X = ad_input(g, "X", LA_F64, 2, (ad_dim[]){n, ad_fixed(4)});
    ad_node *y = ad_input(g, "y", LA_F64, 1, &n);
    ad_node *p = ad_param(g, "w", la_mat_f64(w, 4, 1));
    ad_node *fitted = ad_tanh(ad_squeeze(ad_matmul(X, p), 1));
    ad_node *loss = ad_mean(ad_square(ad_sub(fitted, y)), AD_ALL);
    ad_slot slot[8] = {AD_IN(X), AD_IN(y), AD_OUT(loss)};
    size_t updates;
    TEST_OK(s.f.ctx, ad_adam(slot + 3, &updates, loss, &p, 1, NULL));
    ad_program *program = NULL;
    TEST_OK(s.f.ctx,
            ad_compile(&program, g, &(ad_signature){updates + 3, slot}, NULL));
    TEST_OK(s.f.ctx,
            ad_runner_create(&s.r, program, ad_graph_store(g), s.f.ctx));
    const size_t calls_made = allocations(train, &s);
    test_check(calls_made == 0, __FILE__, __LINE__,
               "%zu allocations in 15 steps", calls_made);
    ad_runner_free(s.r);
    ad_program_free(program);
    fixture_free(&s.f);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"the counter counts", test_counter},
        {"objective of a GP", test_gp},
        {"training step", test_training},
    };
    return CUTAP_RUN("zero_alloc", cases);
}
