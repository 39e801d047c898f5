/* The rows of a fit: copied as doubles, checked, missing targets left out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row takes part when all its targets are finite; a NaN in any of them
 * leaves it out and counts it (outputs share one factor, so they share their
 * rows). Inputs of every row must be finite, infinite targets are an error. */
#include "config.h"

#include "check.h"
#include "data.h"

#include <math.h>
#include <string.h>

static void *block(covar_heap *heap, size_t n)
{
    return covar_heap_calloc(heap, n, sizeof(double));
}

void gp_data_free(gp_data *d)
{
    if (!d)
        return;
    void *part[] = {d->row,    d->X,       d->y,         d->weight,
                    d->noise,  d->col_min, d->col_range, d->col_mean,
                    d->col_sd, d->x_shift, d->y_shift,   d->y_mean,
                    d->y_sd,   d->dropped, d->mean_given};
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
        covar_heap_free(d->heap, part[i]);
    gp_data_free_names(d);
    covar_heap *heap = d->heap;
    covar_heap_free(heap, d);
    covar_heap_release(heap);
}

/* Room for n rows with optional weights and known variances. */
static gp_data *allocate(covar_heap *heap, size_t n, size_t d, size_t p,
                         bool weighted, bool noisy)
{
    gp_data *data = covar_heap_calloc(heap, 1, sizeof(*data));
    if (!data)
        return NULL;
    data->heap = covar_heap_retain(heap);
    data->n = n;
    data->d = d;
    data->p = p;
    data->row = covar_heap_calloc(heap, n, sizeof(*data->row));
    /* A product that overflows must not look small. */
    data->X = block(heap, gp_product(n, d, 1));
    data->y = block(heap, gp_product(n, p, 1));
    data->weight = weighted ? block(heap, n) : NULL;
    data->noise = noisy ? block(heap, n) : NULL;
    data->col_min = block(heap, d);
    data->col_range = block(heap, d);
    data->col_mean = block(heap, d);
    data->col_sd = block(heap, d);
    data->x_shift = block(heap, d);
    data->y_shift = block(heap, p);
    data->y_mean = block(heap, p);
    data->y_sd = block(heap, p);
    data->dropped = covar_heap_calloc(heap, d, sizeof(*data->dropped));
    bool whole = data->row && data->X && data->y && data->col_min &&
                 data->col_range && data->col_mean && data->col_sd &&
                 data->x_shift && data->y_shift && data->y_mean && data->y_sd &&
                 data->dropped && (data->weight || !weighted) &&
                 (data->noise || !noisy);
    if (!whole) {
        gp_data_free(data);
        return NULL;
    }
    return data;
}

static covar_status check_views(covar_context *ctx, la_view X, la_view y)
{
    char a[80], b[80];
    COVAR_TRY(gp_check_view(ctx, "gp_fit", "X", X));
    COVAR_TRY(gp_check_view(ctx, "gp_fit", "y", y));
    la_view_describe(a, sizeof(a), X);
    la_view_describe(b, sizeof(b), y);
    if (X.rank != 2 || y.rank < 1 || y.rank > 2)
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "gp_fit: X is %s and y is %s, but they must be (n,d) "
                          "and (n) or (n,p)",
                          a, b);
    if (X.dim[0] != y.dim[0])
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "gp_fit: X is %zux%zu but y has %zu rows", X.dim[0],
                          X.dim[1], y.dim[0]);
    if (X.dim[1] == 0 || (y.rank == 2 && y.dim[1] == 0))
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "gp_fit: X is %s and y is %s: nothing to learn from",
                          a, b);
    size_t columns = gp_sum(X.dim[1], y.rank == 2 ? y.dim[1] : 1);
    return gp_check_room(ctx, "gp_fit",
                         gp_product(X.dim[0], columns, sizeof(double)));
}

/* Every input must be finite, every target finite or NaN; counts the rows
 * whose targets are all there. */
static covar_status count_rows(size_t *used, covar_context *ctx, la_view X,
                               la_view y, const char *const *name)
{
    char label[GP_LABEL_SIZE];
    size_t n = X.dim[0], d = X.dim[1], p = y.rank == 2 ? y.dim[1] : 1;
    *used = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < d; k++) {
            double x = la_view_get(X, i * d + k);
            if (!isfinite(x))
                return covar_fail(ctx, COVAR_ERR_ARG,
                                  "gp_fit: X is %g in row %zu, column %s "
                                  "(counted from 0)",
                                  x, i, gp_column_label(label, name, k));
        }
        bool there = true;
        for (size_t k = 0; k < p; k++) {
            double value = la_view_get(y, i * p + k);
            if (isinf(value))
                return covar_fail(ctx, COVAR_ERR_ARG,
                                  "gp_fit: y is %g in row %zu (counted from "
                                  "0); write NaN for a missing target",
                                  value, i);
            there = there && !isnan(value);
        }
        *used += there;
    }
    if (*used == 0)
        return covar_fail(ctx, COVAR_ERR_DATA,
                          "gp_fit: none of the %zu rows has a finite target",
                          n);
    return COVAR_OK;
}

