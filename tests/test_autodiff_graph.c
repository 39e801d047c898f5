/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <math.h>
#include <string.h>

static void test_evaluate(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), d[] = {n, ad_fixed(2)};
    ad_node *X = ad_input(f.g, "X", LA_F64, 2, d);
    double w[2] = {10, 1}, x[6] = {1, 2, 3, 4, 5, 6};
    ad_node *W = ad_param(f.g, "W", la_mat_f64(w, 2, 1));
    ad_node *y = ad_matmul(X, W);
    y = ad_div(ad_sum(y, AD_ALL), ad_dim_value(f.g, LA_F64, n));
    la_array *a = evaluate(&f, y, &X, (la_view[]){la_mat_f64(x, 3, 2)}, 1);
    TEST_CLOSE(la_view_get(la_array_view(a), 0), (12 + 34 + 56) / 3.0, 1e-15);
    la_array_free(a);
    /* any strides, and another size */
    const size_t dim[] = {2, 2};
    const ptrdiff_t stride[] = {1, 3};
    la_view v = la_view_strided(x, LA_F64, 2, dim, stride);
    a = evaluate(&f, y, &X, &v, 1);
    TEST_CLOSE(la_view_get(la_array_view(a), 0), (14 + 25) / 2.0, 1e-15);
    la_array_free(a);
    /* an inner node as a leaf */
    ad_node *s = ad_node_in(y, 0);
    double four = 4;
    la_array *out;
    TEST_STATUS(
        f.ctx,
        ad_evaluate(f.g, &s, (la_view[]){la_scalar_f64(&four)}, 1, &y, 1, &out),
        COVAR_ERR_SHAPE); /* n is not bound */
    CU_ASSERT_PTR_NULL(out);
    fixture_free(&f);
}

static void test_evaluate_errors(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n);
    ad_node *z = ad_input(f.g, "z", LA_F64, 1, &n);
    ad_node *y = ad_add(x, z), *leaf[] = {x, z};
    double v[3] = {1, 2, 3};
    la_array *out;
    TEST_STATUS(f.ctx,
                ad_evaluate(f.g, leaf,
                            (la_view[]){la_vec_f64(v, 3), la_vec_f64(v, 2)}, 2,
                            &y, 1, &out),
                COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(f.ctx), "'z' is n f64 but its value is");
    TEST_STATUS(
        f.ctx,
        ad_evaluate(f.g, leaf, (la_view[]){la_vec_f64(v, 3)}, 1, &y, 1, &out),
        COVAR_ERR_STATE);
    TEST_CONTAINS(covar_error_text(f.ctx), "input 'z' has no value");
    fixture_free(&f);
}

static void test_eager_values(void)
{
    fixture f = fixture_create(true);
    ad_node *x = ad_scalar(f.g, LA_F64, 3);
    ad_node *y = ad_mul(x, ad_exp(x));
    TEST_CLOSE(eager_get(y, 0), 3 * exp(3), 1e-15);
    int n = 0;
    while (eager_get(x, 0) < 100) { /* a dynamic graph */
        x = ad_scale(x, 2);
        n++;
    }
    TEST_INT(n, 6);
    la_array *kept = ad_value(y);
    fixture_free(&f);
    TEST_CLOSE(la_view_get(la_array_view(kept), 0), 3 * exp(3), 1e-15);
    la_array_free(kept);
}

static void test_eager_failure(void)
{
    fixture f = fixture_create(true);
    double a[4] = {1, .2, .2, -2},
           b[12] = {4, 0, 0, 9, 1, 0, 0, 0, -1, 0, 0, 1};
    ad_scope_push(f.g, "K_chol");
    ad_node *K = ad_constant(f.g, la_mat_f64(a, 2, 2));
    CU_ASSERT_PTR_NULL(ad_cholesky(K));
    TEST_INT(ad_graph_error(f.g), COVAR_ERR_NOT_PD);
    TEST_TEXT(ad_graph_error_text(f.g),
              "K_chol: cholesky(2 x 2): failed: leading minor 2");
    CU_ASSERT_PTR_NULL(ad_sum(ad_cholesky(K), AD_ALL)); /* poison */
    ad_graph_clear_error(f.g);
    CU_ASSERT_PTR_NULL(ad_cholesky(K)); /* not remembered as done */
    ad_graph_clear_error(f.g);
    la_view batch = la_view_dense(b, LA_F64, 3, (size_t[]){3, 2, 2});
    CU_ASSERT_PTR_NULL(ad_cholesky(ad_constant(f.g, batch)));
    TEST_TEXT(ad_graph_error_text(f.g),
              "K_chol: cholesky(3 x 2 x 2): 2 of 3 failed, first [1]: leading "
              "minor 2");
    ad_graph_clear_error(f.g);
    ad_dim n = ad_fixed(2);
    CU_ASSERT_PTR_NULL(ad_input(f.g, "x", LA_F64, 1, &n));
    TEST_INT(ad_graph_error(f.g), COVAR_ERR_STATE);
    ad_graph_clear_error(f.g);
    TEST_CLOSE(eager_get(ad_exp(ad_scalar(f.g, LA_F64, 1)), 0), exp(1), 1e-15);
    fixture_free(&f);
}

