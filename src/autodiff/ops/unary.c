/* Elementwise functions of one argument: one table row each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * y = f(x), x_bar = y_bar f'(x), y_dot = f'(x) x_dot. The slope is written in
 * x or y, whichever keeps its accuracy in the tails. Step functions (floor,
 * sign, ...) have slope exactly zero. The builders are in elementwise.c. */
#include "config.h"

#include "autodiff/ops/ops.h"

#include <math.h>

static const double two_over_sqrt_pi = 1.12837916709551257390;
static const double log_sqrt_2_pi = 0.91893853320467274178;

static ad_node *one_minus(ad_node *x)
{
    return ad_add_scalar(ad_neg(x), 1);
}

/* ---- g f'(x), for y = f(x) ---------------------------------------------- */

static ad_node *d_copy(ad_node *g, ad_node *x, ad_node *y)
{
    (void)x, (void)y;
    return g;
}

static ad_node *d_neg(ad_node *g, ad_node *x, ad_node *y)
{
    (void)x, (void)y;
    return ad_neg(g);
}

static ad_node *d_abs(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_mul(g, ad_sign(x));
}

static ad_node *d_square(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_mul(g, ad_scale(x, 2));
}

static ad_node *d_recip(ad_node *g, ad_node *x, ad_node *y)
{
    (void)x;
    return ad_neg(ad_mul(g, ad_square(y)));
}

static ad_node *d_sqrt(ad_node *g, ad_node *x, ad_node *y)
{
    (void)x;
    return ad_div(ad_scale(g, 0.5), y);
}

static ad_node *d_exp(ad_node *g, ad_node *x, ad_node *y)
{
    (void)x;
    return ad_mul(g, y);
}

/* Not y + 1, which loses everything for large negative x. */
static ad_node *d_expm1(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_mul(g, ad_exp(x));
}

static ad_node *d_log(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_div(g, x);
}

static ad_node *d_log1p(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_div(g, ad_add_scalar(x, 1));
}

/* log(1 - e^x) has slope -1/(e^-x - 1); log(e^x - 1) has -1/(e^-x - 1) too,
 * for x on the other side of 0. */
static ad_node *d_log_exp_gap(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_neg(ad_div(g, ad_expm1(ad_neg(x))));
}

static ad_node *d_sin(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_mul(g, ad_cos(x));
}

static ad_node *d_cos(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_neg(ad_mul(g, ad_sin(x)));
}

static ad_node *d_tan(ad_node *g, ad_node *x, ad_node *y)
{
    (void)x;
    return ad_mul(g, ad_add_scalar(ad_square(y), 1));
}

static ad_node *d_atan(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_div(g, ad_add_scalar(ad_square(x), 1));
}

static ad_node *d_sinh(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_mul(g, ad_cosh(x));
}

static ad_node *d_cosh(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_mul(g, ad_sinh(x));
}

static ad_node *d_tanh(ad_node *g, ad_node *x, ad_node *y)
{
    (void)x;
    return ad_mul(g, one_minus(ad_square(y)));
}

static ad_node *d_sigmoid(ad_node *g, ad_node *x, ad_node *y)
{
    (void)x;
    return ad_mul(g, ad_mul(y, one_minus(y)));
}

static ad_node *d_softplus(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_mul(g, ad_sigmoid(x));
}

static ad_node *d_log_sigmoid(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_mul(g, ad_sigmoid(ad_neg(x)));
}

static ad_node *d_erf(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    return ad_mul(g, ad_scale(ad_exp(ad_neg(ad_square(x))), two_over_sqrt_pi));
}

static ad_node *d_erfc(ad_node *g, ad_node *x, ad_node *y)
{
    return ad_neg(d_erf(g, x, y));
}

static ad_node *d_ndtr(ad_node *g, ad_node *x, ad_node *y)
{
    (void)y;
    ad_node *e = ad_scale(ad_square(x), -0.5);
    return ad_mul(g, ad_exp(ad_add_scalar(e, -log_sqrt_2_pi)));
}

/* phi(x) / Phi(x) with l = log Phi(x). The exact quotient exp(log phi - l)
 * cancels x^2 in the far left tail; there Mills' ratio has the asymptotic
 * series 1 - t + 3 t^2 - 15 t^3 + ..., t = 1/x^2 (below -30 six terms leave
 * less than 1e-15). The clamp keeps the branch not taken finite. */
static ad_node *inverse_mills(ad_node *x, ad_node *l)
{
    static const double term[] = {10395, -945, 105, -15, 3, -1, 1};
    ad_graph *g = ad_node_graph(x);
    if (!x)
        return NULL;
    la_dtype dtype = ad_node_type(x, 0)->dtype;
    ad_node *near = ad_exp(ad_add_scalar(
        ad_neg(ad_add(ad_scale(ad_square(x), 0.5), l)), -log_sqrt_2_pi));
    ad_node *edge = ad_scalar(g, dtype, -30);
    ad_node *far = ad_min(x, edge);
    ad_node *t = ad_recip(ad_square(far));
    ad_node *series = ad_add_scalar(ad_scale(t, term[0]), term[1]);
    for (size_t k = 2; k < NELEM(term); k++)
        series = ad_add_scalar(ad_mul(series, t), term[k]);
    return ad_where(ad_lt(x, edge), ad_neg(ad_div(far, series)), near);
}

