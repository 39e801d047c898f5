/* ad_rop, ad_hvp, ad_jacobian, ad_hessian.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The Hessian is symmetric, so H v is the adjoint of the gradient along v. A
 * Jacobian is made row by row by reverse mode or column by column by forward
 * mode, whichever are fewer. */
#include "config.h"

#include "autodiff/derive_impl.h"

static covar_status give_up(ad_node **x, size_t n, covar_status status)
{
    for (size_t i = 0; x && i < n; i++)
        x[i] = NULL;
    return status;
}

/* Is each wrt used by at least one y? */
static covar_status check_used(ad_graph *g, ad_node *const *y, size_t n_y,
                               ad_node *const *wrt, size_t n)
{
    ad_region r = {.g = g};
    covar_status status = ad_region_init(&r, g, y, n_y, wrt, n, false);
    for (size_t i = 0; status == COVAR_OK && i < n; i++)
        if (ad_region_find(&r, wrt[i]) == AD_NOWHERE)
            status = ad_graph_fail(
                g, COVAR_ERR_ARG, "ad_rop: no y depends on wrt[%zu] ('%s')", i,
                wrt[i]->name ? wrt[i]->name : wrt[i]->op->name);
    ad_region_clear(&r);
    return status;
}

/* y as they are: no naive form in them. Zeros where nothing arrives. */
static covar_status push(ad_node **y_dot, ad_graph *g, ad_node *const *y,
                         size_t n_y, ad_node *const *wrt, ad_node *const *x_dot,
                         size_t n)
{
    covar_status status = ad_forward(y_dot, g, y, n_y, wrt, x_dot, n, false);
    for (size_t i = 0; status == COVAR_OK && i < n_y; i++) {
        if (!y_dot[i])
            y_dot[i] = ad_zeros_like(y[i]);
        if (!y_dot[i])
            status = ad_graph_error(g);
    }
    return status;
}

static covar_status push_stable(ad_node **y_dot, ad_graph *g, ad_node *const *y,
                                size_t n_y, ad_node *const *wrt,
                                ad_node *const *x_dot, size_t n)
{
    ad_node **root = covar_heap_alloc(g->heap, n_y, sizeof(*root));
    if (!root)
        return ad_graph_nomem(g);
    for (size_t i = 0; i < n_y; i++)
        root[i] = y[i];
    covar_status status = ad_stabilise(g, root, n_y, wrt, n);
    if (status == COVAR_OK)
        status = push(y_dot, g, root, n_y, wrt, x_dot, n);
    covar_heap_free(g->heap, root);
    return status;
}

covar_status ad_rop(ad_node **y_dot, ad_node *const *y, int n_y,
                    ad_node *const *wrt, ad_node *const *x_dot, int n)
{
    ad_graph *g;
    size_t rows = n_y > 0 ? (size_t)n_y : 0, count = n > 0 ? (size_t)n : 0;
    covar_status status = ad_derive_begin(&g, "ad_rop", y, rows, wrt, count);
    if (status == COVAR_OK)
        status = ad_derive_result(g, "ad_rop", y_dot, n_y, n);
    if (status == COVAR_OK)
        status = ad_derive_types(g, "ad_rop", "x_dot", wrt, x_dot, count);
    if (status == COVAR_OK)
        status = check_used(g, y, rows, wrt, count);
    if (status == COVAR_OK)
        status = push_stable(y_dot, g, y, rows, wrt, x_dot, count);
    return status == COVAR_OK ? status : give_up(y_dot, rows, status);
}

covar_status ad_hvp(ad_node **hv, ad_node *y, ad_node *const *wrt,
                    ad_node *const *v, int n)
{
    ad_graph *g;
    size_t count = n > 0 ? (size_t)n : 0;
    covar_status status = ad_derive_begin(&g, "ad_hvp", &y, 1, wrt, count);
    if (status == COVAR_OK)
        status = ad_derive_result(g, "ad_hvp", hv, n, n);
    if (status == COVAR_OK)
        status = ad_derive_types(g, "ad_hvp", "v", wrt, v, count);
    if (status != COVAR_OK)
        return give_up(hv, count, status);
    ad_node **dy = covar_heap_calloc(g->heap, count, sizeof(*dy));
    if (!dy)
        return give_up(hv, count, ad_graph_nomem(g));
    status = ad_grad(dy, y, wrt, n);
    if (status == COVAR_OK)
        status = ad_lop(hv, dy, v, n, wrt, n,
                        &(ad_grad_options){.zero_if_disconnected = true});
    covar_heap_free(g->heap, dy);
    return status == COVAR_OK ? status : give_up(hv, count, status);
}

