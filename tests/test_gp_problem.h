/* A gp_problem made from a kernel's text, for tests of objectives.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     problem_setup s = problem_begin();
 *     s.options.mean = GP_MEAN_ZERO;
 *     problem_finish(&s, "1.3*rbf(lengthscale=0.8)", .05, X, y);
 *     TEST_CLOSE(problem_value(&s, GP_ML, 0), lml, 1e-10);
 *     problem_clear(&s); */
#ifndef TEST_GP_PROBLEM_H
#define TEST_GP_PROBLEM_H

#include "gp/fit_impl.h"

enum { PROBLEM_PARAMS = 16 };

/* A problem made from a kernel's text, with values set by name. */
typedef struct problem_setup {
    covar_context *ctx;
    gp_options options;
    gp_kernel *kernel;
    gp_data *data;
    gp_params params;
    gp_problem *problem;
    double free[PROBLEM_PARAMS];
} problem_setup;

problem_setup problem_begin(void);

/* Noise 0 is fixed, another value a start. What has no start gets one. */
void problem_finish(problem_setup *s, const char *kernel, double noise,
                    la_view X, la_view y);
void problem_clear(problem_setup *s);
double problem_value(problem_setup *s, gp_objective kind, double jitter);

#endif
