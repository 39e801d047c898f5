/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <math.h>
#include <string.h>

/* An operator of our own with one field of most kinds. */
typedef struct odd_fields {
    double real;
    int64_t integer;
    ad_dim dim;
    ad_dims dims;
    ad_axes axes;
    const char *text;
} odd_fields;

static const ad_field odd_table[] = {
    {"real", AD_FIELD_REAL, offsetof(odd_fields, real)},
    {"integer", AD_FIELD_INT, offsetof(odd_fields, integer)},
    {"dim", AD_FIELD_DIM, offsetof(odd_fields, dim)},
    {"dims", AD_FIELD_DIMS, offsetof(odd_fields, dims)},
    {"axes", AD_FIELD_AXES, offsetof(odd_fields, axes)},
    {"text", AD_FIELD_TEXT, offsetof(odd_fields, text)},
    {NULL, AD_FIELD_INT, 0}};

static covar_status infer_like(ad_node *y)
{
    return ad_like_input(y, 0);
}

static const ad_op odd = {.abi = AD_OP_ABI,
                          .name = "odd",
                          .n_in = 1,
                          .n_out = 1,
                          .fields = odd_table,
                          .fields_size = sizeof(odd_fields),
                          .views = -1,
                          .infer = infer_like};

static ad_node *apply_odd(ad_node *x, const odd_fields *f)
{
    return ad_apply(NULL, &odd, 1, &x, f);
}

static ad_node *vector(fixture *f, const char *name)
{
    ad_dim n = ad_symbol(f->g, "n");
    return ad_input(f->g, name, LA_F64, 1, &n);
}

static void test_equal_applications_merge(void)
{
    fixture f = fixture_create(false);
    ad_node *x = vector(&f, "x"), *z = vector(&f, "z");
    CU_ASSERT_PTR_EQUAL(ad_exp(x), ad_exp(x));
    CU_ASSERT(ad_exp(x) != ad_exp(z));
    CU_ASSERT(ad_add(x, z) != ad_add(z, x));
    CU_ASSERT_PTR_EQUAL(ad_add(x, ad_exp(z)), ad_add(x, ad_exp(z)));
    CU_ASSERT(vector(&f, "x") != x); /* inputs never merge */
    CU_ASSERT_PTR_EQUAL(ad_node_in(ad_exp(x), 0), x);
    CU_ASSERT_PTR_NULL(ad_node_in(ad_exp(x), 1));
    fixture_free(&f);
}

static void test_fields_decide(void)
{
    fixture f = fixture_create(false);
    ad_node *x = vector(&f, "x");
    odd_fields a, b;
    memset(&a, 0x5a, sizeof(a)); /* padding differs and is never read */
    memset(&b, 0xa5, sizeof(b));
    a.real = 0.0;
    b.real = -0.0;
    a.integer = b.integer = 3;
    a.dim = b.dim = ad_symbol(f.g, "n");
    a.dims.rank = b.dims.rank = 1;
    a.dims.dim[0] = b.dims.dim[0] = ad_fixed(4);
    a.axes.n = b.axes.n = 2;
    a.axes.axis[0] = b.axes.axis[0] = 1;
    a.axes.axis[1] = b.axes.axis[1] = 0;
    a.text = "same";
    char copy[] = "same";
    b.text = copy;
    ad_node *y = apply_odd(x, &a);
    CU_ASSERT_PTR_EQUAL(apply_odd(x, &b), y);
    copy[0] = 'l'; /* the node has its own text */
    CU_ASSERT_PTR_EQUAL(apply_odd(x, &a), y);
    CU_ASSERT(apply_odd(x, &b) != y);
    b.text = "same";
    a.real = NAN;
    b.real = -nan("7");
    CU_ASSERT_PTR_EQUAL(apply_odd(x, &b), apply_odd(x, &a));
    b.integer = 4;
    CU_ASSERT(apply_odd(x, &b) != apply_odd(x, &a));
    b.integer = 3;
    b.axes.axis[1] = 2;
    CU_ASSERT(apply_odd(x, &b) != apply_odd(x, &a));
    b = a;
    b.dim = ad_dim_add(a.dim, ad_fixed(1));
    CU_ASSERT(apply_odd(x, &b) != apply_odd(x, &a));
    TEST_INT(ad_graph_error(f.g), COVAR_OK);
    fixture_free(&f);
}

