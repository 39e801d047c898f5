/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "datasets_util.h"

#include <math.h>

/* X (3,2) with columns a, b; y named "ppm"; Y (3,2) p, q; vector `month`. */
static dataset *make_set(covar_context *ctx)
{
    const double x[] = {1, 2, 3, 4, 5, 6}, y[] = {7, 8, 9};
    const double outputs[] = {10, 20, 11, 21, 12, 22};
    const int32_t month[] = {4, 5, 6};
    dataset *d = NULL;
    TEST_OK(ctx, dataset_create(&d, ctx, "made"));
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", la_mat_f64(x, 3, 2)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "y", la_vec_f64(y, 3)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "Y", la_mat_f64(outputs, 3, 2)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "month", la_vec_i32(month, 3)));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "columns", "a, b"));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "columns_Y", "p,q"));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "target", "ppm"));
    return d;
}

static void expect(const dataset *d, const char *target,
                   const char *const *without, size_t columns, const double *x,
                   const double *y, const char *y_name)
{
    covar_context *ctx = test_context();
    dataset_xy xy = {0};
    if (TEST_OK(ctx, dataset_select(&xy, ctx, d, target, without))) {
        TEST_INT(xy.n, 3);
        TEST_INT(xy.d, columns);
        TEST_INT(xy.X.dim[0], 3);
        TEST_INT(xy.X.dim[1], columns);
        TEST_CLOSE_ARRAY(xy.X.data, x, 3 * columns, 0.0);
        CU_ASSERT_EQUAL(la_view_is_none(xy.y), y == NULL);
        if (y)
            TEST_CLOSE_ARRAY(xy.y.data, y, 3, 0.0);
        if (y_name)
            TEST_TEXT(xy.y_name, y_name);
        else
            CU_ASSERT_PTR_NULL(xy.y_name);
    }
    dataset_xy_clear(&xy);
    covar_context_free(ctx);
}

static void test_targets(void)
{
    covar_context *ctx = test_context();
    dataset *d = make_set(ctx);
    const double x[] = {1, 2, 3, 4, 5, 6}, a[] = {1, 3, 5}, b[] = {2, 4, 6};
    const double y[] = {7, 8, 9}, q[] = {20, 21, 22}, month[] = {4, 5, 6};
    const char *const without_a[] = {"a", NULL};
    const char *const without_both[] = {"a", "b", NULL};
    const char *const without_month[] = {"month", NULL};
    expect(d, NULL, NULL, 2, x, y, "ppm");
    expect(d, "y", NULL, 2, x, y, "ppm");
    expect(d, "ppm", NULL, 2, x, y, "ppm");
    expect(d, "q", NULL, 2, x, q, "q");
    expect(d, "month", without_month, 2, x, month, "month");
    expect(d, "a", NULL, 1, b, a, "a");
    expect(d, "b", without_a, 0, NULL, b, "b");
    expect(d, NULL, without_a, 1, b, y, "ppm");
    expect(d, "", NULL, 2, x, NULL, NULL);
    expect(d, "", without_both, 0, NULL, NULL, NULL);
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    dataset *d = make_set(ctx);
    dataset_xy xy = {0};
    const char *const unknown[] = {"c", NULL};
    TEST_STATUS(ctx, dataset_select(&xy, ctx, d, "pm", NULL), COVAR_ERR_NAME);
    TEST_CONTAINS(covar_error_text(ctx),
                  "no column `pm`; it has a, b, p, q, y, month");
    TEST_STATUS(ctx, dataset_select(&xy, ctx, d, NULL, unknown),
                COVAR_ERR_NAME);
    const double four[] = {1, 2, 3, 4};
    TEST_OK(ctx, dataset_set_member(ctx, d, "y", la_vec_f64(four, 4)));
    TEST_STATUS(ctx, dataset_select(&xy, ctx, d, NULL, NULL), COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(ctx),
                  "X has 3 rows, but target `ppm` has 4");
    TEST_OK(ctx, dataset_set_member(ctx, d, "y", la_view_none()));
    TEST_STATUS(ctx, dataset_select(&xy, ctx, d, NULL, NULL), COVAR_ERR_DATA);
    TEST_CONTAINS(covar_error_text(ctx), "no target");
    size_t cube[] = {1, 2, 2};
    TEST_OK(ctx, dataset_set_member(ctx, d, "X",
                                    la_view_dense(four, LA_F64, 3, cube)));
    TEST_STATUS(ctx, dataset_select(&xy, ctx, d, "", NULL), COVAR_ERR_SHAPE);
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", la_view_none()));
    TEST_STATUS(ctx, dataset_select(&xy, ctx, d, "", NULL), COVAR_ERR_DATA);
    TEST_CONTAINS(covar_error_text(ctx), "no inputs, member X; it has p, q");
    CU_ASSERT_PTR_NULL(xy.owned);
    dataset_xy_clear(NULL);
    dataset_free(d);
    covar_context_free(ctx);
}

