/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar/rng.h"
#include "test_autodiff.h"

#include <stdio.h>
#include <string.h>

static ad_dim fixed(size_t n)
{
    return ad_fixed(n);
}

#define TEST_DIM(d, expected)                                                  \
    do {                                                                       \
        char text_[256];                                                       \
        TEST_TEXT(ad_dim_text(text_, sizeof(text_), d), expected);             \
    } while (0)

static void test_canonical_text(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), m = ad_symbol(f.g, "m");
    TEST_DIM(fixed(7), "7");
    TEST_DIM(n, "n");
    TEST_DIM(ad_dim_add(fixed(1), n), "n + 1");
    TEST_DIM(ad_dim_sub(m, n), "-n + m");
    TEST_DIM(ad_dim_mul(ad_dim_add(n, fixed(1)), ad_dim_sub(n, fixed(1))),
             "n^2 - 1");
    TEST_DIM(ad_dim_mul(ad_dim_add(n, m), ad_dim_add(n, m)),
             "n^2 + 2*n*m + m^2");
    TEST_DIM(ad_dim_sub(ad_dim_add(n, m), m), "n");
    TEST_DIM(ad_dim_sub(n, n), "0");
    TEST_DIM(ad_dim_mul(n, fixed(0)), "0");
    TEST_DIM(ad_dim_min(n, m), "min(n, m)");
    TEST_DIM(ad_dim_invalid(), "?");
    fixture_free(&f);
}

static void test_floor(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    ad_dim n2 = ad_dim_mul(n, n);
    TEST_DIM(ad_dim_div(ad_dim_add(n2, n), 2), "floor((n^2 + n)/2)");
    TEST_DIM(ad_dim_div(ad_dim_mul(n, fixed(4)), 2), "2*n");
    TEST_DIM(ad_dim_div(ad_dim_mul(n, fixed(4)), 6), "floor(2*n/3)");
    /* (2n + 3) / 2 = n + 1, (4n + 5) / 6 = (2n + 2) / 3 */
    TEST_DIM(ad_dim_div(ad_dim_add(ad_dim_mul(n, fixed(2)), fixed(3)), 2),
             "n + 1");
    TEST_DIM(ad_dim_div(ad_dim_add(ad_dim_mul(n, fixed(4)), fixed(5)), 6),
             "floor((2*n + 2)/3)");
    TEST_DIM(ad_dim_div(ad_dim_add(n, fixed(7)), 3), "floor((n + 1)/3) + 2");
    TEST_DIM(ad_dim_div(fixed(7), 2), "3");
    TEST_DIM(ad_dim_div(n, 1), "n");
    fixture_free(&f);
}

static void test_interned(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), m = ad_symbol(f.g, "m");
    CU_ASSERT(ad_dim_same(n, ad_symbol(f.g, "n")));
    CU_ASSERT(!ad_dim_same(n, m));
    CU_ASSERT(ad_dim_same(ad_dim_mul(ad_dim_add(n, m), fixed(2)),
                          ad_dim_add(ad_dim_add(m, n), ad_dim_add(n, m))));
    CU_ASSERT(ad_dim_same(ad_dim_min(n, m), ad_dim_min(m, n)));
    CU_ASSERT(ad_dim_same(ad_dim_min(n, n), n));
    CU_ASSERT(ad_dim_same(ad_dim_min(n, ad_dim_add(n, fixed(2))), n));
    CU_ASSERT(ad_dim_same(ad_dim_min(ad_dim_add(n, fixed(2)), n), n));
    size_t v = 0;
    CU_ASSERT(ad_dim_is_fixed(ad_dim_sub(n, n), &v));
    TEST_INT(v, 0);
    CU_ASSERT(!ad_dim_is_fixed(n, &v));
    CU_ASSERT(!ad_dim_is_fixed(ad_dim_invalid(), &v));
    TEST_INT(ad_graph_error(f.g), COVAR_OK);
    fixture_free(&f);
}

static long long floor_div(long long a, long long c)
{
    return a / c - (a % c < 0);
}

