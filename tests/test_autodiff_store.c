/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <stdio.h>
#include <string.h>

static void test_set_and_get(void)
{
    covar_context *ctx = test_context();
    ad_store *s = NULL;
    TEST_OK(ctx, ad_store_create(&s, ctx));
    double w[6] = {1, 2, 3, 4, 5, 6}, v[6] = {6, 5, 4, 3, 2, 1};
    CU_ASSERT(la_view_is_none(ad_store_view(s, "W")));
    TEST_OK(ctx, ad_store_set(s, ctx, "W", la_mat_f64(w, 2, 3)));
    la_view x = ad_store_view(s, "W");
    CU_ASSERT(x.data != w);
    TEST_CLOSE_ARRAY((double *)x.data, w, 6, 0);
    int64_t version = ad_store_version(s, "W");
    TEST_OK(ctx,
            ad_store_set(s, ctx, "W", la_view_transpose(la_mat_f64(v, 3, 2))));
    CU_ASSERT_PTR_EQUAL(ad_store_view(s, "W").data, x.data);
    const double expected[] = {6, 4, 2, 5, 3, 1};
    TEST_CLOSE_ARRAY((double *)x.data, expected, 6, 0);
    CU_ASSERT(ad_store_version(s, "W") > version);
    TEST_INT(ad_store_count(s), 1);
    TEST_TEXT(ad_store_name(s, 0), "W");
    CU_ASSERT_PTR_NULL(ad_store_name(s, 1));
    ad_store_free(s);
    covar_context_free(ctx);
}

static void test_many_keep_their_place(void)
{
    covar_context *ctx = test_context();
    ad_store *s = NULL;
    TEST_OK(ctx, ad_store_create(&s, ctx));
    const void *place[300];
    char name[32];
    for (int i = 0; i < 300; i++) {
        double value = i;
        snprintf(name, sizeof(name), "layer%d.bias", i);
        TEST_OK(ctx, ad_store_set(s, ctx, name, la_scalar_f64(&value)));
        place[i] = ad_store_view(s, name).data;
    }
    TEST_INT(ad_store_count(s), 300);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "layer%d.bias", i);
        TEST_TEXT(ad_store_name(s, (size_t)i), name);
        CU_ASSERT_PTR_EQUAL(ad_store_view(s, name).data, place[i]);
        TEST_CLOSE(la_view_get(ad_store_view(s, name), 0), i, 0);
    }
    ad_store_free(s);
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    ad_store *s = NULL;
    TEST_OK(ctx, ad_store_create(&s, ctx));
    double w[6] = {0};
    float f[6] = {0};
    TEST_OK(ctx, ad_store_set(s, ctx, "W", la_mat_f64(w, 2, 3)));
    TEST_STATUS(ctx, ad_store_set(s, ctx, "W", la_mat_f64(w, 3, 2)),
                COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(ctx), "'W' is f64 2x3 but the value is f64 "
                                         "3x2");
    TEST_STATUS(ctx, ad_store_set(s, ctx, "W", la_mat_f32(f, 2, 3)),
                COVAR_ERR_SHAPE);
    TEST_STATUS(ctx, ad_store_set(s, ctx, "", la_mat_f64(w, 2, 3)),
                COVAR_ERR_ARG);
    TEST_STATUS(ctx, ad_store_set(s, ctx, "b", la_view_none()), COVAR_ERR_ARG);
    TEST_STATUS(ctx, ad_store_set(NULL, ctx, "b", la_vec_f64(w, 1)),
                COVAR_ERR_ARG);
    ad_store_free(s);
    ad_store_free(NULL);
    CU_ASSERT_PTR_NULL(ad_store_retain(NULL));
    TEST_INT(ad_store_count(NULL), 0);
    covar_context_free(ctx);
}

static void test_exclusive(void)
{
    covar_context *ctx = test_context();
    ad_store *s = NULL;
    double w = 1;
    TEST_OK(ctx, ad_store_create(&s, ctx));
    CU_ASSERT(ad_store_acquire(s));
    CU_ASSERT(!ad_store_acquire(s));
    TEST_STATUS(ctx, ad_store_set(s, ctx, "w", la_scalar_f64(&w)), COVAR_BUSY);
    ad_store_release(s);
    TEST_OK(ctx, ad_store_set(s, ctx, "w", la_scalar_f64(&w)));
    CU_ASSERT(ad_store_acquire(s)); /* set gave it back */
    ad_store_release(s);
    ad_store_free(s);
    covar_context_free(ctx);
}

static void test_shared_by_graphs(void)
{
    covar_context *ctx = test_context();
    ad_store *s = NULL;
    ad_graph *train = NULL, *predict = NULL;
    double w = 3;
    TEST_OK(ctx, ad_store_create(&s, ctx));
    const ad_graph_options o = {.eager = true, .store = s};
    TEST_OK(ctx, ad_graph_create(&train, ctx, &o));
    TEST_OK(ctx, ad_graph_create(&predict, ctx, &o));
    ad_store_free(s); /* the graphs keep it */
    CU_ASSERT_PTR_NOT_NULL(ad_param(train, "w", la_scalar_f64(&w)));
    TEST_CLOSE(eager_get(ad_param(predict, "w", la_view_none()), 0), 3, 0);
    CU_ASSERT_PTR_EQUAL(ad_graph_store(train), ad_graph_store(predict));
    ad_graph_free(train);
    ad_graph_free(predict);
    covar_context_free(ctx);
}

static covar_status fill(covar_context *ctx, void *data)
{
    ad_store *s;
    double w[3] = {1, 2, 3};
    char name[16];
    (void)data;
    COVAR_TRY(ad_store_create(&s, ctx));
    covar_status status = COVAR_OK;
    for (int i = 0; status == COVAR_OK && i < 20; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        status = ad_store_set(s, ctx, name, la_vec_f64(w, 3));
    }
    ad_store_free(s);
    return status;
}

static void test_allocation(void)
{
    test_allocation_sweep("a store", fill, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"set and get", test_set_and_get},
        {"many arrays keep their place", test_many_keep_their_place},
        {"errors", test_errors},
        {"exclusive use", test_exclusive},
        {"shared by graphs", test_shared_by_graphs},
        {"allocation failures", test_allocation},
    };
    return CUTAP_RUN("autodiff_store", cases);
}