static void test_constants(void)
{
    fixture f = fixture_create(false);
    double x[33] = {1, 2, 3};
    ad_node *small = ad_constant(f.g, la_vec_f64(x, 32));
    CU_ASSERT_PTR_EQUAL(ad_constant(f.g, la_vec_f64(x, 32)), small);
    CU_ASSERT(ad_constant(f.g, la_mat_f64(x, 4, 8)) != small);
    x[0] = 9; /* the elements were copied */
    CU_ASSERT(ad_constant(f.g, la_vec_f64(x, 32)) != small);
    ad_node *large = ad_constant(f.g, la_vec_f64(x, 33));
    CU_ASSERT(ad_constant(f.g, la_vec_f64(x, 33)) != large);
    CU_ASSERT_PTR_EQUAL(ad_scalar(f.g, LA_F32, 0.5),
                        ad_scalar(f.g, LA_F32, 0.5));
    CU_ASSERT(ad_scalar(f.g, LA_F64, 0.5) != ad_scalar(f.g, LA_F32, 0.5));
    double v;
    CU_ASSERT(ad_is_constant(ad_scalar(f.g, LA_F64, 2.5), &v) && v == 2.5);
    ad_dim n = ad_symbol(f.g, "n");
    CU_ASSERT(ad_is_constant(ad_fill(f.g, LA_F64, 3, 1, &n), &v) && v == 3);
    CU_ASSERT(!ad_is_constant(small, &v));
    CU_ASSERT(!ad_is_constant(NULL, &v));
    CU_ASSERT_PTR_EQUAL(ad_dim_value(f.g, LA_F64, ad_fixed(3)),
                        ad_scalar(f.g, LA_F64, 3));
    fixture_free(&f);
}

static unsigned symmetry(const ad_node *x)
{
    return ad_node_type(x, 0)->facts & (AD_SYMMETRIC | AD_SKEW);
}

/* What a swap of the dims does to elementwise results. */
static void test_symmetry(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), column[] = {n, ad_fixed(1)}, nn[] = {n, n};
    ad_node *v = ad_input(f.g, "v", LA_F64, 2, column);
    ad_node *u = ad_input(f.g, "u", LA_F64, 1, &n);
    ad_node *A = ad_input(f.g, "A", LA_F64, 2, nn);
    ad_node *skew = ad_sub(v, ad_transpose(v));
    ad_node *even = ad_mul(ad_expand(u, 0), ad_expand(u, 1));
    TEST_INT(symmetry(skew), AD_SKEW);
    TEST_INT(symmetry(even), AD_SYMMETRIC);
    TEST_INT(symmetry(ad_sub(A, ad_transpose(A))), AD_SKEW);
    TEST_INT(symmetry(ad_max(A, ad_transpose(A))), AD_SYMMETRIC);
    TEST_INT(symmetry(ad_div(v, ad_transpose(v))), 0);
    TEST_INT(symmetry(ad_add(v, ad_expand(u, 0))), 0);
    TEST_INT(symmetry(ad_sin(ad_scale(skew, 3))), AD_SKEW);
    TEST_INT(symmetry(ad_cos(skew)), AD_SYMMETRIC);
    TEST_INT(symmetry(ad_square(skew)), AD_SYMMETRIC);
    TEST_INT(symmetry(ad_exp(skew)), 0);
    TEST_INT(symmetry(ad_exp(even)), AD_SYMMETRIC);
    TEST_INT(symmetry(ad_add_scalar(skew, 1)), 0);
    TEST_INT(symmetry(ad_mul(skew, even)), AD_SKEW);
    TEST_INT(symmetry(ad_div(ad_sin(skew), skew)), AD_SYMMETRIC);
    TEST_INT(symmetry(ad_add(skew, even)), 0);
    TEST_INT(symmetry(ad_add(skew, ad_sin(skew))), AD_SKEW);
    TEST_INT(symmetry(ad_mul(even, A)), 0);
    TEST_INT(symmetry(ad_where(ad_lt(even, ad_scalar(f.g, LA_F64, 1)), even,
                               ad_fill(f.g, LA_F64, 2, 2, nn))),
             AD_SYMMETRIC);
    TEST_INT(ad_graph_error(f.g), COVAR_OK);
    fixture_free(&f);
}

static void test_named_states_stay_apart(void)
{
    fixture f = fixture_create(false);
    ad_node *zero = ad_scalar(f.g, LA_F64, 0);
    ad_node *h0 = ad_name(zero, "h0"), *c0 = ad_name(zero, "c0");
    CU_ASSERT(h0 != c0 && h0 != zero);
    CU_ASSERT(ad_name(zero, "h0") != h0);
    TEST_TEXT(ad_node_name(h0), "h0");
    ad_dim n[] = {ad_symbol(f.g, "n"), ad_symbol(f.g, "n")};
    ad_node *K = ad_assume(ad_input(f.g, "K", LA_F64, 2, n), AD_PD);
    CU_ASSERT(ad_node_type(K, 0)->facts == (AD_PD | AD_SYMMETRIC));
    CU_ASSERT_PTR_NULL(ad_assume(zero, AD_LOWER));
    TEST_CONTAINS(ad_graph_error_text(f.g), "facts about a matrix");
    fixture_free(&f);
}

