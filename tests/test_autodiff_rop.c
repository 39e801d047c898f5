/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar/rng.h"
#include "test_autodiff.h"

#include <math.h>
#include <string.h>

enum { D = 5, STEPS = 20 };

/* Some numbers of order `scale`. */
static ad_node *random_param(fixture *f, const char *name, size_t rows,
                             size_t cols, double scale, uint64_t stream)
{
    double x[64];
    covar_rng rng = covar_rng_init(11, stream);
    covar_rng_normal(x, rows * cols, &rng);
    for (size_t i = 0; i < rows * cols; i++)
        x[i] *= scale;
    return ad_constant(f->g, cols == 1 && rows == D && name[0] != 'W'
                                 ? la_vec_f64(x, rows)
                                 : la_mat_f64(x, rows, cols));
}

static double inner(ad_node *a, ad_node *b)
{
    return eager_get(ad_dot(a, b), 0);
}

/* h_t = tanh(W (u + h_(t-1))), 20 steps: J v by the R-operator against the
 * reverse-mode Jacobian times v, for u, h0 and W. */
static void test_recurrence(void)
{
    fixture f = fixture_create(true);
    ad_node *W = random_param(&f, "W", D, D, 0.4, 1);
    ad_node *u = random_param(&f, "u", D, 1, 1, 2);
    ad_node *h0 = random_param(&f, "h0", D, 1, 1, 3), *h = h0;
    for (int t = 0; t < STEPS; t++)
        h = ad_tanh(ad_matmul(W, ad_add(u, h)));
    ad_node *wrt[] = {u, h0, W};
    ad_node *v[] = {random_param(&f, "v", D, 1, 1, 4),
                    random_param(&f, "v", D, 1, 1, 5),
                    random_param(&f, "W", D, D, 1, 6)};
    ad_node *h_dot;
    TEST_OK(f.ctx, ad_rop(&h_dot, &h, 1, wrt, v, 3));
    for (size_t i = 0; i < D; i++) {
        double e[D] = {0}, expected = 0;
        e[i] = 1;
        ad_node *bar = ad_constant(f.g, la_vec_f64(e, D)), *row[3];
        TEST_OK(f.ctx, ad_lop(row, &h, &bar, 1, wrt, 3, NULL));
        for (int k = 0; k < 3; k++)
            expected += inner(row[k], v[k]);
        TEST_CLOSE(eager_get(h_dot, i), expected, 1e-13);
    }
    fixture_free(&f);
}

/* Derived jvp: an operator whose jvp is left out. */
static covar_status infer_like(ad_node *y)
{
    return ad_like_input(y, 0);
}

static covar_status eval_cube(const ad_call *c)
{
    COVAR_TRY(la_map(c->exec, LA_SQUARE, c->out[0], c->x));
    return la_map(c->exec, LA_MUL, c->out[0], (la_view[]){c->out[0], c->x[0]});
}

static covar_status vjp_cube(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    (void)need;
    x_bar[0] = ad_mul(y_bar[0], ad_scale(ad_square(ad_node_in(y, 0)), 3));
    return COVAR_OK;
}

static covar_status vjp_crooked(ad_node *y, ad_node *const y_bar[],
                                const bool need[], ad_node *x_bar[])
{
    (void)need;
    (void)y;
    x_bar[0] = ad_square(y_bar[0]);
    return COVAR_OK;
}

static const ad_op op_cube = {.abi = AD_OP_ABI,
                              .name = "cube",
                              .n_in = 1,
                              .n_out = 1,
                              .views = -1,
                              .infer = infer_like,
                              .eval = eval_cube,
                              .vjp = vjp_cube};
static const ad_op op_crooked = {.abi = AD_OP_ABI,
                                 .name = "crooked",
                                 .n_in = 1,
                                 .n_out = 1,
                                 .views = -1,
                                 .infer = infer_like,
                                 .eval = eval_cube,
                                 .vjp = vjp_crooked};

