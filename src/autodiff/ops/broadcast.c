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

/* One dim of a matrix is 1: a row or a column. */
static bool is_vector(const ad_node *x)
{
    const ad_type *t = x->type;
    return t->rank == 1 ||
           (t->rank == 2 && (ad_is_one(t->dim[0]) || ad_is_one(t->dim[1])));
}

/* The vector that a row or column has its elements from, in their order. */
static const ad_node *elements_of(const ad_node *x)
{
    while (is_vector(x) && (x->op == &ad_op_expand || x->op == &ad_op_squeeze ||
                            x->op == &ad_op_transpose))
        x = x->in[0];
    return x;
}

/* v expanded to a column and to a row, also of every matrix of a batch. */
static bool is_expanded_pair(const ad_node *y, int rank)
{
    const ad_node *a = y->in[0], *b = y->in[1];
    if (a->op != &ad_op_expand || b->op != &ad_op_expand ||
        a->in[0] != b->in[0])
        return false;
    int64_t i = ((const ad_axis_fields *)a->fields)->axis;
    int64_t j = ((const ad_axis_fields *)b->fields)->axis;
    return i + j == 2 * rank - 3 && (i == rank - 1 || j == rank - 1);
}

/* Is one operand of a matrix the other, transposed? */
static bool is_transposed_pair(const ad_node *y, const ad_type *t)
{
    const ad_node *a = y->in[0], *b = y->in[1];
    if (t->rank != 2 || is_expanded_pair(y, t->rank))
        return is_expanded_pair(y, t->rank);
    if ((a->op == &ad_op_transpose && a->in[0] == b) ||
        (b->op == &ad_op_transpose && b->in[0] == a))
        return true;
    return is_vector(a) && is_vector(b) && elements_of(a) == elements_of(b) &&
           ad_is_one(a->type->dim[0]) != ad_is_one(b->type->dim[0]) &&
           ad_is_one(a->type->dim[1]) != ad_is_one(b->type->dim[1]);
}

static bool commutes(const ad_op *op)
{
    return op == &ad_op_add || op == &ad_op_mul || op == &ad_op_min ||
           op == &ad_op_max || op == &ad_op_eq || op == &ad_op_ne;
}

/* Operand i, as far as the transpose of the result goes. */
static unsigned symmetry_in(const ad_node *y, int i, const ad_type *t)
{
    if (is_scalar(y, i))
        return AD_SYMMETRIC;
    return full(y, i, t) ? ad_in_type(y, i)->facts & (AD_SYMMETRIC | AD_SKEW)
                         : 0;
}

/* Is y the same (AD_SYMMETRIC) or the negative (AD_SKEW) with the last two
 * dims swapped? */
static unsigned symmetry_of(const ad_node *y, const ad_type *t)
{
    const ad_op *op = y->op;
    unsigned all = AD_SYMMETRIC;
    const bool product = op == &ad_op_mul || op == &ad_op_div;
    const bool sum = op == &ad_op_add || op == &ad_op_sub;
    for (int i = 0; i < y->n_in; i++)
        all &= symmetry_in(y, i, t);
    if (all || y->n_in != 2)
        return all;
    if ((commutes(op) || op == &ad_op_sub) && is_transposed_pair(y, t))
        return op == &ad_op_sub ? AD_SKEW : AD_SYMMETRIC;
    const unsigned a = symmetry_in(y, 0, t), b = symmetry_in(y, 1, t);
    if (product && a && b)
        return a & b & AD_SKEW ? AD_SYMMETRIC : AD_SKEW;
    return sum ? a & b & AD_SKEW : 0;
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
    t.facts = y->n_in == 2 ? facts_of(y, &t) : 0;
    if (t.rank >= 2)
        t.facts |= symmetry_of(y, &t);
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
