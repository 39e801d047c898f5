/* The minimiser: minima, bounds, missing values, stops, failures.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file is longer than 400 lines: its cases share one fixture. */
#include "config.h"

#include <covar/optim.h>
#include <covar/rng.h>
#include "test_util.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 200 };

/* ---- objectives ---- */

/* An objective with a record of its use; `inner` is what is minimised. */
typedef struct watch {
    covar_context *ctx;
    ad_objective_fn *inner;
    const double *lower, *upper;
    size_t calls;
    double lowest;     /* of all finite values */
    double last[MOST]; /* where the last call was */
    double base[MOST]; /* where it was at the last progress report */
    double longest;    /* distance of a call from base, max norm */
    size_t outside;    /* calls outside the bounds */
    size_t fail_at;    /* this call returns `failure` */
    covar_status failure;
    size_t cancel_at; /* this call asks to stop */
    size_t reports, stop_at_report;
    double reported; /* value of the last report */
} watch;

static covar_status watched(double *f, double *g, const double *x, size_t n,
                            void *data)
{
    watch *w = data;
    w->calls++;
    for (size_t i = 0; i < n; i++) {
        const bool low = w->lower && x[i] < w->lower[i];
        w->outside += low || (w->upper && x[i] > w->upper[i]);
        if (w->calls > 1)
            w->longest = fmax(w->longest, fabs(x[i] - w->base[i]));
        w->last[i] = x[i];
    }
    if (w->calls == w->fail_at)
        return covar_fail(w->ctx, w->failure, "call %zu went wrong", w->calls);
    if (w->calls == w->cancel_at)
        covar_cancel(w->ctx);
    covar_status status = w->inner(f, g, x, n, NULL);
    if (status == COVAR_OK && isfinite(*f))
        w->lowest = fmin(w->lowest, *f);
    return status;
}

static bool on_progress(const covar_progress *p, void *data)
{
    watch *w = data;
    memcpy(w->base, w->last, sizeof(w->base));
    w->reports++;
    w->reported = p->value;
    return w->reports != w->stop_at_report;
}

static covar_status rosenbrock(double *f, double *g, const double *x, size_t n,
                               void *data)
{
    (void)data;
    *f = 0;
    for (size_t i = 0; g && i < n; i++)
        g[i] = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        *f += 100 * a * a + b * b;
        if (g) {
            g[i] += -400 * a * x[i] - 2 * b;
            g[i + 1] += 200 * a;
        }
    }
    return COVAR_OK;
}

/* sum (i + 1) (x_i - 1)^2 / 2, plus 3 */
static covar_status bowl(double *f, double *g, const double *x, size_t n,
                         void *data)
{
    (void)data;
    *f = 3;
    for (size_t i = 0; i < n; i++) {
        const double c = (double)(i + 1), e = x[i] - 1;
        *f += 0.5 * c * e * e;
        if (g)
            g[i] = c * e;
    }
    return COVAR_OK;
}

/* sum x_i - log x_i, without a value for x_i <= 0: minimum n at 1. */
static covar_status barrier_with(double *f, double *g, const double *x,
                                 size_t n, covar_status outside)
{
    *f = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0)) {
            *f = NAN;
            return outside;
        }
        *f += x[i] - log(x[i]);
        if (g)
            g[i] = 1 - 1 / x[i];
    }
    return COVAR_OK;
}

static covar_status barrier_not_pd(double *f, double *g, const double *x,
                                   size_t n, void *data)
{
    (void)data;
    return barrier_with(f, g, x, n, COVAR_ERR_NOT_PD);
}

static covar_status barrier_singular(double *f, double *g, const double *x,
                                     size_t n, void *data)
{
    (void)data;
    return barrier_with(f, g, x, n, COVAR_ERR_SINGULAR);
}

static covar_status barrier_numeric(double *f, double *g, const double *x,
                                    size_t n, void *data)
{
    (void)data;
    return barrier_with(f, g, x, n, COVAR_ERR_NUMERIC);
}

static covar_status barrier_nan(double *f, double *g, const double *x, size_t n,
                                void *data)
{
    (void)data;
    return barrier_with(f, g, x, n, COVAR_OK);
}

