/* Gaussian process regression: fit, predict, and everything around them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     covar_context *ctx = covar_context_create();
 *     gp_model *m = NULL;
 *     gp_report r;
 *     if (gp_fit(&m, ctx, la_mat_f64(X, n, d), la_vec_f64(y, n), NULL, &r))
 *         fprintf(stderr, "%s\n", covar_error_text(ctx));
 *     else
 *         gp_predict(m, ctx, la_mat_f64(Xs, ns, d),
 *                    &(gp_prediction){ .mean = mu, .var_f = vf, .var_y = vy });
 *     gp_model_free(m);
 *     covar_context_free(ctx);
 *
 * The model: y_i = m(x_i) + f(x_i) + e_i, f ~ GP(0, k), e_i ~ N(0, noise_i).
 * Everything reported is in the user's units; parameters are natural
 * (variances, lengthscales), never logs or standard deviations. NaN in y means
 * missing (the row is ignored and counted); NaN or infinity in X is an error
 * that names row and column. X (n,d) and y (n) or (n,p) may be f64 or f32 with
 * any strides; they are copied. Results are double.
 * Threads: a model is immutable; any number of threads may use one, each with
 * its own context. */
#ifndef COVAR_GP_H
#define COVAR_GP_H

#include <covar/autodiff.h>
#include <covar/optim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gp_model gp_model;
typedef struct gp_kernel gp_kernel;
typedef struct gp_options gp_options;

/* ---- Kernels: immutable, reference-counted expressions ------------------ */

/* With r_k = (x_k - z_k) / l_k and r = |r|; `ard` = 0: one lengthscale for all
 * columns, else one per column (the number of columns of X, or of the columns
 * selected). Constructors and combinators never return NULL. What they cannot
 * make (a limit passed, an argument NULL, out of memory) is a kernel without a
 * tree that carries the reason: gp_kernel_error gives it, combinators pass it
 * on, and gp_fit and whoever else needs the kernel fail with it (ARG, or NOMEM
 * when memory was out). So only an options.kernel that was never set is NULL
 * and means the default. Combinators consume their arguments. Limits: ard and
 * columns up to 1048576, degree and q 1 to 64, 4096 columns of a selection, 32
 * nested sums.
 *
 *   rbf        exp(-r^2 / 2)
 *   matern12   exp(-r)
 *   matern32   (1 + s) exp(-s), s = sqrt(3) r
 *   matern52   (1 + s + s^2 / 3) exp(-s), s = sqrt(5) r
 *   matern72   (1 + s + 2 s^2 / 5 + s^3 / 15) exp(-s), s = sqrt(7) r
 *   rq         (1 + r^2 / (2 alpha))^-alpha
 *   periodic   exp(-2 sum_k sin^2(pi (x_k - z_k) / period) / l^2)
 *   cosine     prod_k cos(2 pi (x_k - z_k) / period)
 *   linear     sum_k x_k z_k (ard: / l_k^2)
 *   poly       (x'z + offset)^degree
 *   constant   1
 *   white      1 where x and z are the same observation, else 0
 *   spectral_mixture  sum_q w_q prod_k exp(-2 pi^2 d_k^2 v_qk) cos(2 pi d_k
 *              f_qk), d = x - z, v = bandwidth^2, w_0 = 1
 * Sources: Rasmussen & Williams 2006, ch. 4; Wilson & Adams 2013. */
COVAR_API gp_kernel *gp_rbf(size_t ard);
COVAR_API gp_kernel *gp_matern12(size_t ard);
COVAR_API gp_kernel *gp_matern32(size_t ard);
COVAR_API gp_kernel *gp_matern52(size_t ard);
COVAR_API gp_kernel *gp_matern72(size_t ard);
COVAR_API gp_kernel *gp_rq(size_t ard);
COVAR_API gp_kernel *gp_periodic(double period); /* a start; 0 = choose one */
COVAR_API gp_kernel *gp_cosine(double period);
COVAR_API gp_kernel *gp_linear(size_t ard);
COVAR_API gp_kernel *gp_poly(unsigned degree);
COVAR_API gp_kernel *gp_constant(void);
COVAR_API gp_kernel *gp_white(void);
COVAR_API gp_kernel *gp_spectral_mixture(unsigned q);

