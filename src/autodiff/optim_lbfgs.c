/* The minimiser: limited-memory BFGS with bounds and capped steps.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One iteration: the quadratic model of optim_impl.h is minimised in the box
 * that bounds and step cap leave (Cauchy point, then the free coordinates),
 * a line search goes along that step, the pair (s, y) updates the model.
 * Since the box is convex and holds x, no trial leaves it. The lowest point
 * of all trials is kept apart, whatever the search does.
 * Source: Byrd, Lu, Nocedal, Zhu 1995, algorithm L-BFGS-B; Nocedal & Wright
 * 2006, ch. 7.2. */
#include "config.h"

#include "autodiff/optim_impl.h"
#include "heap.h"

#include <math.h>
#include <string.h>

/* A point with everything that is known of it. */
#ifndef FLAT
#define FLAT 1
#endif
typedef struct point {
    double *x, *g, f;
} point;

typedef struct minimiser {
    covar_context *ctx;
    const ad_problem *problem;
    ad_optim_options options;
    size_t n;
    double *lower, *upper;         /* the bounds */
    double *box_lower, *box_upper; /* and the step cap, of this iteration */
    point now, trial, best;
    ad_pairs pairs;
    ad_model_step model;
    double *s, *y;
    size_t iterations, evaluations;
    size_t flat; /* iterations in a row that hardly lowered the value */
    double started;
    bool stopped;
    ad_stop reason;
} minimiser;

static void stop(minimiser *m, ad_stop reason)
{
    if (!m->stopped)
        m->reason = reason;
    m->stopped = true;
}

static bool finite_all(const double *v, size_t n)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite = finite && isfinite(v[i]);
    return finite;
}

static void copy_point(point *to, const point *from, size_t n)
{
    memcpy(to->x, from->x, n * sizeof(*to->x));
    memcpy(to->g, from->g, n * sizeof(*to->g));
    to->f = from->f;
}

/* Stops for what the caller asked of time, evaluations and cancelling. */
static void check_limits(minimiser *m)
{
    const ad_optim_options *o = &m->options;
    if (covar_cancelled(m->ctx))
        stop(m, AD_STOP_CANCELLED);
    else if (o->max_evaluations > 0 && m->evaluations >= o->max_evaluations)
        stop(m, AD_STOP_ITERATIONS);
    else if (o->max_seconds > 0
             && ad_optim_clock() - m->started >= o->max_seconds)
        stop(m, AD_STOP_SECONDS);
}

static bool means_infinity(covar_status status)
{
    return status == COVAR_ERR_NOT_PD || status == COVAR_ERR_SINGULAR
           || status == COVAR_ERR_NUMERIC;
}

/* Value and gradient at the trial point; f = +infinity where there is none. */
static covar_status evaluate(minimiser *m)
{
    point *t = &m->trial;
    t->f = INFINITY;
    const covar_status status =
        m->problem->eval(&t->f, t->g, t->x, m->n, m->problem->data);
    m->evaluations++;
    if (status == COVAR_CANCELLED) {
        t->f = INFINITY;
        stop(m, AD_STOP_CANCELLED);
        return COVAR_OK;
    }
    if (means_infinity(status))
        covar_error_clear(m->ctx);
    else if (status != COVAR_OK)
        return status;
    if (status != COVAR_OK || !isfinite(t->f) || !finite_all(t->g, m->n))
        t->f = INFINITY;
    if (t->f < m->best.f)
        copy_point(&m->best, t, m->n);
    check_limits(m);
    return COVAR_OK;
}

/* The first evaluation, which has to be finite. */
static covar_status evaluate_start(minimiser *m)
{
    point *t = &m->now;
    COVAR_TRY(m->problem->eval(&t->f, t->g, t->x, m->n, m->problem->data));
    m->evaluations++;
    if (!isfinite(t->f))
        return covar_fail(m->ctx, COVAR_ERR_NUMERIC,
                          "ad_minimise: the value at the start is %g", t->f);
    for (size_t i = 0; i < m->n; i++) {
        if (!isfinite(t->g[i]))
            return covar_fail(m->ctx, COVAR_ERR_NUMERIC,
                              "ad_minimise: the gradient at the start has "
                              "g[%zu] = %g (x[%zu] = %g, value %g)",
                              i, t->g[i], i, t->x[i], t->f);
    }
    copy_point(&m->best, t, m->n);
    check_limits(m);
    return COVAR_OK;
}

static double projected_norm(const minimiser *m, const point *p)
{
    return ad_optim_projected_norm(p->x, p->g, m->lower, m->upper, m->n);
}

/* B = theta I such that the steepest descent step is at most first_step. */
static void reset_model(minimiser *m)
{
    const double longest = projected_norm(m, &m->now);
    ad_pairs_reset(&m->pairs, fmax(1, longest / m->options.first_step));
}

