/* Cuts comma-separated text into records and cells (RFC 4180, and what else
 * is met: other separators, CR, blanks around cells, comments on top).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_csv.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Steps over one line end, if there is one. */
static void skip_end(csv_scan *s)
{
    if (s->at < s->end && *s->at == '\r')
        s->at += s->at + 1 < s->end && s->at[1] == '\n' ? 2 : 1;
    else if (s->at < s->end && *s->at == '\n')
        s->at++;
    else
        return;
    s->line++;
}

/* The candidate met most often outside quotes in the first record. */
static char find_separator(const csv_scan *s)
{
    static const char candidate[] = {',', ';', '\t'};
    size_t count[sizeof(candidate)] = {0}, best = 0;
    bool quoted = false;
    for (const char *c = s->at; c < s->end && (quoted || !is_end(*c)); c++) {
        quoted ^= *c == '"';
        for (size_t i = 0; !quoted && i < sizeof(candidate); i++)
            count[i] += *c == candidate[i];
    }
    for (size_t i = 1; i < sizeof(candidate); i++)
        if (count[i] > count[best])
            best = i;
    return candidate[best];
}

covar_status csv_begin(csv_scan *s, covar_context *ctx, const dataset *d,
                       char *content, size_t size, char separator)
{
    *s = (csv_scan){.ctx = ctx,
                    .d = d,
                    .at = content,
                    .end = content + size,
                    .line = 1,
                    .separator = separator};
    if (size >= 2 && (memcmp(content, "\xff\xfe", 2) == 0 ||
                      memcmp(content, "\xfe\xff", 2) == 0))
        return covar_fail(ctx, COVAR_ERR_FORMAT,
                          "%s: text in UTF-16; convert it to UTF-8", d->path);
    if (memchr(content, 0, size))
        return covar_fail(ctx, COVAR_ERR_FORMAT,
                          "%s: neither HDF5 nor IDX nor text", d->path);
    if (size >= 3 && memcmp(content, "\xef\xbb\xbf", 3) == 0)
        s->at += 3;
    if (separator == '"' || is_end(separator))
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "dataset_load_csv: not a separator: character %d",
                          separator);
    while (s->at < s->end && (*s->at == '#' || is_end(*s->at))) {
        while (s->at < s->end && !is_end(*s->at))
            s->at++;
        skip_end(s);
    }
    if (!separator)
        s->separator = find_separator(s);
    return COVAR_OK;
}

/* A quoted cell, from its first quote: unquoted in place, *end set behind the
 * text, s->at behind the last quote. */
static covar_status unquote(char **end, csv_scan *s)
{
    char *to = s->at, *from = s->at + 1;
    size_t line = s->line;
    for (; from < s->end; from++) {
        if (*from == '"') {
            if (from + 1 >= s->end || from[1] != '"')
                break;
            from++;
        }
        s->line += *from == '\n';
        *to++ = *from;
    }
    if (from >= s->end)
        return covar_fail(s->ctx, COVAR_ERR_PARSE,
                          "%s: line %zu: the quote in cell %zu is never closed",
                          s->d->path, line, s->n_cells + 1);
    *end = to;
    s->at = from + 1;
    while (s->at < s->end && is_blank(*s->at) && *s->at != s->separator)
        s->at++;
    if (s->at < s->end && *s->at != s->separator && !is_end(*s->at))
        return covar_fail(s->ctx, COVAR_ERR_PARSE,
                          "%s: line %zu: cell %zu goes on after its quote",
                          s->d->path, s->line, s->n_cells + 1);
    return COVAR_OK;
}

/* One cell; s->at is left at the separator or line end behind it, which the
 * caller must look at before it writes the 0 to *end. */
static covar_status cut_cell(char **start, char **end, csv_scan *s)
{
    while (s->at < s->end && is_blank(*s->at) && *s->at != s->separator)
        s->at++;
    *start = s->at;
    if (s->at < s->end && *s->at == '"')
        return unquote(end, s);
    while (s->at < s->end && *s->at != s->separator && !is_end(*s->at))
        s->at++;
    *end = s->at;
    while (*end > *start && is_blank((*end)[-1]))
        (*end)--;
    return COVAR_OK;
}

static covar_status push(csv_scan *s, char *cell)
{
    if (s->n_cells == s->room) {
        size_t room = s->room > 0 ? 2 * s->room : 32;
        char **grown = covar_heap_grow(s->d->heap, s->cell, s->n_cells, room,
                                       sizeof(*grown));
        if (!grown)
            return covar_fail_nomem(s->ctx, "dataset_load");
        s->cell = grown;
        s->room = room;
    }
    s->cell[s->n_cells++] = cell;
    return COVAR_OK;
}

covar_status csv_record(bool *more, csv_scan *s)
{
    *more = false;
    s->n_cells = 0;
    do { /* blank lines */
        char *c = s->at;
        while (c < s->end && is_blank(*c) && *c != s->separator)
            c++;
        if (c < s->end && !is_end(*c))
            break;
        s->at = c;
        skip_end(s);
    } while (s->at < s->end);
    if (s->at >= s->end)
        return COVAR_OK;
    s->record_line = s->line;
    for (bool last = false; !last;) {
        char *start = NULL, *end = NULL;
        COVAR_TRY(cut_cell(&start, &end, s));
        COVAR_TRY(push(s, start));
        last = s->at >= s->end || is_end(*s->at);
        if (last)
            skip_end(s);
        else
            s->at++;
        *end = '\0';
    }
    *more = true;
    return COVAR_OK;
}

void csv_end(csv_scan *s)
{
    covar_heap_free(s->d->heap, s->cell);
    s->cell = NULL;
}
