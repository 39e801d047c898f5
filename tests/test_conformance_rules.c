/* The conformance suite over rewrite rules: every rule has an example, and
 * what it makes of it has the same value and the same first and second
 * derivatives wherever the original is finite, and the expected size.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An example is an expression whose root the rule replaces, and the number of
 * operator nodes that are left when all phases have run. */
#include "config.h"

#include "conformance_rules.h"
#include "test_autodiff.h"

#include "autodiff/rewrite_impl.h"

#include <covar/rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Leaves and their values -------------------------------------------- */

typedef struct bench {
    fixture f;
    leaves l;
    ad_node *leaf[16];
    la_array *value[16];
    size_t n;
} bench;

static ad_node *leaf(bench *b, const char *name, int rank, size_t n, size_t m)
{
    ad_dim dim[2] = {ad_fixed(n), ad_fixed(m)};
    size_t d[2] = {n, m};
    la_exec exec = la_exec_cpu(b->f.ctx);
    ad_node *x = ad_input(b->f.g, name, LA_F64, rank, dim);
    CU_ASSERT_EQUAL_FATAL(
        la_array_create(&b->value[b->n], &exec, LA_F64, rank, d), COVAR_OK);
    covar_rng rng = covar_rng_init(7, b->n);
    double r[64];
    la_view v = la_array_view(b->value[b->n]);
    covar_rng_normal(r, la_view_count(v), &rng);
    for (size_t i = 0; i < la_view_count(v); i++)
        la_view_set(v, i, r[i]);
    b->leaf[b->n++] = x;
    return x;
}

/* Positive values, or a matrix with a dominant diagonal. */
static void make_positive(bench *b, bool diagonal)
{
    la_view v = la_array_view(b->value[b->n - 1]);
    for (size_t i = 0; i < la_view_count(v); i++) {
        double x = la_view_get(v, i);
        if (!diagonal)
            la_view_set(v, i, exp(x / 2));
        else if (i % (v.dim[0] + 1) == 0)
            la_view_set(v, i, 4 + 0.1 * x);
    }
    for (size_t i = 0; diagonal && i < v.dim[0]; i++)
        for (size_t j = 0; j < i; j++)
            la_view_set(v, i * v.dim[0] + j, la_view_get(v, j * v.dim[0] + i));
}

static void bench_init(bench *b)
{
    memset(b, 0, sizeof(*b));
    b->f = fixture_create(false);
    leaves *l = &b->l;
    l->g = b->f.g;
    l->x = leaf(b, "x", 1, 5, 1);
    l->y = leaf(b, "y", 1, 5, 1);
    l->z = leaf(b, "z", 1, 5, 1);
    l->s = leaf(b, "s", 0, 1, 1);
    l->p = leaf(b, "p", 1, 5, 1);
    make_positive(b, false);
    l->A = leaf(b, "A", 2, 4, 3);
    l->B = leaf(b, "B", 2, 3, 4);
    l->C = leaf(b, "C", 2, 4, 3);
    l->D = leaf(b, "D", 2, 4, 4);
    l->K = leaf(b, "K", 2, 4, 4);
    make_positive(b, true);
    l->one = leaf(b, "one", 2, 4, 1);
}

static void bench_clear(bench *b)
{
    for (size_t i = 0; i < b->n; i++)
        la_array_free(b->value[i]);
    fixture_free(&b->f);
}

static la_array *value_of(bench *b, ad_node *y)
{
    la_view v[16];
    for (size_t i = 0; i < b->n; i++)
        v[i] = la_array_view(b->value[i]);
    return evaluate(&b->f, y, b->leaf, v, b->n);
}

/* ---- Comparisons -------------------------------------------------------- */

/* Equal wherever the first is finite. */
static void compare(bench *b, const example *e, const char *what, ad_node *y,
                    ad_node *z)
{
    la_array *p = value_of(b, y), *q = value_of(b, z);
    for (size_t i = 0; p && q && i < la_view_count(la_array_view(p)); i++) {
        double u = la_view_get(la_array_view(p), i);
        double v = la_view_get(la_array_view(q), i);
        if (isfinite(u))
            test_check(fabs(u - v) <= 1e-10 * fmax(1, fabs(u)), __FILE__,
                       __LINE__, "%s: %s of element %zu: %.17g but %.17g",
                       e->rule, what, i, u, v);
    }
    la_array_free(p);
    la_array_free(q);
}