/* A finite value with a gradient that is not. */
static covar_status barrier_nan_gradient(double *f, double *g, const double *x,
                                         size_t n, void *data)
{
    (void)data;
    covar_status status = barrier_with(f, g, x, n, COVAR_OK);
    if (isnan(*f)) {
        *f = 1e3;
        for (size_t i = 0; g && i < n; i++)
            g[i] = NAN;
    }
    return status;
}

static covar_status falling(double *f, double *g, const double *x, size_t n,
                            void *data)
{
    (void)data;
    *f = 0;
    for (size_t i = 0; i < n; i++) {
        *f -= x[i];
        if (g)
            g[i] = -1;
    }
    return COVAR_OK;
}

/* The gradient has the wrong sign: no step goes down. */
static covar_status wrong_gradient(double *f, double *g, const double *x,
                                   size_t n, void *data)
{
    COVAR_TRY(bowl(f, g, x, n, data));
    for (size_t i = 0; g && i < n; i++)
        g[i] = -g[i];
    return COVAR_OK;
}

/* ---- running one ---- */

typedef struct run {
    watch w;
    covar_context *ctx;
    ad_optim_report r;
    double x[MOST], lower[MOST], upper[MOST];
    covar_status status;
} run;

static run run_begin(ad_objective_fn *inner, size_t n, double start)
{
    run t = {.ctx = test_context()};
    t.w = (watch){.inner = inner, .lowest = INFINITY};
    for (size_t i = 0; i < n; i++) {
        t.x[i] = start;
        t.lower[i] = -INFINITY;
        t.upper[i] = INFINITY;
    }
    return t;
}

static void run_go(run *t, size_t n, const ad_optim_options *options)
{
    t->w.ctx = t->ctx;
    t->w.lower = t->lower;
    t->w.upper = t->upper;
    covar_context_set_progress(t->ctx, on_progress, &t->w);
    const ad_problem p = {
        .n = n,
        .eval = watched,
        .data = &t->w,
        .lower = t->lower,
        .upper = t->upper,
    };
    t->status = ad_minimise(&t->r, t->ctx, &p, t->x, options);
}

/* What holds after every successful run. */
static void run_check(run *t, ad_stop reason)
{
    TEST_OK(t->ctx, t->status);
    TEST_TEXT(ad_stop_name(t->r.reason), ad_stop_name(reason));
    TEST_INT(t->r.evaluations, t->w.calls);
    TEST_INT(t->w.outside, 0);
    TEST_CLOSE(t->r.value, t->w.lowest, reason <= AD_STOP_STEP ? 1e-10 : 0);
    CU_ASSERT_TRUE(t->r.seconds >= 0);
}

static void run_end(run *t)
{
    covar_context_free(t->ctx);
}

/* ---- minima and bounds ---- */

static void test_rosenbrock(void)
{
    static const size_t sizes[] = {2, 3, 10, 100};
    for (size_t k = 0; k < NELEM(sizes); k++) {
        run t = run_begin(rosenbrock, sizes[k], 1);
        for (size_t i = 0; i < sizes[k]; i += 2)
            t.x[i] = k == 3 ? 0.8 : -1.2;
        run_go(&t, sizes[k], &(ad_optim_options){.max_iterations = 1000});
        run_check(&t, AD_STOP_GRADIENT);
        /* From three coordinates on there is a second local minimum. */
        CU_ASSERT_TRUE(t.r.value < 1e-8 || fabs(t.r.value - 4) < 0.2);
        if (t.r.value < 1e-8)
            TEST_CLOSE(t.x[0], 1, 1e-4);
        run_end(&t);
    }
}

static void test_bowl_sizes(void)
{
    static const size_t sizes[] = {1, 2, 9, 10, 11, 31, 200};
    for (size_t k = 0; k < NELEM(sizes); k++) {
        run t = run_begin(bowl, sizes[k], -3);
        run_go(&t, sizes[k], NULL);
        run_check(&t, AD_STOP_GRADIENT);
        TEST_CLOSE(t.r.value, 3, 1e-9);
        for (size_t i = 0; i < sizes[k]; i++)
            TEST_CLOSE(t.x[i], 1, 1e-4);
        run_end(&t);
    }
}

