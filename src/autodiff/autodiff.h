/* The graph compiler: differentiable expressions, compiled once, run often.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     ad_graph *g; COVAR_TRY(ad_graph_create(&g, ctx, NULL));
 *     ad_dim   n = ad_symbol(g, "n");
 *     ad_node *X = ad_input(g, "X", LA_F64, 2, (ad_dim[]){n, ad_fixed(8)});
 *     ad_node *W = ad_param(g, "W", la_mat_f64(w0, 8, 1));
 *     ad_node *loss = ad_mean(ad_softplus(ad_neg(ad_matmul(X, W))), AD_ALL);
 *     ad_node *dW; COVAR_TRY(ad_grad(&dW, loss, &W, 1));
 *     ad_program *step; ad_runner *run;
 *     COVAR_TRY(ad_compile(&step, g, AD_SIGNATURE(AD_IN(X), AD_OUT(loss),
 *         AD_UPDATE(W, ad_sub(W, ad_scale(dW, 0.01)))), NULL));
 *     COVAR_TRY(ad_runner_create(&run, step, ad_graph_store(g), ctx));
 *     COVAR_TRY(ad_run(run, (la_view[]){la_mat_f64(x, 500, 8)},
 *                      (la_view[]){la_scalar_f64(&l)}));
 *
 * Builders take and return nodes; they accept NULL and return NULL after an
 * error, so write the whole expression and check once: the graph keeps the
 * first error and its sentence. A node belongs to its graph and is never
 * changed nor freed alone; equal applications are one node.
 * Everywhere else NULL for what must be there is COVAR_ERR_ARG (or _POISONED
 * where a failed builder's node was meant); what is asked of a NULL object is
 * 0, NULL or none.
 * Shapes: elementwise operands have equal rank, or rank 0; only a constant
 * dim of 1 repeats. dtypes must be equal (ad_cast converts).
 * Threads: a graph, with everything in it, belongs to one thread at a time;
 * programs are immutable and shared freely. */
#ifndef COVAR_AUTODIFF_H
#define COVAR_AUTODIFF_H

#include <covar/op.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ad_store ad_store;
typedef struct ad_program ad_program;
typedef struct ad_module ad_module;

/* ---- Graphs ------------------------------------------------------------- */

typedef struct ad_graph_options {
    bool      eager; /* evaluate every node the moment it is made */
    ad_store *store; /* shared with others; NULL = the graph's own */
} ad_graph_options;

COVAR_API COVAR_MUST_CHECK covar_status
ad_graph_create(ad_graph **out, covar_context *ctx,
                const ad_graph_options *options);
COVAR_API void ad_graph_free(ad_graph *g);

/* The first error since creation or the last clear; COVAR_OK if none. The
 * sentence is ad_graph_error_text(g), also left in the context. */
COVAR_API covar_status   ad_graph_error(const ad_graph *g);
COVAR_API const char    *ad_graph_error_text(const ad_graph *g);
COVAR_API void           ad_graph_clear_error(ad_graph *g);
COVAR_API ad_store      *ad_graph_store(const ad_graph *g); /* borrowed */
COVAR_API covar_context *ad_graph_context(const ad_graph *g);
COVAR_API bool           ad_graph_is_eager(const ad_graph *g);
COVAR_API size_t         ad_graph_node_count(const ad_graph *g);

/* Frees every node, value and hash entry made since the mark; sizes and what
 * ad_dim_equal stated remain. */
typedef struct ad_mark {
    size_t nodes, bytes;
} ad_mark;
COVAR_API ad_mark ad_graph_mark(const ad_graph *g);
COVAR_API void    ad_graph_release(ad_graph *g, ad_mark mark);

/* Provenance: nodes made from here on carry "layer1/..." and, by
 * AD_HERE(g), the source line, in every error and profile. */
COVAR_API void ad_scope_push(ad_graph *g, const char *name);
COVAR_API void ad_scope_pop(ad_graph *g);
COVAR_API void ad_set_site(ad_graph *g, const char *file, int line);
#define AD_HERE(g) ad_set_site((g), __FILE__, __LINE__)

/* ---- Sizes -------------------------------------------------------------- */

