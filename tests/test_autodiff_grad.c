/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <math.h>
#include <string.h>

static ad_node *scalar_input(fixture *f, const char *name)
{
    return ad_input(f->g, name, LA_F64, 0, NULL);
}

/* Value of a scalar node at x. */
static double at(fixture *f, ad_node *y, ad_node *x, double value)
{
    la_array *a = evaluate(f, y, &x, (la_view[]){la_scalar_f64(&value)}, 1);
    double v = a ? la_view_get(la_array_view(a), 0) : NAN;
    la_array_free(a);
    return v;
}

/* P(x) = 1 + 2x - 3x^2 + 4x^3 at 2: dP = 38, d2P = 42, d3P = 24, d4P = 0. */
static void test_polynomial(void)
{
    fixture f = fixture_create(false);
    ad_node *x = scalar_input(&f, "x"), *y = ad_scalar(f.g, LA_F64, 0);
    const double c[] = {4, -3, 2, 1}, expected[] = {25, 38, 42, 24, 0};
    for (int i = 0; i < 4; i++)
        y = ad_add_scalar(ad_mul(y, x), c[i]);
    for (int order = 0; order < 5; order++) {
        ad_node *one = ad_scalar(f.g, LA_F64, 1);
        TEST_CLOSE(at(&f, y, x, 2), expected[order], 1e-14);
        TEST_OK(f.ctx, ad_lop(&y, &y, &one, 1, &x, 1,
                              &(ad_grad_options){true, false}));
    }
    fixture_free(&f);
}

static void test_fan_out(void)
{
    fixture f = fixture_create(false);
    ad_node *x = scalar_input(&f, "x"), *y = x, *d;
    for (int i = 0; i < 60; i++) /* 2^60 paths */
        y = ad_scale(ad_add(y, y), 0.5);
    TEST_OK(f.ctx, ad_grad(&d, ad_mul(y, y), &x, 1));
    TEST_CLOSE(at(&f, d, x, 3), 6, 1e-14);
    fixture_free(&f);
}

static void test_every_path_counts(void)
{
    fixture f = fixture_create(false);
    ad_node *x = scalar_input(&f, "x"), *h = ad_square(x);
    ad_node *y = ad_mul(x, h), *wrt[] = {x, h, x}, *d[3];
    TEST_OK(f.ctx, ad_grad(d, y, wrt, 3));
    TEST_CLOSE(at(&f, d[0], x, 2), 12, 1e-14); /* 3 x^2 */
    TEST_CLOSE(at(&f, d[1], x, 2), 2, 1e-14);  /* x */
    CU_ASSERT_PTR_EQUAL(d[2], d[0]);
    TEST_OK(f.ctx, ad_grad(d, x, &x, 1));
    TEST_CLOSE(at(&f, d[0], x, 2), 1, 0);
    fixture_free(&f);
}

static void test_lop(void)
{
    fixture f = fixture_create(false);
    double w[6] = {1, 2, 3, 4, 5, 6}, u[2] = {1, -1}, x[3] = {1, 1, 1};
    ad_dim n = ad_fixed(3);
    ad_node *X = ad_input(f.g, "x", LA_F64, 1, &n);
    ad_node *W = ad_constant(f.g, la_mat_f64(w, 2, 3));
    ad_node *y[] = {ad_matmul(W, X), ad_square(X)};
    ad_node *bar[] = {ad_constant(f.g, la_vec_f64(u, 2)),
                      ad_constant(f.g, la_vec_f64(x, 3))};
    ad_node *d;
    TEST_OK(f.ctx, ad_lop(&d, y, bar, 2, &X, 1, NULL));
    double expected[] = {-3 + 2, -3 + 2, -3 + 2};
    la_array *a = evaluate(&f, d, &X, (la_view[]){la_vec_f64(x, 3)}, 1);
    TEST_CLOSE_ARRAY((double *)la_array_view(a).data, expected, 3, 1e-14);
    la_array_free(a);
    ad_node *wrong[] = {bar[1], bar[0]};
    TEST_STATUS(f.ctx, ad_lop(&d, y, wrong, 2, &X, 1, NULL), COVAR_ERR_SHAPE);
    TEST_CONTAINS(ad_graph_error_text(f.g), "is 2 f64 but y_bar[0] is 3 f64");
    fixture_free(&f);
}

