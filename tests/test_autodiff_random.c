/* Random graphs of n x n matrices, many of them symmetric: the compiled
 * program against the graph evaluated node by node, values and gradients, and
 * the same bits on one thread and on two.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every value stays of order one: products and exponentials go through a
 * bounded function. Branches look at inputs alone, where rounding cannot turn
 * them. */
#include "config.h"

#include "test_autodiff.h"

#include <covar/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVES = 5, POOL = 24, FIRST = 7, OUTPUTS = 2 + LEAVES, MOST_N = 131 };

/* Leaves: X (n,2), A (n,n), w (n), v (n,1), s (scalar). */
typedef struct graph {
    fixture f;
    covar_rng rng;
    ad_node *leaf[LEAVES];
    ad_node *pool[POOL]; /* (n,n) */
    ad_node *out[OUTPUTS];
} graph;

/* 0 .. n - 1 */
static int draw(graph *g, int n)
{
    double u;
    covar_rng_uniform(&u, 1, &g->rng);
    return (int)(u * n) % n;
}

static ad_node *any(graph *g, int count)
{
    return g->pool[draw(g, count)];
}

static void make_leaves(graph *g, la_dtype t)
{
    ad_graph *q = g->f.g;
    const ad_dim n = ad_symbol(q, "n"), one = ad_fixed(1);
    g->leaf[0] = ad_input(q, "X", t, 2, (ad_dim[]){n, ad_fixed(2)});
    g->leaf[1] = ad_input(q, "A", t, 2, (ad_dim[]){n, n});
    g->leaf[2] = ad_input(q, "w", t, 1, &n);
    g->leaf[3] = ad_input(q, "v", t, 2, (ad_dim[]){n, one});
    g->leaf[4] = ad_input(q, "s", t, 0, NULL);
}

/* Symmetric, skew and neither. */
static void make_first(graph *g)
{
    ad_node *X = g->leaf[0], *A = g->leaf[1], *w = g->leaf[2];
    ad_node *At = ad_transpose(A), *v = g->leaf[3];
    ad_node *first[FIRST] = {
        ad_sqdist(X, NULL),
        ad_syrk(0.5, LA_NO_TRANS, X),
        ad_add(A, At),
        ad_sub(A, At),
        A,
        ad_mul(ad_expand(w, 0), ad_expand(w, 1)),
        ad_sub(v, ad_transpose(v)),
    };
    for (int i = 0; i < FIRST; i++)
        g->pool[i] = first[i];
}

static ad_node *one_operand(graph *g, ad_node *x)
{
    switch (draw(g, 14)) {
    case 0:
        return ad_neg(x);
    case 1:
        return ad_square(ad_tanh(x));
    case 2:
        return ad_sin(x);
    case 3:
        return ad_cos(x);
    case 4:
        return ad_tanh(x);
    case 5:
        return ad_sigmoid(x);
    case 6:
        return ad_exp(ad_neg(ad_square(x)));
    case 7:
        return ad_atan(x);
    case 8:
        return ad_erf(x);
    case 9:
        return ad_sqrt(ad_add_scalar(ad_square(x), 0.5));
    case 10:
        return ad_softplus(ad_sin(x));
    case 11:
        return ad_log1p(ad_square(ad_sin(x)));
    case 12:
        return ad_transpose(x);
    default:
        return ad_add_scalar(ad_scale(ad_tanh(x), 0.7), 0.1);
    }
}

static ad_node *two_operands(graph *g, ad_node *x, ad_node *y)
{
    ad_node *s = g->leaf[4], *v = g->leaf[3], *w = g->leaf[2];
    switch (draw(g, 12)) {
    case 0:
        return ad_add(ad_tanh(x), ad_sin(y));
    case 1:
        return ad_sub(ad_tanh(x), ad_tanh(y));
    case 2:
        return ad_mul(ad_sin(x), ad_cos(y));
    case 3:
        return ad_div(ad_tanh(x), ad_add_scalar(ad_square(y), 1));
    case 4:
        return ad_div(ad_sin(x), s);
    case 5:
        return ad_mul(ad_sin(x), s);
    case 6:
        return ad_mul(ad_tanh(x), v);
    case 7:
        return ad_div(ad_sin(x), ad_expand(w, 0));
    case 8:
        return ad_where(ad_lt(g->leaf[1], ad_transpose(g->leaf[1])), ad_sin(x),
                        ad_cos(y));
    case 9:
        return ad_where(ad_lt(v, ad_transpose(v)), ad_sin(x), ad_tanh(y));
    case 10:
        return ad_add(ad_sin(x), s);
    default:
        return ad_mul(ad_sin(x), ad_sin(x));
    }
}

/* The pool, a sum of some of it, and the gradient of the sum. */
static void make_graph(graph *g, la_dtype t, uint64_t seed)
{
    g->f = fixture_create(false);
    g->rng = covar_rng_init(seed, 0);
    make_leaves(g, t);
    make_first(g);
    for (int i = FIRST; i < POOL; i++)
        g->pool[i] = draw(g, 2) ? one_operand(g, any(g, i))
                                : two_operands(g, any(g, i), any(g, i));
    ad_node *sum = ad_sum(ad_mul(ad_sin(any(g, POOL)), g->leaf[1]), AD_ALL);
    for (int i = 0; i < 4; i++)
        sum = ad_add(sum, ad_sum(ad_tanh(any(g, POOL)), AD_ALL));
    for (int k = 0; k < LEAVES; k++) /* that it depends on each of them */
        sum = ad_add(sum, ad_sum(ad_square(g->leaf[k]), AD_ALL));
    g->out[0] = any(g, POOL);
    g->out[1] = sum;
    TEST_OK(g->f.ctx, ad_grad(g->out + 2, sum, g->leaf, LEAVES));
}

