/* What gp.h does with arguments that make no sense: a status, a sentence, no
 * crash, and never a number that looks right.
 *
 * The file is longer than 400 lines: it calls every function of the header.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"
#include "test_util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Kernels that cannot be made ---------------------------------------- */

/* k carries this sentence, and whoever needs a kernel says it. Consumes k. */
static void expect_broken(covar_context *ctx, gp_kernel *k, const char *part)
{
    series s = series_make();
    gp_options o = gp_options_default();
    gp_model *m = NULL;
    char text[400];
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gp_kernel_error(k));
    TEST_CONTAINS(gp_kernel_error(k), part);
    o.kernel = k;
    TEST_REFUSED(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL),
                 COVAR_ERR_ARG, part);
    CU_ASSERT_PTR_NULL(m);
    TEST_CONTAINS(covar_error_text(ctx), "gp_fit: ");
    TEST_INT(gp_bytes_needed(10, 1, &o), 0);
    gp_kernel_print(text, sizeof(text), k);
    TEST_CONTAINS(text, part);
    gp_kernel *back = NULL;
    TEST_REFUSED(ctx, gp_kernel_parse(&back, ctx, text), COVAR_ERR_PARSE,
                 "kernel");
    gp_kernel *twice = gp_kernel_retain(k);
    gp_kernel_free(twice);
    const size_t col[] = {0};
    k = gp_columns(gp_add(gp_mul(gp_rbf(0), k), gp_white()), col, 1);
    TEST_CONTAINS(gp_kernel_error(k), part);
    gp_kernel_free(k);
}

static ad_node *build_nothing(ad_node *const *param, ad_node *X, ad_node *Z,
                              void *data)
{
    (void)param, (void)X, (void)Z, (void)data;
    return NULL;
}

static void test_broken_words(void)
{
    covar_context *ctx = test_context();
    expect_broken(ctx, gp_poly(0), "gp_poly: degree is 0; 1 to 64");
    expect_broken(ctx, gp_poly(100), "gp_poly: degree is 100; 1 to 64");
    expect_broken(ctx, gp_spectral_mixture(0), "q is 0");
    expect_broken(ctx, gp_spectral_mixture(300), "q is 300");
    expect_broken(ctx, gp_periodic(NAN), "gp_periodic: the period is nan");
    expect_broken(ctx, gp_periodic(-1), "the period is -1");
    expect_broken(ctx, gp_cosine(INFINITY), "gp_cosine: the period is inf");
    gp_kernel *(*const with_ard[])(size_t) = {
        gp_rbf,      gp_matern12, gp_matern32, gp_matern52,
        gp_matern72, gp_rq,       gp_linear};
    for (size_t i = 0; i < NELEM(with_ard); i++)
        expect_broken(ctx, with_ard[i](SIZE_MAX), "ard is 1844674407370955161");
    covar_context_free(ctx);
}

static void test_broken_combinations(void)
{
    covar_context *ctx = test_context();
    const size_t col[] = {0, 1, 0, SIZE_MAX};
    expect_broken(ctx, gp_add(NULL, gp_rbf(0)), "gp_add: a kernel is NULL");
    expect_broken(ctx, gp_mul(gp_constant(), NULL), "gp_mul: a kernel is NULL");
    expect_broken(ctx, gp_mul(gp_poly(65), gp_poly(0)), "degree is 65");
    expect_broken(ctx, gp_columns(NULL, col, 1), "a kernel is NULL");
    expect_broken(ctx, gp_columns(gp_rbf(0), NULL, 1), "col is NULL");
    expect_broken(ctx, gp_columns(gp_rbf(0), col, 0), "0 columns");
    expect_broken(ctx, gp_columns(gp_rbf(0), col, SIZE_MAX), "1 to 4096");
    expect_broken(ctx, gp_columns(gp_rbf(0), col, 3),
                  "column 0 is there twice");
    expect_broken(ctx, gp_columns(gp_rbf(0), col + 3, 1), "col[0] is 184467");
    expect_broken(ctx, gp_columns(gp_columns(gp_rbf(0), col + 1, 1), col, 1),
                  "selects column 1 of 1");
    gp_kernel *deep = gp_rbf(0);
    for (int i = 0; i < 1000; i++)
        deep = gp_mul(gp_add(deep, gp_white()), gp_add(gp_rbf(0), gp_white()));
    expect_broken(ctx, deep, "more than 32 nested sums");
    gp_kernel *a = NULL, *b = NULL;
    TEST_OK(ctx, gp_kernel_parse(&a, ctx, "1e300*rbf"));
    TEST_OK(ctx, gp_kernel_parse(&b, ctx, "1e300*rbf"));
    expect_broken(ctx, gp_mul(a, b), "the factors' numbers is inf");
    covar_context_free(ctx);
}