/* Random expressions in n and m against plain integers. */
static void test_random_values(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), m = ad_symbol(f.g, "m");
    const size_t symbol[] = {5, 3};
    covar_rng rng = covar_rng_init(1, 2);
    double u[3];
    for (int trial = 0; trial < 300; trial++) {
        ad_dim d = trial % 2 ? n : m;
        long long v = trial % 2 ? 5 : 3;
        for (int step = 0; step < 6; step++) {
            covar_rng_uniform(u, 3, &rng);
            size_t k = (size_t)(u[1] * 4);
            ad_dim e = u[2] < 0.3 ? n : u[2] < 0.6 ? m : fixed(k);
            long long w = u[2] < 0.3 ? 5 : u[2] < 0.6 ? 3 : (long long)k;
            switch ((int)(u[0] * 5)) {
            case 0:
                d = ad_dim_add(d, e);
                v += w;
                break;
            case 1:
                d = ad_dim_add(ad_dim_sub(d, e), fixed(9));
                v += 9 - w;
                break;
            case 2:
                d = ad_dim_mul(d, e);
                v *= w;
                break;
            case 3:
                d = ad_dim_div(d, k + 1);
                v = floor_div(v, (long long)k + 1);
                break;
            default:
                d = ad_dim_min(d, e);
                v = v < w ? v : w;
            }
            if (ad_dim_is_invalid(d))
                break;
        }
        size_t actual = 0;
        if (ad_dim_is_invalid(d)) {
            ad_graph_clear_error(f.g); /* constant and negative on the way */
            continue;
        }
        covar_status status = ad_dim_eval(f.g, d, symbol, &actual);
        char text[256];
        test_check(v < 0 ? status == COVAR_ERR_SHAPE
                         : status == COVAR_OK && (long long)actual == v,
                   __FILE__, __LINE__, "%s is %zu, not %lld",
                   ad_dim_text(text, sizeof(text), d), actual, v);
    }
    fixture_free(&f);
}

static void test_eval_errors(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n");
    size_t v, symbol = 2;
    TEST_STATUS(f.ctx, ad_dim_eval(f.g, ad_dim_sub(n, fixed(3)), &symbol, &v),
                COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(f.ctx), "size n - 3 is -1: negative");
    symbol = AD_UNBOUND;
    TEST_STATUS(f.ctx, ad_dim_eval(f.g, n, &symbol, &v), COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(f.ctx), "no value yet");
    symbol = (size_t)1 << 40;
    TEST_STATUS(f.ctx, ad_dim_eval(f.g, ad_dim_mul(n, n), &symbol, &v),
                COVAR_ERR_SHAPE);
    fixture_free(&f);
}

static void test_builder_errors(void)
{
    fixture f = fixture_create(false), other = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), k = ad_symbol(other.g, "k");
    CU_ASSERT(ad_dim_is_invalid(ad_dim_add(n, k)));
    TEST_INT(ad_graph_error(f.g), COVAR_ERR_ARG);
    TEST_CONTAINS(ad_graph_error_text(f.g), "n and k");
    ad_graph_clear_error(f.g);
    CU_ASSERT(ad_dim_is_invalid(ad_dim_sub(n, ad_dim_add(n, fixed(1)))));
    TEST_INT(ad_graph_error(f.g), COVAR_ERR_SHAPE);
    ad_graph_clear_error(f.g);
    CU_ASSERT(ad_dim_is_invalid(ad_dim_div(n, 0)));
    TEST_INT(ad_graph_error(f.g), COVAR_ERR_ARG);
    ad_graph_clear_error(f.g);
    ad_dim big = fixed((size_t)1 << 62);
    CU_ASSERT(ad_dim_is_invalid(ad_dim_mul(ad_dim_mul(n, big), fixed(4))));
    TEST_INT(ad_graph_error(f.g), COVAR_ERR_SHAPE);
    ad_graph_clear_error(f.g);
    /* without a graph: kept in the dim, reported by who takes it */
    ad_dim bad = ad_dim_sub(fixed(1), fixed(2));
    CU_ASSERT(ad_dim_is_invalid(bad));
    CU_ASSERT(ad_dim_is_invalid(ad_dim_mul(big, big)));
    CU_ASSERT_PTR_NULL(ad_input(f.g, "X", LA_F64, 1, &bad));
    TEST_INT(ad_graph_error(f.g), COVAR_ERR_SHAPE);
    CU_ASSERT(ad_dim_is_invalid(ad_symbol(NULL, "n")));
    fixture_free(&f);
    fixture_free(&other);
}

static void test_stated_equal(void)
{
    fixture f = fixture_create(false);
    ad_dim n = ad_symbol(f.g, "n"), m = ad_symbol(f.g, "m");
    ad_dim k = ad_symbol(f.g, "k");
    CU_ASSERT(!ad_dims_equal(f.g, n, m));
    TEST_OK(f.ctx, ad_dim_equal(f.g, n, m));
    CU_ASSERT(ad_dims_equal(f.g, n, m));
    CU_ASSERT(ad_dims_equal(f.g, ad_dim_mul(n, k), ad_dim_mul(k, m)));
    CU_ASSERT(!ad_dims_equal(f.g, k, m));
    TEST_OK(f.ctx, ad_dim_equal(f.g, ad_dim_add(k, fixed(1)), n));
    CU_ASSERT(ad_dims_equal(f.g, ad_dim_add(k, fixed(1)), m));
    size_t good[] = {4, 4, 3}, bad[] = {4, 5, 3};
    TEST_OK(f.ctx, ad_dim_check(f.g, good));
    TEST_STATUS(f.ctx, ad_dim_check(f.g, bad), COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(f.ctx), "n is 4 but m is 5");
    TEST_OK(f.ctx, ad_dim_equal(f.g, n, fixed(4)));
    CU_ASSERT(ad_dims_equal(f.g, m, fixed(4)));
    TEST_STATUS(f.ctx, ad_dim_equal(f.g, m, fixed(5)), COVAR_ERR_SHAPE);
    TEST_CONTAINS(ad_graph_error_text(f.g), "m is 4 but 5 is 5");
    fixture_free(&f);
}

