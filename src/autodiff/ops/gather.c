/* Rows by index, and rows added at indices: each the other's adjoint.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gather: y[i] = x[index[i]]. scatter_add: y = 0, then y[index[i]] += x[i] in
 * the order of i; y has `size` rows. index is i32 (k) and has no adjoint. */
#include "config.h"

#include "autodiff/ops/ops.h"

static covar_status need_index(ad_node *y)
{
    const ad_type *index = ad_in_type(y, 1);
    COVAR_TRY(ad_need_real(y, 0));
    COVAR_TRY(ad_need_rank(y, 0, 1));
    if (index->dtype == LA_I32 && index->rank == 1)
        return COVAR_OK;
    return ad_node_fail(y, COVAR_ERR_SHAPE, "the index is %s, not i32 (k)",
                        ad_in_text(y, 1).s);
}

static covar_status infer_gather(ad_node *y)
{
    COVAR_TRY(need_index(y));
    ad_type t = *ad_in_type(y, 0);
    t.dim[0] = ad_in_type(y, 1)->dim[0];
    t.facts &= AD_POSITIVE;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval_gather(const ad_call *c)
{
    return la_gather(c->exec, c->out[0], c->x[0], c->x[1]);
}

static covar_status vjp_gather(ad_node *y, ad_node *const y_bar[],
                               const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_scatter_add(y_bar[0], y->in[1], ad_in_type(y, 0)->dim[0]);
    return COVAR_OK;
}

/* Of both: linear in x. */
static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    if (x_dot[0])
        y_dot[0] = ad_apply(NULL, y->op, 2, (ad_node *[]){x_dot[0], y->in[1]},
                            y->fields);
    return COVAR_OK;
}

/* Variants: rows, elements. */
static covar_status example_gather(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 2));
    size_t dim[2] = {n + 1, 3};
    ad_node *x = ad_example_input(e, dtype, 2 - ad_example_variant(e), dim,
                                  AD_DRAW_NORMAL);
    ad_node *index = ad_example_index(e, 2 * n, n + 1);
    return ad_example_result(e, ad_gather(x, index));
}

const ad_op ad_op_gather = {
    .abi = AD_OP_ABI,
    .name = "gather",
    .formula = "y[i] = x[index[i]]",
    .n_in = 2,
    .n_out = 1,
    .views = -1,
    .infer = infer_gather,
    .eval = eval_gather,
    .vjp = vjp_gather,
    .jvp = jvp,
    .example = example_gather,
};

ad_node *ad_gather(ad_node *x, ad_node *index)
{
    return ad_apply(NULL, &ad_op_gather, 2, (ad_node *[]){x, index}, NULL);
}

/* ---- scatter_add -------------------------------------------------------- */

static const ad_field scatter_fields[] = {
    {"size", AD_FIELD_DIM, offsetof(ad_scatter_fields, size)},
    {NULL, AD_FIELD_INT, 0},
};

static covar_status infer_scatter(ad_node *y)
{
    COVAR_TRY(need_index(y));
    ad_type t = *ad_in_type(y, 0);
    if (!ad_same_dim(y, t.dim[0], ad_in_type(y, 1)->dim[0]))
        return ad_node_fail(y, COVAR_ERR_SHAPE, "x is %s, but the index is %s",
                            ad_in_text(y, 0).s, ad_in_text(y, 1).s);
    t.dim[0] = ((const ad_scatter_fields *)y->fields)->size;
    t.facts = 0;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval_scatter(const ad_call *c)
{
    COVAR_TRY(la_fill(c->exec, c->out[0], 0));
    return la_scatter_add(c->exec, c->out[0], c->x[0], c->x[1]);
}

static covar_status vjp_scatter(ad_node *y, ad_node *const y_bar[],
                                const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_gather(y_bar[0], y->in[1]);
    return COVAR_OK;
}

/* Variants: rows, elements. */
static covar_status example_scatter(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 2));
    size_t dim[2] = {n, 3};
    ad_node *x = ad_example_input(e, dtype, 2 - ad_example_variant(e), dim,
                                  AD_DRAW_NORMAL);
    ad_node *index = ad_example_index(e, n, 3);
    return ad_example_result(e, ad_scatter_add(x, index, ad_fixed(4)));
}

const ad_op ad_op_scatter_add = {
    .abi = AD_OP_ABI,
    .name = "scatter_add",
    .formula = "y[index[i]] += x[i], from 0",
    .n_in = 2,
    .n_out = 1,
    .fields = scatter_fields,
    .fields_size = sizeof(ad_scatter_fields),
    .views = -1,
    .infer = infer_scatter,
    .eval = eval_scatter,
    .vjp = vjp_scatter,
    .jvp = jvp,
    .example = example_scatter,
};

ad_node *ad_scatter_add(ad_node *x, ad_node *index, ad_dim size)
{
    return ad_apply(NULL, &ad_op_scatter_add, 2, (ad_node *[]){x, index},
                    &(ad_scatter_fields){size});
}
