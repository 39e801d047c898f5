/* The memory of a minimiser run: one block, handed out in parts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * 2 k n doubles for k pairs, 11 vectors of n, tables of order k. The same
 * code runs twice: without a block it counts, with one it hands out. */
#include "config.h"

#include "autodiff/optim_impl.h"
#include "heap.h"

enum { ALIGNMENT = 16, VECTORS = 16 };

typedef struct arena {
    char *start; /* NULL: only count */
    size_t used;
} arena;

static void *take(arena *a, size_t n, size_t size)
{
    void *p = a->start ? a->start + a->used : NULL;
    a->used += (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return p;
}

static double *take_reals(arena *a, size_t n)
{
    return take(a, n, sizeof(double));
}

static void take_middle(arena *a, ad_middle *mid, size_t k)
{
    mid->E = take_reals(a, k * k);
    mid->G = take_reals(a, k * k);
    mid->T = take_reals(a, k * k);
}

static void take_point(arena *a, ad_optim_point *p, size_t n)
{
    p->x = take_reals(a, n);
    p->g = take_reals(a, n);
}

static void take_pairs(arena *a, ad_pairs *p, size_t n, size_t k)
{
    p->n = n;
    p->capacity = k;
    p->s = take(a, k, sizeof(*p->s));
    p->y = take(a, k, sizeof(*p->y));
    p->ss = take_reals(a, k * k);
    p->sy = take_reals(a, k * k);
    p->yy = take_reals(a, k * k);
    take_middle(a, &p->M, k);
    for (size_t i = 0; i < k; i++) {
        double *s = take_reals(a, n), *y = take_reals(a, n);
        if (a->start) {
            p->s[i] = s;
            p->y[i] = y;
        }
    }
}

static void take_model(arena *a, ad_model_step *m, size_t n, size_t k)
{
    m->z = take_reals(a, n);
    m->d = take_reals(a, n);
    m->t = take_reals(a, n);
    m->heap = take(a, n, sizeof(*m->heap));
    m->fixed = take(a, n, sizeof(*m->fixed));
    m->c = take_reals(a, 2 * k);
    m->p = take_reals(a, 2 * k);
    m->q = take_reals(a, 2 * k);
    m->u = take_reals(a, 2 * k);
    take_middle(a, &m->sub, k);
}

static void take_all(arena *a, ad_optim_run *run)
{
    const size_t n = run->n, k = run->options.memory;
    take_point(a, &run->now, n);
    take_point(a, &run->trial, n);
    take_point(a, &run->best, n);
    run->lower = take_reals(a, n);
    run->upper = take_reals(a, n);
    run->s = take_reals(a, n);
    run->y = take_reals(a, n);
    take_pairs(a, &run->pairs, n, k);
    take_model(a, &run->model, n, k);
    run->model.pairs = &run->pairs;
    run->model.lower = run->lower;
    run->model.upper = run->upper;
}

covar_status ad_optim_run_alloc(ad_optim_run *run)
{
    const size_t rows = 2 * run->options.memory + VECTORS;
    const bool fits = run->n < PTRDIFF_MAX / sizeof(double) / rows / 2;
    arena a = {0};
    if (fits) {
        take_all(&a, run);
        run->block = covar_heap_alloc(covar_context_heap(run->ctx), a.used, 1);
    }
    if (!run->block)
        return covar_fail_nomem(run->ctx, "ad_minimise");
    a = (arena){.start = run->block};
    take_all(&a, run);
    return COVAR_OK;
}

void ad_optim_run_free(ad_optim_run *run)
{
    covar_heap_free(covar_context_heap(run->ctx), run->block);
    run->block = NULL;
}
