/* covar-gp fit: the data set, its target, its known noise, its split.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Known variances of the rows `rows` (none = all), or NULL without a column. */
static covar_status noise_rows(double **out, fit_result *r, la_view rows,
                               size_t n)
{
    const char *name = r->line->noise_column;
    *out = NULL;
    if (!name || n == 0)
        return COVAR_OK;
    la_view column = dataset_column(r->data, name);
    if (la_view_is_none(column))
        return covar_fail(r->ctx, COVAR_ERR_NAME,
                          "%s: no column %s for the noise", r->line->data,
                          name);
    if (column.dim[0] != r->all.n)
        return covar_fail(r->ctx, COVAR_ERR_SHAPE,
                          "%s: column %s for the noise has %zu rows, but X has "
                          "%zu",
                          r->line->data, name, column.dim[0], r->all.n);
    *out = malloc(n * sizeof(**out));
    if (!*out)
        return covar_fail(r->ctx, COVAR_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        size_t row = la_view_is_none(rows) ? i : (size_t)la_view_get(rows, i);
        (*out)[i] = la_view_get(column, row);
        if (!((*out)[i] >= 0))
            return covar_fail(r->ctx, COVAR_ERR_DATA,
                              "%s: noise variance %g in row %zu of %s",
                              r->line->data, (*out)[i], row, name);
    }
    return COVAR_OK;
}

static covar_status make_split(dataset_split *split, fit_result *r)
{
    const fit_line *line = r->line;
    if (line->split >= 0 && dataset_split_count(r->data) == 0)
        return covar_fail(r->ctx, COVAR_ERR_DATA,
                          "--split %ld: %s has no splits; --test-fraction "
                          "tests on a random part of its rows",
                          line->split, line->data);
    if (line->split >= 0)
        return dataset_split_get(split, r->ctx, r->data, (size_t)line->split);
    uint64_t seed = line->seed > 0 ? (uint64_t)line->seed : 0;
    return dataset_split_random(split, r->ctx, r->all.n, line->test_fraction,
                                seed);
}

/* What a table may lack, said before a fit says it in other words. */
static covar_status check_table(const fit_result *r)
{
    const char *y = r->all.y_name, *noise = r->line->noise_column;
    if (noise && strcmp(noise, y) == 0)
        return covar_fail(r->ctx, COVAR_ERR_ARG,
                          "%s: column `%s` cannot be both the target and its "
                          "noise",
                          r->line->data, y);
    if (r->all.d == 0)
        return covar_fail(r->ctx, COVAR_ERR_DATA,
                          "%s: no input column is left besides the target "
                          "`%s`%s%s%s: a fit needs at least one",
                          r->line->data, y, noise ? " and the noise `" : "",
                          noise ? noise : "", noise ? "`" : "");
    if (dataset_check_inputs(r->ctx, &r->all) != COVAR_OK)
        return covar_fail_in(r->ctx, r->line->data);
    return COVAR_OK;
}

/* Squares of the targets' deviations must be numbers. */
static covar_status check_range(const fit_result *r)
{
    static const double least = 1e-140, most = 1e140;
    const double *y = r->train.y.data;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < r->train.n; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    bool none = !(low < high); /* or all equal: for gp_fit to say */
    double size = fmax(fabs(low), fabs(high)), spread = high - low;
    if (none || (spread >= least && size <= most))
        return COVAR_OK;
    return covar_fail(r->ctx, COVAR_ERR_DATA,
                      "%s: target `%s` goes from %.15g to %.15g, and squares "
                      "of such numbers %s: change its unit",
                      r->line->data, r->all.y_name, low, high,
                      size > most ? "overflow" : "vanish");
}

static covar_status load(fit_result *r)
{
    const fit_line *line = r->line;
    const char *without[] = {line->noise_column, NULL};
    la_view all = la_view_none();
    COVAR_TRY(
        load_table(&r->data, r->ctx, line->data, line->skip_text, line->quiet));
    COVAR_TRY(fail_without_text(
        r->ctx, r->data,
        dataset_select(&r->all, r->ctx, r->data, line->target, without)));
    COVAR_TRY(check_table(r));
    if (line->split < 0 && isnan(line->test_fraction)) {
        r->train = r->all;
        r->train.owned = NULL;
        return noise_rows(&r->train_noise, r, all, r->train.n);
    }
    dataset_split split = {0};
    covar_status status = make_split(&split, r);
    if (status == COVAR_OK)
        status = dataset_xy_rows(&r->train, r->ctx, &r->all, split.train);
    if (status == COVAR_OK)
        status = dataset_xy_rows(&r->test, r->ctx, &r->all, split.test);
    if (status == COVAR_OK)
        status = noise_rows(&r->train_noise, r, split.train, r->train.n);
    if (status == COVAR_OK)
        status = noise_rows(&r->test_noise, r, split.test, r->test.n);
    dataset_split_clear(&split);
    return status;
}

covar_status load_data(fit_result *r)
{
    COVAR_TRY(load(r));
    return check_range(r);
}
