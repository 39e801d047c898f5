/* The table of a kernel's parameters: names, paths, starts.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_tree.h"

enum { NAME_SIZE = 128, LIST_SIZE = 700 };

void gp_params_clear(gp_params *p)
{
    if (!p || !p->heap)
        return;
    for (size_t i = 0; i < p->n; i++) {
        covar_heap_free(p->heap, p->param[i].name);
        covar_heap_free(p->heap, p->param[i].path);
    }
    covar_heap_free(p->heap, p->param);
    covar_heap_release(p->heap);
    *p = (gp_params){.heap = NULL};
}

/* Room for one more entry with these names; NULL when out of memory. */
static gp_param *append(gp_params *p, const char *name, const char *path)
{
    gp_param *grown =
        covar_heap_grow(p->heap, p->param, p->n, p->n + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    p->param = grown;
    char *n = covar_heap_strdup(p->heap, name);
    char *q = covar_heap_strdup(p->heap, path);
    if (!n || !q) {
        covar_heap_free(p->heap, n);
        covar_heap_free(p->heap, q);
        return NULL;
    }
    gp_param *entry = &p->param[p->n++];
    *entry = (gp_param){.name = n, .path = q};
    return entry;
}

covar_status gp_params_copy(gp_params *out, covar_context *ctx,
                            const gp_params *p)
{
    *out = (gp_params){.heap = covar_heap_retain(covar_context_heap(ctx))};
    for (size_t i = 0; i < p->n; i++) {
        gp_param *entry = append(out, p->param[i].name, p->param[i].path);
        if (!entry) {
            gp_params_clear(out);
            return covar_fail_nomem(ctx, "gp_params_copy");
        }
        char *name = entry->name, *path = entry->path;
        *entry = p->param[i];
        entry->name = name;
        entry->path = path;
    }
    return COVAR_OK;
}

ptrdiff_t gp_params_find(const gp_params *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->param[i].name, name) == 0)
            return (ptrdiff_t)i;
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->param[i].path, name) == 0)
            return (ptrdiff_t)i;
    return -1;
}

/* Takes over what the kernel's text says of this parameter. */
static covar_status take_start(gp_params_maker *m, gp_param *entry,
                               const gp_arg *given)
{
    if (!given)
        return COVAR_OK;
    bool ok =
        isfinite(given->value) &&
        (!entry->log || given->value > 0 ||
         (given->value == 0 && given->fixed && entry->kind == GP_KIND_OFFSET));
    if (!ok)
        return covar_fail(m->ctx, COVAR_ERR_ARG,
                          "kernel: %s = %g, but it must be positive",
                          entry->name, given->value);
    entry->value = given->value;
    entry->fixed = given->fixed;
    entry->has_start = true;
    return COVAR_OK;
}

/* The argument for "lengthscale[3]", else the one for all: "lengthscale". */
static const gp_arg *find_arg(const gp_kernel *leaf, const char *name)
{
    const gp_arg *exact = gp_leaf_arg(leaf, name);
    char all[NAME_SIZE];
    size_t n = strcspn(name, "[");
    if (exact || n >= sizeof(all))
        return exact;
    memcpy(all, name, n);
    all[n] = '\0';
    return gp_leaf_arg(leaf, all);
}

covar_status gp_params_add(gp_params_maker *m, const gp_kernel *leaf,
                           const char *name, const gp_param *like)
{
    char full[NAME_SIZE], path[NAME_SIZE];
    int a = snprintf(full, sizeof(full), "%s%s", m->prefix, name);
    int b = snprintf(path, sizeof(path), "%s%s", m->path, name);
    if (a >= NAME_SIZE || b >= NAME_SIZE)
        return covar_fail(m->ctx, COVAR_ERR_NAME,
                          "kernel: parameter name %s... is too long", full);
    gp_param *entry = append(m->out, full, path);
    if (!entry)
        return covar_fail_nomem(m->ctx, "gp_params_add");
    char *own_name = entry->name, *own_path = entry->path;
    *entry = *like;
    entry->name = own_name;
    entry->path = own_path;
    entry->tie = -1;
    if (!entry->has_start)
        entry->value = NAN;
    if (entry->dropped)
        return COVAR_OK;
    return take_start(m, entry, leaf ? find_arg(leaf, name) : NULL);
}