static void test_broken_user_kernels(void)
{
    covar_context *ctx = test_context();
    char longer[200] = {0};
    memset(longer, 'x', sizeof(longer) - 1);
    const gp_user_param none = {NULL, 1, true}, bad = {"a", NAN, false},
                        zero = {"b", 0, true},
                        two[] = {{"c", 1, true}, {"c", 1, true}};
    expect_broken(ctx, gp_user_kernel(NULL, build_nothing, NULL, NULL, 0),
                  "name is NULL");
    expect_broken(ctx, gp_user_kernel("k", NULL, NULL, NULL, 0),
                  "build is NULL");
    expect_broken(ctx, gp_user_kernel("k", build_nothing, NULL, NULL, 1),
                  "param is NULL");
    expect_broken(ctx, gp_user_kernel("", build_nothing, NULL, NULL, 0),
                  "0 letters");
    expect_broken(ctx, gp_user_kernel(longer, build_nothing, NULL, NULL, 0),
                  "199 letters");
    expect_broken(ctx, gp_user_kernel("k", build_nothing, NULL, two, SIZE_MAX),
                  "at most 256");
    expect_broken(ctx, gp_user_kernel("k", build_nothing, NULL, &none, 1),
                  "parameter 0 has no name");
    expect_broken(ctx, gp_user_kernel("k", build_nothing, NULL, &bad, 1),
                  "a cannot start at nan");
    expect_broken(ctx, gp_user_kernel("k", build_nothing, NULL, &zero, 1),
                  "b cannot start at 0");
    expect_broken(ctx, gp_user_kernel("k", build_nothing, NULL, two, 2),
                  "two parameters are called c");
    const size_t col[] = {0};
    expect_broken(
        ctx,
        gp_columns(gp_user_kernel("k", build_nothing, NULL, NULL, 0), col, 1),
        "kernel k takes all columns");
    expect_broken(ctx, gp_feature_kernel(NULL, gp_rbf(0)), "module is NULL");
    expect_broken(ctx, gp_feature_kernel(NULL, NULL), "a kernel is NULL");
    expect_broken(ctx, gp_feature_kernel(NULL, gp_poly(0)), "degree is 0");
    covar_context_free(ctx);
}

/* A builder that returns nothing is an error of the fit, not a crash. */
static void test_builder_gives_nothing(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_default();
    gp_model *m = NULL;
    o.kernel = gp_user_kernel("k", build_nothing, NULL, NULL, 0);
    covar_status status = gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL);
    CU_ASSERT(status != COVAR_OK);
    CU_ASSERT_PTR_NULL(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

static void test_kernel_text(void)
{
    covar_context *ctx = test_context();
    gp_kernel *k = NULL;
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"rbf(lengthscale=1,lengthscale=2)", "only once at column 19"},
        {"rbf(lengthscale=1,lengthscale:=1)", "only once at column 19"},
        {"rbf(ard,ard=2)", "only once at column 9"},
        {"poly(degree=2,degree=3)", "only once at column 15"},
        {"rbf(lengthscale[0]=1,lengthscale[0]=1)", "only once at column 22"},
        {"", "at column 1"},
        {"rbf(lengthscale=nan)", "a number"},
    };
    for (size_t i = 0; i < NELEM(bad); i++) {
        TEST_REFUSED(ctx, gp_kernel_parse(&k, ctx, bad[i].text),
                     COVAR_ERR_PARSE, bad[i].part);
        CU_ASSERT_PTR_NULL(k);
    }
    enum { LONG = 20000 };
    char *text = malloc(LONG + 8);
    for (size_t i = 0; i < LONG; i += 6)
        memcpy(text + i, "rbf + ", 6);
    memcpy(text + LONG - 6, "junk!", 6);
    TEST_REFUSED(ctx, gp_kernel_parse(&k, ctx, text), COVAR_ERR_PARSE,
                 "junk!\"");
    CU_ASSERT(strlen(covar_error_text(ctx)) < 600);
    free(text);
    TEST_REFUSED(ctx, gp_kernel_parse(NULL, ctx, "rbf"), COVAR_ERR_ARG, "out");
    TEST_REFUSED(ctx, gp_kernel_parse(&k, ctx, NULL), COVAR_ERR_ARG, "text");
    TEST_INT(gp_kernel_parse(&k, NULL, "rbf"), COVAR_ERR_ARG);
    TEST_INT(gp_kernel_print(NULL, 0, NULL), 0);
    TEST_INT(gp_kernel_print(NULL, 100, NULL), 0);
    char one[1] = {'x'};
    gp_kernel_print(one, 1, NULL);
    TEST_INT(one[0], 0);
    CU_ASSERT_PTR_NULL(gp_kernel_retain(NULL));
    CU_ASSERT_PTR_NULL(gp_kernel_error(NULL));
    gp_kernel_free(NULL);
    covar_context_free(ctx);
}

/* ---- Options ------------------------------------------------------------ */

/* Tries options that differ from the default in one way. */
static void refuse_options(covar_context *ctx, const gp_options *o,
                           const char *part)
{
    series s = series_make();
    gp_model *m = NULL;
    TEST_REFUSED(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), o, NULL),
                 COVAR_ERR_ARG, part);
    CU_ASSERT_PTR_NULL(m);
    if (m)
        gp_model_free(m);
}

#define WITH(member, value, part)                                              \
    do {                                                                       \
        gp_options with = gp_options_default();                                \
        with.member = value;                                                   \
        refuse_options(ctx, &with, part);                                      \
    } while (0)

static void test_options(void)
{
    covar_context *ctx = test_context();
    double weight[SERIES_N], noise[SERIES_N];
    WITH(mean, (gp_mean_kind)77, "mean = 77 is unknown; known are constant 0");
    WITH(mean, GP_MEAN_USER, "mean_fn is NULL");
    WITH(objective, (gp_objective)3, "objective = 3 is unknown");
    WITH(standardise, (gp_standardise)4, "standardise = 4 is unknown");
    WITH(jitter, (gp_jitter)9, "jitter = 9 is unknown; known are auto 0");
    WITH(max_seconds, NAN, "max_seconds = nan");
    WITH(max_seconds, -1, "max_seconds = -1");
    WITH(max_seconds, INFINITY, "max_seconds = inf");
    WITH(restarts, -2, "restarts = -2");
    WITH(restarts, 61, "restarts = 61");
    WITH(n_settings, 3, "settings is NULL");
    static const double bad[] = {NAN, -1, INFINITY};
    for (size_t k = 0; k < NELEM(bad); k++) {
        gp_options o = gp_options_default();
        o.jitter = GP_JITTER_FIXED;
        o.jitter_value = bad[k];
        refuse_options(ctx, &o, "jitter_value");
        for (size_t i = 0; i < SERIES_N; i++)
            weight[i] = noise[i] = 1;
        weight[4] = noise[4] = bad[k];
        WITH(weights, weight, "weights[4]");
        WITH(noise_per_point, noise, "noise_per_point[4]");
    }
    gp_options o = gp_options_default();
    series s = series_make();
    gp_model *m = NULL;
    o.dtype = (la_dtype)77;
    TEST_REFUSED(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL),
                 COVAR_ERR_DTYPE, "unknown (77)");
    TEST_INT(gp_bytes_needed(10, 1, &o), 0);
    covar_context_free(ctx);
}

