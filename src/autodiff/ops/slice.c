/* Parts of an array along one axis: slice (a view), pad (its adjoint), concat.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * slice: y = x[start : start + length]. pad: y = 0 but y[start : start + m] =
 * x, m the length of x. concat: the inputs one after the other. */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field slice_fields[] = {
    {"axis", AD_FIELD_INT, offsetof(ad_slice_fields, axis)},
    {"start", AD_FIELD_DIM, offsetof(ad_slice_fields, start)},
    {"length", AD_FIELD_DIM, offsetof(ad_slice_fields, length)},
    {NULL, AD_FIELD_INT, 0},
};

static const ad_slice_fields *fields_of(const ad_node *y)
{
    return y->fields;
}

/* The whole (an axis of `whole`) holds start + part? Only where all three are
 * known; else it is checked when sizes are bound. */
static bool fits(ad_dim whole, ad_dim start, ad_dim part)
{
    size_t w, s, p;
    if (!ad_dim_is_fixed(whole, &w) || !ad_dim_is_fixed(start, &s) ||
        !ad_dim_is_fixed(part, &p))
        return true;
    return s <= w && p <= w - s;
}

/* The type of slice (longer = false) or pad (true). */
static covar_status infer_part(ad_node *y, bool longer)
{
    const ad_type *x = ad_in_type(y, 0);
    const ad_slice_fields *f = fields_of(y);
    if (f->axis < 0 || f->axis >= x->rank)
        return ad_node_fail(y, COVAR_ERR_SHAPE, "axis %d of %s", (int)f->axis,
                            ad_in_text(y, 0).s);
    ad_dim mine = x->dim[f->axis];
    if (!fits(longer ? f->length : mine, f->start, longer ? mine : f->length))
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            longer
                                ? "%s does not fit: start %s in length %s"
                                : "of %s: start %s, length %s are out of range",
                            ad_in_text(y, 0).s, ad_one_dim_text(f->start).s,
                            ad_one_dim_text(f->length).s);
    ad_type t = *x;
    t.dim[f->axis] = f->length;
    t.facts &= longer ? 0 : AD_POSITIVE;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status infer_slice(ad_node *y)
{
    return infer_part(y, false);
}

static bool view_slice(const ad_node *y, la_view x, const size_t *dim,
                       const size_t *symbol, la_view *out)
{
    const ad_slice_fields *f = fields_of(y);
    const ad_call c = {.node = y, .symbol = symbol};
    size_t start, axis = (size_t)f->axis;
    if (ad_call_dim(&c, f->start, &start) != COVAR_OK || start > x.dim[axis] ||
        dim[axis] > x.dim[axis] - start)
        return false;
    *out = la_view_slice(x, (int)axis, start, dim[axis]);
    return true;
}

static covar_status vjp_slice(ad_node *y, ad_node *const y_bar[],
                              const bool need[], ad_node *x_bar[])
{
    const ad_slice_fields *f = fields_of(y);
    if (need[0] && y_bar[0])
        x_bar[0] = ad_pad(y_bar[0], (int)f->axis, f->start,
                          ad_in_type(y, 0)->dim[f->axis]);
    return COVAR_OK;
}

/* Variants: inside along the first and the last axis, the head, nothing. */
static covar_status example_slice(ad_example *e, size_t n, la_dtype dtype)
{
    static const int axis[] = {0, 1, 0, 1};
    static const size_t start[] = {1, 2, 0, 3};
    COVAR_TRY(ad_example_variants(e, 4));
    int v = ad_example_variant(e);
    size_t dim[2] = {n + 2, n + 3}, length[] = {n, n, n, 0};
    ad_node *x = ad_example_input(e, dtype, 2, dim, AD_DRAW_NORMAL);
    return ad_example_result(
        e, ad_slice(x, axis[v], ad_fixed(start[v]), ad_fixed(length[v])));
}

const ad_op ad_op_slice = {
    .abi = AD_OP_ABI,
    .name = "slice",
    .formula = "y = x[start : start + length] along `axis`",
    .n_in = 1,
    .n_out = 1,
    .fields = slice_fields,
    .fields_size = sizeof(ad_slice_fields),
    .flags = AD_ANY_STRIDE,
    .views = 0,
    .infer = infer_slice,
    .view = view_slice,
    .vjp = vjp_slice,
    .jvp = ad_jvp_same,
    .example = example_slice,
};

ad_node *ad_slice(ad_node *x, int axis, ad_dim start, ad_dim length)
{
    return ad_apply(NULL, &ad_op_slice, 1, &x,
                    &(ad_slice_fields){axis, start, length});
}

/* ---- pad ---------------------------------------------------------------- */

static covar_status infer_pad(ad_node *y)
{
    COVAR_TRY(ad_need_real(y, 0));
    return infer_part(y, true);
}

static covar_status eval_pad(const ad_call *c)
{
    const ad_slice_fields *f = fields_of(c->node);
    la_view out = c->out[0];
    size_t start, axis = (size_t)f->axis;
    COVAR_TRY(ad_call_dim(c, f->start, &start));
    size_t length = c->x[0].dim[axis];
    if (start > out.dim[axis] || length > out.dim[axis] - start)
        return ad_node_fail(c->node, COVAR_ERR_SHAPE,
                            "%zu elements do not fit at %zu of %zu", length,
                            start, out.dim[axis]);
    COVAR_TRY(la_fill(c->exec, out, 0));
    return la_copy(c->exec, la_view_slice(out, (int)axis, start, length),
                   c->x[0]);
}

static covar_status vjp_pad(ad_node *y, ad_node *const y_bar[],
                            const bool need[], ad_node *x_bar[])
{
    const ad_slice_fields *f = fields_of(y);
    if (need[0] && y_bar[0])
        x_bar[0] = ad_slice(y_bar[0], (int)f->axis, f->start,
                            ad_in_type(y, 0)->dim[f->axis]);
    return COVAR_OK;
}

/* Variants: along the first and the last axis. */
static covar_status example_pad(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 2));
    size_t dim[2] = {n, n};
    ad_node *x = ad_example_input(e, dtype, 2, dim, AD_DRAW_NORMAL);
    return ad_example_result(
        e, ad_pad(x, ad_example_variant(e), ad_fixed(2), ad_fixed(n + 3)));
}

const ad_op ad_op_pad = {
    .abi = AD_OP_ABI,
    .name = "pad",
    .formula = "y = 0, but y[start : start + m] = x along `axis`",
    .n_in = 1,
    .n_out = 1,
    .fields = slice_fields,
    .fields_size = sizeof(ad_slice_fields),
    .flags = AD_ANY_STRIDE,
    .views = -1,
    .infer = infer_pad,
    .eval = eval_pad,
    .vjp = vjp_pad,
    .jvp = ad_jvp_same,
    .example = example_pad,
};

ad_node *ad_pad(ad_node *x, int axis, ad_dim start, ad_dim size)
{
    return ad_apply(NULL, &ad_op_pad, 1, &x,
                    &(ad_slice_fields){axis, start, size});
}
