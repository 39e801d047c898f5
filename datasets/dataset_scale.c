/* Standardising columns: z = (x - mean) / sd.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sums are taken of x - x_first in long double, so that a large common offset
 * costs nothing and a constant column is exactly constant. */
#include "config.h"

#include "dataset_impl.h"

#include <math.h>
#include <string.h>

struct dataset_scale {
    covar_heap *heap;
    size_t d;
    double *mean; /* (d), then sd (d) */
    double *sd;
};

/* A vector as one column, a matrix as it is. */
typedef struct columns {
    la_view x;
    size_t n, d;
    ptrdiff_t row, column;
    bool missing; /* NaN allowed */
} columns;

static covar_status as_columns(columns *out, covar_context *ctx,
                               const char *who, la_view x)
{
    if (!la_view_is_valid(x) && la_dtype_is_real(x.dtype) &&
        (x.rank == 1 || x.rank == 2))
        return dataset_refuse(ctx, who, "the data");
    if (x.rank != 1 && x.rank != 2)
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "%s: rank %d is neither vector nor matrix", who,
                          x.rank);
    if (x.dtype != LA_F64 && x.dtype != LA_F32)
        return covar_fail(ctx, COVAR_ERR_DTYPE, "%s: %s is not f64 or f32", who,
                          la_dtype_name(x.dtype));
    *out = (columns){.x = x,
                     .n = x.dim[0],
                     .d = x.rank == 2 ? x.dim[1] : 1,
                     .row = x.stride[0],
                     .column = x.rank == 2 ? x.stride[1] : 0,
                     .missing = x.rank == 1};
    return COVAR_OK;
}

static ptrdiff_t place(const columns *c, size_t i, size_t j)
{
    return (ptrdiff_t)i * c->row + (ptrdiff_t)j * c->column;
}

/* Row number k of the chosen ones. */
static size_t chosen(la_view rows, size_t k)
{
    if (la_view_is_none(rows))
        return k;
    return (size_t)dataset_get(rows, (ptrdiff_t)k * rows.stride[0]);
}

static covar_status fit_column(double *mean, double *sd, covar_context *ctx,
                               const columns *c, size_t j, la_view rows,
                               size_t m)
{
    long double first = 0.0L, sum = 0.0L, squares = 0.0L;
    size_t count = 0;
    bool constant = true;
    for (size_t k = 0; k < m; k++) {
        size_t i = chosen(rows, k);
        double v = dataset_get(c->x, place(c, i, j));
        if (isnan(v) && c->missing)
            continue;
        if (!isfinite(v))
            return covar_fail(ctx, COVAR_ERR_DATA,
                              "dataset_scale_fit: row %zu, column %zu (from "
                              "0) is %g",
                              i, j, v);
        if (count++ == 0)
            first = v;
        constant = constant && (long double)v == first;
        sum += v - first;
    }
    if (count == 0)
        return covar_fail(ctx, COVAR_ERR_DATA,
                          "dataset_scale_fit: column %zu has no values in the "
                          "%zu rows",
                          j, m);
    long double shift = sum / count;
    for (size_t k = 0; k < m && !constant; k++) {
        double v = dataset_get(c->x, place(c, chosen(rows, k), j));
        long double r = (long double)v - first - shift;
        squares += isnan(v) ? 0.0L : r * r;
    }
    *mean = (double)(first + shift);
    *sd = constant ? 0.0 : (double)sqrtl(squares / count);
    return COVAR_OK;
}

static covar_status check_rows(size_t *m, covar_context *ctx, la_view rows,
                               size_t n)
{
    *m = n;
    if (la_view_is_none(rows))
        return COVAR_OK;
    if (rows.rank != 1 || rows.dtype != LA_I32)
        return covar_fail(ctx,
                          rows.rank != 1 ? COVAR_ERR_SHAPE : COVAR_ERR_DTYPE,
                          "dataset_scale_fit: rows are %s of rank %d, not i32 "
                          "of rank 1",
                          la_dtype_name(rows.dtype), rows.rank);
    *m = rows.dim[0];
    if (!la_view_is_valid(rows))
        return dataset_refuse(ctx, "dataset_scale_fit", "rows.data");
    for (size_t k = 0; k < *m; k++) {
        double r = dataset_get(rows, (ptrdiff_t)k * rows.stride[0]);
        if (r < 0.0 || r >= (double)n)
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "dataset_scale_fit: rows[%zu] = %.0f, but there "
                              "are %zu",
                              k, r, n);
    }
    return COVAR_OK;
}

