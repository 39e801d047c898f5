/* Kernels of coordinate differences: periodic, cosine, spectral_mixture.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   periodic   exp(-2 sum_k sin^2(pi d_k / period) / l^2)
 *   cosine     prod_k cos(2 pi d_k / period)
 *   spectral_mixture  sum_q w_q exp(-2 pi^2 sum_k d_k^2 v_qk)
 *                     prod_k cos(2 pi d_k f_qk),  v = bandwidth^2, w_0 = 1
 * with d_k = x_k - z_k. Sources: Rasmussen & Williams 2006, eq. 4.31; Wilson &
 * Adams 2013, eq. 12. */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "kernel_leaf.h"

static const char *const periodic_names[] = {"lengthscale", "period", NULL};
static const char *const cosine_names[] = {"period", NULL};
static const char *const mixture_names[] = {"weight", "frequency", "bandwidth",
                                            NULL};

static ad_node *column(ad_node *x, size_t k)
{
    return ad_slice(x, 1, ad_fixed(k), ad_fixed(1)); /* (n,1) */
}

/* x_k - z_k for column k of the leaf's selection: (n,m). */
static ad_node *difference(ad_node *X, ad_node *Z, size_t k)
{
    return ad_sub(column(X, k), ad_transpose(column(Z ? Z : X, k)));
}

static ad_node *selected(const gp_kernel *leaf, gp_build *b, ad_node **Z)
{
    *Z = b->Z ? gp_leaf_select(leaf, b, b->Z, SIZE_MAX) : NULL;
    return gp_leaf_select(leaf, b, b->X, SIZE_MAX);
}

/* ---- periodic ------------------------------------------------------------ */

static covar_status periodic_params(gp_params_maker *m, const gp_kernel *leaf)
{
    COVAR_TRY(gp_leaf_check_columns(m, leaf));
    COVAR_TRY(gp_params_add_kind(m, leaf, "lengthscale",
                                 GP_KIND_PERIODIC_LENGTHSCALE, -1));
    return gp_params_add_kind(m, leaf, "period", GP_KIND_PERIOD, -1);
}

static ad_node *periodic_build(const gp_kernel *leaf, gp_build *b)
{
    ad_node *Z, *X = selected(leaf, b, &Z), *sum = NULL;
    ad_node *scale = ad_scale(ad_recip(ad_square(gp_build_take(b))), -2);
    ad_node *rate = ad_scale(ad_recip(gp_build_take(b)), M_PI);
    for (size_t k = 0; k < gp_leaf_columns(leaf, b); k++) {
        ad_node *s = ad_square(ad_sin(ad_mul(difference(X, Z, k), rate)));
        sum = sum ? ad_add(sum, s) : s;
    }
    return ad_exp(ad_mul(sum, scale));
}

static ad_node *periodic_diag(const gp_kernel *leaf, gp_build *b)
{
    (void)leaf;
    b->next += 2;
    return gp_leaf_ones(b);
}

/* ---- cosine -------------------------------------------------------------- */

static covar_status cosine_params(gp_params_maker *m, const gp_kernel *leaf)
{
    COVAR_TRY(gp_leaf_check_columns(m, leaf));
    return gp_params_add_kind(m, leaf, "period", GP_KIND_PERIOD, -1);
}

static ad_node *cosine_build(const gp_kernel *leaf, gp_build *b)
{
    ad_node *Z, *X = selected(leaf, b, &Z), *product = NULL;
    ad_node *rate = ad_scale(ad_recip(gp_build_take(b)), 2 * M_PI);
    for (size_t k = 0; k < gp_leaf_columns(leaf, b); k++) {
        ad_node *c = ad_cos(ad_mul(difference(X, Z, k), rate));
        product = product ? ad_mul(product, c) : c;
    }
    return product;
}

static ad_node *cosine_diag(const gp_kernel *leaf, gp_build *b)
{
    (void)leaf;
    b->next++;
    return gp_leaf_ones(b);
}

/* ---- spectral mixture: parameters by component
 * -------------------------------- */

