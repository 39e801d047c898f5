/* Conformance of values: shapes, facts, f32 against f64, threads, in place,
 * wrong inputs, failing allocations.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "conformance.h"

#include "autodiff/ops/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Shapes, facts, precision ------------------------------------------- */

static void check_shape(subject *s, const ad_node *y, la_view v)
{
    const ad_type *t = ad_node_type(y, 0);
    char a[128], b[128];
    bool same = t->rank == v.rank && t->dtype == v.dtype;
    for (int k = 0; same && k < t->rank; k++) {
        size_t n;
        same = ad_dim_is_fixed(t->dim[k], &n) && n == v.dim[k];
    }
    subject_check(s, same, "%s inferred %s, got %s", y->op->name,
                  ad_type_describe(a, sizeof(a), t),
                  la_view_describe(b, sizeof(b), v));
}

/* One matrix against its facts; `tolerance` for symmetry. */
static bool facts_hold(const double *x, size_t n, unsigned facts,
                       double tolerance)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double v = x[i * n + j];
            if (isnan(v))
                continue;
            if ((facts & AD_LOWER) && j > i && v != 0)
                return false;
            if ((facts & AD_UPPER) && j < i && v != 0)
                return false;
            if ((facts & AD_DIAGONAL) && j != i && v != 0)
                return false;
            if ((facts & (AD_SYMMETRIC | AD_PD)) &&
                fabs(v - x[j * n + i]) > tolerance)
                return false;
        }
    return true;
}

static void check_facts(subject *s, ad_node *y)
{
    unsigned facts = ad_node_type(y, 0)->facts;
    const ad_type *t = ad_node_type(y, 0);
    size_t count, n = 0;
    double *x = facts ? subject_values(s, y, 0, &count) : NULL;
    if (!x)
        return;
    bool good = true;
    if (t->rank >= 2)
        ad_dim_is_fixed(t->dim[t->rank - 1], &n);
    double scale = 1e-10 * fmax(1, max_abs(x, count));
    if (facts & ~(unsigned)(AD_POSITIVE | AD_ORTHOGONAL))
        for (size_t at = 0; n > 0 && at < count; at += n * n)
            good = good && facts_hold(x + at, n, facts, scale);
    for (size_t i = 0; (facts & AD_POSITIVE) && i < count; i++)
        good = good && (x[i] > 0 || isnan(x[i]));
    subject_check(s, good, "%s does not have its facts %#x", y->op->name,
                  facts);
    free(x);
}

/* Facts of everything in the graph of the value and of its adjoints. */
static void check_all_facts(subject *s)
{
    ad_node *root[AD_EXAMPLE_MAX_IN + 1] = {s->e.y}, *wrt[AD_EXAMPLE_MAX_IN];
    int n = 0;
    ad_grad_options o = {.zero_if_disconnected = true};
    for (int i = 0; i < s->e.n_in; i++)
        if (s->e.in[i].smooth)
            wrt[n++] = s->e.in[i].node;
    if (n > 0 && subject_is_smooth(s)) {
        ad_node *w = subject_leaf(s, s->e.y, "w", 5);
        covar_status status = ad_lop(root + 1, &s->e.y, &w, 1, wrt, n, &o);
        if (!subject_check(s, status == COVAR_OK, "vjp: %s",
                           covar_error_text(s->ctx)))
            return;
    } else {
        n = 0;
    }
    size_t count = 0;
    ad_node **all = ad_topological(s->e.g, root, (size_t)n + 1, &count);
    for (size_t i = 0; all && i < count; i++)
        check_facts(s, all[i]);
    covar_heap_free(s->e.g->heap, all);
}

/* How far f32 may be from f64, relative to the largest element. */
static double f32_tolerance(const ad_op *op, size_t n)
{
    double base = 2e-6 * (3 + sqrt((double)n));
    return op == &ad_op_eigh ? 1000 * base : base;
}

