/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <string.h>

static const ad_type scalar = {.dtype = LA_F64};

/* y = c x^2 + x, as a body of x. */
static ad_body *square_body(ad_graph *parent, double c, const char *name)
{
    ad_graph *g = NULL;
    ad_body *b = NULL;
    if (ad_graph_child(&g, parent) != COVAR_OK)
        return NULL;
    ad_exp(ad_scalar(g, LA_F64, 3)); /* unused: no part of the structure */
    ad_node *x = ad_placeholder(g, &scalar, name);
    ad_node *y = ad_add(ad_scale(ad_square(x), c), x);
    if (ad_body_create(&b, g, &x, 1, &y, 1) != COVAR_OK)
        ad_graph_free(g);
    return b;
}

static void test_structure(void)
{
    fixture f = fixture_create(false), other = fixture_create(false);
    ad_body *a = square_body(f.g, 2, "x"), *b = square_body(other.g, 2, "z");
    ad_body *c = square_body(f.g, 3, "x");
    CU_ASSERT_FATAL(a && b && c);
    CU_ASSERT_EQUAL(a->hash, b->hash); /* neither names nor graphs matter */
    CU_ASSERT(ad_body_equal(a, b));
    CU_ASSERT(ad_body_equal(a, a));
    CU_ASSERT(a->hash != c->hash);
    CU_ASSERT(!ad_body_equal(a, c));
    CU_ASSERT(!ad_body_equal(a, NULL));
    CU_ASSERT(ad_body_equal(NULL, NULL));
    CU_ASSERT_PTR_EQUAL(ad_body_retain(a), a);
    ad_body_release(a);
    ad_body_release(b);
    ad_body_release(c);
    ad_body_release(NULL);
    fixture_free(&f);
    fixture_free(&other);
    ad_body_release(a); /* outlives the graph it was made for */
}

static void test_order_of_inputs(void)
{
    fixture f = fixture_create(false);
    ad_body *b[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        ad_graph *g = NULL;
        TEST_OK(f.ctx, ad_graph_child(&g, f.g));
        ad_node *x[2] = {ad_placeholder(g, &scalar, "x"),
                         ad_placeholder(g, &scalar, "z")};
        ad_node *y = ad_sub(x[i], x[1 - i]);
        TEST_OK(f.ctx, ad_body_create(&b[i], g, x, 2, &y, 1));
    }
    CU_ASSERT(!ad_body_equal(b[0], b[1]));
    ad_body_release(b[0]);
    ad_body_release(b[1]);
    fixture_free(&f);
}

static void test_captures(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    double w = 2;
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n);
    ad_node *W = ad_param(f.g, "W", la_scalar_f64(&w));
    ad_graph *g = NULL, *inner = NULL;
    TEST_OK(f.ctx, ad_graph_child(&g, f.g));
    TEST_OK(f.ctx, ad_graph_child(&inner, g));
    ad_type type = {.dtype = LA_F64, .rank = 1, .dim = {n}};
    ad_node *h = ad_placeholder(g, &type, "h");
    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    ad_node *y = ad_add(ad_mul(h, x), x); /* x is of the outer graph */
    CU_ASSERT_PTR_NOT_NULL_FATAL(y);
    CU_ASSERT_PTR_EQUAL(y->graph, g);
    CU_ASSERT_PTR_EQUAL(ad_add(ad_mul(h, x), x), y);
    ad_node *z = ad_mul(y, ad_param(g, "W", la_view_none()));
    CU_ASSERT_PTR_EQUAL(ad_exp(x)->graph, f.g); /* no need to be inside */
    ad_node *in[4], *out[4];
    TEST_INT(ad_graph_captures(g, NULL, NULL), 2);
    ad_graph_captures(g, in, out);
    CU_ASSERT(out[0] == x && out[1] == W);
    TEST_TEXT(in[0]->name, "x");
    /* through two levels, and sizes of the graphs around */
    ad_node *k = ad_fill(inner, LA_F64, 1, 1, &n);
    ad_node *deep = ad_mul(k, x);
    CU_ASSERT_PTR_NOT_NULL_FATAL(deep);
    CU_ASSERT_PTR_EQUAL(deep->graph, inner);
    ad_graph_captures(inner, in, out);
    CU_ASSERT_PTR_EQUAL(out[0]->graph, g);
    TEST_INT(ad_graph_captures(g, NULL, NULL), 2); /* x only once */
    ad_dim mixed = ad_dim_mul(n, ad_dim_of(deep, 0));
    CU_ASSERT_PTR_EQUAL(ad_dim_graph(mixed), inner);
    CU_ASSERT_PTR_NULL(ad_mul(x, NULL));
    ad_graph_clear_error(f.g);
    CU_ASSERT_PTR_NULL(ad_capture(f.g, z)); /* not from inside out */
    ad_graph_free(inner);
    ad_graph_free(g);
    fixture_free(&f);
}