/* A constant of y's type with values that have no symmetry. */
static ad_node *weights(ad_graph *g, const ad_node *y, double phase)
{
    size_t dim[LA_MAX_DIMS] = {0}, n = 1;
    double w[256];
    for (int k = 0; k < y->type->rank; k++) {
        ad_dim_is_fixed(y->type->dim[k], &dim[k]);
        n *= dim[k];
    }
    for (size_t i = 0; i < n && i < 256; i++)
        w[i] = sin(phase + 1.7 * (double)i) + 0.3;
    return ad_constant(g, la_view_dense(w, LA_F64, y->type->rank, dim));
}

/* Adjoint of x from y's weighted sum, as the graph stands. */
static ad_node *literal_grad(ad_node *y, ad_node *x, double phase)
{
    ad_grad_options o = {.zero_if_disconnected = true, .literal = true};
    ad_node *w = weights(y->graph, y, phase), *x_bar = NULL;
    if (ad_lop(&x_bar, &y, &w, 1, &x, 1, &o) != COVAR_OK) {
        ad_graph_clear_error(y->graph);
        return NULL;
    }
    return x_bar;
}

static void compare_derivatives(bench *b, const example *e, ad_node *z)
{
    for (size_t i = 0; i < b->n; i++) {
        ad_node *y1 = literal_grad(e->y, b->leaf[i], 1);
        ad_node *z1 = literal_grad(z, b->leaf[i], 1);
        if (!y1 || !z1) {
            test_check(y1 == z1, __FILE__, __LINE__, "%s: one has no slope",
                       e->rule);
            continue;
        }
        compare(b, e, "slope", y1, z1);
        for (size_t j = 0; j < b->n; j++) {
            ad_node *y2 = literal_grad(y1, b->leaf[j], 2);
            ad_node *z2 = literal_grad(z1, b->leaf[j], 2);
            if (y2 && z2)
                compare(b, e, "second slope", y2, z2);
        }
    }
}

static size_t operator_count(ad_node *y)
{
    size_t n, count = 0;
    ad_node **order = ad_topological(y->graph, &y, 1, &n);
    for (size_t i = 0; order && i < n; i++)
        count += order[i]->n_in > 0;
    covar_heap_free(y->graph->heap, order);
    return count;
}

/* ---- One rule ----------------------------------------------------------- */

static ad_node *replaced(const ad_rule *r, const example *e)
{
    ad_rewriter rw = {.g = e->y->graph};
    test_check(e->y->op == r->root, __FILE__, __LINE__,
               "%s: the example's root is %s, not %s", r->name, e->y->op->name,
               r->root->name);
    ad_node *z = r->apply(&rw, e->y);
    test_check(z != NULL, __FILE__, __LINE__, "%s: does not apply", r->name);
    if (z)
        test_check(z != e->y && ad_same_shape(z, e->y), __FILE__, __LINE__,
                   "%s: gives another type", r->name);
    return z;
}

static void check_size(const ad_rule *r, const example *e)
{
    ad_node *y = e->y;
    for (int p = AD_PHASE_CANONICAL; p <= (int)AD_PHASE_BLAS; p++)
        if (p <= (int)AD_PHASE_STABLE || p <= (int)r->phase)
            TEST_OK(y->graph->ctx, ad_rewrite(y->graph, (ad_phase)p, &y, 1));
    test_check(operator_count(y) == e->count, __FILE__, __LINE__,
               "%s: %zu operators are left, not %zu", r->name,
               operator_count(y), e->count);
}

static void run_rule(const void *data)
{
    const ad_rule *r = data;
    bench b;
    example list[MOST_EXAMPLES];
    size_t n = 0, n_own = 0;
    bench_init(&b);
    examples_all(list, &n, &b.l);
    if (!TEST_OK(b.f.ctx, ad_graph_error(b.f.g)))
        n = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i].rule, r->name) != 0)
            continue;
        n_own++;
        ad_node *z = list[i].y ? replaced(r, &list[i]) : NULL;
        if (!z)
            continue;
        compare(&b, &list[i], "value", list[i].y, z);
        if (r->phase != AD_PHASE_IDENTITY)
            compare_derivatives(&b, &list[i], z);
        check_size(r, &list[i]);
    }
    test_check(n_own > 0, __FILE__, __LINE__, "%s has no example", r->name);
    bench_clear(&b);
}

