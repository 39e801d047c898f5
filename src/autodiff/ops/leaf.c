/* Leaves: inputs, parameters, constants, fills, sizes, placeholders, names.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inputs and placeholders are unique. A parameter is one node per name (and,
 * in an eager graph, per version of its value in the store). Constants merge
 * by content when they have up to 256 bytes. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <string.h>

/* ---- Input and placeholder ---------------------------------------------- */

typedef struct leaf_fields {
    const char *name;
    int64_t dtype;
    ad_dims dims;
    int64_t facts;
    int64_t version; /* parameters of eager graphs */
} leaf_fields;

#define LEAF_FIELDS                                                            \
    {"name", AD_FIELD_TEXT, offsetof(leaf_fields, name)},                      \
        {"dtype", AD_FIELD_INT, offsetof(leaf_fields, dtype)},                 \
    {                                                                          \
        "dims", AD_FIELD_DIMS, offsetof(leaf_fields, dims)                     \
    }

static const ad_field input_table[] = {LEAF_FIELDS, {NULL, AD_FIELD_INT, 0}};
static const ad_field placeholder_table[] = {
    LEAF_FIELDS,
    {"facts", AD_FIELD_INT, offsetof(leaf_fields, facts)},
    {NULL, AD_FIELD_INT, 0}};
static const ad_field param_table[] = {
    LEAF_FIELDS,
    {"version", AD_FIELD_INT, offsetof(leaf_fields, version)},
    {NULL, AD_FIELD_INT, 0}};

static covar_status infer_leaf(ad_node *y)
{
    const leaf_fields *f = y->fields;
    if (f->dims.rank < 0 || f->dims.rank > LA_MAX_DIMS)
        return ad_node_fail(y, COVAR_ERR_ARG, "rank %d is not in 0..%d",
                            f->dims.rank, LA_MAX_DIMS);
    ad_type type = {.dtype = (la_dtype)f->dtype,
                    .rank = f->dims.rank,
                    .facts = (unsigned)f->facts};
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = f->dims.dim[i];
    ad_node_set_type(y, 0, &type);
    y->name = f->name;
    return COVAR_OK;
}

static ad_dims dims_of(int rank, const ad_dim *dim)
{
    ad_dims d = {.rank = rank};
    for (int i = 0; i < rank && i < LA_MAX_DIMS; i++)
        d.dim[i] = dim[i];
    return d;
}

const ad_op ad_op_input = {.abi = AD_OP_ABI,
                           .name = "input",
                           .formula = "y, given at each run",
                           .n_out = 1,
                           .fields = input_table,
                           .fields_size = sizeof(leaf_fields),
                           .flags = AD_LEAF,
                           .views = -1,
                           .infer = infer_leaf};

ad_node *ad_input(ad_graph *g, const char *name, la_dtype dtype, int rank,
                  const ad_dim *dim)
{
    if (!g)
        return NULL;
    leaf_fields f = {name, dtype, dims_of(rank, dim), 0, 0};
    return ad_apply(g, &ad_op_input, 0, NULL, &f);
}

/* In an eager graph a placeholder is zero: what is built on it to find a
 * derivative is thrown away. */
static covar_status eval_zero(const ad_call *c)
{
    return la_fill(c->exec, c->out[0], 0.0);
}

const ad_op ad_op_placeholder = {.abi = AD_OP_ABI,
                                 .name = "placeholder",
                                 .formula = "y, to be substituted",
                                 .n_out = 1,
                                 .fields = placeholder_table,
                                 .fields_size = sizeof(leaf_fields),
                                 .flags = AD_LEAF | AD_ANY_STRIDE,
                                 .views = -1,
                                 .infer = infer_leaf,
                                 .eval = eval_zero};

ad_node *ad_placeholder(ad_graph *g, const ad_type *type, const char *name)
{
    leaf_fields f = {name, type->dtype, dims_of(type->rank, type->dim),
                     (int64_t)type->facts, 0};
    return ad_apply(g, &ad_op_placeholder, 0, NULL, &f);
}

/* ---- Parameter ---------------------------------------------------------- */

