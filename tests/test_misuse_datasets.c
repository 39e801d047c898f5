/* Misuse of data sets: NULL for every pointer, views that cannot be, numbers
 * out of range.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_util.h"

#include <covar/dataset.h>

#include <math.h>
#include <string.h>

typedef struct fixture {
    covar_context *ctx;
    dataset *d;
} fixture;

static const double X[6] = {1, 2, 3, 4, 5, 7}, y[3] = {1, 2, 4};

static fixture begin(void)
{
    fixture f = {.ctx = test_context()};
    CU_ASSERT_FATAL(dataset_create(&f.d, f.ctx, "small") == COVAR_OK);
    TEST_OK(f.ctx, dataset_set_member(f.ctx, f.d, "X", la_mat_f64(X, 3, 2)));
    TEST_OK(f.ctx, dataset_set_member(f.ctx, f.d, "y", la_vec_f64(y, 3)));
    return f;
}

static void end(fixture *f)
{
    dataset_free(f->d);
    covar_context_free(f->ctx);
}

/* A failure with a sentence, which is cleared. */
static void refused(covar_context *ctx, covar_status status, int line)
{
    test_check(status != COVAR_OK && covar_error_text(ctx)[0] != '\0', __FILE__,
               line, "%s, '%s'", covar_status_name(status),
               covar_error_text(ctx));
    covar_error_clear(ctx);
}

#define REFUSED(call) refused(f.ctx, call, __LINE__)
#define NO_CONTEXT(call) TEST_INT(call, COVAR_ERR_ARG)

enum { BAD_COUNT = 4 };

static la_view bad_view(int kind)
{
    la_view v = la_mat_f64(X, 3, 2);
    v.data = kind == 0 ? NULL : v.data;
    v.dtype = kind == 1 ? (la_dtype)77 : v.dtype;
    v.rank = kind == 2 ? 99 : kind == 3 ? -3 : v.rank;
    return v;
}

static void test_reading(void)
{
    fixture f = begin();
    dataset *d = NULL;
    REFUSED(dataset_load(NULL, f.ctx, "x.h5"));
    REFUSED(dataset_load(&d, f.ctx, NULL));
    REFUSED(dataset_load(&d, f.ctx, ""));
    REFUSED(dataset_load(&d, f.ctx, "/"));
    NO_CONTEXT(dataset_load(&d, NULL, "x.h5"));
    REFUSED(dataset_load_csv(NULL, f.ctx, "x.csv", NULL));
    REFUSED(dataset_load_csv(&d, f.ctx, NULL, NULL));
    NO_CONTEXT(dataset_load_csv(&d, NULL, "x.csv", NULL));
    REFUSED(dataset_load_bundled(NULL, f.ctx, "nile"));
    REFUSED(dataset_load_bundled(&d, f.ctx, NULL));
    REFUSED(dataset_load_bundled(&d, f.ctx, "none such"));
    NO_CONTEXT(dataset_load_bundled(&d, NULL, "nile"));
    CU_ASSERT_PTR_NULL(d);
    CU_ASSERT_PTR_NULL(dataset_bundled_name(SIZE_MAX));
    dataset_free(NULL);
    end(&f);
}

static void no_line(const char *line, void *data)
{
    (void)line, (void)data;
}

static void test_looking(void)
{
    fixture f = begin();
    CU_ASSERT(la_view_is_none(dataset_member(NULL, "X")));
    CU_ASSERT(la_view_is_none(dataset_member(f.d, NULL)));
    CU_ASSERT(la_view_is_none(dataset_column(NULL, "X")));
    CU_ASSERT(la_view_is_none(dataset_column(f.d, NULL)));
    CU_ASSERT(la_view_is_none(dataset_block(NULL, 0)));
    CU_ASSERT(la_view_is_none(dataset_block(f.d, SIZE_MAX)));
    CU_ASSERT_PTR_NULL(dataset_member_name(NULL, 0));
    CU_ASSERT_PTR_NULL(dataset_member_name(f.d, SIZE_MAX));
    CU_ASSERT_PTR_NULL(dataset_attribute(NULL, "a"));
    CU_ASSERT_PTR_NULL(dataset_attribute(f.d, NULL));
    CU_ASSERT_PTR_NULL(dataset_attribute_name(NULL, 0));
    CU_ASSERT_PTR_NULL(dataset_attribute_name(f.d, SIZE_MAX));
    CU_ASSERT_PTR_NULL(dataset_column_name(NULL, 0));
    CU_ASSERT_PTR_NULL(dataset_column_name(f.d, SIZE_MAX));
    CU_ASSERT_PTR_NULL(dataset_output_name(NULL, 0));
    TEST_CLOSE(dataset_attribute_number(NULL, "a", 7), 7, 0);
    TEST_CLOSE(dataset_attribute_number(f.d, NULL, 7), 7, 0);
    TEST_INT(dataset_member_count(NULL), 0);
    TEST_INT(dataset_attribute_count(NULL), 0);
    TEST_INT(dataset_n(NULL), 0);
    TEST_INT(dataset_d(NULL), 0);
    TEST_INT(dataset_block_count(NULL), 0);
    TEST_INT(dataset_split_count(NULL), 0);
    REFUSED(dataset_block_read(la_mat_f64(X, 3, 2), f.ctx, NULL, 0));
    REFUSED(dataset_block_read(la_mat_f64(X, 3, 2), f.ctx, f.d, 0));
    for (int k = 0; k < BAD_COUNT; k++)
        TEST_INT(dataset_nan_count(bad_view(k)), 0);
    dataset_describe(NULL, no_line, NULL);
    dataset_describe(f.d, NULL, NULL);
    end(&f);
}

