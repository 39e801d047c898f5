/* One start of a fit: L-BFGS on the objective, under the jitter ladder.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ladder: level 0 adds nothing to the diagonal. When a factorisation
 * fails and a higher level works, the level rises for the rest of the start;
 * the objective is then another function, so the minimiser begins anew from
 * the best point, evaluated at the new level. Where no level works the value
 * is -infinity for the line search and the level stays. */
#include "config.h"

#include "fit_impl.h"

#include <math.h>
#include <string.h>
#include <time.h>

double gp_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t gp_jitter_levels(const gp_options *options, double c[8])
{
    static const double f64[] = {0, 1e-12, 1e-10, 1e-8, 1e-6};
    static const double f32[] = {0, 1e-7, 1e-6, 1e-5, 1e-4};
    size_t n = sizeof(f64) / sizeof(f64[0]);
    if (options->jitter == GP_JITTER_AUTO) {
        memcpy(c, options->dtype == LA_F64 ? f64 : f32, sizeof(f64));
        return n;
    }
    c[0] = options->jitter == GP_JITTER_FIXED ? options->jitter_value : 0;
    return 1;
}

void gp_search_clear(gp_search *s)
{
    covar_heap *heap = covar_context_heap(s->ctx);
    covar_heap_free(heap, s->low_x);
    covar_heap_free(heap, s->stretch);
    covar_heap_free(heap, s->free);
    covar_heap_free(heap, s->grad);
    s->low_x = s->stretch = s->free = s->grad = NULL;
}

covar_status gp_search_create(gp_search *out, covar_context *ctx,
                              const gp_space *space, const gp_options *options)
{
    covar_heap *heap = covar_context_heap(ctx);
    size_t n = space->n, n_param = space->params->n;
    *out = (gp_search){.ctx = ctx,
                       .space = space,
                       .kind = options->objective,
                       .optim = ad_optim_options_default(),
                       .best = -INFINITY};
    out->n_level = gp_jitter_levels(options, out->jitter);
    out->optim.max_iterations =
        options->max_iterations > 0 ? options->max_iterations : 500;
    out->optim.max_seconds = options->max_seconds;
    if (options->dtype == LA_F32) { /* values carry about 7 digits */
        out->optim.gradient_tol = 1e-3;
        out->optim.value_tol = 1e-6;
    }
    out->low_x = covar_heap_calloc(heap, n, sizeof(*out->low_x));
    out->free = covar_heap_calloc(heap, n_param, sizeof(*out->free));
    out->grad = covar_heap_calloc(heap, n_param, sizeof(*out->grad));
    out->stretch = covar_heap_calloc(heap, 4 * n, sizeof(*out->stretch));
    if (out->low_x && out->free && out->grad && out->stretch) {
        out->point = out->stretch + n;
        out->lower = out->point + n;
        out->upper = out->lower + n;
        return COVAR_OK;
    }
    gp_search_clear(out);
    return covar_fail_nomem(ctx, "gp_fit");
}

bool gp_search_is_over(const gp_search *s)
{
    double limit = s->optim.max_seconds;
    return s->cancelled || covar_cancelled(s->ctx) ||
           (limit > 0 && gp_clock() - s->began >= limit);
}

/* Failures of the numbers, as opposed to failures of the program. */
static bool is_numerical(covar_status status)
{
    return status == COVAR_ERR_NOT_PD || status == COVAR_ERR_SINGULAR ||
           status == COVAR_ERR_NUMERIC;
}

/* Value (and gradient in s->grad) at s->free and one level. */
static covar_status value_at(gp_search *s, size_t level, double *value,
                             bool gradient)
{
    s->evaluations++;
    double *grad = gradient ? s->grad : NULL;
    COVAR_TRY(gp_problem_eval(s->problem, s->free, s->kind, s->jitter[level],
                              value, grad, NULL));
    if (s->kind == GP_MAP)
        *value += gp_prior_sum(s->space->params, s->free, grad, NULL);
    if (!isfinite(*value))
        return covar_fail(s->ctx, COVAR_ERR_NUMERIC,
                          "gp_fit: the objective is %g", *value);
    return COVAR_OK;
}

/* The lowest level from *level on that works at s->free; *level stays when
 * none does. A NaN or an overflow is not mended by jitter. */
static covar_status value_on_ladder(gp_search *s, size_t *level, double *value,
                                    bool gradient)
{
    size_t last = s->frozen ? *level : s->n_level - 1;
    covar_status status = COVAR_ERR_NOT_PD;
    for (size_t l = *level; l <= last && status == COVAR_ERR_NOT_PD; l++) {
        status = value_at(s, l, value, gradient);
        if (status == COVAR_OK)
            *level = l;
    }
    return status;
}

covar_status gp_search_value(gp_result *result, gp_search *s, const double *x,
                             size_t level, double *grad)
{
    *result =
        (gp_result){.value = (double)NAN, .level = level, .reason = "none"};
    gp_space_expand(s->free, s->space, x);
    covar_status status =
        value_on_ladder(s, &result->level, &result->value, grad != NULL);
    if (grad)
        memcpy(grad, s->grad, s->space->params->n * sizeof(*grad));
    if (status == COVAR_OK || !is_numerical(status))
        return status;
    result->status = status;
    result->value = (double)NAN;
    return COVAR_OK;
}

