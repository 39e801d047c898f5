/* covar-gp predict: which column of a file is which input of the model.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file without a header has names too, by number: c1, c2, ... (CSV) or x1,
 * x2, ... (HDF5). In that order they say no more than positions do; but a
 * header may have such names as well, in any order. */
#include "config.h"

#include "covar-gp.h"

#include <stdlib.h>
#include <string.h>

enum { LIST = 400 };

/* k of "ck" or "xk", k from 1; 0 for any other name. */
static size_t number_in(const char *name)
{
    char *end;
    if (!name || (name[0] != 'c' && name[0] != 'x') || name[1] < '1' ||
        name[1] > '9')
        return 0;
    unsigned long k = strtoul(name + 1, &end, 10);
    return *end ? 0 : (size_t)k;
}

static bool file_has_names(const dataset *d)
{
    for (size_t j = 0; j < dataset_d(d); j++)
        if (number_in(dataset_column_name(d, j)) != j + 1)
            return true;
    return false;
}

static bool model_has_names(const gp_model *m)
{
    for (size_t i = 0; gp_column_name(m, 0) && i < gp_d(m); i++)
        if (number_in(gp_column_name(m, i)) == 0)
            return true;
    return false;
}

/* Adds "`name`" to a list with commas. */
static void add_name(char list[LIST], const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, LIST - used, "%s`%s`", used > 0 ? ", " : "", name);
}

/* What a search for columns knows. */
typedef struct search {
    covar_context *ctx;
    const gp_model *m;
    const dataset *d;
    const char *path;
    bool quiet;
    size_t *column; /* of the file, by input of the model */
} search;

static size_t find_name(const dataset *d, const char *name)
{
    size_t j = 0;
    while (j < dataset_d(d) && strcmp(dataset_column_name(d, j), name) != 0)
        j++;
    return j;
}

static void say_unused(const search *s)
{
    char unused[LIST] = "";
    for (size_t j = 0; j < dataset_d(s->d); j++) {
        bool used = false;
        for (size_t i = 0; i < gp_d(s->m); i++)
            used = used || s->column[i] == j;
        if (!used)
            add_name(unused, dataset_column_name(s->d, j));
    }
    if (unused[0] && !s->quiet)
        fprintf(stderr, "%s: %s: not used: %s\n", APP, s->path, unused);
}

/* Names decide wherever they can mean something: when both sides have real
 * ones; when some are in both and the file's are real; when all are found and
 * the file has just the model's columns, or the target besides. */
static bool names_decide(const search *s)
{
    size_t found = 0, columns = dataset_d(s->d), d = gp_d(s->m);
    for (size_t i = 0; gp_column_name(s->m, 0) && i < d; i++)
        found += find_name(s->d, gp_column_name(s->m, i)) < columns;
    if (file_has_names(s->d))
        return found > 0 || model_has_names(s->m);
    return found == d && columns <= d + 1;
}

static covar_status by_name(const search *s)
{
    char missing[LIST] = "", present[LIST] = "";
    size_t n_missing = 0;
    for (size_t i = 0; i < gp_d(s->m); i++) {
        const char *name = gp_column_name(s->m, i);
        s->column[i] = find_name(s->d, name);
        if (s->column[i] < dataset_d(s->d))
            continue;
        add_name(missing, name);
        n_missing++;
    }
    for (size_t j = 0; j < dataset_d(s->d); j++)
        add_name(present, dataset_column_name(s->d, j));
    if (n_missing > 0)
        return covar_fail(s->ctx, COVAR_ERR_NAME,
                          "%s has no column%s %s, which the model takes; it "
                          "has %s",
                          s->path, n_missing > 1 ? "s" : "", missing, present);
    say_unused(s);
    return COVAR_OK;
}

/* The column that is the target in a file of the training file's layout, its
 * number of columns if there is none. A model from a file without names still
 * knows its columns' numbers: the target's is the one left out. */
static size_t target_column(const search *s)
{
    size_t columns = dataset_d(s->d), d = gp_d(s->m), i = 0;
    if (gp_column_name(s->m, 0) && !model_has_names(s->m)) {
        while (i < d && number_in(gp_column_name(s->m, i)) == i + 1)
            i++;
        return i;
    }
    const char *target = dataset_attribute(s->d, "target");
    bool apart = !la_view_is_none(dataset_member(s->d, "y"));
    return target && !apart ? find_name(s->d, target) : columns;
}

static covar_status by_position(const search *s)
{
    size_t columns = dataset_d(s->d), d = gp_d(s->m), target = columns;
    if (columns == d + 1)
        target = target_column(s);
    if (columns != d + (target < columns))
        return covar_fail(s->ctx, COVAR_ERR_SHAPE,
                          "%s has %zu columns, but the model takes %zu, and "
                          "without names in both their order is all there is: "
                          "give exactly %zu",
                          s->path, columns, d, d);
    char taken[LIST] = "";
    for (size_t i = 0; i < d; i++) {
        s->column[i] = i + (i >= target);
        if (model_has_names(s->m))
            add_name(taken, gp_column_name(s->m, i));
    }
    if (taken[0] && !s->quiet)
        fprintf(stderr, "%s: %s has no column names: taken in order as %s\n",
                APP, s->path, taken);
    say_unused(s);
    return COVAR_OK;
}

static covar_status gather(model_columns *r, const search *s,
                           const dataset_xy *all)
{
    size_t d = gp_d(s->m);
    r->x = malloc((all->n * d + 1) * sizeof(*r->x));
    r->name = malloc((d + 1) * sizeof(*r->name));
    if (!r->x || !r->name)
        return covar_fail(s->ctx, COVAR_ERR_NOMEM, "out of memory");
    const double *from = all->X.data;
    for (size_t k = 0; k < all->n * d; k++)
        r->x[k] = from[k / d * all->d + s->column[k % d]];
    for (size_t i = 0; i < d; i++)
        r->name[i] = all->x_name[s->column[i]];
    r->X = la_mat_f64(r->x, all->n, d);
    dataset_xy taken = {
        .X = r->X, .y = la_view_none(), .n = all->n, .d = d, .x_name = r->name};
    if (dataset_check_inputs(s->ctx, &taken) != COVAR_OK)
        return covar_fail_in(s->ctx, s->path);
    return COVAR_OK;
}

covar_status take_columns(model_columns *r, covar_context *ctx,
                          const gp_model *m, const dataset *d, const char *path,
                          bool quiet)
{
    search s = {.ctx = ctx, .m = m, .d = d, .path = path, .quiet = quiet};
    dataset_xy all = {.n = 0};
    *r = (model_columns){.x = NULL};
    COVAR_TRY(dataset_select(&all, ctx, d, "", NULL));
    s.column = calloc(gp_d(m) + 1, sizeof(*s.column));
    covar_status status =
        !s.column          ? covar_fail(ctx, COVAR_ERR_NOMEM, "out of memory")
        : names_decide(&s) ? by_name(&s)
                           : by_position(&s);
    if (status == COVAR_OK)
        status = gather(r, &s, &all);
    free(s.column);
    dataset_xy_clear(&all);
    return status;
}

void model_columns_clear(model_columns *r)
{
    free(r->x);
    free((void *)r->name);
    *r = (model_columns){.x = NULL};
}
