/* Private: the parts of the bound-constrained L-BFGS minimiser.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Letters of Byrd, Lu, Nocedal, Zhu 1995: the model of f around x is
 *     q(x + z) = f + g'z + z'B z / 2,   B = theta I - W M W',
 *     W = [Y, theta S] (n, 2k),   M^-1 = [-D L'; L theta S'S] (2k, 2k),
 * with the last k pairs s = step and y = change of gradient as columns of S
 * and Y, D = diag(s_i'y_i) and L_ij = s_i'y_j for i > j. */
#ifndef COVAR_OPTIM_IMPL_H
#define COVAR_OPTIM_IMPL_H

#include <covar/optim.h>

/* ---- optim_middle.c: systems with the sign pattern of M^-1 ---- */

/* A factored [-E G'; G H] with E and the Schur complement T = H + G E^-1 G'
 * positive definite; every block is (k, k), row-major. */
typedef struct ad_middle {
    size_t k;
    double *E; /* in: E, then its Cholesky factor, lower */
    double *G;
    double *T; /* in: H, then the factor of T */
} ad_middle;

/* False when E or T is not positive definite to working precision. */
bool ad_middle_factor(ad_middle *mid);

/* Solves in place; v (2k). */
void ad_middle_solve(const ad_middle *mid, double *v);

/* ---- optim_pairs.c: the limited-memory matrix B ---- */

typedef struct ad_pairs {
    size_t n, capacity, count;
    double theta;
    double **s, **y;      /* rows (n), the oldest first */
    double *ss, *sy, *yy; /* (capacity, capacity): s_i's_j, s_i'y_j, y_i'y_j */
    ad_middle M;
} ad_pairs;

/* Forgets all pairs; B = theta I. */
void ad_pairs_reset(ad_pairs *p, double theta);

/* Takes the pair in unless its curvature s'y is not safely positive; false
 * when B had to be reset because the pairs contradict each other. */
bool ad_pairs_push(ad_pairs *p, const double *s, const double *y);

/* out (2k) = W'v. */
void ad_pairs_project(const ad_pairs *p, double *out, const double *v);

/* out (2k) = row i of W. */
void ad_pairs_row(const ad_pairs *p, double *out, size_t i);

/* w_i'v for v (2k): element i of W v. */
double ad_pairs_dot_row(const ad_pairs *p, size_t i, const double *v);

/* ---- optim_cauchy.c and optim_subspace.c: a step of the model ---- */

/* The model at a point, the bounds, and buffers. */
typedef struct ad_model_step {
    const ad_pairs *pairs;
    const double *x, *g;
    const double *lower, *upper;
    double *z;         /* (n) out: the step */
    double *c;         /* (2k) out: W'z of the Cauchy point */
    bool *fixed;       /* (n) out: at a bound */
    double *d, *t;     /* (n) work */
    size_t *heap;      /* (n) work */
    double *p, *q, *u; /* (2k) work */
    ad_middle sub;     /* work */
} ad_model_step;

/* z = first minimiser of q along the projected steepest descent path. */
void ad_model_cauchy(ad_model_step *m);

/* Improves z over the coordinates that the Cauchy point left free; uses up c.
 * False when rounding makes the pairs useless there; z is then unchanged. */
bool ad_model_subspace(ad_model_step *m);

/* ---- optim_line_search.c: the length of the step, no evaluations ---- */

typedef struct ad_trial {
    double a, f, slope; /* f = INFINITY: no value there */
} ad_trial;

typedef enum ad_search_state {
    AD_SEARCH_TRY,    /* evaluate at `a` */
    AD_SEARCH_DONE,   /* the last trial is accepted */
    AD_SEARCH_LOWEST, /* give up, but trial `lo` is lower than the start */
    AD_SEARCH_FAILED  /* give up, nothing lower was found */
} ad_search_state;

typedef struct ad_search {
    ad_trial start, lo, hi;
    bool bracketed;
    double a, a_max;
    double noise; /* values closer than this are equal */
    size_t trials;
} ad_search;

void ad_search_begin(ad_search *s, double f, double slope, double a_first,
                     double a_max);

/* Takes in the value and the slope at s->a. */
ad_search_state ad_search_update(ad_search *s, double f, double slope);

/* ---- optim_common.c ---- */

/* Differences of f below this are not looked at: rounding. */
double ad_optim_noise(double f);

/* Defaults for n coordinates filled in; COVAR_ERR_ARG names what is wrong. */
covar_status ad_optim_options_resolve(ad_optim_options *out, covar_context *ctx,
                                      size_t n,
                                      const ad_optim_options *options);

/* Checks bounds and start, writes the bounds (n each, infinite where there is
 * none) and moves x into them. */
covar_status ad_optim_bounds(double *x, double *lower, double *upper,
                             covar_context *ctx, const ad_problem *problem);

/* Seconds of a clock that never goes back. */
double ad_optim_clock(void);

/* ---- optim_memory.c: all that a run keeps, in one block ---- */

/* A point with everything that is known of it. */
typedef struct ad_optim_point {
    double *x, *g, f;
} ad_optim_point;

typedef struct ad_optim_run {
    covar_context *ctx;
    const ad_problem *problem;
    ad_optim_options options; /* resolved */
    size_t n;
    double *lower, *upper;
    ad_optim_point now, trial, best;
    ad_pairs pairs;
    ad_model_step model;
    double *s, *y;
    size_t iterations, evaluations;
    size_t flat; /* iterations in a row that hardly lowered the value */
    double started;
    bool stopped;
    ad_stop reason;
    void *block;
} ad_optim_run;

/* Points all buffers of a run into one new block; n and options are set. */
covar_status ad_optim_run_alloc(ad_optim_run *run);
void ad_optim_run_free(ad_optim_run *run);

#endif
