/* Example inputs for the conformance suites: declared by an operator's
 * `example`, drawn here.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values and directions are drawn as doubles, rounded to f32 (so that an f32
 * and an f64 example of one seed have equal inputs), from one stream for each
 * input. Directions keep the structure: symmetric for symmetric matrices,
 * lower triangular for triangular ones. */
#include "config.h"

#include "autodiff/ops/ops.h"

#include <covar/rng.h>
#include <math.h>
#include <stdio.h>

/* ---- Drawing ------------------------------------------------------------ */

static size_t count_of(int rank, const size_t *dim)
{
    size_t n = 1;
    for (int k = 0; k < rank; k++)
        n *= dim[k];
    return n;
}

static void normals(const ad_example *e, int input, double *x, size_t n)
{
    covar_rng rng = covar_rng_init(e->seed, (uint64_t)input);
    covar_rng_normal(x, n, &rng);
}

/* One n x n matrix from n x n standard normals, in place. A symmetric matrix
 * of normals has its spectrum in +-2 sqrt(n): a larger diagonal makes it
 * positive definite. */
static void shape_matrix(double *a, size_t n, ad_draw draw, bool direction)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            if (draw == AD_DRAW_LOWER) {
                a[i * n + j] = 0;
                a[j * n + i] *= direction ? 1 : 1 / sqrt((double)n);
            } else {
                a[i * n + j] = a[j * n + i];
            }
        }
    for (size_t i = 0; i < n && !direction; i++) {
        double u = a[i * n + i];
        if (draw == AD_DRAW_LOWER)
            a[i * n + i] = 1.5 + 0.5 * tanh(u);
        else if (draw == AD_DRAW_PD)
            a[i * n + i] = 1.5 + 0.5 * tanh(u) + 3 * sqrt((double)n);
    }
}

static void shape_number(double *a, size_t n, ad_draw draw)
{
    for (size_t i = 0; i < n; i++) {
        if (draw == AD_DRAW_POSITIVE)
            a[i] = exp(a[i] / 2);
        else if (draw == AD_DRAW_NEGATIVE)
            a[i] = -exp(a[i] / 2);
        else if (draw == AD_DRAW_UNIT)
            a[i] = 0.9 * tanh(a[i]);
    }
}

static void draw_real(const ad_example *e, int input, double *x, int rank,
                      const size_t *dim, ad_draw draw, bool direction)
{
    size_t count = count_of(rank, dim);
    normals(e, 2 * input + direction, x, count);
    bool matrix = draw == AD_DRAW_PD || draw == AD_DRAW_SYMMETRIC ||
                  draw == AD_DRAW_LOWER;
    size_t n = matrix ? dim[rank - 1] : 0;
    for (size_t at = 0; n > 0 && at < count; at += n * n)
        shape_matrix(x + at, n, draw, direction);
    if (!matrix && !direction)
        shape_number(x, count, draw);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)x[i];
}

static void draw_index(const ad_example *e, int input, double *x, size_t n,
                       size_t limit)
{
    covar_rng rng = covar_rng_init(e->seed, 2 * (uint64_t)input);
    covar_rng_uniform(x, n, &rng);
    for (size_t i = 0; i < n; i++)
        x[i] = floor(x[i] * (double)limit);
}

/* ---- Declaring ---------------------------------------------------------- */

