/* Canonical rules for shapes: chains of views and reductions become one.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/rewrite_impl.h"

static int64_t axis_of(const ad_node *y)
{
    return ((const ad_axis_fields *)y->fields)->axis;
}

static unsigned axes_of(const ad_node *y)
{
    return (unsigned)((const ad_reduce_fields *)y->fields)->axes;
}

/* The input, when y has its very shape. */
static ad_node *unchanged(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return ad_same_shape(y->in[0], y) ? y->in[0] : NULL;
}

/* ---- Views -------------------------------------------------------------- */

static ad_node *reshape_view(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    (void)rw;
    bool skips = x->op == &ad_op_reshape || x->op == &ad_op_expand ||
                 x->op == &ad_op_squeeze;
    return skips ? ad_reshape(x->in[0], y->type->rank, y->type->dim) : NULL;
}

static ad_node *broadcast_broadcast(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = ad_match(y->in[0], &ad_op_broadcast, 0);
    (void)rw;
    return x && (x->type->rank == 0 || x->type->rank == y->type->rank)
               ? ad_broadcast_like(x, y)
               : NULL;
}

static ad_node *squeeze_expand(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    (void)rw;
    bool back = x->op == &ad_op_expand && axis_of(x) == axis_of(y);
    return back ? x->in[0] : NULL;
}

static ad_node *expand_squeeze(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    (void)rw;
    bool back = x->op == &ad_op_squeeze && axis_of(x) == axis_of(y);
    return back ? x->in[0] : NULL;
}

static ad_node *transpose_transpose(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    if (y->in[0]->type->facts & AD_SYMMETRIC)
        return y->in[0];
    return ad_match(y->in[0], &ad_op_transpose, 0);
}

static const ad_axes *order_of(const ad_node *y)
{
    return &((const ad_permute_fields *)y->fields)->axes;
}

static ad_node *permute_known(const ad_rewriter *rw, ad_node *y)
{
    const ad_axes *a = order_of(y);
    ad_node *x = y->in[0];
    int n = a->n, fixed = 0;
    (void)rw;
    while (fixed < n && a->axis[fixed] == fixed)
        fixed++;
    if (fixed == n)
        return x;
    if (fixed == n - 2)
        return ad_transpose(x);
    if (x->op != &ad_op_permute)
        return NULL;
    int axis[LA_MAX_DIMS];
    for (int k = 0; k < n; k++)
        axis[k] = order_of(x)->axis[a->axis[k]];
    return ad_permute(x->in[0], axis);
}

static const ad_slice_fields *part_of(const ad_node *y)
{
    return y->fields;
}

static ad_node *slice_known(const ad_rewriter *rw, ad_node *y)
{
    const ad_slice_fields *f = part_of(y), *g;
    ad_node *x = y->in[0];
    (void)rw;
    if (ad_same_shape(x, y) && ad_dim_same(f->start, ad_fixed(0)))
        return x;
    if (x->op != &ad_op_slice && x->op != &ad_op_pad)
        return NULL;
    g = part_of(x);
    if (g->axis != f->axis)
        return NULL;
    if (x->op == &ad_op_slice)
        return ad_slice(x->in[0], (int)f->axis, ad_dim_add(g->start, f->start),
                        f->length);
    return ad_dim_same(g->start, f->start) && ad_same_shape(x->in[0], y)
               ? x->in[0]
               : NULL;
}

static ad_node *concat_one(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return y->n_in == 1 ? y->in[0] : NULL;
}

/* ---- Reductions --------------------------------------------------------- */

/* The axes of x that `outer` means when `inner` have been dropped before. */
static unsigned joined_axes(unsigned inner, unsigned outer, int rank)
{
    unsigned axes = inner;
    for (int k = 0, at = 0; k < rank; k++)
        if (!(inner & AD_AXIS(k)))
            axes |= (outer & AD_AXIS(at++)) ? AD_AXIS(k) : 0;
    return axes;
}

