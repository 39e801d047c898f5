/* A loop over the first dim of sequences, with carried values.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     c_t, r_t = body(x_t, c_(t-1), k)       t = 0 .. T-1, or T-1 .. 0
 *
 * Inputs: sequences (T, ...), initial carries, constants k. Outputs: the last
 * carries, the stacked results (T, ...), the stacked carries (T, ...) after
 * each step; stacked values stand at the t of their sequence, whatever the
 * direction. Derivatives: scan_grad.c. */
#include "config.h"

#include "autodiff/ops/scan.h"

static const ad_field scan_fields[] = {
    {"body", AD_FIELD_BODY, offsetof(ad_scan_fields, body)},
    {"n_seq", AD_FIELD_INT, offsetof(ad_scan_fields, n_seq)},
    {"n_carry", AD_FIELD_INT, offsetof(ad_scan_fields, n_carry)},
    {"n_const", AD_FIELD_INT, offsetof(ad_scan_fields, n_const)},
    {"n_result", AD_FIELD_INT, offsetof(ad_scan_fields, n_result)},
    {"reverse", AD_FIELD_INT, offsetof(ad_scan_fields, reverse)},
    {NULL, AD_FIELD_INT, 0},
};

static const ad_scan_fields *fields_of(const ad_node *y)
{
    return y->fields;
}

/* ---- Types -------------------------------------------------------------- */

static bool same_type(const ad_graph *g, const ad_type *a, const ad_type *b)
{
    bool same = a->rank == b->rank && a->dtype == b->dtype;
    for (int k = 0; same && k < a->rank; k++)
        same = ad_dims_equal(g, a->dim[k], b->dim[k]);
    return same;
}

/* New carries must be like the old ones. */
static covar_status check_carries(ad_node *y)
{
    const ad_scan_fields *f = fields_of(y);
    const ad_body *b = f->body;
    for (int j = 0; j < f->n_carry; j++) {
        const ad_type *old = ad_node_type(b->in[f->n_seq + j], 0);
        const ad_type *new = ad_node_type(b->out[j], 0);
        char s[120], t[120];
        if (!same_type(b->g, old, new))
            return ad_node_fail(y, COVAR_ERR_SHAPE,
                                "carry %d begins as %s, but the step makes it "
                                "%s",
                                j, ad_type_describe(s, sizeof(s), old),
                                ad_type_describe(t, sizeof(t), new));
    }
    return COVAR_OK;
}

static covar_status check_inputs(ad_node *y)
{
    const ad_scan_fields *f = fields_of(y);
    if (f->n_seq < 1 ||
        f->n_seq + f->n_carry + f->n_const != (int64_t)y->n_in ||
        f->body->n_in != y->n_in || f->body->n_out != f->n_carry + f->n_result)
        return ad_node_fail(y, COVAR_ERR_ARG,
                            "%d inputs for %d sequences (at least 1), %d "
                            "carries, %d constants",
                            y->n_in, (int)f->n_seq, (int)f->n_carry,
                            (int)f->n_const);
    for (int i = 0; i < y->n_in; i++) {
        ad_type got = ad_scan_slice(ad_in_type(y, i), i < f->n_seq);
        ad_type want = *ad_node_type(f->body->in[i], 0);
        for (int k = 0; k < want.rank; k++)
            want.dim[k] = ad_dim_import(y->graph, want.dim[k]);
        char t[120];
        if (i < f->n_seq && (ad_need_rank(y, i, 1) != COVAR_OK ||
                             !ad_same_dim(y, ad_in_type(y, i)->dim[0],
                                          ad_in_type(y, 0)->dim[0])))
            return ad_node_fail(y, COVAR_ERR_SHAPE,
                                "sequence 0 is %s, but sequence %d is %s: "
                                "lengths differ",
                                ad_in_text(y, 0).s, i, ad_in_text(y, i).s);
        if (!same_type(y->graph, &got, &want))
            return ad_node_fail(
                y, COVAR_ERR_SHAPE, "input %d is %s, but a step takes %s", i,
                ad_in_text(y, i).s, ad_type_describe(t, sizeof(t), &want));
    }
    return COVAR_OK;
}

