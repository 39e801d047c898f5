/* Minimisation of a smooth function with bounds, steps under control.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     ad_optim_options o = ad_optim_options_default();
 *     o.max_iterations = 200;
 *     COVAR_TRY(ad_minimise(&report, ctx, &problem, x, &o));
 *
 * Limited-memory BFGS with projected bounds. A value that does not exist (a
 * factorisation that fails) counts as +infinity for the line search. The
 * first step and every later one are capped in the max norm: coordinates are
 * expected to be of order one (logs). No evaluation is outside the bounds. */
#ifndef COVAR_OPTIM_H
#define COVAR_OPTIM_H

#include <covar/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* f(x) and, when g is not NULL, its gradient. A status of COVAR_ERR_NOT_PD,
 * _SINGULAR or _NUMERIC means f = +infinity here, and so does a value or a
 * gradient that is not finite. COVAR_CANCELLED ends the run like covar_cancel.
 * Any other failure stops it and is returned, its sentence untouched. */
typedef covar_status ad_objective_fn(double *f, double *g, const double *x,
                                     size_t n, void *data);

typedef struct ad_problem {
    size_t n;
    ad_objective_fn *eval;
    void *data;
    const double *lower; /* NULL = none; -INFINITY allowed */
    const double *upper;
} ad_problem;

typedef enum ad_stop {
    AD_STOP_GRADIENT, /* projected gradient small */
    AD_STOP_VALUE,    /* relative decrease small */
    AD_STOP_STEP,     /* step small */
    AD_STOP_ITERATIONS,
    AD_STOP_SECONDS,
    AD_STOP_CANCELLED,
    AD_STOP_LINE_SEARCH /* no decrease found; best point returned */
} ad_stop;

typedef struct ad_optim_options {
    size_t max_iterations;  /* 0 = 200 */
    size_t max_evaluations; /* 0 = no limit; reason AD_STOP_ITERATIONS */
    double max_seconds;     /* 0 = no limit */
    double gradient_tol;    /* max norm of the projected gradient; 0 = 1e-5 */
    double value_tol;       /* decrease relative to max(1, |f|) in each of
                               five iterations in a row; 0 = 1e-10 */
    double step_tol;        /* max norm; 0 = 1e-10 */
    double first_step;      /* cap in max norm, first iteration; 0 = 1 */
    double max_step;        /* later; 0 = 2; INFINITY = no cap */
    size_t memory;          /* pairs, at most 1000; 0 = 30, or 10 for more than
                               1000 coordinates */
} ad_optim_options;

typedef struct ad_optim_report {
    double value;
    double gradient_norm; /* projected, max norm */
    size_t iterations, evaluations;
    ad_stop reason;
    double seconds;
} ad_optim_report;

COVAR_API ad_optim_options ad_optim_options_default(void);
COVAR_API const char *ad_stop_name(ad_stop reason); /* "gradient", ... */

/* Minimises from x (n, in: start, moved into the bounds; out: best point).
 * After the reasons gradient, value and step x is the last iterate, at most
 * 1e-10 max(1, |f|) above the lowest value seen; else it is the lowest. x and
 * report (may be NULL) are untouched on failure: the first evaluation must be
 * finite, else its status (COVAR_ERR_NUMERIC for NaN); COVAR_ERR_ARG for
 * bounds that leave no value, a start that is NaN, a negative option. Progress
 * and cancelling go through the context, once an iteration; a cancelled run is
 * COVAR_OK. `options` NULL = defaults. Deterministic. Memory: one block of
 * about (2 memory + 14) n numbers; time of an iteration O(memory^2 n) with
 * active bounds, else O(memory n). Source: Nocedal & Wright 2006, ch. 7.2;
 * Byrd, Lu, Nocedal, Zhu 1995 for bounds. */
COVAR_API COVAR_MUST_CHECK covar_status ad_minimise(
    ad_optim_report *report, covar_context *ctx, const ad_problem *problem,
    double *x, const ad_optim_options *options);

#ifdef __cplusplus
}
#endif

#endif
