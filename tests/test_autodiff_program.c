/* Programs: what compiling promises, and what it refuses.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <math.h>
#include <string.h>

/* ---- Golden behaviour --------------------------------------------------- */

/* Value of y(x) for one f64 vector x, compiled. */
static void run_one(fixture *f, ad_node *x, ad_node *y, la_view in, la_view out)
{
    ad_program *p = NULL;
    ad_runner *r = NULL;
    TEST_OK(f->ctx,
            ad_compile(&p, f->g, AD_SIGNATURE(AD_IN(x), AD_OUT(y)), NULL));
    TEST_OK(f->ctx, ad_runner_create(&r, p, ad_graph_store(f->g), f->ctx));
    TEST_OK(f->ctx, ad_run(r, &in, &out));
    ad_runner_free(r);
    ad_program_free(p);
}

static ad_node *part(ad_node *x, size_t i)
{
    return ad_slice(x, 0, ad_fixed(i), ad_fixed(1));
}

static void test_large_exponents(void)
{
    fixture f = fixture_create(false);
    ad_dim two = ad_fixed(2);
    ad_node *v = ad_input(f.g, "v", LA_F64, 1, &two);
    ad_node *x = part(v, 0), *y = part(v, 1), *a = ad_exp(x), *b = ad_exp(y);
    double in[2] = {10000, 10000}, out = 0;
    run_one(&f, v, ad_log(ad_add(a, b)), la_vec_f64(in, 2),
            la_vec_f64(&out, 1));
    TEST_REL(out, 10000.69314718056, 1e-15);
    ad_node *four = ad_add(ad_add(a, b),
                           ad_add(ad_exp(ad_sub(x, y)), ad_exp(ad_add(x, y))));
    run_one(&f, v, ad_log(four), la_vec_f64(in, 2), la_vec_f64(&out, 1));
    TEST_REL(out, 20000, 1e-15);
    in[0] = -100;
    in[1] = 100;
    ad_node *sum = ad_log(ad_sum(ad_exp(v), AD_ALL)), *d = NULL;
    run_one(&f, v, sum, la_vec_f64(in, 2), la_scalar_f64(&out));
    TEST_REL(out, 100, 1e-15);
    TEST_OK(f.ctx, ad_grad(&d, sum, &v, 1));
    double slope[2];
    run_one(&f, v, d, la_vec_f64(in, 2), la_vec_f64(slope, 2));
    TEST_CLOSE(slope[0], exp(-200), 1e-15);
    TEST_CLOSE(slope[1], 1, 1e-15);
    fixture_free(&f);
}

static void test_log_erfc(void)
{
    static const struct {
        double x, y, slope;
    } golden[] = {
        {10, -102.87988902484489, -20.099024116734604},
        {27, -732.86888650789741, 0},
        {30, -903.97411711064388, 0},
        {100, -10005.177585122664, -200.00999900024991},
    };
    fixture f = fixture_create(false);
    ad_node *x = ad_input(f.g, "x", LA_F64, 0, NULL), *d = NULL;
    ad_node *y = ad_log(ad_erfc(x));
    TEST_OK(f.ctx, ad_grad(&d, y, &x, 1));
    for (size_t i = 0; i < NELEM(golden); i++) {
        double out = 0;
        la_view in = la_scalar_f64(&golden[i].x);
        run_one(&f, x, y, in, la_scalar_f64(&out));
        TEST_REL(out, golden[i].y, 1e-14);
        run_one(&f, x, d, in, la_scalar_f64(&out));
        if (golden[i].slope != 0)
            TEST_REL(out, golden[i].slope, 1e-13);
    }
    fixture_free(&f);
}

/* log(1 + x) is one log1p, exp(x) - 1 is expm1, exp(x) - 2 stays. */
static void test_counts(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n), *ex = ad_exp(x);
    ad_program *p = NULL;
    TEST_OK(f.ctx, ad_compile(&p, f.g,
                              AD_SIGNATURE(AD_IN(x),
                                           AD_OUT(ad_log(ad_add_scalar(x, 1)))),
                              NULL));
    TEST_INT(ad_program_count(p, "log1p"), 1);
    TEST_INT(ad_program_count(p, "log"), 0);
    TEST_INT(ad_program_count(p, "fused"), 1);
    TEST_INT(ad_program_step_count(p), 1);
    ad_program_free(p);
    TEST_OK(f.ctx,
            ad_compile(&p, f.g,
                       AD_SIGNATURE(AD_IN(x), AD_OUT(ad_add_scalar(ex, -1)),
                                    AD_OUT(ad_add_scalar(ex, -2))),
                       NULL));
    TEST_INT(ad_program_count(p, "expm1"), 1);
    TEST_INT(ad_program_count(p, "exp"), 1);
    TEST_INT(ad_program_count(p, "add"), 1);
    ad_program_free(p);
    fixture_free(&f);
}

