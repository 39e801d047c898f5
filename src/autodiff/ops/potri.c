/* The inverse of a positive definite matrix from its Cholesky factor.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A = (L L')^-1, full and symmetric; the lower triangle of L is read.
 * L_bar = -tril(A (A_bar + A_bar') L^-T), with A the output.
 * A_dot = -(M + M'), M = A L_dot L^-1. Source: Seeger et al. 2017. */
#include "config.h"

#include "autodiff/ops/ops.h"

static covar_status infer(ad_node *y)
{
    COVAR_TRY(ad_need_square(y, 0));
    ad_type t = *ad_in_type(y, 0);
    t.facts = AD_SYMMETRIC | AD_PD;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval(const ad_call *c)
{
    COVAR_TRY(ad_eval_start(c, 0));
    return la_potri(c->exec, c->out[0], c->info);
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    if (!need[0] || !y_bar[0])
        return COVAR_OK;
    ad_node *G = y_bar[0];
    double alpha = -1;
    if (ad_node_type(G, 0)->facts & AD_SYMMETRIC)
        alpha = -2;
    else
        G = ad_plus_transpose(G);
    ad_node *AG = ad_gemm(alpha, LA_NO_TRANS, y, LA_NO_TRANS, G);
    x_bar[0] = ad_tril(ad_trsm(LA_RIGHT, LA_LOWER, LA_TRANS, y->in[0], AG));
    return COVAR_OK;
}

static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    if (!x_dot[0])
        return COVAR_OK;
    ad_node *AL = ad_trmm(LA_RIGHT, LA_LOWER, LA_NO_TRANS, x_dot[0], y);
    ad_node *M = ad_trsm(LA_RIGHT, LA_LOWER, LA_NO_TRANS, y->in[0], AL);
    y_dot[0] = ad_neg(ad_plus_transpose(M));
    return COVAR_OK;
}

static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_node *L = ad_example_matrix(e, dtype, n, n, AD_DRAW_LOWER);
    return ad_example_result(e, ad_potri(L));
}

const ad_op ad_op_potri = {
    .abi = AD_OP_ABI,
    .name = "potri",
    .formula = "A = (L L')^-1",
    .source = "Seeger et al. 2017",
    .n_in = 1,
    .n_out = 1,
    .flags = AD_FALLIBLE | AD_BATCHED,
    .views = -1,
    .overwrites = 1,
    .failure = COVAR_ERR_SINGULAR,
    .info_text = "diagonal element",
    .infer = infer,
    .eval = eval,
    .vjp = vjp,
    .jvp = jvp,
    .example = example,
};

ad_node *ad_potri(ad_node *L)
{
    return ad_apply(NULL, &ad_op_potri, 1, &L, NULL);
}
