/* Private to src/gp: making and changing models (model.c, condition.c).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_MODEL_IMPL_H
#define COVAR_GP_MODEL_IMPL_H

#include "programs.h"

/* A model with copies of everything but factor, alpha and programs. */
covar_status gp_model_create(gp_model **out, covar_context *ctx,
                             const gp_kernel *k, const gp_params *params,
                             const gp_data *data, const gp_options *options);

/* Gives the reported mean coefficients their names. */
covar_status gp_model_name_mean(gp_model *m, covar_context *ctx);

/* Makes L from the data, climbing the jitter levels from `first_level`. */
covar_status gp_model_factor(gp_model *m, covar_context *ctx,
                             size_t first_level);

/* Everything that follows from L: V, B, beta, alpha, likelihoods. O(n^2). */
covar_status gp_model_solve(gp_model *m, covar_context *ctx);

/* offset(x) + h(x)'beta at X (k,d): (k,p). predict.c */
covar_status gp_mean_at(double *mean, covar_context *ctx, const gp_model *m,
                        la_view X);

/* Joint mean (ns,p) (may be NULL) and covariance (ns,ns) of f at Xs. */
covar_status gp_joint(double *mean, double *cov, const gp_model *m,
                      covar_context *ctx, la_view Xs, size_t *rounded);

/* NULL, shape, dtype and finiteness of a verb's model and points. */
covar_status gp_check_points(const gp_model *m, covar_context *ctx, la_view Xs,
                             const char *who);

/* Sets the notes that follow from data and factor. */
void gp_model_note(gp_model *m);

#endif
