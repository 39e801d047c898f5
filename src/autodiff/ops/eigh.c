/* The symmetric eigenproblem: two outputs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * U A = diag(lambda) U: rows of U are eigenvectors, lambda ascends; the lower
 * triangle of A is read. With X = U_bar U',
 *   Y_ij = (X_ij - X_ji) / (2 (lambda_i - lambda_j)), Y_ii = lambda_bar_i,
 *   A_bar = U' Y U;   and with P = U A_dot U',
 *   lambda_dot = diag(P), U_dot_i = sum_j P_ij / (lambda_i - lambda_j) U_j.
 * Close eigenvalues: where the gap is below sqrt(eps) of the largest |lambda|
 * and X is symmetric but for rounding, the quotient is noise and is taken as
 * 0, which is exact for functions that do not tell such vectors apart (the
 * log-determinant); an exactly zero gap always gives 0, never NaN.
 * Source: Seeger et al. 2017 (arXiv 1710.08717), section on syevd. */
#include "config.h"

#include "autodiff/ops/ops.h"

#include <float.h>
#include <math.h>

static covar_status infer(ad_node *y)
{
    COVAR_TRY(ad_need_square(y, 0));
    ad_type U = *ad_in_type(y, 0), lambda = U;
    lambda.rank--;
    U.facts = AD_ORTHOGONAL;
    lambda.facts = 0;
    ad_node_set_type(y, 0, &U);
    ad_node_set_type(y, 1, &lambda);
    return COVAR_OK;
}

static size_t work(const ad_node *y, const la_view *x)
{
    (void)y;
    return la_syevd_work_size(x[0].dtype, x[0].dim[x[0].rank - 1]);
}

static covar_status eval(const ad_call *c)
{
    COVAR_TRY(ad_eval_start(c, 0));
    return la_syevd(c->exec, c->out[0], c->out[1], c->work, c->info);
}

/* Largest |x| of each matrix, or of each vector of a batch, to broadcast. */
static ad_node *largest(ad_node *x, int dims)
{
    int rank = x ? ad_rank(x) : 0;
    unsigned axes = 0;
    for (int k = rank - dims; k < rank; k++)
        axes |= AD_AXIS(k);
    return ad_expand_axes(ad_reduce_max(ad_abs(x), axes), axes, rank);
}

static ad_node *number(const ad_node *y, double c)
{
    return ad_scalar(y->graph, ad_node_type(y, 0)->dtype, c);
}

/* lambda_i - lambda_j, and in *safe the same with 1 for 0. */
static ad_node *gaps(ad_node *y, ad_node **safe)
{
    ad_node *lambda = ad_out(y, 1);
    int last = ad_node_type(y, 1)->rank - 1;
    ad_node *D = ad_sub(ad_expand(lambda, last + 1), ad_expand(lambda, last));
    *safe = ad_where(ad_eq(D, number(y, 0)), number(y, 1), D);
    return D;
}

/* (X - X') / (2 gaps), without what is 0 or noise. */
static ad_node *rotation(ad_node *y, ad_node *U_bar)
{
    bool f64 = ad_node_type(y, 0)->dtype == LA_F64;
    double eps = f64 ? DBL_EPSILON : FLT_EPSILON;
    ad_node *U = ad_out(y, 0), *safe, *D = gaps(y, &safe);
    ad_node *X = ad_gemm(1, LA_NO_TRANS, U_bar, LA_TRANS, U);
    ad_node *N = ad_sub(X, ad_transpose(X));
    ad_node *scale =
        ad_expand(largest(ad_out(y, 1), 1), ad_node_type(y, 1)->rank);
    ad_node *close = ad_le(ad_abs(D), ad_scale(scale, sqrt(eps)));
    ad_node *noise = ad_le(ad_abs(N), ad_scale(largest(X, 2), 64 * eps));
    ad_node *zero = ad_max(ad_mul(close, noise), ad_eq(D, number(y, 0)));
    return ad_where(zero, number(y, 0), ad_div(ad_scale(N, 0.5), safe));
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    if (!need[0] || (!y_bar[0] && !y_bar[1]))
        return COVAR_OK;
    ad_node *U = ad_out(y, 0), *Y = NULL;
    if (y_bar[0])
        Y = rotation(y, y_bar[0]);
    if (y_bar[1])
        Y = Y ? ad_add_diag(Y, y_bar[1]) : ad_make_diag(y_bar[1], 0);
    ad_node *UY = ad_gemm(1, LA_TRANS, U, LA_NO_TRANS, Y);
    x_bar[0] = ad_gemm(1, LA_NO_TRANS, UY, LA_NO_TRANS, U);
    return COVAR_OK;
}

static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    if (!x_dot[0])
        return COVAR_OK;
    ad_node *U = ad_out(y, 0), *safe, *D = gaps(y, &safe);
    ad_node *A_dot = ad_symmetrise(x_dot[0]);
    ad_node *UA = ad_gemm(1, LA_NO_TRANS, U, LA_NO_TRANS, A_dot);
    ad_node *P = ad_gemm(1, LA_NO_TRANS, UA, LA_TRANS, U);
    ad_node *zero = number(y, 0);
    ad_node *W = ad_where(ad_eq(D, zero), zero, ad_div(P, safe));
    y_dot[0] = ad_matmul(W, U);
    y_dot[1] = ad_extract_diag(P, 0);
    return COVAR_OK;
}

/* Variants: eigenvectors, eigenvalues, both. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 3));
    int v = ad_example_variant(e);
    ad_node *A = ad_example_matrix(e, dtype, n, n, AD_DRAW_SYMMETRIC);
    ad_node *y = ad_eigh(A);
    if (v < 2)
        return ad_example_result(e, ad_out(y, v));
    ad_node *column = ad_expand(ad_out(y, 1), y ? ad_rank(A) - 1 : 0);
    return ad_example_result(e, ad_mul(ad_out(y, 0), column));
}

const ad_op ad_op_eigh = {
    .abi = AD_OP_ABI,
    .name = "eigh",
    .formula = "U A = diag(lambda) U",
    .source = "Seeger et al. 2017",
    .n_in = 1,
    .n_out = 2,
    .flags = AD_FALLIBLE | AD_BATCHED,
    .views = -1,
    .overwrites = 1,
    .failure = COVAR_ERR_NUMERIC,
    .info_text = "no convergence, code",
    .infer = infer,
    .work = work,
    .eval = eval,
    .vjp = vjp,
    .jvp = jvp,
    .example = example,
};

ad_node *ad_eigh(ad_node *A)
{
    return ad_apply(NULL, &ad_op_eigh, 1, &A, NULL);
}
