/* Sizes, blocks and the description of a data set.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_impl.h"
#include "number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 256, SHAPE_BYTES = 140 };

size_t dataset_n(const dataset *d)
{
    static const char *const rows[] = {"X", "y", "Y", "labels", "images"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const dataset_entry *e = dataset_find(d, rows[i]);
        if (e && e->rank > 0)
            return e->dim[0];
    }
    return dataset_block_count(d);
}

size_t dataset_d(const dataset *d)
{
    const dataset_entry *e = dataset_find(d, "X");
    return !e || e->rank == 0 ? 0 : e->rank == 1 ? 1 : e->dim[1];
}

/* ---- sequences and sentences ---- */

static const dataset_entry *cut_member(const dataset *d)
{
    const dataset_entry *e = dataset_find(d, "seq");
    if (!e)
        e = dataset_find(d, "text");
    return e && e->rank > 0 ? e : NULL;
}

size_t dataset_block_count(const dataset *d)
{
    const dataset_entry *o = dataset_find(d, "offsets");
    return o && cut_member(d) && o->rank == 1 && o->dim[0] > 0 ? o->dim[0] - 1
                                                               : 0;
}

la_view dataset_block(const dataset *d, size_t i)
{
    if (i >= dataset_block_count(d))
        return la_view_none();
    la_view offsets = dataset_member(d, "offsets");
    size_t start = (size_t)dataset_get(offsets, (ptrdiff_t)i);
    size_t end = (size_t)dataset_get(offsets, (ptrdiff_t)i + 1);
    return la_view_slice(dataset_entry_view(cut_member(d)), 0, start,
                         end - start);
}

covar_status dataset_block_read(la_view out, covar_context *ctx,
                                const dataset *d, size_t i)
{
    la_view x = dataset_block(d, i);
    if (!d)
        return dataset_refuse(ctx, "dataset_block_read", "d");
    if (la_view_is_none(x))
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "dataset_block_read: block %zu of %zu", i,
                          dataset_block_count(d));
    if (out.dtype != LA_F64 && out.dtype != LA_F32)
        return covar_fail(ctx, COVAR_ERR_DTYPE,
                          "dataset_block_read: out is %s, not f64 or f32",
                          la_dtype_name(out.dtype));
    if (!la_view_same_dims(out, x) || x.rank > 2) {
        char a[SHAPE_BYTES], b[SHAPE_BYTES];
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "dataset_block_read: out is %s, but block %zu %s",
                          dataset_shape_text(a, sizeof(a), out), i,
                          dataset_shape_text(b, sizeof(b), x));
    }
    if (!la_view_is_valid(out))
        return dataset_refuse(ctx, "dataset_block_read", "out.data");
    double scale = dataset_attribute_number(d, "seq_scale", 1.0);
    double offset = dataset_attribute_number(d, "seq_offset", 0.0);
    size_t columns = x.rank == 2 ? x.dim[1] : 1;
    ptrdiff_t x_step = x.rank == 2 ? x.stride[1] : 0;
    ptrdiff_t out_step = x.rank == 2 ? out.stride[1] : 0;
    for (size_t r = 0; r < x.dim[0]; r++)
        for (size_t c = 0; c < columns; c++) {
            double v = dataset_get(x, (ptrdiff_t)r * x.stride[0] +
                                          (ptrdiff_t)c * x_step);
            dataset_put(out,
                        (ptrdiff_t)r * out.stride[0] + (ptrdiff_t)c * out_step,
                        v * scale + offset);
        }
    return COVAR_OK;
}

/* ---- description ---- */

/* What one pass over an array tells. */
typedef struct digest {
    double low, high;
    size_t nan, values; /* values: neither NaN nor infinite */
    size_t infinite;
} digest;

static void digest_one(digest *g, double v)
{
    if (isnan(v)) {
        g->nan++;
    } else if (isinf(v)) {
        g->infinite++;
    } else {
        g->low = g->values == 0 || v < g->low ? v : g->low;
        g->high = g->values == 0 || v > g->high ? v : g->high;
        g->values++;
    }
}

