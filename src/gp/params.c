/* The table of a kernel's parameters: names, starts, bounds, scales, priors.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bounds, scales and default priors are those of conditioned coordinates (x
 * in the unit cube, y / sd): value = scale * conditioned value. */
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

/* ---- Scales by kind ------------------------------------------------------ */

static size_t group_size(const gp_kernel *leaf, const gp_data *data)
{
    return leaf->n_column > 0 ? leaf->n_column : data->d;
}

static size_t group_column(const gp_kernel *leaf, size_t i)
{
    return leaf->n_column > 0 ? leaf->column[i] : i;
}

/* Largest range of the leaf's columns; 1 when all are constant. */
static double group_range(const gp_kernel *leaf, const gp_data *data)
{
    double range = 0;
    for (size_t i = 0; i < group_size(leaf, data); i++)
        range = fmax(range, data->col_range[group_column(leaf, i)]);
    return range > 0 ? range : 1;
}

static size_t group_active(const gp_kernel *leaf, const gp_data *data)
{
    size_t active = 0;
    for (size_t i = 0; i < group_size(leaf, data); i++)
        active += data->col_range[group_column(leaf, i)] > 0;
    return active > 0 ? active : 1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Smallest positive gap between values of any of the leaf's columns. */
static covar_status smallest_gap(double *gap, gp_params_maker *m,
                                 const gp_kernel *leaf)
{
    const gp_data *data = m->data;
    double *x = covar_heap_alloc(data->heap, data->n, sizeof(*x));
    if (!x)
        return covar_fail_nomem(m->ctx, "gp_params_create");
    *gap = INFINITY;
    for (size_t c = 0; c < group_size(leaf, data); c++) {
        for (size_t i = 0; i < data->n; i++)
            x[i] = data->X[i * data->d + group_column(leaf, c)];
        qsort(x, data->n, sizeof(*x), ascending);
        for (size_t i = 1; i < data->n; i++)
            if (x[i] > x[i - 1])
                *gap = fmin(*gap, x[i] - x[i - 1]);
    }
    covar_heap_free(data->heap, x);
    return COVAR_OK;
}

static void set(gp_param *p, double scale, double lower, double upper)
{
    p->scale = scale;
    p->lower = scale * lower;
    p->upper = scale * upper;
}

/* LogNormal(mean, sd) on the conditioned value, in user units. */
static gp_prior conditioned_lognormal(double mean, double sd, double scale)
{
    return (gp_prior){GP_PRIOR_LOGNORMAL, mean + log(scale), sd};
}

static covar_status set_period(gp_params_maker *m, const gp_kernel *leaf,
                               gp_param *p)
{
    double gap = 0, range = group_range(leaf, m->data);
    COVAR_TRY(smallest_gap(&gap, m, leaf));
    if (!(gap < range)) /* one or two distinct values */
        gap = range / 2;
    p->scale = range;
    p->lower = 2 * gap;
    p->upper = 2 * range;
    return COVAR_OK;
}

covar_status gp_params_add_kind(gp_params_maker *m, const gp_kernel *leaf,
                                const char *name, gp_kind kind,
                                ptrdiff_t column)
{
    const gp_data *data = m->data;
    double range = group_range(leaf, data);
    gp_param p = {.kind = kind,
                  .log = true,
                  .column = column,
                  .d_active = group_active(leaf, data),
                  .prior = {GP_PRIOR_FLAT, 0, 0}};
    if (column >= 0) {
        range = data->col_range[column];
        p.dropped = !(range > 0);
        range = p.dropped ? 1 : range;
    }
    switch (kind) {
    case GP_KIND_LENGTHSCALE:
        set(&p, range, 1e-3, 1e3);
        p.prior = conditioned_lognormal(sqrt(2) + log((double)p.d_active) / 2,
                                        sqrt(3), range);
        break;
    case GP_KIND_PERIODIC_LENGTHSCALE:
        set(&p, 1, 1e-3, 1e3);
        p.prior = conditioned_lognormal(0, 1, 1);
        break;
    case GP_KIND_ALPHA:
        set(&p, 1, 1e-2, 1e4);
        p.prior = conditioned_lognormal(0, 1, 1);
        break;
    case GP_KIND_PERIOD:
        COVAR_TRY(set_period(m, leaf, &p));
        break;
    case GP_KIND_OFFSET:
        set(&p, (double)p.d_active * range * range, 1e-6, 1e6);
        break;
    case GP_KIND_FREQUENCY:
        set(&p, 1 / range, 1e-3, (double)data->n);
        break;
    case GP_KIND_BANDWIDTH:
        set(&p, 1 / range, 1e-3, (double)data->n);
        break;
    case GP_KIND_WEIGHT:
        set(&p, 1, 1e-6, 1e6);
        break;
    case GP_KIND_LINEAR_LENGTHSCALE:
        set(&p, range, 1e-3, 1e3);
        break;
    case GP_KIND_VARIANCE: /* made by the term and the noise below */
    case GP_KIND_NOISE:
    case GP_KIND_USER:
        return covar_fail(m->ctx, COVAR_ERR_STATE, "kernel: kind of %s", name);
    }
    return gp_params_add(m, leaf, name, &p);
}

/* ---- The walk over a kernel ------------------------------------------------
 */

static covar_status add_sum(gp_params_maker m, const gp_kernel *sum);

/* sd of the targets; 1 when they are constant. */
static double target_sd(const gp_data *data)
{
    double mean_square = 0;
    for (size_t k = 0; k < data->p; k++)
        mean_square += data->y_sd[k] * data->y_sd[k] / (double)data->p;
    return mean_square > 0 ? sqrt(mean_square) : 1;
}

static covar_status add_variance(gp_params_maker *m, const gp_kernel *term,
                                 size_t n_terms)
{
    double size = 1, sd = target_sd(m->data);
    for (size_t i = 0; i < term->n_child; i++)
        if (term->child[i]->type->size)
            size *= term->child[i]->type->size(term->child[i], m->data);
    gp_param p = {.kind = GP_KIND_VARIANCE,
                  .log = true,
                  .column = -1,
                  .d_active = n_terms};
    set(&p, sd * sd / size, 1e-6, 1e6);
    p.prior = conditioned_lognormal(0, 1, p.scale);
    p.has_start = !isnan(term->number);
    p.value = term->number;
    return gp_params_add(m, NULL, "variance", &p);
}

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
        COVAR_TRY(add_variance(&part, term, sum->n_child));
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

static covar_status add_noise(gp_params_maker *m)
{
    double sd = target_sd(m->data);
    gp_param p = {
        .kind = GP_KIND_NOISE, .log = true, .column = -1, .d_active = 1};
    set(&p, sd * sd, m->dtype == LA_F64 ? 1e-8 : 1e-5, 10);
    p.prior = conditioned_lognormal(-4, 1, p.scale);
    return gp_params_add(m, NULL, "noise_variance", &p);
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
        status = add_noise(&m);
    if (status != COVAR_OK)
        gp_params_clear(out);
    return status;
}