static void test_null_and_foreign(void)
{
    fixture f = fixture_create(false), other = fixture_create(false);
    ad_node *x = vector(&f, "x");
    CU_ASSERT_PTR_NULL(ad_exp(NULL));
    CU_ASSERT_PTR_NULL(ad_add(ad_exp(NULL), ad_log(NULL)));
    TEST_INT(ad_graph_error(f.g), COVAR_OK);
    CU_ASSERT_PTR_NULL(ad_add(x, ad_exp(NULL)));
    TEST_INT(ad_graph_error(f.g), COVAR_POISONED);
    TEST_CONTAINS(ad_graph_error_text(f.g), "add: input 1 is NULL");
    ad_graph_clear_error(f.g);
    TEST_INT(ad_graph_error(f.g), COVAR_OK);
    CU_ASSERT_PTR_NULL(ad_add(x, vector(&other, "z")));
    TEST_CONTAINS(ad_graph_error_text(f.g), "belongs to another graph");
    ad_graph_clear_error(f.g);
    ad_dim k = ad_symbol(other.g, "k");
    CU_ASSERT_PTR_NULL(ad_input(f.g, "w", LA_F64, 1, &k));
    TEST_CONTAINS(ad_graph_error_text(f.g), "belongs to another graph");
    ad_graph_clear_error(f.g);
    CU_ASSERT_PTR_NULL(ad_exp(AD_ZERO));
    CU_ASSERT_PTR_NULL(ad_add(x, AD_NO_GRAD));
    TEST_CONTAINS(ad_graph_error_text(f.g), "a mark, not a value");
    CU_ASSERT_PTR_NULL(ad_input(NULL, "x", LA_F64, 0, NULL));
    CU_ASSERT_PTR_NULL(ad_constant(NULL, la_view_none()));
    fixture_free(&f);
    fixture_free(&other);
}

static void test_first_error_with_origin(void)
{
    fixture f = fixture_create(false);
    ad_node *x = vector(&f, "x");
    ad_dim m = ad_symbol(f.g, "m");
    ad_node *z = ad_input(f.g, "z", LA_F64, 1, &m);
    ad_scope_push(f.g, "net");
    ad_scope_push(f.g, "layer1");
    ad_set_site(f.g, "model.c", 42);
    CU_ASSERT_PTR_NULL(ad_add(x, z));
    TEST_CONTAINS(ad_graph_error_text(f.g), "net/layer1: add: ");
    TEST_CONTAINS(ad_graph_error_text(f.g), "(at model.c:42)");
    TEST_TEXT(covar_error_text(f.ctx), ad_graph_error_text(f.g));
    ad_scope_pop(f.g);
    ad_scope_pop(f.g);
    ad_scope_pop(f.g); /* one too many */
    CU_ASSERT_PTR_NULL(ad_out(x, 1));
    TEST_CONTAINS(ad_graph_error_text(f.g), "layer1"); /* still the first */
    ad_graph_clear_error(f.g);
    CU_ASSERT_PTR_NULL(ad_out(x, 1));
    TEST_CONTAINS(ad_graph_error_text(f.g), "x: input: has no value 1");
    fixture_free(&f);
}

static void test_projections(void)
{
    fixture f = fixture_create(false);
    ad_dim n[] = {ad_fixed(3), ad_fixed(3)};
    ad_node *A = ad_input(f.g, "A", LA_F64, 2, n), *e = ad_eigh(A);
    TEST_INT(ad_node_n_out(e), 2);
    CU_ASSERT_PTR_EQUAL(ad_out(e, 1), ad_out(e, 1));
    TEST_INT(ad_rank(ad_out(e, 1)), 1);
    CU_ASSERT_PTR_EQUAL(ad_out(A, 0), A);
    CU_ASSERT_PTR_NULL(ad_exp(e));
    TEST_CONTAINS(ad_graph_error_text(f.g), "take one with ad_out");
    fixture_free(&f);
}

static void test_parameters(void)
{
    fixture f = fixture_create(false);
    double w[6] = {1, 2, 3, 4, 5, 6};
    ad_node *W = ad_param(f.g, "W", la_mat_f64(w, 2, 3));
    CU_ASSERT_PTR_EQUAL(ad_param(f.g, "W", la_view_none()), W);
    CU_ASSERT_PTR_EQUAL(ad_param(f.g, "W", la_mat_f64(w, 2, 3)), W);
    TEST_TEXT(ad_node_name(W), "W");
    CU_ASSERT_PTR_NULL(ad_param(f.g, "W", la_mat_f64(w, 3, 2)));
    TEST_CONTAINS(ad_graph_error_text(f.g), "'W' is f64 2x3");
    ad_graph_clear_error(f.g);
    CU_ASSERT_PTR_NULL(ad_param(f.g, "b", la_view_none()));
    TEST_INT(ad_graph_error(f.g), COVAR_ERR_NAME);
    fixture_free(&f);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"equal applications are one node", test_equal_applications_merge},
        {"fields decide", test_fields_decide},
        {"constants by content", test_constants},
        {"named states stay apart", test_named_states_stay_apart},
        {"symmetry of elementwise results", test_symmetry},
        {"NULL and foreign inputs", test_null_and_foreign},
        {"first error, with its origin", test_first_error_with_origin},
        {"projections", test_projections},
        {"parameters", test_parameters},
    };
    return CUTAP_RUN("autodiff_node", cases);
}
