/* Private to src/gp: kernel trees, parameter tables, data, models.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Flow of a fit: gp_data_create copies and checks the rows; gp_params_create
 * lists every parameter with start, bounds, prior and scale; objective.c
 * compiles value and gradient over the whole parameter vector; fit.c drives
 * the starts; gp_model_condition factors at the best point. Prediction and
 * updates read only the model.
 *
 * Three coordinates of a parameter: its value (user units); its free value
 * (log of the value, or the value itself when not positive); its conditioned
 * value = value / scale, in which x lies in the unit cube and y has sd 1:
 * starts, bounds and default priors are given there. */
#ifndef COVAR_GP_IMPL_H
#define COVAR_GP_IMPL_H

#include <covar/gp.h>

#include "heap.h"

/* ---- Kernel trees (kernel.c) -------------------------------------------- */

typedef enum gp_form { GP_FORM_SUM, GP_FORM_TERM, GP_FORM_LEAF } gp_form;
typedef struct gp_kernel_type gp_kernel_type;
typedef struct gp_data gp_data;

/* A start or fixed value given for a leaf's parameter. */
typedef struct gp_arg {
    char  *name; /* "lengthscale", "frequency[0][1]" */
    double value;
    bool   fixed;
} gp_arg;

struct gp_kernel {
    _Atomic size_t refs;
    covar_heap    *heap; /* NULL: a constant that nobody owns */
    gp_form        form;
    covar_status   broken; /* not OK: no tree, `why` says what was wrong */
    const char    *why;
    unsigned       depth; /* sums in parentheses inside each other */

    gp_kernel **child; /* sum: terms; term: factors (leaves or sums) */
    size_t      n_child;

    double number; /* term: start of the variance or fixed scale; NaN = none */

    const gp_kernel_type *type; /* leaf from here on */
    gp_arg               *arg;
    size_t                n_arg;
    bool                  ard;
    size_t                ard_d; /* 0 = as many as columns */
    size_t               *column;
    size_t                n_column; /* 0 = all */
    unsigned              order;    /* poly degree, spectral mixture q */
    void                 *user;     /* user and feature kernels */
    void (*user_release)(gp_kernel *leaf);
};

enum {
    GP_MOST_COLUMN = 1 << 20, /* largest column number, and ard */
    GP_MOST_COLUMNS = 4096,   /* selected by one leaf */
    GP_MOST_ORDER = 64,       /* poly degree, spectral mixture q */
    GP_MOST_NESTING = 32,     /* sums in parentheses */
    GP_MOST_PARAMS = 256      /* of a user's or feature kernel */
};

/* "WHO: the kernel is none: WHY" for a broken kernel; OK for NULL. */
covar_status gp_check_kernel(covar_context *ctx, const char *who,
                             const gp_kernel *k);

/* What a parameter is: decides its default start, bounds and prior. */
typedef enum gp_kind {
    GP_KIND_VARIANCE,
    GP_KIND_LENGTHSCALE,          /* of a stationary kernel: units of x */
    GP_KIND_PERIODIC_LENGTHSCALE, /* no unit */
    GP_KIND_PERIOD,               /* units of x */
    GP_KIND_ALPHA,
    GP_KIND_OFFSET,    /* poly */
    GP_KIND_FREQUENCY, /* 1 / units of x */
    GP_KIND_BANDWIDTH, /* 1 / units of x */
    GP_KIND_WEIGHT,
    GP_KIND_LINEAR_LENGTHSCALE, /* of linear with ard */
    GP_KIND_USER,
    GP_KIND_NOISE
} gp_kind;

typedef struct gp_param {
    char     *name; /* canonical */
    char     *path; /* full "T.F.name": also accepted */
    gp_kind   kind;
    bool      log;      /* positive, optimised in logs */
    bool      fixed;
    bool      dropped;  /* lengthscale of a constant column: value NaN */
    double    value;    /* user units */
    double    lower, upper;
    double    scale;    /* value = conditioned * scale */
    bool      has_start; /* given by kernel text or options */
    gp_prior  prior;    /* user units, resolved */
    ptrdiff_t tie;      /* index of the parameter it equals, or -1 */
    ptrdiff_t column;   /* in X, or -1 */
    size_t    d_active; /* columns of its group, for starts and priors */
} gp_param;