static void check_size(covar_context *ctx, const ad_op *op, int variant,
                       size_t n, size_t batch, size_t *checks)
{
    subject wide, narrow;
    size_t m, k;
    if (!subject_init(&wide, ctx, op, n, LA_F64, variant, batch))
        return;
    la_array *array;
    if (subject_evaluate(&wide, &wide.e.y, 1, 0, &array)) {
        check_shape(&wide, wide.e.y, la_array_view(array));
        la_array_free(array);
    }
    if (n == 7)
        check_all_facts(&wide);
    if (subject_init(&narrow, ctx, op, n, LA_F32, variant, batch)) {
        double *a = subject_values(&wide, wide.e.y, 0, &m);
        double *b = subject_values(&narrow, narrow.e.y, 0, &k);
        if (a && b && subject_check(&narrow, m == k, "%zu elements", k) &&
            !(op->flags & AD_RANDOM)) {
            double gap = max_gap(b, a, m), scale = fmax(1, max_abs(a, m));
            subject_check(&narrow, gap <= f32_tolerance(op, n) * scale,
                          "f32 is off by %g of %g", gap, scale);
        }
        free(a);
        free(b);
        *checks += narrow.n_check;
        subject_clear(&narrow);
    }
    *checks += wide.n_check;
    subject_clear(&wide);
}

size_t conformance_values(covar_context *ctx, const ad_op *op, int variant)
{
    static const size_t size[] = {0, 1, 2, 7, 33, 64, 65};
    bool batched = (op->flags & AD_BATCHED) != 0;
    size_t checks = 0;
    for (size_t i = 0; i < NELEM(size); i++) {
        check_size(ctx, op, variant, size[i], 0, &checks);
        if (batched)
            check_size(ctx, op, variant, size[i], 3, &checks);
    }
    if (batched)
        check_size(ctx, op, variant, 2, 0, &checks);
    return checks;
}

/* ---- Threads ------------------------------------------------------------ */

size_t conformance_threads(covar_context *ctx, const ad_op *op, int variant)
{
    double *x[2] = {NULL, NULL};
    size_t count[2] = {0, 0}, checks = 0;
    int before = covar_context_threads(ctx);
    subject s;
    if (!subject_init(&s, ctx, op, 65, LA_F64, variant, 0))
        return 0;
    for (int i = 0; i < 2; i++) {
        covar_context_set_threads(ctx, i + 1);
        x[i] = subject_values(&s, s.e.y, 0, &count[i]);
    }
    covar_context_set_threads(ctx, before);
    if (x[0] && x[1]) {
        double gap = max_gap(x[0], x[1], count[0]);
        double scale = fmax(1, max_abs(x[0], count[0]));
        subject_check(&s, gap <= 1e-11 * scale,
                      "1 and 2 threads differ by %g of %g", gap, scale);
    }
    free(x[0]);
    free(x[1]);
    checks = s.n_check;
    subject_clear(&s);
    return checks;
}

/* ---- In place ----------------------------------------------------------- */

/* The application of the operator in the example's graph. */
static ad_node *find(subject *s, const ad_op *op)
{
    size_t n = 0;
    ad_node **all = ad_topological(s->e.g, &s->e.y, 1, &n), *found = NULL;
    for (size_t i = 0; all && i < n; i++)
        if (all[i]->op == op)
            found = all[i];
    covar_heap_free(s->e.g->heap, all);
    return found;
}

static covar_status call(covar_context *ctx, const ad_node *y, const la_view *x,
                         const la_view *out)
{
    la_exec exec = la_exec_cpu(ctx);
    ad_call c = {.node = y, .exec = &exec, .x = x, .out = out};
    int32_t *info = NULL;
    void *work = NULL;
    if (!y->op->eval)
        return la_map(&exec, y->op->row, out[0], x);
    if (y->op->work)
        c.work = work = aligned_alloc(64, (y->op->work(y, x) + 127) / 64 * 64);
    if (y->op->flags & AD_FALLIBLE)
        c.info = info = calloc(ad_info_count(y, x) + 1, sizeof(*info));
    covar_status status = y->op->eval(&c);
    free(work);
    free(info);
    return status;
}