COVAR_API gp_kernel *gp_add(gp_kernel *a, gp_kernel *b);
COVAR_API gp_kernel *gp_mul(gp_kernel *a, gp_kernel *b);

/* The sentence of a kernel that could not be made; NULL for one that could, and
 * for NULL. */
COVAR_API const char *gp_kernel_error(const gp_kernel *k);

/* k on the columns col[n] of X only (0-based, distinct). Consumes k. */
COVAR_API gp_kernel *gp_columns(gp_kernel *k, const size_t *col, size_t n);

/* Reads the text form:
 *     sum    = term {'+' term}
 *     term   = [NUMBER '*'] factor {'*' factor}
 *     factor = WORD ['(' arg {',' arg} ')'] ['[' col {',' col} ']']
 *            | '(' sum ')'
 *     arg    = NAME '=' NUMBER (a start) | NAME ':=' NUMBER (fixed)
 *            | 'ard' ['=' d]
 * e.g. "2*rbf(ard) + 0.5*periodic(lengthscale=1.3,period:=1)[0]". A term's
 * NUMBER is where its variance starts; before a term with a parenthesised sum
 * it is a fixed scale, for the variances are inside. Columns may be ranges
 * ("0-3"). Errors: PARSE with the place and what was expected there (a
 * parameter given twice is one); *out is then NULL. */
COVAR_API COVAR_MUST_CHECK covar_status gp_kernel_parse(gp_kernel **out,
                                                        covar_context *ctx,
                                                        const char *text);

/* Text that parses back to an equal kernel, numbers with 17 digits; "" for
 * NULL, "(no kernel: REASON)" for one that could not be made. Writes at most
 * `size` bytes with the end; returns the length needed without it. */
COVAR_API size_t     gp_kernel_print(char *buf, size_t size,
                                     const gp_kernel *k);
COVAR_API gp_kernel *gp_kernel_retain(gp_kernel *k);
COVAR_API void       gp_kernel_free(gp_kernel *k);

/* The kernel `base` on the features phi(x) of a module (n,d) -> (n,k), trained
 * together with it. Its parameters are "module.NAME[i]". Retains the module
 * (at most 256 arrays of parameters); consumes base. Cannot be saved. */
COVAR_API gp_kernel *gp_feature_kernel(ad_module *features, gp_kernel *base);

/* A kernel of your own: builds K (n,m) from X (n,d), Z (m,d) and parameter
 * values (rank 0 each) as graph; Z NULL means Z = X. Its gradient follows. The
 * name has 1 to 95 letters; at most 256 parameters, with names that differ. */
typedef ad_node *gp_kernel_fn(ad_node *const *param, ad_node *X, ad_node *Z,
                              void *data);
typedef struct gp_user_param {
    const char *name;
    double      start;
    bool        positive; /* optimised in logs */
} gp_user_param;
COVAR_API gp_kernel *gp_user_kernel(const char *name, gp_kernel_fn *build,
                                    void *data, const gp_user_param *param,
                                    size_t n_param);

/* ---- Options ------------------------------------------------------------ */

typedef enum gp_mean_kind {
    GP_MEAN_CONSTANT = 0, /* profiled by generalised least squares */
    GP_MEAN_ZERO,
    GP_MEAN_LINEAR, /* constant + slope per column, profiled */
    GP_MEAN_USER    /* values given: mean_fn */
} gp_mean_kind;

typedef enum gp_objective {
    GP_ML = 0, /* log marginal likelihood */
    GP_MAP,    /* plus log prior densities of the values, no Jacobian */
    GP_LOO     /* sum of leave-one-out log densities */
} gp_objective;

/* Model coordinates: which of x and y are centred before zero means and
 * non-stationary kernels see them. */
typedef enum gp_standardise {
    GP_STANDARDISE_XY = 0,
    GP_STANDARDISE_NONE,
    GP_STANDARDISE_X,
    GP_STANDARDISE_Y
} gp_standardise;

