/* Canonical rules for arithmetic: one form for what is written in many ways.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The forms that are left: x + c with the constant second (never x - c), c - x
 * as sub(c, x), c x with the constant second, no negation below a sum, square
 * for x x and pow(x, 2). x - x, 0 x and x / x are not folded: they differ from
 * 0 and 1 where x is not finite or zero. */
#include "config.h"

#include "autodiff/rewrite_impl.h"

#include <math.h>

/* a, in the shape of y; NULL when it has another. */
static ad_node *as(ad_node *a, const ad_node *y)
{
    return ad_shaped_like(a, y);
}

static ad_node *number(const ad_node *y, double c)
{
    return ad_scalar(y->graph, y->type->dtype, c);
}

/* Does c keep its bits as a number of y's dtype? */
static bool safe(const ad_node *y, double c)
{
    return y->type->dtype == LA_F32 ? isnormal((float)c) : isnormal(c);
}

/* Is c a power of two, so that x / c and x (1 / c) are the same? */
static bool exact_reciprocal(double c)
{
    int e;
    return c != 0 && isfinite(c) && fabs(frexp(c, &e)) == 0.5 &&
           fabs(c) < 0x1p100 && fabs(c) > 0x1p-100;
}

/* ---- Sums --------------------------------------------------------------- */

static ad_node *add_number(const ad_rewriter *rw, ad_node *y)
{
    double c, d;
    ad_node *x = ad_match_scalar(y, &ad_op_add, &c), *a;
    (void)rw;
    if (!x || x->op == &ad_op_fill || x->op == &ad_op_constant)
        return NULL;
    if (c == 0)
        return as(x, y);
    a = ad_match_scalar(x, &ad_op_add, &d);
    if (a)
        return as(ad_add_scalar(a, c + d), y);
    if (x->op == &ad_op_sub && ad_is_constant(x->in[0], &d))
        return as(ad_sub(number(y, c + d), x->in[1]), y);
    /* the number last, and of rank 0 */
    if (ad_same_shape(x, y) && (y->in[0] != x || y->in[1]->type->rank > 0))
        return ad_add_scalar(x, c);
    return NULL;
}

static ad_node *add_neg(const ad_rewriter *rw, ad_node *y)
{
    ad_node *a = ad_match_neg(y->in[0]), *b = ad_match_neg(y->in[1]);
    (void)rw;
    if (b)
        return ad_sub(y->in[0], b);
    return a ? ad_sub(y->in[1], a) : NULL;
}

static ad_node *add_self(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return y->in[0] == y->in[1] ? ad_scale(y->in[0], 2) : NULL;
}

static ad_node *sub_number(const ad_rewriter *rw, ad_node *y)
{
    double c, d;
    ad_node *a;
    (void)rw;
    if (ad_is_constant(y->in[1], &c))
        return c == 0 ? as(y->in[0], y) : as(ad_add_scalar(y->in[0], -c), y);
    if (!ad_is_constant(y->in[0], &c))
        return NULL;
    if (c == 0)
        return as(ad_neg(y->in[1]), y);
    a = ad_match_scalar(y->in[1], &ad_op_add, &d);
    if (a)
        return as(ad_sub(number(y, c - d), a), y);
    if (y->in[1]->op == &ad_op_sub && ad_is_constant(y->in[1]->in[0], &d))
        return as(ad_add_scalar(y->in[1]->in[1], c - d), y);
    return NULL;
}

static ad_node *sub_neg(const ad_rewriter *rw, ad_node *y)
{
    ad_node *a = ad_match_neg(y->in[0]), *b = ad_match_neg(y->in[1]);
    (void)rw;
    if (b)
        return ad_add(y->in[0], b);
    return a ? ad_neg(ad_add(a, y->in[1])) : NULL;
}

static ad_node *neg_neg(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return ad_match_neg(y->in[0]);
}

static ad_node *neg_sub(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    if (x->op != &ad_op_sub || ad_use_count(rw, x) > 1)
        return NULL;
    return ad_sub(x->in[1], x->in[0]);
}

static ad_node *neg_scaled(const ad_rewriter *rw, ad_node *y)
{
    double c;
    ad_node *a = ad_match_scalar(y->in[0], &ad_op_mul, &c);
    return a && ad_use_count(rw, y->in[0]) == 1 ? as(ad_scale(a, -c), y) : NULL;
}

/* ---- Products ----------------------------------------------------------- */