/* The loss of the manual: softplus in one loop with its sum, and a gradient
 * that is finite wherever W is. */
static void test_logistic_loss(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    double w[2] = {1, -1}, x[6] = {1, 2, -3, 4, 5, -6}, l = 0, slope[2];
    ad_node *X = ad_input(f.g, "X", LA_F64, 2, (ad_dim[]){n, ad_fixed(2)});
    ad_node *W = ad_param(f.g, "W", la_mat_f64(w, 2, 1)), *dW = NULL;
    ad_node *e = ad_exp(ad_neg(ad_matmul(X, W)));
    ad_node *loss = ad_mean(ad_log(ad_add_scalar(e, 1)), AD_ALL);
    TEST_OK(f.ctx, ad_grad(&dW, loss, &W, 1));
    ad_program *p = NULL;
    ad_runner *r = NULL;
    TEST_OK(f.ctx,
            ad_compile(&p, f.g, AD_SIGNATURE(AD_IN(X), AD_OUT(loss)), NULL));
    TEST_INT(ad_program_count(p, "softplus"), 1);
    TEST_INT(ad_program_count(p, "exp"), 0);
    TEST_INT(ad_program_count(p, "sum"), 0);
    ad_program_free(p);
    TEST_OK(f.ctx,
            ad_compile(&p, f.g,
                       AD_SIGNATURE(AD_IN(X), AD_OUT(loss), AD_OUT(dW)), NULL));
    TEST_OK(f.ctx, ad_runner_create(&r, p, ad_graph_store(f.g), f.ctx));
    static const double scales[] = {1, 1e3, -1e3, 1e300};
    for (size_t i = 0; i < NELEM(scales); i++) {
        double scaled[2] = {scales[i], -scales[i]};
        TEST_OK(f.ctx, ad_store_set(ad_graph_store(f.g), f.ctx, "W",
                                    la_mat_f64(scaled, 2, 1)));
        TEST_OK(f.ctx, ad_run(r, (la_view[]){la_mat_f64(x, 3, 2)},
                              (la_view[]){la_scalar_f64(&l),
                                          la_mat_f64(slope, 2, 1)}));
        CU_ASSERT_TRUE(isfinite(slope[0]) && isfinite(slope[1]));
    }
    ad_runner_free(r);
    ad_program_free(p);
    fixture_free(&f);
}

/* Equal zeros under two names are two states with their own slopes. */
static void test_two_states(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_fixed(2);
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n);
    ad_node *h = ad_name(ad_fill(f.g, LA_F64, 0, 1, &n), "h");
    ad_node *c = ad_name(ad_fill(f.g, LA_F64, 0, 1, &n), "c");
    ad_node *wrt[2] = {h, c}, *d[2] = {NULL, NULL};
    ad_node *y =
        ad_sum(ad_add(ad_mul(x, ad_exp(h)), ad_scale(ad_sin(c), 3)), AD_ALL);
    TEST_OK(f.ctx, ad_grad(d, y, wrt, 2));
    double in[2] = {5, 7}, out[2];
    run_one(&f, x, d[0], la_vec_f64(in, 2), la_vec_f64(out, 2));
    TEST_CLOSE_ARRAY(out, in, 2, 1e-15);
    ad_node *both = ad_add(d[0], d[1]);
    run_one(&f, x, both, la_vec_f64(in, 2), la_vec_f64(out, 2));
    TEST_CLOSE(out[0], 8, 1e-15);
    TEST_CLOSE(out[1], 10, 1e-15);
    fixture_free(&f);
}

/* ---- Ownership ---------------------------------------------------------- */

static void test_outlives_graph(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    double w = 3, c[2] = {1, 2}, x[2] = {10, 20}, out[2];
    ad_node *X = ad_input(f.g, "x", LA_F64, 1, &n);
    ad_node *W = ad_param(f.g, "w", la_scalar_f64(&w));
    ad_node *y = ad_add(ad_mul(X, W), ad_constant(f.g, la_vec_f64(c, 2)));
    TEST_STATUS(f.ctx, ad_graph_error(f.g), COVAR_ERR_SHAPE); /* n is not 2 */
    ad_graph_clear_error(f.g);
    TEST_OK(f.ctx, ad_dim_equal(f.g, n, ad_fixed(2)));
    y = ad_add(ad_mul(X, W), ad_constant(f.g, la_vec_f64(c, 2)));
    ad_program *p = NULL;
    TEST_OK(f.ctx,
            ad_compile(&p, f.g, AD_SIGNATURE(AD_IN(X), AD_OUT(y)), NULL));
    ad_store *store = ad_store_retain(ad_graph_store(f.g));
    covar_context *other = test_context();
    fixture_free(&f);
    ad_runner *r = NULL;
    TEST_OK(other, ad_runner_create(&r, p, store, other));
    ad_program_free(p);
    ad_store_free(store);
    TEST_OK(other, ad_run(r, (la_view[]){la_vec_f64(x, 2)},
                          (la_view[]){la_vec_f64(out, 2)}));
    TEST_CLOSE(out[0], 31, 0);
    TEST_CLOSE(out[1], 62, 0);
    ad_runner_free(r);
    covar_context_free(other);
}