typedef enum gp_jitter {
    GP_JITTER_AUTO = 0, /* 0, then the four levels of the dtype */
    GP_JITTER_NONE,     /* fail at once */
    GP_JITTER_FIXED     /* options.jitter_value, relative to mean(diag K) */
} gp_jitter;

typedef enum gp_prior_kind {
    GP_PRIOR_DEFAULT = 0, /* by the kind of the parameter: see the guide */
    GP_PRIOR_FLAT,        /* flat in log */
    GP_PRIOR_LOGNORMAL,   /* a = mean, b = sd of the log */
    GP_PRIOR_GAMMA,       /* a = shape, b = rate */
    GP_PRIOR_NORMAL       /* a = mean, b = sd */
} gp_prior_kind;

typedef struct gp_prior {
    gp_prior_kind kind;
    double        a, b;
} gp_prior;

/* Log density of the prior at a value; -infinity outside its support, NaN for
 * an unknown kind, parameters that make no density, or a value of NaN. */
COVAR_API double gp_prior_log_density(gp_prior prior, double value);

/* Mean values at X (n,d) -> mean (n); for GP_MEAN_USER. */
typedef void gp_mean_fn(double *mean, la_view X, void *data);

struct gp_options {
    gp_kernel     *kernel; /* NULL = matern52 with ard; retained by gp_fit */
    gp_mean_kind   mean;
    gp_mean_fn    *mean_fn;
    void          *mean_data;
    bool           mean_plugin; /* leave the mean's uncertainty out of var_f */
    gp_objective   objective;
    gp_standardise standardise;
    la_dtype       dtype; /* LA_F64 or LA_F32: of the factorisation */
    gp_jitter      jitter;
    double         jitter_value;
    const double  *weights;         /* (n): noise_i = noise_variance / w_i */
    const double  *noise_per_point; /* (n): known variances, added */
    const char *const *column_name; /* (d) names of X's columns, NULL = none;
                                       copied, saved, and used in sentences */
    bool           no_fit;          /* condition at the given parameters */
    int            restarts; /* polished starts besides the given ones; 0 = 3,
                                -1 = the first start only; at most 60, which
                                is GP_MAX_RESTARTS - 5: the report lists the
                                given ones as well */
    uint64_t       seed;
    size_t         max_iterations; /* of a start; 0 = 500 */
    double         max_seconds;    /* 0 = no limit; between evaluations */
    size_t         max_bytes;      /* 0 = what the machine has free */
    struct gp_setting *settings;   /* filled by gp_options_fix ... */
    size_t         n_settings;
    covar_status   setting_error; /* first failure of those, for gp_fit */
};

COVAR_API gp_options gp_options_default(void);
COVAR_API void       gp_options_clear(gp_options *o); /* frees the settings */

/* Settings by parameter name (see gp_param_name). Names are checked by gp_fit,
 * which names the nearest and lists the known ones. Values in user units. */
COVAR_API void gp_options_start(gp_options *o, const char *name, double value);
COVAR_API void gp_options_fix(gp_options *o, const char *name, double value);
COVAR_API void gp_options_fix_start(gp_options *o, const char *name);
COVAR_API void gp_options_bounds(gp_options *o, const char *name, double lower,
                                 double upper);
COVAR_API void gp_options_prior(gp_options *o, const char *name,
                                gp_prior prior);
COVAR_API void gp_options_tie(gp_options *o, const char *name,
                              const char *to); /* equal values */

/* ---- Report ------------------------------------------------------------- */

enum {
    GP_NOTE_JITTER = 1u << 0,
    GP_NOTE_MAX_ITER = 1u << 1,
    GP_NOTE_MAX_TIME = 1u << 2,
    GP_NOTE_CANCELLED = 1u << 3,
    GP_NOTE_NOISE_FLOOR = 1u << 4,
    GP_NOTE_AT_BOUND = 1u << 5,
    GP_NOTE_DUPLICATE_ROWS = 1u << 6,
    GP_NOTE_DROPPED_COLUMN = 1u << 7,
    GP_NOTE_RESTART_FAILED = 1u << 8,
    GP_NOTE_LOW_RCOND = 1u << 9,
    GP_NOTE_SUBSET = 1u << 10 /* starts were screened on a subset of rows */
};
/* GP_MAX_RESTARTS: entries of gp_report.restart. */
enum { GP_NOTE_COUNT = 11, GP_MAX_RESTARTS = 65 };
COVAR_API const char *gp_note_name(unsigned bit_index); /* "JITTER", ... */

