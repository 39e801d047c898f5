/* Stable rules for logarithms of sums and products of exponentials.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   log sum_i exp(t_i) = m + log sum_i exp(t_i - m),   m = max_i t_i,
 * for any number of terms written as a chain of additions; m is held fixed in
 * derivatives, which are then exact (the sum does not depend on m), and taken
 * as 0 where it is not finite. A sum over axes becomes the composite
 * logsumexp. Factors whose logarithm is known come out of the logarithm, so
 * that log(softmax(x)) is x - logsumexp(x) however it is written. */
#include "config.h"

#include "autodiff/rewrite_impl.h"

#include <math.h>

enum { MOST_TERMS = 64, DEEPEST = 6 };

/* ---- What was made stable already --------------------------------------- */

/* Is x t - m, with the m of this file or of the composite logsumexp? */
static bool is_shifted(const ad_node *x)
{
    if (x->op != &ad_op_sub)
        return false;
    const ad_node *m = x->in[1];
    while (m->op == &ad_op_stop_gradient || m->op == &ad_op_expand ||
           m->op == &ad_op_broadcast)
        m = m->in[0];
    return m->op == &ad_op_where && m->in[0]->op == &ad_op_is_finite;
}

/* The argument of an exponential that is not. */
static ad_node *plain_exp(ad_node *x)
{
    ad_node *t = ad_match(x, &ad_op_exp, 0);
    return t && !is_shifted(t) ? t : NULL;
}

/* ---- Sums over axes ----------------------------------------------------- */

/* log sum over `axes` of exp(t), one axis after the other from the last. */
static ad_node *sum_over_axes(ad_node *t, unsigned axes)
{
    int rank = t->type->rank;
    if (axes >> rank)
        return NULL;
    if (rank > 1 && axes == AD_AXIS(rank) - 1) {
        ad_dim count = ad_dim_product(t->type->dim, rank);
        return ad_logsumexp(ad_reshape(t, 1, &count), 0);
    }
    for (int k = rank; k-- > 0 && t;)
        if (axes & AD_AXIS(k))
            t = ad_logsumexp(t, k);
    return t;
}

static ad_node *log_of_sum(ad_node *x)
{
    if (x->op != &ad_op_sum)
        return NULL;
    ad_node *t = plain_exp(x->in[0]);
    return t ? sum_over_axes(
                   t, (unsigned)((const ad_reduce_fields *)x->fields)->axes)
             : NULL;
}

/* ---- Chains of additions ------------------------------------------------ */

typedef struct chain {
    ad_node *term[MOST_TERMS]; /* logarithms of the terms */
    int n, n_exp;
} chain;

/* log(c exp(t)), c > 0. */
static ad_node *log_of_term(ad_node *x, bool *is_exp)
{
    double c;
    ad_node *t = plain_exp(x);
    *is_exp = true;
    if (t || (t = log_of_sum(x)))
        return t;
    t = plain_exp(ad_match_scalar(x, &ad_op_mul, &c));
    if (t && c > 0 && isfinite(c))
        return ad_add_scalar(t, log(c));
    *is_exp = false;
    if (ad_is_constant(x, &c) && c > 0 && isfinite(c))
        return ad_scalar(x->graph, x->type->dtype, log(c));
    return NULL;
}

static bool collect(chain *c, ad_node *x)
{
    ad_node *stack[MOST_TERMS];
    int depth = 0;
    stack[depth++] = x;
    while (depth > 0) {
        ad_node *y = stack[--depth];
        bool is_exp;
        if (y->op == &ad_op_add) {
            if (depth + 2 > MOST_TERMS)
                return false;
            stack[depth++] = y->in[1];
            stack[depth++] = y->in[0];
            continue;
        }
        if (c->n == MOST_TERMS || !(c->term[c->n] = log_of_term(y, &is_exp)))
            return false;
        c->n++;
        c->n_exp += is_exp;
    }
    return true;
}

/* log of the sum of the exponentials of the terms, at least two. */
static ad_node *log_sum(const chain *c)
{
    ad_node *m = c->term[0], *sum = NULL;
    for (int i = 1; i < c->n; i++)
        m = ad_max(m, c->term[i]);
    if (!m)
        return NULL;
    ad_node *zero = ad_scalar(m->graph, m->type->dtype, 0);
    m = ad_stop_gradient(ad_where(ad_is_finite(m), m, zero));
    for (int i = 0; i < c->n; i++) {
        ad_node *e = ad_exp(ad_sub(c->term[i], m));
        sum = sum ? ad_add(sum, e) : e;
    }
    return ad_add(ad_log(sum), m);
}

static ad_node *log_of_chain(ad_node *x)
{
    chain c = {.n = 0};
    double d;
    if (x->op != &ad_op_add || !collect(&c, x) || c.n_exp == 0)
        return NULL;
    if (c.n == 2 && ad_is_constant(c.term[1], &d)) /* c + exp(t) */
        return d == 0 ? ad_softplus(c.term[0])
                      : ad_add_scalar(ad_softplus(ad_add_scalar(c.term[0], -d)),
                                      d);
    return log_sum(&c);
}