static void test_derived(void)
{
    for (int eager = 0; eager < 2; eager++) {
        fixture f = fixture_create(eager);
        double x[3] = {1, 2, -3}, v[3] = {1, 10, 100};
        ad_node *X = ad_param(f.g, "x", la_vec_f64(x, 3)), *d;
        ad_node *V = ad_constant(f.g, la_vec_f64(v, 3));
        ad_node *y = ad_sin(ad_apply(NULL, &op_cube, 1, &X, NULL));
        TEST_OK(f.ctx, ad_rop(&d, &y, 1, &X, &V, 1));
        la_array *a = eager ? ad_value(d) : evaluate(&f, d, NULL, NULL, 0);
        for (size_t i = 0; i < 3; i++)
            TEST_CLOSE(la_view_get(la_array_view(a), i),
                       3 * x[i] * x[i] * cos(x[i] * x[i] * x[i]) * v[i], 1e-13);
        la_array_free(a);
        ad_node *z = ad_apply(NULL, &op_crooked, 1, &X, NULL);
        TEST_STATUS(f.ctx, ad_rop(&d, &z, 1, &X, &V, 1), COVAR_ERR_NO_GRAD);
        TEST_CONTAINS(covar_error_text(f.ctx), "crooked: its vjp is not");
        CU_ASSERT_PTR_NULL(d);
        fixture_free(&f);
    }
}

/* Through composites: J v of a log density against differences. */
static void test_composite(void)
{
    fixture f = fixture_create(true);
    double k[9] = {4, 1, 0, 1, 5, 2, 0, 2, 6}, y[3] = {1, 2, 4},
           v[3] = {1, 1, 1};
    double value[2], h = 1e-6;
    ad_node *V = ad_constant(f.g, la_vec_f64(v, 3)), *d;
    ad_node *K = ad_constant(f.g, la_mat_f64(k, 3, 3));
    ad_node *Y = ad_constant(f.g, la_vec_f64(y, 3));
    ad_node *p = ad_mvn_logpdf(Y, ad_scale(Y, 0.5), K);
    TEST_OK(f.ctx, ad_rop(&d, &p, 1, &Y, &V, 1));
    for (int s = 0; s < 2; s++) {
        double z[3];
        for (int i = 0; i < 3; i++)
            z[i] = y[i] + (s ? h : -h);
        ad_node *Z = ad_constant(f.g, la_vec_f64(z, 3));
        value[s] = eager_get(ad_mvn_logpdf(Z, ad_scale(Z, 0.5), K), 0);
    }
    TEST_CLOSE(eager_get(d, 0), (value[1] - value[0]) / (2 * h), 1e-8);
    fixture_free(&f);
}

/* f(x) = x' A x / 2 + sum exp(x): Hessian A + diag(exp x), A symmetric. */
static void test_hessian(void)
{
    fixture f = fixture_create(true);
    double a[9] = {2, 1, 0, 1, 3, -1, 0, -1, 4}, x[3] = {0, 1, -1};
    double v[3] = {1, -2, 3};
    ad_node *A = ad_constant(f.g, la_mat_f64(a, 3, 3));
    ad_node *X = ad_constant(f.g, la_vec_f64(x, 3)), *hv;
    ad_node *V = ad_constant(f.g, la_vec_f64(v, 3));
    ad_node *y = ad_add(ad_scale(ad_dot(X, ad_matmul(A, X)), 0.5),
                        ad_sum(ad_exp(X), AD_ALL));
    ad_node *H = ad_hessian(y, X);
    TEST_OK(f.ctx, ad_hvp(&hv, y, &X, &V, 1));
    for (size_t i = 0; i < 3; i++) {
        double sum = 0;
        for (size_t j = 0; j < 3; j++) {
            double h = a[3 * i + j] + (i == j ? exp(x[i]) : 0);
            TEST_CLOSE(eager_get(H, 3 * i + j), h, 1e-14);
            sum += h * v[j];
        }
        TEST_CLOSE(eager_get(hv, i), sum, 1e-14);
    }
    /* linear: no second derivative, but no error either */
    ad_node *line = ad_dot(X, V);
    TEST_CLOSE(eager_get(ad_hessian(line, X), 4), 0, 0);
    TEST_OK(f.ctx, ad_hvp(&hv, line, &X, &V, 1));
    TEST_CLOSE(eager_get(hv, 2), 0, 0);
    fixture_free(&f);
}

