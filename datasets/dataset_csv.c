/* Reads comma-separated text into one table of doubles.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_csv.h"
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 40 };

/* Is `text` this word, which is in lower case? Not by tolower: the locale is
 * not ours. */
static bool is_word(const char *text, const char *word)
{
    for (; *text; text++, word++) {
        char lower = *text;
        if (lower >= 'A' && lower <= 'Z')
            lower = (char)(lower - 'A' + 'a');
        if (lower != *word)
            return false;
    }
    return *word == '\0';
}

bool dataset_number_parse(double *out, const char *text)
{
    static const char *const missing[] = {"", "na", "n/a", "nan", "null", "?"};
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
        if (is_word(text, missing[i])) {
            *out = (double)NAN;
            return true;
        }
    const char *word = text + (text[0] == '+' || text[0] == '-');
    if (is_word(word, "inf") || is_word(word, "infinity")) {
        *out = text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    size_t length = covar_number_read(out, text);
    return length > 0 && text[length] == '\0' && isfinite(*out);
}

/* The table while it grows; text columns are marked when they may be left
 * out. */
typedef struct table {
    covar_context *ctx;
    dataset *d;
    csv_scan scan;
    bool skip_text;
    double *cell; /* rows x columns */
    size_t rows, columns, room;
    char **name; /* header cells, pointing into the content; NULL = none */
    bool *is_text;
} table;

static covar_status start(table *t, char *const *first, size_t columns)
{
    t->columns = columns;
    t->name = covar_heap_calloc(t->d->heap, columns, sizeof(*t->name));
    t->is_text = covar_heap_calloc(t->d->heap, columns, sizeof(*t->is_text));
    if (!t->name || !t->is_text)
        return covar_fail_nomem(t->ctx, "dataset_load");
    for (size_t j = 0; first && j < columns; j++) {
        t->name[j] = first[j];
        for (char *c = first[j]; *c; c++) /* commas separate names */
            if (*c == ',' || *c == '\n' || *c == '\r')
                *c = *c == ',' ? ';' : ' ';
    }
    return COVAR_OK;
}

static covar_status grow(table *t)
{
    if (t->rows < t->room)
        return COVAR_OK;
    size_t room = t->room > 0 ? 2 * t->room : 64;
    if (t->columns > (size_t)PTRDIFF_MAX / sizeof(double) / room)
        return covar_fail_nomem(t->ctx, "dataset_load");
    double *cell = covar_heap_grow(t->d->heap, t->cell, t->rows * t->columns,
                                   room * t->columns, sizeof(*cell));
    if (!cell)
        return covar_fail_nomem(t->ctx, "dataset_load");
    t->cell = cell;
    t->room = room;
    return COVAR_OK;
}

static covar_status no_number(const table *t, size_t j, const char *text)
{
    bool comma = strspn(text, "+-0123456789,") == strlen(text);
    const char *name = t->name[j];
    return covar_fail(t->ctx, COVAR_ERR_PARSE,
                      "%s: line %zu, column %zu%s%.*s%s: `%.*s%s` is not a "
                      "number%s",
                      t->d->path, t->scan.record_line, j + 1, name ? " (`" : "",
                      SHOWN_BYTES, name ? name : "", name ? "`)" : "",
                      SHOWN_BYTES, text,
                      strlen(text) > SHOWN_BYTES ? "..." : "",
                      comma ? " (decimals take a point)" : "");
}

static covar_status add_record(table *t, char *const *cell, size_t n)
{
    if (n != t->columns)
        return covar_fail(t->ctx, COVAR_ERR_PARSE,
                          "%s: line %zu has %zu cells, but the first record "
                          "has %zu",
                          t->d->path, t->scan.record_line, n, t->columns);
    COVAR_TRY(grow(t));
    double *row = t->cell + t->rows * t->columns;
    for (size_t j = 0; j < n; j++) {
        if (dataset_number_parse(row + j, cell[j]))
            continue;
        if (!t->skip_text)
            return no_number(t, j, cell[j]);
        t->is_text[j] = true;
        row[j] = (double)NAN;
    }
    t->rows++;
    return COVAR_OK;
}

static bool is_header(char *const *cell, size_t n, dataset_csv_header wanted)
{
    double value;
    if (wanted != DATASET_CSV_DETECT)
        return wanted == DATASET_CSV_HEADER;
    for (size_t j = 0; j < n; j++)
        if (!dataset_number_parse(&value, cell[j]))
            return true;
    return false;
}

static covar_status read_records(table *t, dataset_csv_header header)
{
    bool first = true, more = false;
    for (;;) {
        COVAR_TRY(csv_record(&more, &t->scan));
        if (!more)
            break;
        char *const *cell = t->scan.cell;
        size_t n = t->scan.n_cells;
        bool names = first && is_header(cell, n, header);
        if (first)
            COVAR_TRY(start(t, names ? cell : NULL, n));
        if (!names)
            COVAR_TRY(add_record(t, cell, n));
        first = false;
    }
    if (t->rows == 0)
        return covar_fail(t->ctx, COVAR_ERR_DATA, "%s: no rows of numbers",
                          t->d->path);
    return COVAR_OK;
}

/* Moves the columns of numbers together; returns how many there are. */
static size_t drop_text(table *t)
{
    size_t kept = 0, to = 0;
    for (size_t j = 0; j < t->columns; j++)
        kept += !t->is_text[j];
    if (kept == t->columns)
        return kept;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->columns; j++)
            if (!t->is_text[j])
                t->cell[to++] = t->cell[i * t->columns + j];
    return kept;
}