static void test_no_coordinates(void)
{
    run t = run_begin(bowl, 0, 0);
    const ad_problem p = {.eval = bowl};
    TEST_OK(t.ctx, ad_minimise(&t.r, t.ctx, &p, NULL, NULL));
    TEST_CLOSE(t.r.value, 3, 0);
    TEST_TEXT(ad_stop_name(t.r.reason), "gradient");
    TEST_INT(t.r.evaluations, 1);
    TEST_INT(t.r.iterations, 0);
    TEST_CLOSE(t.r.gradient_norm, 0, 0);
    run_end(&t);
}

/* Minimum of Rosenbrock with x_0 <= 1/2: (1/2, 1/4), value 1/4. */
static void test_bound_active_at_the_solution(void)
{
    run t = run_begin(rosenbrock, 2, -1.2);
    t.upper[0] = 0.5;
    run_go(&t, 2, NULL);
    run_check(&t, AD_STOP_GRADIENT);
    CU_ASSERT_EQUAL(t.x[0], 0.5);
    TEST_CLOSE(t.x[1], 0.25, 1e-6);
    TEST_CLOSE(t.r.value, 0.25, 1e-10);
    run_end(&t);
}

/* A convex quadratic with coupled coordinates in a box: the conditions of
 * Karush, Kuhn and Tucker, whatever the start. */
static double coupled_matrix[MOST];

static covar_status coupled(double *f, double *g, const double *x, size_t n,
                            void *data)
{
    (void)data;
    const double *a = coupled_matrix;
    double along = 0;
    for (size_t i = 0; i < n; i++)
        along += a[i] * x[i];
    *f = 50 * along * along;
    for (size_t i = 0; i < n; i++) {
        const double c = 1 + (double)(i % 7);
        *f += 0.5 * c * x[i] * x[i] - 4 * a[n - 1 - i] * x[i];
        if (g)
            g[i] = 100 * along * a[i] + c * x[i] - 4 * a[n - 1 - i];
    }
    return COVAR_OK;
}

static void test_random_boxes(void)
{
    enum { N = 24 };
    covar_rng rng = covar_rng_init(11, 0);
    size_t at_bound = 0, inside = 0;
    for (size_t k = 0; k < 30; k++) {
        run t = run_begin(coupled, N, 0);
        double u[3 * N];
        covar_rng_normal(coupled_matrix, N, &rng);
        covar_rng_uniform(u, 3 * N, &rng);
        for (size_t i = 0; i < N; i++) {
            t.lower[i] = i % 5 == 0 ? -INFINITY : -u[i];
            t.upper[i] = i % 5 == 1 ? INFINITY : u[N + i];
            t.x[i] = 6 * u[2 * N + i] - 3; /* often outside */
        }
        run_go(&t, N, NULL);
        TEST_OK(t.ctx, t.status);
        TEST_INT(t.w.outside, 0);
        test_check(t.r.gradient_norm < 2e-4, __FILE__, __LINE__,
                   "box %zu: projected gradient %g, reason %s", k,
                   t.r.gradient_norm, ad_stop_name(t.r.reason));
        for (size_t i = 0; i < N; i++) {
            const bool end = t.x[i] == t.lower[i] || t.x[i] == t.upper[i];
            at_bound += end;
            inside += !end;
        }
        run_end(&t);
    }
    CU_ASSERT_TRUE(at_bound > 100 && inside > 100);
}

static void test_fixed_coordinates(void)
{
    run t = run_begin(bowl, 3, 0);
    t.lower[1] = t.upper[1] = 0.25;
    run_go(&t, 3, NULL);
    run_check(&t, AD_STOP_GRADIENT);
    CU_ASSERT_EQUAL(t.x[1], 0.25);
    TEST_CLOSE(t.x[0], 1, 1e-5);
    TEST_CLOSE(t.x[2], 1, 1e-5);
    for (size_t i = 0; i < 3; i++)
        t.lower[i] = t.upper[i] = (double)i;
    run_go(&t, 3, NULL);
    TEST_OK(t.ctx, t.status);
    TEST_TEXT(ad_stop_name(t.r.reason), "gradient");
    CU_ASSERT_EQUAL(t.x[2], 2);
    run_end(&t);
}

static void test_start_is_moved_into_the_bounds(void)
{
    run t = run_begin(bowl, 3, 0);
    const double start[] = {-1e9, INFINITY, 0.5};
    for (size_t i = 0; i < 3; i++) {
        t.x[i] = start[i];
        t.lower[i] = -2;
        t.upper[i] = 2;
    }
    run_go(&t, 3, NULL);
    run_check(&t, AD_STOP_GRADIENT);
    TEST_CLOSE(t.r.value, 3, 1e-9);
    run_end(&t);
}

