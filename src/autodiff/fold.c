/* Constant folding: what depends on constants alone is computed once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results of up to 64 KiB are folded, never random or fallible nodes. An
 * elementwise function of uniform values stays a uniform value (a fill), of
 * whatever size. Everything is computed by the operators themselves, so that
 * folding changes no bit. */
#include "config.h"

#include "autodiff/rewrite_impl.h"

enum { MOST_BYTES = 65536 };

/* Fixed and small enough? */
static bool small_type(const ad_type *t)
{
    size_t bytes = la_dtype_size(t->dtype), n;
    for (int k = 0; k < t->rank; k++) {
        if (!ad_dim_is_fixed(t->dim[k], &n) ||
            (n > 0 && bytes > MOST_BYTES / n))
            return false;
        bytes *= n;
    }
    return bytes <= MOST_BYTES;
}

static bool foldable(const ad_node *y)
{
    const unsigned never = AD_RANDOM | AD_FALLIBLE | AD_LEAF | AD_COMPOSITE;
    if (y->n_in == 0 || y->n_out != 1 || y->op->flags & never ||
        ad_fields_have(y->op, AD_FIELD_BODY) || !ad_fields_mergeable(y->op))
        return false;
    for (int i = 0; i < y->n_in; i++)
        if (y->in[i]->op != &ad_op_constant && y->in[i]->op != &ad_op_fill)
            return false;
    return true;
}

/* What cannot be computed now is left to the run, which will say why. */
static ad_node *give_up(ad_graph *g, ad_node *y, covar_status status)
{
    if (status != COVAR_ERR_NOMEM)
        return y;
    ad_graph_nomem(g);
    return NULL;
}

/* Value of y for rank-0 operands: its uniform value. */
static ad_node *fold_uniform(ad_graph *g, ad_node *y)
{
    double value[3];
    la_view in[3];
    double room[3] = {0}, result = 0;
    la_dtype dtype = y->type->dtype;
    for (int i = 0; i < y->n_in; i++) {
        if (!ad_is_constant(y->in[i], &value[i]) ||
            y->in[i]->type->dtype != dtype)
            return y;
        in[i] = la_view_dense(&room[i], dtype, 0, NULL);
        la_view_set(in[i], 0, value[i]);
    }
    la_exec exec = la_exec_cpu(g->ctx);
    la_view out = la_view_dense(&result, dtype, 0, NULL);
    covar_status status = la_map(&exec, y->op->row, out, in);
    if (status != COVAR_OK)
        return give_up(g, y, status);
    return ad_fill(g, dtype, la_view_get(out, 0), y->type->rank, y->type->dim);
}

/* A repeated, reshaped or moved uniform value stays one. */
static ad_node *fold_view(ad_graph *g, ad_node *y)
{
    double value;
    if (!ad_is_constant(y->in[y->op->views], &value))
        return y;
    return ad_fill(g, y->type->dtype, value, y->type->rank, y->type->dim);
}

static ad_node *fold_value(ad_graph *g, ad_node *y)
{
    la_view x[8];
    if (y->n_in > 8 || !small_type(y->type))
        return y;
    la_exec exec = la_exec_cpu(g->ctx);
    la_array *made[8] = {NULL}, *out = NULL;
    covar_status status = COVAR_OK;
    for (int i = 0; i < y->n_in && status == COVAR_OK; i++) {
        ad_node *c = y->in[i];
        const ad_constant_fields *f = c->fields;
        if (c->op == &ad_op_constant)
            x[i] = la_array_view(f->array);
        else if (!small_type(c->type))
            status = COVAR_ERR_UNSUPPORTED;
        else if ((status = ad_eval_node(&exec, c, NULL, &made[i], NULL)) ==
                 COVAR_OK)
            x[i] = la_array_view(made[i]);
    }
    if (status == COVAR_OK)
        status = ad_eval_node(&exec, y, x, &out, NULL);
    ad_node *z = status == COVAR_OK ? ad_constant(g, la_array_view(out))
                                    : give_up(g, y, status);
    la_array_free(out);
    for (int i = 0; i < y->n_in; i++)
        la_array_free(made[i]);
    return z;
}

ad_node *ad_fold_constants(ad_graph *g, ad_node *y)
{
    if (!foldable(y))
        return y;
    ad_node *z = y;
    if (y->op->flags & AD_ELEMENTWISE && y->n_in <= 3)
        z = fold_uniform(g, y);
    else if (y->op->views >= 0 && y->op->view)
        z = fold_view(g, y);
    return z == y ? fold_value(g, y) : z;
}
