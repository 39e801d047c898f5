/* Modules: named parameters and a builder of the output from an input.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parameters are kept by value, not by free coordinate. In a store the
 * parameter p of module m is called "m.p"; applying m twice to nodes of one
 * graph shares it. A module is built by one thread and then only read. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct module_param {
    char *name;      /* "p" */
    char *full_name; /* "m.p" */
    la_array *init;
    ad_transform transform;
} module_param;

struct ad_module {
    covar_heap *heap;
    atomic_size_t references;
    char *name;
    ad_forward_fn *forward;
    void *data;
    void (*free_data)(void *);
    module_param *param;
    size_t n, cap;
};

covar_status ad_module_create(ad_module **out, covar_context *ctx,
                              const char *name, ad_forward_fn *forward,
                              void *data, void (*free_data)(void *))
{
    if (out)
        *out = NULL;
    if (!out || !ctx || !name || !*name || !forward)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "ad_module_create: needs a place, a context, a name "
                          "and a forward builder");
    covar_heap *heap = covar_context_heap(ctx);
    ad_module *m = covar_heap_calloc(heap, 1, sizeof(*m));
    if (!m)
        return covar_fail_nomem(ctx, "ad_module_create");
    m->heap = covar_heap_retain(heap);
    atomic_init(&m->references, 1);
    m->name = covar_heap_strdup(heap, name);
    if (!m->name) {
        ad_module_free(m);
        return covar_fail_nomem(ctx, "ad_module_create");
    }
    m->forward = forward;
    m->data = data;
    m->free_data = free_data;
    *out = m;
    return COVAR_OK;
}

ad_module *ad_module_retain(ad_module *m)
{
    if (m)
        atomic_fetch_add_explicit(&m->references, 1, memory_order_relaxed);
    return m;
}

static void clear_param(covar_heap *heap, module_param *p)
{
    covar_heap_free(heap, p->name);
    covar_heap_free(heap, p->full_name);
    la_array_free(p->init);
}

void ad_module_free(ad_module *m)
{
    if (!m ||
        atomic_fetch_sub_explicit(&m->references, 1, memory_order_acq_rel) != 1)
        return;
    covar_heap *heap = m->heap;
    for (size_t i = 0; i < m->n; i++)
        clear_param(heap, &m->param[i]);
    if (m->free_data)
        m->free_data(m->data);
    covar_heap_free(heap, m->param);
    covar_heap_free(heap, m->name);
    covar_heap_free(heap, m);
    covar_heap_release(heap);
}

static covar_status fill_param(module_param *p, const ad_module *m,
                               covar_context *ctx, const char *name,
                               la_view init)
{
    la_exec exec = la_exec_cpu(ctx);
    size_t bytes = strlen(m->name) + strlen(name) + 2;
    p->name = covar_heap_strdup(m->heap, name);
    p->full_name = covar_heap_alloc(m->heap, bytes, 1);
    if (!p->name || !p->full_name)
        return covar_fail_nomem(ctx, "ad_module_add_param");
    snprintf(p->full_name, bytes, "%s.%s", m->name, name);
    return la_array_from_view(&p->init, &exec, init);
}

covar_status ad_module_add_param(ad_module *m, covar_context *ctx,
                                 const char *name, la_view init,
                                 ad_transform transform)
{
    if (!m || !ctx || !name || !*name || !la_view_is_valid(init))
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "ad_module_add_param: needs a module, a name and an "
                          "initial value");
    if (transform != AD_IDENTITY && transform != AD_LOG &&
        transform != AD_SOFTPLUS)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "ad_module_add_param: there is no transform %d",
                          (int)transform);
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->param[i].name, name) == 0)
            return covar_fail(ctx, COVAR_ERR_NAME,
                              "ad_module_add_param: %s has a '%s' already",
                              m->name, name);
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 4;
        module_param *p =
            covar_heap_grow(m->heap, m->param, m->n, cap, sizeof(*p));
        if (!p)
            return covar_fail_nomem(ctx, "ad_module_add_param");
        m->param = p;
        m->cap = cap;
    }
    module_param p = {.transform = transform};
    covar_status status = fill_param(&p, m, ctx, name, init);
    if (status == COVAR_OK)
        m->param[m->n++] = p;
    else
        clear_param(m->heap, &p);
    return status;
}

const char *ad_module_name(const ad_module *m)
{
    return m ? m->name : NULL;
}

size_t ad_module_param_count(const ad_module *m)
{
    return m ? m->n : 0;
}

const char *ad_module_param_name(const ad_module *m, size_t i)
{
    return m && i < m->n ? m->param[i].name : NULL;
}

la_view ad_module_param_init(const ad_module *m, size_t i)
{
    return m && i < m->n ? la_array_view(m->param[i].init) : la_view_none();
}

ad_transform ad_module_param_transform(const ad_module *m, size_t i)
{
    return m && i < m->n ? m->param[i].transform : AD_IDENTITY;
}

/* New nodes carry the module's name as scope. */
static ad_node *forward(const ad_module *m, ad_node *const *param, ad_node *x)
{
    for (size_t i = 0; i < m->n; i++)
        if (!param || !param[i])
            return NULL;
    ad_scope_push(x->graph, m->name);
    ad_node *y = m->forward(m, param, x, m->data);
    ad_scope_pop(x->graph);
    return y;
}

ad_node *ad_module_apply_with(const ad_module *m, ad_node *const *param,
                              ad_node *x)
{
    return m && x ? forward(m, param, x) : NULL;
}

ad_node *ad_module_apply(const ad_module *m, ad_node *x)
{
    if (!m || !x)
        return NULL;
    ad_graph *g = x->graph;
    ad_node **param = covar_heap_alloc(g->heap, m->n, sizeof(*param));
    if (!param) {
        ad_graph_nomem(g);
        return NULL;
    }
    for (size_t i = 0; i < m->n; i++)
        param[i] =
            ad_param(g, m->param[i].full_name, la_array_view(m->param[i].init));
    ad_node *y = forward(m, param, x);
    covar_heap_free(g->heap, param);
    return y;
}
