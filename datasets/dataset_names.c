/* Shapes and the names of columns.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool dataset_shape_count(size_t *count, int rank, const size_t *dim,
                         size_t size)
{
    const size_t most = (size_t)PTRDIFF_MAX / (size > 0 ? size : 1);
    size_t n = 1;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (dim[i] == 0)
            empty = true;
        else if (n > most / dim[i])
            return false;
        else
            n *= dim[i];
    }
    *count = empty ? 0 : n;
    return true;
}

covar_status dataset_refuse(covar_context *ctx, const char *who,
                            const char *what)
{
    return covar_fail(ctx, COVAR_ERR_ARG, "%s: %s is NULL", who, what);
}

const char *dataset_shape_text(char *buf, size_t size, la_view x)
{
    size_t used = 0;
    buf[0] = '\0';
    if (x.rank < 0 || x.rank > LA_MAX_DIMS)
        return "of no rank";
    for (int i = 0; i < x.rank && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%zu",
                                 i > 0 ? "x" : "", x.dim[i]);
    return x.rank > 0 ? buf : "scalar";
}

/* ---- lists of names ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Cuts `text` at commas into at most n + 1 trimmed names; how many. */
static size_t cut(const char **name, char *text, size_t n)
{
    size_t found = 0;
    for (char *at = text; at && found <= n;) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        at += strspn(at, " \t");
        size_t length = strlen(at);
        while (length > 0 && strchr(" \t", at[length - 1]))
            at[--length] = '\0';
        if (length == 0)
            return 0;
        if (found < n)
            name[found] = at;
        found++;
        at = comma ? comma + 1 : NULL;
    }
    return found;
}

static bool are_distinct(const char *const *name, const char **sorted, size_t n)
{
    memcpy(sorted, name, n * sizeof(*name));
    qsort(sorted, n, sizeof(*sorted), compare_names);
    for (size_t i = 1; i < n; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return false;
    return true;
}

covar_status dataset_names_make(dataset_names *out, covar_context *ctx,
                                covar_heap *heap, const char *list, size_t n,
                                const char *prefix)
{
    enum { NUMBERED_BYTES = 32 };
    *out = (dataset_names){0};
    if (n == 0)
        return COVAR_OK;
    size_t text_bytes = list ? strlen(list) + 1 : 1;
    size_t each = 2 * sizeof(char *) + NUMBERED_BYTES;
    if (n > (size_t)PTRDIFF_MAX / 2 / each)
        return covar_fail_nomem(ctx, "names of columns");
    /* [n names | n to sort | n numbered names | the list] */
    const char **name = covar_heap_alloc(heap, n * each + text_bytes, 1);
    if (!name)
        return covar_fail_nomem(ctx, "names of columns");
    char *numbered = (char *)(name + 2 * n);
    char *text = numbered + n * NUMBERED_BYTES;
    memcpy(text, list ? list : "", text_bytes);
    if (cut(name, text, n) != n || !are_distinct(name, name + n, n)) {
        for (size_t i = 0; i < n; i++) {
            char *at = numbered + i * NUMBERED_BYTES;
            snprintf(at, NUMBERED_BYTES, "%.4s%zu", prefix, i + 1);
            name[i] = at;
        }
    }
    *out = (dataset_names){.name = name, .n = n};
    return COVAR_OK;
}

static size_t columns_of(const dataset *d, const char *member)
{
    const dataset_entry *e = dataset_find(d, member);
    if (!e || e->rank < 1)
        return 0;
    return e->rank == 1 ? 1 : e->dim[1];
}

/* Do the offsets ascend from 0 or more to at most the rows of what they cut? */
static covar_status check_offsets(covar_context *ctx, const dataset *d)
{
    const dataset_entry *o = dataset_find(d, "offsets");
    const dataset_entry *cut_up = dataset_find(d, "seq");
    if (!cut_up)
        cut_up = dataset_find(d, "text");
    if (!o || !cut_up || o->rank != 1 || cut_up->rank < 1)
        return COVAR_OK;
    la_view offsets = dataset_entry_view(o);
    double last = 0.0, rows = (double)cut_up->dim[0];
    for (size_t i = 0; i < o->dim[0]; i++) {
        double here = dataset_get(offsets, (ptrdiff_t)i);
        if (!(here >= last && here <= rows))
            return covar_fail(ctx, COVAR_ERR_FORMAT,
                              "%s: offsets[%zu] = %.17g is not within %.17g .. "
                              "%.17g (rows of `%s`)",
                              d->path, i, here, last, rows, cut_up->name);
        last = here;
    }
    return COVAR_OK;
}

covar_status dataset_finish(covar_context *ctx, dataset *d)
{
    dataset_names x = {0}, y = {0};
    COVAR_TRY(check_offsets(ctx, d));
    COVAR_TRY(dataset_names_make(&x, ctx, d->heap,
                                 dataset_attribute(d, "columns"),
                                 columns_of(d, "X"), "x"));
    covar_status status =
        dataset_names_make(&y, ctx, d->heap, dataset_attribute(d, "columns_Y"),
                           columns_of(d, "Y"), "y");
    if (status != COVAR_OK) {
        covar_heap_free(d->heap, x.name);
        return status;
    }
    covar_heap_free(d->heap, d->x_names.name);
    covar_heap_free(d->heap, d->y_names.name);
    d->x_names = x;
    d->y_names = y;
    return COVAR_OK;
}

/* ---- looking up ---- */

const char *dataset_column_name(const dataset *d, size_t j)
{
    return d && j < d->x_names.n ? d->x_names.name[j] : NULL;
}

const char *dataset_output_name(const dataset *d, size_t j)
{
    return d && j < d->y_names.n ? d->y_names.name[j] : NULL;
}

static dataset_place place_in(const dataset_entry *e, const dataset_names *in,
                              const char *name)
{
    for (size_t j = 0; e && j < in->n; j++)
        if (strcmp(in->name[j], name) == 0)
            return (dataset_place){
                .entry = e, .column = j, .name = in->name[j]};
    return (dataset_place){0};
}

static bool is_vector(const dataset_entry *e)
{
    return e && (e->rank == 1 || (e->rank == 2 && e->dim[1] == 1));
}

dataset_place dataset_find_column(const dataset *d, const char *name)
{
    if (!d || !name)
        return (dataset_place){0};
    const dataset_entry *y = dataset_find(d, "y");
    const char *target = dataset_attribute(d, "target");
    bool named = target && strcmp(target, name) == 0;
    if (is_vector(y) && (named || strcmp(name, "y") == 0))
        return (dataset_place){.entry = y, .name = named ? target : y->name};
    dataset_place p = place_in(dataset_find(d, "Y"), &d->y_names, name);
    if (p.entry)
        return p;
    p = place_in(dataset_find(d, "X"), &d->x_names, name);
    p.of_x = p.entry != NULL;
    if (p.entry)
        return p;
    const dataset_entry *e = dataset_find(d, name);
    if (is_vector(e))
        return (dataset_place){.entry = e, .name = e->name};
    return (dataset_place){0};
}

la_view dataset_column(const dataset *d, const char *name)
{
    dataset_place p = dataset_find_column(d, name);
    if (!p.entry)
        return la_view_none();
    const char *start = p.entry->data;
    size_t columns = p.entry->rank == 2 ? p.entry->dim[1] : 1;
    ptrdiff_t stride = (ptrdiff_t)columns;
    return la_view_strided(start + p.column * la_dtype_size(p.entry->dtype),
                           p.entry->dtype, 1, p.entry->dim, &stride);
}
