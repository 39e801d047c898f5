/* The minimiser: limited-memory BFGS with bounds and capped steps.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One iteration: the quadratic model of optim_impl.h is minimised within the
 * bounds (Cauchy point, then the free coordinates), the step to there is
 * shortened to the cap, a line search goes along it, and the pair (s, y)
 * updates the model. Since the bounds are convex no trial leaves them. The
 * lowest point of all trials is kept apart, whatever the search does.
 * Source: Byrd, Lu, Nocedal, Zhu 1995, algorithm L-BFGS-B; Nocedal & Wright
 * 2006, ch. 7.2. */
#include "config.h"

#include "autodiff/optim_impl.h"

#include <math.h>
#include <string.h>

/* So many iterations in a row without a decrease that counts end a run. One
 * is not enough: near a minimum a step that hardly lowers f may still take
 * most of the gradient away. Measured on GP likelihoods: five more evaluations
 * in fifty, a tenth of the gradient. */
enum { FLAT = 5 };

static void stop(ad_optim_run *run, ad_stop reason)
{
    if (!run->stopped)
        run->reason = reason;
    run->stopped = true;
}

static void copy_point(ad_optim_point *to, const ad_optim_point *from, size_t n)
{
    if (n > 0) {
        memcpy(to->x, from->x, n * sizeof(*to->x));
        memcpy(to->g, from->g, n * sizeof(*to->g));
    }
    to->f = from->f;
}

/* max_i |P(x - g) - x|_i with P the projection onto the bounds. */
static double projected_norm(const ad_optim_run *run, const ad_optim_point *p)
{
    double norm = 0;
    for (size_t i = 0; i < run->n; i++) {
        const double room =
            p->g[i] < 0 ? run->upper[i] - p->x[i] : p->x[i] - run->lower[i];
        norm = fmax(norm, fmin(fabs(p->g[i]), room));
    }
    return norm;
}

/* ---- evaluations ---- */

/* Stops for what the caller asked of time, evaluations and cancelling. */
static void check_limits(ad_optim_run *run)
{
    const ad_optim_options *o = &run->options;
    if (covar_cancelled(run->ctx))
        stop(run, AD_STOP_CANCELLED);
    else if (o->max_evaluations > 0 && run->evaluations >= o->max_evaluations)
        stop(run, AD_STOP_ITERATIONS);
    else if (o->max_seconds > 0 &&
             ad_optim_clock() - run->started >= o->max_seconds)
        stop(run, AD_STOP_SECONDS);
}

static bool means_infinity(covar_status status)
{
    return status == COVAR_ERR_NOT_PD || status == COVAR_ERR_SINGULAR ||
           status == COVAR_ERR_NUMERIC;
}

static bool is_finite(const ad_optim_point *p, size_t n)
{
    bool finite = isfinite(p->f);
    for (size_t i = 0; i < n; i++)
        finite = finite && isfinite(p->g[i]);
    return finite;
}

/* Value and gradient at the trial point; f = +infinity where there is none. */
static covar_status evaluate(ad_optim_run *run)
{
    const ad_problem *p = run->problem;
    ad_optim_point *t = &run->trial;
    const covar_status status = p->eval(&t->f, t->g, t->x, run->n, p->data);
    run->evaluations++;
    if (means_infinity(status))
        covar_error_clear(run->ctx);
    else if (status == COVAR_CANCELLED)
        stop(run, AD_STOP_CANCELLED);
    else if (status != COVAR_OK)
        return status;
    if (status != COVAR_OK || !is_finite(t, run->n))
        t->f = INFINITY;
    if (t->f < run->best.f)
        copy_point(&run->best, t, run->n);
    check_limits(run);
    return COVAR_OK;
}

