/* Derivatives of scan: scans again, so that they differentiate again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * vjp: with l_t the adjoint that flows into c_t from later steps,
 *     l_(t-1), x_bar_t, k_bar_t = vjp of the body at (x_t, c_(t-1), k)
 *                                 with (l_t + C_bar_t, R_bar_t),
 * a scan in the other direction over x, the carries before each step and the
 * adjoints of the stacked outputs; l and the sums of k_bar_t are its carries.
 * jvp: the body's tangents beside the body, in the same direction. */
#include "config.h"

#include "autodiff/derive_impl.h"
#include "autodiff/ops/scan.h"

/* A scan being put together: inputs in three groups, outputs in two. */
typedef struct list {
    ad_node *inner[AD_SCAN_MAX], *outer[AD_SCAN_MAX];
    int n;
} list;

typedef struct build {
    ad_node *y;
    const ad_scan_fields *f;
    ad_graph *body;
    ad_node *in[AD_SCAN_MAX];  /* the old body's inputs, copied */
    ad_node *out[AD_SCAN_MAX]; /* and its outputs */
    list seq, carry, constant;
    ad_node *next[AD_SCAN_MAX]; /* new carries, like carry */
    ad_node *result[AD_SCAN_MAX];
    int n_result;
} build;

static void add(list *l, ad_node *inner, ad_node *outer)
{
    if (l->n < AD_SCAN_MAX) {
        l->inner[l->n] = inner;
        l->outer[l->n] = outer;
    }
    l->n++;
}

/* A new leaf of the body for `outer`, added to l. */
static ad_node *add_leaf(build *b, list *l, ad_node *outer, bool sequence,
                         const char *name)
{
    if (!outer)
        return NULL;
    ad_type t = ad_scan_slice(ad_node_type(outer, 0), sequence);
    t.facts = 0;
    ad_node *leaf = ad_scan_leaf(b->body, &t, name);
    add(l, leaf, outer);
    return leaf;
}

/* The old body again, in the new one, on leaves of its own. */
static covar_status copy_body(build *b)
{
    const ad_body *old = b->f->body;
    ad_graph *g = b->y->graph;
    if (old->n_in > AD_SCAN_MAX / 2 || old->n_out > AD_SCAN_MAX / 2)
        return ad_graph_fail(g, COVAR_ERR_UNSUPPORTED,
                             "scan: %d inputs and %d outputs are too many to "
                             "differentiate",
                             old->n_in, old->n_out);
    b->body = ad_scan_open(g);
    if (!b->body)
        return ad_graph_error(g);
    ad_node **map = covar_heap_calloc(g->heap, old->g->n_node, sizeof(*map));
    if (!map)
        return ad_graph_nomem(g);
    for (int i = 0; i < old->n_in; i++)
        map[old->in[i]->id] = b->in[i] = ad_scan_leaf(
            b->body, ad_node_type(old->in[i], 0), old->in[i]->name);
    covar_status status = ad_graph_error(b->body);
    if (status == COVAR_OK)
        status = ad_graph_import(b->body, old->out, (size_t)old->n_out, map);
    for (int k = 0; status == COVAR_OK && k < old->n_out; k++)
        b->out[k] = map[old->out[k]->id];
    covar_heap_free(g->heap, map);
    return status;
}

/* (T, ...): the carry before each step. */
static ad_node *carry_before(ad_node *y, int j)
{
    const ad_scan_fields *f = y->fields;
    ad_node *stack = ad_out(y, f->body->n_out + j);
    ad_node *start = ad_expand(y->in[f->n_seq + j], 0);
    ad_node *both[2] = {f->reverse ? stack : start, f->reverse ? start : stack};
    return ad_slice(ad_concat(both, 2, 0), 0, ad_fixed(f->reverse ? 1 : 0),
                    ad_in_type(y, 0)->dim[0]);
}

/* Freezes what was collected; on an error the reason goes to y's graph. */
static ad_node *finish(build *b, int64_t reverse)
{
    ad_graph *g = b->y->graph;
    int n_in = b->seq.n + b->carry.n + b->constant.n;
    ad_node *inner[AD_SCAN_MAX], *outer[AD_SCAN_MAX], *out[AD_SCAN_MAX];
    int n = 0, m = 0;
    if (n_in > AD_SCAN_MAX || b->carry.n + b->n_result > AD_SCAN_MAX) {
        ad_graph_fail(g, COVAR_ERR_UNSUPPORTED,
                      "scan: its derivative has more than %d values",
                      AD_SCAN_MAX);
        ad_graph_free(b->body);
        return NULL;
    }
    const list *group[] = {&b->seq, &b->carry, &b->constant};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < group[k]->n; i++) {
            inner[n] = group[k]->inner[i];
            outer[n++] = group[k]->outer[i];
        }
    for (int i = 0; i < b->carry.n; i++)
        out[m++] = b->next[i];
    for (int i = 0; i < b->n_result; i++)
        out[m++] = b->result[i];
    ad_scan_fields f = {NULL,          b->seq.n,    b->carry.n,
                        b->constant.n, b->n_result, reverse};
    return ad_scan_close(g, b->body, inner, out, &f, outer);
}

