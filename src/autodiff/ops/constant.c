/* Constants, fills, and sizes as values.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Constants merge by content when they have up to 256 bytes. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

/* ---- Constants -------------------------------------------------- */

static const ad_field constant_table[] = {
    {"value", AD_FIELD_ARRAY, offsetof(ad_constant_fields, array)},
    {NULL, AD_FIELD_INT, 0}};

static covar_status infer_constant(ad_node *y)
{
    const ad_constant_fields *f = y->fields;
    la_view x = la_array_view(f->array);
    ad_type type = {.dtype = x.dtype, .rank = x.rank};
    for (int i = 0; i < x.rank; i++)
        type.dim[i] = ad_fixed(x.dim[i]);
    if (x.rank == 0 && !x.device && la_view_get(x, 0) > 0)
        type.facts = AD_POSITIVE;
    ad_node_set_type(y, 0, &type);
    return COVAR_OK;
}

static covar_status eval_constant(const ad_call *c)
{
    const ad_constant_fields *f = c->node->fields;
    return la_copy(c->exec, c->out[0], la_array_view(f->array));
}

static covar_status example_constant(ad_example *e, size_t n, la_dtype dtype)
{
    static const double wide[] = {1, -2.5, 0, 4, 5, 6};
    static const float narrow[] = {1, -2.5f, 0, 4, 5, 6};
    COVAR_TRY(ad_example_variants(e, 1));
    n = n < 3 ? n : 3;
    return ad_example_result(
        e, ad_constant(ad_example_graph(e), dtype == LA_F64
                                                ? la_mat_f64(wide, n, 2)
                                                : la_mat_f32(narrow, n, 2)));
}

const ad_op ad_op_constant = {.abi = AD_OP_ABI,
                              .name = "constant",
                              .formula = "y, fixed",
                              .n_out = 1,
                              .fields = constant_table,
                              .fields_size = sizeof(ad_constant_fields),
                              .flags = AD_ANY_STRIDE,
                              .views = -1,
                              .infer = infer_constant,
                              .eval = eval_constant,
                              .example = example_constant};

ad_node *ad_constant(ad_graph *g, la_view x)
{
    if (!g)
        return NULL;
    la_exec exec = la_exec_cpu(g->ctx);
    ad_constant_fields f = {NULL};
    covar_status status = la_array_from_view(&f.array, &exec, x);
    if (status != COVAR_OK) {
        ad_graph_fail(g, status, "ad_constant: %s", covar_error_text(g->ctx));
        return NULL;
    }
    ad_node *y = ad_apply(g, &ad_op_constant, 0, NULL, &f);
    la_array_free(f.array);
    return y;
}

ad_node *ad_scalar(ad_graph *g, la_dtype dtype, double value)
{
    double room = 0;
    la_view x = la_view_dense(&room, dtype, 0, NULL);
    la_view_set(x, 0, value);
    return ad_constant(g, x);
}

/* ---- Fills -------------------------------------------------------------- */

typedef struct fill_fields {
    double value;
    int64_t dtype;
    ad_dims dims;
} fill_fields;

static const ad_field fill_table[] = {
    {"value", AD_FIELD_REAL, offsetof(fill_fields, value)},
    {"dtype", AD_FIELD_INT, offsetof(fill_fields, dtype)},
    {"dims", AD_FIELD_DIMS, offsetof(fill_fields, dims)},
    {NULL, AD_FIELD_INT, 0}};

static covar_status infer_fill(ad_node *y)
{
    const fill_fields *f = y->fields;
    ad_type type = {.dtype = (la_dtype)f->dtype, .rank = f->dims.rank};
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = f->dims.dim[i];
    const int last = type.rank - 1;
    type.facts = f->value > 0 ? AD_POSITIVE : 0;
    if (last > 0 && ad_dims_equal(y->graph, type.dim[last - 1], type.dim[last]))
        type.facts |= AD_SYMMETRIC;
    ad_node_set_type(y, 0, &type);
    return COVAR_OK;
}