/* ---- The walk over a kernel ---------------------------------------------- */

static covar_status add_sum(gp_params_maker m, const gp_kernel *sum);

/* Names: the term number when there are several terms, both numbers when the
 * term has several factors; paths always have both. */
static covar_status add_term(const gp_params_maker *m, const gp_kernel *sum,
                             size_t t)
{
    const gp_kernel *term = sum->child[t];
    char prefix[NAME_SIZE], path[NAME_SIZE];
    gp_params_maker part = *m;
    part.prefix = prefix;
    part.path = path;
    if (sum->n_child > 1)
        snprintf(prefix, sizeof(prefix), "%.80s%zu.", m->prefix, t);
    else
        snprintf(prefix, sizeof(prefix), "%.80s", m->prefix);
    snprintf(path, sizeof(path), "%.80s%zu.", m->path, t);
    if (gp_term_has_variance(term))
        COVAR_TRY(gp_params_add_variance(&part, term, sum->n_child));
    for (size_t f = 0; f < term->n_child; f++) {
        const gp_kernel *factor = term->child[f];
        if (term->n_child > 1)
            snprintf(prefix, sizeof(prefix), "%.80s%zu.%zu.", m->prefix, t, f);
        snprintf(path, sizeof(path), "%.80s%zu.%zu.", m->path, t, f);
        if (factor->form == GP_FORM_SUM)
            COVAR_TRY(add_sum(part, factor));
        else
            COVAR_TRY(factor->type->params(&part, factor));
    }
    return COVAR_OK;
}

static covar_status add_sum(gp_params_maker m, const gp_kernel *sum)
{
    for (size_t t = 0; t < sum->n_child; t++)
        COVAR_TRY(add_term(&m, sum, t));
    return COVAR_OK;
}

covar_status gp_params_add_kernel(const gp_params_maker *m, const gp_kernel *k)
{
    return add_sum(*m, k);
}

/* Every argument in the text must name a parameter that the leaf has. */
static covar_status check_args(covar_context *ctx, const gp_kernel *k,
                               const gp_params *p)
{
    for (size_t i = 0; i < k->n_child; i++)
        COVAR_TRY(check_args(ctx, k->child[i], p));
    for (size_t i = 0; i < k->n_arg; i++) {
        bool found = false;
        for (size_t j = 0; j < p->n && !found; j++) {
            const char *dot = strrchr(p->param[j].path, '.');
            size_t n = strlen(k->arg[i].name);
            found = dot && strncmp(dot + 1, k->arg[i].name, n) == 0 &&
                    (dot[1 + n] == '\0' || dot[1 + n] == '[');
        }
        if (!found)
            return covar_fail(ctx, COVAR_ERR_NAME,
                              "kernel: %s has no parameter %s for these "
                              "inputs",
                              k->type->word, k->arg[i].name);
    }
    return COVAR_OK;
}

covar_status gp_params_create(gp_params *out, covar_context *ctx,
                              const gp_kernel *k, const gp_data *data,
                              const gp_options *options)
{
    *out = (gp_params){.heap = covar_heap_retain(covar_context_heap(ctx))};
    gp_params_maker m = {.ctx = ctx,
                         .out = out,
                         .data = data,
                         .dtype = options->dtype,
                         .prefix = "",
                         .path = ""};
    covar_status status = add_sum(m, k);
    if (status == COVAR_OK)
        status = check_args(ctx, k, out);
    if (status == COVAR_OK)
        status = gp_params_add_noise(&m);
    if (status != COVAR_OK)
        gp_params_clear(out);
    return status;
}
