/* Every operator of autodiff: what loaders and the conformance suite read.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/ops/ops.h"

const ad_op *const ad_ops[] = {
    /* leaves and identity */
    &ad_op_input, &ad_op_param, &ad_op_constant, &ad_op_out,
    &ad_op_placeholder, &ad_op_name, &ad_op_dim_value, &ad_op_fill,
    /* elementwise */
    &ad_op_copy, &ad_op_neg, &ad_op_abs, &ad_op_sign, &ad_op_floor,
    &ad_op_ceil, &ad_op_round, &ad_op_square, &ad_op_recip, &ad_op_sqrt,
    &ad_op_exp, &ad_op_expm1, &ad_op_log, &ad_op_log1p, &ad_op_log1mexp,
    &ad_op_sin, &ad_op_cos, &ad_op_tan, &ad_op_atan, &ad_op_sinh,
    &ad_op_cosh, &ad_op_tanh, &ad_op_sigmoid, &ad_op_softplus,
    &ad_op_softplus_inv, &ad_op_log_sigmoid, &ad_op_erf, &ad_op_erfc,
    &ad_op_log_erfc, &ad_op_ndtr, &ad_op_log_ndtr, &ad_op_is_finite,
    &ad_op_not, &ad_op_add, &ad_op_sub, &ad_op_mul, &ad_op_div, &ad_op_pow,
    &ad_op_min, &ad_op_max, &ad_op_eq, &ad_op_ne, &ad_op_lt, &ad_op_le,
    &ad_op_where,
    /* reductions and shapes */
    &ad_op_sum, &ad_op_reduce_max, &ad_op_reduce_min, &ad_op_expand,
    &ad_op_squeeze, &ad_op_reshape, &ad_op_broadcast, &ad_op_transpose,
    &ad_op_permute, &ad_op_slice, &ad_op_pad, &ad_op_concat, &ad_op_gather,
    &ad_op_scatter_add, &ad_op_cast, &ad_op_stop_gradient,
    /* linear algebra */
    &ad_op_gemm, &ad_op_gemm_add, &ad_op_syrk, &ad_op_trmm, &ad_op_trsm,
    &ad_op_cholesky, &ad_op_chol_rev, &ad_op_potri, &ad_op_eigh, &ad_op_tri,
    &ad_op_extract_diag, &ad_op_make_diag, &ad_op_add_diag,
    &ad_op_extract_trian, &ad_op_make_trian, &ad_op_sum_log_diag,
    &ad_op_sqdist, &ad_op_sqdist_self,
    /* composites, random numbers, loops */
    &ad_op_logsumexp, &ad_op_log_softmax, &ad_op_mvn_logpdf, &ad_op_random,
    &ad_op_rng_next,
    NULL,
};
