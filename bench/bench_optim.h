/* The problems of bench_optim: functions to minimise, with their bounds.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BENCH_OPTIM_H
#define BENCH_OPTIM_H

#include <covar/optim.h>

enum { MOST_COORDINATES = 128 };

typedef struct bench_problem {
    const char *name;
    ad_problem problem;
    double lower[MOST_COORDINATES], upper[MOST_COORDINATES];
    double start[MOST_COORDINATES];
    double known; /* the minimum, NaN if it is not known */
} bench_problem;

/* ---- bench_optim_plain.c: textbook functions ---- */

size_t bench_plain_count(void);
void bench_plain_get(bench_problem *out, size_t i);

/* ---- bench_optim_gp.c: marginal likelihoods ---- */

typedef enum gp_kind { GP_RBF, GP_MATERN52 } gp_kind;

typedef enum gp_scale {
    GP_UNIT_CUBE, /* columns of x to [0, 1] */
    GP_UNIT_SD    /* columns of x to mean 0, standard deviation 1 */
} gp_scale;

typedef struct gp_data {
    size_t n, d;
    double *x, *y; /* x (n, d), y (n) with mean 0 and sd 1 */
} gp_data;

/* Training rows of split 0 of DIR/NAME.h5; false when there is no such file. */
bool gp_data_read(gp_data *out, const char *dir, const char *name,
                  gp_scale scale);
void gp_data_clear(gp_data *data);

typedef struct gp_objective {
    const gp_data *data;
    gp_kind kind;
    double *K, *r2, *alpha; /* work: (n, n), (n, n), (n, 2) */
    size_t failures;        /* calls in which the factorisation failed */
} gp_objective;

bool gp_objective_init(gp_objective *gp, const gp_data *data, gp_kind kind);
void gp_objective_clear(gp_objective *gp);

/* -log p(y); coordinates: log lengthscales (d), log variance, log noise
 * variance. The constant mean is profiled out. */
ad_objective_fn gp_eval;

#endif