/* Attribute `attribute` = the names of the columns that are text or not;
 * attribute `target` = the last of those that are not. */
static covar_status set_names(table *t, const char *attribute, bool is_text)
{
    enum { NUMBERED_BYTES = 32 };
    size_t bytes = 1, used = 0;
    const char *last = NULL;
    for (size_t j = 0; j < t->columns; j++)
        bytes += (t->name[j] ? strlen(t->name[j]) : 0) + NUMBERED_BYTES;
    char *list = covar_heap_calloc(t->d->heap, bytes, 1);
    if (!list)
        return covar_fail_nomem(t->ctx, "dataset_load");
    for (size_t j = 0; j < t->columns; j++) {
        if (t->is_text[j] != is_text)
            continue;
        used += used > 0 ? (size_t)snprintf(list + used, 2, ",") : 0;
        last = list + used;
        if (t->name[j] && t->name[j][0])
            used +=
                (size_t)snprintf(list + used, bytes - used, "%s", t->name[j]);
        else
            used += (size_t)snprintf(list + used, bytes - used, "c%zu", j + 1);
    }
    covar_status status = COVAR_OK;
    if (last)
        status = dataset_set_attribute(t->ctx, t->d, attribute, list);
    if (status == COVAR_OK && last && !is_text)
        status = dataset_set_attribute(t->ctx, t->d, "target", last);
    covar_heap_free(t->d->heap, list);
    return status;
}

static covar_status check_distinct(const table *t)
{
    for (size_t j = 1; j < t->columns; j++)
        for (size_t i = 0; t->name[j] && t->name[j][0] && i < j; i++)
            if (strcmp(t->name[i], t->name[j]) == 0)
                return covar_fail(t->ctx, COVAR_ERR_NAME,
                                  "%s: columns %zu and %zu are both named "
                                  "`%.*s`",
                                  t->d->path, i + 1, j + 1, SHOWN_BYTES,
                                  t->name[j]);
    return COVAR_OK;
}

/* The table becomes member X, in a block of its own size. */
static covar_status finish(table *t)
{
    COVAR_TRY(check_distinct(t));
    size_t kept = drop_text(t);
    size_t dim[2] = {t->rows, kept}, count = t->rows * kept;
    if (kept == 0)
        return covar_fail(t->ctx, COVAR_ERR_DATA, "%s: no column of numbers",
                          t->d->path);
    COVAR_TRY(set_names(t, "columns", false));
    COVAR_TRY(set_names(t, "skipped_columns", true));
    double *cell =
        covar_heap_grow(t->d->heap, t->cell, count, count, sizeof(*cell));
    if (!cell)
        return covar_fail_nomem(t->ctx, "dataset_load");
    t->cell = NULL;
    return dataset_adopt(t->ctx, t->d, "X", LA_F64, 2, dim, cell);
}

covar_status dataset_read_csv(covar_context *ctx, dataset *d, char *content,
                              size_t size, const dataset_csv_options *options)
{
    table t = {.ctx = ctx, .d = d, .skip_text = options->skip_text};
    d->format = "CSV";
    covar_status status =
        csv_begin(&t.scan, ctx, d, content, size, options->separator);
    if (status == COVAR_OK)
        status = read_records(&t, options->header);
    if (status == COVAR_OK)
        status = finish(&t);
    covar_heap_free(d->heap, t.cell);
    covar_heap_free(d->heap, t.name);
    covar_heap_free(d->heap, t.is_text);
    csv_end(&t.scan);
    return status;
}
