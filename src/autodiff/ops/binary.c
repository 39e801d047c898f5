/* Elementwise functions of two and three arguments, with broadcasting.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operands have equal rank, or rank 0; a constant dim of 1 repeats. The part
 * of operand i in a derivative is `partial(y, i, g)` = g dy/dx_i: its sum over
 * the repeated dims is the adjoint, the sum over i the tangent. */
#include "config.h"

#include "autodiff/ops/ops.h"

#include <math.h>

static ad_node *like(const ad_node *y, double c)
{
    return ad_scalar(y->graph, ad_node_type(y, 0)->dtype, c);
}

/* ---- g dy/dx_i ---------------------------------------------------------- */

/* d a^b / da = b a^(b-1), with no 0 * infinity where b = 0. */
static ad_node *pow_base(ad_node *y, ad_node *g)
{
    ad_node *a = y->in[0], *b = y->in[1];
    double c;
    if (ad_is_constant(b, &c)) {
        if (c == 0)
            return AD_ZERO;
        if (c == 1)
            return ad_mul(g, ad_broadcast_like(like(y, 1), y));
        return ad_mul(g, ad_scale(ad_pow_scalar(a, c - 1), c));
    }
    ad_node *less =
        ad_where(ad_eq(b, like(y, 0)), like(y, 1), ad_add_scalar(b, -1));
    return ad_mul(g, ad_mul(b, ad_pow(a, less)));
}

/* d a^b / db = a^b log a, 0 at a = 0 (its limit for b > 0). */
static ad_node *pow_exponent(ad_node *y, ad_node *g)
{
    ad_node *a = y->in[0];
    ad_node *at_zero = ad_eq(a, like(y, 0));
    ad_node *log_a = ad_log(ad_where(at_zero, like(y, 1), a));
    return ad_mul(g, ad_mul(y, log_a));
}

static ad_node *partial_add(ad_node *y, int i, ad_node *g)
{
    (void)y, (void)i;
    return g;
}

static ad_node *partial_sub(ad_node *y, int i, ad_node *g)
{
    (void)y;
    return i == 0 ? g : ad_neg(g);
}

static ad_node *partial_mul(ad_node *y, int i, ad_node *g)
{
    return ad_mul(g, y->in[1 - i]);
}

static ad_node *partial_div(ad_node *y, int i, ad_node *g)
{
    ad_node *q = ad_div(g, y->in[1]);
    return i == 0 ? q : ad_neg(ad_mul(q, y));
}

static ad_node *partial_pow(ad_node *y, int i, ad_node *g)
{
    return i == 0 ? pow_base(y, g) : pow_exponent(y, g);
}

/* All to the winner, half each at a tie. */
static ad_node *partial_extreme(ad_node *y, int i, ad_node *g)
{
    ad_node *mine = y->in[i], *other = y->in[1 - i];
    ad_node *won =
        y->op->row == LA_MAX ? ad_lt(other, mine) : ad_lt(mine, other);
    return ad_mul(g, ad_add(won, ad_scale(ad_eq(mine, other), 0.5)));
}

static ad_node *partial_step(ad_node *y, int i, ad_node *g)
{
    (void)y, (void)i, (void)g;
    return AD_ZERO;
}

static ad_node *partial_where(ad_node *y, int i, ad_node *g)
{
    ad_node *c = y->in[0], *zero = like(y, 0);
    if (i == 0)
        return AD_ZERO;
    return i == 1 ? ad_where(c, g, zero) : ad_where(c, zero, g);
}

typedef ad_node *partial_fn(ad_node *y, int i, ad_node *g);

static partial_fn *const partial[LA_MAP_COUNT] = {
    [LA_ADD] = partial_add,     [LA_SUB] = partial_sub,
    [LA_MUL] = partial_mul,     [LA_DIV] = partial_div,
    [LA_POW] = partial_pow,     [LA_MIN] = partial_extreme,
    [LA_MAX] = partial_extreme, [LA_EQ] = partial_step,
    [LA_NE] = partial_step,     [LA_LT] = partial_step,
    [LA_LE] = partial_step,     [LA_WHERE] = partial_where,
};

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    for (int i = 0; i < y->n_in && y_bar[0]; i++) {
        if (!need[i])
            continue;
        ad_node *p = partial[y->op->row](y, i, y_bar[0]);
        x_bar[i] = p == AD_ZERO ? p : ad_unbroadcast(p, y->in[i]);
    }
    return COVAR_OK;
}

