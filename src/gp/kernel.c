/* Kernel expressions: immutable, reference-counted trees of the form
 *     sum -> terms -> factors (leaves or sums in parentheses).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every kernel that a user holds is a sum. Nodes share their children; a node
 * is changed only while it is being made and nobody else has seen it. */
#include "config.h"

#include "gp_impl.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "kernel_tree.h"

gp_kernel *gp_node_create(covar_heap *heap, gp_form form)
{
    gp_kernel *k = heap ? covar_heap_calloc(heap, 1, sizeof(*k)) : NULL;
    if (!k)
        return NULL;
    atomic_init(&k->refs, 1);
    k->heap = covar_heap_retain(heap);
    k->form = form;
    k->number = NAN;
    return k;
}

gp_kernel *gp_kernel_retain(gp_kernel *k)
{
    if (k && k->heap)
        atomic_fetch_add(&k->refs, 1);
    return k;
}

void gp_kernel_free(gp_kernel *k)
{
    if (!k || !k->heap || atomic_fetch_sub(&k->refs, 1) != 1)
        return;
    for (size_t i = 0; i < k->n_child; i++)
        gp_kernel_free(k->child[i]);
    for (size_t i = 0; i < k->n_arg; i++)
        covar_heap_free(k->heap, k->arg[i].name);
    if (k->user_release)
        k->user_release(k);
    covar_heap_free(k->heap, (char *)(uintptr_t)k->why);
    covar_heap_free(k->heap, k->child);
    covar_heap_free(k->heap, k->arg);
    covar_heap_free(k->heap, k->column);
    covar_heap *heap = k->heap;
    covar_heap_free(heap, k);
    covar_heap_release(heap);
}

bool gp_node_adopt(gp_kernel *parent, gp_kernel *child)
{
    gp_kernel **grown = NULL;
    if (parent && child)
        grown = covar_heap_grow(parent->heap, parent->child, parent->n_child,
                                parent->n_child + 1, sizeof(*grown));
    if (!grown) {
        gp_kernel_free(child);
        return false;
    }
    parent->child = grown;
    parent->child[parent->n_child++] = child;
    bool inside = parent->form == GP_FORM_TERM && child->form == GP_FORM_SUM;
    unsigned depth = child->depth + (inside ? 1 : 0);
    parent->depth = depth > parent->depth ? depth : parent->depth;
    return true;
}

bool gp_node_set_arg(gp_kernel *leaf, const char *name, double value,
                     bool fixed)
{
    for (size_t i = 0; i < leaf->n_arg; i++)
        if (strcmp(leaf->arg[i].name, name) == 0) {
            leaf->arg[i].value = value;
            leaf->arg[i].fixed = fixed;
            return true;
        }
    gp_arg *grown = covar_heap_grow(leaf->heap, leaf->arg, leaf->n_arg,
                                    leaf->n_arg + 1, sizeof(*grown));
    if (!grown)
        return false;
    leaf->arg = grown;
    char *copy = covar_heap_strdup(leaf->heap, name);
    if (!copy)
        return false;
    leaf->arg[leaf->n_arg++] =
        (gp_arg){.name = copy, .value = value, .fixed = fixed};
    return true;
}

bool gp_node_set_columns(gp_kernel *leaf, const size_t *column, size_t n)
{
    size_t *copy = covar_heap_alloc(leaf->heap, n, sizeof(*copy));
    if (!copy)
        return false;
    memcpy(copy, column, n * sizeof(*copy));
    covar_heap_free(leaf->heap, leaf->column);
    leaf->column = copy;
    leaf->n_column = n;
    return true;
}

const gp_arg *gp_leaf_arg(const gp_kernel *leaf, const char *name)
{
    for (size_t i = 0; i < leaf->n_arg; i++)
        if (strcmp(leaf->arg[i].name, name) == 0)
            return &leaf->arg[i];
    return NULL;
}

bool gp_term_has_variance(const gp_kernel *term)
{
    for (size_t i = 0; i < term->n_child; i++)
        if (term->child[i]->form == GP_FORM_SUM)
            return false;
    return true;
}