/* The first evaluation, which has to be finite. */
static covar_status evaluate_start(ad_optim_run *run)
{
    const ad_problem *p = run->problem;
    ad_optim_point *t = &run->now;
    COVAR_TRY(p->eval(&t->f, t->g, t->x, run->n, p->data));
    run->evaluations++;
    if (!isfinite(t->f))
        return covar_fail(run->ctx, COVAR_ERR_NUMERIC,
                          "ad_minimise: the value at the start is %g", t->f);
    for (size_t i = 0; i < run->n; i++) {
        if (!isfinite(t->g[i]))
            return covar_fail(run->ctx, COVAR_ERR_NUMERIC,
                              "ad_minimise: the gradient at the start has "
                              "g[%zu] = %g (x[%zu] = %g, value %g)",
                              i, t->g[i], i, t->x[i], t->f);
    }
    copy_point(&run->best, t, run->n);
    check_limits(run);
    return COVAR_OK;
}

/* ---- one iteration ---- */

/* The longest step that the next iteration may make, in the max norm. */
static double step_cap(const ad_optim_run *run)
{
    return run->iterations > 0 ? run->options.max_step
                               : run->options.first_step;
}

/* B = theta I such that the steepest descent step is at most the cap. */
static void reset_model(ad_optim_run *run)
{
    const double longest = projected_norm(run, &run->now);
    ad_pairs_reset(&run->pairs, fmax(1, longest / step_cap(run)));
}

/* The step z that minimises the model within the bounds, at most `cap` long
 * in the max norm. Returns the slope of f along z; sets the largest multiple
 * of z that bounds and cap allow. */
static double model_step(ad_optim_run *run, double *a_max)
{
    ad_model_step *m = &run->model;
    const double cap = step_cap(run);
    m->x = run->now.x;
    m->g = run->now.g;
    ad_model_cauchy(m);
    if (!ad_model_subspace(m))
        return 0;
    double longest = 0, slope = 0;
    *a_max = INFINITY;
    for (size_t i = 0; i < run->n; i++) {
        const double end = m->z[i] < 0 ? run->lower[i] : run->upper[i];
        longest = fmax(longest, fabs(m->z[i]));
        slope += m->g[i] * m->z[i];
        if (m->z[i] != 0)
            *a_max = fmin(*a_max, (end - m->x[i]) / m->z[i]);
    }
    const double scale = longest > cap ? cap / longest : 1;
    for (size_t i = 0; i < run->n; i++)
        m->z[i] *= scale;
    *a_max = fmax(fmin(*a_max, cap / longest) / scale, 1);
    return slope * scale;
}

static void place_trial(ad_optim_run *run, double a)
{
    for (size_t i = 0; i < run->n; i++) {
        const double x = run->now.x[i] + a * run->model.z[i];
        run->trial.x[i] = fmin(fmax(x, run->lower[i]), run->upper[i]);
    }
}

/* Searches along z; `state` tells whether the trial is the new point. */
static covar_status search(ad_optim_run *run, ad_search_state *state,
                           double slope, double a_max)
{
    ad_search ls;
    ad_search_begin(&ls, run->now.f, slope, 1, a_max);
    *state = AD_SEARCH_TRY;
    while (*state == AD_SEARCH_TRY) {
        place_trial(run, ls.a);
        COVAR_TRY(evaluate(run));
        if (run->stopped)
            return COVAR_OK;
        double along = 0;
        if (isfinite(run->trial.f)) {
            for (size_t i = 0; i < run->n; i++)
                along += run->trial.g[i] * run->model.z[i];
        }
        *state = ad_search_update(&ls, run->trial.f, along);
    }
    if (*state == AD_SEARCH_LOWEST)
        copy_point(&run->trial, &run->best, run->n);
    return COVAR_OK;
}

/* Moves to the trial point, updates the model, stops where it is time. */
static void accept(ad_optim_run *run)
{
    const ad_optim_options *o = &run->options;
    double longest = 0;
    for (size_t i = 0; i < run->n; i++) {
        run->s[i] = run->trial.x[i] - run->now.x[i];
        run->y[i] = run->trial.g[i] - run->now.g[i];
        longest = fmax(longest, fabs(run->s[i]));
    }
    const double lowered = run->now.f - run->trial.f;
    const ad_optim_point old = run->now;
    run->now = run->trial;
    run->trial = old;
    ad_pairs_push(&run->pairs, run->s, run->y);
    if (run->pairs.count == 0)
        reset_model(run);
    const bool flat = lowered <= o->value_tol * fmax(1, fabs(run->now.f));
    run->flat = flat ? run->flat + 1 : 0;
    if (projected_norm(run, &run->now) <= o->gradient_tol)
        stop(run, AD_STOP_GRADIENT);
    else if (run->flat >= FLAT)
        stop(run, AD_STOP_VALUE);
    else if (longest <= o->step_tol)
        stop(run, AD_STOP_STEP);
}

