/* log(sum(exp(x))) and x minus it, stable in value and derivative.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * logsumexp: y = m + log sum exp(x - m), m the largest x (0 where that is
 * infinite); x_bar = y_bar exp(x - y), the softmax, never above 1.
 * log_softmax: y = x - logsumexp(x); x_bar = y_bar - exp(y) sum(y_bar). */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field axis_fields[] = {
    {"axis", AD_FIELD_INT, offsetof(ad_axis_fields, axis)},
    {NULL, AD_FIELD_INT, 0},
};

static int axis_of(const ad_node *y)
{
    return (int)((const ad_axis_fields *)y->fields)->axis;
}

static covar_status need_axis(ad_node *y)
{
    COVAR_TRY(ad_need_real(y, 0));
    int64_t axis = ((const ad_axis_fields *)y->fields)->axis;
    if (axis >= 0 && axis < ad_in_type(y, 0)->rank)
        return COVAR_OK;
    return ad_node_fail(y, COVAR_ERR_SHAPE, "axis %d of %s", (int)axis,
                        ad_in_text(y, 0).s);
}

/* x where it is finite, else 0. */
static ad_node *finite(ad_node *x)
{
    ad_node *zero =
        x ? ad_scalar(x->graph, ad_node_type(x, 0)->dtype, 0) : NULL;
    return ad_where(ad_is_finite(x), x, zero);
}

static covar_status infer(ad_node *y)
{
    COVAR_TRY(need_axis(y));
    ad_type t = *ad_in_type(y, 0);
    t.rank--;
    t.facts = 0;
    for (int k = axis_of(y); k < t.rank; k++)
        t.dim[k] = t.dim[k + 1];
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status expand(ad_node *y, ad_node *out[])
{
    int axis = axis_of(y);
    ad_node *x = y->in[0];
    ad_node *m = finite(ad_reduce_max(x, AD_AXIS(axis)));
    ad_node *e = ad_exp(ad_sub(x, ad_expand(m, axis)));
    out[0] = ad_add(ad_log(ad_sum(e, AD_AXIS(axis))), m);
    return COVAR_OK;
}

/* exp(x - y); 0 where every x is -infinity, and so is y. */
static ad_node *softmax(ad_node *y)
{
    ad_node *base = ad_expand(finite(y), axis_of(y));
    return ad_exp(ad_sub(y->in[0], base));
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_mul(ad_expand(y_bar[0], axis_of(y)), softmax(y));
    return COVAR_OK;
}

static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    if (x_dot[0])
        y_dot[0] = ad_sum(ad_mul(softmax(y), x_dot[0]), AD_AXIS(axis_of(y)));
    return COVAR_OK;
}

/* Of both. Variants: last axis, first, a vector. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 3));
    int v = ad_example_variant(e);
    size_t dim[2] = {n, 3};
    if (n == 0) /* the sum of nothing has an infinite logarithm */
        ad_example_rough(e);
    ad_node *x =
        ad_example_input(e, dtype, v == 2 ? 1 : 2, dim, AD_DRAW_NORMAL);
    return ad_example_result(
        e, ad_apply(NULL, ad_example_op(e), 1, &x, &(ad_axis_fields){v == 0}));
}

const ad_op ad_op_logsumexp = {
    .abi = AD_OP_ABI,
    .name = "logsumexp",
    .formula = "y = log sum exp(x) along `axis`",
    .n_in = 1,
    .n_out = 1,
    .fields = axis_fields,
    .fields_size = sizeof(ad_axis_fields),
    .flags = AD_COMPOSITE,
    .views = -1,
    .infer = infer,
    .expand = expand,
    .vjp = vjp,
    .jvp = jvp,
    .example = example,
};

ad_node *ad_logsumexp(ad_node *x, int axis)
{
    return ad_apply(NULL, &ad_op_logsumexp, 1, &x, &(ad_axis_fields){axis});
}

/* ---- log_softmax -------------------------------------------------------- */

static covar_status infer_softmax(ad_node *y)
{
    COVAR_TRY(need_axis(y));
    return ad_like_input(y, 0);
}

static covar_status expand_softmax(ad_node *y, ad_node *out[])
{
    int axis = axis_of(y);
    ad_node *x = y->in[0];
    out[0] = ad_sub(x, ad_expand(ad_logsumexp(x, axis), axis));
    return COVAR_OK;
}

static ad_node *summed(const ad_node *y, ad_node *x)
{
    return ad_expand(ad_sum(x, AD_AXIS(axis_of(y))), axis_of(y));
}

static covar_status vjp_softmax(ad_node *y, ad_node *const y_bar[],
                                const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_sub(y_bar[0], ad_mul(ad_exp(y), summed(y, y_bar[0])));
    return COVAR_OK;
}

static covar_status jvp_softmax(ad_node *y, ad_node *const x_dot[],
                                ad_node *y_dot[])
{
    if (x_dot[0])
        y_dot[0] = ad_sub(x_dot[0], summed(y, ad_mul(ad_exp(y), x_dot[0])));
    return COVAR_OK;
}

const ad_op ad_op_log_softmax = {
    .abi = AD_OP_ABI,
    .name = "log_softmax",
    .formula = "y = x - log sum exp(x) along `axis`",
    .n_in = 1,
    .n_out = 1,
    .fields = axis_fields,
    .fields_size = sizeof(ad_axis_fields),
    .flags = AD_COMPOSITE,
    .views = -1,
    .infer = infer_softmax,
    .expand = expand_softmax,
    .vjp = vjp_softmax,
    .jvp = jvp_softmax,
    .example = example,
};

ad_node *ad_log_softmax(ad_node *x, int axis)
{
    return ad_apply(NULL, &ad_op_log_softmax, 1, &x, &(ad_axis_fields){axis});
}