typedef struct gp_params {
    covar_heap *heap;
    gp_param   *param;
    size_t      n; /* kernel parameters, then noise_variance last */
} gp_params;

/* A table being made: where names start and what scales are taken from. */
typedef struct gp_params_maker {
    covar_context *ctx;
    gp_params     *out;
    const gp_data *data;
    la_dtype       dtype;
    const char    *prefix; /* of canonical names, "" or "1.0." */
    const char    *path;   /* of full names, "1.0." */
} gp_params_maker;

/* ---- Data (data.c) ------------------------------------------------------ */

struct gp_data {
    covar_heap *heap;
    size_t      n, d, p;    /* rows used, columns, outputs */
    size_t      n_missing;
    size_t     *row;        /* (n) row of the caller's X */
    double     *X;          /* (n,d) user units */
    double     *y;          /* (n,p) */
    double     *weight;     /* (n) or NULL */
    double     *noise;      /* (n) known variances or NULL */
    double     *col_min, *col_range, *col_mean; /* (d) of the rows used */
    double     *col_sd;     /* (d), ddof 0 */
    double     *x_shift;    /* (d): col_mean or 0 by standardise */
    double     *y_shift;    /* (p): y_mean or 0 by standardise */
    double     *y_mean, *y_sd; /* (p), ddof 0 */
    size_t     *dropped;    /* constant columns */
    size_t      n_dropped;
    bool        duplicates; /* repeated rows of X */
    double     *mean_given; /* (1 + d) coefficients in user units, or NULL */
    char      **column_name; /* (d) the caller's, or NULL */
};

covar_status gp_data_create(gp_data **out, covar_context *ctx, la_view X,
                            la_view y, const gp_options *options);
void         gp_data_free(gp_data *d);

/* The rows row[n] of `from` (NULL = the first n) with the statistics of the
 * whole set, so that conditioning does not depend on the selection. */
covar_status gp_data_select(gp_data **out, covar_context *ctx,
                            const gp_data *from, const size_t *row, size_t n);

/* ---- Means (mean.c) ----------------------------------------------------- */

/* mean(x) = offset(x) + h(x)'beta. Number q of profiled coefficients beta: 0
 * for a mean that is zero, the user's or given by name; 1 for a constant;
 * 1 + number of varying columns for a linear one. */
size_t gp_mean_count(const gp_data *data, const gp_options *options);

/* Conditioned basis H (m,q) at rows X (m,d) in user units. */
void gp_mean_basis_at(double *H, const gp_data *data, const gp_options *options,
                      la_view X);

/* First column of H (n,q) that is a combination of the ones before it, or q:
 * modified Gram-Schmidt in place. fit_check.c */
size_t gp_dependent_column(double *H, size_t n, size_t q);

/* The known part (m,p) at X: shift of the targets, given coefficients, or the
 * user's function (ARG where that is not finite). */
covar_status gp_mean_offset(double *mean, covar_context *ctx,
                            const gp_data *data, const gp_options *options,
                            la_view X);

/* beta (q,p) as coefficients (1 + d) of (1, x) in user units for one output;
 * NaN for constant columns of a linear mean. */
void gp_mean_natural(double *coefficient, const gp_data *data,
                     const gp_options *options, const double *beta,
                     size_t output);

/* Takes settings called mean.constant, mean.slope[k] into data->mean_given. */
covar_status gp_mean_take_given(gp_data *data, covar_context *ctx,
                                const gp_options *options);
bool         gp_mean_owns_name(const char *name);

/* ---- Settings by name (options.c) --------------------------------------- */

typedef enum gp_setting_kind {
    GP_SET_START,
    GP_SET_FIX,
    GP_SET_FIX_START, /* fixed where the kernel's text starts it */
    GP_SET_BOUNDS,
    GP_SET_PRIOR,
    GP_SET_TIE
} gp_setting_kind;

typedef struct gp_setting {
    gp_setting_kind kind;
    char           *name;
    char           *to;   /* GP_SET_TIE */
    double          a, b; /* value, or bounds */
    gp_prior        prior;
} gp_setting;

