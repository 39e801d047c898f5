/* Builders of the elementwise operators, and the few that are made from them.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/ops/ops.h"

static ad_node *one(const ad_op *op, ad_node *x)
{
    return ad_apply(NULL, op, 1, &x, NULL);
}

static ad_node *two(const ad_op *op, ad_node *a, ad_node *b)
{
    return ad_apply(NULL, op, 2, (ad_node *[]){a, b}, NULL);
}

/* A constant like x, of rank 0. */
static ad_node *scalar_like(const ad_node *x, double c)
{
    return ad_scalar(ad_node_graph(x), ad_node_type(x, 0)->dtype, c);
}

ad_node *ad_neg(ad_node *x)
{
    return one(&ad_op_neg, x);
}

ad_node *ad_abs(ad_node *x)
{
    return one(&ad_op_abs, x);
}

ad_node *ad_sign(ad_node *x)
{
    return one(&ad_op_sign, x);
}

ad_node *ad_floor(ad_node *x)
{
    return one(&ad_op_floor, x);
}

ad_node *ad_ceil(ad_node *x)
{
    return one(&ad_op_ceil, x);
}

ad_node *ad_round(ad_node *x)
{
    return one(&ad_op_round, x);
}

ad_node *ad_square(ad_node *x)
{
    return one(&ad_op_square, x);
}

ad_node *ad_recip(ad_node *x)
{
    return one(&ad_op_recip, x);
}

ad_node *ad_sqrt(ad_node *x)
{
    return one(&ad_op_sqrt, x);
}

ad_node *ad_exp(ad_node *x)
{
    return one(&ad_op_exp, x);
}

ad_node *ad_expm1(ad_node *x)
{
    return one(&ad_op_expm1, x);
}

ad_node *ad_log(ad_node *x)
{
    return one(&ad_op_log, x);
}

ad_node *ad_log1p(ad_node *x)
{
    return one(&ad_op_log1p, x);
}

ad_node *ad_log1mexp(ad_node *x)
{
    return one(&ad_op_log1mexp, x);
}

ad_node *ad_sin(ad_node *x)
{
    return one(&ad_op_sin, x);
}

ad_node *ad_cos(ad_node *x)
{
    return one(&ad_op_cos, x);
}

ad_node *ad_tan(ad_node *x)
{
    return one(&ad_op_tan, x);
}

ad_node *ad_atan(ad_node *x)
{
    return one(&ad_op_atan, x);
}

ad_node *ad_sinh(ad_node *x)
{
    return one(&ad_op_sinh, x);
}

ad_node *ad_cosh(ad_node *x)
{
    return one(&ad_op_cosh, x);
}

ad_node *ad_tanh(ad_node *x)
{
    return one(&ad_op_tanh, x);
}

ad_node *ad_sigmoid(ad_node *x)
{
    return one(&ad_op_sigmoid, x);
}

ad_node *ad_softplus(ad_node *x)
{
    return one(&ad_op_softplus, x);
}

ad_node *ad_softplus_inv(ad_node *x)
{
    return one(&ad_op_softplus_inv, x);
}

ad_node *ad_log_sigmoid(ad_node *x)
{
    return one(&ad_op_log_sigmoid, x);
}

ad_node *ad_erf(ad_node *x)
{
    return one(&ad_op_erf, x);
}

ad_node *ad_erfc(ad_node *x)
{
    return one(&ad_op_erfc, x);
}

ad_node *ad_log_erfc(ad_node *x)
{
    return one(&ad_op_log_erfc, x);
}

ad_node *ad_ndtr(ad_node *x)
{
    return one(&ad_op_ndtr, x);
}

ad_node *ad_log_ndtr(ad_node *x)
{
    return one(&ad_op_log_ndtr, x);
}

ad_node *ad_is_finite(ad_node *x)
{
    return one(&ad_op_is_finite, x);
}

ad_node *ad_not(ad_node *x)
{
    return one(&ad_op_not, x);
}

ad_node *ad_copy(ad_node *x)
{
    return one(&ad_op_copy, x);
}

ad_node *ad_add(ad_node *a, ad_node *b)
{
    return two(&ad_op_add, a, b);
}

ad_node *ad_sub(ad_node *a, ad_node *b)
{
    return two(&ad_op_sub, a, b);
}

ad_node *ad_mul(ad_node *a, ad_node *b)
{
    return two(&ad_op_mul, a, b);
}

ad_node *ad_div(ad_node *a, ad_node *b)
{
    return two(&ad_op_div, a, b);
}

ad_node *ad_pow(ad_node *a, ad_node *b)
{
    return two(&ad_op_pow, a, b);
}

ad_node *ad_min(ad_node *a, ad_node *b)
{
    return two(&ad_op_min, a, b);
}

ad_node *ad_max(ad_node *a, ad_node *b)
{
    return two(&ad_op_max, a, b);
}

ad_node *ad_eq(ad_node *a, ad_node *b)
{
    return two(&ad_op_eq, a, b);
}

ad_node *ad_ne(ad_node *a, ad_node *b)
{
    return two(&ad_op_ne, a, b);
}

ad_node *ad_lt(ad_node *a, ad_node *b)
{
    return two(&ad_op_lt, a, b);
}

ad_node *ad_le(ad_node *a, ad_node *b)
{
    return two(&ad_op_le, a, b);
}

ad_node *ad_where(ad_node *c, ad_node *a, ad_node *b)
{
    return ad_apply(NULL, &ad_op_where, 3, (ad_node *[]){c, a, b}, NULL);
}

ad_node *ad_add_scalar(ad_node *x, double c)
{
    return x ? ad_add(x, scalar_like(x, c)) : NULL;
}

ad_node *ad_scale(ad_node *x, double c)
{
    return x ? ad_mul(x, scalar_like(x, c)) : NULL;
}

ad_node *ad_pow_scalar(ad_node *x, double c)
{
    if (c == 2)
        return ad_square(x);
    return x ? ad_pow(x, scalar_like(x, c)) : NULL;
}
