/* Kernels without a distance: constant, white, linear, poly.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   constant 1;  white 1 for an observation with itself, else 0;
 *   linear sum_k x_k z_k / l_k^2 (l = 1 without ard);  poly (x'z + offset)^p
 * Source: Rasmussen & Williams 2006, sec. 4.2.2. */
#include "config.h"

#include <math.h>

#include "kernel_leaf.h"

static const char *const none[] = {NULL};
static const char *const lengthscale_only[] = {"lengthscale", NULL};
static const char *const poly_names[] = {"offset", NULL};

static covar_status no_params(gp_params_maker *m, const gp_kernel *leaf)
{
    (void)m;
    (void)leaf;
    return COVAR_OK;
}

static ad_node *constant_build(const gp_kernel *leaf, gp_build *b)
{
    (void)leaf;
    return gp_leaf_all_ones(b);
}

static ad_node *ones_diag(const gp_kernel *leaf, gp_build *b)
{
    (void)leaf;
    return gp_leaf_ones(b);
}

/* Different points are different observations, also where x = z. */
static ad_node *white_build(const gp_kernel *leaf, gp_build *b)
{
    (void)leaf;
    if (!b->Z)
        return ad_eye(b->g, b->dtype, ad_dim_of(b->X, 0));
    ad_dim dim[] = {ad_dim_of(b->X, 0), ad_dim_of(b->Z, 0)};
    return ad_fill(b->g, b->dtype, 0.0, 2, dim);
}

/* ---- linear -------------------------------------------------------------- */

static covar_status linear_params(gp_params_maker *m, const gp_kernel *leaf)
{
    if (leaf->ard)
        return gp_leaf_add_lengthscales(m, leaf, GP_KIND_LINEAR_LENGTHSCALE);
    return gp_leaf_check_columns(m, leaf);
}

/* Largest squared range of the leaf's columns. */
static double squared_range(const gp_kernel *leaf, const gp_data *data)
{
    double range = 0;
    size_t n = leaf->n_column > 0 ? leaf->n_column : data->d;
    for (size_t i = 0; i < n; i++) {
        size_t column = leaf->n_column > 0 ? leaf->column[i] : i;
        range = column < data->d ? fmax(range, data->col_range[column]) : range;
    }
    return range > 0 ? range * range : 1;
}

static double linear_size(const gp_kernel *leaf, const gp_data *data)
{
    return leaf->ard ? 1 : squared_range(leaf, data);
}

/* x's columns of the leaf over its lengthscales, which the caller took. */
static ad_node *scaled(const gp_kernel *leaf, gp_build *b, ad_node *x,
                       ad_node *row, size_t first)
{
    ad_node *part = gp_leaf_select(leaf, b, x, leaf->ard ? first : SIZE_MAX);
    return row ? ad_mul(part, row) : part;
}

/* 1 / l as a row (1,d), or NULL without ard. *empty: every column constant. */
static ad_node *inverse_row(const gp_kernel *leaf, gp_build *b, bool *empty)
{
    *empty = false;
    if (!leaf->ard)
        return NULL;
    size_t n = gp_leaf_columns(leaf, b), used = 0;
    for (size_t i = 0; i < n; i++)
        used += !b->params->param[b->next + i].dropped;
    *empty = used == 0;
    if (*empty) {
        b->next += n;
        return NULL;
    }
    return ad_expand(ad_recip(gp_build_take_vector(b, n)), 0);
}

static ad_node *linear_build(const gp_kernel *leaf, gp_build *b)
{
    bool empty;
    size_t first = b->next;
    ad_node *row = inverse_row(leaf, b, &empty);
    if (empty)
        return ad_scale(gp_leaf_all_ones(b), 0);
    ad_node *X = scaled(leaf, b, b->X, row, first);
    if (!b->Z)
        return ad_syrk(1, LA_NO_TRANS, X);
    ad_node *Z = scaled(leaf, b, b->Z, row, first);
    return ad_gemm(1, LA_NO_TRANS, X, LA_TRANS, Z);
}

static ad_node *linear_diag(const gp_kernel *leaf, gp_build *b)
{
    bool empty;
    size_t first = b->next;
    ad_node *row = inverse_row(leaf, b, &empty);
    if (empty)
        return ad_scale(gp_leaf_ones(b), 0);
    return ad_sum(ad_square(scaled(leaf, b, b->X, row, first)), AD_AXIS(1));
}

/* ---- poly -------------------------------------------------------------------
 */

static covar_status poly_params(gp_params_maker *m, const gp_kernel *leaf)
{
    COVAR_TRY(linear_params(m, leaf));
    return gp_params_add_kind(m, leaf, "offset", GP_KIND_OFFSET, -1);
}

static double poly_size(const gp_kernel *leaf, const gp_data *data)
{
    return pow(squared_range(leaf, data), leaf->order);
}

static ad_node *power(ad_node *x, unsigned degree)
{
    return degree == 1 ? x : ad_pow_scalar(x, degree);
}

static ad_node *poly_build(const gp_kernel *leaf, gp_build *b)
{
    ad_node *product = linear_build(leaf, b);
    return power(ad_add(product, gp_build_take(b)), leaf->order);
}

static ad_node *poly_diag(const gp_kernel *leaf, gp_build *b)
{
    ad_node *square = linear_diag(leaf, b);
    return power(ad_add(square, gp_build_take(b)), leaf->order);
}

const gp_kernel_type gp_type_constant = {
    .word = "constant",
    .formula = "1",
    .stationary = true,
    .saved = true,
    .arg_names = none,
    .params = no_params,
    .build = constant_build,
    .diag = ones_diag,
};

const gp_kernel_type gp_type_white = {
    .word = "white",
    .formula = "1 where x and z are the same observation",
    .stationary = true,
    .saved = true,
    .arg_names = none,
    .params = no_params,
    .build = white_build,
    .diag = ones_diag,
};

const gp_kernel_type gp_type_linear = {
    .word = "linear",
    .formula = "sum_k x_k z_k / l_k^2",
    .takes_ard = true,
    .saved = true,
    .arg_names = lengthscale_only,
    .params = linear_params,
    .size = linear_size,
    .build = linear_build,
    .diag = linear_diag,
};

const gp_kernel_type gp_type_poly = {
    .word = "poly",
    .formula = "(x'z + offset)^degree",
    .takes_order = true,
    .order_name = "degree",
    .order_default = 2,
    .saved = true,
    .arg_names = poly_names,
    .params = poly_params,
    .size = poly_size,
    .build = poly_build,
    .diag = poly_diag,
};
