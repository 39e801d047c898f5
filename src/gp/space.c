/* The coordinates in which a fit searches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * x_j = log(value / scale) for positive parameters, value - 0 for the others:
 * x in the unit cube and y with sd 1 give coordinates of order one whatever
 * the units of the data. */
#include "config.h"

#include "fit_impl.h"

#include <math.h>

static bool is_searched(const gp_param *p)
{
    return !p->fixed && !p->dropped && p->tie < 0;
}

static double free_of(const gp_param *p, double value)
{
    return p->log ? log(value) : value;
}

void gp_params_to_free(double *free, const gp_params *p)
{
    for (size_t i = 0; i < p->n; i++)
        free[i] = p->param[i].dropped
                      ? (double)NAN
                      : free_of(&p->param[i], p->param[i].value);
}

void gp_params_from_free(gp_params *p, const double *free)
{
    for (size_t i = 0; i < p->n; i++) {
        gp_param *q = &p->param[i];
        if (q->dropped)
            q->value = (double)NAN;
        else if (!q->fixed) /* a fixed value keeps its digits */
            q->value = q->log ? exp(free[i]) : free[i];
    }
}

bool gp_param_is_at_bound(const gp_param *p)
{
    if (!is_searched(p))
        return false;
    double v = free_of(p, p->value);
    double low = free_of(p, p->lower), high = free_of(p, p->upper);
    double near = 1e-8 * (p->log ? 1 : fmax(1, fabs(v)));
    return v <= low + near || v >= high - near;
}

void gp_space_clear(gp_space *s)
{
    if (!s || !s->heap)
        return;
    covar_heap_free(s->heap, s->index);
    covar_heap_free(s->heap, s->lower);
    covar_heap_free(s->heap, s->upper);
    covar_heap_free(s->heap, s->shift);
    covar_heap_release(s->heap);
    *s = (gp_space){.heap = NULL};
}

covar_status gp_space_create(gp_space *out, covar_context *ctx,
                             const gp_params *params)
{
    covar_heap *heap = covar_heap_retain(covar_context_heap(ctx));
    *out = (gp_space){.heap = heap, .params = params};
    size_t most = params->n;
    out->index = covar_heap_calloc(heap, most, sizeof(*out->index));
    out->lower = covar_heap_calloc(heap, most, sizeof(*out->lower));
    out->upper = covar_heap_calloc(heap, most, sizeof(*out->upper));
    out->shift = covar_heap_calloc(heap, most, sizeof(*out->shift));
    if (!out->index || !out->lower || !out->upper || !out->shift) {
        gp_space_clear(out);
        return covar_fail_nomem(ctx, "gp_fit");
    }
    for (size_t i = 0; i < most; i++) {
        const gp_param *p = &params->param[i];
        if (!is_searched(p))
            continue;
        size_t j = out->n++;
        out->index[j] = i;
        out->shift[j] = p->log ? log(p->scale) : 0;
        out->lower[j] = free_of(p, p->lower) - out->shift[j];
        out->upper[j] = free_of(p, p->upper) - out->shift[j];
    }
    return COVAR_OK;
}

void gp_space_expand(double *free, const gp_space *s, const double *x)
{
    const gp_params *p = s->params;
    gp_params_to_free(free, p);
    for (size_t j = 0; j < s->n; j++)
        free[s->index[j]] = x[j] + s->shift[j];
    for (size_t i = 0; i < p->n; i++)
        if (p->param[i].tie >= 0)
            free[i] = free[p->param[i].tie];
}

void gp_space_take(double *x, const gp_space *s, const double *free)
{
    for (size_t j = 0; j < s->n; j++)
        x[j] = free[s->index[j]] - s->shift[j];
}

void gp_space_gradient(double *g, const gp_space *s, const double *grad)
{
    for (size_t j = 0; j < s->n; j++) {
        g[j] = grad[s->index[j]];
        for (size_t i = 0; i < s->params->n; i++)
            if (s->params->param[i].tie == (ptrdiff_t)s->index[j])
                g[j] += grad[i];
    }
}
