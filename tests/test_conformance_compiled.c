/* Every operator, compiled: the program agrees with the reference evaluator.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For every variant of every operator a small graph is built around the
 * example: the values themselves, a scalar made from them by elementwise
 * operators, and the gradient of that scalar. It is compiled with and without
 * rules and fusion and run on one and two threads. */
#include "config.h"

#include "conformance.h"

#include "autodiff/program_impl.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROOTS = 24 };

typedef struct figure { /* a graph around an example */
    ad_node *root[MOST_ROOTS];
    size_t n;
} figure;

static void add_root(figure *f, ad_node *x)
{
    if (x && f->n < MOST_ROOTS)
        f->root[f->n++] = x;
}

/* sum tanh(y / 4) exp(y / 8 - y'y / 100): every kind of fusion. */
static ad_node *decorate(ad_node *y)
{
    ad_node *a = ad_tanh(ad_scale(y, 0.25));
    ad_node *q = ad_scale(ad_sum(ad_square(y), AD_ALL), -0.01);
    ad_node *b = ad_exp(ad_add(ad_scale(y, 0.125), q));
    return ad_sum(ad_mul(a, b), AD_ALL);
}

static void build(subject *s, figure *f)
{
    ad_node *y = s->e.y, *total = NULL;
    f->n = 0;
    for (int k = 0; k < y->n_out; k++) {
        ad_node *value = ad_out(y, k);
        add_root(f, value);
        if (!la_dtype_is_real(value->type->dtype) || !subject_is_smooth(s))
            continue;
        ad_node *part = decorate(value);
        total = total ? ad_add(total, part) : part;
    }
    add_root(f, total);
    ad_grad_options o = {.zero_if_disconnected = true};
    for (int i = 0; total && i < s->e.n_in; i++) {
        ad_node *x = s->e.in[i].node, *x_bar = NULL;
        if (!s->e.in[i].smooth)
            continue;
        ad_node *one = ad_scalar(s->e.g, s->dtype, 1);
        if (ad_lop(&x_bar, &total, &one, 1, &x, 1, &o) == COVAR_OK)
            add_root(f, x_bar);
        else
            ad_graph_clear_error(s->e.g);
    }
}

/* Leaf i at its value; the caller frees it. */
static la_array *leaf_array(const subject *s, int i)
{
    const ad_type *t = s->leaf[i]->type;
    la_exec exec = la_exec_cpu(s->ctx);
    size_t dim[LA_MAX_DIMS] = {0};
    la_array *a = NULL;
    for (int k = 0; k < t->rank; k++)
        ad_dim_is_fixed(t->dim[k], &dim[k]);
    if (la_array_create(&a, &exec, t->dtype, t->rank, dim) != COVAR_OK)
        return NULL;
    la_view v = la_array_view(a);
    for (size_t k = 0; k < la_view_count(v); k++)
        la_view_set(v, k, s->value[i][k]);
    return a;
}

static la_array *array_like(const subject *s, la_array *a)
{
    la_exec exec = la_exec_cpu(s->ctx);
    la_view v = la_array_view(a);
    la_array *b = NULL;
    if (la_array_create(&b, &exec, v.dtype, v.rank, v.dim) != COVAR_OK)
        return NULL;
    return b;
}

static covar_status run_compiled(subject *s, const figure *f,
                                 const ad_compile_options *o, int threads,
                                 la_array **in, la_array **out)
{
    ad_slot slot[SUBJECT_MAX_LEAF + MOST_ROOTS];
    la_view x[SUBJECT_MAX_LEAF], y[MOST_ROOTS];
    size_t n = 0;
    ad_program *p = NULL;
    ad_runner *r = NULL;
    for (int i = 0; i < s->n_leaf; i++) {
        slot[n++] = (ad_slot){AD_SLOT_IN, s->leaf[i], NULL};
        x[i] = la_array_view(in[i]);
    }
    for (size_t k = 0; k < f->n; k++) {
        slot[n++] = (ad_slot){AD_SLOT_OUT, f->root[k], NULL};
        y[k] = la_array_view(out[k]);
    }
    covar_context_set_threads(s->ctx, threads);
    ad_signature signature = {n, slot};
    covar_status status = ad_compile(&p, s->e.g, &signature, o);
    if (status == COVAR_OK)
        status = ad_runner_create(&r, p, ad_graph_store(s->e.g), s->ctx);
    for (int k = 0; k < 2 && status == COVAR_OK; k++)
        status = ad_run(r, x, y);
    ad_runner_free(r);
    ad_program_free(p);
    return status;
}

