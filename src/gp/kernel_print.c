/* Kernel expressions as text that parses back (the grammar is in gp.h).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "kernel_tree.h"

#include <math.h>
#include <string.h>

#include "number.h"

/* A bounded string that goes on counting when it is full. */
typedef struct text {
    char *buf;
    size_t size, length;
} text;

static void put(text *t, const char *s)
{
    for (; *s; s++, t->length++)
        if (t->length + 1 < t->size)
            t->buf[t->length] = *s;
}

static void put_number(text *t, double value)
{
    char number[COVAR_NUMBER_TEXT];
    put(t, covar_number_print(number, value));
}

/* "(" before the first argument, "," before the others. */
static void open_arg(text *t, size_t *n)
{
    put(t, (*n)++ == 0 ? "(" : ",");
}

static void put_leaf(text *t, const gp_kernel *leaf)
{
    size_t n = 0;
    put(t, gp_leaf_title(leaf));
    if (leaf->type->takes_order) {
        open_arg(t, &n);
        put(t, leaf->type->order_name);
        put(t, ":=");
        put_number(t, leaf->order);
    }
    if (leaf->ard) {
        open_arg(t, &n);
        put(t, "ard");
        if (leaf->ard_d > 0) {
            put(t, "=");
            put_number(t, (double)leaf->ard_d);
        }
    }
    for (size_t i = 0; i < leaf->n_arg; i++) {
        open_arg(t, &n);
        put(t, leaf->arg[i].name);
        put(t, leaf->arg[i].fixed ? ":=" : "=");
        put_number(t, leaf->arg[i].value);
    }
    if (n > 0)
        put(t, ")");
    for (size_t i = 0; i < leaf->n_column; i++) {
        put(t, i == 0 ? "[" : ",");
        put_number(t, (double)leaf->column[i]);
    }
    if (leaf->n_column > 0)
        put(t, "]");
}

static void put_sum(text *t, const gp_kernel *sum);

static void put_term(text *t, const gp_kernel *term)
{
    if (!isnan(term->number)) {
        put_number(t, term->number);
        put(t, "*");
    }
    for (size_t i = 0; i < term->n_child; i++) {
        const gp_kernel *factor = term->child[i];
        put(t, i > 0 ? "*" : "");
        if (factor->form == GP_FORM_LEAF) {
            put_leaf(t, factor);
        } else {
            put(t, "(");
            put_sum(t, factor);
            put(t, ")");
        }
    }
}

static void put_sum(text *t, const gp_kernel *sum)
{
    for (size_t i = 0; i < sum->n_child; i++) {
        put(t, i > 0 ? " + " : "");
        put_term(t, sum->child[i]);
    }
}

size_t gp_kernel_print(char *buf, size_t size, const gp_kernel *k)
{
    text t = {.buf = buf, .size = buf ? size : 0};
    if (gp_kernel_error(k)) {
        put(&t, "(no kernel: ");
        put(&t, gp_kernel_error(k));
        put(&t, ")");
    } else if (k) {
        put_sum(&t, k);
    }
    if (t.size > 0)
        t.buf[t.length < t.size ? t.length : t.size - 1] = '\0';
    return t.length;
}
