/* The dims in another order: views.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * transpose swaps the last two dims, permute(axis): dim k of y is dim axis[k]
 * of x. Their adjoint is the inverse order. */
#include "config.h"

#include "autodiff/ops/ops.h"

/* ---- transpose ---------------------------------------------------------- */

static covar_status infer_transpose(ad_node *y)
{
    COVAR_TRY(ad_need_rank(y, 0, 2));
    ad_type t = *ad_in_type(y, 0);
    unsigned swapped = t.facts & ~(unsigned)(AD_LOWER | AD_UPPER);
    if (t.facts & AD_LOWER)
        swapped |= AD_UPPER;
    if (t.facts & AD_UPPER)
        swapped |= AD_LOWER;
    ad_dim last = t.dim[t.rank - 1];
    t.dim[t.rank - 1] = t.dim[t.rank - 2];
    t.dim[t.rank - 2] = last;
    t.facts = swapped;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static bool view_transpose(const ad_node *y, la_view x, const size_t *dim,
                           const size_t *symbol, la_view *out)
{
    (void)y, (void)dim, (void)symbol;
    *out = la_view_transpose(x);
    return true;
}

static covar_status vjp_transpose(ad_node *y, ad_node *const y_bar[],
                                  const bool need[], ad_node *x_bar[])
{
    (void)y;
    if (need[0] && y_bar[0])
        x_bar[0] = ad_transpose(y_bar[0]);
    return COVAR_OK;
}

static covar_status example_transpose(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_node *x = ad_example_matrix(e, dtype, n, 3, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_apply(NULL, &ad_op_transpose, 1, &x, NULL));
}

const ad_op ad_op_transpose = {
    .abi = AD_OP_ABI,
    .name = "transpose",
    .formula = "y = x', the last two dims swapped",
    .n_in = 1,
    .n_out = 1,
    .flags = AD_ANY_STRIDE | AD_BATCHED,
    .views = 0,
    .infer = infer_transpose,
    .view = view_transpose,
    .vjp = vjp_transpose,
    .jvp = ad_jvp_same,
    .example = example_transpose,
};

/* Of a transpose: what was transposed; of a symmetric matrix: itself. */
ad_node *ad_transpose(ad_node *x)
{
    if (x && x->op == &ad_op_transpose)
        return x->in[0];
    if (x && (ad_node_type(x, 0)->facts & AD_SYMMETRIC))
        return x;
    return ad_apply(NULL, &ad_op_transpose, 1, &x, NULL);
}

/* ---- permute ------------------------------------------------------------ */

static const ad_field permute_fields[] = {
    {"axes", AD_FIELD_AXES, offsetof(ad_permute_fields, axes)},
    {NULL, AD_FIELD_INT, 0},
};

static const ad_axes *axes_of(const ad_node *y)
{
    return &((const ad_permute_fields *)y->fields)->axes;
}

static covar_status infer_permute(ad_node *y)
{
    const ad_type *x = ad_in_type(y, 0);
    const ad_axes *a = axes_of(y);
    unsigned seen = 0;
    ad_type t = *x;
    t.facts &= AD_POSITIVE;
    for (int k = 0; k < x->rank; k++) {
        int axis = a->axis[k];
        if (axis < 0 || axis >= x->rank || (seen & AD_AXIS(axis)))
            return ad_node_fail(y, COVAR_ERR_ARG,
                                "axis %d at place %d is not a permutation of "
                                "the %d dims of %s",
                                axis, k, x->rank, ad_in_text(y, 0).s);
        seen |= AD_AXIS(axis);
        t.dim[k] = x->dim[axis];
    }
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static bool view_permute(const ad_node *y, la_view x, const size_t *dim,
                         const size_t *symbol, la_view *out)
{
    (void)dim, (void)symbol;
    *out = x;
    for (int k = 0; k < x.rank; k++) {
        out->dim[k] = x.dim[axes_of(y)->axis[k]];
        out->stride[k] = x.stride[axes_of(y)->axis[k]];
    }
    return true;
}

static covar_status vjp_permute(ad_node *y, ad_node *const y_bar[],
                                const bool need[], ad_node *x_bar[])
{
    int inverse[LA_MAX_DIMS] = {0};
    for (int k = 0; k < axes_of(y)->n; k++)
        inverse[axes_of(y)->axis[k]] = k;
    if (need[0] && y_bar[0])
        x_bar[0] = ad_permute(y_bar[0], inverse);
    return COVAR_OK;
}

/* Variants: two cycles and a swap of (n,2,3). */
static covar_status example_permute(ad_example *e, size_t n, la_dtype dtype)
{
    static const int axis[][3] = {{1, 2, 0}, {2, 0, 1}, {1, 0, 2}};
    COVAR_TRY(ad_example_variants(e, 3));
    size_t dim[3] = {n, 2, 3};
    ad_node *x = ad_example_input(e, dtype, 3, dim, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_permute(x, axis[ad_example_variant(e)]));
}

const ad_op ad_op_permute = {
    .abi = AD_OP_ABI,
    .name = "permute",
    .formula = "dim k of y is dim axes[k] of x",
    .n_in = 1,
    .n_out = 1,
    .fields = permute_fields,
    .fields_size = sizeof(ad_permute_fields),
    .flags = AD_ANY_STRIDE,
    .views = 0,
    .infer = infer_permute,
    .view = view_permute,
    .vjp = vjp_permute,
    .jvp = ad_jvp_same,
    .example = example_permute,
};

ad_node *ad_permute(ad_node *x, const int *axis)
{
    ad_permute_fields f = {{0}};
    if (!x)
        return NULL;
    if (!axis) {
        ad_graph_fail(x->graph, COVAR_ERR_ARG, "ad_permute: axis is NULL");
        return NULL;
    }
    f.axes.n = ad_rank(x);
    for (int k = 0; k < f.axes.n; k++)
        f.axes.axis[k] = axis[k];
    return ad_apply(NULL, &ad_op_permute, 1, &x, &f);
}