static void test_selecting(void)
{
    fixture f = begin();
    dataset_xy xy = {0}, part = {0}, lost = {.n = 3, .d = 2};
    const int32_t rows[2] = {0, 2}, outside[2] = {0, 3};
    REFUSED(dataset_select(NULL, f.ctx, f.d, NULL, NULL));
    REFUSED(dataset_select(&xy, f.ctx, NULL, NULL, NULL));
    REFUSED(dataset_select(&xy, f.ctx, f.d, "none such", NULL));
    NO_CONTEXT(dataset_select(&xy, NULL, f.d, NULL, NULL));
    TEST_OK(f.ctx, dataset_select(&xy, f.ctx, f.d, NULL, NULL));
    REFUSED(dataset_xy_rows(NULL, f.ctx, &xy, la_vec_i32(rows, 2)));
    REFUSED(dataset_xy_rows(&part, f.ctx, NULL, la_vec_i32(rows, 2)));
    REFUSED(dataset_xy_rows(&part, f.ctx, &xy, la_vec_i32(NULL, 2)));
    REFUSED(dataset_xy_rows(&part, f.ctx, &xy, la_vec_i32(outside, 2)));
    REFUSED(dataset_xy_rows(&part, f.ctx, &xy, la_view_none()));
    NO_CONTEXT(dataset_xy_rows(&part, NULL, &xy, la_vec_i32(rows, 2)));
    for (int k = 0; k < BAD_COUNT; k++)
        REFUSED(dataset_xy_rows(&part, f.ctx, &xy, bad_view(k)));
    TEST_OK(f.ctx, dataset_xy_rows(&part, f.ctx, &xy, la_vec_i32(rows, 0)));
    REFUSED(dataset_check_inputs(f.ctx, NULL));
    REFUSED(dataset_check_inputs(f.ctx, &lost));
    TEST_OK(f.ctx, dataset_check_inputs(f.ctx, &part));
    dataset_xy_clear(NULL);
    dataset_xy_clear(&part);
    dataset_xy_clear(&xy);
    end(&f);
}

static void test_splitting(void)
{
    fixture f = begin();
    dataset_split s = {0};
    REFUSED(dataset_split_get(NULL, f.ctx, f.d, 0));
    REFUSED(dataset_split_get(&s, f.ctx, NULL, 0));
    REFUSED(dataset_split_get(&s, f.ctx, f.d, SIZE_MAX));
    NO_CONTEXT(dataset_split_get(&s, NULL, f.d, 0));
    REFUSED(dataset_split_random(NULL, f.ctx, 10, .1, 1));
    REFUSED(dataset_split_random(&s, f.ctx, 0, .1, 1));
    REFUSED(dataset_split_random(&s, f.ctx, SIZE_MAX, .1, 1));
    REFUSED(dataset_split_random(&s, f.ctx, 10, NAN, 1));
    REFUSED(dataset_split_random(&s, f.ctx, 10, 0, 1));
    REFUSED(dataset_split_random(&s, f.ctx, 10, 1, 1));
    NO_CONTEXT(dataset_split_random(&s, NULL, 10, .1, 1));
    REFUSED(dataset_split_literature(NULL, f.ctx, 10, 0));
    REFUSED(dataset_split_literature(&s, f.ctx, 0, 0));
    REFUSED(dataset_split_literature(&s, f.ctx, SIZE_MAX, 0));
    REFUSED(dataset_split_literature(&s, f.ctx, 10, SIZE_MAX));
    NO_CONTEXT(dataset_split_literature(&s, NULL, 10, 0));
    dataset_split_clear(NULL);
    dataset_split_clear(&s);
    end(&f);
}