/* f32 and u8 inputs become f64; a vector becomes one column. */
static void test_conversion(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    const float x[] = {0.5f, 1.5f, 2.5f};
    const uint8_t y[] = {1, 0, 255};
    const double x64[] = {0.5, 1.5, 2.5}, y64[] = {1, 0, 255};
    TEST_OK(ctx, dataset_create(&d, ctx, "made"));
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", la_vec_f32(x, 3)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "y", la_vec_u8(y, 3)));
    expect(d, NULL, NULL, 1, x64, y64, "y");
    TEST_INT(dataset_d(d), 1);
    TEST_TEXT(dataset_column_name(d, 0), "x1");
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_columns(void)
{
    covar_context *ctx = test_context();
    dataset *d = make_set(ctx);
    la_view q = dataset_column(d, "q"), month = dataset_column(d, "month");
    TEST_INT(q.rank, 1);
    TEST_INT(q.stride[0], 2);
    TEST_CLOSE(la_view_get(q, 2), 22.0, 0.0);
    TEST_INT(month.dtype, LA_I32);
    TEST_CLOSE(la_view_get(dataset_column(d, "ppm"), 1), 8.0, 0.0);
    CU_ASSERT(la_view_is_none(dataset_column(d, "c")));
    TEST_TEXT(dataset_column_name(d, 1), "b");
    TEST_TEXT(dataset_output_name(d, 0), "p");
    CU_ASSERT_PTR_NULL(dataset_column_name(d, 2));
    /* Lists that do not fit are not names. */
    static const char *const bad[] = {"a", "a,b,c", "a,,b", "a,a", " ", ""};
    for (size_t i = 0; i < NELEM(bad); i++) {
        TEST_OK(ctx, dataset_set_attribute(ctx, d, "columns", bad[i]));
        TEST_TEXT(dataset_column_name(d, 0), "x1");
        TEST_TEXT(dataset_column_name(d, 1), "x2");
    }
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_rows_and_checks(void)
{
    covar_context *ctx = test_context();
    dataset *d = make_set(ctx);
    dataset_xy xy = {0}, some = {0};
    const int32_t rows[] = {2, 0, 2}, outside[] = {3}, below[] = {-1};
    const double x[] = {5, 6, 1, 2, 5, 6}, y[] = {9, 7, 9};
    TEST_OK(ctx, dataset_select(&xy, ctx, d, NULL, NULL));
    TEST_OK(ctx, dataset_xy_rows(&some, ctx, &xy, la_vec_i32(rows, 3)));
    TEST_CLOSE_ARRAY(some.X.data, x, 6, 0.0);
    TEST_CLOSE_ARRAY(some.y.data, y, 3, 0.0);
    TEST_TEXT(some.x_name[1], "b");
    ((double *)some.y.data)[1] = (double)NAN;
    TEST_OK(ctx, dataset_check_inputs(ctx, &some));
    ((double *)some.y.data)[1] = (double)INFINITY;
    TEST_STATUS(ctx, dataset_check_inputs(ctx, &some), COVAR_ERR_DATA);
    TEST_CONTAINS(covar_error_text(ctx),
                  "target `ppm`: row 1 (from 0) is +infinity");
    ((double *)some.X.data)[5] = (double)NAN;
    TEST_STATUS(ctx, dataset_check_inputs(ctx, &some), COVAR_ERR_DATA);
    TEST_CONTAINS(covar_error_text(ctx), "row 2, column 1 (`b`) is NaN");
    TEST_STATUS(ctx, dataset_xy_rows(&some, ctx, &xy, la_vec_i32(outside, 1)),
                COVAR_ERR_ARG);
    TEST_STATUS(ctx, dataset_xy_rows(&some, ctx, &xy, la_vec_i32(below, 1)),
                COVAR_ERR_ARG);
    TEST_STATUS(ctx, dataset_xy_rows(&some, ctx, &xy, la_vec_f64(y, 1)),
                COVAR_ERR_DTYPE);
    TEST_OK(ctx, dataset_xy_rows(&some, ctx, &xy, la_vec_i32(rows, 0)));
    TEST_INT(some.n, 0);
    dataset_xy_clear(&some);
    dataset_xy_clear(&xy);
    dataset_free(d);
    covar_context_free(ctx);
}

/* --target on a CSV file, and its default, the last column. */
static void test_csv(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    const char text[] = "t,u,v\n1,2,3\n4,5,6\n7,8,9\n";
    const double tu[] = {1, 2, 4, 5, 7, 8}, tv[] = {1, 3, 4, 6, 7, 9};
    const double u[] = {2, 5, 8}, v[] = {3, 6, 9};
    TEST_OK(ctx, load_bytes(&d, ctx, text, strlen(text)));
    expect(d, NULL, NULL, 2, tu, v, "v");
    expect(d, "u", NULL, 2, tv, u, "u");
    dataset_free(d);
    TEST_OK(ctx, load_bytes(&d, ctx, "v\n3\n6\n9\n", 8));
    expect(d, NULL, NULL, 0, NULL, v, "v");
    dataset_free(d);
    covar_context_free(ctx);
}

/* Targets of the shared sets by their names. */
static void test_shared_targets(void)
{
    static const struct {
        const char *file, *target;
        double first;
    } wanted[] = {{"data/seatbelts.h5", "PetrolPrice", 0.10297181},
                  {"data/seatbelts.h5", NULL, 1687.0},
                  {"data/us_macro.h5", "unemp", 5.8},
                  {"data/us_macro.h5", "log_realgdp", 7.9048327},
                  {"data/co2_mlo.h5", "deseasonalised", 314.44}};
    char path[600];
    TEST_SHARED(path, "data/seatbelts.h5");
    TEST_SHARED(path, "data/us_macro.h5");
    TEST_SHARED(path, "data/co2_mlo.h5");
    covar_context *ctx = test_context();
    for (size_t i = 0; i < NELEM(wanted); i++) {
        dataset *d = NULL;
        dataset_xy xy = {0};
        CU_ASSERT(test_shared_path(path, sizeof(path), wanted[i].file));
        TEST_OK(ctx, dataset_load(&d, ctx, path));
        TEST_OK(ctx, dataset_select(&xy, ctx, d, wanted[i].target, NULL));
        if (xy.y.data)
            TEST_REL(*(const double *)xy.y.data, wanted[i].first, 1e-7);
        dataset_xy_clear(&xy);
        dataset_free(d);
    }
    covar_context_free(ctx);
}

static covar_status select_all(covar_context *ctx, void *data)
{
    const double x[] = {1, 2, 3, 4};
    const char *const without[] = {"x1", NULL};
    const int32_t rows[] = {1};
    dataset *d = NULL;
    dataset_xy xy = {0}, some = {0};
    (void)data;
    covar_status status = dataset_create(&d, ctx, "made");
    if (status == COVAR_OK)
        status = dataset_set_member(ctx, d, "X", la_mat_f64(x, 2, 2));
    if (status == COVAR_OK)
        status = dataset_set_member(ctx, d, "Y", la_mat_f64(x, 2, 2));
    if (status == COVAR_OK) /* replaces */
        status = dataset_set_member(ctx, d, "X", la_mat_f64(x, 2, 2));
    if (status == COVAR_OK)
        status = dataset_set_attribute(ctx, d, "columns", "x1,b");
    if (status == COVAR_OK)
        status = dataset_select(&xy, ctx, d, "y2", without);
    if (status == COVAR_OK)
        status = dataset_xy_rows(&some, ctx, &xy, la_vec_i32(rows, 1));
    dataset_xy_clear(&some);
    dataset_xy_clear(&xy);
    dataset_free(d);
    return status;
}

static void test_allocations(void)
{
    test_allocation_sweep("select", select_all, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"targets by name", test_targets},
        {"errors", test_errors},
        {"conversion", test_conversion},
        {"columns by name", test_columns},
        {"rows, finite inputs", test_rows_and_checks},
        {"CSV", test_csv},
        {"targets of shared sets", test_shared_targets},
        {"every allocation fails", test_allocations},
    };
    return CUTAP_RUN("datasets select", cases);
}