/* ---- Parameters (params.c) ---------------------------------------------- */

/* Lists the kernel's parameters for this data, then noise_variance. Starts
 * from the kernel's text, else NaN (fit.c fills them); default bounds, scales
 * and priors. */
covar_status gp_params_create(gp_params *out, covar_context *ctx,
                              const gp_kernel *k, const gp_data *data,
                              const gp_options *options);
covar_status gp_params_copy(gp_params *out, covar_context *ctx,
                            const gp_params *p);
void         gp_params_clear(gp_params *p);

/* Appends one entry: name, kind, scale and bounds from `like` (its name, path
 * and start are filled here; bounds and scale in user units). A start or a
 * fixed value given in `leaf` for `name` is taken over and checked. */
covar_status gp_params_add(gp_params_maker *m, const gp_kernel *leaf,
                           const char *name, const gp_param *like);

/* The usual entries by kind. `column` -1: of the group of all columns. */
covar_status gp_params_add_kind(gp_params_maker *m, const gp_kernel *leaf,
                                const char *name, gp_kind kind,
                                ptrdiff_t column);

/* The variance of one of n_terms terms; the noise variance. */
covar_status gp_params_add_variance(gp_params_maker *m, const gp_kernel *term,
                                    size_t n_terms);
covar_status gp_params_add_noise(gp_params_maker *m);

/* The entries of a whole kernel (of a feature kernel's base). */
covar_status gp_params_add_kernel(const gp_params_maker *m,
                                  const gp_kernel *k);

/* Values to free coordinates (n) and back; NaN for dropped ones. */
void gp_params_to_free(double *free, const gp_params *p);
void gp_params_from_free(gp_params *p, const double *free);

/* Is a searched parameter at one of its bounds? */
bool gp_param_is_at_bound(const gp_param *p);

/* Index of a name or path, or -1. */
ptrdiff_t gp_params_find(const gp_params *p, const char *name);

/* Applies the settings of the options; unknown names list the known ones. */
covar_status gp_params_apply(gp_params *p, covar_context *ctx,
                             const gp_options *options);

/* NAME: no parameter is called so; the nearest, and all that take part. */
covar_status gp_unknown_name(covar_context *ctx, const gp_params *p,
                             const gp_options *options, const char *name);

/* Letters to insert, delete or exchange to make one word of the other; those
 * of long words from their beginnings. b has m letters. */
size_t gp_edit_distance(const char *a, const char *b, size_t m);

/* The kernel with the parameters' values (and fixed marks) written in. */
covar_status gp_kernel_with_values(gp_kernel **out, covar_context *ctx,
                                   const gp_kernel *k, const gp_params *p);

/* ---- Kernels as graph (kernel_build.c, kernel_<type>.c) ----------------- */

/* What a kernel is built from: model coordinates of X (n,d) and Z (m,d) or
 * NULL (= X), and the free values of all table entries as a vector. */
typedef struct gp_build {
    ad_graph        *g;
    la_dtype         dtype;
    ad_node         *X, *Z;
    ad_node         *free; /* (params->n) */
    const gp_params *params;
    size_t           next; /* index of the next parameter to take */
} gp_build;

/* The value of the next parameter (rank 0); those of the next n that are not
 * dropped (vector); the free values of the next n as they are. */
ad_node *gp_build_take(gp_build *b);
ad_node *gp_build_take_vector(gp_build *b, size_t n);
ad_node *gp_build_take_free(gp_build *b, size_t n);

ad_node *gp_kernel_build(const gp_kernel *k, gp_build *b); /* (n,m) */
ad_node *gp_kernel_diag(const gp_kernel *k, gp_build *b);  /* (n): k(x,x) */

/* One word of the grammar. Parameters are listed and consumed in one order. */
struct gp_kernel_type {
    const char *word;
    const char *formula;
    bool        stationary;
    bool        takes_ard;
    bool        takes_order; /* poly: degree, spectral_mixture: q */
    const char *order_name;
    unsigned    order_default;
    bool        saved;       /* can be written to a file */
    const char *const *arg_names; /* NULL-terminated, without indices */

