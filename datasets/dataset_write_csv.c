/* Writes the columns of a data set as CSV.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_impl.h"
#include "number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns of one member, under their names. */
typedef struct block {
    const dataset_entry *entry;
    const char *const *name;
    size_t columns;
} block;

enum { MOST_BLOCKS = 3 };

static void write_name(FILE *f, const char *name)
{
    if (!strpbrk(name, ",\"\n\r;\t")) {
        fputs(name, f);
        return;
    }
    fputc('"', f);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', f);
        fputc(*name, f);
    }
    fputc('"', f);
}

static void write_value(FILE *f, double v)
{
    char text[COVAR_NUMBER_TEXT];
    if (!isnan(v))
        fputs(covar_number_print(text, v), f);
}

static void write_table(FILE *f, const block *b, size_t n_blocks, size_t rows)
{
    for (size_t k = 0, first = 1; k < n_blocks; k++)
        for (size_t j = 0; j < b[k].columns; j++, first = 0) {
            fputs(first ? "" : ",", f);
            write_name(f, b[k].name[j]);
        }
    fputc('\n', f);
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0, first = 1; k < n_blocks; k++) {
            la_view x = dataset_entry_view(b[k].entry);
            for (size_t j = 0; j < b[k].columns; j++, first = 0) {
                fputs(first ? "" : ",", f);
                write_value(f,
                            dataset_get(x, (ptrdiff_t)(i * b[k].columns + j)));
            }
        }
        fputc('\n', f);
    }
}

/* X, y, Y: those that are there and have columns. */
static size_t collect(block b[MOST_BLOCKS], const dataset *d,
                      const char *const *y_name)
{
    const dataset_entry *x = dataset_find(d, "X"), *y = dataset_find(d, "y");
    const dataset_entry *outputs = dataset_find(d, "Y");
    size_t n = 0;
    if (x && x->rank <= 2 && d->x_names.n > 0)
        b[n++] = (block){x, d->x_names.name, d->x_names.n};
    if (y && y->rank == 1)
        b[n++] = (block){y, y_name, 1};
    if (outputs && outputs->rank <= 2 && d->y_names.n > 0)
        b[n++] = (block){outputs, d->y_names.name, d->y_names.n};
    return n;
}

static bool is_taken(const dataset_names *names, const char *name)
{
    for (size_t j = 0; j < names->n; j++)
        if (strcmp(names->name[j], name) == 0)
            return true;
    return false;
}

covar_status dataset_save_csv(covar_context *ctx, const dataset *d,
                              const char *path)
{
    block b[MOST_BLOCKS];
    if (!ctx || !d || !path)
        return dataset_refuse(ctx, "dataset_save_csv",
                              !ctx ? "ctx"
                              : d  ? "path"
                                   : "d");
    const char *y_name = dataset_attribute(d, "target");
    if (!y_name || !y_name[0] || is_taken(&d->x_names, y_name) ||
        is_taken(&d->y_names, y_name))
        y_name = "y";
    size_t n = collect(b, d, &y_name);
    if (n == 0)
        return covar_fail(ctx, COVAR_ERR_DATA,
                          "%s: nothing to write: no members X, y, Y", path);
    for (size_t k = 1; k < n; k++)
        if (b[k].entry->dim[0] != b[0].entry->dim[0])
            return covar_fail(ctx, COVAR_ERR_SHAPE,
                              "%s: `%s` has %zu rows, but `%s` has %zu", path,
                              b[0].entry->name, b[0].entry->dim[0],
                              b[k].entry->name, b[k].entry->dim[0]);
    char *part = NULL;
    covar_status status = COVAR_OK;
    COVAR_TRY(dataset_file_begin(&part, ctx, d->heap, path));
    FILE *f = fopen(part, "wb");
    bool good = f != NULL;
    if (good) {
        write_table(f, b, n, b[0].entry->dim[0]);
        good = !ferror(f);
        good = fclose(f) == 0 && good;
    }
    if (!good)
        status = covar_fail(ctx, COVAR_ERR_IO, "%s: cannot be written: %s",
                            path, strerror(errno));
    return dataset_file_end(ctx, d->heap, part, path, status);
}