/* The node alone: same contents, no children. User and feature leaves share
 * their module, so they are never copied this way. */
static gp_kernel *copy_node(const gp_kernel *k)
{
    gp_kernel *c = gp_node_create(k->heap, k->form);
    if (!c)
        return NULL;
    c->number = k->number;
    c->type = k->type;
    c->ard = k->ard;
    c->ard_d = k->ard_d;
    c->order = k->order;
    bool ok =
        k->n_column == 0 || gp_node_set_columns(c, k->column, k->n_column);
    for (size_t i = 0; ok && i < k->n_arg; i++)
        ok = gp_node_set_arg(c, k->arg[i].name, k->arg[i].value,
                             k->arg[i].fixed);
    if (!ok) {
        gp_kernel_free(c);
        return NULL;
    }
    return c;
}

gp_kernel *gp_kernel_copy(const gp_kernel *k)
{
    if (k->user) /* opaque: shared, and not changed by anyone */
        return gp_kernel_retain((gp_kernel *)(uintptr_t)k);
    gp_kernel *c = copy_node(k);
    for (size_t i = 0; c && i < k->n_child; i++)
        if (!gp_node_adopt(c, gp_kernel_copy(k->child[i]))) {
            gp_kernel_free(c);
            return NULL;
        }
    return c;
}

gp_kernel *gp_sum_of(gp_kernel *leaf)
{
    gp_kernel *term = leaf ? gp_node_create(leaf->heap, GP_FORM_TERM) : NULL;
    if (!term || !gp_node_adopt(term, gp_kernel_retain(leaf))) {
        gp_kernel_free(term);
        gp_kernel_free(leaf);
        return NULL;
    }
    gp_kernel *sum = gp_node_create(leaf->heap, GP_FORM_SUM);
    gp_kernel_free(leaf);
    if (!sum || !gp_node_adopt(sum, gp_kernel_retain(term))) {
        gp_kernel_free(sum);
        sum = NULL;
    }
    gp_kernel_free(term);
    return sum;
}

/* The terms of both; NULL when out of memory. */
static gp_kernel *add(const gp_kernel *a, const gp_kernel *b)
{
    gp_kernel *sum = gp_node_create(a->heap, GP_FORM_SUM);
    const gp_kernel *part[] = {a, b};
    bool ok = sum != NULL;
    for (size_t s = 0; ok && s < 2; s++)
        for (size_t i = 0; ok && i < part[s]->n_child; i++)
            ok = gp_node_adopt(sum, gp_kernel_retain(part[s]->child[i]));
    if (ok)
        return sum;
    gp_kernel_free(sum);
    return NULL;
}

gp_kernel *gp_add(gp_kernel *a, gp_kernel *b)
{
    gp_kernel *k = gp_kernel_fault("gp_add", a, b);
    if (!k)
        k = gp_kernel_or_no_memory(add(a, b));
    gp_kernel_free(a);
    gp_kernel_free(b);
    return k;
}

/* A sum of one term gives its factors and its number; any other sum is one
 * factor in parentheses. */
static bool multiply_in(gp_kernel *term, gp_kernel *sum)
{
    if (sum->n_child != 1)
        return gp_node_adopt(term, gp_kernel_retain(sum));
    const gp_kernel *from = sum->child[0];
    for (size_t i = 0; i < from->n_child; i++)
        if (!gp_node_adopt(term, gp_kernel_retain(from->child[i])))
            return false;
    if (!isnan(from->number))
        term->number =
            isnan(term->number) ? from->number : term->number * from->number;
    return true;
}

/* The product as a term; NULL when out of memory. */
static gp_kernel *multiply(gp_kernel *a, gp_kernel *b)
{
    gp_kernel *term = gp_node_create(a->heap, GP_FORM_TERM);
    if (term && multiply_in(term, a) && multiply_in(term, b))
        return term;
    gp_kernel_free(term);
    return NULL;
}