static covar_status eval_param(const ad_call *c)
{
    const leaf_fields *f = c->node->fields;
    return la_copy(c->exec, c->out[0],
                   ad_store_view(c->node->graph->store, f->name));
}

const ad_op ad_op_param = {.abi = AD_OP_ABI,
                           .name = "param",
                           .formula = "y, kept in the store",
                           .n_out = 1,
                           .fields = param_table,
                           .fields_size = sizeof(leaf_fields),
                           .flags = AD_LEAF | AD_ANY_STRIDE,
                           .views = -1,
                           .infer = infer_leaf,
                           .eval = eval_param};

/* Makes sure that the store has `name`, shaped like init if that is given. */
static covar_status declare(ad_graph *g, const char *name, la_view init)
{
    char a[96], b[96];
    if (!name || !*name)
        return ad_graph_fail(g, COVAR_ERR_NAME,
                             "ad_param: a parameter needs a name");
    la_view held = ad_store_view(g->store, name);
    bool present = ad_store_array(g->store, name) != NULL;
    bool given = !la_view_is_none(init);
    if (!present && !given)
        return ad_graph_fail(g, COVAR_ERR_NAME,
                             "ad_param: the store has no '%s', and no initial "
                             "value is given",
                             name);
    if (!present && ad_store_set(g->store, g->ctx, name, init) != COVAR_OK)
        return ad_graph_fail(g, covar_error_status(g->ctx), "ad_param: %s",
                             covar_error_text(g->ctx));
    if (present && given &&
        (held.dtype != init.dtype || !la_view_same_dims(held, init)))
        return ad_graph_fail(g, COVAR_ERR_SHAPE,
                             "ad_param: '%s' is %s in the store but its "
                             "initial value is %s",
                             name, la_view_describe(a, sizeof(a), held),
                             la_view_describe(b, sizeof(b), init));
    return COVAR_OK;
}

ad_node *ad_param(ad_graph *g, const char *name, la_view init)
{
    if (!g || declare(g, name, init) != COVAR_OK)
        return NULL;
    la_view x = ad_store_view(g->store, name);
    leaf_fields f = {.name = name, .dtype = x.dtype, .dims.rank = x.rank};
    for (int i = 0; i < x.rank; i++)
        f.dims.dim[i] = ad_fixed(x.dim[i]);
    if (g->eager)
        f.version = ad_store_version(g->store, name);
    return ad_apply_merged(g, &ad_op_param, 0, NULL, &f);
}

/* ---- Constant and fill -------------------------------------------------- */

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

const ad_op ad_op_constant = {.abi = AD_OP_ABI,
                              .name = "constant",
                              .formula = "y, fixed",
                              .n_out = 1,
                              .fields = constant_table,
                              .fields_size = sizeof(ad_constant_fields),
                              .flags = AD_ANY_STRIDE,
                              .views = -1,
                              .infer = infer_constant,
                              .eval = eval_constant};

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
    type.facts = f->value > 0 ? AD_POSITIVE : 0;
    ad_node_set_type(y, 0, &type);
    return COVAR_OK;
}

static covar_status eval_fill(const ad_call *c)
{
    const fill_fields *f = c->node->fields;
    return la_fill(c->exec, c->out[0], f->value);
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
                          .eval = eval_fill};

ad_node *ad_fill(ad_graph *g, la_dtype dtype, double value, int rank,
                 const ad_dim *dim)
{
    if (!g)
        return NULL;
    if (rank < 0 || rank > LA_MAX_DIMS) {
        ad_graph_fail(g, COVAR_ERR_ARG, "ad_fill: rank %d is not in 0..%d",
                      rank, LA_MAX_DIMS);
        return NULL;
    }
    if (rank == 0)
        return ad_scalar(g, dtype, value);
    fill_fields f = {value, dtype, dims_of(rank, dim)};
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

const ad_op ad_op_dim_value = {.abi = AD_OP_ABI,
                               .name = "dim_value",
                               .formula = "y = the size",
                               .n_out = 1,
                               .fields = dim_table,
                               .fields_size = sizeof(dim_fields),
                               .flags = AD_ANY_STRIDE,
                               .views = -1,
                               .infer = infer_dim,
                               .eval = eval_dim};

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