static ad_node *mul_number(const ad_rewriter *rw, ad_node *y)
{
    double c, d;
    ad_node *x = ad_match_scalar(y, &ad_op_mul, &c), *a;
    (void)rw;
    if (!x || x->op == &ad_op_fill || x->op == &ad_op_constant)
        return NULL;
    if (c == 1)
        return as(x, y);
    if (c == -1)
        return as(ad_neg(x), y);
    a = ad_match(x, &ad_op_neg, 0);
    if (a)
        return as(ad_scale(a, -c), y);
    a = ad_match_scalar(x, &ad_op_mul, &d);
    if (a && safe(y, c * d))
        return as(ad_scale(a, c * d), y);
    if (x->op == &ad_op_div && ad_is_constant(x->in[1], &d) && d != 0 &&
        safe(y, c / d))
        return as(ad_scale(x->in[0], c / d), y);
    if (x->op == &ad_op_div && ad_is_constant(x->in[0], &d) && safe(y, c * d))
        return as(ad_div(number(y, c * d), x->in[1]), y);
    if (ad_same_shape(x, y) && (y->in[0] != x || y->in[1]->type->rank > 0))
        return ad_scale(x, c);
    return NULL;
}

static ad_node *mul_self(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return y->in[0] == y->in[1] ? ad_square(y->in[0]) : NULL;
}

static ad_node *mul_neg(const ad_rewriter *rw, ad_node *y)
{
    ad_node *a = ad_match(y->in[0], &ad_op_neg, 0);
    ad_node *b = ad_match(y->in[1], &ad_op_neg, 0);
    (void)rw;
    if (a && b)
        return ad_mul(a, b);
    if (a)
        return ad_neg(ad_mul(a, y->in[1]));
    return b ? ad_neg(ad_mul(y->in[0], b)) : NULL;
}

static ad_node *mul_recip(const ad_rewriter *rw, ad_node *y)
{
    ad_node *a = ad_match(y->in[0], &ad_op_recip, 0);
    ad_node *b = ad_match(y->in[1], &ad_op_recip, 0);
    if (b && ad_use_count(rw, y->in[1]) == 1)
        return ad_div(y->in[0], b);
    if (a && ad_use_count(rw, y->in[0]) == 1)
        return ad_div(y->in[1], a);
    return NULL;
}

static ad_node *div_number(const ad_rewriter *rw, ad_node *y)
{
    double c, d;
    ad_node *x = y->in[0], *a;
    (void)rw;
    if (ad_is_constant(x, &c) && c == 1 && !ad_is_constant(y->in[1], &d))
        return as(ad_recip(y->in[1]), y);
    if (!ad_is_constant(y->in[1], &c) || c == 0)
        return NULL;
    if (c == 1)
        return as(x, y);
    if (exact_reciprocal(c))
        return as(ad_scale(x, 1 / c), y);
    a = ad_match_scalar(x, &ad_op_mul, &d);
    if (a && safe(y, d / c))
        return as(ad_scale(a, d / c), y);
    if (x->op == &ad_op_div && ad_is_constant(x->in[1], &d) && safe(y, c * d))
        return as(ad_div(x->in[0], number(y, c * d)), y);
    return NULL;
}

static ad_node *div_neg(const ad_rewriter *rw, ad_node *y)
{
    ad_node *a = ad_match(y->in[0], &ad_op_neg, 0);
    ad_node *b = ad_match(y->in[1], &ad_op_neg, 0);
    (void)rw;
    if (a && b)
        return ad_div(a, b);
    if (a)
        return ad_neg(ad_div(a, y->in[1]));
    return b ? ad_neg(ad_div(y->in[0], b)) : NULL;
}

static ad_node *div_recip(const ad_rewriter *rw, ad_node *y)
{
    ad_node *b = ad_match(y->in[1], &ad_op_recip, 0);
    return b && ad_use_count(rw, y->in[1]) == 1 ? ad_mul(y->in[0], b) : NULL;
}

static ad_node *recip_recip(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return ad_match(y->in[0], &ad_op_recip, 0);
}

/* ---- Powers and magnitudes ---------------------------------------------- */

static ad_node *pow_number(const ad_rewriter *rw, ad_node *y)
{
    double c;
    ad_node *x = y->in[0];
    (void)rw;
    if (!ad_is_constant(y->in[1], &c))
        return NULL;
    if (c == 1)
        return as(x, y);
    if (c == 2)
        return as(ad_square(x), y);
    if (c == 3)
        return as(ad_mul(ad_square(x), x), y);
    if (c == 4)
        return as(ad_square(ad_square(x)), y);
    if (c == 0.5)
        return as(ad_sqrt(x), y);
    if (c == -0.5)
        return as(ad_recip(ad_sqrt(x)), y);
    if (c == -1)
        return as(ad_recip(x), y);
    if (c == -2)
        return as(ad_recip(ad_square(x)), y);
    return NULL;
}

static ad_node *square_even(const ad_rewriter *rw, ad_node *y)
{
    ad_node *a = ad_match_neg(y->in[0]);
    (void)rw;
    if (!a)
        a = ad_match(y->in[0], &ad_op_abs, 0);
    return a ? as(ad_square(a), y) : NULL;
}

