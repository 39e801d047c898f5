/* ad_print: a node and all it needs as one s-expression.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * (mul #1=(exp X) #1#): what is used more than once is labelled where it first
 * stands and referred to later, so that the text is linear in the nodes.
 * Leaves are written by name, uniform constants by value, fields as
 * ":name value". The walk keeps its own stack. */
#include "config.h"

#include "autodiff/text_impl.h"

#include <stdio.h>

/* ---- Fields ------------------------------------------------------------- */

static void put_dims(ad_text_buffer *t, const ad_dims *d)
{
    char s[128];
    ad_text_put(t, "[");
    for (int i = 0; i < d->rank; i++)
        ad_text_putf(t, "%s%s", i ? " " : "",
                     ad_dim_text(s, sizeof(s), d->dim[i]));
    ad_text_put(t, "]");
}

static void put_axes(ad_text_buffer *t, const ad_axes *a)
{
    ad_text_put(t, "[");
    for (int i = 0; i < a->n; i++)
        ad_text_putf(t, "%s%d", i ? " " : "", a->axis[i]);
    ad_text_put(t, "]");
}

static void put_array(ad_text_buffer *t, const la_array *a)
{
    char s[96];
    ad_text_putf(t, "<%s>", la_view_describe(s, sizeof(s), la_array_view(a)));
}

static void put_field(ad_text_buffer *t, const ad_field *f, const void *p)
{
    char s[128];
    ad_text_putf(t, " :%s ", f->name);
    switch (f->kind) {
    case AD_FIELD_INT:
        ad_text_putf(t, "%lld", (long long)*(const int64_t *)p);
        break;
    case AD_FIELD_REAL:
        ad_text_putf(t, "%.17g", *(const double *)p);
        break;
    case AD_FIELD_DIM:
        ad_text_put(t, ad_dim_text(s, sizeof(s), *(const ad_dim *)p));
        break;
    case AD_FIELD_DIMS:
        put_dims(t, p);
        break;
    case AD_FIELD_AXES:
        put_axes(t, p);
        break;
    case AD_FIELD_TEXT:
        ad_text_putf(t, "\"%s\"", *(const char *const *)p);
        break;
    case AD_FIELD_ARRAY:
        put_array(t, *(la_array *const *)p);
        break;
    case AD_FIELD_BODY:
        ad_text_putf(t, "<body %016llx>",
                     (unsigned long long)(*(ad_body *const *)p)->hash);
        break;
    case AD_FIELD_POINTER:
        ad_text_put(t, "<pointer>");
        break;
    }
}

/* ---- Nodes -------------------------------------------------------------- */

typedef struct frame {
    const ad_node *y;
    int next; /* input to write */
} frame;

typedef struct printer {
    ad_text_buffer t;
    uint32_t *uses;  /* by id */
    uint32_t *label; /* by id; 0 = none yet */
    uint32_t n_label;
    frame *stack;
    size_t depth;
} printer;

/* Leaves with a name, and uniform constants. */
static bool put_leaf(ad_text_buffer *t, const ad_node *y)
{
    double value;
    if (y->n_in > 0)
        return false;
    if (y->type[0].rank == 0 && ad_is_constant(y, &value))
        ad_text_putf(t, "%.17g", value);
    else if ((y->op->flags & AD_LEAF) && y->name)
        ad_text_put(t, y->name);
    else
        return false;
    return true;
}

static void open_node(printer *p, const ad_node *y)
{
    if (put_leaf(&p->t, y))
        return;
    if (p->label[y->id] != 0) {
        ad_text_putf(&p->t, "#%u#", p->label[y->id]);
        return;
    }
    if (p->uses[y->id] > 1) {
        p->label[y->id] = ++p->n_label;
        ad_text_putf(&p->t, "#%u=", p->label[y->id]);
    }
    ad_text_putf(&p->t, "(%s", y->op->name);
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
            ad_text_put(&p->t, ")");
            p->depth--;
            continue;
        }
        ad_text_put(&p->t, " ");
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
