/* Reads kernel expressions (the grammar is in gp.h) by recursive descent.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "kernel_tree.h"
#include "number.h"

enum { NAME_SIZE = 64, QUOTED = 80 };

typedef struct parser {
    covar_context *ctx;
    covar_heap *heap;
    const char *text;
    const char *at;
    int depth;
    covar_status status;
} parser;

/* Records "kernel "...": expected WHAT at column N, found "..."". A long text
 * is quoted around the place, so that the sentence comes to its end. */
static bool expected(parser *p, const char *what)
{
    if (p->status != COVAR_OK)
        return false;
    size_t at = (size_t)(p->at - p->text);
    size_t from = at > QUOTED / 2 ? at - QUOTED / 2 : 0;
    bool cut = strlen(p->text + from) > QUOTED;
    p->status = covar_fail(
        p->ctx, COVAR_ERR_PARSE,
        "kernel \"%s%.*s%s\": expected %s at column %zu, found %s%.20s%s",
        from > 0 ? "..." : "", QUOTED, p->text + from, cut ? "..." : "", what,
        at + 1, *p->at ? "\"" : "the end", p->at, *p->at ? "\"" : "");
    return false;
}

static bool out_of_memory(parser *p)
{
    if (p->status == COVAR_OK)
        p->status = covar_fail_nomem(p->ctx, "gp_kernel_parse");
    return false;
}

static void skip_blanks(parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

/* Takes `token` if it stands here. */
static bool take(parser *p, const char *token)
{
    skip_blanks(p);
    size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0)
        return false;
    p->at += n;
    return true;
}

static size_t word_length(const char *s)
{
    size_t n = 0;
    while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
           s[n] == '_' || (n > 0 && s[n] >= '0' && s[n] <= '9'))
        n++;
    return n;
}

static bool take_count(parser *p, size_t limit, const char *what, size_t *out)
{
    skip_blanks(p);
    size_t value = 0, n = 0;
    for (; p->at[n] >= '0' && p->at[n] <= '9' && value <= limit; n++)
        value = 10 * value + (size_t)(p->at[n] - '0');
    if (n == 0 || value > limit)
        return expected(p, what);
    p->at += n;
    *out = value;
    return true;
}

static bool take_number(parser *p, double *value)
{
    skip_blanks(p);
    size_t n = covar_number_read(value, p->at);
    p->at += n;
    return n > 0;
}

/* NAME with its indices, e.g. frequency[0][1], into name. */
static bool take_name(parser *p, const gp_kernel_type *type, char *name)
{
    skip_blanks(p);
    size_t n = word_length(p->at), i = 0;
    while (type->arg_names[i] && (strlen(type->arg_names[i]) != n ||
                                  strncmp(type->arg_names[i], p->at, n) != 0))
        i++;
    if (!type->arg_names[i]) {
        char what[200];
        size_t used = (size_t)snprintf(what, sizeof(what), "a parameter of %s",
                                       type->word);
        for (i = 0; type->arg_names[i] && used < sizeof(what); i++)
            used += (size_t)snprintf(what + used, sizeof(what) - used, "%s%s",
                                     i == 0 ? ": " : ", ", type->arg_names[i]);
        return expected(p, what);
    }
    for (;;) {
        size_t index;
        if (n >= NAME_SIZE - 24)
            return expected(p, "a shorter name");
        if (p->at[n] != '[') {
            memcpy(name, p->at, n);
            name[n] = '\0';
            p->at += n;
            return true;
        }
        const char *start = p->at;
        p->at += n + 1;
        if (!take_count(p, GP_MOST_COLUMN, "an index", &index))
            return false;
        if (*p->at != ']')
            return expected(p, "]");
        n = (size_t)(p->at - start) + 1;
        p->at = start;
    }
}

static bool parse_order(parser *p, gp_kernel *leaf)
{
    size_t order;
    if (!take(p, ":=") && !take(p, "="))
        return expected(p, "= or :=");
    if (!take_count(p, GP_MOST_ORDER, "a whole number from 1 to 64", &order))
        return false;
    if (order == 0)
        return expected(p, "a whole number from 1 to 64");
    leaf->order = (unsigned)order;
    return true;
}

