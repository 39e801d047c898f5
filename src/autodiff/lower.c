/* Lowering: from a graph to a list of steps over numbered values.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every output of every node that the roots need becomes a value. Leaves and
 * views cost no step: a view's root is the value whose memory it shows. */
#include "config.h"

#include "autodiff/program_impl.h"

#include <string.h>

bool ad_node_is_view(const ad_node *y)
{
    return y->op->views >= 0 && y->op->view;
}

typedef struct lowering {
    ad_program *p;
    ad_graph *g;
    uint32_t *first; /* by node id: its first value */
} lowering;

/* The value that a node stands for as an operand. */
static uint32_t value_of(const lowering *w, const ad_node *x)
{
    if (x->op == &ad_op_out) {
        const ad_out_fields *f = x->fields;
        return w->first[x->in[0]->id] + (uint32_t)f->index;
    }
    return w->first[x->id];
}

static uint32_t param_index(ad_program *p, ad_node *x)
{
    for (uint32_t i = 0; i < p->n_param; i++)
        if (p->param[i] == x)
            return i;
    p->param[p->n_param] = x;
    return p->n_param++;
}

static ad_value_info leaf_value(lowering *w, ad_node *y, uint32_t id)
{
    ad_program *p = w->p;
    ad_value_info v = {.node = y, .kind = AD_VALUE_STEP, .root = id};
    if (y->op == &ad_op_constant)
        v.kind = AD_VALUE_CONSTANT;
    if (y->op == &ad_op_param) {
        v.kind = AD_VALUE_STORE;
        v.index = param_index(p, y);
    }
    for (uint32_t i = 0; i < p->n_in; i++)
        if (p->in[i] == y) {
            v.kind = AD_VALUE_INPUT;
            v.index = i;
        }
    return v;
}

static void add_step(lowering *w, ad_node *y)
{
    ad_program *p = w->p;
    ad_step *s = &p->step[p->n_step++];
    s->node = y;
    s->n_in = y->n_in;
    s->n_out = y->n_out;
    s->in = ad_arena_alloc(w->g->arena, sizeof(uint32_t) * (size_t)y->n_in);
    s->out = ad_arena_alloc(w->g->arena, sizeof(uint32_t) * (size_t)y->n_out);
    for (int i = 0; s->in && i < y->n_in; i++)
        s->in[i] = value_of(w, y->in[i]);
    for (int k = 0; s->out && k < y->n_out; k++)
        s->out[k] = w->first[y->id] + (uint32_t)k;
}

/* Numbers the values of y; false when out of memory. */
static bool lower_node(lowering *w, ad_node *y)
{
    ad_program *p = w->p;
    if (y->op == &ad_op_out)
        return true;
    w->first[y->id] = p->n_value;
    uint32_t id = p->n_value;
    if (y->op->flags & AD_LEAF || y->op == &ad_op_constant) {
        p->value[p->n_value++] = leaf_value(w, y, id);
        return true;
    }
    if (ad_node_is_view(y)) {
        uint32_t x = value_of(w, y->in[y->op->views]);
        p->value[p->n_value++] = (ad_value_info){.node = y,
                                                 .kind = AD_VALUE_VIEW,
                                                 .index = x,
                                                 .root = p->value[x].root};
        return true;
    }
    for (int k = 0; k < y->n_out; k++, id++)
        p->value[p->n_value++] = (ad_value_info){.node = y,
                                                 .out = k,
                                                 .kind = AD_VALUE_STEP,
                                                 .index = p->n_step,
                                                 .root = id};
    add_step(w, y);
    ad_step *s = &p->step[p->n_step - 1];
    return (s->in || y->n_in == 0) && (s->out || y->n_out == 0);
}

static bool reserve(ad_program *p, ad_node **order, size_t n)
{
    size_t n_value = 0, n_step = 0, n_param = p->n_update;
    for (size_t i = 0; i < n; i++) {
        n_value += (size_t)order[i]->n_out;
        n_step += order[i]->n_in > 0 || !(order[i]->op->flags & AD_LEAF);
        n_param += order[i]->op == &ad_op_param;
    }
    if (n_value >= AD_NEVER)
        return false;
    ad_arena *a = p->g->arena;
    p->value = ad_arena_alloc(a, sizeof(*p->value) * (n_value + 1));
    p->step = ad_arena_alloc(a, sizeof(*p->step) * (n_step + 1));
    /* parameters that only an update names are already in the list */
    ad_node **param =
        ad_arena_alloc(a, sizeof(*param) * (n_param + p->n_param + 1));
    if (!p->value || !p->step || !param)
        return false;
    if (p->n_param > 0)
        memcpy(param, p->param, sizeof(*param) * p->n_param);
    p->param = param;
    return true;
}

covar_status ad_program_lower(ad_program *p, ad_node *const *root)
{
    size_t n_root = (size_t)p->n_out + p->n_update, n = 0;
    ad_node **order = ad_topological(p->g, root, n_root, &n);
    lowering w = {p, p->g, NULL};
    bool ok = order && reserve(p, order, n);
    if (ok) {
        w.first =
            covar_heap_calloc(p->heap, p->g->n_node + 1, sizeof(*w.first));
        ok = w.first != NULL;
    }
    for (size_t i = 0; ok && i < n; i++)
        ok = lower_node(&w, order[i]);
    if (ok) {
        for (uint32_t i = 0; i < p->n_out; i++)
            p->out[i] = value_of(&w, root[i]);
        for (uint32_t i = 0; i < p->n_update; i++)
            p->update[i].value = value_of(&w, root[p->n_out + i]);
    }
    covar_heap_free(p->heap, w.first);
    covar_heap_free(p->heap, order);
    return ok ? COVAR_OK : COVAR_ERR_NOMEM;
}