typedef struct gp_restart {
    const char *start;     /* "given", "short", "long", "sobol 7" ... */
    double      objective; /* NaN: failed */
    const char *reason;    /* as gp_report.reason, or the failure's text */
} gp_restart;

typedef struct gp_report {
    size_t      n;         /* finite training targets (rows used) */
    size_t      n_missing; /* rows ignored for a NaN target */
    size_t      d;
    double      lml;              /* user units, natural log, plain sum */
    double      lml_standardised; /* lml + n log sd(y) */
    double      objective;        /* what was maximised */
    double      y_mean, y_sd;     /* of the rows used, ddof 0 (first output) */
    const char *reason; /* gradient value step max_iterations max_seconds
                           cancelled line_search none */
    size_t      evaluations, iterations;
    gp_restart  restart[GP_MAX_RESTARTS];
    size_t      n_restarts;
    double      jitter_relative, jitter_absolute; /* in K, user units */
    double      rcond; /* 1-norm estimate of the factored matrix */
    bool        noise_at_floor;
    unsigned    notes;
    double      seconds;
    size_t      peak_bytes; /* above the input */
    size_t      subset_rows; /* with GP_NOTE_SUBSET */
} gp_report;

/* ---- Fit and predict ---------------------------------------------------- */

/* Fits by multi-start L-BFGS in logs; see the guide for the procedure.
 * X (n,d), y (n) or (n,p); options and report may be NULL. *m is non-NULL if
 * and only if the status is OK. Errors: ARG SHAPE NAME DATA (too few or
 * constant targets under ML, all missing) NOT_PD (names the kernel) NOMEM
 * (also when max_bytes forbids it; states the bytes). Cancelling and budgets
 * end OK at the best point. Cost: n^3 flops an evaluation, 2 n^2 doubles. */
COVAR_API COVAR_MUST_CHECK covar_status gp_fit(gp_model **m, covar_context *ctx,
                                               la_view X, la_view y,
                                               const gp_options *options,
                                               gp_report *report);
COVAR_API void gp_model_free(gp_model *m);

/* What to predict at ns points; NULL = not wanted. With p outputs, mean and
 * dmean have p as last dim, variances are shared. */
typedef struct gp_prediction {
    double *mean;  /* (ns) or (ns,p) */
    double *var_f; /* (ns): of f + m */
    double *var_y; /* (ns): var_f + noise_variance */
    double *cov;   /* (ns,ns): joint covariance of f + m */
    double *dmean; /* (ns,d) d mean / d x (first output) */
    double *dvar;  /* (ns,d) d var_f / d x */
    size_t  rounded; /* out: variances in [-50 n eps k(x,x), 0) set to 0 */
} gp_prediction;

/* Blocked: O(block) memory for any ns. Errors: SHAPE, ARG (non-finite input),
 * NUMERIC (a variance below rounding, or a result that is not finite, as far
 * from the data: names the row), NO_GRAD (a derivative that does not exist,
 * e.g. matern12 at a training input). */
COVAR_API COVAR_MUST_CHECK covar_status gp_predict(const gp_model *m,
                                                   covar_context *ctx,
                                                   la_view Xs,
                                                   gp_prediction *out);

/* s joint posterior samples of f + m at Xs: out (s,ns), by Cholesky of the
 * joint covariance. GP_SAMPLE_PATHWISE: Matheron's rule from a joint prior
 * draw at (X, Xs). Reproducible by seed. */
typedef enum gp_sample_kind {
    GP_SAMPLE_JOINT,
    GP_SAMPLE_PATHWISE
} gp_sample_kind;
COVAR_API COVAR_MUST_CHECK covar_status
gp_sample(double *out, const gp_model *m, covar_context *ctx, la_view Xs,
          size_t s, uint64_t seed, gp_sample_kind kind);

/* Matheron's rule for given prior draws: prior_x (n), prior_xs (ns), eps (n)
 * -> out (ns). */