typedef void setter(gp_options *o, double value);

static void set_start(gp_options *o, double v)
{
    gp_options_start(o, "variance", v);
}

static void set_fix(gp_options *o, double v)
{
    gp_options_fix(o, "variance", v);
}

static void set_lower(gp_options *o, double v)
{
    gp_options_bounds(o, "variance", v, 2);
}

static void set_upper(gp_options *o, double v)
{
    gp_options_bounds(o, "variance", 1, v);
}

static void set_prior_a(gp_options *o, double v)
{
    gp_options_prior(o, "variance", (gp_prior){GP_PRIOR_GAMMA, v, 1});
}

static void set_prior_b(gp_options *o, double v)
{
    gp_options_prior(o, "variance", (gp_prior){GP_PRIOR_NORMAL, 0, v});
}

static void test_settings(void)
{
    covar_context *ctx = test_context();
    setter *const set[] = {set_start, set_fix,     set_lower,
                           set_upper, set_prior_a, set_prior_b};
    static const double bad[] = {NAN, -1, INFINITY};
    for (size_t k = 0; k < NELEM(set); k++)
        for (size_t i = 0; i < NELEM(bad); i++) {
            gp_options o = gp_options_default();
            set[k](&o, bad[i]);
            refuse_options(ctx, &o, "variance");
            gp_options_clear(&o);
        }
    gp_options o = gp_options_default();
    gp_options_prior(&o, "variance", (gp_prior){(gp_prior_kind)9, 1, 1});
    refuse_options(ctx, &o, "kind = 9 is unknown; known are default 0");
    gp_options_clear(&o);
    gp_options_start(&o, NULL, 1);
    refuse_options(ctx, &o, "a name is NULL");
    gp_options_clear(&o);
    gp_options_tie(&o, "variance", NULL);
    refuse_options(ctx, &o, "a name is NULL");
    gp_options_clear(&o);
    gp_options_fix_start(&o, "variance");
    refuse_options(ctx, &o, "no value");
    gp_options_clear(&o);
    gp_options_start(NULL, "variance", 1);
    gp_options_fix(NULL, "variance", 1);
    gp_options_fix_start(NULL, "variance");
    gp_options_bounds(NULL, "variance", 1, 2);
    gp_options_prior(NULL, "variance", (gp_prior){GP_PRIOR_FLAT, 0, 0});
    gp_options_tie(NULL, "variance", "x");
    gp_options_clear(NULL);
    CU_ASSERT(
        isnan(gp_prior_log_density((gp_prior){(gp_prior_kind)9, 1, 1}, 1)));
    CU_ASSERT(
        isnan(gp_prior_log_density((gp_prior){GP_PRIOR_NORMAL, NAN, 1}, 1)));
    CU_ASSERT(
        isnan(gp_prior_log_density((gp_prior){GP_PRIOR_LOGNORMAL, 0, -1}, 1)));
    covar_context_free(ctx);
}

/* ---- Views and sizes ---------------------------------------------------- */

typedef covar_status view_taker(gp_model *m, covar_context *ctx, la_view x);

static covar_status into_fit_x(gp_model *m, covar_context *ctx, la_view x)
{
    static const double y[SERIES_N] = {1, 2};
    gp_model *out = NULL;
    (void)m;
    covar_status status =
        gp_fit(&out, ctx, x, la_vec_f64(y, SERIES_N), NULL, NULL);
    gp_model_free(out);
    return status;
}

static covar_status into_fit_y(gp_model *m, covar_context *ctx, la_view x)
{
    series s = series_make();
    gp_model *out = NULL;
    (void)m;
    covar_status status = gp_fit(&out, ctx, series_x(&s), x, NULL, NULL);
    gp_model_free(out);
    return status;
}

static covar_status into_predict(gp_model *m, covar_context *ctx, la_view x)
{
    double mean[SERIES_N];
    return gp_predict(m, ctx, x, &(gp_prediction){.mean = mean});
}

static covar_status into_sample(gp_model *m, covar_context *ctx, la_view x)
{
    double out[SERIES_N];
    return gp_sample(out, m, ctx, x, 1, 0, GP_SAMPLE_JOINT);
}

static covar_status into_pathwise(gp_model *m, covar_context *ctx, la_view x)
{
    double out[SERIES_N], zero[SERIES_N] = {0};
    return gp_pathwise(out, m, ctx, x, zero, zero, zero);
}

static covar_status into_append_x(gp_model *m, covar_context *ctx, la_view x)
{
    series s = series_make();
    gp_model *out = NULL;
    covar_status status = gp_append(&out, m, ctx, x, series_y(&s));
    gp_model_free(out);
    return status;
}

static covar_status into_append_y(gp_model *m, covar_context *ctx, la_view x)
{
    series s = series_make();
    gp_model *out = NULL;
    covar_status status = gp_append(&out, m, ctx, series_x(&s), x);
    gp_model_free(out);
    return status;
}