COVAR_API ad_dim ad_fixed(size_t n);
COVAR_API ad_dim ad_symbol(ad_graph *g, const char *name);
COVAR_API ad_dim ad_dim_add(ad_dim a, ad_dim b);
COVAR_API ad_dim ad_dim_sub(ad_dim a, ad_dim b); /* checked when bound */
COVAR_API ad_dim ad_dim_mul(ad_dim a, ad_dim b);
COVAR_API ad_dim ad_dim_div(ad_dim a, size_t c); /* floor */
COVAR_API ad_dim ad_dim_min(ad_dim a, ad_dim b);
COVAR_API bool   ad_dim_same(ad_dim a, ad_dim b);
COVAR_API bool   ad_dim_is_fixed(ad_dim a, size_t *value);

/* States that two sizes are equal: later builders accept it, binding checks
 * it. */
COVAR_API covar_status ad_dim_equal(ad_graph *g, ad_dim a, ad_dim b);
COVAR_API const char  *ad_dim_text(char *buf, size_t size, ad_dim a);

/* ---- Leaves ------------------------------------------------------------- */

COVAR_API ad_node *ad_input(ad_graph *g, const char *name, la_dtype dtype,
                            int rank, const ad_dim *dim);

/* Parameter `name` of the graph's store, made there from `init` if absent
 * (then init must not be none). One node per name; in an eager graph its value
 * now, a new node when it was written since. In a body: captured. */
COVAR_API ad_node *ad_param(ad_graph *g, const char *name, la_view init);

/* Constants; the elements are copied. */
COVAR_API ad_node *ad_constant(ad_graph *g, la_view x);
COVAR_API ad_node *ad_scalar(ad_graph *g, la_dtype dtype, double value);
COVAR_API ad_node *ad_fill(ad_graph *g, la_dtype dtype, double value, int rank,
                           const ad_dim *dim);
COVAR_API ad_node *ad_eye(ad_graph *g, la_dtype dtype, ad_dim n);

/* A size as a rank-0 value of `dtype`. */
COVAR_API ad_node *ad_dim_value(ad_graph *g, la_dtype dtype, ad_dim dim);

/* x under a new identity (two equal zeros can be two states), and with
 * structure facts that the caller vouches for. Gone after compiling. */
COVAR_API ad_node *ad_name(ad_node *x, const char *name);
COVAR_API ad_node *ad_assume(ad_node *x, unsigned facts);

/* Value k of a node with several. */
COVAR_API ad_node *ad_out(ad_node *y, int k);

/* Eager graphs: the value of x, a counted array that outlives the graph
 * (release it with la_array_free). NULL after an error. */
COVAR_API la_array *ad_value(ad_node *x);

COVAR_API int    ad_rank(const ad_node *x);
COVAR_API ad_dim ad_dim_of(const ad_node *x, int axis);

/* ---- Elementwise -------------------------------------------------------- */

COVAR_API ad_node *ad_neg(ad_node *x);
COVAR_API ad_node *ad_abs(ad_node *x);
COVAR_API ad_node *ad_sign(ad_node *x);
COVAR_API ad_node *ad_floor(ad_node *x);
COVAR_API ad_node *ad_ceil(ad_node *x);
COVAR_API ad_node *ad_round(ad_node *x);
COVAR_API ad_node *ad_square(ad_node *x);
COVAR_API ad_node *ad_recip(ad_node *x);
COVAR_API ad_node *ad_sqrt(ad_node *x);
COVAR_API ad_node *ad_exp(ad_node *x);
COVAR_API ad_node *ad_expm1(ad_node *x);
COVAR_API ad_node *ad_log(ad_node *x);
COVAR_API ad_node *ad_log1p(ad_node *x);
COVAR_API ad_node *ad_log1mexp(ad_node *x);
COVAR_API ad_node *ad_sin(ad_node *x);
COVAR_API ad_node *ad_cos(ad_node *x);
COVAR_API ad_node *ad_tan(ad_node *x);
COVAR_API ad_node *ad_atan(ad_node *x);
COVAR_API ad_node *ad_sinh(ad_node *x);
COVAR_API ad_node *ad_cosh(ad_node *x);
COVAR_API ad_node *ad_tanh(ad_node *x);
COVAR_API ad_node *ad_sigmoid(ad_node *x);
COVAR_API ad_node *ad_softplus(ad_node *x);
COVAR_API ad_node *ad_softplus_inv(ad_node *x);
COVAR_API ad_node *ad_log_sigmoid(ad_node *x);
COVAR_API ad_node *ad_erf(ad_node *x);
COVAR_API ad_node *ad_erfc(ad_node *x);
COVAR_API ad_node *ad_log_erfc(ad_node *x);
COVAR_API ad_node *ad_ndtr(ad_node *x);
COVAR_API ad_node *ad_log_ndtr(ad_node *x);
COVAR_API ad_node *ad_is_finite(ad_node *x);
COVAR_API ad_node *ad_not(ad_node *x);
COVAR_API ad_node *ad_add(ad_node *a, ad_node *b);
COVAR_API ad_node *ad_sub(ad_node *a, ad_node *b);
COVAR_API ad_node *ad_mul(ad_node *a, ad_node *b);
COVAR_API ad_node *ad_div(ad_node *a, ad_node *b);
COVAR_API ad_node *ad_pow(ad_node *a, ad_node *b);
COVAR_API ad_node *ad_min(ad_node *a, ad_node *b); /* ties: half to each */
COVAR_API ad_node *ad_max(ad_node *a, ad_node *b);
COVAR_API ad_node *ad_eq(ad_node *a, ad_node *b); /* 0 or 1 */
COVAR_API ad_node *ad_ne(ad_node *a, ad_node *b);
COVAR_API ad_node *ad_lt(ad_node *a, ad_node *b);
COVAR_API ad_node *ad_le(ad_node *a, ad_node *b);
COVAR_API ad_node *ad_where(ad_node *c, ad_node *a, ad_node *b);
COVAR_API ad_node *ad_add_scalar(ad_node *x, double c);
COVAR_API ad_node *ad_scale(ad_node *x, double c);
COVAR_API ad_node *ad_pow_scalar(ad_node *x, double c);