static covar_status eval_fill(const ad_call *c)
{
    const fill_fields *f = c->node->fields;
    return la_fill(c->exec, c->out[0], f->value);
}

static covar_status example_fill(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_dim dim[2] = {ad_fixed(n), ad_fixed(3)};
    return ad_example_result(e,
                             ad_fill(ad_example_graph(e), dtype, -1.5, 2, dim));
}

const ad_op ad_op_fill = {.abi = AD_OP_ABI,
                          .name = "fill",
                          .formula = "every element equal",
                          .n_out = 1,
                          .fields = fill_table,
                          .fields_size = sizeof(fill_fields),
                          .flags = AD_ANY_STRIDE,
                          .views = -1,
                          .infer = infer_fill,
                          .eval = eval_fill,
                          .example = example_fill};

ad_node *ad_fill(ad_graph *g, la_dtype dtype, double value, int rank,
                 const ad_dim *dim)
{
    if (!g || !ad_have_dims(g, "ad_fill", rank, dim))
        return NULL;
    if (rank == 0)
        return ad_scalar(g, dtype, value);
    fill_fields f = {value, dtype, {.rank = rank}};
    for (int i = 0; i < rank; i++)
        f.dims.dim[i] = dim[i];
    return ad_apply(g, &ad_op_fill, 0, NULL, &f);
}

/* A constant that is one number throughout? */
bool ad_is_constant(const ad_node *x, double *value)
{
    if (x && x->op == &ad_op_fill) {
        *value = ((const fill_fields *)x->fields)->value;
        return true;
    }
    if (!x || x->op != &ad_op_constant)
        return false;
    la_view v = la_array_view(((const ad_constant_fields *)x->fields)->array);
    size_t n = la_view_count(v);
    if (v.device || n == 0 || n > 64)
        return false;
    *value = la_view_get(v, 0);
    for (size_t i = 1; i < n; i++)
        if (la_view_get(v, i) != *value)
            return false;
    return true;
}

/* ---- Sizes as values ---------------------------------------------------- */

typedef struct dim_fields {
    ad_dim dim;
    int64_t dtype;
} dim_fields;

static const ad_field dim_table[] = {
    {"dim", AD_FIELD_DIM, offsetof(dim_fields, dim)},
    {"dtype", AD_FIELD_INT, offsetof(dim_fields, dtype)},
    {NULL, AD_FIELD_INT, 0}};

static covar_status infer_dim(ad_node *y)
{
    const dim_fields *f = y->fields;
    ad_node_set_type(y, 0, &(ad_type){.dtype = (la_dtype)f->dtype});
    return COVAR_OK;
}

static covar_status eval_dim(const ad_call *c)
{
    const dim_fields *f = c->node->fields;
    size_t n;
    COVAR_TRY(ad_dim_eval(c->node->graph, f->dim, c->symbol, &n));
    return la_fill(c->exec, c->out[0], (double)n);
}

static covar_status example_dim(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    dim_fields f = {ad_fixed(n), dtype};
    return ad_example_result(
        e, ad_apply(ad_example_graph(e), &ad_op_dim_value, 0, NULL, &f));
}

const ad_op ad_op_dim_value = {.abi = AD_OP_ABI,
                               .name = "dim_value",
                               .formula = "y = the size",
                               .n_out = 1,
                               .fields = dim_table,
                               .fields_size = sizeof(dim_fields),
                               .flags = AD_ANY_STRIDE,
                               .views = -1,
                               .infer = infer_dim,
                               .eval = eval_dim,
                               .example = example_dim};

ad_node *ad_dim_value(ad_graph *g, la_dtype dtype, ad_dim dim)
{
    size_t n;
    if (ad_dim_is_fixed(dim, &n))
        return ad_scalar(g, dtype, (double)n);
    dim_fields f = {dim, dtype};
    if (g && ad_dim_is_invalid(dim))
        ad_graph_fail(g, COVAR_ERR_SHAPE, "ad_dim_value: invalid size");
    return ad_dim_is_invalid(dim) ? NULL
                                  : ad_apply(g, &ad_op_dim_value, 0, NULL, &f);
}