static bool parse_arg(parser *p, gp_kernel *leaf, bool *has_order)
{
    const gp_kernel_type *type = leaf->type;
    skip_blanks(p);
    size_t n = word_length(p->at);
    if (n == 3 && strncmp(p->at, "ard", 3) == 0) {
        if (!type->takes_ard)
            return expected(p, "no ard: this kernel has no lengthscales");
        if (leaf->ard)
            return expected(p, "ard only once");
        p->at += n;
        leaf->ard = true;
        return !take(p, "=") ||
               take_count(p, GP_MOST_COLUMN, "a whole number", &leaf->ard_d);
    }
    if (type->takes_order && n == strlen(type->order_name) &&
        strncmp(p->at, type->order_name, n) == 0) {
        if (*has_order)
            return expected(p, "each parameter only once");
        *has_order = true;
        p->at += n;
        return parse_order(p, leaf);
    }
    char name[NAME_SIZE];
    double value;
    const char *start = p->at;
    if (!take_name(p, type, name))
        return false;
    if (gp_leaf_arg(leaf, name)) {
        p->at = start;
        return expected(p, "each parameter only once");
    }
    bool fixed = take(p, ":=");
    if (!fixed && !take(p, "="))
        return expected(p, "= or :=");
    if (!take_number(p, &value))
        return expected(p, "a number");
    return gp_node_set_arg(leaf, name, value, fixed) || out_of_memory(p);
}

/* '[' col {',' col} ']' where col is a number or a range a-b. */
static bool parse_columns(parser *p, gp_kernel *leaf)
{
    enum { MOST = GP_MOST_COLUMNS };
    size_t *col = covar_heap_alloc(p->heap, MOST, sizeof(*col)), n = 0;
    bool ok = col ? true : out_of_memory(p);
    do {
        size_t first = 0, last;
        ok = ok && take_count(p, GP_MOST_COLUMN, "a column number", &first);
        last = first;
        if (ok && take(p, "-"))
            ok = take_count(p, GP_MOST_COLUMN, "a column number", &last);
        for (size_t c = first; ok && c <= last; c++) {
            for (size_t i = 0; ok && i < n; i++)
                ok = col[i] != c || expected(p, "columns without repetition");
            if (ok && n == MOST)
                ok = expected(p, "at most 4096 columns");
            if (ok)
                col[n++] = c;
        }
    } while (ok && take(p, ","));
    ok = ok && (take(p, "]") || expected(p, ", or ]"));
    ok = ok && (n > 0 || expected(p, "a range that is not empty"));
    ok = ok && (gp_node_set_columns(leaf, col, n) || out_of_memory(p));
    covar_heap_free(p->heap, col);
    return ok;
}

/* The kernel whose name is like the word at `text`, or NULL. */
static const gp_kernel_type *nearest_type(const char *text)
{
    char word[32];
    const gp_kernel_type *near = NULL;
    size_t n = word_length(text), least = 1 + n / 4;
    if (n == 0 || n >= sizeof(word))
        return NULL;
    for (size_t i = 0; i <= n; i++)
        word[i] = i < n ? (char)tolower((unsigned char)text[i]) : '\0';
    for (size_t i = 0; gp_kernel_types[i]; i++) {
        const char *name = gp_kernel_types[i]->word;
        size_t distance = gp_edit_distance(word, name, strlen(name));
        if (distance <= least && distance < n) {
            near = distance < least || !near ? gp_kernel_types[i] : near;
            least = distance;
        }
    }
    return near;
}

