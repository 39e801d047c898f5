/* Reverse mode of the Cholesky factorisation, as an operator of its own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A_bar = 1/2 L^-T sym(L' L_bar) L^-1, sym = lower triangle mirrored up; only
 * the lower triangle of L_bar is read. Evaluated by the blocked reverse sweep,
 * 2 n^3/3 flops (Murray 2016, arXiv 1602.07527); expand is the formula.
 *
 * Its own adjoint, for W the mean of A_bar_bar and its transpose and
 * V = L^-1 W L^-T: L_bar_bar = L Phi(V), which is the tangent of Cholesky, and
 * from dA_bar = -2 sym(A_bar dL L^-1) + 1/2 L^-T sym(dL' L_bar) L^-1
 * L_bar' = tril(L_bar Phi(V)' - 2 A_bar L V). */
#include "config.h"

#include "autodiff/ops/ops.h"

static covar_status infer(ad_node *y)
{
    COVAR_TRY(ad_need_square(y, 0));
    COVAR_TRY(ad_need_same_dtype(y, 0, 1));
    if (!ad_same_dims(y, ad_in_type(y, 0), ad_in_type(y, 1)))
        return ad_node_fail(y, COVAR_ERR_SHAPE, "L is %s but L_bar is %s",
                            ad_in_text(y, 0).s, ad_in_text(y, 1).s);
    ad_type t = *ad_in_type(y, 0);
    t.facts = AD_SYMMETRIC;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval(const ad_call *c)
{
    COVAR_TRY(ad_eval_start(c, 1));
    return la_chol_rev(c->exec, c->x[0], c->out[0]);
}

static covar_status expand(ad_node *y, ad_node *out[])
{
    ad_node *L = y->in[0], *L_bar = ad_tril(y->in[1]);
    ad_node *S = ad_tri_sym(ad_trmm(LA_LEFT, LA_LOWER, LA_TRANS, L, L_bar));
    ad_node *W = ad_trsm(LA_LEFT, LA_LOWER, LA_TRANS, L, S);
    ad_node *A = ad_trsm(LA_RIGHT, LA_LOWER, LA_NO_TRANS, L, W);
    out[0] = ad_scale(A, 0.5);
    return COVAR_OK;
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    if (!y_bar[0])
        return COVAR_OK;
    ad_node *L = y->in[0], *W = y_bar[0];
    if (!(ad_node_type(W, 0)->facts & AD_SYMMETRIC))
        W = ad_symmetrise(W);
    ad_node *half = ad_trsm(LA_LEFT, LA_LOWER, LA_NO_TRANS, L, W);
    ad_node *V = ad_trsm(LA_RIGHT, LA_LOWER, LA_TRANS, L, half);
    ad_node *P = ad_tri_phi(V);
    if (need[1])
        x_bar[1] = ad_trmm(LA_LEFT, LA_LOWER, LA_NO_TRANS, L, P);
    if (need[0]) {
        ad_node *LV = ad_trmm(LA_LEFT, LA_LOWER, LA_NO_TRANS, L, V);
        ad_node *a = ad_gemm(1, LA_NO_TRANS, ad_tril(y->in[1]), LA_TRANS, P);
        ad_node *b = ad_gemm(2, LA_NO_TRANS, y, LA_NO_TRANS, LV);
        x_bar[0] = ad_tril(ad_sub(a, b));
    }
    return COVAR_OK;
}

static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_node *L = ad_example_matrix(e, dtype, n, n, AD_DRAW_LOWER);
    ad_node *L_bar = ad_example_matrix(e, dtype, n, n, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_chol_rev(L, L_bar));
}

const ad_op ad_op_chol_rev = {
    .abi = AD_OP_ABI,
    .name = "chol_rev",
    .formula = "A_bar = 1/2 L^-T sym(L' L_bar) L^-1",
    .source = "Murray 2016, arXiv 1602.07527",
    .n_in = 2,
    .n_out = 1,
    .flags = AD_BATCHED,
    .views = -1,
    .overwrites = 1u << 1,
    .infer = infer,
    .eval = eval,
    .expand = expand,
    .vjp = vjp,
    .example = example,
};

ad_node *ad_chol_rev(ad_node *L, ad_node *L_bar)
{
    return ad_apply(NULL, &ad_op_chol_rev, 2, (ad_node *[]){L, L_bar}, NULL);
}
