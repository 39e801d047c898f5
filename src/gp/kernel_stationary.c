/* Kernels of the scaled distance: rbf, matern12 to matern72, rq.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All are functions of D = sum_k ((x_k - z_k) / l_k)^2; formulas in gp.h. */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "kernel_leaf.h"

static const char *const lengthscale_only[] = {"lengthscale", NULL};
static const char *const rq_names[] = {"lengthscale", "alpha", NULL};

covar_status gp_leaf_check_columns(gp_params_maker *m, const gp_kernel *leaf)
{
    for (size_t i = 0; i < leaf->n_column; i++)
        if (leaf->column[i] >= m->data->d)
            return covar_fail(m->ctx, COVAR_ERR_SHAPE,
                              "kernel: %s uses column %zu but X has %zu "
                              "columns (counted from 0)",
                              leaf->type->word, leaf->column[i], m->data->d);
    return COVAR_OK;
}

covar_status gp_leaf_add_lengthscales(gp_params_maker *m, const gp_kernel *leaf,
                                      gp_kind kind)
{
    size_t n = leaf->n_column > 0 ? leaf->n_column : m->data->d;
    COVAR_TRY(gp_leaf_check_columns(m, leaf));
    if (!leaf->ard)
        return gp_params_add_kind(m, leaf, "lengthscale", kind, -1);
    if (leaf->ard_d > 0 && leaf->ard_d != n)
        return covar_fail(m->ctx, COVAR_ERR_SHAPE,
                          "kernel: %s(ard=%zu) but there are %zu columns",
                          leaf->type->word, leaf->ard_d, n);
    for (size_t i = 0; i < n; i++) {
        char name[48];
        size_t column = leaf->n_column > 0 ? leaf->column[i] : i;
        snprintf(name, sizeof(name), "lengthscale[%zu]", column);
        COVAR_TRY(gp_params_add_kind(m, leaf, name, kind, (ptrdiff_t)column));
    }
    return COVAR_OK;
}

static covar_status distance_params(gp_params_maker *m, const gp_kernel *leaf)
{
    return gp_leaf_add_lengthscales(m, leaf, GP_KIND_LENGTHSCALE);
}

static covar_status rq_params(gp_params_maker *m, const gp_kernel *leaf)
{
    COVAR_TRY(gp_leaf_add_lengthscales(m, leaf, GP_KIND_LENGTHSCALE));
    return gp_params_add_kind(m, leaf, "alpha", GP_KIND_ALPHA, -1);
}

/* With one lengthscale the distances themselves have no parameter: equal
 * nodes in all such factors, so computed once. */
static ad_node *isotropic_sqdist(const gp_kernel *leaf, gp_build *b)
{
    ad_node *X = gp_leaf_select(leaf, b, b->X, SIZE_MAX);
    ad_node *Z = b->Z ? gp_leaf_select(leaf, b, b->Z, SIZE_MAX) : NULL;
    return ad_mul(ad_sqdist(X, Z), ad_recip(ad_square(gp_build_take(b))));
}

static bool all_dropped(const gp_build *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!b->params->param[b->next + i].dropped)
            return false;
    return true;
}

ad_node *gp_leaf_scaled_sqdist(const gp_kernel *leaf, gp_build *b)
{
    if (!leaf->ard)
        return isotropic_sqdist(leaf, b);
    size_t n = gp_leaf_columns(leaf, b), first = b->next;
    if (all_dropped(b, n)) {
        b->next += n;
        return ad_scale(gp_leaf_all_ones(b), 0);
    }
    ad_node *inverse = ad_recip(gp_build_take_vector(b, n));
    ad_node *row = ad_expand(inverse, 0); /* (1,d) */
    ad_node *X = ad_mul(gp_leaf_select(leaf, b, b->X, first), row);
    ad_node *Z = NULL;
    if (b->Z)
        Z = ad_mul(gp_leaf_select(leaf, b, b->Z, first), row);
    return ad_sqdist(X, Z);
}

static ad_node *rbf_build(const gp_kernel *leaf, gp_build *b)
{
    return ad_exp(ad_scale(gp_leaf_scaled_sqdist(leaf, b), -0.5));
}

static ad_node *matern(const gp_kernel *leaf, gp_build *b, int degree)
{
    return gp_matern(gp_leaf_scaled_sqdist(leaf, b), degree, 2.0 * degree + 1,
                     b->Z == NULL);
}

static ad_node *matern12_build(const gp_kernel *leaf, gp_build *b)
{
    return matern(leaf, b, 0);
}

static ad_node *matern32_build(const gp_kernel *leaf, gp_build *b)
{
    return matern(leaf, b, 1);
}

static ad_node *matern52_build(const gp_kernel *leaf, gp_build *b)
{
    return matern(leaf, b, 2);
}

static ad_node *matern72_build(const gp_kernel *leaf, gp_build *b)
{
    return matern(leaf, b, 3);
}

static ad_node *rq_build(const gp_kernel *leaf, gp_build *b)
{
    ad_node *D = gp_leaf_scaled_sqdist(leaf, b);
    ad_node *alpha = gp_build_take(b);
    ad_node *t = ad_mul(D, ad_scale(ad_recip(alpha), 0.5));
    return ad_exp(ad_neg(ad_mul(alpha, ad_log1p(t))));
}

/* k(x,x) = 1, past the leaf's parameters. */
static ad_node *unit_diag(const gp_kernel *leaf, gp_build *b)
{
    b->next += leaf->ard ? gp_leaf_columns(leaf, b) : 1;
    return gp_leaf_ones(b);
}

static ad_node *rq_diag(const gp_kernel *leaf, gp_build *b)
{
    ad_node *ones = unit_diag(leaf, b);
    b->next++;
    return ones;
}

#define STATIONARY(name, text)                                                 \
    const gp_kernel_type gp_type_##name = {                                    \
        .word = #name,                                                         \
        .formula = text,                                                       \
        .stationary = true,                                                    \
        .takes_ard = true,                                                     \
        .saved = true,                                                         \
        .arg_names = lengthscale_only,                                         \
        .params = distance_params,                                             \
        .build = name##_build,                                                 \
        .diag = unit_diag,                                                     \
    }

STATIONARY(rbf, "exp(-r^2 / 2)");
STATIONARY(matern12, "exp(-r)");
STATIONARY(matern32, "(1 + s) exp(-s), s = sqrt(3) r");
STATIONARY(matern52, "(1 + s + s^2 / 3) exp(-s), s = sqrt(5) r");
STATIONARY(matern72, "(1 + s + 2 s^2 / 5 + s^3 / 15) exp(-s), s = sqrt(7) r");

const gp_kernel_type gp_type_rq = {
    .word = "rq",
    .formula = "(1 + r^2 / (2 alpha))^-alpha",
    .stationary = true,
    .takes_ard = true,
    .saved = true,
    .arg_names = rq_names,
    .params = rq_params,
    .build = rq_build,
    .diag = rq_diag,
};