COVAR_API COVAR_MUST_CHECK covar_status
gp_pathwise(double *out, const gp_model *m, covar_context *ctx, la_view Xs,
            const double *prior_x, const double *prior_xs, const double *eps);

/* Leave-one-out predictive mean, variance of y and log density (n each, NULL =
 * not wanted; first output), in closed form. */
COVAR_API COVAR_MUST_CHECK covar_status gp_loo(const gp_model *m,
                                               covar_context *ctx, double *mean,
                                               double *var_y, double *log_p);

/* k-fold cross validation at the fitted parameters, in closed form from one
 * factor: fold (n) of the rows used, in 0..k-1; k is 1 to n, and a fold may be
 * empty. Errors: ARG (k, fold), SINGULAR (the rows outside a fold do not
 * determine the mean, names the fold). */
COVAR_API COVAR_MUST_CHECK covar_status gp_cv(const gp_model *m,
                                              covar_context *ctx,
                                              const int32_t *fold, size_t k,
                                              double *mean, double *var_y,
                                              double *log_p);

/* ---- Reading a model ---------------------------------------------------- */

/* Of a NULL model, and past the last parameter, counts are 0, numbers NaN,
 * names and pointers NULL, views none, kinds the first of their enum.
 *
 * Parameters, fixed ones included, mean coefficients last: "variance",
 * "lengthscale[2]", "1.0.period", "noise_variance", "mean.constant",
 * "mean.slope[0]". Coefficients are in user units; they are profiled unless
 * all of them were fixed by name.
 * The gradient is that of the maximised objective with respect to the log of
 * positive parameters and to the value of others, fixed ones included, each by
 * itself also where parameters are tied; 0 for profiled coefficients, NaN for
 * given ones under LOO. */
COVAR_API size_t      gp_param_count(const gp_model *m);
COVAR_API const char *gp_param_name(const gp_model *m, size_t i);
COVAR_API double      gp_param_value(const gp_model *m, size_t i);
COVAR_API bool        gp_param_is_fixed(const gp_model *m, size_t i);
COVAR_API bool        gp_param_is_log(const gp_model *m, size_t i);
COVAR_API bool        gp_param_at_bound(const gp_model *m, size_t i);
COVAR_API bool        gp_param_is_irrelevant(const gp_model *m, size_t i);

/* Column of X that parameter i belongs to (a lengthscale's, a slope's), or -1
 * where it belongs to none or to several. */
COVAR_API ptrdiff_t   gp_param_column(const gp_model *m, size_t i);
COVAR_API double      gp_param_gradient(const gp_model *m, size_t i);
COVAR_API COVAR_MUST_CHECK covar_status gp_param_get(const gp_model *m,
                                                     covar_context *ctx,
                                                     const char *name,
                                                     double *value);

/* Standard errors and covariance (P,P) of the parameters in natural units from
 * the observed information; NaN for fixed, bounded and undetermined ones.
 * Computed by this call (a Hessian). */
COVAR_API COVAR_MUST_CHECK covar_status gp_param_std_errors(const gp_model *m,
                                                            covar_context *ctx,
                                                            double *std_error);
COVAR_API COVAR_MUST_CHECK covar_status gp_param_covariance(const gp_model *m,
                                                            covar_context *ctx,
                                                            double *cov);

COVAR_API size_t gp_n(const gp_model *m); /* rows used */
COVAR_API size_t gp_d(const gp_model *m);
COVAR_API size_t gp_outputs(const gp_model *m);

/* Name of column i as given in options.column_name to the fit; NULL when none
 * were given, or i >= d. Kept by append, remove, refit, save and load. */
COVAR_API const char *gp_column_name(const gp_model *m, size_t i);
COVAR_API la_view gp_inputs(const gp_model *m);   /* (n,d) user units */
COVAR_API la_view gp_targets(const gp_model *m);  /* (n) or (n,p) */
COVAR_API la_view gp_cholesky(const gp_model *m); /* borrowed, (n,n) lower */
COVAR_API la_view gp_alpha(const gp_model *m);    /* (n) or (n,p) */
COVAR_API double  gp_log_det(const gp_model *m);  /* of K + noise */
COVAR_API const gp_kernel *gp_model_kernel(const gp_model *m); /* fitted */
COVAR_API gp_mean_kind     gp_model_mean(const gp_model *m);
COVAR_API gp_standardise   gp_model_standardise(const gp_model *m);