/* A composite and its expansion have one value and one gradient. */
static void test_composite(void)
{
    fixture f = fixture_create(true);
    double k[9] = {4, 1, 0, 1, 5, 2, 0, 2, 6}, v[3] = {1, 2, 4};
    ad_node *K = ad_constant(f.g, la_mat_f64(k, 3, 3));
    ad_node *y = ad_constant(f.g, la_vec_f64(v, 3)), *wrt[] = {K, y};
    ad_node *mean = ad_scale(y, 0.5);
    ad_node *p = ad_mvn_logpdf(y, mean, K);
    ad_node *const *e = ad_expand_node(p);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    TEST_CLOSE(eager_get(p, 0), eager_get(e[0], 0), 1e-14);
    ad_node *d[2], *q[2];
    TEST_OK(f.ctx, ad_grad(d, p, wrt, 2));
    TEST_OK(f.ctx, ad_grad(q, e[0], wrt, 2));
    for (size_t i = 0; i < 9; i++)
        TEST_CLOSE(eager_get(ad_symmetrise(d[0]), i),
                   eager_get(ad_symmetrise(q[0]), i), 1e-13);
    for (size_t i = 0; i < 3; i++)
        TEST_CLOSE(eager_get(d[1], i), eager_get(q[1], i), 1e-13);
    fixture_free(&f);
}

/* ---- An operator with two values, one of them an integer ---------------- */

static covar_status infer_pair(ad_node *y)
{
    COVAR_TRY(ad_node_set_n_out(y, 3));
    ad_type t = *ad_node_type(ad_node_in(y, 0), 0);
    ad_node_set_type(y, 0, &t);
    ad_node_set_type(y, 1, &t);
    t.dtype = LA_I32;
    ad_node_set_type(y, 2, &t);
    return COVAR_OK;
}

static covar_status eval_pair(const ad_call *c)
{
    COVAR_TRY(la_map(c->exec, LA_SQUARE, c->out[0], c->x));
    COVAR_TRY(la_map(c->exec, LA_EXP, c->out[1], c->x));
    return la_fill(c->exec, c->out[2], 7);
}

static covar_status vjp_pair(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    ad_node *x = ad_node_in(y, 0), *a = NULL, *b = NULL;
    CU_ASSERT(need[0] && !y_bar[2]);
    if (y_bar[0])
        a = ad_scale(ad_mul(y_bar[0], x), 2);
    if (y_bar[1])
        b = ad_mul(y_bar[1], ad_out(y, 1));
    x_bar[0] = a && b ? ad_add(a, b) : a ? a : b;
    return COVAR_OK;
}

static const ad_op op_pair = {.abi = AD_OP_ABI,
                              .name = "pair",
                              .n_in = 1,
                              .n_out = -1,
                              .views = -1,
                              .infer = infer_pair,
                              .eval = eval_pair,
                              .vjp = vjp_pair};

static void test_several_values(void)
{
    fixture f = fixture_create(false);
    ad_node *x = scalar_input(&f, "x"), *d, *h, *y_dot;
    ad_node *p = ad_apply(NULL, &op_pair, 1, &x, NULL);
    TEST_INT(ad_node_n_out(p), 3);
    ad_node *y = ad_mul(ad_out(p, 0), ad_out(p, 1)); /* x^2 e^x */
    TEST_OK(f.ctx, ad_grad(&d, y, &x, 1));
    TEST_CLOSE(at(&f, d, x, 1.5), (2 * 1.5 + 1.5 * 1.5) * exp(1.5), 1e-14);
    TEST_OK(f.ctx, ad_grad(&h, d, &x, 1));
    TEST_CLOSE(at(&f, h, x, 1.5), (2 + 4 * 1.5 + 1.5 * 1.5) * exp(1.5), 1e-14);
    TEST_OK(f.ctx, ad_grad(&d, ad_out(p, 1), &x, 1)); /* one value only */
    TEST_CLOSE(at(&f, d, x, 1.5), exp(1.5), 1e-14);
    ad_node *three = ad_scalar(f.g, LA_F64, 3); /* no jvp: derived */
    TEST_OK(f.ctx, ad_rop(&y_dot, &y, 1, &x, &three, 1));
    TEST_CLOSE(at(&f, y_dot, x, 1.5), 3 * (3 + 2.25) * exp(1.5), 1e-14);
    TEST_OK(f.ctx, ad_grad(&d, ad_cast(ad_out(p, 2), LA_F64), &x, 1));
    TEST_CLOSE(at(&f, d, x, 1.5), 0, 0); /* integers carry no adjoint */
    fixture_free(&f);
}

/* ---- Errors ------------------------------------------------------------- */