static void test_import_and_bind(void)
{
    fixture f = fixture_create(false), to = fixture_create(false);
    ad_symbol(to.g, "m"); /* symbols are numbered differently there */
    ad_dim n = ad_symbol(f.g, "n"), m = ad_symbol(f.g, "m");
    ad_dim d =
        ad_dim_sub(ad_dim_min(ad_dim_div(ad_dim_mul(n, m), 3), n), fixed(1));
    ad_dim e = ad_dim_import(to.g, d);
    TEST_DIM(d, "min(floor(n*m/3), n) - 1");
    TEST_DIM(e, "min(floor(m*n/3), n) - 1");
    CU_ASSERT_EQUAL(ad_dim_hash(d), ad_dim_hash(e));
    CU_ASSERT(ad_dim_same(ad_dim_import(f.g, e), d));
    TEST_INT(ad_dim_symbol_count(to.g->dims), 2);
    TEST_TEXT(ad_dim_symbol_name(to.g->dims, 1), "n");

    size_t symbol[2] = {0, 0};
    bool bound[2] = {false, false};
    CU_ASSERT(ad_dim_bind(n, 6, symbol, bound));
    CU_ASSERT(ad_dim_bind(n, 6, symbol, bound));
    CU_ASSERT(!ad_dim_bind(n, 7, symbol, bound));
    CU_ASSERT(ad_dim_bind(d, 100, symbol, bound)); /* checked later */
    CU_ASSERT(ad_dim_bind(fixed(3), 3, symbol, bound));
    CU_ASSERT(!ad_dim_bind(fixed(3), 4, symbol, bound));
    TEST_INT(symbol[0], 6);
    CU_ASSERT(bound[0] && !bound[1]);
    fixture_free(&f);
    fixture_free(&to);
}

static void test_many_sizes(void)
{
    fixture f = fixture_create(false);
    ad_dim sum = fixed(0), product = ad_symbol(f.g, "s0");
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof(name), "s%d", i);
        sum = ad_dim_add(sum, ad_symbol(f.g, name));
    }
    size_t symbol[200], v;
    for (size_t i = 0; i < 200; i++)
        symbol[i] = i;
    TEST_OK(f.ctx, ad_dim_eval(f.g, sum, symbol, &v));
    TEST_INT(v, 199 * 200 / 2);
    /* a degree that does not end, and nesting that does not end */
    for (int i = 0; i < 100; i++)
        product = ad_dim_mul(product, ad_symbol(f.g, "s1"));
    CU_ASSERT(ad_dim_is_invalid(product));
    ad_graph_clear_error(f.g);
    ad_dim nested = ad_symbol(f.g, "s0");
    for (int i = 0; i < 100; i++)
        nested = ad_dim_div(ad_dim_add(nested, ad_symbol(f.g, "s1")), 2);
    CU_ASSERT(ad_dim_is_invalid(nested));
    CU_ASSERT(ad_graph_error(f.g) != COVAR_OK);
    fixture_free(&f);
}

static covar_status allocate(covar_context *ctx, void *data)
{
    (void)data;
    ad_graph *g;
    COVAR_TRY(ad_graph_create(&g, ctx, NULL));
    ad_dim n = ad_symbol(g, "n"), m = ad_symbol(g, "m"), d = n;
    for (size_t i = 1; i < 40; i++)
        d = ad_dim_add(ad_dim_mul(d, m), ad_dim_min(ad_dim_div(n, i), m));
    (void)ad_dim_equal(g, n, m);
    covar_status status = ad_graph_error(g);
    ad_graph_free(g);
    return status;
}

static void test_allocation(void)
{
    test_allocation_sweep("sizes", allocate, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"canonical text", test_canonical_text},
        {"floor", test_floor},
        {"equal sizes are one", test_interned},
        {"random expressions", test_random_values},
        {"values that do not exist", test_eval_errors},
        {"errors of builders", test_builder_errors},
        {"stated equalities", test_stated_equal},
        {"import and bind", test_import_and_bind},
        {"many and large", test_many_sizes},
        {"allocation failures", test_allocation},
    };
    return CUTAP_RUN("autodiff_dim", cases);
}