/* Both ways for input i; `x` are its inputs as arrays, read-only. */
static void compare_in_place(subject *s, ad_node *y, la_array **x, int i)
{
    la_exec exec = la_exec_cpu(s->ctx);
    la_view view[8], out[2], plain[2];
    la_array *own[2] = {NULL, NULL}, *over[2] = {NULL, NULL};
    size_t dim[LA_MAX_DIMS];
    for (int k = 0; k < y->n_in; k++)
        view[k] = la_array_view(x[k]);
    covar_status status = COVAR_OK;
    for (int k = 0; status == COVAR_OK && k < y->n_out; k++) {
        const ad_type *t = ad_node_type(y, k);
        for (int j = 0; j < t->rank; j++)
            ad_dim_is_fixed(t->dim[j], &dim[j]);
        status = la_array_create(&own[k], &exec, t->dtype, t->rank, dim);
        if (status == COVAR_OK)
            status =
                k ? la_array_create(&over[k], &exec, t->dtype, t->rank, dim)
                  : la_array_from_view(&over[0], &exec, view[i]);
        if (status == COVAR_OK) {
            plain[k] = la_array_view(own[k]);
            out[k] = la_array_view(over[k]);
        }
    }
    if (status == COVAR_OK && la_view_same_dims(plain[0], view[i])) {
        status = call(s->ctx, y, view, plain);
        view[i] = out[0];
        if (status == COVAR_OK)
            status = call(s->ctx, y, view, out);
        bool same = status == COVAR_OK;
        for (size_t k = 0; same && k < la_view_count(plain[0]); k++) {
            double a = la_view_get(plain[0], k), b = la_view_get(out[0], k);
            same = a == b || (isnan(a) && isnan(b));
        }
        subject_check(s, same, "over input %d: %s", i,
                      status == COVAR_OK ? "another value"
                                         : covar_error_text(s->ctx));
    }
    for (int k = 0; k < 2; k++) {
        la_array_free(own[k]);
        la_array_free(over[k]);
    }
}

size_t conformance_in_place(covar_context *ctx, const ad_op *op, int variant)
{
    static const size_t size[] = {2, 33};
    size_t checks = 0;
    for (size_t k = 0; op->overwrites && k < NELEM(size); k++) {
        subject s;
        if (!subject_init(&s, ctx, op, size[k], LA_F64, variant, 0))
            break;
        ad_node *y = find(&s, op);
        la_array *x[8] = {NULL};
        if (subject_check(&s, y != NULL, "the example does not apply it") &&
            subject_evaluate(&s, y->in, (size_t)y->n_in, 0, x))
            for (int i = 0; i < y->n_in; i++)
                if (op->overwrites & (1u << i))
                    compare_in_place(&s, y, x, i);
        for (int i = 0; i < 8; i++)
            la_array_free(x[i]);
        checks += s.n_check;
        subject_clear(&s);
    }
    return checks;
}

/* ---- Wrong inputs ------------------------------------------------------- */

typedef enum damage { WRONG_DTYPE, WRONG_RANK, WRONG_SIZE, DAMAGES } damage;

static ad_node *damaged(subject *s, const ad_node *x, damage how)
{
    ad_type t = *ad_node_type(x, 0);
    t.facts = 0;
    if (how == WRONG_DTYPE)
        t.dtype = t.dtype == LA_U8 ? LA_F64 : LA_U8;
    if (how == WRONG_RANK && t.rank < LA_MAX_DIMS)
        t.dim[t.rank++] = ad_fixed(5);
    if (how == WRONG_SIZE)
        for (int k = 0; k < t.rank; k++)
            t.dim[k] = ad_fixed(11 + (size_t)k);
    return ad_placeholder(s->e.g, &t, "wrong");
}

/* Each input in turn is replaced; the operator must take it or fail with a
 * status and a sentence, and it must fail at least once. */
