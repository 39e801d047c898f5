/* Another dtype, and the value without its derivative.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cast rounds between f32 and f64 and truncates toward zero to integers (NaN
 * or out of range fails when it runs); only f32 and f64 carry adjoints. */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field cast_fields[] = {
    {"dtype", AD_FIELD_INT, offsetof(ad_cast_fields, dtype)},
    {NULL, AD_FIELD_INT, 0},
};

static la_dtype dtype_of(const ad_node *y)
{
    return (la_dtype)((const ad_cast_fields *)y->fields)->dtype;
}

static bool smooth(const ad_node *y)
{
    return la_dtype_is_real(dtype_of(y)) &&
           la_dtype_is_real(ad_in_type(y, 0)->dtype);
}

static covar_status infer_cast(ad_node *y)
{
    ad_type t = *ad_in_type(y, 0);
    int64_t dtype = ((const ad_cast_fields *)y->fields)->dtype;
    if (dtype < LA_F64 || dtype > LA_U8)
        return ad_node_fail(y, COVAR_ERR_DTYPE, "unknown dtype %d", (int)dtype);
    if (!smooth(y))
        t.facts &= AD_SYMMETRIC | AD_LOWER | AD_UPPER | AD_DIAGONAL;
    t.dtype = (la_dtype)dtype;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval_cast(const ad_call *c)
{
    return la_copy(c->exec, c->out[0], c->x[0]);
}

static covar_status vjp_cast(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0] && smooth(y))
        x_bar[0] = ad_cast(y_bar[0], ad_in_type(y, 0)->dtype);
    return COVAR_OK;
}

static covar_status jvp_cast(ad_node *y, ad_node *const x_dot[],
                             ad_node *y_dot[])
{
    if (x_dot[0] && smooth(y))
        y_dot[0] = ad_cast(x_dot[0], dtype_of(y));
    return COVAR_OK;
}

/* Variants: to f64, to f32, to i32 and back. */
static covar_status example_cast(ad_example *e, size_t n, la_dtype dtype)
{
    static const la_dtype to[] = {LA_F64, LA_F32, LA_I32};
    COVAR_TRY(ad_example_variants(e, 3));
    la_dtype t = to[ad_example_variant(e)];
    if (t != LA_F64)
        ad_example_rough(e);
    ad_node *x = ad_example_vector(e, dtype, n, AD_DRAW_NORMAL);
    ad_node *y = ad_apply(NULL, &ad_op_cast, 1, &x, &(ad_cast_fields){t});
    return ad_example_result(e, ad_cast(y, dtype));
}

const ad_op ad_op_cast = {
    .abi = AD_OP_ABI,
    .name = "cast",
    .formula = "y = x in another dtype",
    .n_in = 1,
    .n_out = 1,
    .fields = cast_fields,
    .fields_size = sizeof(ad_cast_fields),
    .flags = AD_ANY_STRIDE | AD_BATCHED,
    .views = -1,
    .infer = infer_cast,
    .eval = eval_cast,
    .vjp = vjp_cast,
    .jvp = jvp_cast,
    .example = example_cast,
};

ad_node *ad_cast(ad_node *x, la_dtype dtype)
{
    if (x && ad_node_type(x, 0)->dtype == dtype)
        return x;
    return ad_apply(NULL, &ad_op_cast, 1, &x, &(ad_cast_fields){dtype});
}

/* ---- stop_gradient ------------------------------------------------------ */

static covar_status infer_stop(ad_node *y)
{
    ad_node_set_type(y, 0, ad_in_type(y, 0));
    return COVAR_OK;
}

static bool view_stop(const ad_node *y, la_view x, const size_t *dim,
                      const size_t *symbol, la_view *out)
{
    (void)y, (void)dim, (void)symbol;
    *out = x;
    return true;
}

static covar_status vjp_stop(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    (void)y, (void)y_bar, (void)need;
    x_bar[0] = AD_ZERO;
    return COVAR_OK;
}

static covar_status jvp_stop(ad_node *y, ad_node *const x_dot[],
                             ad_node *y_dot[])
{
    (void)y, (void)x_dot, (void)y_dot;
    return COVAR_OK;
}

static covar_status example_stop(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_example_rough(e);
    ad_node *x = ad_example_vector(e, dtype, n, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_stop_gradient(x));
}

const ad_op ad_op_stop_gradient = {
    .abi = AD_OP_ABI,
    .name = "stop_gradient",
    .formula = "y = x, but with derivative 0",
    .n_in = 1,
    .n_out = 1,
    .flags = AD_ANY_STRIDE | AD_BATCHED,
    .views = 0,
    .infer = infer_stop,
    .view = view_stop,
    .vjp = vjp_stop,
    .jvp = jvp_stop,
    .example = example_stop,
};

ad_node *ad_stop_gradient(ad_node *x)
{
    return ad_apply(NULL, &ad_op_stop_gradient, 1, &x, NULL);
}
