/* What the tests of autodiff share: a graph with its context, values.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TEST_AUTODIFF_H
#define TEST_AUTODIFF_H

#include "autodiff/autodiff_impl.h"
#include "test_util.h"

typedef struct fixture {
    covar_context *ctx;
    ad_graph *g;
} fixture;

static inline fixture fixture_create(bool eager)
{
    fixture f = {test_context(), NULL};
    covar_status status =
        ad_graph_create(&f.g, f.ctx, &(ad_graph_options){.eager = eager});
    CU_ASSERT_EQUAL_FATAL(status, COVAR_OK);
    return f;
}

static inline void fixture_free(fixture *f)
{
    ad_graph_free(f->g);
    covar_context_free(f->ctx);
}

/* Values of one node of a lazy graph whose leaves have these values. */
static inline la_array *evaluate(fixture *f, ad_node *y, ad_node *const *leaf,
                                 const la_view *value, size_t n)
{
    la_array *out = NULL;
    if (y)
        TEST_OK(f->ctx, ad_evaluate(f->g, leaf, value, n, &y, 1, &out));
    else
        CU_FAIL("the node is NULL");
    return out;
}

/* Element i of a node of an eager graph; NaN when there is none. */
static inline double eager_get(ad_node *x, size_t i)
{
    la_array *a = ad_value(x);
    double v = a ? la_view_get(la_array_view(a), i) : 0.0 / 0.0;
    la_array_free(a);
    return v;
}

#endif
