/* Sums, maxima and minima over axes; means and dot products from them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The reduced axes are dropped. sum: x_bar = y_bar repeated. max, min: y_bar
 * goes to the extreme element, in equal parts to several. */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field reduce_fields[] = {
    {"axes", AD_FIELD_INT, offsetof(ad_reduce_fields, axes)},
    {NULL, AD_FIELD_INT, 0},
};

static unsigned axes_of(const ad_node *y)
{
    return (unsigned)((const ad_reduce_fields *)y->fields)->axes;
}

ad_node *ad_expand_axes(ad_node *x, unsigned axes, int rank)
{
    for (int k = 0; k < rank; k++)
        if (axes & AD_AXIS(k))
            x = ad_expand(x, k);
    return x;
}

static covar_status infer(ad_node *y)
{
    const ad_type *x = ad_in_type(y, 0);
    unsigned axes = axes_of(y);
    COVAR_TRY(ad_need_real(y, 0));
    if (axes >> x->rank)
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "axes (bits) %#x of %s: it has %d dims", axes,
                            ad_in_text(y, 0).s, x->rank);
    ad_type t = {.dtype = x->dtype};
    for (int k = 0; k < x->rank; k++)
        if (!(axes & AD_AXIS(k)))
            t.dim[t.rank++] = x->dim[k];
    t.facts = x->facts & AD_POSITIVE;
    if (y->op == &ad_op_sum)
        t.facts = 0; /* nothing summed is 0 */
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static la_reduce_kind kind_of(const ad_op *op)
{
    if (op == &ad_op_sum)
        return LA_REDUCE_SUM;
    return op == &ad_op_reduce_max ? LA_REDUCE_MAX : LA_REDUCE_MIN;
}

static covar_status eval(const ad_call *c)
{
    return la_reduce(c->exec, kind_of(c->node->op), c->out[0], c->x[0],
                     axes_of(c->node));
}

/* y (or its adjoint) with the dropped axes back, as dims of 1. */
static ad_node *kept(const ad_node *y, ad_node *x)
{
    return ad_expand_axes(x, axes_of(y), ad_in_type(y, 0)->rank);
}

static covar_status vjp_sum(ad_node *y, ad_node *const y_bar[],
                            const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_broadcast_like(kept(y, y_bar[0]), y->in[0]);
    return COVAR_OK;
}

static covar_status jvp_sum(ad_node *y, ad_node *const x_dot[],
                            ad_node *y_dot[])
{
    if (x_dot[0])
        y_dot[0] = ad_sum(x_dot[0], axes_of(y));
    return COVAR_OK;
}

/* 1 / count where x is the extreme, else 0. */
static ad_node *hits(ad_node *y)
{
    ad_node *hit = ad_eq(y->in[0], kept(y, y));
    return ad_div(hit, kept(y, ad_sum(hit, axes_of(y))));
}

static covar_status vjp_extreme(ad_node *y, ad_node *const y_bar[],
                                const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_mul(hits(y), kept(y, y_bar[0]));
    return COVAR_OK;
}

static covar_status jvp_extreme(ad_node *y, ad_node *const x_dot[],
                                ad_node *y_dot[])
{
    if (x_dot[0])
        y_dot[0] = ad_sum(ad_mul(hits(y), x_dot[0]), axes_of(y));
    return COVAR_OK;
}

/* Variants: last axis, first, both, none of (n,3); all of (n); rank 0. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    static const unsigned axes[] = {2, 1, 3, 0, 1, 0};
    static const int rank[] = {2, 2, 2, 2, 1, 0};
    COVAR_TRY(ad_example_variants(e, 6));
    int v = ad_example_variant(e);
    size_t dim[2] = {n, 3};
    if (n == 0) /* the extreme of nothing is infinite */
        ad_example_rough(e);
    ad_node *x = ad_example_input(e, dtype, rank[v], dim, AD_DRAW_NORMAL);
    ad_reduce_fields f = {axes[v]};
    return ad_example_result(e, ad_apply(NULL, ad_example_op(e), 1, &x, &f));
}

#define REDUCTION(id, text, back, forth)                                       \
    const ad_op ad_op_##id = {                                                 \
        .abi = AD_OP_ABI,                                                      \
        .name = #id,                                                           \
        .formula = text,                                                       \
        .n_in = 1,                                                             \
        .n_out = 1,                                                            \
        .fields = reduce_fields,                                               \
        .fields_size = sizeof(ad_reduce_fields),                               \
        .flags = AD_ANY_STRIDE,                                                \
        .views = -1,                                                           \
        .infer = infer,                                                        \
        .eval = eval,                                                          \
        .vjp = back,                                                           \
        .jvp = forth,                                                          \
        .example = example,                                                    \
    };

REDUCTION(sum, "y = sum over axes of x", vjp_sum, jvp_sum)
REDUCTION(reduce_max, "y = max over axes of x", vjp_extreme, jvp_extreme)
REDUCTION(reduce_min, "y = min over axes of x", vjp_extreme, jvp_extreme)

/* ---- Builders ----------------------------------------------------------- */

/* AD_ALL as the axes that x has. */
static unsigned real_axes(const ad_node *x, unsigned axes)
{
    return axes == AD_ALL ? AD_AXIS(ad_rank(x)) - 1 : axes;
}

static ad_node *reduce(const ad_op *op, ad_node *x, unsigned axes)
{
    if (!x)
        return NULL;
    ad_reduce_fields f = {real_axes(x, axes)};
    return ad_apply(NULL, op, 1, &x, &f);
}

ad_node *ad_sum(ad_node *x, unsigned axes)
{
    return x && real_axes(x, axes) == 0 ? x : reduce(&ad_op_sum, x, axes);
}

ad_node *ad_mean(ad_node *x, unsigned axes)
{
    ad_node *sum = ad_sum(x, axes);
    if (!sum)
        return NULL;
    ad_dim count = ad_fixed(1);
    for (int k = 0; k < ad_rank(x); k++)
        if (real_axes(x, axes) & AD_AXIS(k))
            count = ad_dim_mul(count, ad_dim_of(x, k));
    la_dtype dtype = ad_node_type(x, 0)->dtype;
    return ad_div(sum, ad_dim_value(ad_node_graph(x), dtype, count));
}

ad_node *ad_reduce_max(ad_node *x, unsigned axes)
{
    return reduce(&ad_op_reduce_max, x, axes);
}

ad_node *ad_reduce_min(ad_node *x, unsigned axes)
{
    return reduce(&ad_op_reduce_min, x, axes);
}

ad_node *ad_dot(ad_node *a, ad_node *b)
{
    return ad_sum(ad_mul(a, b), AD_ALL);
}
