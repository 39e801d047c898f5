/* Inputs and one target out of a data set, and rows out of those.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Everything that a selection may own. */
typedef struct owned {
    covar_heap *heap;
    double *x, *y;
    const char **name;
    bool *leaves; /* columns of X that do not go into the inputs */
} owned;

void dataset_xy_clear(dataset_xy *xy)
{
    if (!xy)
        return;
    owned *o = xy->owned;
    if (o) {
        covar_heap *heap = o->heap;
        covar_heap_free(heap, o->x);
        covar_heap_free(heap, o->y);
        covar_heap_free(heap, o->name);
        covar_heap_free(heap, o->leaves);
        covar_heap_free(heap, o);
        covar_heap_release(heap);
    }
    *xy = (dataset_xy){.X = la_view_none(), .y = la_view_none()};
}

static covar_status own(owned **out, dataset_xy *xy, covar_context *ctx)
{
    covar_heap *heap = covar_context_heap(ctx);
    dataset_xy_clear(xy);
    owned *o = covar_heap_calloc(heap, 1, sizeof(*o));
    if (!o)
        return covar_fail_nomem(ctx, "dataset_select");
    o->heap = covar_heap_retain(heap);
    xy->owned = o;
    *out = o;
    return COVAR_OK;
}

/* "a, b, c" into buf: what could have been asked for. */
static const char *list_names(char *buf, size_t size, const dataset *d)
{
    size_t used = 0;
    const dataset_names *names[] = {&d->x_names, &d->y_names};
    buf[0] = '\0';
    for (size_t k = 0; k < 2; k++)
        for (size_t j = 0; j < names[k]->n && used < size; j++)
            used += (size_t)snprintf(buf + used, size - used, "%s%s",
                                     used > 0 ? ", " : "", names[k]->name[j]);
    for (size_t i = 0; i < d->n_entry && used < size; i++)
        if (d->entry[i].rank == 1 && !strchr(d->entry[i].name, '/'))
            used += (size_t)snprintf(buf + used, size - used, "%s%s",
                                     used > 0 ? ", " : "", d->entry[i].name);
    return buf;
}

static covar_status find_or_fail(dataset_place *out, covar_context *ctx,
                                 const dataset *d, const char *name)
{
    char list[400];
    *out = dataset_find_column(d, name);
    if (out->entry)
        return COVAR_OK;
    return covar_fail(ctx, COVAR_ERR_NAME, "%s has no column `%s`; it has %s",
                      d->path, name, list_names(list, sizeof(list), d));
}

/* NULL means y, else what attribute `target` names. */
static covar_status find_target(dataset_place *out, covar_context *ctx,
                                const dataset *d, const char *target)
{
    *out = (dataset_place){0};
    if (!target) {
        const char *named = dataset_attribute(d, "target");
        target = dataset_find(d, "y") ? "y" : named;
        if (!target || !dataset_find_column(d, target).entry)
            return covar_fail(ctx, COVAR_ERR_DATA,
                              "%s has no target: no member y, and no column "
                              "that attribute `target` names",
                              d->path);
    }
    if (target[0] == '\0')
        return COVAR_OK;
    COVAR_TRY(find_or_fail(out, ctx, d, target));
    const char *named = dataset_attribute(d, "target");
    if (strcmp(out->name, "y") == 0 && named && named[0])
        out->name = named;
    return COVAR_OK;
}

/* Columns of X that stay: names in o->name, *left of them. */
static covar_status thin_out(size_t *left, owned *o, covar_context *ctx,
                             const dataset *d, const dataset_place *target,
                             const char *const *without)
{
    size_t columns = d->x_names.n;
    o->leaves = covar_heap_calloc(o->heap, columns, sizeof(*o->leaves));
    o->name = covar_heap_calloc(o->heap, columns, sizeof(*o->name));
    if (!o->leaves || !o->name)
        return covar_fail_nomem(ctx, "dataset_select");
    if (target->of_x)
        o->leaves[target->column] = true;
    for (size_t i = 0; without && without[i]; i++) {
        dataset_place p;
        COVAR_TRY(find_or_fail(&p, ctx, d, without[i]));
        if (p.of_x)
            o->leaves[p.column] = true;
    }
    *left = 0;
    for (size_t j = 0; j < columns; j++)
        if (!o->leaves[j])
            o->name[(*left)++] = d->x_names.name[j];
    return COVAR_OK;
}

