/* The Cholesky factorisation and its inverse map's solves.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L L' = A, L lower with positive diagonal; the lower triangle of A is read.
 * A_bar = 1/2 L^-T sym(L' L_bar) L^-1, which is ad_chol_rev(L, L_bar), full
 * and symmetric; L_dot = L Phi(L^-1 A_dot L^-T) for symmetric A_dot.
 * Source: Seeger et al. 2017 (arXiv 1710.08717), Murray 2016 (1602.07527). */
#include "config.h"

#include "autodiff/ops/ops.h"

static covar_status infer(ad_node *y)
{
    COVAR_TRY(ad_need_square(y, 0));
    ad_type t = *ad_in_type(y, 0);
    t.facts = AD_LOWER;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval(const ad_call *c)
{
    COVAR_TRY(ad_eval_start(c, 0));
    return la_potrf(c->exec, c->out[0], c->info);
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_chol_rev(y, y_bar[0]);
    return COVAR_OK;
}

ad_node *ad_chol_fwd(ad_node *L, ad_node *S)
{
    if (!L || !S)
        return NULL;
    if (!(ad_node_type(S, 0)->facts & AD_SYMMETRIC))
        S = ad_symmetrise(S);
    ad_node *W = ad_trsm(LA_LEFT, LA_LOWER, LA_NO_TRANS, L, S);
    ad_node *V = ad_trsm(LA_RIGHT, LA_LOWER, LA_TRANS, L, W);
    return ad_trmm(LA_LEFT, LA_LOWER, LA_NO_TRANS, L, ad_tri_phi(V));
}

static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    if (x_dot[0])
        y_dot[0] = ad_chol_fwd(y, x_dot[0]);
    return COVAR_OK;
}

static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_node *A = ad_example_matrix(e, dtype, n, n, AD_DRAW_PD);
    return ad_example_result(e, ad_cholesky(A));
}

const ad_op ad_op_cholesky = {
    .abi = AD_OP_ABI,
    .name = "cholesky",
    .formula = "L L' = A, L lower",
    .source = "Seeger et al. 2017; Murray 2016",
    .n_in = 1,
    .n_out = 1,
    .flags = AD_FALLIBLE | AD_BATCHED,
    .views = -1,
    .overwrites = 1,
    .failure = COVAR_ERR_NOT_PD,
    .info_text = "leading minor",
    .infer = infer,
    .eval = eval,
    .vjp = vjp,
    .jvp = jvp,
    .example = example,
};

ad_node *ad_cholesky(ad_node *A)
{
    return ad_apply(NULL, &ad_op_cholesky, 1, &A, NULL);
}

ad_node *ad_chol_solve(ad_node *L, ad_node *B)
{
    ad_node *half = ad_trsm(LA_LEFT, LA_LOWER, LA_NO_TRANS, L, B);
    return ad_trsm(LA_LEFT, LA_LOWER, LA_TRANS, L, half);
}