static covar_status iterate(ad_optim_run *run)
{
    double a_max;
    double slope = model_step(run, &a_max);
    if (!(slope < 0) && run->pairs.count > 0) {
        reset_model(run);
        slope = model_step(run, &a_max);
    }
    if (!(slope < 0)) {
        stop(run, AD_STOP_LINE_SEARCH);
        return COVAR_OK;
    }
    ad_search_state state;
    COVAR_TRY(search(run, &state, slope, a_max));
    if (run->stopped)
        return COVAR_OK;
    run->iterations++;
    if (state != AD_SEARCH_FAILED)
        accept(run);
    else if (-slope <= run->options.value_tol * fmax(1, fabs(run->now.f)))
        stop(run, AD_STOP_VALUE); /* f does not resolve what is left */
    else if (run->pairs.count > 0)
        reset_model(run);
    else
        stop(run, AD_STOP_LINE_SEARCH);
    return COVAR_OK;
}

/* ---- the whole ---- */

static void report_progress(ad_optim_run *run)
{
    const covar_progress progress = {
        .task = "ad_minimise",
        .done = run->iterations,
        .total = run->options.max_iterations,
        .value = run->best.f,
        .seconds = ad_optim_clock() - run->started,
    };
    if (covar_report_progress(run->ctx, &progress) == COVAR_CANCELLED)
        stop(run, AD_STOP_CANCELLED);
}

static covar_status minimise(ad_optim_run *run)
{
    COVAR_TRY(evaluate_start(run));
    if (projected_norm(run, &run->now) <= run->options.gradient_tol)
        stop(run, AD_STOP_GRADIENT);
    reset_model(run);
    report_progress(run);
    while (!run->stopped) {
        COVAR_TRY(iterate(run));
        report_progress(run);
        if (run->iterations >= run->options.max_iterations)
            stop(run, AD_STOP_ITERATIONS);
    }
    return COVAR_OK;
}

static bool converged(ad_stop reason)
{
    return reason == AD_STOP_GRADIENT || reason == AD_STOP_VALUE ||
           reason == AD_STOP_STEP;
}

/* The point that is returned is the lowest of all trials; after convergence
 * the last one, with its smaller gradient, if no trial was lower by more than
 * noise. */
static void write_results(double *x, ad_optim_report *report,
                          const ad_optim_run *run)
{
    const bool last = converged(run->reason) &&
                      run->now.f - run->best.f <= ad_optim_noise(run->now.f);
    const ad_optim_point *p = last ? &run->now : &run->best;
    if (run->n > 0)
        memcpy(x, p->x, run->n * sizeof(*x));
    if (report)
        *report = (ad_optim_report){
            .value = p->f,
            .gradient_norm = projected_norm(run, p),
            .iterations = run->iterations,
            .evaluations = run->evaluations,
            .reason = run->reason,
            .seconds = ad_optim_clock() - run->started,
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
    ad_optim_run run = {.ctx = ctx, .problem = problem, .n = problem->n};
    COVAR_TRY(ad_optim_options_resolve(&run.options, ctx, run.n, options));
    run.started = ad_optim_clock();
    COVAR_TRY(ad_optim_run_alloc(&run));
    if (run.n > 0)
        memcpy(run.now.x, x, run.n * sizeof(*x));
    covar_status status =
        ad_optim_bounds(run.now.x, run.lower, run.upper, ctx, problem);
    if (status == COVAR_OK)
        status = minimise(&run);
    if (status == COVAR_OK)
        write_results(x, report, &run);
    ad_optim_run_free(&run);
    return status;
}