static covar_status vjp_none(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    (void)y;
    (void)y_bar;
    (void)need;
    x_bar[0] = AD_NO_GRAD;
    return COVAR_OK;
}

static covar_status vjp_wrong(ad_node *y, ad_node *const y_bar[],
                              const bool need[], ad_node *x_bar[])
{
    (void)need;
    (void)y_bar;
    x_bar[0] = ad_sum(ad_node_in(y, 0), AD_ALL);
    return COVAR_OK;
}

static covar_status infer_like(ad_node *y)
{
    return ad_like_input(y, 0);
}

static const ad_op op_rough = {.abi = AD_OP_ABI,
                               .name = "rough",
                               .n_in = 1,
                               .n_out = 1,
                               .views = -1,
                               .infer = infer_like,
                               .vjp = vjp_none};
static const ad_op op_bare = {.abi = AD_OP_ABI,
                              .name = "bare",
                              .n_in = 1,
                              .n_out = 1,
                              .views = -1,
                              .infer = infer_like};
static const ad_op op_wrong = {.abi = AD_OP_ABI,
                               .name = "wrong",
                               .n_in = 1,
                               .n_out = 1,
                               .views = -1,
                               .infer = infer_like,
                               .vjp = vjp_wrong};

static void expect(fixture *f, ad_node *y, ad_node *x, covar_status expected,
                   const char *part)
{
    ad_node *d = x;
    ad_graph_clear_error(f->g);
    TEST_STATUS(f->ctx, ad_grad(&d, y, &x, 1), expected);
    TEST_CONTAINS(covar_error_text(f->ctx), part);
    CU_ASSERT_PTR_NULL(d);
}

static void test_errors(void)
{
    fixture f = fixture_create(false), other = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n);
    ad_node *z = ad_input(f.g, "z", LA_F64, 1, &n);
    ad_node *i = ad_input(f.g, "i", LA_I32, 1, &n);
    ad_scope_push(f.g, "net");
    ad_node *rough = ad_sum(ad_apply(NULL, &op_rough, 1, &x, NULL), AD_ALL);
    ad_node *bare = ad_sum(ad_apply(NULL, &op_bare, 1, &x, NULL), AD_ALL);
    ad_node *wrong = ad_sum(ad_apply(NULL, &op_wrong, 1, &x, NULL), AD_ALL);
    ad_scope_pop(f.g);
    ad_node *y = ad_sum(ad_exp(x), AD_ALL);
    expect(&f, ad_exp(x), x, COVAR_ERR_SHAPE, "only a scalar has a gradient");
    expect(&f, y, z, COVAR_ERR_ARG, "does not depend on wrt[0] ('z')");
    expect(&f, y, i, COVAR_ERR_DTYPE, "wrt[0] (i) is i32");
    expect(&f, rough, x, COVAR_ERR_NO_GRAD, "net: rough: has no derivative");
    expect(&f, bare, x, COVAR_ERR_NO_GRAD, "net: bare: has no derivative");
    expect(&f, wrong, x, COVAR_ERR_SHAPE, "gives scalar f64 for input 0");
    expect(&f, y, scalar_input(&other, "o"), COVAR_ERR_ARG, "another graph");
    expect(&f, NULL, x, COVAR_POISONED, "y[0] is NULL");
    expect(&f, y, NULL, COVAR_POISONED, "wrt[0] is NULL");
    ad_graph_clear_error(f.g);
    ad_node *d, *none = NULL;
    TEST_INT(ad_grad(&d, NULL, &none, 1), COVAR_POISONED);
    CU_ASSERT_PTR_NULL(d);
    const ad_grad_options zero = {.zero_if_disconnected = true};
    ad_node *one = ad_scalar(f.g, LA_F64, 1);
    TEST_OK(f.ctx, ad_lop(&d, &y, &one, 1, &z, 1, &zero));
    double v;
    CU_ASSERT(ad_is_constant(d, &v) && v == 0);
    fixture_free(&f);
    fixture_free(&other);
}

static void test_zero_and_poison(void)
{
    fixture f = fixture_create(false);
    ad_node *x = scalar_input(&f, "x"), *d;
    TEST_OK(f.ctx, ad_grad(&d, ad_floor(x), &x, 1));
    TEST_CLOSE(at(&f, d, x, 1.5), 0, 0);
    TEST_OK(f.ctx, ad_grad(&d, ad_mul(ad_stop_gradient(x), x), &x, 1));
    TEST_CLOSE(at(&f, d, x, 1.5), 1.5, 0);
    /* the graph's first error comes before anything else */
    ad_param(f.g, "absent", la_view_none());
    TEST_STATUS(f.ctx, ad_grad(&d, x, &x, 1), COVAR_ERR_NAME);
    CU_ASSERT_PTR_NULL(d);
    fixture_free(&f);
}

