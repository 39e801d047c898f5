/* Squared distances between rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * D_ij = |x_i - z_j|^2 (sqdist), or |x_i - x_j|^2 (sqdist_self: symmetric,
 * exactly 0 on the diagonal). With G the adjoint of D,
 *   X_bar = 2 (diag(G 1) X - G Z),   Z_bar = 2 (diag(G'1) Z - G'X),
 * and for sqdist_self the first with G + G' for G and X for Z: through gemm,
 * without an n x m x d tensor. */
#include "config.h"

#include "autodiff/ops/ops.h"

static covar_status infer(ad_node *y)
{
    int last = y->n_in - 1;
    COVAR_TRY(ad_need_real(y, 0));
    COVAR_TRY(ad_need_rank(y, 0, 2));
    COVAR_TRY(ad_need_rank(y, last, 2));
    COVAR_TRY(ad_need_same_dtype(y, 0, last));
    COVAR_TRY(ad_need_same_batch(y, 0, 2, last, 2));
    ad_type t = *ad_in_type(y, 0), z = *ad_in_type(y, last);
    int m = t.rank - 2;
    if (!ad_same_dim(y, t.dim[m + 1], z.dim[m + 1]))
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "X is %s but Z is %s: columns differ",
                            ad_in_text(y, 0).s, ad_in_text(y, 1).s);
    t.dim[m + 1] = z.dim[m];
    t.facts = last == 0 ? AD_SYMMETRIC : 0;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static la_view second(const ad_node *y, const la_view *x)
{
    return y->n_in == 2 ? x[1] : la_view_none();
}

static size_t work(const ad_node *y, const la_view *x)
{
    return la_sqdist_work_size(x[0], second(y, x));
}

static covar_status eval(const ad_call *c)
{
    return la_sqdist(c->exec, c->out[0], c->x[0], second(c->node, c->x),
                     c->work);
}

/* 2 (diag(row sums of op(G)) X - op(G) Z). */
static ad_node *pull(ad_node *G, la_trans trans, ad_node *X, ad_node *Z)
{
    if (!G)
        return NULL;
    int m = ad_rank(G) - 2;
    int over = trans == LA_NO_TRANS ? m + 1 : m;
    ad_node *weight = ad_expand(ad_sum(G, AD_AXIS(over)), m + 1);
    return ad_gemm_add(-2, trans, G, LA_NO_TRANS, Z, 2, ad_mul(weight, X));
}

static covar_status vjp_two(ad_node *y, ad_node *const y_bar[],
                            const bool need[], ad_node *x_bar[])
{
    ad_node *X = y->in[0], *Z = y->in[1];
    if (!y_bar[0])
        return COVAR_OK;
    if (need[0])
        x_bar[0] = pull(y_bar[0], LA_NO_TRANS, X, Z);
    if (need[1])
        x_bar[1] = pull(y_bar[0], LA_TRANS, Z, X);
    return COVAR_OK;
}

static covar_status vjp_self(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    ad_node *X = y->in[0];
    if (!need[0] || !y_bar[0])
        return COVAR_OK;
    if (ad_node_type(y_bar[0], 0)->facts & AD_SYMMETRIC)
        x_bar[0] = ad_scale(pull(y_bar[0], LA_NO_TRANS, X, X), 2);
    else
        x_bar[0] = pull(ad_plus_transpose(y_bar[0]), LA_NO_TRANS, X, X);
    return COVAR_OK;
}

/* Variants: few columns, many (another algorithm), one array on both sides. */
static covar_status example_two(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 3));
    int v = ad_example_variant(e);
    size_t d = v == 1 ? 19 : 2;
    ad_node *X = ad_example_matrix(e, dtype, n, d, AD_DRAW_NORMAL);
    ad_node *Z =
        v == 2 ? X : ad_example_matrix(e, dtype, n + 1, d, AD_DRAW_NORMAL);
    return ad_example_result(
        e, ad_apply(NULL, &ad_op_sqdist, 2, (ad_node *[]){X, Z}, NULL));
}

/* Variants: few columns, many. */
static covar_status example_self(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 2));
    ad_node *X = ad_example_matrix(e, dtype, n, ad_example_variant(e) ? 19 : 2,
                                   AD_DRAW_NORMAL);
    return ad_example_result(e, ad_sqdist(X, NULL));
}

const ad_op ad_op_sqdist = {
    .abi = AD_OP_ABI,
    .name = "sqdist",
    .formula = "D_ij = |x_i - z_j|^2",
    .n_in = 2,
    .n_out = 1,
    .flags = AD_BATCHED,
    .views = -1,
    .infer = infer,
    .work = work,
    .eval = eval,
    .vjp = vjp_two,
    .example = example_two,
};

const ad_op ad_op_sqdist_self = {
    .abi = AD_OP_ABI,
    .name = "sqdist_self",
    .formula = "D_ij = |x_i - x_j|^2",
    .n_in = 1,
    .n_out = 1,
    .flags = AD_BATCHED,
    .views = -1,
    .infer = infer,
    .work = work,
    .eval = eval,
    .vjp = vjp_self,
    .example = example_self,
};

ad_node *ad_sqdist(ad_node *X, ad_node *Z)
{
    if (!Z || Z == X)
        return ad_apply(NULL, &ad_op_sqdist_self, 1, &X, NULL);
    return ad_apply(NULL, &ad_op_sqdist, 2, (ad_node *[]){X, Z}, NULL);
}