/* An operator that carries a body merges by the body's structure. */
typedef struct carrier_fields {
    ad_body *body;
} carrier_fields;
static const ad_field carrier_table[] = {
    {"body", AD_FIELD_BODY, offsetof(carrier_fields, body)},
    {NULL, AD_FIELD_INT, 0}};
static covar_status infer_like(ad_node *y)
{
    return ad_like_input(y, 0);
}
static const ad_op op_carrier = {.abi = AD_OP_ABI,
                                 .name = "carrier",
                                 .n_in = 1,
                                 .n_out = 1,
                                 .fields = carrier_table,
                                 .fields_size = sizeof(carrier_fields),
                                 .views = -1,
                                 .infer = infer_like};

static void test_fields(void)
{
    fixture f = fixture_create(false);
    ad_node *x = ad_input(f.g, "x", LA_F64, 0, NULL), *y[3];
    const double c[] = {2, 2, 3};
    for (int i = 0; i < 3; i++) {
        carrier_fields fields = {square_body(f.g, c[i], "x")};
        y[i] = ad_apply(NULL, &op_carrier, 1, &x, &fields);
        ad_body_release(fields.body);
    }
    CU_ASSERT(y[0] && y[0] == y[1]);
    CU_ASSERT(y[2] && y[2] != y[0]);
    char *text = ad_print(y[0]);
    TEST_CONTAINS(text, "(carrier :body <body ");
    ad_text_free(f.g, text);
    fixture_free(&f);
}

/* h' = w h + x + b: w a parameter and b a node of the graph around. */
static covar_status step_affine(ad_graph *body, ad_node *const *x,
                                ad_node **out, void *data)
{
    ad_node *w = ad_param(body, "w", la_view_none());
    out[0] = ad_add(ad_mul(w, x[1]), ad_add(x[0], data));
    return COVAR_OK;
}

static void test_scan_captures(void)
{
    fixture f = fixture_create(true);
    double w = 0.5, x[3] = {1, 2, 3};
    ad_node *wrt[] = {ad_param(f.g, "w", la_scalar_f64(&w)),
                      ad_name(ad_scalar(f.g, LA_F64, 4), "b")};
    ad_node *seq = ad_constant(f.g, la_vec_f64(x, 3)), *d[2];
    ad_node *h0 = ad_scalar(f.g, LA_F64, 1);
    ad_node *h = ad_scan(&(ad_scan_spec){.n_seq = 1,
                                         .n_carry = 1,
                                         .seq = &seq,
                                         .carry = &h0,
                                         .step = step_affine,
                                         .data = wrt[1]});
    h = ad_out(h, 0); /* w^3 + w^2 (1 + b) + w (2 + b) + 3 + b */
    TEST_CLOSE(eager_get(h, 0), 0.125 + 0.25 * 5 + 0.5 * 6 + 7, 1e-15);
    TEST_OK(f.ctx, ad_grad(d, h, wrt, 2));
    TEST_CLOSE(eager_get(d[0], 0), 3 * 0.25 + 2 * 0.5 * 5 + 6, 1e-15);
    TEST_CLOSE(eager_get(d[1], 0), 0.25 + 0.5 + 1, 1e-15);
    fixture_free(&f);
}

static covar_status build(covar_context *ctx, void *data)
{
    ad_graph *g;
    (void)data;
    COVAR_TRY(ad_graph_create(&g, ctx, NULL));
    ad_body *a = square_body(g, 2, "x"), *b = square_body(g, 2, "x");
    covar_status status = ad_graph_error(g);
    if ((!a || !b) && status == COVAR_OK)
        status = covar_error_status(ctx);
    ad_body_release(a);
    ad_body_release(b);
    ad_graph_free(g);
    return status;
}

static void test_allocation(void)
{
    test_allocation_sweep("two bodies", build, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"structure", test_structure},
        {"order of inputs", test_order_of_inputs},
        {"captures", test_captures},
        {"captures of a scan", test_scan_captures},
        {"fields", test_fields},
        {"allocation failures", test_allocation},
    };
    return CUTAP_RUN("autodiff_body", cases);
}
