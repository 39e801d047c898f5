/* The same elements in other dims, and repeated dims of 1: views.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reshape keeps the row-major order of the elements (a view of a dense x);
 * broadcast repeats dims of 1 (stride 0). */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field dims_fields[] = {
    {"dims", AD_FIELD_DIMS, offsetof(ad_dims_fields, dims)},
    {NULL, AD_FIELD_INT, 0},
};

static const ad_dims *dims_of(const ad_node *y)
{
    return &((const ad_dims_fields *)y->fields)->dims;
}

/* ---- reshape ------------------------------------------------------------ */

static covar_status infer_reshape(ad_node *y)
{
    const ad_type *x = ad_in_type(y, 0);
    ad_type t = {.dtype = x->dtype, .facts = x->facts & AD_POSITIVE};
    t.rank = dims_of(y)->rank;
    for (int k = 0; k < t.rank; k++)
        t.dim[k] = dims_of(y)->dim[k];
    ad_dim have = ad_dim_product(x->dim, x->rank);
    ad_dim want = ad_dim_product(t.dim, t.rank);
    if (!ad_same_dim(y, have, want))
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "%s has %s elements, the new shape %s",
                            ad_in_text(y, 0).s, ad_one_dim_text(have).s,
                            ad_one_dim_text(want).s);
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static bool view_reshape(const ad_node *y, la_view x, const size_t *dim,
                         const size_t *symbol, la_view *out)
{
    (void)symbol;
    if (!la_view_is_dense(x))
        return false;
    *out = la_view_dense(x.data, x.dtype, dims_of(y)->rank, dim);
    out->device = x.device;
    return true;
}

static covar_status vjp_reshape(ad_node *y, ad_node *const y_bar[],
                                const bool need[], ad_node *x_bar[])
{
    const ad_type *x = ad_in_type(y, 0);
    if (need[0] && y_bar[0])
        x_bar[0] = ad_reshape(y_bar[0], x->rank, x->dim);
    return COVAR_OK;
}

/* Variants: (n,4) to (4n), to (2,n,2), and of a transpose to (n,4). */
static covar_status example_reshape(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 3));
    int v = ad_example_variant(e);
    size_t dim[2] = {n, 4};
    ad_node *x = ad_example_input(e, dtype, 2, dim, AD_DRAW_NORMAL);
    ad_dim to[][3] = {{ad_fixed(4 * n)},
                      {ad_fixed(2), ad_fixed(n), ad_fixed(2)},
                      {ad_fixed(n), ad_fixed(4)}};
    static const int rank[] = {1, 3, 2};
    return ad_example_result(
        e, ad_reshape(v == 2 ? ad_transpose(x) : x, rank[v], to[v]));
}

const ad_op ad_op_reshape = {
    .abi = AD_OP_ABI,
    .name = "reshape",
    .formula = "y = elements of x, in order, in other dims",
    .n_in = 1,
    .n_out = 1,
    .fields = dims_fields,
    .fields_size = sizeof(ad_dims_fields),
    .views = 0,
    .infer = infer_reshape,
    .view = view_reshape,
    .vjp = vjp_reshape,
    .jvp = ad_jvp_same,
    .example = example_reshape,
};

static ad_node *with_dims(const ad_op *op, ad_node *x, int rank,
                          const ad_dim *dim)
{
    ad_dims_fields f = {{.rank = rank}};
    if (!x || !ad_have_dims(x->graph, op->name, rank, dim))
        return NULL;
    for (int k = 0; k < rank; k++)
        f.dims.dim[k] = dim[k];
    return ad_apply(NULL, op, 1, &x, &f);
}

ad_node *ad_reshape(ad_node *x, int rank, const ad_dim *dim)
{
    return with_dims(&ad_op_reshape, x, rank, dim);
}

/* ---- broadcast ---------------------------------------------------------- */

static covar_status infer_broadcast(ad_node *y)
{
    const ad_type *x = ad_in_type(y, 0);
    ad_type t = {.dtype = x->dtype, .facts = x->facts & AD_POSITIVE};
    bool good = x->rank == 0 || x->rank == dims_of(y)->rank;
    t.rank = dims_of(y)->rank;
    for (int k = 0; k < t.rank; k++) {
        t.dim[k] = dims_of(y)->dim[k];
        if (good && x->rank && !ad_is_one(x->dim[k]))
            good = ad_same_dim(y, x->dim[k], t.dim[k]);
    }
    char text[120];
    if (!good)
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "%s does not repeat to %s: only a constant dim "
                            "of 1 does",
                            ad_in_text(y, 0).s,
                            ad_type_describe(text, sizeof(text), &t));
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static bool view_broadcast(const ad_node *y, la_view x, const size_t *dim,
                           const size_t *symbol, la_view *out)
{
    (void)symbol;
    return la_view_broadcast(out, x, dims_of(y)->rank, dim);
}

static covar_status vjp_broadcast(ad_node *y, ad_node *const y_bar[],
                                  const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_unbroadcast(y_bar[0], y->in[0]);
    return COVAR_OK;
}

/* Variants: (n,1), (1,n) and rank 0, to (n,3), (3,n) and (n,3). */
static covar_status example_broadcast(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 3));
    int v = ad_example_variant(e);
    size_t dim[2] = {v == 0 ? n : 1, v == 0 ? 1 : n};
    ad_dim to[2] = {ad_fixed(v == 1 ? 3 : n), ad_fixed(v == 1 ? n : 3)};
    ad_node *x =
        ad_example_input(e, dtype, v == 2 ? 0 : 2, dim, AD_DRAW_NORMAL);
    return ad_example_result(e,
                             ad_apply(NULL, &ad_op_broadcast, 1, &x,
                                      &(ad_dims_fields){{2, {to[0], to[1]}}}));
}

const ad_op ad_op_broadcast = {
    .abi = AD_OP_ABI,
    .name = "broadcast",
    .formula = "y = x with dims of 1 repeated",
    .n_in = 1,
    .n_out = 1,
    .fields = dims_fields,
    .fields_size = sizeof(ad_dims_fields),
    .flags = AD_ANY_STRIDE,
    .views = 0,
    .infer = infer_broadcast,
    .view = view_broadcast,
    .vjp = vjp_broadcast,
    .jvp = ad_jvp_same,
    .example = example_broadcast,
};

/* x itself where it has these dims already. */
ad_node *ad_broadcast(ad_node *x, int rank, const ad_dim *dim)
{
    bool same = x && ad_rank(x) == rank && (dim || rank == 0);
    for (int k = 0; same && k < rank; k++)
        same = ad_dims_equal(x->graph, ad_dim_of(x, k), dim[k]);
    return same ? x : with_dims(&ad_op_broadcast, x, rank, dim);
}

ad_node *ad_broadcast_like(ad_node *x, const ad_node *y)
{
    if (!x || !y)
        return NULL;
    const ad_type *t = ad_node_type(y, 0);
    return ad_broadcast(x, t->rank, t->dim);
}
