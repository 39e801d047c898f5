/* Private to src/gp: the compiled programs of a model (programs.c).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_PROGRAMS_H
#define COVAR_GP_PROGRAMS_H

#include "gp_impl.h"

/* Inputs, in this order: free (P), X (n,d), Xs (m,d), L (n,n), alpha (n,p) and
 * with a profiled mean V (n,q), B (q,q); a program takes the first few. */
typedef enum gp_program_kind {
    GP_PROGRAM_GRAM,  /* free, X       -> K(X,X) (n,n) */
    GP_PROGRAM_CROSS, /* free, X, Xs   -> K(Xs,X) (m,n) */
    GP_PROGRAM_POINT, /* all -> mean (m,p), var (m), k(x,x) (m) */
    GP_PROGRAM_JOINT, /* all -> mean (m,p), cov (m,m), k(x,x) (m) */
    GP_PROGRAM_SLOPE, /* all -> as POINT, then d mean, d var / d Xs (m,d) */
    GP_PROGRAM_COUNT
} gp_program_kind;

enum { GP_PROGRAM_MAX_IN = 7, GP_PROGRAM_MAX_OUT = 5 };

struct gp_programs {
    covar_heap *heap;
    ad_store   *store; /* empty: the programs have no parameters */
    ad_program *program[GP_PROGRAM_COUNT];
    _Atomic size_t refs;
};

/* Compiles all five; shared by models with the same kernel and columns. */
covar_status gp_programs_create(struct gp_programs **out, covar_context *ctx,
                                const gp_kernel *k, const gp_params *params,
                                const gp_data *data,
                                const gp_options *options);
struct gp_programs *gp_programs_retain(struct gp_programs *p);
void                gp_programs_release(struct gp_programs *p);

covar_status gp_programs_run(const struct gp_programs *p, covar_context *ctx,
                             gp_program_kind which, const la_view *in,
                             const la_view *out);

/* The free values of a table in `dtype`: (P). */
covar_status gp_params_free_array(la_array **out, covar_context *ctx,
                                  const gp_params *p, la_dtype dtype);

/* Rows of X (m,d), user units, any strides, in model coordinates as `dtype`. */
covar_status gp_model_rows(la_array **out, covar_context *ctx,
                           const gp_data *data, la_dtype dtype, la_view X);

/* (n) noise variances: noise_variance / weight + known, in `dtype`. */
covar_status gp_noise_array(la_array **out, covar_context *ctx,
                            const gp_params *p, const gp_data *data,
                            la_dtype dtype);

#endif
