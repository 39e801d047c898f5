/* The product of a matrix with its own transpose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * C = alpha A A' (or alpha A'A), full and symmetric.
 * A_bar = alpha (C_bar + C_bar') A (or alpha A (C_bar + C_bar')). */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field syrk_fields[] = {
    {"alpha", AD_FIELD_REAL, offsetof(ad_syrk_fields, alpha)},
    {"trans", AD_FIELD_INT, offsetof(ad_syrk_fields, trans)},
    {NULL, AD_FIELD_INT, 0},
};

static const ad_syrk_fields *fields_of(const ad_node *y)
{
    return y->fields;
}

static covar_status infer(ad_node *y)
{
    COVAR_TRY(ad_need_real(y, 0));
    COVAR_TRY(ad_need_rank(y, 0, 2));
    ad_type t = *ad_in_type(y, 0);
    int m = t.rank - 2;
    ad_dim n = t.dim[m + (fields_of(y)->trans != LA_NO_TRANS)];
    t.dim[m] = t.dim[m + 1] = n;
    t.facts = AD_SYMMETRIC;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval(const ad_call *c)
{
    const ad_syrk_fields *f = fields_of(c->node);
    return la_syrk(c->exec, f->alpha, (la_trans)f->trans, c->x[0], 0,
                   c->out[0]);
}

ad_node *ad_plus_transpose(ad_node *x)
{
    if (x && (ad_node_type(x, 0)->facts & AD_SYMMETRIC))
        return ad_scale(x, 2);
    return ad_add(x, ad_transpose(x));
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    const ad_syrk_fields *f = fields_of(y);
    if (!need[0] || !y_bar[0])
        return COVAR_OK;
    ad_node *A = y->in[0], *G = y_bar[0];
    double alpha = f->alpha;
    if (ad_node_type(G, 0)->facts & AD_SYMMETRIC)
        alpha *= 2;
    else
        G = ad_plus_transpose(G);
    bool left = f->trans == LA_NO_TRANS;
    x_bar[0] =
        ad_gemm(alpha, LA_NO_TRANS, left ? G : A, LA_NO_TRANS, left ? A : G);
    return COVAR_OK;
}

static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    const ad_syrk_fields *f = fields_of(y);
    bool rows = f->trans == LA_NO_TRANS;
    if (x_dot[0])
        y_dot[0] = ad_plus_transpose(
            ad_gemm(f->alpha, rows ? LA_NO_TRANS : LA_TRANS, x_dot[0],
                    rows ? LA_TRANS : LA_NO_TRANS, y->in[0]));
    return COVAR_OK;
}

/* Variants: A A' and -2 A'A. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 2));
    int v = ad_example_variant(e);
    ad_node *A = ad_example_matrix(e, dtype, n, 3, AD_DRAW_NORMAL);
    return ad_example_result(
        e, ad_syrk(v ? -2 : 1, v ? LA_TRANS : LA_NO_TRANS, A));
}

const ad_op ad_op_syrk = {
    .abi = AD_OP_ABI,
    .name = "syrk",
    .formula = "C = alpha A A' or alpha A'A",
    .n_in = 1,
    .n_out = 1,
    .fields = syrk_fields,
    .fields_size = sizeof(ad_syrk_fields),
    .flags = AD_BATCHED,
    .views = -1,
    .infer = infer,
    .eval = eval,
    .vjp = vjp,
    .jvp = jvp,
    .example = example,
};

ad_node *ad_syrk(double alpha, la_trans trans, ad_node *A)
{
    return ad_apply(NULL, &ad_op_syrk, 1, &A, &(ad_syrk_fields){alpha, trans});
}