static ad_node *square_sqrt(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return ad_match(y->in[0], &ad_op_sqrt, 0);
}

static ad_node *abs_known(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0], *a = ad_match_neg(x);
    (void)rw;
    if (a)
        return as(ad_abs(a), y);
    bool positive = x->type->facts & AD_POSITIVE || x->op == &ad_op_abs ||
                    x->op == &ad_op_square || x->op == &ad_op_sqrt;
    return positive ? x : NULL;
}

static ad_node *same_operands(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return y->in[0] == y->in[1] ? y->in[0] : NULL;
}

static ad_node *where_known(const ad_rewriter *rw, ad_node *y)
{
    double c;
    (void)rw;
    if (y->in[1] == y->in[2])
        return as(y->in[1], y);
    if (ad_is_constant(y->in[0], &c))
        return as(c != 0 ? y->in[1] : y->in[2], y);
    return NULL;
}

/* ---- Copies and casts --------------------------------------------------- */

static ad_node *copy_of(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return y->in[0];
}

static ad_node *cast_cast(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    (void)rw;
    if (x->type->dtype == y->type->dtype)
        return x;
    if (x->op != &ad_op_cast)
        return NULL;
    la_dtype from = x->in[0]->type->dtype, via = x->type->dtype;
    bool exact =
        (from == LA_U8 && via != LA_U8) || (from != LA_F64 && via == LA_F64);
    return exact ? ad_cast(x->in[0], y->type->dtype) : NULL;
}

#define RULE(name, why, root, apply)                                           \
    {                                                                          \
        name, why, &ad_op_##root, AD_PHASE_CANONICAL, apply                    \
    }

const ad_rule ad_rules_canonical[] = {
    RULE("add_number", "x + 0 -> x, (x + c) + d -> x + (c + d): fewer passes",
         add, add_number),
    RULE("add_neg", "x + (-y) -> x - y: one operator", add, add_neg),
    RULE("add_self", "x + x -> 2 x: one operand", add, add_self),
    RULE("sub_number",
         "x - c -> x + (-c), 0 - x -> -x, c - (x + d) -> (c - d)"
         " - x: one form for shifts",
         sub, sub_number),
    RULE("sub_neg", "x - (-y) -> x + y, -x - y -> -(x + y): negations meet",
         sub, sub_neg),
    RULE("neg_neg", "-(-x) -> x: nothing happens", neg, neg_neg),
    RULE("neg_sub", "-(x - y) -> y - x: one operator", neg, neg_sub),
    RULE("neg_scaled", "-(c x) -> (-c) x: one operator", neg, neg_scaled),
    RULE("mul_number", "1 x -> x, -1 x -> -x, d (c x) -> (c d) x: fewer passes",
         mul, mul_number),
    RULE("mul_self", "x x -> square(x): one operand", mul, mul_self),
    RULE("mul_neg", "(-x) y -> -(x y), (-x) (-y) -> x y: negations meet", mul,
         mul_neg),
    RULE("mul_recip", "x (1 / y) -> x / y: one rounding less", mul, mul_recip),
    RULE("div_number",
         "x / 1 -> x, 1 / x -> recip(x), x / 2^k -> x 2^-k, "
         "(c x) / d -> (c / d) x: fewer and cheaper passes",
         div, div_number),
    RULE("div_neg", "(-x) / y -> -(x / y): negations meet", div, div_neg),
    RULE("div_recip", "x / (1 / y) -> x y: one rounding less", div, div_recip),
    RULE("recip_recip", "1 / (1 / x) -> x: nothing happens", recip,
         recip_recip),
    RULE("pow_number",
         "pow(x, 2) -> square(x), pow(x, 1/2) -> sqrt(x) and "
         "other small powers: no logarithm",
         pow, pow_number),
    RULE("square_even",
         "square(-x) -> square(x), square(|x|) -> square(x): "
         "the sign is lost anyway",
         square, square_even),
    RULE("square_sqrt", "square(sqrt(x)) -> x: where x >= 0", square,
         square_sqrt),
    RULE("abs_known",
         "|x| -> x where x >= 0 is known, |-x| -> |x|: nothing "
         "happens",
         abs, abs_known),
    RULE("min_self", "min(x, x) -> x: nothing happens", min, same_operands),
    RULE("max_self", "max(x, x) -> x: nothing happens", max, same_operands),
    RULE("where_known", "where(c, x, x) -> x, where(1, x, y) -> x: no choice",
         where, where_known),
    RULE("copy", "copy(x) -> x: memory is planned, not copied by hand", copy,
         copy_of),
    RULE("cast_cast",
         "cast(cast(x)) -> cast(x) where the first is exact: one "
         "pass",
         cast, cast_cast),
    {NULL, NULL, NULL, AD_PHASE_CANONICAL, NULL},
};
