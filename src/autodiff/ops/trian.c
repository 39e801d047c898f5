/* Packed triangles, and the log-determinant of a triangular matrix.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * extract_trian: the lower triangle (n,n) packed by rows, n(n+1)/2 numbers;
 * make_trian: back, zeros above. Each is the other's adjoint.
 * sum_log_diag: y = sum_i log L_ii; L_bar = diag(y_bar / L_ii). */
#include "config.h"

#include "autodiff/ops/ops.h"

static ad_dim packed(ad_dim n)
{
    return ad_dim_div(ad_dim_mul(n, ad_dim_add(n, ad_fixed(1))), 2);
}

static covar_status infer_extract(ad_node *y)
{
    COVAR_TRY(ad_need_square(y, 0));
    ad_type t = *ad_in_type(y, 0);
    t.rank--;
    t.dim[t.rank - 1] = packed(t.dim[t.rank]);
    t.facts &= AD_POSITIVE;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval_extract(const ad_call *c)
{
    return la_extract_trian(c->exec, c->out[0], c->x[0]);
}

static covar_status vjp_extract(ad_node *y, ad_node *const y_bar[],
                                const bool need[], ad_node *x_bar[])
{
    const ad_type *x = ad_in_type(y, 0);
    if (need[0] && y_bar[0])
        x_bar[0] = ad_make_trian(y_bar[0], x->dim[x->rank - 1]);
    return COVAR_OK;
}

static covar_status example_extract(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_node *x = ad_example_matrix(e, dtype, n, n, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_extract_trian(x));
}

const ad_op ad_op_extract_trian = {
    .abi = AD_OP_ABI,
    .name = "extract_trian",
    .formula = "y = lower triangle of x, packed by rows",
    .n_in = 1,
    .n_out = 1,
    .flags = AD_BATCHED,
    .views = -1,
    .infer = infer_extract,
    .eval = eval_extract,
    .vjp = vjp_extract,
    .jvp = ad_jvp_same,
    .example = example_extract,
};

ad_node *ad_extract_trian(ad_node *x)
{
    return ad_apply(NULL, &ad_op_extract_trian, 1, &x, NULL);
}

/* ---- make_trian --------------------------------------------------------- */

static const ad_field trian_fields[] = {
    {"n", AD_FIELD_DIM, offsetof(ad_trian_fields, n)},
    {NULL, AD_FIELD_INT, 0},
};

static covar_status infer_make(ad_node *y)
{
    ad_dim n = ((const ad_trian_fields *)y->fields)->n;
    COVAR_TRY(ad_need_real(y, 0));
    COVAR_TRY(ad_need_rank(y, 0, 1));
    ad_type t = *ad_in_type(y, 0);
    if (t.rank == LA_MAX_DIMS || !ad_same_dim(y, t.dim[t.rank - 1], packed(n)))
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "%s is no packed triangle of n = %s (%s numbers)",
                            ad_in_text(y, 0).s, ad_one_dim_text(n).s,
                            ad_one_dim_text(packed(n)).s);
    t.dim[t.rank - 1] = t.dim[t.rank] = n;
    t.rank++;
    t.facts = AD_LOWER;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval_make(const ad_call *c)
{
    return la_make_trian(c->exec, c->out[0], c->x[0]);
}

static covar_status vjp_make(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    (void)y;
    if (need[0] && y_bar[0])
        x_bar[0] = ad_extract_trian(y_bar[0]);
    return COVAR_OK;
}

static covar_status example_make(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_node *x = ad_example_vector(e, dtype, n * (n + 1) / 2, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_make_trian(x, ad_fixed(n)));
}

const ad_op ad_op_make_trian = {
    .abi = AD_OP_ABI,
    .name = "make_trian",
    .formula = "y = lower triangle from its packed rows",
    .n_in = 1,
    .n_out = 1,
    .fields = trian_fields,
    .fields_size = sizeof(ad_trian_fields),
    .flags = AD_BATCHED,
    .views = -1,
    .infer = infer_make,
    .eval = eval_make,
    .vjp = vjp_make,
    .jvp = ad_jvp_same,
    .example = example_make,
};

ad_node *ad_make_trian(ad_node *x, ad_dim n)
{
    return ad_apply(NULL, &ad_op_make_trian, 1, &x, &(ad_trian_fields){n});
}

/* ---- sum_log_diag ------------------------------------------------------- */

static covar_status infer_log(ad_node *y)
{
    COVAR_TRY(ad_need_square(y, 0));
    ad_type t = *ad_in_type(y, 0);
    t.rank -= 2;
    t.facts = 0;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval_log(const ad_call *c)
{
    return la_sum_log_diag(c->exec, c->out[0], c->x[0]);
}

static covar_status vjp_log(ad_node *y, ad_node *const y_bar[],
                            const bool need[], ad_node *x_bar[])
{
    if (!need[0] || !y_bar[0])
        return COVAR_OK;
    ad_node *d = ad_extract_diag(y->in[0], 0);
    ad_node *g = ad_expand(y_bar[0], ad_rank(y_bar[0]));
    x_bar[0] = ad_make_diag(ad_div(ad_broadcast_like(g, d), d), 0);
    return COVAR_OK;
}

static covar_status jvp_log(ad_node *y, ad_node *const x_dot[],
                            ad_node *y_dot[])
{
    if (!x_dot[0])
        return COVAR_OK;
    ad_node *ratio =
        ad_div(ad_extract_diag(x_dot[0], 0), ad_extract_diag(y->in[0], 0));
    y_dot[0] = ad_sum(ratio, AD_AXIS(ad_node_type(y, 0)->rank));
    return COVAR_OK;
}

static covar_status example_log(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_node *L = ad_example_matrix(e, dtype, n, n, AD_DRAW_LOWER);
    return ad_example_result(e, ad_sum_log_diag(L));
}

const ad_op ad_op_sum_log_diag = {
    .abi = AD_OP_ABI,
    .name = "sum_log_diag",
    .formula = "y = sum_i log L_ii",
    .n_in = 1,
    .n_out = 1,
    .flags = AD_BATCHED,
    .views = -1,
    .infer = infer_log,
    .eval = eval_log,
    .vjp = vjp_log,
    .jvp = jvp_log,
    .example = example_log,
};

ad_node *ad_sum_log_diag(ad_node *L)
{
    return ad_apply(NULL, &ad_op_sum_log_diag, 1, &L, NULL);
}