/* (T, ...) of what a step makes. */
static covar_status set_stacked(ad_node *y, int k, const ad_type *one)
{
    ad_type t = {.dtype = one->dtype, .rank = one->rank + 1};
    if (t.rank > LA_MAX_DIMS)
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "value %d would have more than %d dims", k,
                            LA_MAX_DIMS);
    t.dim[0] = ad_in_type(y, 0)->dim[0];
    for (int i = 0; i < one->rank; i++)
        t.dim[i + 1] = ad_dim_import(y->graph, one->dim[i]);
    ad_node_set_type(y, k, &t);
    return COVAR_OK;
}

static covar_status infer(ad_node *y)
{
    const ad_scan_fields *f = fields_of(y);
    int n_carry = (int)f->n_carry, n_out = f->body->n_out;
    COVAR_TRY(check_inputs(y));
    COVAR_TRY(check_carries(y));
    COVAR_TRY(ad_node_set_n_out(y, n_out + n_carry));
    for (int k = 0; k < n_out; k++) {
        const ad_type *one = ad_node_type(f->body->out[k], 0);
        if (k < n_carry) {
            ad_type last = *ad_in_type(y, (int)f->n_seq + k);
            last.facts = 0;
            ad_node_set_type(y, k, &last);
        }
        COVAR_TRY(set_stacked(y, k < n_carry ? n_out + k : k, one));
    }
    return COVAR_OK;
}

/* ---- Evaluation --------------------------------------------------------- */

static size_t work(const ad_node *y, const la_view *x)
{
    const ad_body *b = fields_of(y)->body;
    (void)x;
    return (size_t)(b->n_in + b->n_out) * sizeof(la_view) +
           (size_t)b->n_out * sizeof(la_array *);
}

/* One step by the reference evaluator. */
static covar_status step_slowly(const ad_call *c, const la_view *in,
                                const la_view *out, la_array **made)
{
    const ad_body *b = fields_of(c->node)->body;
    covar_status status =
        ad_evaluate_body(c->exec, b, c->node->graph, c->symbol, in, made);
    for (int k = 0; k < b->n_out; k++) {
        if (status == COVAR_OK)
            status = la_copy(c->exec, out[k], la_array_view(made[k]));
        la_array_free(made[k]);
    }
    return status;
}

/* The views of step s: t its place, before the place of the step before. */
static void bind_step(const ad_call *c, size_t s, la_view *in, la_view *out)
{
    const ad_scan_fields *f = fields_of(c->node);
    size_t T = c->x[0].dim[0];
    size_t t = f->reverse ? T - 1 - s : s;
    size_t before = f->reverse ? t + 1 : t - 1;
    int n_seq = (int)f->n_seq, n_carry = (int)f->n_carry;
    int n_out = f->body->n_out;
    for (int i = 0; i < n_seq; i++)
        in[i] = la_view_row(c->x[i], t);
    for (int k = 0; k < n_out; k++)
        out[k] = la_view_row(c->out[k < n_carry ? n_out + k : k], t);
    for (int j = 0; j < n_carry && s > 0; j++)
        in[n_seq + j] = la_view_row(c->out[n_out + j], before);
}

static covar_status eval(const ad_call *c)
{
    const ad_scan_fields *f = fields_of(c->node);
    int n_in = c->node->n_in, n_out = f->body->n_out;
    la_view *in = c->work, *out = in + n_in;
    la_array **made = (la_array **)(void *)(out + n_out);
    size_t T = c->x[0].dim[0];
    for (int i = 0; i < n_in; i++)
        in[i] = c->x[i];
    for (size_t s = 0; s < T; s++) {
        bind_step(c, s, in, out);
        COVAR_TRY(c->body ? ad_run(c->body, in, out)
                          : step_slowly(c, in, out, made));
    }
    for (int j = 0; j < f->n_carry; j++) {
        la_view last =
            T == 0 ? c->x[f->n_seq + j]
                   : la_view_row(c->out[n_out + j], f->reverse ? 0 : T - 1);
        COVAR_TRY(la_copy(c->exec, c->out[j], last));
    }
    return COVAR_OK;
}