/* ---- Shapes ------------------------------------------------------------- */

#define AD_ALL (~0u)
#define AD_AXIS(k) (1u << (k))

COVAR_API ad_node *ad_sum(ad_node *x, unsigned axes); /* drops the axes */
COVAR_API ad_node *ad_mean(ad_node *x, unsigned axes);
COVAR_API ad_node *ad_reduce_max(ad_node *x, unsigned axes);
COVAR_API ad_node *ad_reduce_min(ad_node *x, unsigned axes);
COVAR_API ad_node *ad_dot(ad_node *a, ad_node *b); /* sum of a * b */
COVAR_API ad_node *ad_expand(ad_node *x, int axis); /* new dim of 1 */
COVAR_API ad_node *ad_squeeze(ad_node *x, int axis);
COVAR_API ad_node *ad_reshape(ad_node *x, int rank, const ad_dim *dim);
COVAR_API ad_node *ad_broadcast(ad_node *x, int rank, const ad_dim *dim);
COVAR_API ad_node *ad_broadcast_like(ad_node *x, const ad_node *y);
COVAR_API ad_node *ad_transpose(ad_node *x); /* the last two dims */
COVAR_API ad_node *ad_permute(ad_node *x, const int *axis);
COVAR_API ad_node *ad_slice(ad_node *x, int axis, ad_dim start, ad_dim length);

/* Opposite of slice: x at `start` of a zero array with `size` along axis. */
COVAR_API ad_node *ad_pad(ad_node *x, int axis, ad_dim start, ad_dim size);
COVAR_API ad_node *ad_concat(ad_node *const *x, int n, int axis);
COVAR_API ad_node *ad_gather(ad_node *x, ad_node *index);
COVAR_API ad_node *ad_scatter_add(ad_node *x, ad_node *index, ad_dim size);
COVAR_API ad_node *ad_cast(ad_node *x, la_dtype dtype);
COVAR_API ad_node *ad_stop_gradient(ad_node *x);

/* ---- Linear algebra ----------------------------------------------------- */

/* alpha op(A) op(B); also matrix times vector where the second has one dim
 * less than the first. Batch dims must match. */
COVAR_API ad_node *ad_matmul(ad_node *A, ad_node *B);
COVAR_API ad_node *ad_gemm(double alpha, la_trans ta, ad_node *A, la_trans tb,
                           ad_node *B);
COVAR_API ad_node *ad_syrk(double alpha, la_trans trans, ad_node *A);
COVAR_API ad_node *ad_trmm(la_side side, la_uplo uplo, la_trans trans,
                           ad_node *T, ad_node *B);
COVAR_API ad_node *ad_trsm(la_side side, la_uplo uplo, la_trans trans,
                           ad_node *T, ad_node *B);
