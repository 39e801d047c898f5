/* Arrays one after the other along an axis.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * y = [x_0; x_1; ...]; the adjoint of each is its slice of y_bar. */
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

static covar_status infer(ad_node *y)
{
    ad_type t = *ad_in_type(y, 0);
    int axis = axis_of(y);
    t.facts = 0;
    if (axis < 0 || axis >= t.rank)
        return ad_node_fail(y, COVAR_ERR_SHAPE, "axis %d of %s", axis,
                            ad_in_text(y, 0).s);
    for (int i = 1; i < y->n_in; i++) {
        COVAR_TRY(ad_need_same_dtype(y, 0, i));
        ad_type x = *ad_in_type(y, i);
        ad_dim mine = x.dim[axis];
        x.dim[axis] = t.dim[axis];
        if (!ad_same_dims(y, &x, &t))
            return ad_node_fail(y, COVAR_ERR_SHAPE,
                                "%s does not go with %s along axis %d",
                                ad_in_text(y, i).s, ad_in_text(y, 0).s, axis);
        t.dim[axis] = ad_dim_add(t.dim[axis], mine);
    }
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval(const ad_call *c)
{
    int axis = axis_of(c->node);
    size_t at = 0;
    for (int i = 0; i < c->node->n_in; i++) {
        size_t length = c->x[i].dim[axis];
        la_view part = la_view_slice(c->out[0], axis, at, length);
        COVAR_TRY(la_copy(c->exec, part, c->x[i]));
        at += length;
    }
    return COVAR_OK;
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    int axis = axis_of(y);
    ad_dim at = ad_fixed(0);
    for (int i = 0; i < y->n_in && y_bar[0]; i++) {
        ad_dim length = ad_in_type(y, i)->dim[axis];
        if (need[i])
            x_bar[i] = ad_slice(y_bar[0], axis, at, length);
        at = ad_dim_add(at, length);
    }
    return COVAR_OK;
}

static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    int axis = axis_of(y);
    ad_dim at = ad_fixed(0), whole = ad_node_type(y, 0)->dim[axis];
    for (int i = 0; i < y->n_in; i++) {
        if (x_dot[i]) {
            ad_node *part = ad_pad(x_dot[i], axis, at, whole);
            y_dot[0] = y_dot[0] ? ad_add(y_dot[0], part) : part;
        }
        at = ad_dim_add(at, ad_in_type(y, i)->dim[axis]);
    }
    return COVAR_OK;
}

/* Variants: two along the first axis, three along the last, one alone, one
 * array twice. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 4));
    static const int count[] = {2, 3, 1, 2};
    int v = ad_example_variant(e), axis = v == 1;
    ad_node *x[3];
    for (int i = 0; i < count[v]; i++) {
        size_t dim[2] = {n, n};
        dim[axis] += (size_t)i;
        x[i] = v == 3 && i ? x[0]
                           : ad_example_input(e, dtype, 2, dim, AD_DRAW_NORMAL);
    }
    return ad_example_result(e, ad_concat(x, count[v], axis));
}

const ad_op ad_op_concat = {
    .abi = AD_OP_ABI,
    .name = "concat",
    .formula = "y = [x_0; x_1; ...] along `axis`",
    .n_in = -1,
    .n_out = 1,
    .fields = axis_fields,
    .fields_size = sizeof(ad_axis_fields),
    .flags = AD_ANY_STRIDE,
    .views = -1,
    .infer = infer,
    .eval = eval,
    .vjp = vjp,
    .jvp = jvp,
    .example = example,
};

ad_node *ad_concat(ad_node *const *x, int n, int axis)
{
    return n > 0 && x
               ? ad_apply(NULL, &ad_op_concat, n, x, &(ad_axis_fields){axis})
               : NULL;
}