static void test_states_keep_gradients_apart(void)
{
    fixture f = fixture_create(true);
    ad_node *zero = ad_scalar(f.g, LA_F64, 0), *d[2];
    ad_node *s[] = {ad_name(zero, "h0"), ad_name(zero, "c0")};
    ad_node *y = ad_add(ad_scale(s[0], 2), ad_scale(s[1], 5));
    TEST_OK(f.ctx, ad_grad(d, y, s, 2));
    TEST_CLOSE(eager_get(d[0], 0), 2, 0);
    TEST_CLOSE(eager_get(d[1], 0), 5, 0);
    fixture_free(&f);
}

/* Naive forms have the gradient of the stable ones, unless taken literally. */
static void test_stable_forms(void)
{
    fixture f = fixture_create(false);
    ad_node *x = scalar_input(&f, "x"), *e = ad_exp(x), *d, *bar;
    ad_node *y = ad_log(ad_add_scalar(e, 1)); /* softplus */
    TEST_OK(f.ctx, ad_grad(&d, y, &x, 1));
    TEST_CLOSE(at(&f, d, x, 1000), 1, 1e-15);
    TEST_REL(at(&f, d, x, -50), exp(-50), 1e-14);
    bar = ad_scalar(f.g, LA_F64, 1);
    TEST_OK(f.ctx, ad_lop(&d, &y, &bar, 1, &x, 1,
                          &(ad_grad_options){.literal = true}));
    CU_ASSERT(isnan(at(&f, d, x, 1000)));
    y = ad_log(ad_erfc(x));
    TEST_OK(f.ctx, ad_grad(&d, y, &x, 1));
    TEST_REL(at(&f, d, x, 10), -20.099024116734604, 1e-13);
    TEST_REL(at(&f, d, x, 100), -200.00999900024991, 1e-14);
    /* log(e^x + e^z), z = x: one half each; z is no leaf and stays */
    ad_node *z = ad_mul(x, ad_scalar(f.g, LA_F64, 1)), *wrt[] = {z, x}, *dz[2];
    ad_node *w = scalar_input(&f, "w");
    y = ad_log(ad_add(ad_exp(w), ad_exp(z)));
    TEST_OK(f.ctx, ad_grad(dz, y, wrt, 2));
    la_view value[] = {la_scalar_f64(&(double){10000}),
                       la_scalar_f64(&(double){10000})};
    for (int i = 0; i < 2; i++) {
        la_array *a = evaluate(&f, dz[i], (ad_node *[]){w, x}, value, 2);
        TEST_CLOSE(la_view_get(la_array_view(a), 0), 0.5, 1e-15);
        la_array_free(a);
    }
    fixture_free(&f);
}

/* d/dx of a chain of 20000, and a derivative of new nodes on an old graph
 * that does not look at the old part. */
static void test_deep_and_local(void)
{
    enum { DEPTH = 20000 };
    fixture f = fixture_create(false);
    ad_node *x = scalar_input(&f, "x"), *y = x, *d;
    double value = 0.7, v = value, slope = 1;
    for (int i = 0; i < DEPTH; i++) {
        y = i % 2 ? ad_sin(y) : ad_mul(y, x);
        slope = i % 2 ? slope * cos(v) : slope * value + v;
        v = i % 2 ? sin(v) : v * value;
    }
    TEST_OK(f.ctx, ad_grad(&d, y, &x, 1));
    TEST_CLOSE(at(&f, d, x, value), slope, 1e-12);
    for (int i = 0; i < 200; i++) {
        ad_node *z = ad_name(y, "z");
        TEST_OK(f.ctx, ad_lop(&d, (ad_node *[]){ad_square(z)}, &y, 1, &z, 1,
                              &(ad_grad_options){.literal = true}));
    }
    fixture_free(&f);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"polynomial, four times", test_polynomial},
        {"fan-out", test_fan_out},
        {"every path counts", test_every_path_counts},
        {"lop", test_lop},
        {"composite and expansion", test_composite},
        {"several values", test_several_values},
        {"errors", test_errors},
        {"zeros and poison", test_zero_and_poison},
        {"equal states", test_states_keep_gradients_apart},
        {"stable forms", test_stable_forms},
        {"deep and local", test_deep_and_local},
    };
    return CUTAP_RUN("autodiff_grad", cases);
}