/* ---- Whole matrices ----------------------------------------------------- */

/* Unit vector j of length n. */
static ad_node *basis(ad_graph *g, la_dtype dtype, size_t n, size_t j)
{
    la_array *array;
    la_exec exec = la_exec_cpu(g->ctx);
    covar_status status = la_array_create(&array, &exec, dtype, 1, &n);
    if (status != COVAR_OK) {
        ad_graph_fail(g, status, "ad_jacobian: %s", covar_error_text(g->ctx));
        return NULL;
    }
    la_view_set(la_array_view(array), j, 1);
    ad_node *e = ad_constant(g, la_array_view(array));
    la_array_free(array);
    return e;
}

/* Row j (by rows) or column j of the Jacobian, with a dim of 1 put in. */
static ad_node *strip(ad_node *y, ad_node *x, size_t n, size_t j, bool by_rows)
{
    ad_graph *g = y->graph;
    const ad_grad_options options = {.zero_if_disconnected = true,
                                     .literal = true};
    ad_node *e = basis(g, y->type[0].dtype, n, j), *d;
    if (!e)
        return NULL;
    covar_status status = by_rows ? ad_lop(&d, &y, &e, 1, &x, 1, &options)
                                  : push(&d, g, &y, 1, &x, &e, 1);
    return status == COVAR_OK ? ad_expand(d, by_rows ? 0 : 1) : NULL;
}

static covar_status check_vectors(ad_graph *g, const ad_node *y,
                                  const ad_node *x)
{
    char a[128], b[128];
    size_t p;
    if (y->type[0].rank != 1 || x->type[0].rank != 1 ||
        y->type[0].dtype != x->type[0].dtype ||
        !ad_dim_is_fixed(x->type[0].dim[0], &p))
        return ad_graph_fail(g, COVAR_ERR_SHAPE,
                             "ad_jacobian: y is %s and x is %s, but both must "
                             "be vectors of one dtype, x of a fixed length",
                             ad_type_describe(a, sizeof(a), y->type),
                             ad_type_describe(b, sizeof(b), x->type));
    return COVAR_OK;
}

ad_node *ad_jacobian(ad_node *y, ad_node *x)
{
    ad_graph *g;
    if (ad_derive_begin(&g, "ad_jacobian", &y, 1, &x, 1) != COVAR_OK ||
        check_vectors(g, y, x) != COVAR_OK ||
        ad_stabilise(g, &y, 1, &x, 1) != COVAR_OK)
        return NULL;
    size_t m = 0, p = 0;
    bool by_rows = ad_dim_is_fixed(y->type[0].dim[0], &m);
    ad_dim_is_fixed(x->type[0].dim[0], &p);
    by_rows = by_rows && m < p;
    size_t n = by_rows ? m : p;
    if (n == 0)
        return ad_fill(g, y->type[0].dtype, 0, 2,
                       (ad_dim[]){y->type[0].dim[0], x->type[0].dim[0]});
    ad_node **part = covar_heap_calloc(g->heap, n, sizeof(*part));
    if (!part) {
        ad_graph_nomem(g);
        return NULL;
    }
    bool good = true;
    for (size_t j = 0; good && j < n; j++) {
        part[j] = strip(y, x, n, j, by_rows);
        good = part[j] != NULL;
    }
    ad_node *J = good ? ad_concat(part, (int)n, by_rows ? 0 : 1) : NULL;
    covar_heap_free(g->heap, part);
    return J;
}

ad_node *ad_hessian(ad_node *y, ad_node *x)
{
    ad_node *dy;
    if (ad_grad(&dy, y, &x, 1) != COVAR_OK)
        return NULL;
    return ad_jacobian(dy, x);
}
