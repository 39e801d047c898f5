/* ad_print: a node and all it needs as one s-expression.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * (mul #1=(exp X) #1#): what is used more than once is labelled where it first
 * stands and referred to later, so that the text is linear in the nodes.
 * Leaves are written by name, uniform constants by value, fields as
 * ":name value". The walk keeps its own stack. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Text that grows ---------------------------------------------------- */

typedef struct text_buffer {
    covar_heap *heap;
    char *s;
    size_t n, cap;
    bool failed;
} text_buffer;

static void reserve(text_buffer *t, size_t more)
{
    if (t->failed || t->cap - t->n > more)
        return;
    size_t cap = 2 * (t->n + more) + 64;
    char *s = covar_heap_grow(t->heap, t->s, t->n, cap, 1);
    t->failed = !s;
    t->s = s ? s : t->s;
    t->cap = s ? cap : t->cap;
}

static void put(text_buffer *t, const char *s)
{
    size_t n = strlen(s);
    reserve(t, n);
    if (t->failed)
        return;
    memcpy(t->s + t->n, s, n + 1);
    t->n += n;
}

static void putf(text_buffer *t, const char *format, ...) COVAR_PRINTF(2, 3);

static void putf(text_buffer *t, const char *format, ...)
{
    char s[320];
    va_list list;
    va_start(list, format);
    vsnprintf(s, sizeof(s), format, list);
    va_end(list);
    put(t, s);
}

/* ---- Fields ------------------------------------------------------------- */

static void put_dims(text_buffer *t, const ad_dims *d)
{
    char s[128];
    put(t, "[");
    for (int i = 0; i < d->rank; i++)
        putf(t, "%s%s", i ? " " : "", ad_dim_text(s, sizeof(s), d->dim[i]));
    put(t, "]");
}

static void put_axes(text_buffer *t, const ad_axes *a)
{
    put(t, "[");
    for (int i = 0; i < a->n; i++)
        putf(t, "%s%d", i ? " " : "", a->axis[i]);
    put(t, "]");
}

static void put_array(text_buffer *t, const la_array *a)
{
    char s[96];
    putf(t, "<%s>", la_view_describe(s, sizeof(s), la_array_view(a)));
}

static void put_field(text_buffer *t, const ad_field *f, const void *p)
{
    char s[128];
    putf(t, " :%s ", f->name);
    switch (f->kind) {
    case AD_FIELD_INT:
        putf(t, "%lld", (long long)*(const int64_t *)p);
        break;
    case AD_FIELD_REAL:
        putf(t, "%.17g", *(const double *)p);
        break;
    case AD_FIELD_DIM:
        put(t, ad_dim_text(s, sizeof(s), *(const ad_dim *)p));
        break;
    case AD_FIELD_DIMS:
        put_dims(t, p);
        break;
    case AD_FIELD_AXES:
        put_axes(t, p);
        break;
    case AD_FIELD_TEXT:
        putf(t, "\"%s\"", *(const char *const *)p);
        break;
    case AD_FIELD_ARRAY:
        put_array(t, *(la_array *const *)p);
        break;
    case AD_FIELD_BODY:
        putf(t, "<body %016llx>",
             (unsigned long long)(*(ad_body *const *)p)->hash);
        break;
    case AD_FIELD_POINTER:
        put(t, "<pointer>");
        break;
    }
}

/* ---- Nodes -------------------------------------------------------------- */

typedef struct frame {
    const ad_node *y;
    int next; /* input to write */
} frame;

typedef struct printer {
    text_buffer t;
    uint32_t *uses;  /* by id */
    uint32_t *label; /* by id; 0 = none yet */
    uint32_t n_label;
    frame *stack;
    size_t depth;
} printer;

/* Leaves with a name, and uniform constants. */
static bool put_leaf(text_buffer *t, const ad_node *y)
{
    double value;
    if (y->n_in > 0)
        return false;
    if (y->type[0].rank == 0 && ad_is_constant(y, &value))
        putf(t, "%.17g", value);
    else if ((y->op->flags & AD_LEAF) && y->name)
        put(t, y->name);
    else
        return false;
    return true;
}

static void open_node(printer *p, const ad_node *y)
{
    if (put_leaf(&p->t, y))
        return;
    if (p->label[y->id] != 0) {
        putf(&p->t, "#%u#", p->label[y->id]);
        return;
    }
    if (p->uses[y->id] > 1) {
        p->label[y->id] = ++p->n_label;
        putf(&p->t, "#%u=", p->label[y->id]);
    }
    putf(&p->t, "(%s", y->op->name);
    for (const ad_field *f = y->op->fields; f && f->name; f++)
        put_field(&p->t, f, (const char *)y->fields + f->offset);
    p->stack[p->depth++] = (frame){y, 0};
}

static void print(printer *p, const ad_node *root)
{
    open_node(p, root);
    while (p->depth > 0 && !p->t.failed) {
        frame *top = &p->stack[p->depth - 1];
        if (top->next == top->y->n_in) {
            put(&p->t, ")");
            p->depth--;
            continue;
        }
        put(&p->t, " ");
        open_node(p, top->y->in[top->next++]);
    }
}

char *ad_print(const ad_node *x)
{
    if (!x)
        return NULL;
    ad_graph *g = x->graph;
    ad_node *root = g->node[x->id];
    size_t n;
    ad_node **order = ad_topological(g, &root, 1, &n);
    printer p = {.t.heap = g->heap};
    p.uses = covar_heap_calloc(g->heap, g->n_node, sizeof(*p.uses));
    p.label = covar_heap_calloc(g->heap, g->n_node, sizeof(*p.label));
    p.stack = covar_heap_alloc(g->heap, n, sizeof(*p.stack));
    p.t.failed = !order || !p.uses || !p.label || !p.stack;
    if (!p.t.failed) {
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < order[i]->n_in; k++)
                p.uses[order[i]->in[k]->id]++;
        print(&p, root);
    }
    covar_heap_free(g->heap, order);
    covar_heap_free(g->heap, p.uses);
    covar_heap_free(g->heap, p.label);
    covar_heap_free(g->heap, p.stack);
    if (!p.t.failed)
        return p.t.s;
    covar_heap_free(g->heap, p.t.s);
    ad_graph_nomem(g);
    return NULL;
}

void ad_text_free(ad_graph *g, char *text)
{
    if (g)
        covar_heap_free(g->heap, text);
}