static covar_status take_inputs(dataset_xy *out, owned *o, covar_context *ctx,
                                const dataset_entry *e, size_t left)
{
    la_view x = dataset_entry_view(e);
    size_t columns = e->rank == 2 ? e->dim[1] : 1;
    out->n = e->dim[0];
    out->d = left;
    out->x_name = o->name;
    if (e->dtype == LA_F64 && left == columns) {
        out->X = la_mat_f64(e->data, out->n, left);
        return COVAR_OK;
    }
    o->x = covar_heap_alloc(o->heap, out->n * left, sizeof(*o->x));
    if (!o->x)
        return covar_fail_nomem(ctx, "dataset_select");
    double *to = o->x;
    for (size_t i = 0; i < out->n; i++)
        for (size_t j = 0; j < columns; j++)
            if (!o->leaves[j])
                *to++ = dataset_get(x, (ptrdiff_t)(i * columns + j));
    out->X = la_mat_f64(o->x, out->n, left);
    return COVAR_OK;
}

static covar_status take_target(dataset_xy *out, owned *o, covar_context *ctx,
                                const dataset *d, const dataset_place *p)
{
    const dataset_entry *e = p->entry;
    size_t columns = e->rank == 2 ? e->dim[1] : 1;
    if (e->dim[0] != out->n)
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "%s: X has %zu rows, but target `%s` has %zu",
                          d->path, out->n, p->name, e->dim[0]);
    out->y_name = p->name;
    if (e->dtype == LA_F64 && columns == 1) {
        out->y = la_vec_f64(e->data, out->n);
        return COVAR_OK;
    }
    o->y = covar_heap_alloc(o->heap, out->n, sizeof(*o->y));
    if (!o->y)
        return covar_fail_nomem(ctx, "dataset_select");
    la_view all = dataset_entry_view(e);
    for (size_t i = 0; i < out->n; i++)
        o->y[i] = dataset_get(all, (ptrdiff_t)(i * columns + p->column));
    out->y = la_vec_f64(o->y, out->n);
    return COVAR_OK;
}

static covar_status select_into(dataset_xy *out, covar_context *ctx,
                                const dataset *d, const char *target,
                                const char *const *without)
{
    char list[400];
    owned *o = NULL;
    size_t left = 0;
    dataset_place p;
    const dataset_entry *e = dataset_find(d, "X");
    COVAR_TRY(own(&o, out, ctx));
    if (!e)
        return covar_fail(ctx, COVAR_ERR_DATA,
                          "%s has no inputs, member X; it has %s", d->path,
                          list_names(list, sizeof(list), d));
    if (e->rank != 1 && e->rank != 2)
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "%s: X has %d dims, not rows and columns", d->path,
                          e->rank);
    COVAR_TRY(find_target(&p, ctx, d, target));
    COVAR_TRY(thin_out(&left, o, ctx, d, &p, without));
    COVAR_TRY(take_inputs(out, o, ctx, e, left));
    return p.entry ? take_target(out, o, ctx, d, &p) : COVAR_OK;
}

covar_status dataset_select(dataset_xy *out, covar_context *ctx,
                            const dataset *d, const char *target,
                            const char *const *without)
{
    if (!out || !ctx || !d)
        return dataset_refuse(ctx, "dataset_select",
                              !ctx  ? "ctx"
                              : out ? "d"
                                    : "out");
    covar_status status = select_into(out, ctx, d, target, without);
    if (status != COVAR_OK)
        dataset_xy_clear(out);
    return status;
}