size_t conformance_bad_input(covar_context *ctx, const ad_op *op, int variant)
{
    subject s;
    if (!subject_init(&s, ctx, op, 2, LA_F64, variant, 0))
        return 0;
    ad_node *y = find(&s, op);
    int refused = 0;
    if (subject_check(&s, y != NULL, "the example does not apply it"))
        for (int i = 0; i < y->n_in; i++)
            for (damage how = WRONG_DTYPE; how < DAMAGES; how++) {
                ad_node *in[8];
                memcpy(in, y->in, (size_t)y->n_in * sizeof(*in));
                in[i] = damaged(&s, in[i], how);
                covar_error_clear(ctx);
                ad_node *z = ad_apply(s.e.g, op, y->n_in, in, y->fields);
                if (z)
                    continue;
                refused++;
                subject_check(
                    &s,
                    ad_graph_error(s.e.g) != COVAR_OK &&
                        strstr(ad_graph_error_text(s.e.g), op->name) != NULL,
                    "a wrong input %d (%d): no sentence", i, how);
                ad_graph_clear_error(s.e.g);
            }
    bool any_type = y && y->n_in == 1 &&
                    (op->views >= 0 || op->n_in < 0 || op == &ad_op_cast);
    subject_check(&s, refused > 0 || any_type || !y || y->n_in == 0,
                  "every wrong input was taken");
    size_t checks = s.n_check;
    subject_clear(&s);
    return checks;
}

/* ---- Memory ------------------------------------------------------------- */

typedef struct memory_case {
    const ad_op *op;
    int variant;
} memory_case;

/* The value and, where there are any, the adjoints at n = 2. */
static covar_status memory_body(covar_context *ctx, void *data)
{
    const memory_case *m = data;
    subject s = {.ctx = ctx, .n = 2, .dtype = LA_F64};
    la_array *array[1 + AD_EXAMPLE_MAX_IN] = {NULL};
    la_array *x[AD_EXAMPLE_MAX_IN + 1] = {NULL};
    la_view view[AD_EXAMPLE_MAX_IN + 1];
    ad_node *leaf[AD_EXAMPLE_MAX_IN + 1], *wrt[AD_EXAMPLE_MAX_IN];
    ad_node *root[1 + AD_EXAMPLE_MAX_IN];
    la_exec exec = la_exec_cpu(ctx);
    ad_grad_options o = {.zero_if_disconnected = true};
    covar_status status =
        ad_example_init(&s.e, ctx, m->op, 2, LA_F64, m->variant, 0);
    if (status != COVAR_OK)
        return status;
    int n = 0, n_leaf = s.e.n_in;
    root[0] = s.e.y;
    for (int i = 0; status == COVAR_OK && i < s.e.n_in; i++) {
        const ad_example_value *v = &s.e.in[i];
        const ad_type *t = ad_node_type(v->node, 0);
        size_t dim[LA_MAX_DIMS] = {0};
        for (int k = 0; k < t->rank; k++)
            ad_dim_is_fixed(t->dim[k], &dim[k]);
        leaf[i] = v->node;
        status = la_array_create(&x[i], &exec, t->dtype, t->rank, dim);
        if (status != COVAR_OK)
            break;
        view[i] = la_array_view(x[i]);
        for (size_t k = 0; k < v->count; k++)
            la_view_set(view[i], k, v->value[k]);
        if (v->smooth)
            wrt[n++] = v->node;
    }
    if (status == COVAR_OK && n > 0 && subject_is_smooth(&s)) {
        leaf[n_leaf] = s.e.y;
        status = ad_lop(root + 1, &s.e.y, &s.e.y, 1, wrt, n, &o);
    } else {
        n = 0;
    }
    if (status == COVAR_OK)
        status = ad_evaluate(s.e.g, leaf, view, (size_t)n_leaf, root,
                             (size_t)n + 1, array);
    for (int i = 0; i <= n; i++)
        la_array_free(array[i]);
    for (int i = 0; i < s.e.n_in; i++)
        la_array_free(x[i]);
    ad_example_clear(&s.e);
    return status;
}

size_t conformance_memory(const ad_op *op, int variant)
{
    memory_case m = {op, variant};
    return test_allocation_sweep(op->name, memory_body, &m);
}