static void test_steps_are_capped(void)
{
    /* A slope of 1e8 must not throw the first point far away. */
    run t = run_begin(rosenbrock, 2, -20);
    run_go(&t, 2, &(ad_optim_options){.max_iterations = 1});
    CU_ASSERT_TRUE(t.w.longest <= 1 + 1e-12);
    run_end(&t);
    t = run_begin(falling, 4, 0);
    t.upper[2] = 7;
    run_go(&t, 4, &(ad_optim_options){.max_iterations = 20});
    run_check(&t, AD_STOP_ITERATIONS);
    CU_ASSERT_TRUE(t.w.longest <= 2 + 1e-12 && t.w.longest > 1);
    CU_ASSERT_EQUAL(t.x[2], 7);
    run_end(&t);
    t = run_begin(falling, 1, 0);
    run_go(&t, 1,
           &(ad_optim_options){
               .max_iterations = 5, .first_step = 0.125, .max_step = 0.25});
    CU_ASSERT_TRUE(t.w.longest <= 0.25);
    TEST_CLOSE(t.x[0], 0.125 + 4 * 0.25, 1e-12);
    run_end(&t);
}

/* ---- no value ---- */

static void test_infinite_regions(void)
{
    static ad_objective_fn *const all[] = {
        barrier_not_pd, barrier_singular,     barrier_numeric,
        barrier_nan,    barrier_nan_gradient,
    };
    for (size_t k = 0; k < NELEM(all); k++) {
        for (double start = 1e-3; start < 1000; start *= 7) {
            run t = run_begin(all[k], 3, start);
            t.x[1] = 1.5;
            run_go(&t, 3, &(ad_optim_options){.max_step = 50});
            run_check(&t, AD_STOP_GRADIENT);
            TEST_CLOSE(t.r.value, 3, 1e-9);
            TEST_TEXT(covar_error_text(t.ctx), "");
            run_end(&t);
        }
    }
}

static void test_first_value_must_exist(void)
{
    run t = run_begin(bowl, 2, 0);
    t.w.fail_at = 1;
    t.w.failure = COVAR_ERR_NOT_PD;
    run_go(&t, 2, NULL);
    TEST_STATUS(t.ctx, t.status, COVAR_ERR_NOT_PD);
    TEST_TEXT(covar_error_text(t.ctx), "call 1 went wrong");
    run_end(&t);
    t = run_begin(barrier_nan, 2, -1);
    run_go(&t, 2, NULL);
    TEST_STATUS(t.ctx, t.status, COVAR_ERR_NUMERIC);
    TEST_CONTAINS(covar_error_text(t.ctx), "nan");
    run_end(&t);
    t = run_begin(barrier_nan_gradient, 2, -1);
    run_go(&t, 2, NULL);
    TEST_STATUS(t.ctx, t.status, COVAR_ERR_NUMERIC);
    TEST_CONTAINS(covar_error_text(t.ctx), "g[0] = ");
    run_end(&t);
}

static void test_other_failures_stop(void)
{
    static const covar_status codes[] = {COVAR_ERR_IO, COVAR_ERR_NOMEM,
                                         COVAR_ERR_DEVICE, COVAR_BUSY};
    for (size_t k = 0; k < NELEM(codes); k++) {
        for (size_t at = 1; at < 6; at++) {
            run t = run_begin(rosenbrock, 2, -1);
            t.w.fail_at = at;
            t.w.failure = codes[k];
            t.r.value = 77;
            run_go(&t, 2, NULL);
            TEST_STATUS(t.ctx, t.status, codes[k]);
            TEST_CONTAINS(covar_error_text(t.ctx), "went wrong");
            TEST_INT(t.w.calls, at);
            CU_ASSERT_EQUAL(t.r.value, 77);
            CU_ASSERT_EQUAL(t.x[0], -1);
            run_end(&t);
        }
    }
}

/* ---- reasons to stop ---- */