static gp_kernel *product(gp_kernel *a, gp_kernel *b)
{
    gp_kernel *term = multiply(a, b);
    if (!term)
        return gp_kernel_or_no_memory(NULL);
    gp_kernel *k;
    if (term->depth > GP_MOST_NESTING)
        k = gp_kernel_broken("gp_mul: more than %d nested sums",
                             GP_MOST_NESTING);
    else if (!isnan(term->number) &&
             !(term->number > 0 && isfinite(term->number)))
        k = gp_kernel_broken("gp_mul: the product of the factors' numbers is "
                             "%g",
                             term->number);
    else {
        k = gp_node_create(term->heap, GP_FORM_SUM);
        if (k && !gp_node_adopt(k, gp_kernel_retain(term))) {
            gp_kernel_free(k);
            k = NULL;
        }
    }
    gp_kernel_free(term);
    return gp_kernel_or_no_memory(k);
}

gp_kernel *gp_mul(gp_kernel *a, gp_kernel *b)
{
    gp_kernel *k = gp_kernel_fault("gp_mul", a, b);
    if (!k)
        k = product(a, b);
    gp_kernel_free(a);
    gp_kernel_free(b);
    return k;
}

/* ---- Columns ------------------------------------------------------------ */

/* Why the columns cannot be taken, as a broken kernel; NULL: they can. */
static gp_kernel *check_columns(const size_t *col, size_t n)
{
    if (!col || n == 0 || n > GP_MOST_COLUMNS)
        return col ? gp_kernel_broken("gp_columns: %zu columns; 1 to %d are "
                                      "allowed",
                                      n, GP_MOST_COLUMNS)
                   : gp_kernel_broken("gp_columns: col is NULL");
    for (size_t i = 0; i < n; i++) {
        if (col[i] > GP_MOST_COLUMN)
            return gp_kernel_broken("gp_columns: col[%zu] is %zu; 0 to %d is "
                                    "allowed",
                                    i, col[i], GP_MOST_COLUMN);
        for (size_t j = 0; j < i; j++)
            if (col[j] == col[i])
                return gp_kernel_broken("gp_columns: column %zu is there "
                                        "twice",
                                        col[i]);
    }
    return NULL;
}

/* Why a leaf inside k cannot select among n columns; NULL: all can. */
static gp_kernel *check_leaves(const gp_kernel *k, size_t n)
{
    for (size_t i = 0; i < k->n_child; i++) {
        gp_kernel *fault = check_leaves(k->child[i], n);
        if (fault)
            return fault;
    }
    if (k->user)
        return gp_kernel_broken("gp_columns: kernel %s takes all columns, not "
                                "a selection",
                                gp_leaf_title(k));
    for (size_t i = 0; i < k->n_column; i++)
        if (k->column[i] >= n)
            return gp_kernel_broken("gp_columns: kernel %s selects column %zu "
                                    "of %zu (counted from 0)",
                                    gp_leaf_title(k), k->column[i], n);
    return NULL;
}

/* Selects columns in every leaf; a leaf's own selection counts among them. */
static bool select_columns(gp_kernel *k, const size_t *col, size_t n)
{
    for (size_t i = 0; i < k->n_child; i++)
        if (!select_columns(k->child[i], col, n))
            return false;
    for (size_t i = 0; i < k->n_column; i++)
        k->column[i] = col[k->column[i]];
    return k->form != GP_FORM_LEAF || k->n_column > 0 ||
           gp_node_set_columns(k, col, n);
}

gp_kernel *gp_columns(gp_kernel *k, const size_t *col, size_t n)
{
    gp_kernel *c = gp_kernel_fault("gp_columns", k, k);
    if (!c)
        c = check_columns(col, n);
    if (!c)
        c = check_leaves(k, n);
    if (!c) {
        c = gp_kernel_copy(k);
        if (c && !select_columns(c, col, n)) {
            gp_kernel_free(c);
            c = NULL;
        }
    }
    gp_kernel_free(k);
    return gp_kernel_or_no_memory(c);
}