/* ---- Building ----------------------------------------------------------- */

ad_type ad_scan_slice(const ad_type *x, bool sequence)
{
    ad_type t = *x;
    if (!sequence || x->rank == 0)
        return t;
    t.rank--;
    t.facts = 0;
    for (int k = 0; k < t.rank; k++)
        t.dim[k] = x->dim[k + 1];
    return t;
}

ad_node *ad_scan_leaf(ad_graph *body, const ad_type *outer, const char *name)
{
    ad_type t = *outer;
    for (int k = 0; k < t.rank; k++)
        t.dim[k] = ad_dim_import(body, t.dim[k]);
    return ad_placeholder(body, &t, name);
}

ad_node *ad_scan_close(ad_graph *g, ad_graph *body, ad_node *const *inner,
                       ad_node *const *result, const ad_scan_fields *counts,
                       ad_node *const *outer)
{
    ad_scan_fields f = *counts;
    int n_in = (int)(f.n_seq + f.n_carry + f.n_const);
    covar_status status = ad_body_create(&f.body, body, inner, n_in, result,
                                         (int)(f.n_carry + f.n_result));
    if (status != COVAR_OK) {
        ad_graph_fail(g, status, "scan: in the step: %s",
                      ad_graph_error_text(body));
        ad_graph_free(body);
        return NULL;
    }
    ad_node *y = ad_apply(g, &ad_op_scan, n_in, outer, &f);
    ad_body_release(f.body);
    return y;
}

ad_graph *ad_scan_open(ad_graph *g)
{
    ad_graph *body;
    return ad_graph_child(&body, g) == COVAR_OK ? body : NULL;
}

/* What the step has used of the graph around becomes a constant. */
static void add_captures(ad_graph *body, ad_node **inner, ad_node **outer,
                         int *n_in, ad_scan_fields *f)
{
    size_t n = ad_graph_captures(body, NULL, NULL);
    if (n + (size_t)*n_in > AD_SCAN_MAX / 2) {
        ad_graph_fail(body, COVAR_ERR_UNSUPPORTED,
                      "%zu nodes of the graph around are too many", n);
        return;
    }
    ad_graph_captures(body, inner + *n_in, outer + *n_in);
    *n_in += (int)n;
    f->n_const += (int64_t)n;
}

/* Runs the caller's step in a new body; outer has room for AD_SCAN_MAX. */
static ad_node *build(const ad_scan_spec *s, ad_node **outer, int reverse)
{
    ad_scan_fields f = {NULL,       s->n_seq,    s->n_carry,
                        s->n_const, s->n_result, reverse};
    ad_graph *g = outer[0]->graph;
    ad_node *inner[AD_SCAN_MAX], *out[AD_SCAN_MAX] = {NULL};
    int n_in = s->n_seq + s->n_carry + s->n_const;
    ad_graph *body = ad_scan_open(g);
    if (!body)
        return NULL;
    for (int i = 0; i < n_in; i++) {
        ad_type t = ad_scan_slice(ad_node_type(outer[i], 0), i < s->n_seq);
        if (i < s->n_seq + s->n_carry)
            t.facts = 0;
        inner[i] = ad_scan_leaf(body, &t, ad_node_name(outer[i]));
    }
    covar_status status = s->step(body, inner, out, s->data);
    if (status != COVAR_OK)
        ad_graph_fail(body, status, "the step function failed: %s",
                      covar_status_text(status));
    add_captures(body, inner, outer, &n_in, &f);
    return ad_scan_close(g, body, inner, out, &f, outer);
}

