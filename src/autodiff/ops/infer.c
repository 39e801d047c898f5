/* Checks that the operators' infer functions share; each leaves a sentence
 * that names the operands and their shapes.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/ops/ops.h"

#include <stdio.h>

const ad_type *ad_in_type(const ad_node *y, int i)
{
    return ad_node_type(y->in[i], 0);
}

ad_text ad_in_text(const ad_node *y, int i)
{
    ad_text t = {{0}};
    char shape[120];
    const char *name = ad_node_name(y->in[i]);
    ad_type_describe(shape, sizeof(shape), ad_in_type(y, i));
    if (name)
        snprintf(t.s, sizeof(t.s), "'%.30s' %s", name, shape);
    else
        snprintf(t.s, sizeof(t.s), "%s", shape);
    return t;
}

ad_text ad_one_dim_text(ad_dim d)
{
    ad_text t = {{0}};
    ad_dim_text(t.s, sizeof(t.s), d);
    return t;
}

bool ad_is_one(ad_dim d)
{
    size_t value;
    return ad_dim_is_fixed(d, &value) && value == 1;
}

bool ad_same_dim(const ad_node *y, ad_dim a, ad_dim b)
{
    return ad_dims_equal(y->graph, a, b);
}

bool ad_same_dims(const ad_node *y, const ad_type *a, const ad_type *b)
{
    if (a->rank != b->rank)
        return false;
    for (int k = 0; k < a->rank; k++)
        if (!ad_same_dim(y, a->dim[k], b->dim[k]))
            return false;
    return true;
}

covar_status ad_need_real(ad_node *y, int i)
{
    if (la_dtype_is_real(ad_in_type(y, i)->dtype))
        return COVAR_OK;
    return ad_node_fail(y, COVAR_ERR_DTYPE,
                        "input %d is %s, but must be f32 or f64 (ad_cast "
                        "converts)",
                        i + 1, ad_in_text(y, i).s);
}

covar_status ad_need_same_dtype(ad_node *y, int i, int j)
{
    if (ad_in_type(y, i)->dtype == ad_in_type(y, j)->dtype)
        return COVAR_OK;
    return ad_node_fail(y, COVAR_ERR_DTYPE,
                        "input %d is %s but input %d is %s (ad_cast converts)",
                        i + 1, ad_in_text(y, i).s, j + 1, ad_in_text(y, j).s);
}

covar_status ad_need_rank(ad_node *y, int i, int rank)
{
    if (ad_in_type(y, i)->rank >= rank)
        return COVAR_OK;
    return ad_node_fail(y, COVAR_ERR_SHAPE,
                        "input %d is %s, but needs at least %d dims", i + 1,
                        ad_in_text(y, i).s, rank);
}

covar_status ad_need_square(ad_node *y, int i)
{
    COVAR_TRY(ad_need_real(y, i));
    COVAR_TRY(ad_need_rank(y, i, 2));
    const ad_type *t = ad_in_type(y, i);
    if (ad_same_dim(y, t->dim[t->rank - 2], t->dim[t->rank - 1]))
        return COVAR_OK;
    return ad_node_fail(y, COVAR_ERR_SHAPE,
                        "input %d is %s, but must be square", i + 1,
                        ad_in_text(y, i).s);
}

covar_status ad_need_same_batch(ad_node *y, int i, int di, int j, int dj)
{
    const ad_type *a = ad_in_type(y, i), *b = ad_in_type(y, j);
    bool same = a->rank - di == b->rank - dj;
    for (int k = 0; same && k < a->rank - di; k++)
        same = ad_same_dim(y, a->dim[k], b->dim[k]);
    if (same)
        return COVAR_OK;
    return ad_node_fail(y, COVAR_ERR_SHAPE,
                        "batch dims differ: input %d is %s, input %d is %s",
                        i + 1, ad_in_text(y, i).s, j + 1, ad_in_text(y, j).s);
}

ad_dim ad_dim_product(const ad_dim *dim, int rank)
{
    ad_dim p = ad_fixed(1);
    for (int k = 0; k < rank; k++)
        p = ad_dim_mul(p, dim[k]);
    return p;
}

covar_status ad_eval_start(const ad_call *c, int i)
{
    if (c->out[0].data == c->x[i].data)
        return COVAR_OK;
    return la_copy(c->exec, c->out[0], c->x[i]);
}

covar_status ad_call_dim(const ad_call *c, ad_dim d, size_t *value)
{
    if (ad_dim_is_fixed(d, value))
        return COVAR_OK;
    return ad_dim_eval(c->node->graph, d, c->symbol, value);
}
