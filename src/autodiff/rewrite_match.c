/* Matching: small questions that rules ask of nodes.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/rewrite_impl.h"

ad_node *ad_match(ad_node *x, const ad_op *op, int i)
{
    return x && x->op == op && i < x->n_in ? x->in[i] : NULL;
}

bool ad_is_uniform(const ad_node *x, double c)
{
    double value;
    return ad_is_constant(x, &value) && value == c;
}

ad_node *ad_match_scalar(ad_node *x, const ad_op *op, double *c)
{
    if (!x || x->op != op || x->n_in != 2)
        return NULL;
    if (ad_is_constant(x->in[1], c))
        return x->in[0];
    bool commutes = op == &ad_op_add || op == &ad_op_mul;
    return commutes && ad_is_constant(x->in[0], c) ? x->in[1] : NULL;
}

ad_node *ad_match_neg(ad_node *x)
{
    double c;
    ad_node *a = ad_match(x, &ad_op_neg, 0);
    if (a)
        return a;
    a = ad_match_scalar(x, &ad_op_mul, &c);
    return a && c == -1 ? a : NULL;
}

ad_node *ad_match_one_plus(ad_node *x)
{
    double c;
    ad_node *a = ad_match_scalar(x, &ad_op_add, &c);
    return a && c == 1 ? a : NULL;
}

ad_node *ad_match_one_minus(ad_node *x)
{
    if (x && x->op == &ad_op_sub && ad_is_uniform(x->in[0], 1))
        return x->in[1];
    return ad_match_neg(ad_match_one_plus(x));
}

bool ad_same_shape(const ad_node *x, const ad_node *y)
{
    const ad_type *a = x->type, *b = y->type;
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int k = 0; same && k < a->rank; k++)
        same = ad_dim_same(a->dim[k], b->dim[k]);
    return same;
}

ad_node *ad_shaped_like(ad_node *x, const ad_node *y)
{
    if (!x || ad_same_shape(x, y))
        return x;
    if (x->type->dtype != y->type->dtype ||
        (x->type->rank != 0 && x->type->rank != y->type->rank))
        return NULL;
    for (int k = 0; k < x->type->rank; k++)
        if (!ad_is_one(x->type->dim[k]) &&
            !ad_dim_same(x->type->dim[k], y->type->dim[k]))
            return NULL;
    return ad_broadcast_like(x, y);
}
