/* Nodes: what can be asked of one, and what infer says about it.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <stdarg.h>
#include <stdio.h>

const char ad_zero_mark = 0, ad_no_grad_mark = 0;

/* ---- Accessors ---------------------------------------------------------- */

ad_graph *ad_node_graph(const ad_node *x)
{
    return x ? x->graph : NULL;
}

const ad_op *ad_node_op(const ad_node *x)
{
    return x ? x->op : NULL;
}

int ad_node_n_in(const ad_node *x)
{
    return x ? x->n_in : 0;
}

ad_node *ad_node_in(const ad_node *x, int i)
{
    return x && i >= 0 && i < x->n_in ? x->in[i] : NULL;
}

int ad_node_n_out(const ad_node *x)
{
    return x ? x->n_out : 0;
}

const void *ad_node_fields(const ad_node *x)
{
    return x ? x->fields : NULL;
}

const char *ad_node_name(const ad_node *x)
{
    return x ? x->name : NULL;
}

const ad_type *ad_node_type(const ad_node *x, int k)
{
    return x && k >= 0 && k < x->n_out ? &x->type[k] : NULL;
}

int ad_rank(const ad_node *x)
{
    return x ? x->type[0].rank : 0;
}

ad_dim ad_dim_of(const ad_node *x, int axis)
{
    if (!x || axis < 0 || axis >= x->type[0].rank)
        return ad_dim_invalid();
    return x->type[0].dim[axis];
}

/* ---- For infer ---------------------------------------------------------- */

void ad_node_set_type(ad_node *y, int k, const ad_type *type)
{
    if (y && type && k >= 0 && k < y->n_out)
        y->type[k] = *type;
}

covar_status ad_node_set_n_out(ad_node *y, int n_out)
{
    if (!y)
        return COVAR_ERR_ARG;
    if (n_out < 1)
        return ad_node_fail(y, COVAR_ERR_ARG, "%d values", n_out);
    y->type = ad_arena_alloc(y->graph->arena, (size_t)n_out * sizeof(*y->type));
    if (!y->type)
        return ad_graph_nomem(y->graph);
    y->n_out = n_out;
    return COVAR_OK;
}

covar_status ad_like_input(ad_node *y, int i)
{
    const ad_node *x = ad_node_in(y, i);
    if (!x)
        return y ? ad_node_fail(y, COVAR_ERR_ARG, "there is no input %d", i)
                 : COVAR_ERR_ARG;
    ad_type type = *ad_node_type(x, 0);
    type.facts = 0;
    ad_node_set_type(y, 0, &type);
    return COVAR_OK;
}

const char *ad_node_label(char *buf, size_t size, const ad_node *y)
{
    const char *scope = y->scope ? y->scope : "";
    const char *name = y->name ? y->name : "";
    snprintf(buf, size, "%s%s%s%s%s", scope, *scope && *name ? "/" : "", name,
             *scope || *name ? ": " : "", y->op->name);
    return buf;
}

covar_status ad_node_fail(const ad_node *y, covar_status status,
                          const char *format, ...)
{
    char label[256], text[768];
    if (!y || !format)
        return status;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    ad_node_label(label, sizeof(label), y);
    if (y->file)
        return ad_graph_fail(y->graph, status, "%s: %s (at %s:%d)", label, text,
                             y->file, y->line);
    return ad_graph_fail(y->graph, status, "%s: %s", label, text);
}
