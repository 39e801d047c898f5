/* Private: every operator of autodiff, its attributes, and what the operator
 * files share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rewrites and the fusion recognise an operator by its address and read its
 * attributes through the structs below. */
#ifndef COVAR_AUTODIFF_OPS_H
#define COVAR_AUTODIFF_OPS_H

#include "autodiff/autodiff_impl.h"

#define NELEM(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Elementwise (unary.c, binary.c) ------------------------------------ */

extern const ad_op ad_op_copy, ad_op_neg, ad_op_abs, ad_op_sign, ad_op_floor,
    ad_op_ceil, ad_op_round, ad_op_square, ad_op_recip, ad_op_sqrt, ad_op_exp,
    ad_op_expm1, ad_op_log, ad_op_log1p, ad_op_log1mexp, ad_op_sin, ad_op_cos,
    ad_op_tan, ad_op_atan, ad_op_sinh, ad_op_cosh, ad_op_tanh, ad_op_sigmoid,
    ad_op_softplus, ad_op_softplus_inv, ad_op_log_sigmoid, ad_op_erf,
    ad_op_erfc, ad_op_log_erfc, ad_op_ndtr, ad_op_log_ndtr, ad_op_is_finite,
    ad_op_not;
extern const ad_op ad_op_add, ad_op_sub, ad_op_mul, ad_op_div, ad_op_pow,
    ad_op_min, ad_op_max, ad_op_eq, ad_op_ne, ad_op_lt, ad_op_le, ad_op_where;

/* x written out densely (gone after compiling unless it is needed). */
ad_node *ad_copy(ad_node *x);

/* Shape of an elementwise result and the facts common to its operands. */
covar_status ad_infer_elementwise(ad_node *y);

/* ---- Reductions (reduce.c) ---------------------------------------------- */

typedef struct ad_reduce_fields {
    int64_t axes;
} ad_reduce_fields;
extern const ad_op ad_op_sum, ad_op_reduce_max, ad_op_reduce_min;

/* Puts dims of 1 back where a reduction over `axes` of `rank` dims dropped
 * them. */
ad_node *ad_expand_axes(ad_node *x, unsigned axes, int rank);

/* ---- Shapes (shape.c, reshape.c, ...) ------------------------ */

typedef struct ad_axis_fields {
    int64_t axis;
} ad_axis_fields;
typedef struct ad_dims_fields {
    ad_dims dims;
} ad_dims_fields;
typedef struct ad_permute_fields {
    ad_axes axes;
} ad_permute_fields;
extern const ad_op ad_op_expand, ad_op_squeeze;    /* ad_axis_fields */
extern const ad_op ad_op_reshape, ad_op_broadcast; /* ad_dims_fields */
extern const ad_op ad_op_transpose;                /* none */
extern const ad_op ad_op_permute;                  /* ad_permute_fields */

typedef struct ad_slice_fields {
    int64_t axis;
    ad_dim start;
    ad_dim length; /* of the slice; of the padded array for pad */
} ad_slice_fields;
extern const ad_op ad_op_slice, ad_op_pad;
extern const ad_op ad_op_concat; /* ad_axis_fields; any number of inputs */

extern const ad_op ad_op_gather; /* none */
typedef struct ad_scatter_fields {
    ad_dim size;
} ad_scatter_fields;
extern const ad_op ad_op_scatter_add;

typedef struct ad_cast_fields {
    int64_t dtype;
} ad_cast_fields;
extern const ad_op ad_op_cast;
extern const ad_op ad_op_stop_gradient; /* none */

/* ---- Products and solves (matmul.c, syrk.c, trsm.c) --------------------- */

/* alpha op(A) op(B) (+ beta C in gemm_add). */
typedef struct ad_gemm_fields {
    double alpha, beta;
    int64_t ta, tb;
} ad_gemm_fields;
extern const ad_op ad_op_gemm, ad_op_gemm_add;
ad_node *ad_gemm_add(double alpha, la_trans ta, ad_node *A, la_trans tb,
                     ad_node *B, double beta, ad_node *C);

typedef struct ad_syrk_fields {
    double alpha;
    int64_t trans;
} ad_syrk_fields;
extern const ad_op ad_op_syrk;

typedef struct ad_trsm_fields {
    int64_t side, uplo, trans;
} ad_trsm_fields;
extern const ad_op ad_op_trsm, ad_op_trmm;

/* ---- Factorisations (cholesky.c, chol_rev.c, potri.c, eigh.c) ----------- */