static covar_status report(gp_search *s)
{
    const covar_progress progress = {.task = "gp_fit",
                                     .done = s->done,
                                     .total = s->total,
                                     .value = s->best,
                                     .seconds = gp_clock() - s->began};
    return covar_report_progress(s->ctx, &progress);
}

/* Stretches the coordinates for a search from x, which becomes x * stretch. A
 * period of c cycles within the data is known to about 1 / c of its value, so
 * its log moves c times as far as the logs of the others. */
static void stretch(gp_search *s, double *x)
{
    const gp_space *space = s->space;
    for (size_t j = 0; j < space->n; j++) {
        const gp_param *p = &space->params->param[space->index[j]];
        bool is_period = p->kind == GP_KIND_PERIOD;
        s->stretch[j] = is_period ? fmax(1, exp(-x[j])) : 1;
        s->lower[j] = space->lower[j] * s->stretch[j];
        s->upper[j] = space->upper[j] * s->stretch[j];
        x[j] *= s->stretch[j];
    }
}

static void unstretch(double *to, const gp_search *s, const double *from)
{
    for (size_t j = 0; j < s->space->n; j++)
        to[j] = from[j] / s->stretch[j];
}

/* -objective for the minimiser. STATE ends it when the level has risen. */
static covar_status evaluate(double *f, double *g, const double *x, size_t n,
                             void *data)
{
    gp_search *s = data;
    size_t level = s->level;
    double value;
    unstretch(s->point, s, x);
    gp_space_expand(s->free, s->space, s->point);
    COVAR_TRY(value_on_ladder(s, &level, &value, true));
    bool risen = level > s->level;
    s->level = level;
    if (risen && s->begun) {
        s->raised = true;
        return COVAR_ERR_STATE;
    }
    s->begun = true;
    *f = -value;
    gp_space_gradient(g, s->space, s->grad);
    for (size_t j = 0; j < n; j++)
        g[j] = -g[j] / s->stretch[j];
    if (*f < s->lowest) {
        s->lowest = *f;
        memcpy(s->low_x, x, n * sizeof(*x));
        s->best = value > s->best ? value : s->best;
    }
    return report(s);
}

/* What is left of the budgets, for one more run of the minimiser. */
static ad_optim_options remaining(const gp_search *s, size_t iterations)
{
    ad_optim_options o = s->optim;
    o.max_iterations -= iterations;
    if (o.max_seconds > 0)
        o.max_seconds =
            fmax(1e-3, s->began + s->optim.max_seconds - gp_clock());
    return o;
}

static covar_status minimise(gp_result *result, gp_search *s, double *x)
{
    const gp_space *space = s->space;
    ad_problem problem = {.n = space->n,
                          .eval = evaluate,
                          .data = s,
                          .lower = s->lower,
                          .upper = s->upper};
    size_t used = 0;
    covar_status status;
    stretch(s, x);
    do {
        ad_optim_report r = {.reason = AD_STOP_ITERATIONS};
        ad_optim_options o = remaining(s, used);
        s->begun = s->raised = false;
        s->lowest = INFINITY;
        status = ad_minimise(&r, s->ctx, &problem, x, &o);
        used += r.iterations;
        if (status == COVAR_CANCELLED) { /* before the first step */
            status = COVAR_OK;
            r = (ad_optim_report){.reason = AD_STOP_CANCELLED};
        }
        result->reason = gp_reason(r.reason);
        s->cancelled = s->cancelled || r.reason == AD_STOP_CANCELLED;
        if (status == COVAR_OK && r.evaluations > 0) {
            result->value = -r.value;
        } else if (isfinite(s->lowest)) { /* ended early: the best so far */
            memcpy(x, s->low_x, space->n * sizeof(*x));
            result->value = -s->lowest;
        }
    } while (status == COVAR_ERR_STATE && s->raised &&
             used < s->optim.max_iterations);
    unstretch(x, s, x);
    s->iterations += used;
    result->level = s->level;
    return status == COVAR_ERR_STATE && s->raised ? COVAR_OK : status;
}

covar_status gp_search_polish(gp_result *result, gp_search *s, double *x)
{
    *result = (gp_result){.value = (double)NAN, .reason = "none"};
    s->level = 0;
    s->frozen = false;
    covar_status status = minimise(result, s, x);
    if (status == COVAR_OK || !is_numerical(status))
        return status;
    result->status = status;
    result->value = (double)NAN;
    covar_error_clear(s->ctx);
    return COVAR_OK;
}

covar_status gp_search_without_jitter(gp_result *result, gp_search *s,
                                      double *x)
{
    if (result->level == 0 || s->n_level == 1)
        return COVAR_OK;
    gp_result again = *result;
    s->level = 0;
    s->frozen = true;
    covar_status status = minimise(&again, s, x);
    s->frozen = false;
    s->level = result->level;
    if (status == COVAR_OK && isfinite(again.value)) {
        *result = again;
        return COVAR_OK;
    }
    if (!is_numerical(status))
        return status;
    covar_error_clear(s->ctx);
    return COVAR_OK;
}
