/* A JSON writer that cannot produce invalid JSON.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <math.h>

#include "app.h"

static void quoted(FILE *f, const char *s)
{
    putc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(f, "\\u%04x", c);
        else
            putc(c, f);
    }
    putc('"', f);
}

/* Comma, new line, indentation and the key. */
static void begin(app_json *j, const char *key)
{
    if (j->depth > 0)
        fprintf(j->file, "%s\n%*s", j->first ? "" : ",", 2 * j->depth, "");
    j->first = false;
    if (key) {
        quoted(j->file, key);
        fputs(": ", j->file);
    }
}

void app_json_open(app_json *j, const char *key, char bracket)
{
    begin(j, key);
    putc(bracket, j->file);
    j->depth++;
    j->first = true;
}

void app_json_close(app_json *j, char bracket)
{
    j->depth--;
    if (!j->first)
        fprintf(j->file, "\n%*s", 2 * j->depth, "");
    putc(bracket, j->file);
    j->first = false;
    if (j->depth == 0)
        putc('\n', j->file);
}

void app_json_number(app_json *j, const char *key, double value)
{
    if (!isfinite(value)) {
        app_json_null(j, key);
        return;
    }
    begin(j, key);
    fprintf(j->file, "%.17g", value);
}

void app_json_count(app_json *j, const char *key, size_t value)
{
    begin(j, key);
    fprintf(j->file, "%zu", value);
}

void app_json_text(app_json *j, const char *key, const char *value)
{
    if (!value) {
        app_json_null(j, key);
        return;
    }
    begin(j, key);
    quoted(j->file, value);
}

void app_json_bool(app_json *j, const char *key, bool value)
{
    begin(j, key);
    fputs(value ? "true" : "false", j->file);
}

void app_json_null(app_json *j, const char *key)
{
    begin(j, key);
    fputs("null", j->file);
}