extern const ad_op ad_op_cholesky, ad_op_chol_rev, ad_op_potri, ad_op_eigh;

/* L Phi(L^-1 S L^-T): tangent of the Cholesky factor of A along symmetric S.
 * A direction that is not known to be symmetric is symmetrised first. */
ad_node *ad_chol_fwd(ad_node *L, ad_node *S);

/* x + x', or 2 x where x is known to be symmetric. */
ad_node *ad_plus_transpose(ad_node *x);

/* ---- Triangles and diagonals (tri.c, diag.c, trian.c) ------------------- */

typedef struct ad_tri_fields {
    int64_t kind;
} ad_tri_fields; /* la_tri_kind */
extern const ad_op ad_op_tri;

typedef struct ad_diag_fields {
    int64_t k;
} ad_diag_fields;
extern const ad_op ad_op_extract_diag, ad_op_make_diag; /* ad_diag_fields */
extern const ad_op ad_op_add_diag, ad_op_sum_log_diag;  /* none */
typedef struct ad_trian_fields {
    ad_dim n;
} ad_trian_fields;
extern const ad_op ad_op_extract_trian; /* none */
extern const ad_op ad_op_make_trian;    /* ad_trian_fields */

/* ---- Distances, random numbers, composites, scan ------------------------ */

extern const ad_op ad_op_sqdist, ad_op_sqdist_self; /* none */

typedef struct ad_random_fields {
    int64_t kind; /* la_random_kind */
    int64_t dtype;
    int64_t stream;
    ad_dims dims;
} ad_random_fields;
extern const ad_op ad_op_random;
extern const ad_op ad_op_rng_next; /* none */

extern const ad_op ad_op_logsumexp, ad_op_log_softmax; /* ad_axis_fields */
extern const ad_op ad_op_mvn_logpdf;                   /* none */

/* Body inputs: slices of the sequences, carries, constants; outputs: new
 * carries, results. Node inputs: sequences, initial carries, constants; node
 * outputs: last carries, stacked results, stacked carries. */
typedef struct ad_scan_fields {
    ad_body *body;
    int64_t n_seq, n_carry, n_const, n_result;
    int64_t reverse; /* 1: from the last step to the first */
} ad_scan_fields;
extern const ad_op ad_op_scan;

/* ---- Checks for infer (infer.c) ----------------------------------------- */

/* "'X' 500 x 3 f64": input i of y, for sentences; lives to the end of the
 * full expression. */
typedef struct ad_text {
    char s[160];
} ad_text;
ad_text ad_in_text(const ad_node *y, int i);
ad_text ad_one_dim_text(ad_dim d);

const ad_type *ad_in_type(const ad_node *y, int i);
bool ad_is_one(ad_dim d); /* the constant 1 */

/* Input i is f32 or f64. */
covar_status ad_need_real(ad_node *y, int i);

/* Inputs i and j have one dtype. */
covar_status ad_need_same_dtype(ad_node *y, int i, int j);

/* Input i has at least `rank` dims. */
covar_status ad_need_rank(ad_node *y, int i, int rank);

/* Input i is real with equal last two dims. */
covar_status ad_need_square(ad_node *y, int i);

/* The leading dims of i and j, without their last di and dj, are equal. */
covar_status ad_need_same_batch(ad_node *y, int i, int di, int j, int dj);

/* Dims equal, or allowed to be by ad_dim_equal? */
bool ad_same_dim(const ad_node *y, ad_dim a, ad_dim b);
bool ad_same_dims(const ad_node *y, const ad_type *a, const ad_type *b);

/* Number of elements in the given dims. */
ad_dim ad_dim_product(const ad_dim *dim, int rank);

/* jvp of an operator that is linear in its only input: itself. */
covar_status ad_jvp_same(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[]);

/* ---- For eval ----------------------------------------------------------- */

/* out = x unless they are one buffer already (in place). */
covar_status ad_eval_start(const ad_call *c, int i);

/* Value of a dim among the fields of c's node. */
covar_status ad_call_dim(const ad_call *c, ad_dim d, size_t *value);

/* ---- For examples ------------------------------------------------------- */

/* A (batch) matrix of an example. */
ad_node *ad_example_matrix(ad_example *e, la_dtype dtype, size_t rows,
                           size_t cols, ad_draw draw);
ad_node *ad_example_vector(ad_example *e, la_dtype dtype, size_t n,
                           ad_draw draw);

/* This variant's derivative is right though differences disagree (rounding
 * to a coarser dtype, stop_gradient). */
void ad_example_rough(ad_example *e);

#endif
