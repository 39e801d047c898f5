/* Leaves: inputs, placeholders, parameters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inputs and placeholders are unique. A parameter is one node per name (and,
 * in an eager graph, per version of its value in the store). */
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
    int64_t outer;   /* captured nodes: id in the graph around, + 1 */
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
    {"outer", AD_FIELD_INT, offsetof(leaf_fields, outer)},
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

bool ad_have_dims(ad_graph *g, const char *who, int rank, const ad_dim *dim)
{
    if (rank < 0 || rank > LA_MAX_DIMS)
        ad_graph_fail(g, COVAR_ERR_ARG, "%s: rank %d is not in 0..%d", who,
                      rank, LA_MAX_DIMS);
    else if (rank > 0 && !dim)
        ad_graph_fail(g, COVAR_ERR_ARG, "%s: the %d sizes are NULL", who, rank);
    else
        return true;
    return false;
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
    if (!g || !ad_have_dims(g, "ad_input", rank, dim))
        return NULL;
    if (!name || !*name) {
        ad_graph_fail(g, COVAR_ERR_NAME, "ad_input: an input needs a name");
        return NULL;
    }
    leaf_fields f = {name, dtype, dims_of(rank, dim), 0, 0, 0};
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
    leaf_fields f = {name,
                     type->dtype,
                     dims_of(type->rank, type->dim),
                     (int64_t)type->facts,
                     0,
                     0};
    return ad_apply(g, &ad_op_placeholder, 0, NULL, &f);
}

ad_node *ad_placeholder_for(ad_graph *g, const ad_node *outer)
{
    const ad_type *type = outer->type;
    leaf_fields f = {
        outer->name,          type->dtype, dims_of(type->rank, type->dim),
        (int64_t)type->facts, 0,           (int64_t)outer->id + 1};
    return ad_apply_merged(g, &ad_op_placeholder, 0, NULL, &f);
}

int64_t ad_placeholder_outer(const ad_node *x)
{
    return x->op == &ad_op_placeholder
               ? ((const leaf_fields *)x->fields)->outer - 1
               : -1;
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
    if (g && g->parent) /* a body gets it from outside */
        return ad_capture(g, ad_param(g->parent, name, init));
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