static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    for (int i = 0; i < y->n_in; i++) {
        if (!x_dot[i])
            continue;
        ad_node *g = ad_broadcast_like(x_dot[i], y);
        ad_node *p = partial[y->op->row](y, i, g);
        if (p == AD_ZERO)
            continue;
        y_dot[0] = y_dot[0] ? ad_add(y_dot[0], p) : p;
    }
    return COVAR_OK;
}

/* ---- Examples ----------------------------------------------------------- */

/* Variants: equal shapes; (n) with (1); (n,2) with (n,1); rank 0 with (n);
 * (n) with rank 0; one operand twice (ties of max and min). */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 6));
    static const int rank[][2] = {{1, 1}, {1, 1}, {2, 2},
                                  {0, 1}, {1, 0}, {1, 1}};
    const ad_op *op = ad_example_op(e);
    int v = ad_example_variant(e);
    size_t a[2] = {n, 2}, b[2] = {v == 1 ? 1 : n, 1};
    bool above = op->row == LA_POW || op->row == LA_DIV;
    ad_draw draw = above ? AD_DRAW_POSITIVE : AD_DRAW_NORMAL;
    ad_node *x[2] = {ad_example_input(e, dtype, rank[v][0], a, draw)};
    x[1] = v == 5 ? x[0] : ad_example_input(e, dtype, rank[v][1], b, draw);
    return ad_example_result(e, ad_apply(ad_example_graph(e), op, 2, x, NULL));
}

/* Variants: equal shapes; a column condition; a scalar where false. */
static covar_status example_where(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 3));
    int v = ad_example_variant(e);
    size_t dim[2] = {n, 2}, column[2] = {n, 1};
    ad_node *u =
        ad_example_input(e, dtype, 2, v == 1 ? column : dim, AD_DRAW_NORMAL);
    ad_node *a = ad_example_input(e, dtype, 2, dim, AD_DRAW_NORMAL);
    ad_node *b =
        ad_example_input(e, dtype, v == 2 ? 0 : 2, dim, AD_DRAW_NORMAL);
    ad_node *zero = ad_scalar(ad_example_graph(e), dtype, 0);
    return ad_example_result(e, ad_where(ad_lt(zero, u), a, b));
}

/* ---- The operators ------------------------------------------------------ */

#define ELEMENTWISE(id, code, arity, text, made)                               \
    const ad_op ad_op_##id = {                                                 \
        .abi = AD_OP_ABI,                                                      \
        .name = #id,                                                           \
        .formula = text,                                                       \
        .n_in = arity,                                                         \
        .n_out = 1,                                                            \
        .flags = AD_ELEMENTWISE,                                               \
        .row = code,                                                           \
        .views = -1,                                                           \
        .overwrites = (1u << (arity)) - 1,                                     \
        .infer = ad_infer_elementwise,                                         \
        .vjp = vjp,                                                            \
        .jvp = jvp,                                                            \
        .example = made,                                                       \
    };

ELEMENTWISE(add, LA_ADD, 2, "y = a + b", example)
ELEMENTWISE(sub, LA_SUB, 2, "y = a - b", example)
ELEMENTWISE(mul, LA_MUL, 2, "y = a b", example)
ELEMENTWISE(div, LA_DIV, 2, "y = a / b", example)
ELEMENTWISE(pow, LA_POW, 2, "y = a^b", example)
ELEMENTWISE(min, LA_MIN, 2, "y = min(a, b); a tie gives half each", example)
ELEMENTWISE(max, LA_MAX, 2, "y = max(a, b); a tie gives half each", example)
ELEMENTWISE(eq, LA_EQ, 2, "y = 1 where a = b, else 0", example)
ELEMENTWISE(ne, LA_NE, 2, "y = 1 where a != b, else 0", example)
ELEMENTWISE(lt, LA_LT, 2, "y = 1 where a < b, else 0", example)
ELEMENTWISE(le, LA_LE, 2, "y = 1 where a <= b, else 0", example)
ELEMENTWISE(where, LA_WHERE, 3, "y = a where c != 0, else b", example_where)