/* Minimises the model in the capped box; returns the slope of f along z. */
static double model_step(minimiser *m)
{
    const double cap = m->pairs.count > 0 ? m->options.max_step
                                          : m->options.first_step;
    for (size_t i = 0; i < m->n; i++) {
        m->box_lower[i] = fmax(m->lower[i], m->now.x[i] - cap);
        m->box_upper[i] = fmin(m->upper[i], m->now.x[i] + cap);
    }
    m->model.x = m->now.x;
    m->model.g = m->now.g;
    ad_model_cauchy(&m->model);
    if (!ad_model_subspace(&m->model))
        return 0;
    double slope = 0;
    for (size_t i = 0; i < m->n; i++)
        slope += m->now.g[i] * m->model.z[i];
    return slope;
}

/* Largest a with x + a z in the capped box. */
static double longest_step(const minimiser *m)
{
    double a = INFINITY;
    for (size_t i = 0; i < m->n; i++) {
        const double z = m->model.z[i];
        const double end = z < 0 ? m->box_lower[i] : m->box_upper[i];
        if (z != 0)
            a = fmin(a, (end - m->now.x[i]) / z);
    }
    return fmax(a, 1);
}

static void place_trial(minimiser *m, double a)
{
    for (size_t i = 0; i < m->n; i++) {
        const double x = m->now.x[i] + a * m->model.z[i];
        m->trial.x[i] = fmin(fmax(x, m->box_lower[i]), m->box_upper[i]);
    }
}

/* Searches along z; `state` tells whether m->trial is the new point. */
static covar_status search(minimiser *m, ad_search_state *state, double slope)
{
    ad_search ls;
    ad_search_begin(&ls, m->now.f, slope, 1, longest_step(m));
    *state = AD_SEARCH_TRY;
    while (*state == AD_SEARCH_TRY) {
        place_trial(m, ls.a);
        COVAR_TRY(evaluate(m));
        if (m->stopped)
            return COVAR_OK;
        double along = 0;
        if (isfinite(m->trial.f)) {
            for (size_t i = 0; i < m->n; i++)
                along += m->trial.g[i] * m->model.z[i];
        }
        *state = ad_search_update(&ls, m->trial.f, along);
    }
    if (*state == AD_SEARCH_LOWEST)
        copy_point(&m->trial, &m->best, m->n);
    return COVAR_OK;
}

/* Moves to the trial point and updates the model. */
static void accept(minimiser *m)
{
    const ad_optim_options *o = &m->options;
    double longest = 0;
    for (size_t i = 0; i < m->n; i++) {
        m->s[i] = m->trial.x[i] - m->now.x[i];
        m->y[i] = m->trial.g[i] - m->now.g[i];
        longest = fmax(longest, fabs(m->s[i]));
    }
    const double lowered = m->now.f - m->trial.f;
    const point old = m->now;
    m->now = m->trial;
    m->trial = old;
    ad_pairs_push(&m->pairs, m->s, m->y);
    if (m->pairs.count == 0)
        reset_model(m);
    const bool flat = lowered <= o->value_tol * fmax(1, fabs(m->now.f));
    m->flat = flat ? m->flat + 1 : 0;
    if (projected_norm(m, &m->now) <= o->gradient_tol)
        stop(m, AD_STOP_GRADIENT);
    else if (m->flat >= FLAT)
        stop(m, AD_STOP_VALUE);
    else if (longest <= o->step_tol)
        stop(m, AD_STOP_STEP);
}

static covar_status iterate(minimiser *m)
{
    double slope = model_step(m);
    if (!(slope < 0) && m->pairs.count > 0) {
        reset_model(m);
        slope = model_step(m);
    }
    if (!(slope < 0)) {
        stop(m, AD_STOP_LINE_SEARCH);
        return COVAR_OK;
    }
    ad_search_state state;
    COVAR_TRY(search(m, &state, slope));
    if (m->stopped)
        return COVAR_OK;
    m->iterations++;
    if (state != AD_SEARCH_FAILED)
        accept(m);
    else if (m->pairs.count > 0)
        reset_model(m);
    else
        stop(m, AD_STOP_LINE_SEARCH);
    return COVAR_OK;
}

static void report_progress(minimiser *m)
{
    const covar_progress progress = {
        .task = "ad_minimise",
        .done = m->iterations,
        .total = m->options.max_iterations,
        .value = m->best.f,
        .seconds = ad_optim_clock() - m->started,
    };
    if (covar_report_progress(m->ctx, &progress) == COVAR_CANCELLED)
        stop(m, AD_STOP_CANCELLED);
}

static covar_status minimise(minimiser *m)
{
    COVAR_TRY(evaluate_start(m));
    if (projected_norm(m, &m->now) <= m->options.gradient_tol)
        stop(m, AD_STOP_GRADIENT);
    reset_model(m);
    report_progress(m);
    while (!m->stopped) {
        COVAR_TRY(iterate(m));
        report_progress(m);
        if (m->iterations >= m->options.max_iterations)
            stop(m, AD_STOP_ITERATIONS);
    }
    return COVAR_OK;
}

