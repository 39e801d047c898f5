/* Stable rules: naive formulas become those that neither overflow nor cancel.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Run before derivatives are taken, so that the derivative is that of the
 * stable form. Logarithms of sums and products of exponentials are next door,
 * in rewrite_log.c. */
#include "config.h"

#include "autodiff/rewrite_impl.h"

/* a, in the shape of y; NULL when it has another. */
static ad_node *as(ad_node *a, const ad_node *y)
{
    return ad_shaped_like(a, y);
}

/* ---- Inverse pairs ------------------------------------------------------ */

static ad_node *log1p_known(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0], *a = ad_match(x, &ad_op_expm1, 0);
    (void)rw;
    if (a)
        return a;
    a = ad_match(x, &ad_op_exp, 0);
    if (a)
        return ad_softplus(a);
    a = ad_match(ad_match_neg(x), &ad_op_exp, 0);
    return a ? ad_log1mexp(a) : NULL;
}

static ad_node *expm1_log1p(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return ad_match(y->in[0], &ad_op_log1p, 0);
}

static ad_node *exp_log(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0], *a = ad_match(x, &ad_op_log, 0);
    (void)rw;
    if (!a && (a = ad_match(x, &ad_op_log1p, 0)))
        return ad_add_scalar(a, 1);
    if (!a && (a = ad_match(x, &ad_op_log_sigmoid, 0)))
        return ad_sigmoid(a);
    if (!a && (a = ad_match(x, &ad_op_log_ndtr, 0)))
        return ad_ndtr(a);
    if (!a && (a = ad_match(x, &ad_op_log_erfc, 0)))
        return ad_erfc(a);
    return a;
}

static ad_node *sqrt_square(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = ad_match(y->in[0], &ad_op_square, 0);
    (void)rw;
    return x ? ad_abs(x) : NULL;
}

/* ---- Differences from 1 ------------------------------------------------- */

static ad_node *exp_minus_one(const ad_rewriter *rw, ad_node *y)
{
    double c;
    ad_node *x = ad_match_scalar(y, &ad_op_add, &c), *a;
    (void)rw;
    if (!x || c != -1 || !(a = ad_match(x, &ad_op_exp, 0)))
        return NULL;
    return as(ad_expm1(a), y);
}

static ad_node *one_minus(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = ad_match_one_minus(y), *a;
    (void)rw;
    if ((a = ad_match(x, &ad_op_sigmoid, 0)))
        return as(ad_sigmoid(ad_neg(a)), y);
    if ((a = ad_match(x, &ad_op_ndtr, 0)))
        return as(ad_ndtr(ad_neg(a)), y);
    if ((a = ad_match(x, &ad_op_erf, 0)))
        return as(ad_erfc(a), y);
    if ((a = ad_match(x, &ad_op_erfc, 0)))
        return as(ad_erf(a), y);
    if ((a = ad_match(x, &ad_op_exp, 0)))
        return as(ad_neg(ad_expm1(a)), y);
    return NULL;
}

/* ---- The logistic function ---------------------------------------------- */

/* x is 1 + exp(a): a. */
static ad_node *one_plus_exp(ad_node *x)
{
    return ad_match(ad_match_one_plus(x), &ad_op_exp, 0);
}

static ad_node *recip_logistic(const ad_rewriter *rw, ad_node *y)
{
    ad_node *a = one_plus_exp(y->in[0]);
    (void)rw;
    return a ? as(ad_sigmoid(ad_neg(a)), y) : NULL;
}

static ad_node *div_logistic(const ad_rewriter *rw, ad_node *y)
{
    ad_node *a = one_plus_exp(y->in[1]);
    (void)rw;
    if (a && ad_match(y->in[0], &ad_op_exp, 0) == a)
        return as(ad_sigmoid(a), y);
    return a && ad_use_count(rw, y->in[1]) == 1
               ? as(ad_mul(y->in[0], ad_sigmoid(ad_neg(a))), y)
               : NULL;
}

/* ---- x log x ------------------------------------------------------------ */

static ad_node *x_log_x(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    for (int i = 0; i < 2; i++) {
        ad_node *x = ad_match(y->in[i], &ad_op_log, 0);
        if (!x || x != y->in[1 - i] || x->type->facts & AD_POSITIVE)
            continue;
        la_dtype dtype = x->type->dtype;
        ad_node *zero = ad_scalar(x->graph, dtype, 0);
        ad_node *one = ad_scalar(x->graph, dtype, 1);
        return ad_mul(x, ad_log(ad_where(ad_eq(x, zero), one, x)));
    }
    return NULL;
}

#define RULE(name, why, root, apply)                                           \
    {                                                                          \
        name, why, &ad_op_##root, AD_PHASE_STABLE, apply                       \
    }

const ad_rule ad_rules_stable[] = {
    RULE("log1p_known",
         "log1p(exp(x)) -> softplus(x), log1p(-exp(x)) -> "
         "log1mexp(x), log1p(expm1(x)) -> x: no overflow",
         log1p, log1p_known),
    RULE("expm1_log1p", "expm1(log1p(x)) -> x: nothing happens", expm1,
         expm1_log1p),
    RULE("exp_log",
         "exp(log(x)) -> x, exp(log_sigmoid(x)) -> sigmoid(x): two "
         "roundings less",
         exp, exp_log),
    RULE("sqrt_square",
         "sqrt(square(x)) -> |x|: no overflow, and a slope at "
         "0",
         sqrt, sqrt_square),
    RULE("exp_minus_one", "exp(x) - 1 -> expm1(x): nothing cancels", add,
         exp_minus_one),
    RULE("one_minus",
         "1 - sigmoid(x) -> sigmoid(-x), 1 - erf(x) -> erfc(x), "
         "1 - exp(x) -> -expm1(x): nothing cancels",
         sub, one_minus),
    RULE("recip_logistic", "1 / (1 + exp(-x)) -> sigmoid(x): no overflow",
         recip, recip_logistic),
    RULE("div_logistic",
         "exp(x) / (1 + exp(x)) -> sigmoid(x), y / (1 + "
         "exp(-x)) -> y sigmoid(x): no overflow",
         div, div_logistic),
    RULE("x_log_x", "x log(x) -> x log(x or 1 at 0): 0 at 0", mul, x_log_x),
    {NULL, NULL, NULL, AD_PHASE_STABLE, NULL},
};
