/* A small JSON reader for golden values: recursive descent into a tree.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Strings keep their escapes except \" and \\ (golden files hold plain
 * ASCII). null, NaN and Infinity read as NaN. */
#include "config.h"

#include "golden_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_util.h"

enum kind { NUMBER, TEXT, LIST, OBJECT };

struct golden {
    enum kind kind;
    double number;
    char *text;   /* of a TEXT */
    char *name;   /* as a member of an object */
    golden *item; /* first member, then along `next` */
    golden *next;
};

typedef struct reader {
    const char *name; /* of the file */
    const char *text;
    const char *at;
    bool failed;
} reader;

static void complain(reader *r, const char *what)
{
    if (r->failed)
        return;
    r->failed = true;
    int line = 1;
    for (const char *s = r->text; s < r->at; s++)
        line += *s == '\n';
    test_check(false, __FILE__, __LINE__, "%s:%d: expected %s before \"%.20s\"",
               r->name, line, what, r->at);
}

static void skip_blanks(reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static char *read_string(reader *r)
{
    if (!take(r, '"')) {
        complain(r, "a string");
        return NULL;
    }
    size_t n = 0;
    while (r->at[n] && r->at[n] != '"')
        n += r->at[n] == '\\' && r->at[n + 1] ? 2 : 1;
    char *s = malloc(n + 1), *to = s;
    for (size_t i = 0; s && i < n; i++) {
        i += r->at[i] == '\\' && (r->at[i + 1] == '"' || r->at[i + 1] == '\\');
        *to++ = r->at[i];
    }
    if (to)
        *to = '\0';
    r->at += n;
    if (!take(r, '"'))
        complain(r, "the end of a string");
    return s;
}

static void read_word(reader *r, golden *v)
{
    static const char *const words[] = {"null", "NaN", "Infinity", "-Infinity"};
    v->kind = NUMBER;
    v->number = NAN;
    for (size_t i = 0; i < NELEM(words); i++)
        if (strncmp(r->at, words[i], strlen(words[i])) == 0) {
            r->at += strlen(words[i]);
            return;
        }
    if (strncmp(r->at, "true", 4) == 0 || strncmp(r->at, "false", 5) == 0) {
        v->number = *r->at == 't';
        r->at += *r->at == 't' ? 4 : 5;
        return;
    }
    char *end;
    v->number = strtod(r->at, &end);
    if (end == r->at)
        complain(r, "a value");
    r->at = end;
}

static golden *read_value(reader *r);

static void read_members(reader *r, golden *v, char end)
{
    golden **last = &v->item;
    if (take(r, end))
        return;
    do {
        char *name = NULL;
        if (v->kind == OBJECT) {
            name = read_string(r);
            if (!take(r, ':'))
                complain(r, "':'");
        }
        *last = read_value(r);
        if (!*last) {
            free(name);
            return;
        }
        (*last)->name = name;
        last = &(*last)->next;
    } while (!r->failed && take(r, ','));
    if (!take(r, end))
        complain(r, end == ']' ? "',' or ']'" : "',' or '}'");
}

static golden *read_value(reader *r)
{
    golden *v = calloc(1, sizeof(*v));
    if (!v) {
        complain(r, "memory");
        return NULL;
    }
    skip_blanks(r);
    if (*r->at == '"') {
        v->kind = TEXT;
        v->text = read_string(r);
    } else if (take(r, '[')) {
        v->kind = LIST;
        read_members(r, v, ']');
    } else if (take(r, '{')) {
        v->kind = OBJECT;
        read_members(r, v, '}');
    } else {
        read_word(r, v);
    }
    return v;
}

void golden_close(golden *file)
{
    while (file) {
        golden *next = file->next;
        golden_close(file->item);
        free(file->text);
        free(file->name);
        free(file);
        file = next;
    }
}

golden *golden_parse(const char *text, const char *name)
{
    reader r = {.name = name, .text = text, .at = text};
    golden *file = read_value(&r);
    skip_blanks(&r);
    if (*r.at)
        complain(&r, "the end");
    if (r.failed) {
        golden_close(file);
        return NULL;
    }
    return file;
}

golden *golden_open(const char *name)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/tests/golden/%s", TEST_SRCDIR, name);
    FILE *f = fopen(path, "rb");
    long size = -1;
    if (f && fseek(f, 0, SEEK_END) == 0)
        size = ftell(f);
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    golden *file = NULL;
    if (text && fseek(f, 0, SEEK_SET) == 0 &&
        fread(text, 1, (size_t)size, f) == (size_t)size) {
        text[size] = '\0';
        file = golden_parse(text, name);
    } else {
        test_check(false, __FILE__, __LINE__, "%s cannot be read", path);
    }
    free(text);
    if (f)
        fclose(f);
    return file;
}

/* The member that the first part of the path names; *path moves past it. */
static const golden *step(const golden *from, const char **path)
{
    size_t n = strcspn(*path, "/");
    const golden *m = from->item;
    if (from->kind == OBJECT) {
        while (m && (strlen(m->name) != n || strncmp(m->name, *path, n) != 0))
            m = m->next;
    } else {
        for (long i = strtol(*path, NULL, 10); m && i > 0; i--)
            m = m->next;
    }
    *path += n;
    *path += **path == '/';
    return m;
}

static const golden *find(const golden *from, const char *path)
{
    while (from && *path)
        from = step(from, &path);
    return from;
}

bool golden_has(const golden *from, const char *path)
{
    return find(from, path) != NULL;
}

const golden *golden_at(const golden *from, const char *path)
{
    const golden *found = find(from, path);
    if (!found)
        test_check(false, __FILE__, __LINE__, "no golden value \"%s\"", path);
    return found;
}

const golden *golden_case(const golden *file, const char *id)
{
    const golden *c = file ? golden_at(file, "cases") : NULL;
    for (c = c ? c->item : NULL; c; c = c->next)
        if (strncmp(golden_text(c, "id"), id, strlen(id)) == 0)
            return c;
    test_check(false, __FILE__, __LINE__, "no golden case \"%s\"", id);
    return NULL;
}

double golden_number(const golden *from, const char *path)
{
    const golden *v = golden_at(from, path);
    if (v && v->kind != NUMBER)
        test_check(false, __FILE__, __LINE__, "\"%s\" is no number", path);
    return v && v->kind == NUMBER ? v->number : (double)NAN;
}

const char *golden_text(const golden *from, const char *path)
{
    const golden *v = golden_at(from, path);
    return v && v->text ? v->text : "";
}

static void flatten(const golden *v, double *out, size_t max, size_t *n)
{
    if (v->kind == NUMBER) {
        if (*n < max)
            out[*n] = v->number;
        ++*n;
    }
    for (const golden *m = v->item; m; m = m->next)
        flatten(m, out, max, n);
}

size_t golden_numbers(const golden *from, const char *path, double *out,
                      size_t max)
{
    const golden *v = golden_at(from, path);
    size_t n = 0;
    if (v)
        flatten(v, out, max, &n);
    if (n > max)
        test_check(false, __FILE__, __LINE__,
                   "\"%s\" has %zu numbers, room %zu", path, n, max);
    return n < max ? n : max;
}

size_t golden_length(const golden *from, const char *path)
{
    const golden *v = golden_at(from, path);
    size_t n = 0;
    for (const golden *m = v ? v->item : NULL; m; m = m->next)
        n++;
    return n;
}

const char *golden_name(const golden *from, const char *path, size_t i)
{
    const golden *v = golden_at(from, path);
    const golden *m = v ? v->item : NULL;
    for (; m && i > 0; i--)
        m = m->next;
    return m && m->name ? m->name : "";
}