static const struct {
    const char *who;
    view_taker *call;
} takers[] = {
    {"gp_fit: X", into_fit_x},         {"gp_fit: y", into_fit_y},
    {"gp_predict: X", into_predict},   {"gp_sample: X", into_sample},
    {"gp_pathwise: X", into_pathwise}, {"gp_append: X", into_append_x},
    {"gp_append: y", into_append_y}};

static void test_views(void)
{
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT);
    series s = series_make();
    la_view good = series_x(&s), x;
    int32_t whole[SERIES_N] = {0};
    for (size_t k = 0; k < NELEM(takers); k++) {
        const char *who = takers[k].who;
        view_taker *call = takers[k].call;
        TEST_REFUSED(ctx, call(m, ctx, la_view_none()), COVAR_ERR_ARG, who);
        x = good, x.data = NULL;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_ARG, who);
        TEST_CONTAINS(covar_error_text(ctx), "data is NULL");
        x = good, x.dtype = (la_dtype)77;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_DTYPE, who);
        x = good, x.rank = 99;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_SHAPE, who);
        x.rank = -3;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_SHAPE, who);
        x = good, x.device = (const la_device *)(const void *)&s;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_DEVICE, who);
        x = good, x.data = whole;
        x.dtype = LA_I32;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_DTYPE, who);
        x = good, x.dim[0] = (size_t)1 << 40;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_NOMEM, who);
        x.dim[0] = (size_t)1 << 62;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_NOMEM, who);
        x.dim[0] = SIZE_MAX;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_NOMEM, who);
        x = good, x.dim[1] = (size_t)1 << 60;
        TEST_REFUSED(ctx, call(m, ctx, x), COVAR_ERR_NOMEM, who);
    }
    gp_model_free(m);
    covar_context_free(ctx);
}

/* Shapes and values that are whole views but no inputs of this model. */
static void test_shapes(void)
{
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT), *out = NULL;
    series s = series_make();
    double mean[SERIES_N], bad = NAN;
    gp_prediction p = {.mean = mean};
    la_view one = la_mat_f64(&bad, 1, 1);
    TEST_REFUSED(ctx, gp_predict(m, ctx, la_mat_f64(s.x, 10, 2), &p),
                 COVAR_ERR_SHAPE, "gp_predict: ");
    TEST_REFUSED(ctx, gp_predict(m, ctx, la_vec_f64(s.x, 10), &p),
                 COVAR_ERR_SHAPE, "gp_predict: ");
    TEST_REFUSED(ctx, gp_predict(m, ctx, one, &p), COVAR_ERR_ARG,
                 "row 0, column 0");
    TEST_REFUSED(ctx, gp_append(&out, m, ctx, one, la_vec_f64(s.y, 1)),
                 COVAR_ERR_ARG, "gp_append: ");
    bad = INFINITY;
    TEST_REFUSED(
        ctx,
        gp_append(&out, m, ctx, la_mat_f64(s.x, 1, 1), la_vec_f64(&bad, 1)),
        COVAR_ERR_ARG, "gp_append: y is inf");
    TEST_REFUSED(ctx, gp_append(&out, m, ctx, series_x(&s), la_vec_f64(s.y, 3)),
                 COVAR_ERR_SHAPE, "gp_append: X has 20 rows");
    TEST_REFUSED(
        ctx,
        gp_append(&out, m, ctx, series_x(&s), la_mat_f64(s.y, SERIES_N, 0)),
        COVAR_ERR_SHAPE, "gp_append: ");
    TEST_REFUSED(ctx,
                 gp_fit(&out, ctx, la_mat_f64(s.x, 0, 1), la_vec_f64(s.y, 0),
                        NULL, NULL),
                 COVAR_ERR_DATA, "none of the 0 rows");
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(s.x, 0, 1), &p));
    TEST_OK(ctx, gp_sample(mean, m, ctx, la_mat_f64(s.x, 0, 1), 1, 0,
                           GP_SAMPLE_JOINT));
    TEST_OK(ctx, gp_sample(mean, m, ctx, series_x(&s), 0, 0, GP_SAMPLE_JOINT));
    CU_ASSERT_PTR_NULL(out);
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_sizes(void)
{
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT), *out = NULL;
    series s = series_make();
    double f[4];
    for (int kind = 0; kind < 2; kind++) {
        TEST_REFUSED(ctx,
                     gp_sample(f, m, ctx, la_mat_f64(s.x, 2, 1), SIZE_MAX, 0,
                               (gp_sample_kind)kind),
                     COVAR_ERR_NOMEM, "gp_sample: too large");
        TEST_REFUSED(ctx,
                     gp_sample(f, m, ctx, la_mat_f64(s.x, 2, 1), SIZE_MAX / 8,
                               0, (gp_sample_kind)kind),
                     COVAR_ERR_NOMEM, "gp_sample: too large");
    }
    TEST_REFUSED(
        ctx,
        gp_sample(f, m, ctx, la_mat_f64(s.x, 2, 1), 1, 0, (gp_sample_kind)7),
        COVAR_ERR_ARG, "kind = 7 is unknown; known are joint 0");
    la_view repeated = la_mat_f64(s.x, (size_t)1 << 34, 1);
    repeated.stride[0] = 0;
    TEST_REFUSED(ctx, gp_predict(m, ctx, repeated, &(gp_prediction){.cov = f}),
                 COVAR_ERR_NOMEM, "gp_predict: too large");
    la_view y = la_vec_f64(s.y, (size_t)1 << 40);
    y.stride[0] = 0;
    repeated.dim[0] = (size_t)1 << 40;
    TEST_REFUSED(ctx, gp_fit(&out, ctx, repeated, y, NULL, NULL),
                 COVAR_ERR_NOMEM, "bytes");
    CU_ASSERT_PTR_NULL(out);
    TEST_INT(gp_bytes_needed((size_t)1 << 40, 1, NULL), SIZE_MAX);
    TEST_INT(gp_bytes_needed(SIZE_MAX, 1, NULL), SIZE_MAX);
    TEST_INT(gp_bytes_needed(10, SIZE_MAX, NULL), SIZE_MAX);
    TEST_INT(gp_bytes_needed(10, 0, NULL), 0);
    CU_ASSERT(gp_bytes_needed(100, 2, NULL) > 100 * 100 * 8);
    gp_model_free(m);
    covar_context_free(ctx);
}

