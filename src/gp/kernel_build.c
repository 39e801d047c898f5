/* Kernels as graph: sums of variance times products of factors.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builders walk the tree in the order in which params.c listed the parameters,
 * so that `next` always points at the parameter to take. */
#include "config.h"

#include <math.h>

#include "kernel_tree.h"

ad_node *gp_build_take_free(gp_build *b, size_t n)
{
    ad_node *x = ad_slice(b->free, 0, ad_fixed(b->next), ad_fixed(n));
    b->next += n;
    return x;
}

/* Values of the entries first .. first + n - 1, all of one kind. */
static ad_node *values(gp_build *b, size_t first, size_t n)
{
    ad_node *x = ad_slice(b->free, 0, ad_fixed(first), ad_fixed(n));
    return b->params->param[first].log ? ad_exp(x) : x;
}

ad_node *gp_build_take(gp_build *b)
{
    return ad_squeeze(values(b, b->next++, 1), 0);
}

ad_node *gp_build_take_vector(gp_build *b, size_t n)
{
    enum { MOST = 4096 };
    ad_node *piece[MOST];
    int n_piece = 0;
    const gp_param *p = b->params->param + b->next;
    for (size_t i = 0, run = 0; i < n; i += run) {
        for (run = 0; i + run < n && p[i + run].dropped == p[i].dropped;)
            run++;
        if (!p[i].dropped && n_piece < MOST)
            piece[n_piece++] = values(b, b->next + i, run);
    }
    b->next += n;
    return n_piece == 1 ? piece[0] : ad_concat(piece, n_piece, 0);
}

static ad_node *times(ad_node *a, ad_node *b)
{
    return a ? ad_mul(a, b) : b;
}

typedef ad_node *leaf_fn(const gp_kernel *leaf, gp_build *b);

static ad_node *build_sum(const gp_kernel *sum, gp_build *b, bool diagonal);

static ad_node *build_term(const gp_kernel *term, gp_build *b, bool diagonal)
{
    bool owns_variance = gp_term_has_variance(term);
    ad_node *scale = owns_variance ? gp_build_take(b) : NULL;
    if (!owns_variance && !isnan(term->number))
        scale = ad_scalar(b->g, b->dtype, term->number);
    ad_node *product = NULL;
    for (size_t i = 0; i < term->n_child; i++) {
        const gp_kernel *f = term->child[i];
        ad_node *part;
        if (f->form == GP_FORM_SUM)
            part = build_sum(f, b, diagonal);
        else
            part = diagonal ? f->type->diag(f, b) : f->type->build(f, b);
        if (!part)
            return NULL;
        product = times(product, part);
    }
    return scale ? ad_mul(scale, product) : product;
}

static ad_node *build_sum(const gp_kernel *sum, gp_build *b, bool diagonal)
{
    ad_node *total = NULL;
    for (size_t i = 0; i < sum->n_child; i++) {
        ad_node *term = build_term(sum->child[i], b, diagonal);
        if (!term)
            return NULL;
        total = total ? ad_add(total, term) : term;
    }
    return total;
}

ad_node *gp_kernel_build(const gp_kernel *k, gp_build *b)
{
    return build_sum(k, b, false);
}

ad_node *gp_kernel_diag(const gp_kernel *k, gp_build *b)
{
    return build_sum(k, b, true);
}

/* ---- Pieces that leaves share ----------------------------------------------
 */

size_t gp_leaf_columns(const gp_kernel *leaf, const gp_build *b)
{
    size_t d = 0;
    if (leaf->n_column > 0)
        return leaf->n_column;
    ad_dim_is_fixed(ad_dim_of(b->X, 1), &d);
    return d;
}

/* Is column i of the leaf's group in use? `first` = its first lengthscale, or
 * SIZE_MAX when the leaf has none of its own for each column. */
static bool is_active(const gp_build *b, size_t first, size_t i)
{
    return first == SIZE_MAX || !b->params->param[first + i].dropped;
}

ad_node *gp_leaf_select(const gp_kernel *leaf, const gp_build *b, ad_node *x,
                        size_t first)
{
    enum { MOST = 4096 };
    ad_node *piece[MOST];
    int n_piece = 0;
    size_t n = gp_leaf_columns(leaf, b), run;
    for (size_t i = 0; i < n; i += run) {
        size_t start = leaf->n_column > 0 ? leaf->column[i] : i;
        run = 1;
        if (!is_active(b, first, i))
            continue;
        while (i + run < n && is_active(b, first, i + run) &&
               (leaf->n_column == 0 || leaf->column[i + run] == start + run))
            run++;
        if (run == n && leaf->n_column == 0)
            return x;
        if (n_piece < MOST)
            piece[n_piece++] = ad_slice(x, 1, ad_fixed(start), ad_fixed(run));
    }
    return n_piece == 1 ? piece[0] : ad_concat(piece, n_piece, 1);
}

ad_node *gp_leaf_ones(gp_build *b)
{
    return ad_fill(b->g, b->dtype, 1.0, 1, (ad_dim[]){ad_dim_of(b->X, 0)});
}

ad_node *gp_leaf_all_ones(gp_build *b)
{
    ad_node *z = b->Z ? b->Z : b->X;
    ad_dim dim[] = {ad_dim_of(b->X, 0), ad_dim_of(z, 0)};
    return ad_fill(b->g, b->dtype, 1.0, 2, dim);
}