/* An error inside the body, told to the graph around it. */
static covar_status give_up(build *b, covar_status status)
{
    ad_graph *g = b->y->graph;
    if (b->body)
        ad_graph_fail(g, status, "scan: in its step: %s",
                      ad_graph_error_text(b->body));
    ad_graph_free(b->body);
    return ad_graph_error(g) != COVAR_OK ? ad_graph_error(g) : status;
}

/* ---- vjp ---------------------------------------------------------------- */

/* What the body's vjp is asked for, and where the answers go. */
typedef struct request {
    ad_node *out[AD_SCAN_MAX], *bar[AD_SCAN_MAX];
    int n_out;
    ad_node *wrt[AD_SCAN_MAX], *x_bar[AD_SCAN_MAX];
    int place[AD_SCAN_MAX]; /* the input of y */
    int n_wrt;
} request;

/* The groups of the backward scan that do not depend on the answers. */
static void set_inputs(build *b, request *q, ad_node *const y_bar[],
                       const bool need[])
{
    const ad_scan_fields *f = b->f;
    ad_node *y = b->y;
    int n_seq = (int)f->n_seq, n_carry = (int)f->n_carry;
    int n_out = f->body->n_out;
    for (int i = 0; i < n_seq; i++)
        add(&b->seq, b->in[i], y->in[i]);
    for (int j = 0; j < n_carry; j++)
        add(&b->seq, b->in[n_seq + j], carry_before(y, j));
    for (int i = n_seq + n_carry; i < y->n_in; i++)
        add(&b->constant, b->in[i], y->in[i]);
    for (int k = 0; k < n_out; k++) {
        ad_node *stacked = y_bar[k < n_carry ? n_out + k : k], *bar = NULL;
        if (!ad_is_real(b->out[k], 0))
            continue;
        if (stacked)
            bar = add_leaf(b, &b->seq, stacked, true, "bar");
        if (k < n_carry) {
            ad_node *start =
                y_bar[k] ? y_bar[k] : ad_zeros_like(y->in[n_seq + k]);
            ad_node *flow = add_leaf(b, &b->carry, start, false, "flow");
            bar = bar ? ad_add(bar, flow) : flow;
        }
        if (bar) {
            q->out[q->n_out] = b->out[k];
            q->bar[q->n_out++] = bar;
        }
    }
    for (int i = 0; i < y->n_in; i++) {
        bool carry = i >= n_seq && i < n_seq + n_carry;
        if (!ad_is_real(b->in[i], 0) || !(need[i] || carry))
            continue;
        q->place[q->n_wrt] = i;
        q->wrt[q->n_wrt++] = b->in[i];
    }
}

/* The answers as new carries and results, in the order of the inputs. */
static void set_outputs(build *b, const request *q)
{
    int n_seq = (int)b->f->n_seq, n_carry = (int)b->f->n_carry, flow = 0;
    for (int i = 0; i < q->n_wrt; i++) {
        int at = q->place[i];
        ad_node *x_bar = q->x_bar[i];
        if (at < n_seq) {
            b->result[b->n_result++] = x_bar;
        } else if (at < n_seq + n_carry) {
            b->next[flow++] = x_bar;
        } else {
            ad_node *zero = ad_zeros_like(b->y->in[at]);
            int k = b->carry.n;
            ad_node *sum = add_leaf(b, &b->carry, zero, false, "sum");
            if (k < AD_SCAN_MAX)
                b->next[k] = ad_add(sum, x_bar);
        }
    }
}

/* x_bar of each input from the values of the finished scan. */
static void hand_out(ad_node *scan, const build *b, const request *q,
                     const bool need[], ad_node *x_bar[])
{
    int n_seq = (int)b->f->n_seq, carry = 0, result = b->carry.n;
    for (int i = 0; i < q->n_wrt; i++) {
        int at = q->place[i];
        ad_node *v = ad_out(scan, at < n_seq ? result++ : carry++);
        if (need[at])
            x_bar[at] = v;
    }
}

