/* Misuse of what operator writers call: NULL for every pointer.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_util.h"

#include <covar/autodiff.h>
#include <covar/op.h>

#include <string.h>

static void test_questions(void)
{
    char text[32];
    CU_ASSERT_PTR_NULL(ad_node_graph(NULL));
    CU_ASSERT_PTR_NULL(ad_node_op(NULL));
    CU_ASSERT_PTR_NULL(ad_node_in(NULL, 0));
    CU_ASSERT_PTR_NULL(ad_node_fields(NULL));
    CU_ASSERT_PTR_NULL(ad_node_name(NULL));
    CU_ASSERT_PTR_NULL(ad_node_type(NULL, 0));
    CU_ASSERT_PTR_NULL(ad_unbroadcast(NULL, NULL));
    TEST_INT(ad_node_n_in(NULL), 0);
    TEST_INT(ad_node_n_out(NULL), 0);
    TEST_TEXT(ad_type_describe(NULL, 3, NULL), "");
    TEST_TEXT(ad_type_describe(text, sizeof(text), NULL), "");
}

static void test_writing(void)
{
    const ad_type type = {.dtype = LA_F64};
    ad_node_set_type(NULL, 0, &type);
    TEST_INT(ad_node_set_n_out(NULL, 2), COVAR_ERR_ARG);
    TEST_INT(ad_like_input(NULL, 0), COVAR_ERR_ARG);
    TEST_INT(ad_node_fail(NULL, COVAR_ERR_DATA, "%d", 1), COVAR_ERR_DATA);
}

static void test_examples(void)
{
    size_t dim = 3;
    CU_ASSERT_PTR_NULL(ad_example_input(NULL, LA_F64, 1, &dim, AD_DRAW_NORMAL));
    CU_ASSERT_PTR_NULL(ad_example_index(NULL, 2, 2));
    CU_ASSERT_PTR_NULL(ad_example_graph(NULL));
    CU_ASSERT_PTR_NULL(ad_example_op(NULL));
    TEST_INT(ad_example_batch(NULL, &dim), 0);
    TEST_INT(ad_example_variant(NULL), 0);
    TEST_INT(ad_example_variants(NULL, 2), COVAR_ERR_ARG);
    TEST_INT(ad_example_result(NULL, NULL), COVAR_ERR_ARG);
}

/* The operator called `name`. */
static const ad_op *find(const char *name)
{
    for (size_t i = 0; ad_ops[i]; i++)
        if (strcmp(ad_ops[i]->name, name) == 0)
            return ad_ops[i];
    return NULL;
}

static void refused(ad_graph *g, const ad_node *y, int line)
{
    test_check(!y && ad_graph_error(g) != COVAR_OK, __FILE__, line,
               "a node, or no error");
    ad_graph_clear_error(g);
}

static void test_apply(void)
{
    covar_context *ctx = test_context();
    ad_graph *g = NULL;
    CU_ASSERT_FATAL(ad_graph_create(&g, ctx, NULL) == COVAR_OK);
    ad_node *x = ad_scalar(g, LA_F64, 1), *none = NULL;
    ad_node *const marks[2] = {AD_ZERO, AD_NO_GRAD};
    const ad_op *exp = find("exp"), *slice = find("slice");
    CU_ASSERT_FATAL(exp && slice);
    CU_ASSERT_PTR_NULL(ad_apply(NULL, exp, 1, &none, NULL));
    CU_ASSERT_PTR_NULL(ad_apply(NULL, exp, 1, NULL, NULL));
    CU_ASSERT_PTR_NULL(ad_apply(NULL, NULL, 0, NULL, NULL));
    refused(g, ad_apply(g, NULL, 1, &x, NULL), __LINE__);
    refused(g, ad_apply(g, exp, 1, NULL, NULL), __LINE__);
    refused(g, ad_apply(g, exp, 1, &none, NULL), __LINE__);
    refused(g, ad_apply(g, exp, 0, NULL, NULL), __LINE__);
    refused(g, ad_apply(g, exp, -1, &x, NULL), __LINE__);
    refused(g, ad_apply(g, exp, 1, marks, NULL), __LINE__);
    refused(g, ad_apply(g, exp, 1, marks + 1, NULL), __LINE__);
    refused(g, ad_apply(g, slice, 1, &x, NULL), __LINE__);
    ad_graph_free(g);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"questions to a node", test_questions},
        {"writing to a node", test_writing},
        {"examples", test_examples},
        {"applying an operator", test_apply},
    };
    return CUTAP_RUN("misuse op", cases);
}