static void test_eager_parameter_versions(void)
{
    fixture f = fixture_create(true);
    double one = 1, two = 2;
    ad_store *s = ad_graph_store(f.g);
    ad_node *W = ad_param(f.g, "W", la_scalar_f64(&one));
    CU_ASSERT_PTR_EQUAL(ad_param(f.g, "W", la_view_none()), W);
    ad_node *v = ad_param(f.g, "v", la_scalar_f64(&one));
    TEST_OK(f.ctx, ad_store_set(s, f.ctx, "W", la_scalar_f64(&two)));
    ad_node *W2 = ad_param(f.g, "W", la_view_none());
    CU_ASSERT(W2 != W);
    TEST_CLOSE(eager_get(W, 0), 1, 0);
    TEST_CLOSE(eager_get(W2, 0), 2, 0);
    CU_ASSERT_PTR_EQUAL(ad_param(f.g, "v", la_view_none()), v);
    CU_ASSERT(ad_store_acquire(s)); /* a program with updates */
    ad_store_release(s);
    CU_ASSERT(ad_param(f.g, "v", la_view_none()) != v);
    fixture_free(&f);
}

/* One step of a training loop in an eager graph. */
static void eager_step(ad_graph *g, double x)
{
    ad_mark mark = ad_graph_mark(g);
    double w = 2;
    ad_scope_push(g, "step");
    AD_HERE(g);
    ad_node *W = ad_param(g, "W", la_scalar_f64(&w)), *dW;
    ad_node *y = ad_square(ad_sub(ad_mul(W, ad_scalar(g, LA_F64, x)), W));
    TEST_INT(ad_grad(&dW, y, &W, 1), COVAR_OK);
    TEST_CLOSE(eager_get(dW, 0), 2 * w * (x - 1) * (x - 1), 1e-12);
    ad_graph_release(g, mark);
}

static void test_release_does_not_grow(void)
{
    test_allocator t = {0};
    covar_allocator allocator = test_allocator_use(&t);
    covar_context *ctx = test_context_with(&allocator);
    ad_graph *g = NULL;
    TEST_OK(ctx, ad_graph_create(&g, ctx, &(ad_graph_options){.eager = true}));
    for (int i = 0; i < 10; i++)
        eager_step(g, i);
    size_t blocks = t.live_blocks, bytes = t.live_bytes, peak = t.peak_bytes;
    for (int i = 10; i < 200; i++)
        eager_step(g, i);
    TEST_INT(t.live_blocks, blocks);
    TEST_INT(t.live_bytes, bytes);
    TEST_INT(t.peak_bytes, peak);
    TEST_INT(ad_graph_node_count(g), 0);
    TEST_TEXT(g->scope, "");
    ad_graph_free(g);
    covar_context_free(ctx);
    TEST_INT(t.live_blocks, 0);
    TEST_INT(t.mistakes, 0);
}

static void test_release_forgets(void)
{
    fixture f = fixture_create(false);
    ad_dim n[] = {ad_symbol(f.g, "n"), ad_symbol(f.g, "n")};
    ad_node *K = ad_input(f.g, "K", LA_F64, 2, n);
    ad_node *y = ad_input(f.g, "y", LA_F64, 1, n);
    ad_node *L = ad_mvn_logpdf(y, y, K), *e = ad_exp(y);
    ad_mark mark = ad_graph_mark(f.g);
    ad_node *const *out = ad_expand_node(L); /* of an older composite */
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_PTR_EQUAL(ad_expand_node(L), out); /* once */
    size_t grown = ad_graph_node_count(f.g);
    CU_ASSERT(grown > mark.nodes);
    ad_graph_release(f.g, mark);
    TEST_INT(ad_graph_node_count(f.g), mark.nodes);
    CU_ASSERT_PTR_NULL(L->expansion);
    CU_ASSERT_PTR_EQUAL(ad_exp(y), e); /* older nodes are still found */
    CU_ASSERT_PTR_NOT_NULL(ad_expand_node(L));
    TEST_INT(ad_graph_node_count(f.g), grown);
    fixture_free(&f);
}