static void test_scaling(void)
{
    fixture f = begin();
    dataset_scale *s = NULL;
    double z[6];
    const la_view x = la_mat_f64(X, 3, 2), out = la_mat_f64(z, 3, 2);
    REFUSED(dataset_scale_fit(NULL, f.ctx, x, la_view_none()));
    REFUSED(dataset_scale_fit(&s, f.ctx, x, la_vec_i32(NULL, 2)));
    NO_CONTEXT(dataset_scale_fit(&s, NULL, x, la_view_none()));
    for (int k = 0; k < BAD_COUNT; k++) {
        REFUSED(dataset_scale_fit(&s, f.ctx, bad_view(k), la_view_none()));
        REFUSED(dataset_scale_fit(&s, f.ctx, x, bad_view(k)));
    }
    CU_ASSERT_PTR_NULL(s);
    TEST_OK(f.ctx, dataset_scale_fit(&s, f.ctx, x, la_view_none()));
    REFUSED(dataset_scale_apply(out, f.ctx, NULL, x));
    REFUSED(dataset_scale_invert(out, f.ctx, NULL, x));
    REFUSED(dataset_scale_apply(out, f.ctx, s, la_vec_f64(y, 3)));
    for (int k = 0; k < BAD_COUNT; k++) {
        REFUSED(dataset_scale_apply(out, f.ctx, s, bad_view(k)));
        REFUSED(dataset_scale_apply(bad_view(k), f.ctx, s, x));
        REFUSED(dataset_scale_invert(out, f.ctx, s, bad_view(k)));
        REFUSED(dataset_scale_invert(bad_view(k), f.ctx, s, x));
    }
    CU_ASSERT(la_view_is_none(dataset_scale_mean(NULL)));
    CU_ASSERT(la_view_is_none(dataset_scale_sd(NULL)));
    dataset_scale_free(NULL);
    dataset_scale_free(s);
    end(&f);
}

static void test_making(void)
{
    fixture f = begin();
    dataset *d = NULL;
    char longer[400];
    memset(longer, 'a', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    REFUSED(dataset_create(NULL, f.ctx, "a"));
    NO_CONTEXT(dataset_create(&d, NULL, "a"));
    REFUSED(dataset_set_member(f.ctx, NULL, "X", la_mat_f64(X, 3, 2)));
    REFUSED(dataset_set_member(f.ctx, f.d, NULL, la_mat_f64(X, 3, 2)));
    REFUSED(dataset_set_member(f.ctx, f.d, "", la_mat_f64(X, 3, 2)));
    REFUSED(dataset_set_member(f.ctx, f.d, longer, la_mat_f64(X, 3, 2)));
    NO_CONTEXT(dataset_set_member(NULL, f.d, "X", la_mat_f64(X, 3, 2)));
    for (int k = 0; k < BAD_COUNT; k++)
        REFUSED(dataset_set_member(f.ctx, f.d, "X", bad_view(k)));
    TEST_INT(dataset_n(f.d), 3); /* what was there is there */
    REFUSED(dataset_set_attribute(f.ctx, NULL, "a", "b"));
    REFUSED(dataset_set_attribute(f.ctx, f.d, NULL, "b"));
    REFUSED(dataset_set_attribute(f.ctx, f.d, "", "b"));
    REFUSED(dataset_set_attribute(f.ctx, f.d, "a", NULL));
    NO_CONTEXT(dataset_set_attribute(NULL, f.d, "a", "b"));
    REFUSED(dataset_set_number(f.ctx, NULL, "a", 1));
    REFUSED(dataset_set_number(f.ctx, f.d, NULL, 1));
    NO_CONTEXT(dataset_set_number(NULL, f.d, "a", 1));
    REFUSED(dataset_save(f.ctx, NULL, "x.h5"));
    REFUSED(dataset_save(f.ctx, f.d, NULL));
    REFUSED(dataset_save(f.ctx, f.d, "/none/such/x.h5"));
    NO_CONTEXT(dataset_save(NULL, f.d, "x.h5"));
    REFUSED(dataset_save_csv(f.ctx, NULL, "x.csv"));
    REFUSED(dataset_save_csv(f.ctx, f.d, NULL));
    REFUSED(dataset_save_csv(f.ctx, f.d, "/none/such/x.csv"));
    NO_CONTEXT(dataset_save_csv(NULL, f.d, "x.csv"));
    end(&f);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"reading", test_reading},     {"looking", test_looking},
        {"selecting", test_selecting}, {"splitting", test_splitting},
        {"scaling", test_scaling},     {"making and writing", test_making},
    };
    return CUTAP_RUN("misuse datasets", cases);
}