static void test_jacobian_shapes(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), p = ad_fixed(2), d[] = {n, p};
    ad_node *M = ad_input(f.g, "M", LA_F64, 2, d);
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &p);
    ad_node *J = ad_jacobian(ad_matmul(M, x), x), *leaf[] = {M, x};
    CU_ASSERT_PTR_NOT_NULL_FATAL(J);
    double m[6] = {1, 2, 3, 4, 5, 6}, v[2] = {7, 8};
    la_view value[] = {la_mat_f64(m, 3, 2), la_vec_f64(v, 2)};
    la_array *a = evaluate(&f, J, leaf, value, 2);
    TEST_CLOSE_ARRAY((double *)la_array_view(a).data, m, 6, 1e-15);
    la_array_free(a);
    /* fewer rows than columns: reverse mode */
    ad_dim one = ad_fixed(1);
    ad_node *s = ad_reshape(ad_dot(x, x), 1, &one);
    a = evaluate(&f, ad_jacobian(s, x), leaf, value, 2);
    TEST_CLOSE(la_view_get(la_array_view(a), 1), 16, 1e-15);
    la_array_free(a);
    ad_node *u = ad_input(f.g, "u", LA_F64, 1, &n);
    CU_ASSERT_PTR_NULL(ad_jacobian(u, u));
    TEST_CONTAINS(ad_graph_error_text(f.g), "x of a fixed length");
    fixture_free(&f);
}

static void test_errors(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n), *d;
    ad_node *z = ad_input(f.g, "z", LA_F64, 1, &n), *y = ad_exp(x);
    ad_node *s = ad_sum(x, AD_ALL);
    TEST_STATUS(f.ctx, ad_rop(&d, &y, 1, &z, &x, 1), COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(f.ctx), "no y depends on wrt[0] ('z')");
    ad_graph_clear_error(f.g);
    TEST_STATUS(f.ctx, ad_rop(&d, &y, 1, &x, &s, 1), COVAR_ERR_SHAPE);
    ad_graph_clear_error(f.g);
    TEST_STATUS(f.ctx, ad_hvp(&d, y, &x, &x, 1), COVAR_ERR_SHAPE);
    ad_graph_clear_error(f.g);
    TEST_INT(ad_rop(&d, (ad_node *[]){NULL}, 1, (ad_node *[]){NULL},
                    (ad_node *[]){NULL}, 1),
             COVAR_POISONED);
    CU_ASSERT_PTR_NULL(ad_hessian(NULL, NULL));
    /* one of two outputs depends: the other has no tangent */
    ad_node *ys[] = {y, z}, *ds[2];
    TEST_OK(f.ctx, ad_rop(ds, ys, 2, &x, &x, 1));
    double v;
    CU_ASSERT(ad_is_constant(ds[1], &v) && v == 0);
    fixture_free(&f);
}

/* A derived jvp at each of many nodes looks at its neighbourhood only. */
static void test_long_chain(void)
{
    enum { DEPTH = 5000 };
    fixture f = fixture_create(false);
    ad_node *x = ad_input(f.g, "x", LA_F64, 0, NULL), *y = x, *d;
    double value = 0.9;
    for (int i = 0; i < DEPTH; i++)
        y = i % 2 ? ad_pow_scalar(y, 1.0 / 3)
                  : ad_apply(NULL, &op_cube, 1, &y, NULL);
    ad_node *one = ad_scalar(f.g, LA_F64, 1);
    TEST_OK(f.ctx, ad_rop(&d, &y, 1, &x, &one, 1));
    la_array *a = evaluate(&f, d, &x, (la_view[]){la_scalar_f64(&value)}, 1);
    TEST_CLOSE(la_view_get(la_array_view(a), 0), 1, 1e-11);
    la_array_free(a);
    fixture_free(&f);
}

static covar_status differentiate(covar_context *ctx, void *data)
{
    (void)data;
    ad_graph *g;
    COVAR_TRY(ad_graph_create(&g, ctx, NULL));
    ad_dim p = ad_fixed(2);
    ad_node *x = ad_input(g, "x", LA_F64, 1, &p);
    ad_node *c = ad_apply(NULL, &op_cube, 1, &x, NULL);
    ad_hessian(ad_sum(ad_mul(c, ad_exp(x)), AD_ALL), x);
    covar_status status = ad_graph_error(g);
    ad_graph_free(g);
    return status;
}

static void test_allocation(void)
{
    test_allocation_sweep("a Hessian", differentiate, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"recurrence", test_recurrence},
        {"derived rule", test_derived},
        {"composite", test_composite},
        {"Hessian", test_hessian},
        {"Jacobians", test_jacobian_shapes},
        {"errors", test_errors},
        {"long chain", test_long_chain},
        {"allocation failures", test_allocation},
    };
    return CUTAP_RUN("autodiff_rop", cases);
}