static void test_stops(void)
{
    static const struct {
        ad_objective_fn *f;
        ad_optim_options o;
        ad_stop reason;
    } cases[] = {
        {rosenbrock, {.gradient_tol = 1e-2}, AD_STOP_GRADIENT},
        {rosenbrock, {.value_tol = 1e9}, AD_STOP_VALUE},
        {rosenbrock, {.step_tol = 1e-2}, AD_STOP_STEP},
        {rosenbrock, {.max_iterations = 3}, AD_STOP_ITERATIONS},
        {rosenbrock, {.max_evaluations = 5}, AD_STOP_ITERATIONS},
        {rosenbrock, {.max_evaluations = 1}, AD_STOP_ITERATIONS},
        {rosenbrock, {.max_seconds = 1e-9}, AD_STOP_SECONDS},
        {wrong_gradient, {0}, AD_STOP_LINE_SEARCH},
    };
    for (size_t k = 0; k < NELEM(cases); k++) {
        run t = run_begin(cases[k].f, 2, -1.2);
        run_go(&t, 2, &cases[k].o);
        run_check(&t, cases[k].reason);
        const size_t most = cases[k].o.max_evaluations;
        CU_ASSERT_TRUE(most == 0 || t.r.evaluations == most);
        run_end(&t);
    }
    TEST_TEXT(ad_stop_name((ad_stop)99), "unknown");
}

static void test_start_at_the_minimum(void)
{
    run t = run_begin(rosenbrock, 5, 1);
    run_go(&t, 5, NULL);
    run_check(&t, AD_STOP_GRADIENT);
    TEST_INT(t.r.evaluations, 1);
    TEST_INT(t.r.iterations, 0);
    run_end(&t);
}

/* Values beyond 1e-16 relative are noise: it must stop by itself. */
static covar_status large_offset(double *f, double *g, const double *x,
                                 size_t n, void *data)
{
    COVAR_TRY(rosenbrock(f, g, x, n, data));
    *f += 1e9;
    return COVAR_OK;
}

static void test_rounding_noise(void)
{
    run t = run_begin(large_offset, 4, -1.2);
    run_go(&t, 4,
           &(ad_optim_options){.value_tol = 1e-300,
                               .step_tol = 1e-300,
                               .gradient_tol = 1e-300});
    TEST_OK(t.ctx, t.status);
    CU_ASSERT_TRUE(t.r.evaluations < 200);
    CU_ASSERT_TRUE(t.r.value <= 1e9 + 1e-5);
    run_end(&t);
}

/* ---- stopping from outside ---- */

static void test_cancel(void)
{
    for (size_t at = 1; at < 22; at += 4) {
        run t = run_begin(rosenbrock, 2, -1.2);
        t.w.stop_at_report = at;
        run_go(&t, 2, NULL);
        run_check(&t, AD_STOP_CANCELLED);
        TEST_INT(t.w.reports, at);
        TEST_CLOSE(t.w.reported, t.r.value, 1e-12);
        run_end(&t);
        t = run_begin(rosenbrock, 2, -1.2);
        t.w.cancel_at = at;
        run_go(&t, 2, NULL);
        run_check(&t, AD_STOP_CANCELLED);
        TEST_INT(t.w.calls, at);
        CU_ASSERT_TRUE(covar_cancelled(t.ctx));
        run_end(&t);
        t = run_begin(rosenbrock, 2, -1.2);
        t.w.fail_at = at + 1;
        t.w.failure = COVAR_CANCELLED;
        run_go(&t, 2, NULL);
        run_check(&t, AD_STOP_CANCELLED);
        run_end(&t);
    }
}

/* ---- arguments ---- */

static void test_bad_bounds(void)
{
    static const double pairs[][2] = {
        {2, 1}, {NAN, 1}, {0, NAN}, {INFINITY, INFINITY}};
    for (size_t k = 0; k < NELEM(pairs); k++) {
        run t = run_begin(bowl, 3, 0);
        t.lower[2] = pairs[k][0];
        t.upper[2] = pairs[k][1];
        run_go(&t, 3, NULL);
        TEST_STATUS(t.ctx, t.status, COVAR_ERR_ARG);
        TEST_CONTAINS(covar_error_text(t.ctx), "lower[2]");
        TEST_INT(t.w.calls, 0);
        run_end(&t);
    }
    run t = run_begin(bowl, 3, 0);
    t.x[1] = NAN;
    run_go(&t, 3, NULL);
    TEST_STATUS(t.ctx, t.status, COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(t.ctx), "x[1]");
    t.x[1] = INFINITY;
    run_go(&t, 3, NULL);
    TEST_STATUS(t.ctx, t.status, COVAR_ERR_ARG);
    run_end(&t);
}