covar_status ad_scan_vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                         ad_node *x_bar[])
{
    const ad_grad_options zeros = {.zero_if_disconnected = true};
    covar_heap *heap = y->graph->heap;
    build *b = covar_heap_calloc(heap, 1, sizeof(*b));
    request *q = covar_heap_calloc(heap, 1, sizeof(*q));
    covar_status status = b && q ? COVAR_OK : ad_graph_nomem(y->graph);
    if (status != COVAR_OK)
        goto out;
    b->y = y;
    b->f = y->fields;
    status = copy_body(b);
    if (status == COVAR_OK) {
        set_inputs(b, q, y_bar, need);
        status = ad_graph_error(b->body);
    }
    if (status == COVAR_OK)
        status = ad_lop(q->x_bar, q->out, q->bar, q->n_out, q->wrt, q->n_wrt,
                        &zeros);
    if (status != COVAR_OK) {
        status = give_up(b, status);
        goto out;
    }
    set_outputs(b, q);
    ad_node *scan = finish(b, !b->f->reverse);
    if (scan)
        hand_out(scan, b, q, need, x_bar);
    else
        status = ad_graph_error(y->graph);
out:
    covar_heap_free(heap, q);
    covar_heap_free(heap, b);
    return status;
}

/* ---- jvp ---------------------------------------------------------------- */

/* The inputs of the body with the tangents beside them. */
static void set_tangents(build *b, request *q, ad_node *const x_dot[])
{
    ad_node *y = b->y;
    int n_seq = (int)b->f->n_seq, n_carry = (int)b->f->n_carry;
    list *group[] = {&b->seq, &b->carry, &b->constant};
    int end[] = {n_seq, n_seq + n_carry, y->n_in};
    for (int k = 0, i = 0; k < 3; k++) {
        int first = i;
        for (; i < end[k]; i++)
            add(group[k], b->in[i], y->in[i]);
        for (i = first; i < end[k]; i++) {
            ad_node *dot = x_dot[i];
            if (!ad_is_real(b->in[i], 0) || (!dot && k != 1))
                continue;
            if (!dot)
                dot = ad_zeros_like(y->in[i]);
            q->wrt[q->n_wrt] = b->in[i];
            q->bar[q->n_wrt++] = add_leaf(b, group[k], dot, k == 0, "dot");
        }
    }
}

/* New carries, results; then the tangents of both, zero where none. */
static void set_tangent_outputs(build *b, const request *q)
{
    int n_carry = (int)b->f->n_carry, n_out = b->f->body->n_out, n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < n_out; k++) {
            ad_node *v = pass == 0 ? b->out[k] : q->x_bar[k];
            if (pass == 1 && !ad_is_real(b->out[k], 0))
                continue;
            if (!v)
                v = ad_zeros_like(b->out[k]);
            if (k < n_carry)
                b->next[n++] = v;
            else
                b->result[b->n_result++] = v;
        }
}

static void hand_out_tangents(ad_node *scan, const build *b, ad_node *y_dot[])
{
    int n_carry = (int)b->f->n_carry, n_out = b->f->body->n_out;
    int carry = n_carry, all = b->carry.n, result = all + n_out - n_carry;
    for (int k = 0; k < n_out; k++) {
        if (!ad_is_real(b->out[k], 0))
            continue;
        if (k >= n_carry) {
            y_dot[k] = ad_out(scan, result++);
            continue;
        }
        y_dot[k] = ad_out(scan, carry);
        y_dot[n_out + k] = ad_out(scan, all + b->n_result + carry);
        carry++;
    }
}

covar_status ad_scan_jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    covar_heap *heap = y->graph->heap;
    build *b = covar_heap_calloc(heap, 1, sizeof(*b));
    request *q = covar_heap_calloc(heap, 1, sizeof(*q));
    covar_status status = b && q ? COVAR_OK : ad_graph_nomem(y->graph);
    if (status != COVAR_OK)
        goto out;
    b->y = y;
    b->f = y->fields;
    status = copy_body(b);
    if (status == COVAR_OK) {
        set_tangents(b, q, x_dot);
        status = ad_graph_error(b->body);
    }
    if (status == COVAR_OK)
        status =
            ad_forward(q->x_bar, b->body, b->out, (size_t)b->f->body->n_out,
                       q->wrt, q->bar, (size_t)q->n_wrt, true);
    if (status != COVAR_OK) {
        status = give_up(b, status);
        goto out;
    }
    set_tangent_outputs(b, q);
    ad_node *scan = finish(b, b->f->reverse);
    if (scan)
        hand_out_tangents(scan, b, y_dot);
    else
        status = ad_graph_error(y->graph);
out:
    covar_heap_free(heap, q);
    covar_heap_free(heap, b);
    return status;
}