/* ---- memory: one block ---- */

/* Hands out parts of a block; with a NULL start it only counts. */
typedef struct arena {
    char *start;
    size_t used;
} arena;

static void *take(arena *a, size_t n, size_t size)
{
    void *p = a->start ? a->start + a->used : NULL;
    a->used += (n * size + 15) / 16 * 16;
    return p;
}

static void take_middle(arena *a, ad_middle *mid, size_t k)
{
    mid->E = take(a, k * k, sizeof(double));
    mid->G = take(a, k * k, sizeof(double));
    mid->T = take(a, k * k, sizeof(double));
}

static void take_point(arena *a, point *p, size_t n)
{
    p->x = take(a, n, sizeof(double));
    p->g = take(a, n, sizeof(double));
}

static void take_pairs(arena *a, ad_pairs *p, size_t n, size_t k)
{
    p->n = n;
    p->capacity = k;
    p->s = take(a, k, sizeof(*p->s));
    p->y = take(a, k, sizeof(*p->y));
    p->ss = take(a, k * k, sizeof(double));
    p->sy = take(a, k * k, sizeof(double));
    p->yy = take(a, k * k, sizeof(double));
    take_middle(a, &p->M, k);
    for (size_t i = 0; i < k; i++) {
        double *s = take(a, n, sizeof(double));
        double *y = take(a, n, sizeof(double));
        if (a->start) {
            p->s[i] = s;
            p->y[i] = y;
        }
    }
}

static void take_all(arena *a, minimiser *m)
{
    const size_t n = m->n, k = m->options.memory;
    ad_model_step *z = &m->model;
    take_point(a, &m->now, n);
    take_point(a, &m->trial, n);
    take_point(a, &m->best, n);
    m->lower = take(a, n, sizeof(double));
    m->upper = take(a, n, sizeof(double));
    m->box_lower = take(a, n, sizeof(double));
    m->box_upper = take(a, n, sizeof(double));
    m->s = take(a, n, sizeof(double));
    m->y = take(a, n, sizeof(double));
    take_pairs(a, &m->pairs, n, k);
    z->pairs = &m->pairs;
    z->lower = m->box_lower;
    z->upper = m->box_upper;
    z->z = take(a, n, sizeof(double));
    z->d = take(a, n, sizeof(double));
    z->t = take(a, n, sizeof(double));
    z->heap = take(a, n, sizeof(*z->heap));
    z->fixed = take(a, n, sizeof(*z->fixed));
    z->c = take(a, 2 * k, sizeof(double));
    z->p = take(a, 2 * k, sizeof(double));
    z->q = take(a, 2 * k, sizeof(double));
    z->u = take(a, 2 * k, sizeof(double));
    take_middle(a, &z->sub, k);
}

static void write_results(double *x, ad_optim_report *report,
                          const minimiser *m)
{
    const bool here = m->now.f <= m->best.f + ad_optim_noise(m->best.f);
    const point *p = here ? &m->now : &m->best;
    if (m->n > 0)
        memcpy(x, p->x, m->n * sizeof(*x));
    if (report)
        *report = (ad_optim_report){
            .value = p->f,
            .gradient_norm = projected_norm(m, p),
            .iterations = m->iterations,
            .evaluations = m->evaluations,
            .reason = m->reason,
            .seconds = ad_optim_clock() - m->started,
        };
}

covar_status ad_minimise(ad_optim_report *report, covar_context *ctx,
                         const ad_problem *problem, double *x,
                         const ad_optim_options *options)
{
    if (!ctx)
        return COVAR_ERR_ARG;
    if (!problem || !problem->eval || (!x && problem->n > 0))
        return covar_fail(ctx, COVAR_ERR_ARG, "ad_minimise: %s is NULL",
                          !problem         ? "problem"
                          : !problem->eval ? "problem->eval"
                                           : "x");
    minimiser m = {.ctx = ctx, .problem = problem, .n = problem->n};
    COVAR_TRY(ad_optim_options_resolve(&m.options, ctx, options));
    m.started = ad_optim_clock();
    covar_heap *heap = covar_context_heap(ctx);
    arena a = {0};
    take_all(&a, &m);
    a.start = covar_heap_alloc(heap, a.used, 1);
    if (!a.start)
        return covar_fail_nomem(ctx, "ad_minimise");
    a.used = 0;
    take_all(&a, &m);
    if (m.n > 0)
        memcpy(m.now.x, x, m.n * sizeof(*x));
    covar_status status =
        ad_optim_bounds(m.now.x, m.lower, m.upper, ctx, problem);
    if (status == COVAR_OK)
        status = minimise(&m);
    if (status == COVAR_OK)
        write_results(x, report, &m);
    covar_heap_free(heap, a.start);
    return status;
}