static ad_node *d_log_ndtr(ad_node *g, ad_node *x, ad_node *y)
{
    return ad_mul(g, inverse_mills(x, y));
}

/* log erfc(x) = log 2 + log Phi(-sqrt(2) x). */
static ad_node *d_log_erfc(ad_node *g, ad_node *x, ad_node *y)
{
    ad_node *l = ad_add_scalar(y, -M_LN2);
    ad_node *h = inverse_mills(ad_scale(x, -M_SQRT2), l);
    return ad_mul(g, ad_scale(h, -M_SQRT2));
}

/* ---- The table ---------------------------------------------------------- */

enum {
    ODD_ZERO = 1, /* f(0) = 0: triangles and diagonals stay what they are */
    ABOVE = 2,    /* f > 0 everywhere */
    ODD = 4,      /* f(-x) = -f(x) */
    EVEN = 8      /* f(-x) = f(x) */
};

typedef struct unary_row {
    ad_node *(*slope)(ad_node *g, ad_node *x, ad_node *y); /* NULL: zero */
    ad_draw draw;
    unsigned shape;
} unary_row;

static const unary_row rows[LA_MAP_COUNT] = {
    [LA_COPY] = {d_copy, AD_DRAW_NORMAL, ODD_ZERO | ODD},
    [LA_NEG] = {d_neg, AD_DRAW_NORMAL, ODD_ZERO | ODD},
    [LA_ABS] = {d_abs, AD_DRAW_POSITIVE, ODD_ZERO | EVEN},
    [LA_SIGN] = {NULL, AD_DRAW_POSITIVE, ODD_ZERO | ODD},
    [LA_FLOOR] = {NULL, AD_DRAW_NORMAL, ODD_ZERO},
    [LA_CEIL] = {NULL, AD_DRAW_NORMAL, ODD_ZERO},
    [LA_ROUND] = {NULL, AD_DRAW_NORMAL, ODD_ZERO | ODD},
    [LA_SQUARE] = {d_square, AD_DRAW_NORMAL, ODD_ZERO | EVEN},
    [LA_RECIP] = {d_recip, AD_DRAW_POSITIVE, ODD},
    [LA_SQRT] = {d_sqrt, AD_DRAW_POSITIVE, ODD_ZERO},
    [LA_EXP] = {d_exp, AD_DRAW_NORMAL, ABOVE},
    [LA_EXPM1] = {d_expm1, AD_DRAW_NORMAL, ODD_ZERO},
    [LA_LOG] = {d_log, AD_DRAW_POSITIVE, 0},
    [LA_LOG1P] = {d_log1p, AD_DRAW_POSITIVE, ODD_ZERO},
    [LA_LOG1MEXP] = {d_log_exp_gap, AD_DRAW_NEGATIVE, 0},
    [LA_SIN] = {d_sin, AD_DRAW_NORMAL, ODD_ZERO | ODD},
    [LA_COS] = {d_cos, AD_DRAW_NORMAL, EVEN},
    [LA_TAN] = {d_tan, AD_DRAW_UNIT, ODD_ZERO | ODD},
    [LA_ATAN] = {d_atan, AD_DRAW_NORMAL, ODD_ZERO | ODD},
    [LA_SINH] = {d_sinh, AD_DRAW_NORMAL, ODD_ZERO | ODD},
    [LA_COSH] = {d_cosh, AD_DRAW_NORMAL, ABOVE | EVEN},
    [LA_TANH] = {d_tanh, AD_DRAW_NORMAL, ODD_ZERO | ODD},
    [LA_SIGMOID] = {d_sigmoid, AD_DRAW_NORMAL, ABOVE},
    [LA_SOFTPLUS] = {d_softplus, AD_DRAW_NORMAL, ABOVE},
    [LA_SOFTPLUS_INV] = {d_log_exp_gap, AD_DRAW_POSITIVE, 0},
    [LA_LOG_SIGMOID] = {d_log_sigmoid, AD_DRAW_NORMAL, 0},
    [LA_ERF] = {d_erf, AD_DRAW_NORMAL, ODD_ZERO | ODD},
    [LA_ERFC] = {d_erfc, AD_DRAW_NORMAL, ABOVE},
    [LA_LOG_ERFC] = {d_log_erfc, AD_DRAW_NORMAL, 0},
    [LA_NDTR] = {d_ndtr, AD_DRAW_NORMAL, ABOVE},
    [LA_LOG_NDTR] = {d_log_ndtr, AD_DRAW_NORMAL, 0},
    [LA_IS_FINITE] = {NULL, AD_DRAW_NORMAL, 0},
    [LA_NOT] = {NULL, AD_DRAW_NORMAL, 0},
};