/* Weight and known variance of the caller's row `from`, into row `to`. */
static covar_status take_noise(gp_data *data, covar_context *ctx,
                               const gp_options *options, size_t to,
                               size_t from)
{
    if (data->weight) {
        double w = options->weights[from];
        if (!(w > 0) || isinf(w))
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "gp_fit: weights[%zu] = %g, but it must be "
                              "positive and finite",
                              from, w);
        data->weight[to] = w;
    }
    if (data->noise) {
        double v = options->noise_per_point[from];
        if (!(v >= 0) || isinf(v))
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "gp_fit: noise_per_point[%zu] = %g, but it must "
                              "be a finite variance",
                              from, v);
        data->noise[to] = v;
    }
    return COVAR_OK;
}

static covar_status take_rows(gp_data *data, covar_context *ctx, la_view X,
                              la_view y, const gp_options *options)
{
    size_t d = data->d, p = data->p, used = 0;
    for (size_t i = 0; i < X.dim[0]; i++) {
        bool there = true;
        for (size_t k = 0; k < p; k++)
            there = there && !isnan(la_view_get(y, i * p + k));
        if (!there) {
            data->n_missing++;
            continue;
        }
        data->row[used] = i;
        for (size_t k = 0; k < d; k++)
            data->X[used * d + k] = la_view_get(X, i * d + k);
        for (size_t k = 0; k < p; k++)
            data->y[used * p + k] = la_view_get(y, i * p + k);
        COVAR_TRY(take_noise(data, ctx, options, used, i));
        used++;
    }
    return COVAR_OK;
}

covar_status gp_data_create(gp_data **out, covar_context *ctx, la_view X,
                            la_view y, const gp_options *options)
{
    *out = NULL;
    COVAR_TRY(check_views(ctx, X, y));
    size_t n;
    COVAR_TRY(count_rows(&n, ctx, X, y, options->column_name));
    gp_data *data = allocate(
        covar_context_heap(ctx), n, X.dim[1], y.rank == 2 ? y.dim[1] : 1,
        options->weights != NULL, options->noise_per_point != NULL);
    if (!data)
        return covar_fail_nomem(ctx, "gp_fit");
    covar_status status = gp_data_take_names(data, ctx, options->column_name);
    if (status == COVAR_OK)
        status = take_rows(data, ctx, X, y, options);
    if (status == COVAR_OK)
        status = gp_data_measure(data, ctx, options);
    if (status != COVAR_OK) {
        gp_data_free(data);
        return status;
    }
    *out = data;
    return COVAR_OK;
}

/* What describes the whole set: kept by a selection of rows. */
static void copy_statistics(gp_data *to, const gp_data *from)
{
    size_t d = from->d * sizeof(double), p = from->p * sizeof(double);
    memcpy(to->col_min, from->col_min, d);
    memcpy(to->col_range, from->col_range, d);
    memcpy(to->col_mean, from->col_mean, d);
    memcpy(to->col_sd, from->col_sd, d);
    memcpy(to->x_shift, from->x_shift, d);
    memcpy(to->y_shift, from->y_shift, p);
    memcpy(to->y_mean, from->y_mean, p);
    memcpy(to->y_sd, from->y_sd, p);
    memcpy(to->dropped, from->dropped, from->d * sizeof(*to->dropped));
    to->n_dropped = from->n_dropped;
    to->n_missing = from->n_missing;
    to->duplicates = from->duplicates;
}

covar_status gp_data_select(gp_data **out, covar_context *ctx,
                            const gp_data *from, const size_t *row, size_t n)
{
    *out = NULL;
    size_t d = from->d, p = from->p;
    gp_data *data = allocate(covar_context_heap(ctx), n, d, p,
                             from->weight != NULL, from->noise != NULL);
    if (data && from->mean_given) {
        data->mean_given = block(data->heap, d + 1);
        if (!data->mean_given) {
            gp_data_free(data);
            data = NULL;
        }
    }
    if (!data)
        return covar_fail_nomem(ctx, "gp_fit");
    covar_status status =
        gp_data_take_names(data, ctx, (const char *const *)from->column_name);
    if (status != COVAR_OK) {
        gp_data_free(data);
        return status;
    }
    copy_statistics(data, from);
    if (from->mean_given)
        memcpy(data->mean_given, from->mean_given, (d + 1) * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        size_t r = row ? row[i] : i;
        data->row[i] = from->row[r];
        memcpy(data->X + i * d, from->X + r * d, d * sizeof(double));
        memcpy(data->y + i * p, from->y + r * p, p * sizeof(double));
        if (data->weight)
            data->weight[i] = from->weight[r];
        if (data->noise)
            data->noise[i] = from->noise[r];
    }
    *out = data;
    return COVAR_OK;
}