/* ---- Results that overflow ---------------------------------------------- */

static void test_far_inputs(void)
{
    static const char *const kernels[] = {"rbf", "linear", "matern12",
                                          "periodic(period=2)", "rbf + linear"};
    static const double far[] = {1e160, 1e200, 1e308, -1.7e308};
    covar_context *ctx = test_context();
    for (size_t k = 0; k < NELEM(kernels); k++)
        for (size_t i = 0; i < NELEM(far); i++)
            for (int mean = 0; mean < 3; mean++) {
                gp_model *m =
                    gp_small_model(ctx, kernels[k], (gp_mean_kind)mean);
                double x[] = {1.1, far[i]}, out[2 * 4 + 4],
                       zero[SERIES_N] = {0};
                la_view X = la_mat_f64(x, 2, 1);
                gp_prediction p = {.mean = out, .var_f = out + 2};
                p.dmean = out + 4, p.dvar = out + 6, p.cov = out + 8;
                covar_status status = gp_predict(m, ctx, X, &p);
                for (size_t j = 0; status == COVAR_OK && j < NELEM(out); j++)
                    CU_ASSERT(isfinite(out[j]));
                if (status != COVAR_OK) {
                    TEST_INT(status, COVAR_ERR_NUMERIC);
                    TEST_CONTAINS(covar_error_text(ctx), "at row 1");
                }
                status = gp_sample(out, m, ctx, X, 1, 3, GP_SAMPLE_PATHWISE);
                CU_ASSERT(status != COVAR_OK || isfinite(out[1]));
                status = gp_sample(out, m, ctx, X, 1, 3, GP_SAMPLE_JOINT);
                CU_ASSERT(status != COVAR_OK || isfinite(out[1]));
                status = gp_pathwise(out, m, ctx, X, zero, zero, zero);
                CU_ASSERT(status != COVAR_OK || isfinite(out[1]));
                gp_model_free(m);
            }
    gp_model *m = gp_small_model(ctx, "linear", GP_MEAN_ZERO);
    double x = 1e308, mean;
    TEST_REFUSED(ctx,
                 gp_predict(m, ctx, la_mat_f64(&x, 1, 1),
                            &(gp_prediction){.var_f = &mean}),
                 COVAR_ERR_NUMERIC, "column 0 is farthest out (1e+308)");
    gp_model_free(m);
    covar_context_free(ctx);
}

/* ---- Cross validation --------------------------------------------------- */

static void test_folds(void)
{
    covar_context *ctx = test_context();
    int32_t fold[SERIES_N] = {0};
    double mean[SERIES_N], var[SERIES_N], log_p[SERIES_N];
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT);
    static const size_t bad[] = {0, SERIES_N + 1, 1000000000, SIZE_MAX};
    for (size_t i = 0; i < NELEM(bad); i++)
        TEST_REFUSED(ctx, gp_cv(m, ctx, fold, bad[i], mean, var, log_p),
                     COVAR_ERR_ARG, "1 to 20 (rows) is allowed");
    TEST_REFUSED(ctx, gp_cv(m, ctx, fold, 1, mean, var, log_p),
                 COVAR_ERR_SINGULAR, "without fold 0 the other 0 rows");
    fold[3] = 2;
    TEST_REFUSED(ctx, gp_cv(m, ctx, fold, 2, mean, var, log_p), COVAR_ERR_ARG,
                 "fold 2 of row 3");
    fold[3] = -1;
    TEST_REFUSED(ctx, gp_cv(m, ctx, fold, 2, mean, var, log_p), COVAR_ERR_ARG,
                 "fold -1 of row 3");
    fold[3] = 5; /* folds 1 to 4 are empty: that is allowed */
    TEST_OK(ctx, gp_cv(m, ctx, fold, 6, mean, var, log_p));
    TEST_OK(ctx, gp_cv(m, ctx, fold, 6, NULL, NULL, NULL));
    TEST_REFUSED(ctx, gp_cv(NULL, ctx, fold, 2, mean, var, log_p),
                 COVAR_ERR_ARG, "the model is NULL");
    TEST_REFUSED(ctx, gp_cv(m, ctx, NULL, 2, mean, var, log_p), COVAR_ERR_ARG,
                 "fold is NULL");
    TEST_INT(gp_cv(m, NULL, fold, 2, mean, var, log_p), COVAR_ERR_ARG);
    gp_model_free(m);
    m = gp_small_model(ctx, "rbf", GP_MEAN_LINEAR);
    TEST_REFUSED(ctx, gp_cv(m, ctx, fold, 6, mean, var, log_p),
                 COVAR_ERR_SINGULAR,
                 "without fold 0 the other 1 rows do not determine the 2");
    gp_model_free(m);
    m = gp_small_model(ctx, "rbf",
                       GP_MEAN_ZERO); /* then the prior is the answer */
    for (size_t i = 0; i < SERIES_N; i++)
        fold[i] = 0;
    TEST_OK(ctx, gp_cv(m, ctx, fold, 1, mean, var, log_p));
    gp_model_free(m);
    covar_context_free(ctx);
}

