/* The eager graph of a test: see eager.h.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "eager.h"

#include <math.h>

covar_context *eager_ctx;
ad_graph *eager_g;

void eager_begin(void)
{
    eager_ctx = test_context();
    TEST_OK(eager_ctx, ad_graph_create(&eager_g, eager_ctx,
                                       &(ad_graph_options){.eager = true}));
}

void eager_end(void)
{
    ad_graph_free(eager_g);
    covar_context_free(eager_ctx);
}

ad_node *eager_constant(la_view x, const char *name)
{
    return ad_name(ad_constant(eager_g, x), name);
}

/* The n elements of x are `expected`? */
void eager_check(ad_node *x, const double *expected, size_t n, double tolerance)
{
    la_array *a = ad_value(x);
    double value[64] = {0};
    if (!test_check(a != NULL, __FILE__, __LINE__, "no value: %s",
                    ad_graph_error_text(eager_g)))
        return;
    la_view v = la_array_view(a);
    TEST_INT(la_view_count(v), n);
    for (size_t i = 0; i < n && i < la_view_count(v); i++)
        value[i] = la_view_get(v, i);
    TEST_CLOSE_ARRAY(value, expected, n, tolerance);
    la_array_free(a);
}

double eager_number(ad_node *x)
{
    la_array *a = ad_value(x);
    double y = a ? la_view_get(la_array_view(a), 0) : NAN;
    la_array_free(a);
    return y;
}

/* The adjoint of x for adjoints y_bar of y. */
ad_node *eager_pull(ad_node *y, ad_node *y_bar, ad_node *x)
{
    ad_node *x_bar = NULL;
    TEST_OK(eager_ctx, ad_lop(&x_bar, &y, &y_bar, 1, &x, 1, NULL));
    return x_bar;
}

ad_node *eager_gradient(ad_node *y, ad_node *x)
{
    ad_node *dy = NULL;
    TEST_OK(eager_ctx, ad_grad(&dy, y, &x, 1));
    return dy;
}
