/* The mean of the targets: basis, coefficients, what is given.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mean(x) = offset(x) + h(x)'beta. beta is profiled by generalised least
 * squares; the offset is what is known: the shift of the targets, the user's
 * function, or coefficients that were fixed by name. The basis is conditioned,
 *     h(x) = (1, (x_k - col_mean_k) / col_range_k for every varying column),
 * so that offsets of the inputs cost no digits; coefficients are reported for
 * (1, x_k) in user units. */
#include "config.h"

#include "gp_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool varies(const gp_data *data, size_t k)
{
    return data->col_range[k] > 0;
}

size_t gp_mean_count(const gp_data *data, const gp_options *options)
{
    if (data->mean_given)
        return 0;
    if (options->mean == GP_MEAN_CONSTANT)
        return 1;
    return options->mean == GP_MEAN_LINEAR ? 1 + data->d - data->n_dropped : 0;
}

void gp_mean_basis_at(double *H, const gp_data *data, const gp_options *options,
                      la_view X)
{
    size_t q = gp_mean_count(data, options), d = data->d;
    for (size_t i = 0; q > 0 && i < X.dim[0]; i++) {
        double *h = H + i * q;
        *h++ = 1;
        for (size_t k = 0; q > 1 && k < d; k++)
            if (varies(data, k))
                *h++ = (la_view_get(X, i * d + k) - data->col_mean[k]) /
                       data->col_range[k];
    }
}

covar_status gp_mean_offset(double *mean, covar_context *ctx,
                            const gp_data *data, const gp_options *options,
                            la_view X)
{
    size_t m = X.dim[0], p = data->p;
    if (options->mean == GP_MEAN_USER) {
        double *value = covar_heap_calloc(data->heap, m, sizeof(*value));
        if (!value)
            return covar_fail_nomem(ctx, "mean function");
        options->mean_fn(value, X, options->mean_data);
        size_t bad = 0;
        while (bad < m && isfinite(value[bad]))
            bad++;
        for (size_t i = 0; i < m * p; i++)
            mean[i] = value[i / p];
        double first = bad < m ? value[bad] : 0;
        covar_heap_free(data->heap, value);
        if (bad < m)
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "the mean function gives %g at row %zu", first,
                              bad);
        return COVAR_OK;
    }
    const double *given = data->mean_given;
    for (size_t i = 0; i < m; i++) {
        double at = given ? given[0] : 0;
        for (size_t k = 0; given && k < data->d; k++)
            if (given[1 + k] != 0)
                at += given[1 + k] * la_view_get(X, i * data->d + k);
        for (size_t k = 0; k < p; k++)
            mean[i * p + k] = given ? at : data->y_shift[k];
    }
    return COVAR_OK;
}

void gp_mean_natural(double *coefficient, const gp_data *data,
                     const gp_options *options, const double *beta,
                     size_t output)
{
    size_t q = gp_mean_count(data, options), d = data->d, p = data->p, j = 1;
    coefficient[0] = q > 0 ? beta[output] + data->y_shift[output] : 0;
    for (size_t k = 0; k < d; k++) {
        coefficient[1 + k] = varies(data, k) ? 0 : (double)NAN;
        if (q <= 1 || !varies(data, k))
            continue;
        double slope = beta[j++ * p + output] / data->col_range[k];
        coefficient[1 + k] = slope;
        coefficient[0] -= slope * data->col_mean[k];
    }
    if (data->mean_given)
        memcpy(coefficient, data->mean_given, (1 + d) * sizeof(*coefficient));
}

/* ---- Coefficients given by name ----------------------------------------- */

bool gp_mean_owns_name(const char *name)
{
    return strncmp(name, "mean.", 5) == 0;
}

/* 0 for mean.constant, 1 + k for mean.slope[k], -1 for anything else. */
static ptrdiff_t coefficient_index(const gp_data *data,
                                   const gp_options *options, const char *name)
{
    if (strcmp(name, "mean.constant") == 0)
        return 0;
    const char *start = "mean.slope[";
    size_t length = strlen(start);
    if (options->mean != GP_MEAN_LINEAR || strncmp(name, start, length) != 0)
        return -1;
    char *end;
    unsigned long k = strtoul(name + length, &end, 10);
    if (end == name + length || strcmp(end, "]") != 0 || k >= data->d)
        return -1;
    return 1 + (ptrdiff_t)k;
}

static covar_status take(double *given, covar_context *ctx, const gp_data *data,
                         const gp_options *options, const gp_setting *s)
{
    if (options->mean != GP_MEAN_CONSTANT && options->mean != GP_MEAN_LINEAR)
        return covar_fail(ctx, COVAR_ERR_NAME,
                          "%s: only constant and linear means have "
                          "coefficients",
                          s->name);
    ptrdiff_t i = coefficient_index(data, options, s->name);
    if (i < 0 || (i > 0 && !varies(data, (size_t)i - 1)))
        return covar_fail(ctx, COVAR_ERR_NAME,
                          "no coefficient is called %s; known: mean.constant%s",
                          s->name,
                          options->mean == GP_MEAN_LINEAR
                              ? ", mean.slope[column] of columns that vary"
                              : "");
    bool value =
        s->kind == GP_SET_FIX || (s->kind == GP_SET_START && options->no_fit);
    if (!value)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "%s is found by least squares: it can be fixed, but "
                          "takes no start, bounds, prior or tie",
                          s->name);
    if (!isfinite(s->a))
        return covar_fail(ctx, COVAR_ERR_ARG, "%s = %g, but it must be finite",
                          s->name, s->a);
    given[i] = s->a;
    return COVAR_OK;
}

/* All coefficients or none: a part would leave the others undefined. */
static covar_status check_whole(const double *given, covar_context *ctx,
                                const gp_data *data, const gp_options *options)
{
    if (isnan(given[0]))
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "mean.constant must be given with the slopes");
    for (size_t k = 0; k < data->d; k++)
        if (options->mean == GP_MEAN_LINEAR && varies(data, k) &&
            isnan(given[1 + k]))
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "mean.slope[%zu] must be given with the other "
                              "coefficients",
                              k);
    return COVAR_OK;
}

covar_status gp_mean_take_given(gp_data *data, covar_context *ctx,
                                const gp_options *options)
{
    size_t d = data->d;
    double *given = NULL;
    covar_status status = COVAR_OK;
    for (size_t i = 0; status == COVAR_OK && i < options->n_settings; i++) {
        if (!gp_mean_owns_name(options->settings[i].name))
            continue;
        if (!given) {
            given = covar_heap_alloc(data->heap, 1 + d, sizeof(*given));
            if (!given)
                return covar_fail_nomem(ctx, "gp_fit");
            for (size_t k = 0; k <= d; k++)
                given[k] = (double)NAN;
        }
        status = take(given, ctx, data, options, &options->settings[i]);
    }
    if (status == COVAR_OK && given)
        status = check_whole(given, ctx, data, options);
    if (status != COVAR_OK || !given) {
        covar_heap_free(data->heap, given);
        return status;
    }
    for (size_t k = 0; k < d; k++)
        if (isnan(given[1 + k]))
            given[1 + k] = 0;
    covar_heap_free(data->heap, data->mean_given);
    data->mean_given = given;
    return COVAR_OK;
}