static covar_status infer(ad_node *y)
{
    COVAR_TRY(ad_need_real(y, 0));
    COVAR_TRY(ad_like_input(y, 0));
    const unsigned shaped = AD_LOWER | AD_UPPER | AD_DIAGONAL;
    unsigned in = ad_in_type(y, 0)->facts;
    ad_type t = *ad_node_type(y, 0);
    t.facts = in & AD_SYMMETRIC;
    if (rows[y->op->row].shape & ODD_ZERO)
        t.facts |= in & shaped;
    if (rows[y->op->row].shape & ABOVE)
        t.facts |= AD_POSITIVE;
    if (in & AD_SKEW && rows[y->op->row].shape & ODD)
        t.facts |= AD_SKEW;
    if (in & AD_SKEW && rows[y->op->row].shape & EVEN)
        t.facts |= AD_SYMMETRIC;
    if (y->op->row == LA_COPY)
        t.facts = in;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    const unary_row *row = &rows[y->op->row];
    if (need[0] && y_bar[0] && row->slope)
        x_bar[0] = row->slope(y_bar[0], y->in[0], y);
    return COVAR_OK;
}

static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    const unary_row *row = &rows[y->op->row];
    if (x_dot[0] && row->slope)
        y_dot[0] = row->slope(x_dot[0], y->in[0], y);
    return COVAR_OK;
}

static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    const ad_op *op = ad_example_op(e);
    ad_node *x = ad_example_vector(e, dtype, n, rows[op->row].draw);
    return ad_example_result(e, ad_apply(ad_example_graph(e), op, 1, &x, NULL));
}

#define UNARY(id, code, text)                                                  \
    const ad_op ad_op_##id = {                                                 \
        .abi = AD_OP_ABI,                                                      \
        .name = #id,                                                           \
        .formula = text,                                                       \
        .n_in = 1,                                                             \
        .n_out = 1,                                                            \
        .flags = AD_ELEMENTWISE | AD_BATCHED,                                  \
        .row = code,                                                           \
        .views = -1,                                                           \
        .overwrites = 1,                                                       \
        .infer = infer,                                                        \
        .vjp = vjp,                                                            \
        .jvp = jvp,                                                            \
        .example = example,                                                    \
    };

UNARY(copy, LA_COPY, "y = x")
UNARY(neg, LA_NEG, "y = -x")
UNARY(abs, LA_ABS, "y = |x|")
UNARY(sign, LA_SIGN, "y = -1, 0 or 1")
UNARY(floor, LA_FLOOR, "largest integer <= x")
UNARY(ceil, LA_CEIL, "smallest integer >= x")
UNARY(round, LA_ROUND, "nearest integer")
UNARY(square, LA_SQUARE, "y = x^2")
UNARY(recip, LA_RECIP, "y = 1/x")
UNARY(sqrt, LA_SQRT, "y = sqrt(x)")
UNARY(exp, LA_EXP, "y = exp(x)")
UNARY(expm1, LA_EXPM1, "y = exp(x) - 1")
UNARY(log, LA_LOG, "y = log(x)")
UNARY(log1p, LA_LOG1P, "y = log(1 + x)")
UNARY(log1mexp, LA_LOG1MEXP, "y = log(1 - exp(x)), x < 0")
UNARY(sin, LA_SIN, "y = sin(x)")
UNARY(cos, LA_COS, "y = cos(x)")
UNARY(tan, LA_TAN, "y = tan(x)")
UNARY(atan, LA_ATAN, "y = atan(x)")
UNARY(sinh, LA_SINH, "y = sinh(x)")
UNARY(cosh, LA_COSH, "y = cosh(x)")
UNARY(tanh, LA_TANH, "y = tanh(x)")
UNARY(sigmoid, LA_SIGMOID, "y = 1/(1 + exp(-x))")
UNARY(softplus, LA_SOFTPLUS, "y = log(1 + exp(x))")
UNARY(softplus_inv, LA_SOFTPLUS_INV, "y = log(exp(x) - 1), x > 0")
UNARY(log_sigmoid, LA_LOG_SIGMOID, "y = -log(1 + exp(-x))")
UNARY(erf, LA_ERF, "y = 2/sqrt(pi) int_0^x exp(-t^2) dt")
UNARY(erfc, LA_ERFC, "y = 1 - erf(x)")
UNARY(log_erfc, LA_LOG_ERFC, "y = log erfc(x)")
UNARY(ndtr, LA_NDTR, "y = Phi(x)")
UNARY(log_ndtr, LA_LOG_NDTR, "y = log Phi(x)")
UNARY(is_finite, LA_IS_FINITE, "y = 1 where x is finite, else 0")
UNARY(not, LA_NOT, "y = 1 where x = 0, else 0")