/* One row tells the slope of the second column: without it there is none. */
static void test_loo_undetermined(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    double X[2 * SERIES_N], mean[SERIES_N];
    for (size_t i = 0; i < SERIES_N; i++) {
        X[2 * i] = s.x[i];
        X[2 * i + 1] = i == 7 ? 1 : 0;
    }
    gp_options o = gp_options_of(ctx, "rbf");
    gp_model *m = NULL;
    o.no_fit = true;
    o.mean = GP_MEAN_LINEAR;
    TEST_OK(ctx, gp_fit(&m, ctx, la_mat_f64(X, SERIES_N, 2), series_y(&s), &o,
                        NULL));
    TEST_REFUSED(ctx, gp_loo(m, ctx, mean, NULL, NULL), COVAR_ERR_SINGULAR,
                 "gp_loo: without row 7");
    TEST_REFUSED(ctx, gp_loo(NULL, ctx, mean, NULL, NULL), COVAR_ERR_ARG,
                 "NULL");
    TEST_INT(gp_loo(m, NULL, mean, NULL, NULL), COVAR_ERR_ARG);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* ---- A factor lost to rounding ------------------------------------------ */

/* Without jitter there is no model, with it a sound one. */
static void expect_conflict(covar_context *ctx, const char *kernel,
                            const series *s, la_dtype dtype)
{
    gp_options o = gp_options_of(ctx, kernel);
    gp_model *m = NULL;
    gp_report r;
    o.no_fit = true;
    o.dtype = dtype;
    o.jitter = GP_JITTER_NONE;
    gp_options_fix(&o, "noise_variance", 0);
    TEST_STATUS(ctx, gp_fit(&m, ctx, series_x(s), series_y(s), &o, &r),
                COVAR_ERR_NOT_PD);
    CU_ASSERT_PTR_NULL(m);
    o.jitter = GP_JITTER_AUTO;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(s), series_y(s), &o, &r));
    CU_ASSERT(r.jitter_relative > 0);
    CU_ASSERT(r.lml > -1e12);
    gp_model_free(m);
    gp_options_done(&o);
}

/* Equal inputs with other targets: no pivot of theirs says anything, whichever
 * side of zero rounding puts it. */
static void test_conflicting_rows(void)
{
    covar_context *ctx = test_context();
    static const char *const words[] = {"rbf", "matern52", "rq", "matern12"};
    for (size_t gap = 1; gap < 12; gap++)
        for (size_t k = 0; k < NELEM(words); k++) {
            char kernel[80];
            series s = series_make();
            snprintf(kernel, sizeof(kernel), "%g*%s(lengthscale=%g)",
                     1 + .17 * (double)gap, words[k], .3 + .1 * (double)gap);
            for (size_t i = gap; i < SERIES_N; i += 5)
                s.x[i] = s.x[i - gap];
            expect_conflict(ctx, kernel, &s, LA_F64);
            expect_conflict(ctx, kernel, &s, LA_F32);
        }
    covar_context_free(ctx);
}

/* A row appended to one like it: as in a fit of both. */
static void test_conflicting_append(void)
{
    covar_context *ctx = test_context();
    for (int i = 0; i < 80; i++) {
        series s = series_make();
        char kernel[80];
        snprintf(kernel, sizeof(kernel), "1.3*rbf(lengthscale=%g)",
                 .04 + .002 * i);
        gp_options o = gp_options_of(ctx, kernel);
        gp_model *m = NULL, *next = NULL;
        o.no_fit = true;
        o.dtype = i % 2 ? LA_F32 : LA_F64;
        o.jitter = i % 4 < 2 ? GP_JITTER_AUTO : GP_JITTER_NONE;
        gp_options_fix(&o, "noise_variance", 0);
        TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL));
        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        const double y = s.y[3] + .5;
        la_view row = la_mat_f64(s.x + 3, 1, 1), target = la_vec_f64(&y, 1);
        TEST_STATUS(ctx, gp_append(&next, m, ctx, row, target),
                    i % 4 < 2 ? COVAR_OK : COVAR_ERR_NOT_PD);
        double lml;
        if (next)
            TEST_OK(ctx, gp_lml(next, ctx, NULL, &lml, NULL, NULL));
        gp_model_free(next);
        gp_model_free(m);
        gp_options_done(&o);
    }
    covar_context_free(ctx);
}

/* ---- NULL for each pointer ---------------------------------------------- */

static void test_null_accessors(void)
{
    const size_t *col = &(const size_t){1};
    TEST_INT(gp_param_count(NULL), 0);
    CU_ASSERT_PTR_NULL(gp_param_name(NULL, 0));
    CU_ASSERT(isnan(gp_param_value(NULL, 0)));
    CU_ASSERT(!gp_param_is_fixed(NULL, 0) && !gp_param_is_log(NULL, 0));
    CU_ASSERT(!gp_param_at_bound(NULL, 0) && !gp_param_is_irrelevant(NULL, 0));
    CU_ASSERT(isnan(gp_param_gradient(NULL, 0)));
    TEST_INT(gp_param_column(NULL, 0), -1);
    TEST_INT(gp_n(NULL) + gp_d(NULL) + gp_outputs(NULL) + gp_lml_dim(NULL), 0);
    CU_ASSERT_PTR_NULL(gp_column_name(NULL, 0));
    CU_ASSERT(la_view_is_none(gp_inputs(NULL)));
    CU_ASSERT(la_view_is_none(gp_targets(NULL)));
    CU_ASSERT(la_view_is_none(gp_cholesky(NULL)));
    CU_ASSERT(la_view_is_none(gp_alpha(NULL)));
    CU_ASSERT(isnan(gp_log_det(NULL)));
    CU_ASSERT_PTR_NULL(gp_model_kernel(NULL));
    TEST_INT(gp_model_mean(NULL), GP_MEAN_CONSTANT);
    TEST_INT(gp_model_standardise(NULL), GP_STANDARDISE_XY);
    TEST_INT(gp_dropped_columns(NULL, &col), 0);
    CU_ASSERT_PTR_NULL(col);
    TEST_INT(gp_dropped_columns(NULL, NULL), 0);
    TEST_TEXT(gp_note_name(99), "");
    gp_model_free(NULL);
}