static void compare(subject *s, const figure *f, la_array **want,
                    la_array **have, const ad_compile_options *o)
{
    double tolerance = s->dtype == LA_F32 ? 2e-4 : 1e-11;
    for (size_t k = 0; k < f->n; k++) {
        la_view a = la_array_view(want[k]), b = la_array_view(have[k]);
        double scale = 1, gap = 0;
        for (size_t i = 0; i < la_view_count(a); i++) {
            double p = la_view_get(a, i), q = la_view_get(b, i);
            scale = fmax(scale, fabs(p));
            gap = fmax(gap, p == q || (isnan(p) && isnan(q)) ? 0
                            : isfinite(p) == isfinite(q)     ? fabs(p - q)
                                                             : INFINITY);
        }
        subject_check(s, gap <= tolerance * scale,
                      "root %zu: compiled (no_rewrite %d, no_fuse %d) differs "
                      "by %g of %g",
                      k, o->no_rewrite, o->no_fuse, gap, scale);
    }
}

static void check_figure(subject *s)
{
    static const ad_compile_options options[] = {
        {.no_rewrite = true, .no_fuse = true},
        {.no_rewrite = true},
        {.no_fuse = true},
        {0},
    };
    figure f;
    la_array *in[SUBJECT_MAX_LEAF] = {NULL};
    la_array *want[MOST_ROOTS] = {NULL}, *have[MOST_ROOTS] = {NULL};
    build(s, &f);
    if (!subject_evaluate(s, f.root, f.n, 0, want))
        return;
    for (int i = 0; i < s->n_leaf; i++)
        in[i] = leaf_array(s, i);
    for (size_t k = 0; k < f.n; k++)
        have[k] = array_like(s, want[k]);
    for (size_t c = 0; c < NELEM(options); c++) {
        covar_status status =
            run_compiled(s, &f, &options[c], 1 + (int)c % 2, in, have);
        subject_check(s, status == COVAR_OK, "compiled: %s: %s",
                      covar_status_name(status), covar_error_text(s->ctx));
        if (status == COVAR_OK)
            compare(s, &f, want, have, &options[c]);
    }
    for (int i = 0; i < s->n_leaf; i++)
        la_array_free(in[i]);
    for (size_t k = 0; k < f.n; k++) {
        la_array_free(want[k]);
        la_array_free(have[k]);
    }
}

static void run_op(const void *data)
{
    static const size_t sizes[] = {0, 1, 7};
    const ad_op *op = data;
    covar_context *ctx = test_context();
    size_t n_check = 0;
    bool more = true;
    for (int variant = 0; more; variant++)
        for (size_t c = 0; c < 2 * NELEM(sizes) && more; c++) {
            size_t n = sizes[c / 2];
            subject s;
            more = subject_init(&s, ctx, op, n, c % 2 ? LA_F32 : LA_F64,
                                variant, c == 4 ? 2 : 0);
            if (!more)
                break;
            check_figure(&s);
            n_check += s.n_check;
            subject_clear(&s);
        }
    cutap_note("%s: %zu checks", op->name, n_check);
    covar_context_free(ctx);
}

int main(void)
{
    for (const ad_op *const *op = ad_ops; *op; op++)
        if ((*op)->example)
            cutap_add("compiled", (*op)->name, run_op, *op);
    return cutap_finish();
}