COVAR_API ad_node *ad_cholesky(ad_node *A);
COVAR_API ad_node *ad_chol_rev(ad_node *L, ad_node *L_bar);
COVAR_API ad_node *ad_potri(ad_node *L);         /* (L L')^-1 */
COVAR_API ad_node *ad_chol_solve(ad_node *L, ad_node *B); /* (L L')^-1 B */
COVAR_API ad_node *ad_eigh(ad_node *A); /* outputs: U (rows), lambda */
COVAR_API ad_node *ad_tril(ad_node *x);
COVAR_API ad_node *ad_triu(ad_node *x);
COVAR_API ad_node *ad_tri_phi(ad_node *x);  /* strict lower + half diagonal */
COVAR_API ad_node *ad_tri_sym(ad_node *x);  /* lower mirrored up */
COVAR_API ad_node *ad_symmetrise(ad_node *x); /* (x + x') / 2 */
COVAR_API ad_node *ad_extract_diag(ad_node *x, int k);
COVAR_API ad_node *ad_make_diag(ad_node *x, int k);
COVAR_API ad_node *ad_add_diag(ad_node *A, ad_node *v); /* v (n) or rank 0 */
COVAR_API ad_node *ad_extract_trian(ad_node *x);
COVAR_API ad_node *ad_make_trian(ad_node *x, ad_dim n);
COVAR_API ad_node *ad_sum_log_diag(ad_node *L);
COVAR_API ad_node *ad_sqdist(ad_node *X, ad_node *Z); /* Z NULL = X */

/* ---- Composites --------------------------------------------------------- */

COVAR_API ad_node *ad_logsumexp(ad_node *x, int axis);   /* drops the axis */
COVAR_API ad_node *ad_log_softmax(ad_node *x, int axis);

/* log N(y; mean, K), summed over the columns of y (n) or (n,p); mean like y.
 * K (n,n) symmetric positive definite. Its adjoint is K_bar = g/2 (A A' - p
 * K^-1), A = K^-1 (y - mean). n^3 flops with the gradient, one extra n x n. */
COVAR_API ad_node *ad_mvn_logpdf(ad_node *y, ad_node *mean, ad_node *K);

/* ---- Random numbers ----------------------------------------------------- */

/* A stream of streams: a key (seed, step) in the store under `name`. Each
 * builder call takes the next stream number. ad_rng_next is the advanced key,
 * for AD_UPDATE(ad_rng_key(r), ad_rng_next(r)). */
typedef struct ad_rng {
    ad_node *key;
    uint32_t next_stream;
} ad_rng;
COVAR_API ad_rng   ad_rng_create(ad_graph *g, const char *name, uint64_t seed);
COVAR_API ad_node *ad_rng_next(const ad_rng *rng);
COVAR_API ad_node *ad_normal(ad_rng *rng, la_dtype dtype, int rank,
                             const ad_dim *dim);
COVAR_API ad_node *ad_uniform(ad_rng *rng, la_dtype dtype, int rank,
                              const ad_dim *dim);

/* ---- Bodies and scan ---------------------------------------------------- */

/* Builds one step inside a fresh child graph: x[0..n_seq-1] are the slices of
 * the sequences, then the carries, then the constants. Writes the new carries
 * and then the outputs into `out`; sets *n_result to how many outputs. */
typedef covar_status ad_step_fn(ad_graph *body, ad_node *const *x,
                                ad_node **out, void *data);

typedef struct ad_scan_spec {
    int             n_seq, n_carry, n_const, n_result;
    ad_node *const *seq;    /* (T, ...) each */
    ad_node *const *carry;  /* initial values */
    ad_node *const *constant;
    ad_step_fn     *step;
    void           *data;
} ad_scan_spec;

/* c_t, r_t = step(x_t, c_{t-1}, k): outputs are the last carries, then the
 * stacked results (T, ...), then the stacked carries (T, ...) after each
 * step. n_seq >= 1 gives T. */
COVAR_API ad_node *ad_scan(const ad_scan_spec *spec);

/* ---- Derivatives -------------------------------------------------------- */

/* dy[i] = d y / d wrt[i], y of rank 0. Exact or an error: COVAR_ERR_NO_GRAD
 * names an operator without derivative; a wrt that y does not depend on is
 * COVAR_ERR_ARG (see ad_grad_options). Every path counts, also one through
 * another wrt: dy[i] does not depend on what else is asked for. The error is
 * also the graph's, and dy[] is NULL. Cost: the nodes between wrt and y. */
COVAR_API COVAR_MUST_CHECK covar_status ad_grad(ad_node **dy, ad_node *y,
                                                ad_node *const *wrt, int n);

typedef struct ad_grad_options {
    bool zero_if_disconnected;
    bool literal; /* do not first make naive forms stable */
} ad_grad_options;