static covar_status mixture_params(gp_params_maker *m, const gp_kernel *leaf)
{
    COVAR_TRY(gp_leaf_check_columns(m, leaf));
    char name[64];
    size_t d = leaf->n_column > 0 ? leaf->n_column : m->data->d;
    for (unsigned q = 0; q < leaf->order; q++) {
        if (q > 0) { /* the first weight is the term's variance */
            snprintf(name, sizeof(name), "weight[%u]", q);
            COVAR_TRY(gp_params_add_kind(m, leaf, name, GP_KIND_WEIGHT, -1));
        }
        for (size_t k = 0; k < d; k++) {
            size_t c = leaf->n_column > 0 ? leaf->column[k] : k;
            snprintf(name, sizeof(name), "frequency[%u][%zu]", q, c);
            COVAR_TRY(gp_params_add_kind(m, leaf, name, GP_KIND_FREQUENCY,
                                         (ptrdiff_t)c));
            snprintf(name, sizeof(name), "bandwidth[%u][%zu]", q, c);
            COVAR_TRY(gp_params_add_kind(m, leaf, name, GP_KIND_BANDWIDTH,
                                         (ptrdiff_t)c));
        }
    }
    return COVAR_OK;
}

/* prod_k exp(-2 pi^2 d^2 v) cos(2 pi d f) of one component. */
static ad_node *component(gp_build *b, ad_node *X, ad_node *Z, size_t d)
{
    ad_node *power = NULL, *wave = NULL;
    for (size_t k = 0; k < d; k++) {
        if (b->params->param[b->next].dropped) {
            b->next += 2;
            continue;
        }
        ad_node *diff = difference(X, Z, k);
        ad_node *f = ad_scale(gp_build_take(b), 2 * M_PI);
        ad_node *v = ad_scale(ad_square(gp_build_take(b)), -2 * M_PI * M_PI);
        ad_node *p = ad_mul(ad_square(diff), v);
        ad_node *c = ad_cos(ad_mul(diff, f));
        power = power ? ad_add(power, p) : p;
        wave = wave ? ad_mul(wave, c) : c;
    }
    return wave ? ad_mul(ad_exp(power), wave) : gp_leaf_all_ones(b);
}

static ad_node *mixture_build(const gp_kernel *leaf, gp_build *b)
{
    ad_node *Z, *X = selected(leaf, b, &Z), *sum = NULL;
    size_t d = gp_leaf_columns(leaf, b);
    for (unsigned q = 0; q < leaf->order; q++) {
        ad_node *w = q > 0 ? gp_build_take(b) : NULL;
        ad_node *k = component(b, X, Z, d);
        k = w ? ad_mul(w, k) : k;
        sum = sum ? ad_add(sum, k) : k;
    }
    return sum;
}

/* 1 + the other weights. */
static ad_node *mixture_diag(const gp_kernel *leaf, gp_build *b)
{
    ad_node *sum = gp_leaf_ones(b);
    size_t d = gp_leaf_columns(leaf, b);
    for (unsigned q = 0; q < leaf->order; q++) {
        if (q > 0)
            sum = ad_add(sum, gp_build_take(b));
        b->next += 2 * d;
    }
    return sum;
}

const gp_kernel_type gp_type_periodic = {
    .word = "periodic",
    .formula = "exp(-2 sum_k sin^2(pi d_k / period) / l^2)",
    .stationary = true,
    .saved = true,
    .arg_names = periodic_names,
    .params = periodic_params,
    .build = periodic_build,
    .diag = periodic_diag,
};

const gp_kernel_type gp_type_cosine = {
    .word = "cosine",
    .formula = "prod_k cos(2 pi d_k / period)",
    .stationary = true,
    .saved = true,
    .arg_names = cosine_names,
    .params = cosine_params,
    .build = cosine_build,
    .diag = cosine_diag,
};

const gp_kernel_type gp_type_spectral_mixture = {
    .word = "spectral_mixture",
    .formula = "sum_q w_q prod_k exp(-2 pi^2 d_k^2 v_qk) cos(2 pi d_k f_qk)",
    .stationary = true,
    .takes_order = true,
    .order_name = "q",
    .order_default = 1,
    .saved = true,
    .arg_names = mixture_names,
    .params = mixture_params,
    .build = mixture_build,
    .diag = mixture_diag,
};
