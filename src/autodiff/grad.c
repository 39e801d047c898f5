/* ad_grad and ad_lop: the verbs of reverse mode.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A derivative counts every path, also those that lead through another wrt:
 * dy[i] does not depend on what else is asked for. */
#include "config.h"

#include "autodiff/derive_impl.h"

static const char *name_of(const ad_node *x)
{
    return x->name ? x->name : x->op->name;
}

covar_status ad_derive_begin(ad_graph **out, const char *verb,
                             ad_node *const *y, size_t n_y, ad_node *const *wrt,
                             size_t n)
{
    ad_graph *g = NULL;
    for (size_t i = 0; y && i < n_y && !g; i++)
        g = ad_node_graph(y[i]);
    for (size_t i = 0; wrt && i < n && !g; i++)
        g = ad_node_graph(wrt[i]);
    *out = g;
    if (!g)
        return COVAR_POISONED;
    COVAR_TRY(ad_graph_error(g));
    if ((n_y > 0 && !y) || (n > 0 && !wrt))
        return ad_graph_fail(g, COVAR_ERR_ARG, "%s: %s is NULL", verb,
                             n_y > 0 && !y ? "y" : "wrt");
    for (size_t i = 0; i < n_y + n; i++) {
        const ad_node *x = i < n_y ? y[i] : wrt[i - n_y];
        const char *what = i < n_y ? "y" : "wrt";
        size_t place = i < n_y ? i : i - n_y;
        if (!x)
            return ad_graph_fail(g, COVAR_POISONED, "%s: %s[%zu] is NULL", verb,
                                 what, place);
        if (x->graph != g)
            return ad_graph_fail(g, COVAR_ERR_ARG,
                                 "%s: %s[%zu] belongs to another graph", verb,
                                 what, place);
        if (x->n_out != 1)
            return ad_graph_fail(g, COVAR_ERR_ARG,
                                 "%s: %s[%zu] (%s) has %d values: take one "
                                 "with ad_out",
                                 verb, what, place, name_of(x), x->n_out);
        if (!ad_is_real(x, 0))
            return ad_graph_fail(g, COVAR_ERR_DTYPE,
                                 "%s: %s[%zu] (%s) is %s: integers have no "
                                 "derivative",
                                 verb, what, place, name_of(x),
                                 la_dtype_name(x->type[0].dtype));
    }
    return COVAR_OK;
}

covar_status ad_derive_types(ad_graph *g, const char *verb, const char *what,
                             ad_node *const *x, ad_node *const *v, size_t n)
{
    char a[128], b[128];
    if (n > 0 && !v)
        return ad_graph_fail(g, COVAR_ERR_ARG, "%s: %s is NULL", verb, what);
    for (size_t i = 0; i < n; i++) {
        if (!v[i])
            return ad_graph_fail(g, COVAR_POISONED, "%s: %s[%zu] is NULL", verb,
                                 what, i);
        const ad_type *s = x[i]->type, *t = v[i]->type;
        bool same = v[i]->graph == g && s->dtype == t->dtype &&
                    s->rank == t->rank && v[i]->n_out == 1;
        for (int k = 0; same && k < s->rank; k++)
            same = ad_dims_equal(g, s->dim[k], t->dim[k]);
        if (!same)
            return ad_graph_fail(
                g, COVAR_ERR_SHAPE, "%s: '%s' is %s but %s[%zu] is %s", verb,
                name_of(x[i]), ad_type_describe(a, sizeof(a), s), what, i,
                ad_type_describe(b, sizeof(b), t));
    }
    return COVAR_OK;
}

covar_status ad_derive_result(ad_graph *g, const char *verb,
                              ad_node *const *result, int n_result, int n)
{
    if (n < 0 || n_result < 0)
        return ad_graph_fail(g, COVAR_ERR_ARG, "%s: %d nodes", verb,
                             n < 0 ? n : n_result);
    if (n_result > 0 && !result)
        return ad_graph_fail(g, COVAR_ERR_ARG, "%s: no place for the result",
                             verb);
    return COVAR_OK;
}