static void test_accessors_past_the_end(void)
{
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT);
    static const size_t past[] = {4, SIZE_MAX};
    TEST_INT(gp_param_count(m), 4);
    for (size_t k = 0; k < NELEM(past); k++) {
        size_t i = past[k];
        CU_ASSERT_PTR_NULL(gp_param_name(m, i));
        CU_ASSERT(isnan(gp_param_value(m, i)));
        CU_ASSERT(!gp_param_is_fixed(m, i) && !gp_param_is_log(m, i));
        CU_ASSERT(!gp_param_at_bound(m, i) && !gp_param_is_irrelevant(m, i));
        CU_ASSERT(isnan(gp_param_gradient(m, i)));
        TEST_INT(gp_param_column(m, i), -1);
        CU_ASSERT_PTR_NULL(gp_column_name(m, i));
    }
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_null_verbs(void)
{
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT);
    series s = series_make();
    la_view X = series_x(&s), y = series_y(&s);
    double v[16] = {0};
    gp_prediction p = {.mean = NULL};
    TEST_REFUSED(ctx, gp_fit(NULL, ctx, X, y, NULL, NULL), COVAR_ERR_ARG,
                 "m is");
    TEST_REFUSED(ctx, gp_predict(NULL, ctx, X, &p), COVAR_ERR_ARG,
                 "the model is");
    TEST_REFUSED(ctx, gp_predict(m, ctx, X, NULL), COVAR_ERR_ARG,
                 "out is NULL");
    TEST_OK(ctx, gp_predict(m, ctx, X, &p)); /* nothing asked for */
    TEST_REFUSED(ctx, gp_sample(NULL, m, ctx, X, 1, 0, GP_SAMPLE_JOINT),
                 COVAR_ERR_ARG, "out is NULL");
    TEST_REFUSED(ctx, gp_sample(v, NULL, ctx, X, 1, 0, GP_SAMPLE_JOINT),
                 COVAR_ERR_ARG, "the model is NULL");
    TEST_REFUSED(ctx, gp_pathwise(NULL, m, ctx, X, v, v, v), COVAR_ERR_ARG,
                 "out");
    TEST_REFUSED(ctx, gp_pathwise(v, NULL, ctx, X, v, v, v), COVAR_ERR_ARG,
                 "model");
    TEST_REFUSED(ctx, gp_pathwise(v, m, ctx, X, NULL, v, v), COVAR_ERR_ARG,
                 "prior_x is NULL");
    TEST_REFUSED(ctx, gp_pathwise(v, m, ctx, X, v, NULL, v), COVAR_ERR_ARG,
                 "prior_xs is NULL");
    TEST_REFUSED(ctx, gp_pathwise(v, m, ctx, X, v, v, NULL), COVAR_ERR_ARG,
                 "eps is NULL");
    TEST_REFUSED(ctx, gp_param_get(NULL, ctx, "a", v), COVAR_ERR_ARG, "model");
    TEST_REFUSED(ctx, gp_param_get(m, ctx, NULL, v), COVAR_ERR_ARG, "name");
    TEST_REFUSED(ctx, gp_param_get(m, ctx, "variance", NULL), COVAR_ERR_ARG,
                 "value");
    TEST_REFUSED(ctx, gp_param_get(m, ctx, "", v), COVAR_ERR_NAME,
                 "no parameter");
    TEST_REFUSED(ctx, gp_param_std_errors(NULL, ctx, v), COVAR_ERR_ARG,
                 "model");
    TEST_REFUSED(ctx, gp_param_std_errors(m, ctx, NULL), COVAR_ERR_ARG,
                 "std_error");
    TEST_REFUSED(ctx, gp_param_covariance(NULL, ctx, v), COVAR_ERR_ARG,
                 "model");
    TEST_REFUSED(ctx, gp_param_covariance(m, ctx, NULL), COVAR_ERR_ARG, "cov");
    TEST_REFUSED(ctx, gp_lml(NULL, ctx, NULL, v, NULL, NULL), COVAR_ERR_ARG,
                 "model");
    TEST_OK(ctx, gp_lml(m, ctx, NULL, NULL, NULL, NULL));
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_null_new_models(void)
{
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT), *out = NULL;
    series s = series_make();
    la_view X = series_x(&s), y = series_y(&s);
    TEST_REFUSED(ctx, gp_append(NULL, m, ctx, X, y), COVAR_ERR_ARG,
                 "out is NULL");
    TEST_REFUSED(ctx, gp_append(&out, NULL, ctx, X, y), COVAR_ERR_ARG, "model");
    TEST_REFUSED(ctx, gp_remove(NULL, m, ctx, 0), COVAR_ERR_ARG, "out is NULL");
    TEST_REFUSED(ctx, gp_remove(&out, NULL, ctx, 0), COVAR_ERR_ARG, "model");
    TEST_REFUSED(ctx, gp_remove(&out, m, ctx, SIZE_MAX), COVAR_ERR_ARG,
                 "of 20");
    TEST_REFUSED(ctx, gp_refit(NULL, m, ctx, NULL, NULL), COVAR_ERR_ARG,
                 "out is");
    TEST_REFUSED(ctx, gp_refit(&out, NULL, ctx, NULL, NULL), COVAR_ERR_ARG,
                 "model");
    gp_options o = gp_options_default();
    o.max_seconds = NAN;
    TEST_REFUSED(ctx, gp_refit(&out, m, ctx, &o, NULL), COVAR_ERR_ARG,
                 "gp_refit: ");
    TEST_REFUSED(ctx, gp_save(NULL, ctx, "x"), COVAR_ERR_ARG,
                 "the model is NULL");
    TEST_REFUSED(ctx, gp_save(m, ctx, NULL), COVAR_ERR_ARG, "path is NULL");
    TEST_REFUSED(ctx, gp_load(NULL, ctx, "x"), COVAR_ERR_ARG, "out is NULL");
    TEST_REFUSED(ctx, gp_load(&out, ctx, NULL), COVAR_ERR_ARG, "path is NULL");
    CU_ASSERT_PTR_NULL(out);
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_null_context(void)
{
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT), *out = m;
    series s = series_make();
    la_view X = series_x(&s), y = series_y(&s);
    double v[16] = {0};
    gp_prediction p = {.mean = v};
    TEST_INT(gp_fit(&out, NULL, X, y, NULL, NULL), COVAR_ERR_ARG);
    CU_ASSERT_PTR_NULL(out);
    TEST_INT(gp_predict(m, NULL, X, &p), COVAR_ERR_ARG);
    TEST_INT(gp_sample(v, m, NULL, X, 1, 0, GP_SAMPLE_JOINT), COVAR_ERR_ARG);
    TEST_INT(gp_pathwise(v, m, NULL, X, v, v, v), COVAR_ERR_ARG);
    TEST_INT(gp_param_get(m, NULL, "variance", v), COVAR_ERR_ARG);
    TEST_INT(gp_param_std_errors(m, NULL, v), COVAR_ERR_ARG);
    TEST_INT(gp_param_covariance(m, NULL, v), COVAR_ERR_ARG);
    TEST_INT(gp_lml(m, NULL, NULL, v, NULL, NULL), COVAR_ERR_ARG);
    TEST_INT(gp_append(&out, m, NULL, X, y), COVAR_ERR_ARG);
    TEST_INT(gp_remove(&out, m, NULL, 0), COVAR_ERR_ARG);
    TEST_INT(gp_refit(&out, m, NULL, NULL, NULL), COVAR_ERR_ARG);
    TEST_INT(gp_save(m, NULL, "x"), COVAR_ERR_ARG);
    TEST_INT(gp_load(&out, NULL, "x"), COVAR_ERR_ARG);
    CU_ASSERT_PTR_NULL(out);
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_nlopt(void)
{
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT);
    gp_nlopt f = {m, ctx}, no_model = {NULL, ctx}, no_context = {m, NULL};
    double x[3] = {0, 0, 0}, grad[3] = {1, 1, 1};
    CU_ASSERT(gp_nlopt_f(3, NULL, grad, &f) == HUGE_VAL);
    TEST_CONTAINS(covar_error_text(ctx), "gp_nlopt_f: x is NULL");
    CU_ASSERT(grad[0] == 0);
    CU_ASSERT(gp_nlopt_f(3, x, grad, NULL) == HUGE_VAL);
    CU_ASSERT(gp_nlopt_f(3, x, grad, &no_model) == HUGE_VAL);
    CU_ASSERT(gp_nlopt_f(3, x, grad, &no_context) == HUGE_VAL);
    CU_ASSERT(gp_nlopt_f(2, x, grad, &f) == HUGE_VAL);
    CU_ASSERT(isfinite(gp_nlopt_f(3, x, NULL, &f)));
    x[1] = NAN;
    CU_ASSERT(gp_nlopt_f(3, x, grad, &f) == HUGE_VAL);
    double value[3] = {1, NAN, 1}, lml;
    TEST_REFUSED(ctx, gp_lml(m, ctx, value, &lml, NULL, NULL), COVAR_ERR_ARG,
                 "lengthscale");
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_scores(void)
{
    const double one[] = {1, 2}, negative[] = {-1, 1};
    const double *bad[][3] = {
        {NULL, one, one}, {one, NULL, one}, {one, one, NULL}};
    for (size_t i = 0; i < 3; i++) {
        gp_scores s = gp_score(bad[i][0], bad[i][1], bad[i][2], 2, 0, 1);
        TEST_INT(s.n, 0);
        CU_ASSERT(isnan(s.rmse) && isnan(s.nlpd) && isnan(s.coverage_95));
    }
    gp_scores s = gp_score(NULL, NULL, NULL, 0, 0, 1);
    TEST_INT(s.n, 0);
    CU_ASSERT(isnan(s.rmse) && isnan(s.coverage_95));
    s = gp_score(one, one, negative, 2, 0, 1);
    CU_ASSERT(isnan(s.nlpd) && isnan(s.crps));
}

int main(void)
{
    static const cutap_case cases[] = {
        {"words out of range", test_broken_words},
        {"combinations", test_broken_combinations},
        {"user's kernels", test_broken_user_kernels},
        {"a builder that gives nothing", test_builder_gives_nothing},
        {"text of kernels", test_kernel_text},
        {"options", test_options},
        {"settings", test_settings},
        {"views", test_views},
        {"shapes", test_shapes},
        {"sizes", test_sizes},
        {"far inputs", test_far_inputs},
        {"folds", test_folds},
        {"leaving out what determines", test_loo_undetermined},
        {"conflicting rows", test_conflicting_rows},
        {"conflicting append", test_conflicting_append},
        {"accessors of no model", test_null_accessors},
        {"accessors past the end", test_accessors_past_the_end},
        {"NULL arguments", test_null_verbs},
        {"NULL arguments where models are made", test_null_new_models},
        {"no context", test_null_context},
        {"nlopt", test_nlopt},
        {"scores", test_scores},
    };
    return CUTAP_RUN("misuse_gp", cases);
}