static void test_bad_options(void)
{
    const ad_optim_options bad[] = {
        {.gradient_tol = -1}, {.value_tol = NAN}, {.step_tol = -1},
        {.first_step = -1},   {.max_step = NAN},  {.max_seconds = -1},
        {.memory = 5000},
    };
    static const char *const names[] = {
        "gradient_tol", "value_tol",   "step_tol", "first_step",
        "max_step",     "max_seconds", "memory",
    };
    for (size_t k = 0; k < NELEM(bad); k++) {
        run t = run_begin(bowl, 1, 0);
        run_go(&t, 1, &bad[k]);
        TEST_STATUS(t.ctx, t.status, COVAR_ERR_ARG);
        TEST_CONTAINS(covar_error_text(t.ctx), names[k]);
        run_end(&t);
    }
}

static void test_null_arguments(void)
{
    covar_context *ctx = test_context();
    double x[1] = {0};
    const ad_problem p = {.n = 1, .eval = bowl}, none = {.n = 1};
    ad_optim_report r;
    TEST_STATUS(ctx, ad_minimise(&r, ctx, NULL, x, NULL), COVAR_ERR_ARG);
    TEST_STATUS(ctx, ad_minimise(&r, ctx, &none, x, NULL), COVAR_ERR_ARG);
    TEST_STATUS(ctx, ad_minimise(&r, ctx, &p, NULL, NULL), COVAR_ERR_ARG);
    TEST_STATUS(ctx, ad_minimise(&r, NULL, &p, x, NULL), COVAR_ERR_ARG);
    TEST_OK(ctx, ad_minimise(NULL, ctx, &p, x, NULL));
    TEST_CLOSE(x[0], 1, 1e-5);
    covar_context_free(ctx);
}

/* A number of coordinates whose bytes do not fit a size_t. */
static void test_too_large(void)
{
    covar_context *ctx = test_context();
    double x[1] = {0};
    const ad_problem p = {.n = SIZE_MAX / 20, .eval = bowl};
    TEST_STATUS(ctx, ad_minimise(NULL, ctx, &p, x, NULL), COVAR_ERR_NOMEM);
    covar_context_free(ctx);
}

/* ---- memory and repetition ---- */

static covar_status sweep_body(covar_context *ctx, void *data)
{
    (void)data;
    double x[10] = {0};
    const ad_problem p = {.n = 10, .eval = rosenbrock};
    return ad_minimise(NULL, ctx, &p, x, NULL);
}

static void test_allocation_failures(void)
{
    TEST_INT(test_allocation_sweep("ad_minimise", sweep_body, NULL), 1);
}

static void test_deterministic(void)
{
    run a = run_begin(rosenbrock, 40, -1.2), b = a;
    b.ctx = test_context();
    run_go(&a, 40, NULL);
    run_go(&b, 40, NULL);
    TEST_SAME_BITS(a.x, b.x, 40, sizeof(double));
    TEST_SAME_BITS(&a.r.value, &b.r.value, 1, sizeof(double));
    TEST_INT(a.r.evaluations, b.r.evaluations);
    run_end(&a);
    run_end(&b);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"Rosenbrock", test_rosenbrock},
        {"sizes 1 to 200", test_bowl_sizes},
        {"no coordinates", test_no_coordinates},
        {"bound active at the solution", test_bound_active_at_the_solution},
        {"random boxes", test_random_boxes},
        {"fixed coordinates", test_fixed_coordinates},
        {"start outside the bounds", test_start_is_moved_into_the_bounds},
        {"steps are capped", test_steps_are_capped},
        {"regions without a value", test_infinite_regions},
        {"no value at the start", test_first_value_must_exist},
        {"other failures stop", test_other_failures_stop},
        {"every reason to stop", test_stops},
        {"start at the minimum", test_start_at_the_minimum},
        {"rounding noise", test_rounding_noise},
        {"cancelling", test_cancel},
        {"bad bounds and starts", test_bad_bounds},
        {"bad options", test_bad_options},
        {"NULL arguments", test_null_arguments},
        {"too many coordinates", test_too_large},
        {"allocation failures", test_allocation_failures},
        {"deterministic", test_deterministic},
    };
    return CUTAP_RUN("autodiff_optim", cases);
}
