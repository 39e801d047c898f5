/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <string.h>

static void expect(fixture *f, ad_node *x, const char *expected)
{
    char *text = ad_print(x);
    TEST_TEXT(text ? text : "(null)", expected);
    ad_text_free(f->g, text);
}

static void test_expressions(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), d[] = {n, ad_fixed(8)};
    double w[16] = {1, 2};
    ad_node *X = ad_input(f.g, "X", LA_F64, 2, d);
    ad_node *W = ad_param(f.g, "W", la_mat_f64(w, 8, 2));
    ad_node *e = ad_exp(X);
    expect(&f, X, "X");
    expect(&f, e, "(exp X)");
    expect(&f, ad_add(e, ad_neg(X)), "(add (exp X) (neg X))");
    expect(&f, ad_mul(e, ad_add(X, e)), "(mul #1=(exp X) (add X #1#))");
    expect(&f, ad_scalar(f.g, LA_F64, 0.1), "0.10000000000000001");
    expect(&f, ad_fill(f.g, LA_F64, 2, 1, &n),
           "(fill :value 2 :dtype 0 :dims [n])");
    expect(&f, ad_constant(f.g, la_mat_f64(w, 8, 2)),
           "(constant :value <f64 8x2>)");
    char *text = ad_print(ad_matmul(X, W));
    TEST_CONTAINS(text, "X W)");
    ad_text_free(f.g, text);
    CU_ASSERT_PTR_NULL(ad_print(NULL));
    ad_text_free(f.g, NULL);
    fixture_free(&f);
}

/* Doubling 60 times prints 60 nodes, and a deep chain needs no stack. */
static void test_linear_size(void)
{
    fixture f = fixture_create(false);
    ad_node *x = ad_input(f.g, "x", LA_F64, 0, NULL), *y = x;
    for (int i = 0; i < 60; i++)
        y = ad_add(y, y);
    char *text = ad_print(y);
    CU_ASSERT(text && strlen(text) < 60 * 20);
    ad_text_free(f.g, text);
    y = x;
    for (int i = 0; i < 20000; i++)
        y = ad_sin(y);
    text = ad_print(y);
    TEST_INT(text ? strlen(text) : 0, 20000 * 6 + 1);
    ad_text_free(f.g, text);
    fixture_free(&f);
}

static covar_status print(covar_context *ctx, void *data)
{
    ad_graph *g;
    (void)data;
    COVAR_TRY(ad_graph_create(&g, ctx, NULL));
    ad_node *y = ad_input(g, "x", LA_F64, 0, NULL);
    for (int i = 0; y && i < 200; i++)
        y = ad_sin(y);
    char *text = ad_print(y);
    covar_status status = ad_graph_error(g);
    CU_ASSERT((text != NULL) == (status == COVAR_OK));
    ad_text_free(g, text);
    ad_graph_free(g);
    return status;
}

static void test_allocation(void)
{
    test_allocation_sweep("print", print, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"expressions", test_expressions},
        {"linear size", test_linear_size},
        {"allocation failures", test_allocation},
    };
    return CUTAP_RUN("autodiff_print", cases);
}
