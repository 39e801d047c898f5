/* Private to src/gp: what the files of the fit share.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_FIT_IMPL_H
#define COVAR_GP_FIT_IMPL_H

#include "gp_impl.h"

/* ---- Coordinates of the search (space.c) -------------------------------- */

/* The parameters that a fit moves: neither fixed, dropped nor tied. Their free
 * values are shifted by the log of the scale (conditioned coordinates), so
 * that starts are of order one; gradients in logs do not change. */
typedef struct gp_space {
    covar_heap      *heap;
    const gp_params *params; /* borrowed */
    size_t           n;
    size_t          *index;         /* (n) in the table */
    double          *lower, *upper; /* (n) */
    double          *shift;         /* (n): free = x + shift */
} gp_space;

covar_status gp_space_create(gp_space *out, covar_context *ctx,
                             const gp_params *params);
void         gp_space_clear(gp_space *s);

/* x (n) to the free values of the whole table, with fixed ones at their value,
 * ties followed and NaN for dropped entries; and back. */
void gp_space_expand(double *free, const gp_space *s, const double *x);
void gp_space_take(double *x, const gp_space *s, const double *free);

/* Gradient in x from the one in free values: ties add up. */
void gp_space_gradient(double *g, const gp_space *s, const double *grad);

/* ---- Starts (start.c) --------------------------------------------------- */

typedef enum gp_start {
    GP_START_GIVEN, /* what the caller gave, else as GP_START_SHORT */
    GP_START_SHORT,
    GP_START_LONG
} gp_start;

bool gp_start_is_given(const gp_params *p); /* any start by the caller? */

/* Free coordinates x of a deterministic start. */
void gp_start_place(double *x, const gp_space *s, gp_start which);

/* Free coordinates for a point u (n) of the unit cube. */
void gp_start_spread(double *x, const gp_space *s, const double *u);

/* Fills values that have no start, for conditioning without a fit. */
void gp_start_complete(gp_params *p);

/* ---- Checks (fit_check.c) ----------------------------------------------- */

/* Options alone; then whether these rows can determine this model. */
covar_status gp_check_options(covar_context *ctx, const gp_options *options);
covar_status gp_check_data(covar_context *ctx, const gp_data *data,
                           const gp_options *options, const gp_space *space);
covar_status gp_check_noise(covar_context *ctx, const gp_kernel *k,
                            const gp_params *params);
covar_status gp_check_starts(covar_context *ctx, const gp_params *params);

/* ---- One start (search.c) ----------------------------------------------- */

/* What a start came to. */
typedef struct gp_result {
    covar_status status; /* why there is no value */
    double       value;  /* of the maximised objective; NaN: none */
    size_t       level;  /* of the jitter ladder */
    const char  *reason;
} gp_result;

/* The maximised objective over the coordinates of a space, with the jitter
 * ladder. Counters run over all starts. */
typedef struct gp_search {
    covar_context    *ctx;
    gp_problem       *problem; /* borrowed, replaced for all rows */
    const gp_space   *space;
    gp_objective      kind;
    double            jitter[8];
    size_t            n_level;
    ad_optim_options  optim;       /* per start, max_seconds in total */
    double            began;       /* clock at the start of the fit */
    size_t            done, total; /* starts, for progress */
    double            best;        /* value so far, for progress */
    size_t            evaluations, iterations;
    bool              cancelled;   /* also by a progress callback */

    /* of the start that runs */
    size_t  level;
    bool    frozen;  /* the ladder does not rise */
    bool    raised;  /* it has since the minimiser began */
    bool    begun;   /* the minimiser has a first value */
    double  lowest;
    double *low_x;   /* (n) where the lowest value was */
    double *stretch; /* (n): the minimiser moves x * stretch */
    double *point;   /* (n) */
    double *lower, *upper; /* (n) stretched */
    double *free, *grad; /* (P) */
} gp_search;

covar_status gp_search_create(gp_search *out, covar_context *ctx,
                              const gp_space *space, const gp_options *options);
void         gp_search_clear(gp_search *s);
double       gp_clock(void); /* seconds */

/* Value at x from ladder level `level` on; grad (P, free coordinates of the
 * table, priors included) or NULL. A value that does not exist at any level is
 * a NOT_PD, SINGULAR or NUMERIC in result->status and OK as status; *result
 * says which level worked. */
covar_status gp_search_value(gp_result *result, gp_search *s, const double *x,
                             size_t level, double *grad);

/* Maximises from x (in: start, out: best point). Numerical failure of the
 * start goes into result->status; the status is for what ends the fit. */
covar_status gp_search_polish(gp_result *result, gp_search *s, double *x);

/* Tries level 0 once more from x, reached at a higher level. */
covar_status gp_search_without_jitter(gp_result *result, gp_search *s,
                                      double *x);
bool gp_search_is_over(const gp_search *s); /* cancelled or out of time */

/* ---- All starts (multistart.c) ------------------------------------------ */

/* Best point x (n) over all starts, reported in *report. `make` gives the
 * problem of all rows; with more than GP_SUBSET_ROWS rows starts are compared
 * on a random subset first. */
enum { GP_SUBSET_ROWS = 1000, GP_SCREENED = 32 };
typedef struct gp_fit_input {
    const gp_kernel  *kernel;
    const gp_params  *params;
    const gp_data    *data;
    const gp_options *options;
} gp_fit_input;
covar_status gp_multistart(double *x, gp_result *result, gp_search *s,
                           gp_problem **problem, const gp_fit_input *in,
                           gp_report *report);

const char *gp_reason(ad_stop stop); /* as gp_report.reason; report.c */

/* ---- Memory (memory.c) -------------------------------------------------- */

/* Bytes above the input of a fit whose search holds `search` bytes: copies of
 * the rows, then the larger of that and the factor. */
size_t gp_fit_bytes(size_t n, size_t d, size_t p, la_dtype dtype,
                    size_t search);

/* NOMEM, with the bytes, when all rows would need more than options allow or
 * the machine has. `problem` is one of all rows. */
covar_status gp_check_memory(covar_context *ctx, gp_problem *problem,
                             const gp_data *data, const gp_options *options);

#endif
