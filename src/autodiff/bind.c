/* Binding: the sizes of a program's symbols from the arrays it is given.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * First every input dim that is a bare symbol gives its value, then every
 * other dim of every input must evaluate to what the array has, then what
 * ad_dim_equal stated must hold. Sentences name inputs and dims as the user
 * wrote them: "X is 500 x 3 but y has 499 rows: dim n". */
#include "config.h"

#include "autodiff/program_impl.h"

#include <stdio.h>
#include <string.h>

/* "500 x 3", or "a scalar". */
static const char *shape_text(char *buf, size_t size, la_view x)
{
    if (x.rank <= 0 || x.rank > LA_MAX_DIMS) {
        snprintf(buf, size, x.rank == 0 ? "a scalar" : "of rank %d", x.rank);
        return buf;
    }
    size_t used = 0;
    buf[0] = '\0';
    for (int k = 0; k < x.rank && used < size; k++) {
        int n = snprintf(buf + used, size - used, "%s%zu", k ? " x " : "",
                         x.dim[k]);
        used += n > 0 ? (size_t)n : 0;
    }
    return buf;
}

/* "499 rows", "3 columns", "7 elements", "2 along axis 3". */
static const char *extent_text(char *buf, size_t size, la_view x, int axis)
{
    size_t n = x.dim[axis];
    if (x.rank == 1)
        snprintf(buf, size, "%zu element%s", n, n == 1 ? "" : "s");
    else if (x.rank == 2)
        snprintf(buf, size, "%zu %s%s", n, axis == 0 ? "row" : "column",
                 n == 1 ? "" : "s");
    else
        snprintf(buf, size, "%zu along axis %d", n, axis);
    return buf;
}

static const char *name_of(const ad_node *x)
{
    return x->name ? x->name : x->op->name;
}

static covar_status check_kind(const ad_program *p, covar_context *ctx,
                               const la_view *in, uint32_t i)
{
    const ad_type *t = &p->in[i]->type[0];
    char shape[96];
    if (in[i].dtype != t->dtype)
        return covar_fail(ctx, COVAR_ERR_DTYPE,
                          "ad_run: %s must be %s but is %s", name_of(p->in[i]),
                          la_dtype_name(t->dtype), la_dtype_name(in[i].dtype));
    if (in[i].rank != t->rank)
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "ad_run: %s must have %d dims but is %s",
                          name_of(p->in[i]), t->rank,
                          shape_text(shape, sizeof(shape), in[i]));
    if (!in[i].data && la_view_count(in[i]) > 0)
        return covar_fail(ctx, COVAR_ERR_ARG, "ad_run: %s has no elements",
                          name_of(p->in[i]));
    return COVAR_OK;
}

/* The first input dim before (i, axis) that is the same dim, else false. */
static bool first_with(const ad_program *p, uint32_t i, int axis, uint32_t *j)
{
    ad_dim d = p->in[i]->type[0].dim[axis];
    for (uint32_t m = 0; m <= i; m++)
        for (int k = 0; k < (m == i ? axis : p->in[m]->type[0].rank); k++)
            if (ad_dim_same(p->in[m]->type[0].dim[k], d)) {
                *j = m;
                return true;
            }
    return false;
}

static covar_status fail_dim(const ad_program *p, covar_context *ctx,
                             const la_view *in, uint32_t i, int axis,
                             size_t wanted)
{
    char shape[96], extent[48], text[64], fixed[48] = "";
    uint32_t j;
    ad_dim d = p->in[i]->type[0].dim[axis];
    extent_text(extent, sizeof(extent), in[i], axis);
    ad_dim_text(text, sizeof(text), d);
    if (d.poly && first_with(p, i, axis, &j))
        return covar_fail(
            ctx, COVAR_ERR_SHAPE, "ad_run: %s is %s but %s has %s: dim %s",
            name_of(p->in[j]), shape_text(shape, sizeof(shape), in[j]),
            name_of(p->in[i]), extent, text);
    if (d.poly)
        snprintf(fixed, sizeof(fixed), " = %.40s", text);
    return covar_fail(
        ctx, COVAR_ERR_SHAPE, "ad_run: %s is %s: %s, but needs %zu%s",
        name_of(p->in[i]), shape_text(shape, sizeof(shape), in[i]), extent,
        wanted, fixed);
}

static covar_status check_dims(const ad_program *p, covar_context *ctx,
                               const la_view *in, uint32_t i,
                               const size_t *symbol)
{
    const ad_type *t = &p->in[i]->type[0];
    for (int k = 0; k < t->rank; k++) {
        size_t wanted = 0;
        char text[64];
        if (ad_dim_eval(p->g, t->dim[k], symbol, &wanted) != COVAR_OK)
            return covar_fail(
                ctx, COVAR_ERR_SHAPE, "ad_run: %s: dim %s has no size here",
                name_of(p->in[i]), ad_dim_text(text, sizeof(text), t->dim[k]));
        if (wanted != in[i].dim[k])
            return fail_dim(p, ctx, in, i, k, wanted);
    }
    return COVAR_OK;
}

/* Sizes that no input tells: those of the graph around a body. */
static void take_outer(const ad_runner *r, size_t *symbol, bool *bound)
{
    if (!r->outer)
        return;
    const ad_dim_table *own = r->program->g->dims;
    const ad_dim_table *outer = r->outer_graph->dims;
    for (size_t i = 0; i < ad_dim_symbol_count(own); i++)
        for (size_t j = 0; j < ad_dim_symbol_count(outer) && !bound[i]; j++)
            if (strcmp(ad_dim_symbol_name(own, i),
                       ad_dim_symbol_name(outer, j)) == 0) {
                symbol[i] = r->outer[j];
                bound[i] = true;
            }
}

covar_status ad_bind_sizes(const ad_runner *r, const la_view *in,
                           size_t *symbol, bool *bound)
{
    const ad_program *p = r->program;
    for (uint32_t i = 0; i < p->n_in; i++)
        COVAR_TRY(check_kind(p, r->ctx, in, i));
    for (uint32_t i = 0; i < p->n_in; i++) {
        const ad_type *t = &p->in[i]->type[0];
        for (int k = 0; k < t->rank; k++)
            (void)ad_dim_bind(t->dim[k], in[i].dim[k], symbol, bound);
    }
    take_outer(r, symbol, bound);
    for (uint32_t i = 0; i < p->n_in; i++)
        COVAR_TRY(check_dims(p, r->ctx, in, i, symbol));
    covar_status status = ad_dim_check(p->g, symbol);
    if (status != COVAR_OK)
        return covar_fail(r->ctx, status,
                          "ad_run: sizes that were stated equal differ");
    return COVAR_OK;
}