    /* Appends the leaf's parameters (without the term's variance). */
    covar_status (*params)(gp_params_maker *m, const gp_kernel *leaf);
    /* Typical size of k(x,x) at variance 1, for scaling the term's variance;
     * NULL = 1. */
    double (*size)(const gp_kernel *leaf, const gp_data *data);
    /* K of the leaf; takes its parameters in the order of `params`. */
    ad_node *(*build)(const gp_kernel *leaf, gp_build *b);
    ad_node *(*diag)(const gp_kernel *leaf, gp_build *b);
};
extern const gp_kernel_type *const gp_kernel_types[]; /* NULL-terminated */
extern const ad_op *const gp_ops[]; /* operators of this module, for suites */

/* ---- Objectives (objective.c) ------------------------------------------- */

/* Value, gradient and Hessian in the free values of all parameters, at any
 * parameter vector, for one set of data. Not shareable between threads. */
typedef struct gp_problem gp_problem;
covar_status gp_problem_create(gp_problem **out, covar_context *ctx,
                               const gp_kernel *k, const gp_params *params,
                               const gp_data *data, const gp_options *options);
void         gp_problem_free(gp_problem *p);

/* *value: ML, LOO (without priors). grad (P) and hess (P,P) or NULL. jitter:
 * relative level c. NOT_PD when the factorisation fails or loses a pivot. */
covar_status gp_problem_eval(gp_problem *p, const double *free,
                             gp_objective kind, double jitter, double *value,
                             double *grad, double *hess);
size_t gp_problem_peak_bytes(const gp_problem *p);

/* Bytes that value and gradient with n rows would hold; nothing is run. */
covar_status gp_problem_plan(gp_problem *p, gp_objective kind, size_t n,
                             size_t *bytes);

/* Hessians are exact up to 2e11 flops, counted as 8 P n^3; beyond they come
 * from central differences of the exact gradient (2 P n^3). */
bool gp_hessian_is_exact(size_t n, size_t n_param);

/* What is taken from the inputs X of a kernel: the column means when it is
 * stationary (the model is the same and f32 keeps its digits), else x_shift. */
const double *gp_input_shift(const gp_kernel *k, const gp_data *data);

/* Sum of log prior densities of the values, with gradient and diagonal second
 * derivatives in free coordinates added (NULL = no). prior.c */
double gp_prior_sum(const gp_params *p, const double *free, double *grad,
                    double *hess_diag);

/* May rounding have made a pivot of the factor of an (n,n) matrix A? pivot:
 * L_ii^2 / A_ii. The one rule of what counts as NOT_PD. condition.c */
bool gp_pivot_is_lost(double pivot, la_dtype dtype, size_t n);

/* Jitter levels of a dtype: c[0] = 0; returns their number. */
size_t gp_jitter_levels(const gp_options *options, double c[8]);

/* ---- Models (model.c, condition.c) -------------------------------------- */

struct gp_model {
    covar_heap *heap;
    gp_data    *data;
    gp_kernel  *kernel; /* with the fitted values */
    gp_params   params;
    gp_options  options; /* kernel, settings, weights and noise NULL */
    gp_report   report;
    double     *gradient; /* (params.n) of the objective, free coordinates */

    char    **mean_name;  /* names of reported coefficients: 0, 1 or 1 + d */
    double   *mean_value; /* (1 + d) their values in user units */
    size_t    n_mean;
    size_t    q;      /* profiled mean coefficients: 0, 1 or 1 + d */
    double   *beta;   /* (q,p) */
    la_array *L;      /* (n,n) lower factor of K + noise + jitter */
    la_array *alpha;  /* (n,p) (K + noise)^-1 (y - mean) */
    la_array *V;      /* (n,q) L^-1 H, NULL if q = 0 */
    la_array *B;      /* (q,q) lower factor of V'V, NULL if q = 0 */
    double    log_det;
    double    jitter_relative;

    struct gp_programs *programs; /* predict.c: compiled on creation */
};

/* Factors at the parameters' values, trying the jitter levels from `first`
 * on. Takes over nothing; *out is complete but for the report's fit part. */
covar_status gp_model_condition(gp_model **out, covar_context *ctx,
                                const gp_kernel *k, const gp_params *params,
                                const gp_data *data, const gp_options *options,
                                size_t first_level);

#endif