/* All inputs in order; false after an error. */
static bool gather_inputs(const ad_scan_spec *s, ad_node **outer)
{
    static const ad_scan_spec none;
    const ad_scan_spec *given = s ? s : &none;
    ad_node *const *part[] = {given->seq, given->carry, given->constant};
    const int count[] = {given->n_seq, given->n_carry, given->n_const};
    ad_graph *g = s && s->n_seq > 0 && s->seq ? ad_node_graph(s->seq[0]) : NULL;
    int n = 0;
    if (!g)
        return false;
    for (int p = 0; p < 3; p++)
        if (count[p] < 0 || (count[p] > 0 && !part[p]) || s->n_result < 0 ||
            !s->step) {
            ad_graph_fail(g, COVAR_ERR_ARG,
                          "scan: %d sequences, %d carries, %d constants, %d "
                          "results: one list or the step is NULL",
                          s->n_seq, s->n_carry, s->n_const, s->n_result);
            return false;
        }
    if (2 * s->n_seq + 4 * s->n_carry + 2 * s->n_const + 2 * s->n_result >
        AD_SCAN_MAX) {
        ad_graph_fail(g, COVAR_ERR_UNSUPPORTED,
                      "scan: more than %d values with their derivatives",
                      AD_SCAN_MAX);
        return false;
    }
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < count[p]; i++) {
            if (!part[p][i])
                return false;
            outer[n++] = part[p][i];
        }
    for (int i = 0; i < s->n_seq; i++)
        if (ad_rank(outer[i]) == 0) {
            ad_graph_fail(g, COVAR_ERR_SHAPE,
                          "scan: sequence %d has no dims, so no steps", i);
            return false;
        }
    return true;
}

ad_node *ad_scan(const ad_scan_spec *spec)
{
    ad_node *outer[AD_SCAN_MAX];
    return gather_inputs(spec, outer) ? build(spec, outer, 0) : NULL;
}

/* ---- The operator ------------------------------------------------------- */

/* c' = tanh(W c + x), r = c'^2. */
static covar_status step_recurrent(ad_graph *body, ad_node *const *x,
                                   ad_node **out, void *data)
{
    (void)body, (void)data;
    out[0] = ad_tanh(ad_add(ad_matmul(x[2], x[1]), x[0]));
    out[1] = ad_square(out[0]);
    return COVAR_OK;
}

/* r = k x^2, no carry. */
static covar_status step_map(ad_graph *body, ad_node *const *x, ad_node **out,
                             void *data)
{
    (void)body, (void)data;
    out[0] = ad_mul(x[1], ad_square(x[0]));
    return COVAR_OK;
}

/* Variants: results, last and stacked carries of a recurrence; the results
 * backwards in time; no carry. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 5));
    static const size_t two[] = {2, 2};
    int v = ad_example_variant(e);
    size_t dim[2] = {n, 2};
    ad_node *x = ad_example_input(e, dtype, 2, dim, AD_DRAW_NORMAL);
    ad_node *c = ad_example_input(e, dtype, 1, two, AD_DRAW_NORMAL);
    ad_node *W = v == 4 ? c : ad_example_input(e, dtype, 2, two, AD_DRAW_UNIT);
    ad_scan_spec s = {.n_seq = 1,
                      .n_carry = 1,
                      .n_const = 1,
                      .n_result = 1,
                      .seq = &x,
                      .carry = &c,
                      .constant = &W,
                      .step = step_recurrent};
    if (v == 4) {
        s.n_carry = 0;
        s.step = step_map;
    }
    ad_node *outer[AD_SCAN_MAX];
    if (!gather_inputs(&s, outer))
        return ad_example_result(e, NULL);
    static const int which[] = {1, 0, 2, 1, 0};
    ad_node *y = build(&s, outer, v == 3);
    return ad_example_result(e, ad_out(y, which[v]));
}

const ad_op ad_op_scan = {
    .abi = AD_OP_ABI,
    .name = "scan",
    .formula = "c_t, r_t = body(x_t, c_(t-1), k)",
    .source = "Theano, arXiv 1211.5590",
    .n_in = -1,
    .n_out = -1,
    .fields = scan_fields,
    .fields_size = sizeof(ad_scan_fields),
    .views = -1,
    .infer = infer,
    .work = work,
    .eval = eval,
    .vjp = ad_scan_vjp,
    .jvp = ad_scan_jvp,
    .example = example,
};