static covar_status check_rows(covar_context *ctx, la_view rows, size_t n)
{
    if (!la_view_is_valid(rows))
        return dataset_refuse(ctx, "dataset_xy_rows", "rows.data");
    if (rows.rank != 1)
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "dataset_xy_rows: rows have rank %d, not 1",
                          rows.rank);
    if (rows.dtype != LA_I32)
        return covar_fail(ctx, COVAR_ERR_DTYPE,
                          "dataset_xy_rows: rows are %s, not i32",
                          la_dtype_name(rows.dtype));
    for (size_t i = 0; i < rows.dim[0]; i++) {
        double r = dataset_get(rows, (ptrdiff_t)i * rows.stride[0]);
        if (r < 0.0 || r >= (double)n)
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "dataset_xy_rows: rows[%zu] = %.0f, but there "
                              "are %zu",
                              i, r, n);
    }
    return COVAR_OK;
}

covar_status dataset_xy_rows(dataset_xy *out, covar_context *ctx,
                             const dataset_xy *xy, la_view rows)
{
    owned *o = NULL;
    if (!out || !ctx || !xy)
        return dataset_refuse(ctx, "dataset_xy_rows",
                              !ctx  ? "ctx"
                              : out ? "xy"
                                    : "out");
    COVAR_TRY(check_rows(ctx, rows, xy->n));
    COVAR_TRY(own(&o, out, ctx));
    size_t m = rows.dim[0], d = xy->d;
    bool with_y = !la_view_is_none(xy->y);
    o->x = covar_heap_alloc(o->heap, m * d, sizeof(*o->x));
    o->y = covar_heap_alloc(o->heap, with_y ? m : 0, sizeof(*o->y));
    if (!o->x || !o->y) {
        dataset_xy_clear(out);
        return covar_fail_nomem(ctx, "dataset_xy_rows");
    }
    const double *x = xy->X.data, *y = xy->y.data;
    for (size_t i = 0; i < m; i++) {
        double place = dataset_get(rows, (ptrdiff_t)i * rows.stride[0]);
        size_t r = (size_t)place;
        if (d > 0)
            memcpy(o->x + i * d, x + r * d, d * sizeof(*x));
        if (with_y)
            o->y[i] = y[r];
    }
    out->X = la_mat_f64(o->x, m, d);
    out->y = with_y ? la_vec_f64(o->y, m) : la_view_none();
    out->n = m;
    out->d = d;
    out->x_name = xy->x_name;
    out->y_name = xy->y_name;
    return COVAR_OK;
}

static const char *kind(double v)
{
    return isnan(v) ? "NaN" : v > 0 ? "+infinity" : "-infinity";
}

covar_status dataset_check_inputs(covar_context *ctx, const dataset_xy *xy)
{
    if (!xy || (!xy->X.data && xy->n > 0 && xy->d > 0))
        return dataset_refuse(ctx, "dataset_check_inputs", xy ? "X" : "xy");
    const double *x = xy->X.data, *y = xy->y.data;
    for (size_t i = 0; i < xy->n; i++)
        for (size_t j = 0; j < xy->d; j++)
            if (!isfinite(x[i * xy->d + j]))
                return covar_fail(ctx, COVAR_ERR_DATA,
                                  "inputs: row %zu, column %zu (`%s`) is %s "
                                  "(rows and columns count from 0)",
                                  i, j, xy->x_name ? xy->x_name[j] : "",
                                  kind(x[i * xy->d + j]));
    for (size_t i = 0; y && i < xy->n; i++)
        if (isinf(y[i]))
            return covar_fail(ctx, COVAR_ERR_DATA,
                              "target `%s`: row %zu (from 0) is %s",
                              xy->y_name ? xy->y_name : "", i, kind(y[i]));
    return COVAR_OK;
}