/* ---- Known logarithms --------------------------------------------------- */

static bool looks_through(const ad_node *x)
{
    return x->op == &ad_op_expand || x->op == &ad_op_squeeze ||
           x->op == &ad_op_broadcast || x->op == &ad_op_reshape ||
           x->op == &ad_op_transpose;
}

/* log(x) in a stable form for some x that is positive whatever its operands
 * are; else NULL. */
static ad_node *known_log(ad_node *x, int depth)
{
    ad_node *t = plain_exp(x);
    if (t || (t = log_of_sum(x)) || (t = log_of_chain(x)))
        return t;
    if (x->op == &ad_op_sigmoid)
        return ad_log_sigmoid(x->in[0]);
    if (x->op == &ad_op_erfc)
        return ad_log_erfc(x->in[0]);
    if (x->op == &ad_op_ndtr)
        return ad_log_ndtr(x->in[0]);
    if (depth == 0 || !(looks_through(x) || x->op == &ad_op_recip))
        return NULL;
    t = known_log(x->in[0], depth - 1);
    if (!t || x->op == &ad_op_recip)
        return t ? ad_neg(t) : NULL;
    return ad_apply(NULL, x->op, 1, &t, x->fields);
}

static ad_node *log_known(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return known_log(y->in[0], DEEPEST);
}

/* ---- Products and quotients --------------------------------------------- */

/* log of a factor beside one with a known logarithm. */
static ad_node *log_of_factor(ad_node *x)
{
    ad_node *t = known_log(x, DEEPEST);
    return t ? t : ad_log(x);
}

static ad_node *log_product(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    (void)rw;
    if (x->op != &ad_op_mul && x->op != &ad_op_div)
        return NULL;
    ad_node *a = known_log(x->in[0], DEEPEST);
    ad_node *b = known_log(x->in[1], DEEPEST);
    if (!a && !b)
        return NULL;
    a = a ? a : log_of_factor(x->in[0]);
    b = b ? b : log_of_factor(x->in[1]);
    return x->op == &ad_op_mul ? ad_add(a, b) : ad_sub(a, b);
}

/* ---- Distance from 1 ---------------------------------------------------- */

static ad_node *log_one_plus(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = ad_match_one_plus(y->in[0]);
    (void)rw;
    if (x)
        return ad_shaped_like(ad_log1p(x), y);
    x = ad_match_one_minus(y->in[0]);
    return x ? ad_shaped_like(ad_log1p(ad_neg(x)), y) : NULL;
}

static ad_node *log_expm1(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = ad_match(y->in[0], &ad_op_expm1, 0);
    (void)rw;
    if (x)
        return ad_softplus_inv(x);
    x = ad_match(ad_match_neg(y->in[0]), &ad_op_expm1, 0);
    return x ? ad_shaped_like(ad_log1mexp(x), y) : NULL;
}

/* log1p(exp(a) + exp(b) ...): one more term, exp(0). */
static ad_node *log1p_chain(const ad_rewriter *rw, ad_node *y)
{
    chain c = {.n = 0};
    (void)rw;
    if (y->in[0]->op != &ad_op_add || !collect(&c, y->in[0]) || c.n_exp == 0 ||
        c.n == MOST_TERMS)
        return NULL;
    c.term[c.n++] = ad_scalar(y->graph, y->type->dtype, 0);
    return log_sum(&c);
}

#define RULE(name, why, root, apply)                                           \
    {                                                                          \
        name, why, &ad_op_##root, AD_PHASE_STABLE, apply                       \
    }

const ad_rule ad_rules_log[] = {
    RULE("log_known",
         "log(exp(x)) -> x, log(sum(exp(x))) -> logsumexp(x), "
         "log(exp(x) + exp(y) ...) -> shifted by the largest, log(sigmoid(x)) "
         "-> log_sigmoid(x), log(erfc(x)) -> log_erfc(x), log(ndtr(x)) -> "
         "log_ndtr(x): no overflow, no underflow",
         log, log_known),
    RULE("log_product",
         "log(exp(x) y) -> x + log(y), log(exp(x) / "
         "sum(exp(x))) -> x - logsumexp(x): no overflow, no underflow",
         log, log_product),
    RULE("log_one_plus",
         "log(1 + x) -> log1p(x), log(1 - x) -> log1p(-x): "
         "small x is not lost",
         log, log_one_plus),
    RULE("log_expm1",
         "log(-expm1(x)) -> log1mexp(x), log(expm1(x)) -> "
         "softplus_inv(x): exact near 0, no overflow",
         log, log_expm1),
    RULE("log1p_chain",
         "log1p(exp(x) + exp(y) ...) -> shifted by the largest: "
         "no overflow",
         log1p, log1p_chain),
    {NULL, NULL, NULL, AD_PHASE_STABLE, NULL},
};