/* Fills the gaps of x_bar: zeros, or an error where there is no path. */
static covar_status complete(ad_graph *g, const char *verb, ad_node **x_bar,
                             const bool *connected, ad_node *const *wrt,
                             size_t n, bool zero)
{
    for (size_t i = 0; i < n; i++) {
        if (!connected[i] && !zero)
            return ad_graph_fail(g, COVAR_ERR_ARG,
                                 "%s: y does not depend on wrt[%zu] ('%s')",
                                 verb, i, name_of(wrt[i]));
        if (!x_bar[i])
            x_bar[i] = ad_zeros_like(wrt[i]);
        if (!x_bar[i])
            return ad_graph_error(g);
    }
    return COVAR_OK;
}

/* Both verbs, once their arguments are known to be good. */
static covar_status pull(ad_node **x_bar, const char *verb, ad_graph *g,
                         ad_node *const *y, ad_node *const *y_bar, size_t n_y,
                         ad_node *const *wrt, size_t n,
                         const ad_grad_options *options)
{
    bool *connected = covar_heap_calloc(g->heap, n, sizeof(*connected));
    ad_node **root = covar_heap_alloc(g->heap, n_y, sizeof(*root));
    covar_status status = connected && root ? COVAR_OK : ad_graph_nomem(g);
    for (size_t i = 0; status == COVAR_OK && i < n_y; i++)
        root[i] = y[i];
    if (status == COVAR_OK && !(options && options->literal))
        status = ad_stabilise(g, root, n_y, wrt, n);
    if (status == COVAR_OK)
        status =
            ad_reverse(x_bar, connected, g, root, y_bar, n_y, wrt, n, false);
    if (status == COVAR_OK)
        status = complete(g, verb, x_bar, connected, wrt, n,
                          options && options->zero_if_disconnected);
    covar_heap_free(g->heap, root);
    covar_heap_free(g->heap, connected);
    return status;
}

static covar_status give_up(ad_node **x, size_t n, covar_status status)
{
    for (size_t i = 0; x && i < n; i++)
        x[i] = NULL;
    return status;
}

covar_status ad_grad(ad_node **dy, ad_node *y, ad_node *const *wrt, int n)
{
    char text[128];
    ad_graph *g;
    size_t count = n > 0 ? (size_t)n : 0;
    covar_status status = ad_derive_begin(&g, "ad_grad", &y, 1, wrt, count);
    if (status == COVAR_OK)
        status = ad_derive_result(g, "ad_grad", dy, n, n);
    if (status == COVAR_OK && y->type[0].rank != 0)
        status = ad_graph_fail(g, COVAR_ERR_SHAPE,
                               "ad_grad: y is %s, and only a scalar has a "
                               "gradient: sum it, or use ad_lop",
                               ad_type_describe(text, sizeof(text), y->type));
    if (status != COVAR_OK)
        return give_up(dy, count, status);
    ad_node *one = ad_scalar(g, y->type[0].dtype, 1);
    status = one ? pull(dy, "ad_grad", g, &y, &one, 1, wrt, count, NULL)
                 : ad_graph_error(g);
    return status == COVAR_OK ? status : give_up(dy, count, status);
}

covar_status ad_lop(ad_node **x_bar, ad_node *const *y, ad_node *const *y_bar,
                    int n_y, ad_node *const *wrt, int n,
                    const ad_grad_options *options)
{
    ad_graph *g;
    size_t rows = n_y > 0 ? (size_t)n_y : 0, count = n > 0 ? (size_t)n : 0;
    covar_status status = ad_derive_begin(&g, "ad_lop", y, rows, wrt, count);
    if (status == COVAR_OK)
        status = ad_derive_result(g, "ad_lop", x_bar, n, n_y);
    if (status == COVAR_OK)
        status = ad_derive_types(g, "ad_lop", "y_bar", y, y_bar, rows);
    if (status == COVAR_OK)
        status = pull(x_bar, "ad_lop", g, y, y_bar, rows, wrt, count, options);
    return status == COVAR_OK ? status : give_up(x_bar, count, status);
}
