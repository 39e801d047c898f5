/* Types of elementwise results: broadcast shapes and surviving facts.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/ops/ops.h"

/* Facts that survive when a and b meet elementwise: b of rank 0 or of a's
 * full shape. */
static bool full(const ad_node *y, int i, const ad_type *t)
{
    return ad_same_dims(y, ad_in_type(y, i), t);
}

static bool is_scalar(const ad_node *y, int i)
{
    return ad_in_type(y, i)->rank == 0;
}

/* v v': the product of a vector as a column and as a row. */
static bool is_outer_square(const ad_node *y, int rank)
{
    const ad_node *a = y->in[0], *b = y->in[1];
    if (a->op != &ad_op_expand || b->op != &ad_op_expand ||
        a->in[0] != b->in[0])
        return false;
    int64_t i = ((const ad_axis_fields *)a->fields)->axis;
    int64_t j = ((const ad_axis_fields *)b->fields)->axis;
    return i + j == 2 * rank - 3 && (i == rank - 1 || j == rank - 1);
}

static unsigned facts_of(const ad_node *y, const ad_type *t)
{
    const ad_op *op = y->op;
    unsigned a = ad_in_type(y, 0)->facts, b = ad_in_type(y, 1)->facts;
    bool fa = full(y, 0, t), fb = full(y, 1, t);
    unsigned facts = 0;
    const unsigned tri = AD_LOWER | AD_UPPER | AD_DIAGONAL;
    bool either = op == &ad_op_mul || op == &ad_op_div;
    bool sum = op == &ad_op_add || op == &ad_op_sub;

    if ((fa && (a & AD_SYMMETRIC) &&
         (is_scalar(y, 1) || (fb && (b & AD_SYMMETRIC)))) ||
        (fb && (b & AD_SYMMETRIC) && is_scalar(y, 0)))
        facts |= AD_SYMMETRIC;
    if (op == &ad_op_mul && is_outer_square(y, t->rank))
        facts |= AD_SYMMETRIC;
    if (sum && fa && fb)
        facts |= a & b & tri;
    if (either && fa && is_scalar(y, 1))
        facts |= a & tri;
    if (op == &ad_op_mul && fb && is_scalar(y, 0))
        facts |= b & tri;
    if (op == &ad_op_mul && fa && fb)
        facts |= (a | b) & tri;
    if ((either || op == &ad_op_add) && (a & b & AD_POSITIVE))
        facts |= AD_POSITIVE;
    if (op == &ad_op_add && fa && fb)
        facts |= a & b & AD_PD;
    if (either && fa && (a & AD_PD) && is_scalar(y, 1) && (b & AD_POSITIVE))
        facts |= AD_PD;
    if (op == &ad_op_mul && fb && (b & AD_PD) && is_scalar(y, 0) &&
        (a & AD_POSITIVE))
        facts |= AD_PD;
    return t->rank >= 2 ? facts : facts & AD_POSITIVE;
}

/* Merges operand i into the shape *t; rank -1 = nothing yet. */
static covar_status merge_shape(ad_node *y, int i, ad_type *t, int *first)
{
    const ad_type *x = ad_in_type(y, i);
    if (x->rank == 0)
        return COVAR_OK;
    if (t->rank == 0) {
        *t = *x;
        *first = i;
        return COVAR_OK;
    }
    bool good = x->rank == t->rank;
    for (int k = 0; good && k < x->rank; k++) {
        if (ad_is_one(t->dim[k]))
            t->dim[k] = x->dim[k];
        else if (!ad_is_one(x->dim[k]))
            good = ad_same_dim(y, t->dim[k], x->dim[k]);
    }
    if (good)
        return COVAR_OK;
    const char *hint = x->rank == t->rank
                           ? "only a constant dim of 1 repeats"
                           : "ranks must be equal, or 0; ad_expand adds dims";
    return ad_node_fail(y, COVAR_ERR_SHAPE, "%s does not go with %s: %s",
                        ad_in_text(y, *first).s, ad_in_text(y, i).s, hint);
}

covar_status ad_infer_elementwise(ad_node *y)
{
    ad_type t = {.dtype = ad_in_type(y, 0)->dtype};
    int first = 0;
    COVAR_TRY(ad_need_real(y, 0));
    for (int i = 0; i < y->n_in; i++) {
        COVAR_TRY(ad_need_same_dtype(y, 0, i));
        COVAR_TRY(merge_shape(y, i, &t, &first));
    }
    t.facts = 0;
    if (y->n_in == 2)
        t.facts = facts_of(y, &t);
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

ad_node *ad_unbroadcast(ad_node *x_bar, const ad_node *x)
{
    if (!x_bar || !x)
        return NULL;
    const ad_type *t = ad_node_type(x, 0);
    int rank = ad_rank(x_bar);
    unsigned axes = 0;
    if (t->rank == 0)
        return ad_sum(x_bar, AD_ALL);
    for (int k = 0; k < rank; k++)
        if (ad_is_one(t->dim[k]) && !ad_is_one(ad_dim_of(x_bar, k)))
            axes |= AD_AXIS(k);
    return ad_expand_axes(ad_sum(x_bar, axes), axes, rank);
}