static ad_node *declare(ad_example *e, la_dtype dtype, int rank,
                        const size_t *dim, ad_draw draw, size_t limit)
{
    if (e->n_in == AD_EXAMPLE_MAX_IN)
        return NULL;
    int i = e->n_in;
    ad_example_value *v = &e->in[i];
    ad_dim d[LA_MAX_DIMS];
    char name[16];
    size_t count = count_of(rank, dim);
    for (int k = 0; k < rank; k++)
        d[k] = ad_fixed(dim[k]);
    snprintf(name, sizeof(name), "x%d", i);
    v->node = ad_input(e->g, name, dtype, rank, d);
    v->value = covar_heap_calloc(e->g->heap, count, sizeof(double));
    v->direction = covar_heap_calloc(e->g->heap, count, sizeof(double));
    v->smooth = la_dtype_is_real(dtype);
    v->count = count;
    e->n_in = i + 1;
    if (!v->value || !v->direction)
        ad_graph_nomem(e->g);
    if (ad_graph_error(e->g) != COVAR_OK)
        return NULL;
    if (v->smooth) {
        draw_real(e, i, v->value, rank, dim, draw, false);
        draw_real(e, i, v->direction, rank, dim, draw, true);
    } else {
        draw_index(e, i, v->value, count, limit);
    }
    return v->node;
}

ad_node *ad_example_input(ad_example *e, la_dtype dtype, int rank,
                          const size_t *dim, ad_draw draw)
{
    return e ? declare(e, dtype, rank, dim, draw, 1u << 20) : NULL;
}

ad_node *ad_example_index(ad_example *e, size_t n, size_t limit)
{
    return e ? declare(e, LA_I32, 1, &n, AD_DRAW_INDEX, limit) : NULL;
}

ad_node *ad_example_matrix(ad_example *e, la_dtype dtype, size_t rows,
                           size_t cols, ad_draw draw)
{
    size_t dim[LA_MAX_DIMS];
    int b = ad_example_batch(e, dim);
    dim[b] = rows;
    dim[b + 1] = cols;
    return ad_example_input(e, dtype, b + 2, dim, draw);
}

ad_node *ad_example_vector(ad_example *e, la_dtype dtype, size_t n,
                           ad_draw draw)
{
    size_t dim[LA_MAX_DIMS];
    int b = ad_example_batch(e, dim);
    dim[b] = n;
    return ad_example_input(e, dtype, b + 1, dim, draw);
}

ad_graph *ad_example_graph(ad_example *e)
{
    return e ? e->g : NULL;
}

int ad_example_batch(const ad_example *e, size_t *dim)
{
    if (!e || !dim || e->n_batch == 0)
        return 0;
    dim[0] = e->n_batch;
    return 1;
}

int ad_example_variant(const ad_example *e)
{
    return e ? e->variant : 0;
}

covar_status ad_example_variants(const ad_example *e, int count)
{
    return e && e->variant < count ? COVAR_OK : COVAR_ERR_ARG;
}

const ad_op *ad_example_op(const ad_example *e)
{
    return e ? e->op : NULL;
}

void ad_example_rough(ad_example *e)
{
    e->rough = true;
}

covar_status ad_example_result(ad_example *e, ad_node *y)
{
    if (!e)
        return COVAR_ERR_ARG;
    e->y = y;
    if (y || ad_graph_error(e->g) != COVAR_OK)
        return ad_graph_error(e->g);
    return ad_graph_fail(e->g, COVAR_ERR_STATE, "%s: its example is NULL",
                         e->op->name);
}

/* ---- Making ------------------------------------------------------------- */

void ad_example_clear(ad_example *e)
{
    for (int i = 0; i < e->n_in; i++) {
        covar_heap_free(e->g->heap, e->in[i].value);
        covar_heap_free(e->g->heap, e->in[i].direction);
    }
    ad_graph_free(e->g);
    *e = (ad_example){0};
}

covar_status ad_example_init(ad_example *e, covar_context *ctx, const ad_op *op,
                             size_t n, la_dtype dtype, int variant,
                             size_t n_batch)
{
    *e = (ad_example){.op = op,
                      .variant = variant,
                      .n_batch = n_batch,
                      .seed = 1 + n + 1000 * (uint64_t)variant};
    covar_status status = ad_graph_create(&e->g, ctx, NULL);
    if (status == COVAR_OK)
        status = op->example(e, n, dtype);
    if (status != COVAR_OK)
        ad_example_clear(e);
    return status;
}
