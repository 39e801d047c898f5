/* Inserting and dropping a dim of 1: views, each the other's adjoint.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field axis_fields[] = {
    {"axis", AD_FIELD_INT, offsetof(ad_axis_fields, axis)},
    {NULL, AD_FIELD_INT, 0},
};

covar_status ad_jvp_same(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    if (x_dot[0])
        y_dot[0] = ad_apply(NULL, y->op, 1, x_dot, y->fields);
    return COVAR_OK;
}

static int axis_of(const ad_node *y)
{
    return (int)((const ad_axis_fields *)y->fields)->axis;
}

/* ---- expand ------------------------------------------------------------- */

static covar_status infer_expand(ad_node *y)
{
    const ad_type *x = ad_in_type(y, 0);
    int axis = axis_of(y);
    if (axis < 0 || axis > x->rank || x->rank == LA_MAX_DIMS)
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "no room for a dim before axis %d of %s", axis,
                            ad_in_text(y, 0).s);
    ad_type t = *x;
    t.rank = x->rank + 1;
    for (int k = x->rank; k > axis; k--)
        t.dim[k] = x->dim[k - 1];
    t.dim[axis] = ad_fixed(1);
    if (axis > x->rank - 2)
        t.facts &= AD_POSITIVE;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static bool view_expand(const ad_node *y, la_view x, const size_t *dim,
                        const size_t *symbol, la_view *out)
{
    (void)dim, (void)symbol;
    *out = la_view_expand(x, axis_of(y));
    return true;
}

static covar_status vjp_expand(ad_node *y, ad_node *const y_bar[],
                               const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_squeeze(y_bar[0], axis_of(y));
    return COVAR_OK;
}

/* Variants: the axis. */
static covar_status example_expand(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 3));
    size_t dim[2] = {n, 2};
    ad_node *x = ad_example_input(e, dtype, 2, dim, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_expand(x, ad_example_variant(e)));
}

const ad_op ad_op_expand = {
    .abi = AD_OP_ABI,
    .name = "expand",
    .formula = "y = x with a dim of 1 before `axis`",
    .n_in = 1,
    .n_out = 1,
    .fields = axis_fields,
    .fields_size = sizeof(ad_axis_fields),
    .flags = AD_ANY_STRIDE,
    .views = 0,
    .infer = infer_expand,
    .view = view_expand,
    .vjp = vjp_expand,
    .jvp = ad_jvp_same,
    .example = example_expand,
};

ad_node *ad_expand(ad_node *x, int axis)
{
    return ad_apply(NULL, &ad_op_expand, 1, &x, &(ad_axis_fields){axis});
}

/* ---- squeeze ------------------------------------------------------------ */

static covar_status infer_squeeze(ad_node *y)
{
    const ad_type *x = ad_in_type(y, 0);
    int axis = axis_of(y);
    if (axis < 0 || axis >= x->rank || !ad_is_one(x->dim[axis]))
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "axis %d of %s is not a constant dim of 1", axis,
                            ad_in_text(y, 0).s);
    ad_type t = *x;
    t.rank = x->rank - 1;
    for (int k = axis; k < t.rank; k++)
        t.dim[k] = x->dim[k + 1];
    if (axis >= x->rank - 2)
        t.facts &= AD_POSITIVE;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static bool view_squeeze(const ad_node *y, la_view x, const size_t *dim,
                         const size_t *symbol, la_view *out)
{
    (void)dim, (void)symbol;
    *out = x;
    out->rank = x.rank - 1;
    for (int k = axis_of(y); k < out->rank; k++) {
        out->dim[k] = x.dim[k + 1];
        out->stride[k] = x.stride[k + 1];
    }
    return true;
}

static covar_status vjp_squeeze(ad_node *y, ad_node *const y_bar[],
                                const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_expand(y_bar[0], axis_of(y));
    return COVAR_OK;
}

/* Variants: the axis. */
static covar_status example_squeeze(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 3));
    int axis = ad_example_variant(e);
    size_t dim[3] = {n, n, n};
    dim[axis] = 1;
    ad_node *x = ad_example_input(e, dtype, 3, dim, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_squeeze(x, axis));
}

const ad_op ad_op_squeeze = {
    .abi = AD_OP_ABI,
    .name = "squeeze",
    .formula = "y = x without its dim of 1 at `axis`",
    .n_in = 1,
    .n_out = 1,
    .fields = axis_fields,
    .fields_size = sizeof(ad_axis_fields),
    .flags = AD_ANY_STRIDE,
    .views = 0,
    .infer = infer_squeeze,
    .view = view_squeeze,
    .vjp = vjp_squeeze,
    .jvp = ad_jvp_same,
    .example = example_squeeze,
};

ad_node *ad_squeeze(ad_node *x, int axis)
{
    return ad_apply(NULL, &ad_op_squeeze, 1, &x, &(ad_axis_fields){axis});
}