static bool unknown_word(parser *p)
{
    char what[400];
    size_t used = (size_t)snprintf(what, sizeof(what), "a kernel (");
    for (size_t i = 0; gp_kernel_types[i] && used < sizeof(what); i++)
        used += (size_t)snprintf(what + used, sizeof(what) - used, "%s%s",
                                 i == 0 ? "" : " ", gp_kernel_types[i]->word);
    if (used < sizeof(what))
        snprintf(what + used, sizeof(what) - used, ") or (");
    const gp_kernel_type *near = nearest_type(p->at);
    if (expected(p, what) || p->status != COVAR_ERR_PARSE || !near)
        return false;
    char sentence[800];
    snprintf(sentence, sizeof(sentence), "%s", covar_error_text(p->ctx));
    p->status = covar_fail(p->ctx, COVAR_ERR_PARSE, "%s; did you mean %s?",
                           sentence, near->word);
    return false;
}

static gp_kernel *parse_leaf(parser *p)
{
    size_t n = word_length(p->at);
    const gp_kernel_type *type = gp_kernel_type_find(p->at, n);
    if (!type) {
        unknown_word(p);
        return NULL;
    }
    gp_kernel *leaf = gp_node_create(p->heap, GP_FORM_LEAF);
    if (!leaf) {
        out_of_memory(p);
        return NULL;
    }
    p->at += n;
    leaf->type = type;
    leaf->order = type->order_default;
    bool ok = true, has_order = false;
    if (take(p, "(")) {
        do
            ok = parse_arg(p, leaf, &has_order);
        while (ok && take(p, ","));
        ok = ok && (take(p, ")") || expected(p, ", or )"));
    }
    if (ok && take(p, "["))
        ok = parse_columns(p, leaf);
    if (!ok) {
        gp_kernel_free(leaf);
        return NULL;
    }
    return leaf;
}

static gp_kernel *parse_sum(parser *p);

static gp_kernel *parse_factor(parser *p)
{
    if (!take(p, "("))
        return parse_leaf(p);
    if (p->depth == GP_MOST_NESTING) {
        expected(p, "at most 32 nested parentheses");
        return NULL;
    }
    p->depth++;
    gp_kernel *sum = parse_sum(p);
    p->depth--;
    if (sum && !take(p, ")")) {
        expected(p, "+, * or )");
        gp_kernel_free(sum);
        return NULL;
    }
    return sum;
}

static gp_kernel *parse_term(parser *p)
{
    gp_kernel *term = gp_node_create(p->heap, GP_FORM_TERM);
    bool ok = term ? true : out_of_memory(p);
    if (ok && take_number(p, &term->number)) {
        if (!(term->number > 0))
            ok = expected(p, "a positive factor before this");
        ok = ok && (take(p, "*") || expected(p, "*"));
    }
    while (ok) {
        gp_kernel *factor = parse_factor(p);
        ok = factor && (gp_node_adopt(term, factor) || out_of_memory(p));
        if (!ok || !take(p, "*"))
            break;
    }
    if (!ok) {
        gp_kernel_free(term);
        return NULL;
    }
    return term;
}

static gp_kernel *parse_sum(parser *p)
{
    gp_kernel *sum = gp_node_create(p->heap, GP_FORM_SUM);
    bool ok = sum ? true : out_of_memory(p);
    while (ok) {
        gp_kernel *term = parse_term(p);
        ok = term && (gp_node_adopt(sum, term) || out_of_memory(p));
        if (!ok || !take(p, "+"))
            break;
    }
    if (!ok) {
        gp_kernel_free(sum);
        return NULL;
    }
    return sum;
}

covar_status gp_kernel_parse(gp_kernel **out, covar_context *ctx,
                             const char *text)
{
    if (out)
        *out = NULL;
    if (!out || !ctx || !text)
        return covar_fail(ctx, COVAR_ERR_ARG, "gp_kernel_parse: %s is NULL",
                          !out   ? "out"
                          : !ctx ? "ctx"
                                 : "text");
    parser p = {
        .ctx = ctx, .heap = covar_context_heap(ctx), .text = text, .at = text};
    gp_kernel *k = parse_sum(&p);
    skip_blanks(&p);
    if (k && *p.at) {
        expected(&p, "+, * or the end");
        gp_kernel_free(k);
        k = NULL;
    }
    *out = k;
    return p.status;
}
