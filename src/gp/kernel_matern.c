/* Matern functions of a squared distance, with derivatives that stay finite.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * m_p(D) with s = sqrt(c D) (see kernel_leaf.h). Written in D, not in the
 * distance, every derivative is again one of the family:
 *     d m_p / dD = -c kappa_p m_{p-1},   kappa_3, _2, _1, _0 = 1/10, 1/6, 1/2,
 *                                        1/2,  m_{-1} = exp(-s) / s,
 *     d m_{-1} / dD = -c/2 m_{-2},       m_{-2} = (1 + s) exp(-s) / s^3.
 * m_3, m_2 and m_1 are smooth in D at 0 once, where a form in sqrt(D) would
 * give 0 * inf. m_{-1} and m_{-2} are infinite at D = 0: with `same` they
 * count as 0 there, which is exact, for a point's distance to itself is 0 at
 * any parameter. Source: Rasmussen & Williams 2006, eq. 4.14 to 4.17. */
#include "config.h"

#include <math.h>

#include "kernel_leaf.h"

typedef struct matern_fields {
    int64_t degree, same;
    double c;
} matern_fields;

static const ad_field fields[] = {
    {"degree", AD_FIELD_INT, offsetof(matern_fields, degree)},
    {"same", AD_FIELD_INT, offsetof(matern_fields, same)},
    {"c", AD_FIELD_REAL, offsetof(matern_fields, c)},
    {NULL, AD_FIELD_INT, 0},
};

static covar_status infer(ad_node *y)
{
    return ad_like_input(y, 0);
}

/* The polynomial of degree >= 0 in s that multiplies exp(-s). */
static ad_node *polynomial(ad_node *s, int64_t degree)
{
    static const double coefficient[4][4] = {
        {1, 0, 0, 0},
        {1, 1, 0, 0},
        {1, 1, 1.0 / 3, 0},
        {1, 1, 2.0 / 5, 1.0 / 15},
    };
    ad_node *p = NULL;
    for (int64_t k = degree; k >= 1; k--) {
        ad_node *term = ad_scale(s, coefficient[degree][k]);
        p = p ? ad_mul(s, ad_add_scalar(p, coefficient[degree][k])) : term;
    }
    return ad_add_scalar(p, 1);
}

static ad_node *singular(ad_node *s, int64_t degree)
{
    ad_node *e = ad_exp(ad_neg(s));
    if (degree == -1)
        return ad_div(e, s);
    return ad_div(ad_mul(ad_add_scalar(s, 1), e), ad_mul(s, ad_square(s)));
}

static covar_status expand(ad_node *y, ad_node *out[])
{
    const matern_fields *f = ad_node_fields(y);
    ad_node *D = ad_node_in(y, 0);
    ad_node *zero = ad_scalar(ad_node_graph(y), ad_node_type(D, 0)->dtype, 0);
    ad_node *apart = ad_lt(zero, D);
    bool guarded = f->degree < 0 && f->same;
    if (guarded)
        D = ad_where(apart, D, ad_add_scalar(zero, 1));
    ad_node *s = ad_sqrt(ad_scale(D, f->c));
    if (f->degree == 0)
        out[0] = ad_exp(ad_neg(s));
    else if (f->degree > 0)
        out[0] = ad_mul(polynomial(s, f->degree), ad_exp(ad_neg(s)));
    else
        out[0] = singular(s, f->degree);
    if (guarded)
        out[0] = ad_where(apart, out[0], zero);
    return COVAR_OK;
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    static const double kappa[] = {0.5, 0.5, 0.5, 1.0 / 6, 0.1};
    const matern_fields *f = ad_node_fields(y);
    if (!need[0])
        return COVAR_OK;
    if (f->degree < -1) {
        x_bar[0] = AD_NO_GRAD;
        return COVAR_OK;
    }
    ad_node *slope =
        gp_matern(ad_node_in(y, 0), (int)f->degree - 1, f->c, f->same != 0);
    x_bar[0] = ad_mul(y_bar[0], ad_scale(slope, -f->c * kappa[f->degree + 1]));
    return COVAR_OK;
}

static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    int degree = ad_example_variant(e);
    if (degree > 3)
        return COVAR_ERR_ARG;
    ad_node *D = ad_example_input(e, dtype, 1, (size_t[]){n}, AD_DRAW_POSITIVE);
    return ad_example_result(e, gp_matern(D, degree, 2.0 * degree + 1, false));
}

const ad_op gp_op_matern = {
    .abi = AD_OP_ABI,
    .name = "matern",
    .formula = "y = p(s) exp(-s), s = sqrt(c D)",
    .source = "Rasmussen & Williams 2006, eq. 4.14",
    .n_in = 1,
    .n_out = 1,
    .fields = fields,
    .fields_size = sizeof(matern_fields),
    .flags = AD_COMPOSITE,
    .views = -1,
    .infer = infer,
    .expand = expand,
    .vjp = vjp,
    .example = example,
};

ad_node *gp_matern(ad_node *D, int degree, double c, bool same)
{
    matern_fields f = {.degree = degree, .same = same, .c = c};
    return ad_apply(NULL, &gp_op_matern, 1, &D, &f);
}