/* Any strides: the last dim is the inner loop, the others an odometer. */
static digest digest_view(la_view x)
{
    digest g = {0};
    size_t index[LA_MAX_DIMS] = {0};
    size_t inner = x.rank > 0 ? x.dim[x.rank - 1] : 1;
    ptrdiff_t step = x.rank > 0 ? x.stride[x.rank - 1] : 0, at = 0;
    size_t count = la_view_count(x), rows = inner > 0 ? count / inner : 0;
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < inner; i++)
            digest_one(&g, dataset_get(x, at + (ptrdiff_t)i * step));
        for (int k = x.rank - 2; k >= 0; k--) {
            at += x.stride[k];
            if (++index[k] < x.dim[k])
                break;
            at -= (ptrdiff_t)index[k] * x.stride[k];
            index[k] = 0;
        }
    }
    return g;
}

size_t dataset_nan_count(la_view x)
{
    if (!la_dtype_is_real(x.dtype) || !la_view_is_valid(x))
        return 0;
    return digest_view(x).nan;
}

typedef struct printer {
    dataset_line_fn *line;
    void *data;
} printer;

static void say(printer p, const char *format, ...) COVAR_PRINTF(2, 3);

static void say(printer p, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    p.line(text, p.data);
}

static void say_member(printer p, const dataset_entry *e)
{
    char shape[SHAPE_BYTES], low[COVAR_NUMBER_TEXT], high[COVAR_NUMBER_TEXT];
    char missing[64] = "";
    la_view x = dataset_entry_view(e);
    digest g = digest_view(x);
    if (g.nan > 0 || g.infinite > 0)
        snprintf(missing, sizeof(missing), ", %zu NaN, %zu infinite", g.nan,
                 g.infinite);
    dataset_shape_text(shape, sizeof(shape), x);
    if (g.values > 0)
        say(p, "  %-16s %s %-12s %s .. %s%s", e->name, la_dtype_name(e->dtype),
            x.rank > 0 ? shape : "scalar", covar_number_print(low, g.low),
            covar_number_print(high, g.high), missing);
    else
        say(p, "  %-16s %s %-12s no values%s", e->name, la_dtype_name(e->dtype),
            x.rank > 0 ? shape : "scalar", missing);
}

static void say_names(printer p, const char *what, const dataset_names *names)
{
    char list[LINE_BYTES - 40];
    size_t used = 0;
    for (size_t i = 0; i < names->n && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                 i > 0 ? ", " : "", names->name[i]);
    if (names->n > 0)
        say(p, "columns of %s: %s%s", what, list,
            used >= sizeof(list) ? "..." : "");
}

static void say_splits(printer p, const dataset *d)
{
    size_t n = dataset_split_count(d);
    if (n == 0)
        return;
    la_view train = dataset_member(d, "splits/train_0");
    la_view test = dataset_member(d, "splits/test_0");
    if (la_view_is_none(train) || la_view_is_none(test))
        say(p, "splits: %zu folds", n);
    else
        say(p, "splits: %zu, the first with %zu training and %zu test rows", n,
            la_view_count(train), la_view_count(test));
}

static bool said_before(const char *name)
{
    static const char *const said[] = {"title", "columns", "columns_Y"};
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        if (strcmp(name, said[i]) == 0)
            return true;
    return false;
}

void dataset_describe(const dataset *d, dataset_line_fn *line, void *data)
{
    if (!d || !line)
        return;
    printer p = {.line = line, .data = data};
    const char *title = dataset_attribute(d, "title");
    const char *name = dataset_attribute(d, "name");
    say(p, "%s", title ? title : name ? name : d->path);
    say(p, "%s, n = %zu, d = %zu", d->format, dataset_n(d), dataset_d(d));
    say(p, "members:");
    for (size_t i = 0; i < d->n_entry; i++)
        if (strncmp(d->entry[i].name, "splits/", 7) != 0)
            say_member(p, &d->entry[i]);
    say_splits(p, d);
    say_names(p, "X", &d->x_names);
    say_names(p, "Y", &d->y_names);
    for (size_t i = 0; i < d->n_note; i++)
        if (!said_before(d->note[i].name))
            say(p, "%s: %s", d->note[i].name, d->note[i].text);
}