static ad_node *deep_chain(ad_graph *g, ad_node *x, int depth)
{
    ad_node *y = x;
    for (int i = 0; i < depth; i++)
        y = i % 2 ? ad_sin(y) : ad_mul(y, x);
    (void)g;
    return y;
}

static void test_deep_chain(void)
{
    enum { DEPTH = 20000 };
    fixture f = fixture_create(false);
    ad_node *x = ad_input(f.g, "x", LA_F64, 0, NULL);
    ad_node *y = deep_chain(f.g, x, DEPTH);
    size_t n = 0;
    ad_node **order = ad_topological(f.g, &y, 1, &n);
    TEST_INT(n, DEPTH + 1);
    CU_ASSERT(order && order[0] == x && order[DEPTH] == y);
    covar_heap_free(f.g->heap, order);
    double value = 0.5, expected = 0.5;
    for (int i = 0; i < DEPTH; i++)
        expected = i % 2 ? sin(expected) : expected * value;
    la_array *a = evaluate(&f, y, &x, (la_view[]){la_scalar_f64(&value)}, 1);
    TEST_CLOSE(la_view_get(la_array_view(a), 0), expected, 1e-12);
    la_array_free(a);
    fixture_free(&f);
}

static void test_import(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), m = ad_symbol(f.g, "m");
    TEST_OK(f.ctx, ad_dim_equal(f.g, n, m));
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n);
    ad_node *z = ad_input(f.g, "z", LA_F64, 1, &m);
    ad_scope_push(f.g, "inner");
    ad_node *y = ad_sum(ad_mul(ad_exp(x), z), AD_ALL);
    ad_graph *to = NULL;
    TEST_OK(f.ctx, ad_graph_like(&to, f.g));
    ad_node **map = covar_heap_calloc(to->heap, f.g->n_node, sizeof(*map));
    /* cut at exp(x) */
    ad_node *e = ad_exp(x);
    map[e->id] = ad_placeholder(
        to, &(ad_type){.dtype = LA_F64, .rank = 1, .dim = {ad_symbol(to, "m")}},
        "e");
    TEST_OK(f.ctx, ad_graph_import(to, &y, 1, map));
    CU_ASSERT_PTR_NULL(map[x->id]);
    ad_node *copy = map[y->id];
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    CU_ASSERT(copy->graph == to && copy->op == y->op);
    TEST_TEXT(copy->scope, "inner");
    TEST_TEXT(map[z->id]->name, "z");
    CU_ASSERT(ad_dims_equal(to, ad_symbol(to, "n"), ad_symbol(to, "m")));
    covar_heap_free(to->heap, map);
    ad_graph_free(to);
    fixture_free(&f);
}

static covar_status build(covar_context *ctx, void *data)
{
    const bool *eager = data;
    double k[9] = {4, 1, 0, 1, 5, 2, 0, 2, 6}, v[3] = {1, 2, 3};
    ad_graph *g;
    COVAR_TRY(ad_graph_create(&g, ctx, &(ad_graph_options){.eager = *eager}));
    ad_scope_push(g, "model");
    AD_HERE(g);
    ad_node *K = ad_param(g, "K", la_mat_f64(k, 3, 3)), *d[2];
    ad_node *y = ad_constant(g, la_vec_f64(v, 3)), *wrt[2];
    wrt[0] = ad_name(K, "K");
    wrt[1] = ad_param(g, "m", la_vec_f64(v, 3));
    ad_node *p = ad_mvn_logpdf(y, ad_exp(wrt[1]), wrt[0]);
    covar_status status = ad_grad(d, p, wrt, 2);
    status = ad_graph_error(g) != COVAR_OK ? ad_graph_error(g) : status;
    ad_graph_free(g);
    return status;
}

static void test_allocation(void)
{
    bool eager = false;
    test_allocation_sweep("build and differentiate", build, &eager);
    eager = true;
    test_allocation_sweep("the same in an eager graph", build, &eager);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"reference evaluation", test_evaluate},
        {"errors of evaluation", test_evaluate_errors},
        {"eager values", test_eager_values},
        {"eager failures", test_eager_failure},
        {"versions of parameters", test_eager_parameter_versions},
        {"a loop does not grow", test_release_does_not_grow},
        {"release forgets what came later", test_release_forgets},
        {"a chain of 20000", test_deep_chain},
        {"import", test_import},
        {"allocation failures", test_allocation},
    };
    return CUTAP_RUN("autodiff_graph", cases);
}
