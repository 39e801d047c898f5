/* Nodes without arithmetic: one value of several, and values renamed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A projection has no eval and no vjp: every phase takes the value, adjoint
 * or tangent number `index` of its input. A named node is never merged with
 * another: its serial number is one of its fields. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

/* ---- Projection --------------------------------------------------------- */

static const ad_field out_table[] = {
    {"index", AD_FIELD_INT, offsetof(ad_out_fields, index)},
    {NULL, AD_FIELD_INT, 0}};

static covar_status infer_out(ad_node *y)
{
    const ad_out_fields *f = y->fields;
    if (f->index < 0 || f->index >= y->in[0]->n_out)
        return ad_node_fail(y, COVAR_ERR_ARG, "no value %d, only 0..%d",
                            (int)f->index, y->in[0]->n_out - 1);
    ad_node_set_type(y, 0, &y->in[0]->type[f->index]);
    return COVAR_OK;
}

static covar_status example_out(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    size_t dim[2] = {n, n};
    ad_node *A = ad_example_input(e, dtype, 2, dim, AD_DRAW_SYMMETRIC);
    return ad_example_result(e, ad_out(ad_eigh(A), 1));
}

const ad_op ad_op_out = {.abi = AD_OP_ABI,
                         .name = "out",
                         .formula = "value k of x",
                         .n_in = 1,
                         .n_out = 1,
                         .fields = out_table,
                         .fields_size = sizeof(ad_out_fields),
                         .flags = AD_ANY_STRIDE,
                         .views = -1,
                         .infer = infer_out,
                         .example = example_out};

ad_node *ad_out(ad_node *y, int k)
{
    if (!y)
        return NULL;
    if (k < 0 || k >= y->n_out) {
        ad_node_fail(y, COVAR_ERR_ARG, "has no value %d, only 0..%d", k,
                     y->n_out - 1);
        return NULL;
    }
    if (y->n_out == 1)
        return y;
    ad_out_fields f = {k};
    return ad_apply(NULL, &ad_op_out, 1, &y, &f);
}

/* ---- Names and facts ---------------------------------------------------- */

typedef struct name_fields {
    const char *name;
    int64_t facts;
    int64_t serial;
} name_fields;

static const ad_field name_table[] = {
    {"name", AD_FIELD_TEXT, offsetof(name_fields, name)},
    {"facts", AD_FIELD_INT, offsetof(name_fields, facts)},
    {"serial", AD_FIELD_INT, offsetof(name_fields, serial)},
    {NULL, AD_FIELD_INT, 0}};

static covar_status infer_name(ad_node *y)
{
    const name_fields *f = y->fields;
    ad_type type = *ad_node_type(y->in[0], 0);
    const unsigned matrix = AD_SYMMETRIC | AD_LOWER | AD_UPPER | AD_DIAGONAL |
                            AD_PD | AD_ORTHOGONAL;
    if (((unsigned)f->facts & matrix) && type.rank < 2)
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "facts about a matrix, but rank %d", type.rank);
    type.facts |= (unsigned)f->facts;
    ad_node_set_type(y, 0, &type);
    y->name = f->name;
    return COVAR_OK;
}

static bool view_name(const ad_node *y, la_view x, const size_t *dim,
                      const size_t *symbol, la_view *out)
{
    (void)y;
    (void)dim;
    (void)symbol;
    *out = x;
    return true;
}

static covar_status vjp_name(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    (void)y;
    (void)need;
    x_bar[0] = y_bar[0];
    return COVAR_OK;
}

static covar_status jvp_name(ad_node *y, ad_node *const x_dot[],
                             ad_node *y_dot[])
{
    (void)y;
    y_dot[0] = x_dot[0];
    return COVAR_OK;
}

static covar_status example_name(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 1));
    ad_node *x = ad_example_input(e, dtype, 1, &n, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_name(x, "y"));
}

const ad_op ad_op_name = {.abi = AD_OP_ABI,
                          .name = "name",
                          .formula = "y = x",
                          .n_in = 1,
                          .n_out = 1,
                          .fields = name_table,
                          .fields_size = sizeof(name_fields),
                          .flags = AD_ANY_STRIDE,
                          .views = 0,
                          .overwrites = 1,
                          .infer = infer_name,
                          .view = view_name,
                          .vjp = vjp_name,
                          .jvp = jvp_name,
                          .example = example_name};

static ad_node *renamed(ad_node *x, const char *name, unsigned facts)
{
    if (!x)
        return NULL;
    name_fields f = {name, (int64_t)facts, (int64_t)x->graph->n_node};
    return ad_apply(NULL, &ad_op_name, 1, &x, &f);
}

ad_node *ad_name(ad_node *x, const char *name)
{
    return renamed(x, name, 0);
}

/* Facts with what they imply. */
static unsigned closure(unsigned facts)
{
    if (facts & AD_DIAGONAL)
        facts |= AD_LOWER | AD_UPPER | AD_SYMMETRIC;
    if (facts & AD_PD)
        facts |= AD_SYMMETRIC;
    return facts;
}

ad_node *ad_assume(ad_node *x, unsigned facts)
{
    return renamed(x, x ? x->name : NULL, closure(facts));
}