/* v'J: adjoints of wrt from adjoints y_bar of several outputs. */
COVAR_API COVAR_MUST_CHECK covar_status
ad_lop(ad_node **x_bar, ad_node *const *y, ad_node *const *y_bar, int n_y,
       ad_node *const *wrt, int n, const ad_grad_options *options);

/* J v: tangents of y along x_dot; zeros for a y without any. A wrt that no y
 * depends on is COVAR_ERR_ARG. Operators without a jvp get one from their vjp
 * by differentiating it along v. */
COVAR_API COVAR_MUST_CHECK covar_status
ad_rop(ad_node **y_dot, ad_node *const *y, int n_y, ad_node *const *wrt,
       ad_node *const *x_dot, int n);

/* H v for y of rank 0. */
COVAR_API COVAR_MUST_CHECK covar_status ad_hvp(ad_node **hv, ad_node *y,
                                               ad_node *const *wrt,
                                               ad_node *const *v, int n);

/* d y / d x, y (m), x (p), p fixed: (m,p), built from p tangents or, if m is
 * fixed and smaller, m adjoints. Hessian of y (rank 0) in x (p). */
COVAR_API ad_node *ad_jacobian(ad_node *y, ad_node *x);
COVAR_API ad_node *ad_hessian(ad_node *y, ad_node *x);

/* ---- Programs ----------------------------------------------------------- */

typedef enum ad_slot_kind {
    AD_SLOT_IN,
    AD_SLOT_OUT,
    AD_SLOT_UPDATE
} ad_slot_kind;

typedef struct ad_slot {
    ad_slot_kind kind;
    ad_node     *node;
    ad_node     *value; /* AD_SLOT_UPDATE: the parameter's next value */
} ad_slot;

typedef struct ad_signature {
    size_t         n;
    const ad_slot *slots;
} ad_signature;

#define AD_IN(x) { AD_SLOT_IN, (x), NULL }
#define AD_OUT(y) { AD_SLOT_OUT, (y), NULL }
#define AD_UPDATE(p, value) { AD_SLOT_UPDATE, (p), (value) }
#define AD_SIGNATURE(...)                                                     \
    (&(ad_signature){ sizeof((ad_slot[]){ __VA_ARGS__ }) / sizeof(ad_slot),   \
                      (ad_slot[]){ __VA_ARGS__ } })

typedef struct ad_compile_options {
    bool no_rewrite; /* run the graph as written */
    bool no_fuse;
    bool fail_mark;  /* AD_FAIL_MARK: go on after a failed batch element */
} ad_compile_options;

/* Compiles the part of `g` that the outputs and updates need, on a private
 * copy; the program owns all it needs. Checks the graph's first error, then
 * every slot (NULL nodes, inputs that the outputs need but the list lacks).
 * NULL options = defaults. Cost: linear in nodes. */
COVAR_API COVAR_MUST_CHECK covar_status
ad_compile(ad_program **out, ad_graph *g, const ad_signature *signature,
           const ad_compile_options *options);
COVAR_API ad_program *ad_program_retain(ad_program *p);
COVAR_API void        ad_program_free(ad_program *p);
COVAR_API size_t      ad_program_step_count(const ad_program *p);

/* How many steps run the operator `name` ("fused" for clusters; for rows
 * inside clusters their row name). For tests and inspection. */
COVAR_API size_t ad_program_count(const ad_program *p, const char *name);

COVAR_API COVAR_MUST_CHECK covar_status ad_runner_create(ad_runner **out,
                                                         ad_program *program,
                                                         ad_store *store,
                                                         covar_context *ctx);
COVAR_API void ad_runner_free(ad_runner *r);

/* Binds the sizes and pointers of `in` and `out` (in slot order) and runs.
 * Sizes may change from call to call; the last 8 size tuples keep their plan.
 * No allocation once a size tuple was seen. Inputs and outputs must not
 * overlap. On failure outputs are unspecified and the store is unchanged. */
COVAR_API COVAR_MUST_CHECK covar_status ad_run(ad_runner *r, const la_view *in,
                                               const la_view *out);

/* The same n_calls times; stops at the first failure, *done = completed. */
COVAR_API COVAR_MUST_CHECK covar_status ad_run_many(ad_runner *r,
                                                    size_t n_calls,
                                                    const la_view *in,
                                                    const la_view *out,
                                                    size_t *done);

/* Bytes that a run with these inputs plans (arena and workspace), and the
 * lower bound (largest sum of live values). Runs nothing. */
COVAR_API COVAR_MUST_CHECK covar_status ad_runner_plan(ad_runner *r,
                                                       const la_view *in,
                                                       size_t *bytes,
                                                       size_t *live_bound);