static ad_node *reduce_reduce(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    if (x->op != y->op || ad_use_count(rw, x) > 1)
        return NULL;
    ad_reduce_fields f = {
        (int64_t)joined_axes(axes_of(x), axes_of(y), x->in[0]->type->rank)};
    return ad_apply(NULL, y->op, 1, &x->in[0], &f);
}

/* Dropping axes of size 1 is a view. */
static ad_node *reduce_one(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    unsigned axes = axes_of(y);
    (void)rw;
    for (int k = 0; k < x->type->rank; k++)
        if (axes & AD_AXIS(k) && !ad_is_one(x->type->dim[k]))
            return NULL;
    for (int k = x->type->rank; k-- > 0;)
        if (axes & AD_AXIS(k))
            x = ad_squeeze(x, k);
    return x;
}

static unsigned below(unsigned axes, int64_t k)
{
    return axes & (AD_AXIS(k) - 1);
}

/* Of a value with a dim of 1 more or less: straight from that value, so that
 * the reduction meets what computes it. */
static ad_node *reduce_view(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    unsigned axes = axes_of(y);
    (void)rw;
    if (x->op == &ad_op_squeeze) {
        int64_t k = axis_of(x);
        axes = below(axes, k) | AD_AXIS(k) | (axes & ~below(~0u, k)) << 1;
    } else if (x->op == &ad_op_expand && axes & AD_AXIS(axis_of(x))) {
        int64_t k = axis_of(x);
        axes = below(axes, k) | below(axes >> 1, LA_MAX_DIMS) >> k << k;
    } else {
        return NULL;
    }
    ad_reduce_fields f = {(int64_t)axes};
    return ad_apply(NULL, y->op, 1, &x->in[0], &f);
}

/* Which axes of y does broadcasting repeat? */
static unsigned repeated(const ad_node *y)
{
    const ad_type *x = y->in[0]->type;
    unsigned axes = 0;
    for (int k = 0; k < y->type->rank; k++)
        if (x->rank == 0 ||
            (ad_is_one(x->dim[k]) && !ad_is_one(y->type->dim[k])))
            axes |= AD_AXIS(k);
    return axes;
}

/* sum over repeated axes only: what is repeated, times their size. */
static ad_node *sum_broadcast(const ad_rewriter *rw, ad_node *y)
{
    ad_node *b = y->in[0];
    (void)rw;
    if (b->op != &ad_op_broadcast)
        return NULL;
    unsigned axes = axes_of(y), over = axes & repeated(b);
    if (over == 0)
        return NULL;
    ad_node *x = b->in[0];
    ad_dim count = ad_fixed(1), dim[LA_MAX_DIMS];
    int rank = b->type->rank;
    for (int k = 0; k < rank; k++) {
        dim[k] = over & AD_AXIS(k) ? ad_fixed(1) : b->type->dim[k];
        if (over & AD_AXIS(k))
            count = ad_dim_mul(count, b->type->dim[k]);
    }
    ad_node *rest = ad_sum(ad_broadcast(x, rank, dim), axes);
    return ad_mul(rest, ad_dim_value(y->graph, y->type->dtype, count));
}

static ad_node *sum_neg(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = ad_match(y->in[0], &ad_op_neg, 0);
    return x && ad_use_count(rw, y->in[0]) == 1 ? ad_neg(ad_sum(x, axes_of(y)))
                                                : NULL;
}

/* ---- Diagonals and triangles -------------------------------------------- */

static ad_node *diag_of_diag(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    (void)rw;
    return x->op == &ad_op_make_diag &&
                   ((const ad_diag_fields *)x->fields)->k ==
                       ((const ad_diag_fields *)y->fields)->k
               ? x->in[0]
               : NULL;
}