covar_status dataset_scale_fit(dataset_scale **out, covar_context *ctx,
                               la_view x, la_view rows)
{
    columns c;
    size_t m = 0;
    if (out)
        *out = NULL;
    if (!out || !ctx)
        return dataset_refuse(ctx, "dataset_scale_fit", ctx ? "out" : "ctx");
    COVAR_TRY(as_columns(&c, ctx, "dataset_scale_fit", x));
    COVAR_TRY(check_rows(&m, ctx, rows, c.n));
    covar_heap *heap = covar_context_heap(ctx);
    dataset_scale *s = covar_heap_calloc(heap, 1, sizeof(*s));
    if (!s)
        return covar_fail_nomem(ctx, "dataset_scale_fit");
    s->heap = covar_heap_retain(heap);
    s->d = c.d;
    s->mean = covar_heap_calloc(heap, c.d, 2 * sizeof(*s->mean));
    covar_status status = COVAR_OK;
    if (!s->mean)
        status = covar_fail_nomem(ctx, "dataset_scale_fit");
    else
        s->sd = s->mean + c.d;
    for (size_t j = 0; status == COVAR_OK && j < c.d; j++)
        status = fit_column(&s->mean[j], &s->sd[j], ctx, &c, j, rows, m);
    if (status != COVAR_OK) {
        dataset_scale_free(s);
        return status;
    }
    *out = s;
    return COVAR_OK;
}

static covar_status match(columns *to, columns *from, covar_context *ctx,
                          const char *who, la_view out, la_view x, size_t d)
{
    COVAR_TRY(as_columns(from, ctx, who, x));
    COVAR_TRY(as_columns(to, ctx, who, out));
    if (!la_view_same_dims(out, x) || from->d != d) {
        char a[140], b[140];
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "%s: out is %s, the input %s, the scale has %zu "
                          "columns",
                          who, dataset_shape_text(a, sizeof(a), out),
                          dataset_shape_text(b, sizeof(b), x), d);
    }
    return COVAR_OK;
}

covar_status dataset_scale_apply(la_view out, covar_context *ctx,
                                 const dataset_scale *s, la_view x)
{
    columns to, from;
    if (!s)
        return dataset_refuse(ctx, "dataset_scale_apply", "the scale");
    COVAR_TRY(match(&to, &from, ctx, "dataset_scale_apply", out, x, s->d));
    for (size_t i = 0; i < from.n; i++)
        for (size_t j = 0; j < s->d; j++) {
            double sd = s->sd[j] > 0.0 ? s->sd[j] : 1.0;
            double v = dataset_get(x, place(&from, i, j));
            dataset_put(out, place(&to, i, j), (v - s->mean[j]) / sd);
        }
    return COVAR_OK;
}

covar_status dataset_scale_invert(la_view out, covar_context *ctx,
                                  const dataset_scale *s, la_view z)
{
    columns to, from;
    if (!s)
        return dataset_refuse(ctx, "dataset_scale_invert", "the scale");
    COVAR_TRY(match(&to, &from, ctx, "dataset_scale_invert", out, z, s->d));
    for (size_t i = 0; i < from.n; i++)
        for (size_t j = 0; j < s->d; j++) {
            double sd = s->sd[j] > 0.0 ? s->sd[j] : 1.0;
            double v = dataset_get(z, place(&from, i, j));
            dataset_put(out, place(&to, i, j), v * sd + s->mean[j]);
        }
    return COVAR_OK;
}

la_view dataset_scale_mean(const dataset_scale *s)
{
    return s ? la_vec_f64(s->mean, s->d) : la_view_none();
}

la_view dataset_scale_sd(const dataset_scale *s)
{
    return s ? la_vec_f64(s->sd, s->d) : la_view_none();
}

void dataset_scale_free(dataset_scale *s)
{
    if (!s)
        return;
    covar_heap *heap = s->heap;
    covar_heap_free(heap, s->mean);
    covar_heap_free(heap, s);
    covar_heap_release(heap);
}