/* Info words of the last run's fallible node `name` (or operator name): NULL
 * if there is none. */
COVAR_API const int32_t *ad_runner_info(const ad_runner *r, const char *name,
                                        size_t *n);

/* ---- Stores ------------------------------------------------------------- */

COVAR_API COVAR_MUST_CHECK covar_status ad_store_create(ad_store **out,
                                                        covar_context *ctx);
COVAR_API ad_store *ad_store_retain(ad_store *s);
COVAR_API void      ad_store_free(ad_store *s);
COVAR_API size_t    ad_store_count(const ad_store *s);
COVAR_API const char *ad_store_name(const ad_store *s, size_t i);

/* View of the array `name`; none if absent. Valid until the store is freed. */
COVAR_API la_view ad_store_view(const ad_store *s, const char *name);

/* Adds the array, or overwrites one of equal shape and dtype. BUSY while a
 * program with updates runs. */
COVAR_API COVAR_MUST_CHECK covar_status ad_store_set(ad_store *s,
                                                     covar_context *ctx,
                                                     const char *name,
                                                     la_view value);

/* ---- Modules ------------------------------------------------------------ */

/* How a parameter's free coordinate maps to its value. */
typedef enum ad_transform {
    AD_IDENTITY,
    AD_LOG,     /* value = exp(free): positive */
    AD_SOFTPLUS /* value = log(1 + exp(free)): positive */
} ad_transform;

COVAR_API ad_node *ad_transform_value(ad_transform t, ad_node *free);
COVAR_API double   ad_transform_forward(ad_transform t, double free);
COVAR_API double   ad_transform_inverse(ad_transform t, double value);

/* Builds the module's output from its parameter values and an input. */
typedef ad_node *ad_forward_fn(const ad_module *m, ad_node *const *param,
                               ad_node *x, void *data);

/* Named parameters plus a forward builder; reference counted. `free_data` may
 * be NULL; it is called when the last reference goes. */
COVAR_API COVAR_MUST_CHECK covar_status
ad_module_create(ad_module **out, covar_context *ctx, const char *name,
                 ad_forward_fn *forward, void *data, void (*free_data)(void *));
COVAR_API ad_module *ad_module_retain(ad_module *m);
COVAR_API void       ad_module_free(ad_module *m);
COVAR_API COVAR_MUST_CHECK covar_status
ad_module_add_param(ad_module *m, covar_context *ctx, const char *name,
                    la_view init, ad_transform transform);
COVAR_API const char  *ad_module_name(const ad_module *m);
COVAR_API size_t       ad_module_param_count(const ad_module *m);
COVAR_API const char  *ad_module_param_name(const ad_module *m, size_t i);
COVAR_API la_view      ad_module_param_init(const ad_module *m, size_t i);
COVAR_API ad_transform ad_module_param_transform(const ad_module *m, size_t i);

/* forward with the store's parameters "module.param" of the graph of x, which
 * hold values, not free coordinates. Applied twice in a graph: shared. New
 * nodes have the module's name as scope. */
COVAR_API ad_node *ad_module_apply(const ad_module *m, ad_node *x);

/* forward with given parameter values (ad_module_param_count of them). */
COVAR_API ad_node *ad_module_apply_with(const ad_module *m,
                                        ad_node *const *param, ad_node *x);

/* ---- Optimisers --------------------------------------------------------- */

typedef struct ad_adam_options {
    double rate, beta1, beta2, epsilon; /* 0 = .001, .9, .999, 1e-8 */
} ad_adam_options;

/* Adam's updates for n parameters (Kingma & Ba 2015): writes 2 n + n + 1 slots
 * (moments "name.m", "name.v", the parameters and the step "adam.step" live in
 * the store); *n_slots is their number. */
COVAR_API COVAR_MUST_CHECK covar_status
ad_adam(ad_slot *slots, size_t *n_slots, ad_node *loss, ad_node *const *param,
        int n, const ad_adam_options *options);

/* ---- Inspection --------------------------------------------------------- */

/* S-expression of x as a new string, (mul #1=(exp X) #1#): what is used twice
 * is labelled, so that the text is linear in the nodes. Free it by
 * ad_text_free with the graph of x. NULL when out of memory. */
COVAR_API char *ad_print(const ad_node *x);
COVAR_API char *ad_program_print(const ad_program *p);
COVAR_API void  ad_text_free(ad_graph *g, char *text);

#ifdef __cplusplus
}
#endif

#endif