static ad_node *tri_known(const ad_rewriter *rw, ad_node *y)
{
    int64_t kind = ((const ad_tri_fields *)y->fields)->kind;
    ad_node *x = y->in[0];
    unsigned facts = x->type->facts;
    (void)rw;
    bool same =
        (kind == LA_TRIL && facts & AD_LOWER) ||
        (kind == LA_TRIU && facts & AD_UPPER) ||
        ((kind == LA_TRI_SYM || kind == LA_TRI_MEAN) && facts & AD_SYMMETRIC);
    return same ? x : NULL;
}

#define RULE(name, why, root, apply)                                           \
    {                                                                          \
        name, why, &ad_op_##root, AD_PHASE_CANONICAL, apply                    \
    }

const ad_rule ad_rules_shape[] = {
    RULE("reshape_same", "reshape(x) -> x of equal dims: nothing happens",
         reshape, unchanged),
    RULE("reshape_view", "reshape(reshape(x)) -> reshape(x): one view", reshape,
         reshape_view),
    RULE("broadcast_same", "broadcast(x) -> x of equal dims: nothing happens",
         broadcast, unchanged),
    RULE("broadcast_broadcast",
         "broadcast(broadcast(x)) -> broadcast(x): one "
         "view",
         broadcast, broadcast_broadcast),
    RULE("squeeze_expand", "squeeze(expand(x)) -> x: nothing happens", squeeze,
         squeeze_expand),
    RULE("expand_squeeze", "expand(squeeze(x)) -> x: nothing happens", expand,
         expand_squeeze),
    RULE("transpose_transpose",
         "x'' -> x, x' -> x where x is symmetric: "
         "nothing happens",
         transpose, transpose_transpose),
    RULE("permute_known",
         "permute(permute(x)) -> permute(x), no permutation "
         "-> x, of the last two -> x': one view",
         permute, permute_known),
    RULE("slice_known",
         "slice(slice(x)) -> slice(x), slice(pad(x)) -> x, all "
         "of x -> x: one view",
         slice, slice_known),
    RULE("concat_one", "concat(x) -> x: no copy", concat, concat_one),
    RULE("sum_sum", "sum(sum(x)) -> sum(x) over all axes: one pass", sum,
         reduce_reduce),
    RULE("max_max", "max(max(x)) -> max(x) over all axes: one pass", reduce_max,
         reduce_reduce),
    RULE("min_min", "min(min(x)) -> min(x) over all axes: one pass", reduce_min,
         reduce_reduce),
    RULE("sum_one", "sum(x) -> x over axes of size 1: a view", sum, reduce_one),
    RULE("sum_view",
         "sum(squeeze(x)) -> sum(x) over one axis more, sum(expand(x)) -> "
         "sum(x): the reduction meets its producer",
         sum, reduce_view),
    RULE("max_one", "max(x) -> x over axes of size 1: a view", reduce_max,
         reduce_one),
    RULE("max_view",
         "max(squeeze(x)) -> max(x) over one axis more, max(expand(x)) -> "
         "max(x): the reduction meets its producer",
         reduce_max, reduce_view),
    RULE("min_one", "min(x) -> x over axes of size 1: a view", reduce_min,
         reduce_one),
    RULE("min_view",
         "min(squeeze(x)) -> min(x) over one axis more, min(expand(x)) -> "
         "min(x): the reduction meets its producer",
         reduce_min, reduce_view),
    RULE("sum_broadcast", "sum(broadcast(x)) -> n sum(x): no pass over copies",
         sum, sum_broadcast),
    RULE("sum_neg", "sum(-x) -> -sum(x): one negation in place of many", sum,
         sum_neg),
    RULE("diag_of_diag", "diag(diag(v)) -> v: nothing happens", extract_diag,
         diag_of_diag),
    RULE("tri_known",
         "tril(L) -> L, symmetrise(S) -> S where the structure "
         "is known: no pass",
         tri, tri_known),
    {NULL, NULL, NULL, AD_PHASE_CANONICAL, NULL},
};