/* Columns that took no part (constant): count, and the list. */
COVAR_API size_t gp_dropped_columns(const gp_model *m, const size_t **col);

/* ---- The likelihood itself ---------------------------------------------- */

/* This and gp_nlopt_f keep the jitter of the fit. As in gp_fit, a matrix whose
 * factor loses a pivot to rounding counts as not positive definite: NOT_PD
 * here, +HUGE_VAL from gp_nlopt_f.
 *
 * Log marginal likelihood at parameter values (NULL = the fitted ones; in the
 * order of gp_param_name without the profiled mean). grad (P) and hess (P,P)
 * with respect to the log of positive parameters and to the value of others;
 * NULL = not wanted. P = gp_lml_dim(m). Errors: ARG (names the value), NOT_PD,
 * NUMERIC (the value is not finite). */
COVAR_API size_t gp_lml_dim(const gp_model *m);
COVAR_API COVAR_MUST_CHECK covar_status gp_lml(const gp_model *m,
                                               covar_context *ctx,
                                               const double *value, double *lml,
                                               double *grad, double *hess);

/* An nlopt_func for -lml over the logs of all gp_lml_dim parameters; `data` is
 * a gp_nlopt. Returns +HUGE_VAL, with zeros in grad, where gp_lml fails. */
typedef struct gp_nlopt {
    const gp_model *model;
    covar_context  *ctx;
} gp_nlopt;
COVAR_API double gp_nlopt_f(unsigned n, const double *x, double *grad,
                            void *data);

/* ---- Updating ----------------------------------------------------------- */

/* A model with rows added or row i (of the rows used) removed, parameters kept:
 * O(n^2); equal to a fit at the same fixed parameters. */
COVAR_API COVAR_MUST_CHECK covar_status gp_append(gp_model **out,
                                                  const gp_model *m,
                                                  covar_context *ctx, la_view X,
                                                  la_view y);
COVAR_API COVAR_MUST_CHECK covar_status gp_remove(gp_model **out,
                                                  const gp_model *m,
                                                  covar_context *ctx, size_t i);

/* Fits again from the model's parameters with its rows and options; options
 * other than budgets and settings are taken from the model. */
COVAR_API COVAR_MUST_CHECK covar_status gp_refit(gp_model **out,
                                                 const gp_model *m,
                                                 covar_context *ctx,
                                                 const gp_options *options,
                                                 gp_report *report);

/* ---- Files and memory --------------------------------------------------- */

/* One HDF5 file with factor and alpha: a loaded model predicts the same bits.
 * Written under a temporary name and renamed. UNSUPPORTED for user and feature
 * kernels, naming them. */
COVAR_API COVAR_MUST_CHECK covar_status gp_save(const gp_model *m,
                                                covar_context *ctx,
                                                const char *path);
COVAR_API COVAR_MUST_CHECK covar_status gp_load(gp_model **out,
                                                covar_context *ctx,
                                                const char *path);

/* Bytes that gp_fit will need above its input; SIZE_MAX when that cannot be
 * counted, 0 when gp_fit would refuse the options or d is 0. */
COVAR_API size_t gp_bytes_needed(size_t n, size_t d, const gp_options *options);

/* ---- Scores of predictions ---------------------------------------------- */

typedef struct gp_scores {
    size_t n;
    double rmse, nlpd, crps; /* means over the points; nlpd = -log density */
    double smse;             /* mse / var(y_test), ddof 0 */
    double msll; /* mean of nlpd - nlpd under N(train mean, train variance) */
    double coverage_95;
} gp_scores;

/* Scores of N(mean_i, var_i) against y_i (n); train_mean and train_var (ddof 0)
 * for msll. NaN targets are skipped. */
COVAR_API gp_scores gp_score(const double *y, const double *mean,
                             const double *var, size_t n, double train_mean,
                             double train_var);

#ifdef __cplusplus
}
#endif

#endif