static la_view room(const ad_node *x, la_dtype t, size_t n)
{
    size_t dim[2] = {0, 0}, fixed;
    size_t count = 1;
    for (int k = 0; k < ad_rank(x); k++) {
        dim[k] = ad_dim_is_fixed(ad_dim_of(x, k), &fixed) ? fixed : n;
        count *= dim[k];
    }
    return la_view_dense(calloc(count, la_dtype_size(t)), t, ad_rank(x), dim);
}

static void fill(la_view x, covar_rng *rng)
{
    for (size_t i = 0; i < la_view_count(x); i++) {
        double u;
        covar_rng_uniform(&u, 1, rng);
        la_view_set(x, i, 0.3 + 1.2 * u);
    }
}

static int symmetric_loops; /* programs that compute half of some matrix */

static void count_symmetric(const graph *g, const ad_program *p)
{
    char *text = ad_program_print(p);
    symmetric_loops += text && strstr(text, "symmetric {");
    ad_text_free(g->f.g, text);
}

/* Largest difference of the elements, relative to the largest element. */
static double distance(la_view x, la_view y)
{
    double worst = 0, size = 0;
    for (size_t i = 0; i < la_view_count(x); i++) {
        const double a = la_view_get(x, i), b = la_view_get(y, i);
        worst = fmax(worst, isfinite(a) ? fabs(a - b) : INFINITY);
        size = fmax(size, fabs(b));
    }
    return size > 0 ? worst / size : worst;
}

static void run(graph *g, const la_view *in, la_view *out, size_t n,
                int threads)
{
    const la_dtype t = in[0].dtype;
    ad_slot slot[LEAVES + OUTPUTS];
    ad_program *p = NULL;
    ad_runner *r = NULL;
    for (int k = 0; k < LEAVES; k++)
        slot[k] = (ad_slot)AD_IN(g->leaf[k]);
    for (int k = 0; k < OUTPUTS; k++) {
        slot[LEAVES + k] = (ad_slot)AD_OUT(g->out[k]);
        out[k] = room(g->out[k], t, n);
    }
    covar_context_set_threads(g->f.ctx, threads);
    TEST_OK(
        g->f.ctx,
        ad_compile(&p, g->f.g, &(ad_signature){LEAVES + OUTPUTS, slot}, NULL));
    TEST_OK(g->f.ctx,
            ad_runner_create(&r, p, ad_graph_store(g->f.g), g->f.ctx));
    TEST_OK(g->f.ctx, ad_run(r, in, out));
    count_symmetric(g, p);
    ad_runner_free(r);
    ad_program_free(p);
}

static void check(la_dtype t, uint64_t seed, size_t n)
{
    graph g;
    la_view in[LEAVES], one[OUTPUTS], two[OUTPUTS];
    la_array *expected[OUTPUTS];
    make_graph(&g, t, seed);
    for (int k = 0; k < LEAVES; k++)
        fill(in[k] = room(g.leaf[k], t, n), &g.rng);
    TEST_OK(g.f.ctx,
            ad_evaluate(g.f.g, g.leaf, in, LEAVES, g.out, OUTPUTS, expected));
    run(&g, in, one, n, 1);
    run(&g, in, two, n, 2);
    const double tol = t == LA_F64 ? 1e-11 : 2e-3;
    for (int k = 0; k < OUTPUTS; k++) {
        const double d = distance(one[k], la_array_view(expected[k]));
        const double same = distance(two[k], one[k]);
        test_check(d <= tol, __FILE__, __LINE__,
                   "seed %d, n = %zu, %s, output %d: off by %g", (int)seed, n,
                   la_dtype_name(t), k, d);
        test_check(same == 0, __FILE__, __LINE__,
                   "seed %d, n = %zu, %s, output %d: two threads differ by %g",
                   (int)seed, n, la_dtype_name(t), k, same);
        la_array_free(expected[k]);
        free(one[k].data);
        free(two[k].data);
    }
    for (int k = 0; k < LEAVES; k++)
        free(in[k].data);
    fixture_free(&g.f);
}

static void check_many(la_dtype t, uint64_t first)
{
    static const size_t sizes[] = {1, 2, 7, 33, 64, 65, MOST_N};
    symmetric_loops = 0;
    for (uint64_t seed = first; seed < first + 60; seed++)
        check(t, seed, sizes[seed % NELEM(sizes)]);
    CU_ASSERT(symmetric_loops > 10);
}

static void test_f64(void)
{
    check_many(LA_F64, 1);
}

static void test_f32(void)
{
    check_many(LA_F32, 1000);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"f64", test_f64},
        {"f32", test_f32},
    };
    return CUTAP_RUN("random graphs", cases);
}
