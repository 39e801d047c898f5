/* Triangles: lower, upper, Phi, mirrored, mean with the transpose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All linear. tril, triu, Phi (strict lower plus half the diagonal) and the
 * mean (x + x')/2 are their own adjoints; sym (the lower triangle mirrored up)
 * has the adjoint Phi(y_bar + y_bar'). */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field tri_fields[] = {
    {"kind", AD_FIELD_INT, offsetof(ad_tri_fields, kind)},
    {NULL, AD_FIELD_INT, 0},
};

static const unsigned made[] = {
    [LA_TRIL] = AD_LOWER,         [LA_TRIU] = AD_UPPER,
    [LA_TRI_PHI] = AD_LOWER,      [LA_TRI_SYM] = AD_SYMMETRIC,
    [LA_TRI_MEAN] = AD_SYMMETRIC,
};

static la_tri_kind kind_of(const ad_node *y)
{
    return (la_tri_kind)((const ad_tri_fields *)y->fields)->kind;
}

static covar_status infer(ad_node *y)
{
    int64_t kind = ((const ad_tri_fields *)y->fields)->kind;
    COVAR_TRY(ad_need_square(y, 0));
    if (kind < LA_TRIL || kind > LA_TRI_MEAN)
        return ad_node_fail(y, COVAR_ERR_ARG, "unknown kind %d", (int)kind);
    ad_type t = *ad_in_type(y, 0);
    t.facts = made[kind] | (t.facts & AD_DIAGONAL);
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval(const ad_call *c)
{
    return la_tri(c->exec, kind_of(c->node), c->out[0], c->x[0]);
}

static ad_node *build(la_tri_kind kind, ad_node *x)
{
    return ad_apply(NULL, &ad_op_tri, 1, &x, &(ad_tri_fields){kind});
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    if (!need[0] || !y_bar[0])
        return COVAR_OK;
    if (kind_of(y) == LA_TRI_SYM)
        x_bar[0] = ad_tri_phi(ad_plus_transpose(y_bar[0]));
    else
        x_bar[0] = build(kind_of(y), y_bar[0]);
    return COVAR_OK;
}

/* Variants: the kinds. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, NELEM(made)));
    ad_node *x = ad_example_matrix(e, dtype, n, n, AD_DRAW_NORMAL);
    return ad_example_result(e, build((la_tri_kind)ad_example_variant(e), x));
}

const ad_op ad_op_tri = {
    .abi = AD_OP_ABI,
    .name = "tri",
    .formula = "y = the named part of x, zero elsewhere",
    .n_in = 1,
    .n_out = 1,
    .fields = tri_fields,
    .fields_size = sizeof(ad_tri_fields),
    .flags = AD_BATCHED,
    .views = -1,
    .overwrites = 1,
    .infer = infer,
    .eval = eval,
    .vjp = vjp,
    .jvp = ad_jvp_same,
    .example = example,
};

/* ---- Builders: x itself where it already has that form ------------------ */

static bool is(const ad_node *x, unsigned fact)
{
    return x && (ad_node_type(x, 0)->facts & fact);
}

ad_node *ad_tril(ad_node *x)
{
    return is(x, AD_LOWER) ? x : build(LA_TRIL, x);
}

ad_node *ad_triu(ad_node *x)
{
    return is(x, AD_UPPER) ? x : build(LA_TRIU, x);
}

ad_node *ad_tri_phi(ad_node *x)
{
    return build(LA_TRI_PHI, x);
}

ad_node *ad_tri_sym(ad_node *x)
{
    return is(x, AD_SYMMETRIC) ? x : build(LA_TRI_SYM, x);
}

ad_node *ad_symmetrise(ad_node *x)
{
    return is(x, AD_SYMMETRIC) ? x : build(LA_TRI_MEAN, x);
}
