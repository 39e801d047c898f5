/* What a set of rows looks like: ranges, means, spreads, repeated inputs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Means and standard deviations (ddof 0) are taken around the first value, so
 * that a common offset costs no digits. */
#include "config.h"

#include "data.h"

#include <math.h>

/* Mean and sd of n values with this stride. */
static void moments(double *mean, double *sd, const double *x, size_t n,
                    size_t stride)
{
    double first = x[0], sum = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i * stride] - first;
    double centre = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double e = x[i * stride] - first - centre;
        square += e * e;
    }
    *mean = first + centre;
    *sd = sqrt(square / (double)n);
}

static covar_status measure_columns(gp_data *data, covar_context *ctx)
{
    for (size_t k = 0; k < data->d; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < data->n; i++) {
            low = fmin(low, data->X[i * data->d + k]);
            high = fmax(high, data->X[i * data->d + k]);
        }
        data->col_min[k] = low;
        data->col_range[k] = high - low;
        moments(&data->col_mean[k], &data->col_sd[k], data->X + k, data->n,
                data->d);
        if (!isfinite(high - low) || !isfinite(data->col_mean[k]))
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "gp_fit: column %zu of X spans [%g, %g]: rescale "
                              "it",
                              k, low, high);
        if (!(high > low))
            data->dropped[data->n_dropped++] = k;
    }
    return COVAR_OK;
}

static covar_status measure_targets(gp_data *data, covar_context *ctx)
{
    for (size_t k = 0; k < data->p; k++) {
        moments(&data->y_mean[k], &data->y_sd[k], data->y + k, data->n,
                data->p);
        if (!isfinite(data->y_sd[k] * data->y_sd[k]))
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "gp_fit: the targets have mean %g and standard "
                              "deviation %g: rescale them",
                              data->y_mean[k], data->y_sd[k]);
    }
    return COVAR_OK;
}

static void set_shifts(gp_data *data, const gp_options *options)
{
    gp_standardise s = options->standardise;
    if (s == GP_STANDARDISE_X || s == GP_STANDARDISE_XY)
        for (size_t k = 0; k < data->d; k++)
            data->x_shift[k] = data->col_mean[k];
    /* A mean function given by the user is in the units of y itself. */
    bool centred = (s == GP_STANDARDISE_Y || s == GP_STANDARDISE_XY) &&
                   options->mean != GP_MEAN_USER;
    for (size_t k = 0; centred && k < data->p; k++)
        data->y_shift[k] = data->y_mean[k];
}

/* ---- Repeated rows: sort indices, compare neighbours -------------------- */

static int compare_rows(const gp_data *data, size_t a, size_t b)
{
    const double *x = data->X + a * data->d, *z = data->X + b * data->d;
    for (size_t k = 0; k < data->d; k++)
        if (x[k] != z[k])
            return x[k] < z[k] ? -1 : 1;
    return 0;
}

static void merge(size_t *to, const size_t *from, const gp_data *data,
                  size_t begin, size_t middle, size_t end)
{
    size_t a = begin, b = middle;
    for (size_t i = begin; i < end; i++) {
        bool left = a < middle &&
                    (b >= end || compare_rows(data, from[a], from[b]) <= 0);
        to[i] = left ? from[a++] : from[b++];
    }
}

static covar_status find_duplicates(gp_data *data, covar_context *ctx)
{
    size_t n = data->n;
    size_t *block = covar_heap_alloc(data->heap, n, 2 * sizeof(*block));
    if (!block)
        return covar_fail_nomem(ctx, "gp_fit");
    size_t *order = block, *other = block + n;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t middle = i + width < n ? i + width : n;
            size_t end = middle + width < n ? middle + width : n;
            merge(other, order, data, i, middle, end);
        }
        size_t *swap = order;
        order = other;
        other = swap;
    }
    for (size_t i = 1; i < n && !data->duplicates; i++)
        data->duplicates = compare_rows(data, order[i - 1], order[i]) == 0;
    covar_heap_free(data->heap, block);
    return COVAR_OK;
}

covar_status gp_data_measure(gp_data *data, covar_context *ctx,
                             const gp_options *options)
{
    COVAR_TRY(measure_columns(data, ctx));
    COVAR_TRY(measure_targets(data, ctx));
    set_shifts(data, options);
    return find_duplicates(data, ctx);
}
