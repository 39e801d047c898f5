/* The words of the kernel grammar, and a constructor for each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * To add a kernel: a gp_kernel_type in a kernel_<type>.c, a row here, a
 * constructor, its formula in gp.h. The kernel suite then tests it. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "kernel_leaf.h"

extern const gp_kernel_type gp_type_constant, gp_type_white, gp_type_rbf,
    gp_type_matern12, gp_type_matern32, gp_type_matern52, gp_type_matern72,
    gp_type_rq, gp_type_periodic, gp_type_cosine, gp_type_linear, gp_type_poly,
    gp_type_spectral_mixture;

const gp_kernel_type *const gp_kernel_types[] = {
    &gp_type_constant,
    &gp_type_white,
    &gp_type_rbf,
    &gp_type_matern12,
    &gp_type_matern32,
    &gp_type_matern52,
    &gp_type_matern72,
    &gp_type_rq,
    &gp_type_periodic,
    &gp_type_cosine,
    &gp_type_linear,
    &gp_type_poly,
    &gp_type_spectral_mixture,
    NULL,
};

const ad_op *const gp_ops[] = {&gp_op_matern, NULL};

const gp_kernel_type *gp_kernel_type_find(const char *word, size_t length)
{
    for (size_t i = 0; gp_kernel_types[i]; i++)
        if (strlen(gp_kernel_types[i]->word) == length &&
            strncmp(gp_kernel_types[i]->word, word, length) == 0)
            return gp_kernel_types[i];
    return NULL;
}

static gp_kernel *leaf_of(const gp_kernel_type *type)
{
    covar_heap *heap = covar_heap_create(NULL);
    gp_kernel *leaf = gp_node_create(heap, GP_FORM_LEAF);
    covar_heap_release(heap);
    if (!leaf)
        return NULL;
    leaf->type = type;
    leaf->order = type->order_default;
    return leaf;
}

static gp_kernel *plain(const gp_kernel_type *type)
{
    return gp_kernel_or_no_memory(gp_sum_of(leaf_of(type)));
}

static gp_kernel *with_ard(const gp_kernel_type *type, size_t ard)
{
    if (ard > GP_MOST_COLUMN)
        return gp_kernel_broken("gp_%s: ard is %zu; 0 to %d is allowed",
                                type->word, ard, GP_MOST_COLUMN);
    gp_kernel *leaf = leaf_of(type);
    if (leaf) {
        leaf->ard = ard > 0;
        leaf->ard_d = ard;
    }
    return gp_kernel_or_no_memory(gp_sum_of(leaf));
}

static gp_kernel *with_period(const gp_kernel_type *type, double period)
{
    if (!(period >= 0 && isfinite(period)))
        return gp_kernel_broken("gp_%s: the period is %g, but it must be "
                                "positive, or 0 to choose one",
                                type->word, period);
    gp_kernel *leaf = leaf_of(type);
    if (leaf && period > 0 && !gp_node_set_arg(leaf, "period", period, false)) {
        gp_kernel_free(leaf);
        leaf = NULL;
    }
    return gp_kernel_or_no_memory(gp_sum_of(leaf));
}

static gp_kernel *with_order(const gp_kernel_type *type, unsigned order)
{
    if (order == 0 || order > GP_MOST_ORDER)
        return gp_kernel_broken("gp_%s: %s is %u; 1 to %d is allowed",
                                type->word, type->order_name, order,
                                GP_MOST_ORDER);
    gp_kernel *leaf = leaf_of(type);
    if (leaf)
        leaf->order = order;
    return gp_kernel_or_no_memory(gp_sum_of(leaf));
}

gp_kernel *gp_rbf(size_t ard)
{
    return with_ard(&gp_type_rbf, ard);
}

gp_kernel *gp_matern12(size_t ard)
{
    return with_ard(&gp_type_matern12, ard);
}

gp_kernel *gp_matern32(size_t ard)
{
    return with_ard(&gp_type_matern32, ard);
}

gp_kernel *gp_matern52(size_t ard)
{
    return with_ard(&gp_type_matern52, ard);
}

gp_kernel *gp_matern72(size_t ard)
{
    return with_ard(&gp_type_matern72, ard);
}

gp_kernel *gp_rq(size_t ard)
{
    return with_ard(&gp_type_rq, ard);
}

gp_kernel *gp_periodic(double period)
{
    return with_period(&gp_type_periodic, period);
}

gp_kernel *gp_cosine(double period)
{
    return with_period(&gp_type_cosine, period);
}

gp_kernel *gp_linear(size_t ard)
{
    return with_ard(&gp_type_linear, ard);
}

gp_kernel *gp_poly(unsigned degree)
{
    return with_order(&gp_type_poly, degree);
}

gp_kernel *gp_constant(void)
{
    return plain(&gp_type_constant);
}

gp_kernel *gp_white(void)
{
    return plain(&gp_type_white);
}

gp_kernel *gp_spectral_mixture(unsigned q)
{
    return with_order(&gp_type_spectral_mixture, q);
}