/* ---- Limits of the rules ------------------------------------------------ */

/* Rewritten by all phases of a derivative: the operators in depth order. */
static void check_text(ad_node *y, const char *expected)
{
    TEST_OK(y->graph->ctx, ad_rewrite(y->graph, AD_PHASE_CANONICAL, &y, 1));
    TEST_OK(y->graph->ctx, ad_rewrite(y->graph, AD_PHASE_STABLE, &y, 1));
    char *text = ad_print(y);
    TEST_TEXT(text, expected);
    ad_text_free(y->graph, text);
}

static void test_kept(void)
{
    bench b;
    bench_init(&b);
    ad_node *x = b.l.x;
    check_text(ad_sub(x, x), "(sub x x)");
    check_text(ad_scale(x, 0), "(mul x 0)");
    check_text(ad_div(x, x), "(div x x)");
    check_text(ad_add_scalar(ad_exp(x), -2), "(add (exp x) -2)");
    check_text(ad_add_scalar(ad_exp(x), -1), "(expm1 x)");
    check_text(ad_log(ad_add_scalar(x, 1)), "(log1p x)");
    check_text(ad_log(ad_add_scalar(ad_exp(ad_neg(x)), 1)),
               "(softplus (neg x))");
    bench_clear(&b);
}

/* The chain has 20,000 nodes: linear, and no recursion. */
static void test_long_chain(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_fixed(3);
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n), *y = x;
    for (int i = 0; i < 20000; i++)
        y = i % 2 ? ad_sin(y) : ad_add_scalar(y, 0.5);
    TEST_OK(f.ctx, ad_rewrite(f.g, AD_PHASE_CANONICAL, &y, 1));
    TEST_OK(f.ctx, ad_rewrite(f.g, AD_PHASE_STABLE, &y, 1));
    TEST_INT(operator_count(y), 20000);
    fixture_free(&f);
}

static void test_opaque(void)
{
    bench b;
    bench_init(&b);
    ad_node *inner = ad_add_scalar(ad_neg(ad_neg(b.l.x)), 0);
    ad_node *y = ad_neg(ad_neg(inner));
    TEST_OK(b.f.ctx,
            ad_rewrite_opaque(b.f.g, AD_PHASE_CANONICAL, &y, 1, &inner, 1));
    CU_ASSERT_PTR_EQUAL(y, inner);
    bench_clear(&b);
}

static covar_status build_and_rewrite(covar_context *ctx, void *data)
{
    ad_graph *g;
    (void)data;
    COVAR_TRY(ad_graph_create(&g, ctx, NULL));
    ad_dim n = ad_fixed(3);
    ad_node *x = ad_input(g, "x", LA_F64, 1, &n);
    ad_node *y = ad_log(ad_add(ad_exp(x), ad_exp(ad_neg(ad_neg(x)))));
    covar_status status = ad_graph_error(g);
    if (status == COVAR_OK)
        status = ad_rewrite(g, AD_PHASE_STABLE, &y, 1);
    ad_graph_free(g);
    return status;
}

static void test_memory(void)
{
    test_allocation_sweep("rewrite", build_and_rewrite, NULL);
}

static void call(const void *data)
{
    static void (*const run[])(void) = {test_kept, test_long_chain, test_opaque,
                                        test_memory};
    run[(size_t)(uintptr_t)data]();
}

int main(void)
{
    static const char *const name[] = {"what is not folded", "20,000 nodes",
                                       "opaque nodes", "allocation failures"};
    const ad_rule *r;
    for (size_t i = 0; (r = ad_rule_get(i)); i++)
        cutap_add("rules", r->name, run_rule, r);
    for (size_t i = 0; i < NELEM(name); i++)
        cutap_add("rewriter", name[i], call, (const void *)(uintptr_t)i);
    return cutap_finish();
}
