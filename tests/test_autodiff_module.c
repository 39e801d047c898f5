/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <math.h>
#include <string.h>

/* y = tanh(x W + b) */
static ad_node *dense(const ad_module *m, ad_node *const *param, ad_node *x,
                      void *data)
{
    (void)m;
    ++*(int *)data;
    return ad_tanh(ad_add(ad_matmul(x, param[0]), ad_expand(param[1], 0)));
}

static void count_down(void *data)
{
    *(int *)data = -100;
}

static covar_status make_dense(ad_module **out, covar_context *ctx, int *calls)
{
    double w[6] = {1, 0, -1, 2, 1, 0}, b[3] = {0.5, 0, -0.5};
    COVAR_TRY(ad_module_create(out, ctx, "layer1", dense, calls, count_down));
    covar_status status =
        ad_module_add_param(*out, ctx, "W", la_mat_f64(w, 2, 3), AD_IDENTITY);
    if (status == COVAR_OK)
        status = ad_module_add_param(*out, ctx, "b", la_vec_f64(b, 3), AD_LOG);
    if (status != COVAR_OK) {
        ad_module_free(*out);
        *out = NULL;
    }
    return status;
}

static void test_apply(void)
{
    fixture f = fixture_create(true);
    ad_module *m = NULL;
    int calls = 0;
    TEST_OK(f.ctx, make_dense(&m, f.ctx, &calls));
    double x[2] = {0.3, -0.2};
    ad_node *X = ad_constant(f.g, la_mat_f64(x, 1, 2)), *d;
    ad_node *y = ad_module_apply(m, X);
    TEST_CLOSE(eager_get(y, 0), tanh(0.3 - 0.4 + 0.5), 1e-15);
    TEST_TEXT(y->scope, "layer1");
    /* the parameters are found again by name, and shared */
    ad_node *W = ad_param(f.g, "layer1.W", la_view_none());
    CU_ASSERT_PTR_EQUAL(ad_module_apply(m, X), y);
    ad_node *loss = ad_add(ad_sum(y, AD_ALL),
                           ad_sum(ad_module_apply(m, ad_neg(X)), AD_ALL));
    TEST_OK(f.ctx, ad_grad(&d, loss, &W, 1));
    double a = tanh(0.4), b = tanh(0.6);
    TEST_CLOSE(eager_get(d, 0), 0.3 * (1 - a * a) - 0.3 * (1 - b * b), 1e-14);
    TEST_INT(calls, 3);
    /* with values of our own */
    double w2[6] = {0}, b2[3] = {1, 1, 1};
    ad_node *own[] = {ad_constant(f.g, la_mat_f64(w2, 2, 3)),
                      ad_constant(f.g, la_vec_f64(b2, 3))};
    TEST_CLOSE(eager_get(ad_module_apply_with(m, own, X), 1), tanh(1), 1e-15);
    CU_ASSERT_PTR_NULL(ad_module_apply_with(m, (ad_node *[]){NULL, NULL}, X));
    CU_ASSERT_PTR_NULL(ad_module_apply(m, NULL));
    CU_ASSERT_PTR_NULL(ad_module_apply(NULL, X));
    ad_module_free(m);
    TEST_INT(calls, -100);
    fixture_free(&f);
}

static void test_accessors_and_errors(void)
{
    covar_context *ctx = test_context();
    ad_module *m = NULL;
    int calls = 0;
    double v = 1;
    TEST_OK(ctx, make_dense(&m, ctx, &calls));
    TEST_TEXT(ad_module_name(m), "layer1");
    TEST_INT(ad_module_param_count(m), 2);
    TEST_TEXT(ad_module_param_name(m, 1), "b");
    TEST_INT(ad_module_param_transform(m, 1), AD_LOG);
    TEST_CLOSE(la_view_get(ad_module_param_init(m, 0), 3), 2, 0);
    CU_ASSERT_PTR_NULL(ad_module_param_name(m, 2));
    CU_ASSERT(la_view_is_none(ad_module_param_init(m, 2)));
    TEST_STATUS(ctx,
                ad_module_add_param(m, ctx, "b", la_scalar_f64(&v), AD_LOG),
                COVAR_ERR_NAME);
    TEST_CONTAINS(covar_error_text(ctx), "layer1 has a 'b' already");
    TEST_STATUS(ctx, ad_module_add_param(m, ctx, "c", la_view_none(), AD_LOG),
                COVAR_ERR_ARG);
    ad_module *none = m;
    TEST_STATUS(ctx, ad_module_create(&none, ctx, "", dense, NULL, NULL),
                COVAR_ERR_ARG);
    CU_ASSERT_PTR_NULL(none);
    CU_ASSERT_PTR_EQUAL(ad_module_retain(m), m);
    ad_module_free(m);
    TEST_TEXT(ad_module_name(m), "layer1");
    ad_module_free(m);
    ad_module_free(NULL);
    covar_context_free(ctx);
}

static void test_transforms(void)
{
    static const ad_transform all[] = {AD_IDENTITY, AD_LOG, AD_SOFTPLUS};
    fixture f = fixture_create(true);
    for (size_t k = 0; k < NELEM(all); k++) {
        for (double u = -30; u <= 30; u += 1.25) {
            double v = ad_transform_forward(all[k], u);
            TEST_CLOSE(ad_transform_inverse(all[k], v), u, 1e-12);
            CU_ASSERT(all[k] == AD_IDENTITY || v > 0);
            ad_node *x = ad_scalar(f.g, LA_F64, u);
            TEST_REL(eager_get(ad_transform_value(all[k], x), 0), v, 1e-14);
        }
    }
    TEST_CLOSE(ad_transform_forward(AD_SOFTPLUS, 800), 800, 0);
    TEST_CLOSE(ad_transform_inverse(AD_SOFTPLUS, 800), 800, 0);
    TEST_CLOSE(ad_transform_forward(AD_SOFTPLUS, 0), log(2), 1e-15);
    CU_ASSERT(ad_transform_inverse(AD_LOG, 0) == -INFINITY);
    CU_ASSERT(ad_transform_inverse(AD_SOFTPLUS, 0) == -INFINITY);
    CU_ASSERT_PTR_NULL(ad_transform_value(AD_LOG, NULL));
    fixture_free(&f);
}

static covar_status build(covar_context *ctx, void *data)
{
    ad_module *m = NULL;
    ad_graph *g = NULL;
    int calls = 0;
    (void)data;
    covar_status status = make_dense(&m, ctx, &calls);
    if (status == COVAR_OK)
        status = ad_graph_create(&g, ctx, NULL);
    if (status == COVAR_OK) {
        ad_dim d[] = {ad_symbol(g, "n"), ad_fixed(2)};
        ad_module_apply(m, ad_input(g, "X", LA_F64, 2, d));
        status = ad_graph_error(g);
    }
    ad_graph_free(g);
    ad_module_free(m);
    return status;
}

static void test_allocation(void)
{
    test_allocation_sweep("a module", build, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"apply", test_apply},
        {"accessors and errors", test_accessors_and_errors},
        {"transforms", test_transforms},
        {"allocation failures", test_allocation},
    };
    return CUTAP_RUN("autodiff_module", cases);
}