static void test_print(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n);
    ad_program *p = NULL;
    TEST_OK(f.ctx, ad_compile(&p, f.g,
                              AD_SIGNATURE(AD_IN(x),
                                           AD_OUT(ad_sum(ad_exp(x), AD_ALL))),
                              NULL));
    char *text = ad_program_print(p);
    TEST_CONTAINS(text, "(scalar f64) = fused x { exp; sum }\n");
    ad_text_free(f.g, text);
    ad_program_free(p);
    fixture_free(&f);
}

/* ---- Refusals ----------------------------------------------------------- */

static void refused(fixture *f, const ad_signature *s, covar_status status,
                    const char *sentence)
{
    ad_program *p = (ad_program *)(void *)f;
    TEST_STATUS(f->ctx, ad_compile(&p, f->g, s, NULL), status);
    TEST_CONTAINS(covar_error_text(f->ctx), sentence);
    CU_ASSERT_PTR_NULL(p);
}

static void test_refusals(void)
{
    fixture f = fixture_create(false), other = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    double w[2] = {1, 2};
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n);
    ad_node *z = ad_input(f.g, "z", LA_F64, 1, &n);
    ad_node *W = ad_param(f.g, "W", la_vec_f64(w, 2));
    ad_node *y = ad_add(x, z), *far = ad_input(other.g, "far", LA_F64, 0, NULL);
    refused(&f, AD_SIGNATURE(AD_IN(x), AD_OUT(y)), COVAR_ERR_ARG,
            "the outputs need input 'z'");
    refused(&f, AD_SIGNATURE(AD_IN(x), AD_OUT(NULL)), COVAR_ERR_ARG,
            "slot 2 has no node");
    refused(&f, AD_SIGNATURE(AD_IN(y), AD_OUT(y)), COVAR_ERR_ARG,
            "slot 1 is an input but its node is not");
    refused(&f, AD_SIGNATURE(AD_IN(x), AD_IN(x), AD_OUT(x)), COVAR_ERR_ARG,
            "slots 1 and 2 are both 'x'");
    refused(&f, AD_SIGNATURE(AD_OUT(W), AD_UPDATE(x, x)), COVAR_ERR_ARG,
            "updates a node that is no parameter");
    refused(&f, AD_SIGNATURE(AD_UPDATE(W, W), AD_UPDATE(W, W)), COVAR_ERR_ARG,
            "slots 1 and 2 are both 'W'");
    refused(&f, AD_SIGNATURE(AD_UPDATE(W, NULL)), COVAR_ERR_ARG,
            "has no value for its parameter");
    refused(&f, AD_SIGNATURE(AD_UPDATE(W, ad_sum(W, AD_ALL))), COVAR_ERR_SHAPE,
            "parameter 'W' is 2 f64 but its update is scalar f64");
    refused(&f, AD_SIGNATURE(AD_OUT(far)), COVAR_ERR_ARG,
            "has a node of another graph");
    ad_add(x, W);
    refused(&f, AD_SIGNATURE(AD_IN(x), AD_OUT(x)), COVAR_ERR_SHAPE, "add: ");
    fixture_free(&other);
    fixture_free(&f);
}

static covar_status compile_small(covar_context *ctx, void *data)
{
    ad_graph *g = NULL;
    ad_program *p = NULL;
    (void)data;
    COVAR_TRY(ad_graph_create(&g, ctx, NULL));
    ad_dim n = ad_symbol(g, "n");
    ad_node *x = ad_input(g, "x", LA_F64, 1, &n), *d = NULL;
    ad_node *y = ad_sum(ad_log(ad_add_scalar(ad_exp(x), 1)), AD_ALL);
    covar_status status = ad_graph_error(g);
    if (status == COVAR_OK)
        status = ad_grad(&d, y, &x, 1);
    if (status == COVAR_OK)
        status = ad_compile(&p, g, AD_SIGNATURE(AD_IN(x), AD_OUT(y), AD_OUT(d)),
                            NULL);
    ad_program_free(p);
    ad_graph_free(g);
    return status;
}

static void test_memory(void)
{
    test_allocation_sweep("compile", compile_small, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"logarithms of large exponentials", test_large_exponents},
        {"log erfc", test_log_erfc},
        {"operators that are left", test_counts},
        {"logistic loss", test_logistic_loss},
        {"two equal states", test_two_states},
        {"a program outlives its graph", test_outlives_graph},
        {"print", test_print},
        {"refused signatures", test_refusals},
        {"allocation failures", test_memory},
    };
    return CUTAP_RUN("program", cases);
}
