/* Rows of a fit: dtypes, strides, missing targets, statistics, refusals.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "gp/gp_impl.h"
#include "test_util.h"

#include <math.h>
#include <string.h>

static gp_data *make(covar_context *ctx, la_view X, la_view y,
                     const gp_options *options)
{
    gp_options o = options ? *options : gp_options_default();
    gp_data *data = NULL;
    TEST_OK(ctx, gp_data_create(&data, ctx, X, y, &o));
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    return data;
}

static void test_statistics(void)
{
    covar_context *ctx = test_context();
    const double X[] = {1, 7, 2, 7, 5, 7, 2, 7}, y[] = {1, NAN, 3, 5};
    gp_data *d = make(ctx, la_mat_f64(X, 4, 2), la_vec_f64(y, 4), NULL);
    TEST_INT(d->n, 3);
    TEST_INT(d->n_missing, 1);
    TEST_INT(d->row[1], 2);
    TEST_CLOSE(d->col_min[0], 1, 0);
    TEST_CLOSE(d->col_range[0], 4, 0);
    TEST_CLOSE(d->col_mean[0], 8.0 / 3, 1e-15);
    TEST_CLOSE(d->col_sd[0], sqrt(26.0 / 9), 1e-15);
    TEST_INT(d->n_dropped, 1);
    TEST_INT(d->dropped[0], 1);
    TEST_CLOSE(d->y_mean[0], 3, 0);
    TEST_CLOSE(d->y_sd[0], sqrt(8.0 / 3), 1e-15);
    TEST_CLOSE(d->x_shift[0], d->col_mean[0], 0);
    TEST_CLOSE(d->y_shift[0], 3, 0);
    CU_ASSERT_FALSE(d->duplicates);
    gp_data_free(d);
    covar_context_free(ctx);
}

/* Column-major f32 inputs and a strided column of targets give equal rows. */
static void test_dtypes_and_strides(void)
{
    covar_context *ctx = test_context();
    const double X[] = {1, 2, 3, 4, 5, 6}, y[] = {7, 8, 9};
    const float across[] = {1, 3, 5, 2, 4, 6};
    const double wide[] = {7, 0, 8, 0, 9, 0};
    la_view columns = la_view_strided(across, LA_F32, 2, (size_t[]){3, 2},
                                      (ptrdiff_t[]){1, 3});
    la_view every_second =
        la_view_strided(wide, LA_F64, 1, (size_t[]){3}, (ptrdiff_t[]){2});
    gp_data *a = make(ctx, la_mat_f64(X, 3, 2), la_vec_f64(y, 3), NULL);
    gp_data *b = make(ctx, columns, every_second, NULL);
    TEST_SAME_BITS(b->X, a->X, 6, sizeof(double));
    TEST_SAME_BITS(b->y, a->y, 3, sizeof(double));
    gp_data_free(a);
    gp_data_free(b);
    covar_context_free(ctx);
}

/* A row counts only when all its outputs are there. */
static void test_outputs(void)
{
    covar_context *ctx = test_context();
    const double X[] = {1, 2, 3, 4}, y[] = {1, 10, NAN, 20, 3, 30, 4, 40};
    gp_data *d = make(ctx, la_mat_f64(X, 4, 1), la_mat_f64(y, 4, 2), NULL);
    TEST_INT(d->n, 3);
    TEST_INT(d->p, 2);
    TEST_INT(d->n_missing, 1);
    TEST_CLOSE(d->y[2], 3, 0);
    TEST_CLOSE(d->y_mean[1], 80.0 / 3, 1e-15);
    gp_data_free(d);
    covar_context_free(ctx);
}

static void test_standardise(void)
{
    static const struct {
        gp_standardise s;
        bool x, y;
    } rows[] = {{GP_STANDARDISE_NONE, false, false},
                {GP_STANDARDISE_X, true, false},
                {GP_STANDARDISE_Y, false, true},
                {GP_STANDARDISE_XY, true, true}};
    covar_context *ctx = test_context();
    const double X[] = {1, 2, 4}, y[] = {2, 3, 7};
    for (size_t i = 0; i < NELEM(rows); i++) {
        gp_options o = gp_options_default();
        o.standardise = rows[i].s;
        gp_data *d = make(ctx, la_mat_f64(X, 3, 1), la_vec_f64(y, 3), &o);
        TEST_CLOSE(d->x_shift[0], rows[i].x ? d->col_mean[0] : 0, 0);
        TEST_CLOSE(d->y_shift[0], rows[i].y ? d->y_mean[0] : 0, 0);
        gp_data_free(d);
    }
    covar_context_free(ctx);
}

/* The offset of the inputs costs no digits of mean and spread. */
static void test_offset(void)
{
    covar_context *ctx = test_context();
    const double X[] = {1, 2, 3}, y[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};
    gp_data *d = make(ctx, la_mat_f64(X, 3, 1), la_vec_f64(y, 3), NULL);
    TEST_CLOSE(d->y_sd[0], sqrt(2.0 / 3), 1e-14);
    gp_data_free(d);
    covar_context_free(ctx);
}

/* Repeated rows anywhere, for sizes around powers of two. */
static void test_duplicates(void)
{
    covar_context *ctx = test_context();
    double X[2 * 33], y[33];
    for (size_t n = 1; n <= 33; n++) {
        for (size_t i = 0; i < n; i++) {
            X[2 * i] = (double)(i * 7 % n % 3);
            X[2 * i + 1] = (double)(i * 7 % 101);
            y[i] = (double)i;
        }
        gp_data *d = make(ctx, la_mat_f64(X, n, 2), la_vec_f64(y, n), NULL);
        test_check(!d->duplicates, __FILE__, __LINE__, "n = %zu", n);
        gp_data_free(d);
        if (n < 2)
            continue;
        memcpy(X + 2 * (n - 1), X, 2 * sizeof(*X));
        d = make(ctx, la_mat_f64(X, n, 2), la_vec_f64(y, n), NULL);
        test_check(d->duplicates, __FILE__, __LINE__, "n = %zu", n);
        gp_data_free(d);
    }
    covar_context_free(ctx);
}

static void test_select(void)
{
    covar_context *ctx = test_context();
    const double X[] = {1, 2, 3, 4}, y[] = {5, NAN, 7, 8}, w[] = {1, 2, 3, 4};
    gp_options o = gp_options_default();
    o.weights = w;
    gp_data *d = make(ctx, la_mat_f64(X, 4, 1), la_vec_f64(y, 4), &o);
    gp_data *part = NULL;
    TEST_OK(ctx, gp_data_select(&part, ctx, d, (size_t[]){2, 0}, 2));
    CU_ASSERT_PTR_NOT_NULL_FATAL(part);
    TEST_CLOSE(part->X[0], 4, 0);
    TEST_CLOSE(part->weight[0], 4, 0);
    TEST_CLOSE(part->y[1], 5, 0);
    TEST_INT(part->row[0], 3);
    TEST_CLOSE(part->col_range[0], d->col_range[0], 0);
    TEST_CLOSE(part->col_sd[0], d->col_sd[0], 0);
    TEST_CLOSE(part->y_sd[0], d->y_sd[0], 0);
    gp_data_free(part);
    gp_data_free(d);
    covar_context_free(ctx);
}

static void refuse(covar_context *ctx, la_view X, la_view y,
                   const gp_options *o, covar_status status, const char *part)
{
    gp_data *data = NULL;
    TEST_STATUS(ctx, gp_data_create(&data, ctx, X, y, o), status);
    CU_ASSERT_PTR_NULL(data);
    TEST_CONTAINS(covar_error_text(ctx), part);
}

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const double X[] = {1, 2, NAN, 4}, y[] = {1, 2, 3};
    const double good[] = {1, 2, 4}, nan[] = {NAN, NAN, NAN};
    const double infinite[] = {1, INFINITY, 2}, huge[] = {1e308, -1e308, 1};
    const int32_t whole[] = {1, 2, 3};
    const double weights[] = {1, 0, 1}, noise[] = {1, 1, -1};
    gp_options o = gp_options_default();
    la_view x3 = la_mat_f64(good, 3, 1), y3 = la_vec_f64(y, 3);
    refuse(ctx, la_mat_f64(X, 2, 2), la_vec_f64(y, 2), &o, COVAR_ERR_ARG,
           "nan in row 1, column 0");
    refuse(ctx, la_mat_f64(X, 2, 2), y3, &o, COVAR_ERR_SHAPE,
           "X is 2x2 but y has 3 rows");
    refuse(ctx, y3, y3, &o, COVAR_ERR_SHAPE, "(n,d)");
    refuse(ctx, la_mat_f64(good, 3, 0), y3, &o, COVAR_ERR_SHAPE, "3x0");
    refuse(ctx, x3, la_vec_i32(whole, 3), &o, COVAR_ERR_DTYPE, "i32");
    refuse(ctx, la_view_none(), y3, &o, COVAR_ERR_ARG, "X is missing");
    refuse(ctx, x3, la_vec_f64(nan, 3), &o, COVAR_ERR_DATA, "none of the 3");
    refuse(ctx, la_mat_f64(good, 0, 1), la_vec_f64(y, 0), &o, COVAR_ERR_DATA,
           "none of the 0");
    refuse(ctx, x3, la_vec_f64(infinite, 3), &o, COVAR_ERR_ARG, "row 1");
    refuse(ctx, la_mat_f64(huge, 3, 1), y3, &o, COVAR_ERR_ARG, "rescale");
    refuse(ctx, x3, la_vec_f64(huge, 3), &o, COVAR_ERR_ARG, "rescale");
    o.weights = weights;
    refuse(ctx, x3, y3, &o, COVAR_ERR_ARG, "weights[1] = 0");
    o.weights = NULL;
    o.noise_per_point = noise;
    refuse(ctx, x3, y3, &o, COVAR_ERR_ARG, "noise_per_point[2] = -1");
    covar_context_free(ctx);
}

static covar_status create_and_select(covar_context *ctx, void *nothing)
{
    (void)nothing;
    const double X[] = {1, 2, 3}, y[] = {1, 2, 3}, w[] = {1, 1, 1};
    gp_options o = gp_options_default();
    o.weights = o.noise_per_point = w;
    gp_data *d = NULL, *part = NULL;
    covar_status status =
        gp_data_create(&d, ctx, la_mat_f64(X, 3, 1), la_vec_f64(y, 3), &o);
    if (status == COVAR_OK)
        status = gp_data_select(&part, ctx, d, NULL, 2);
    gp_data_free(part);
    gp_data_free(d);
    return status;
}

static void test_allocation_failures(void)
{
    test_allocation_sweep("gp_data", create_and_select, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"statistics", test_statistics},
        {"dtypes and strides", test_dtypes_and_strides},
        {"several outputs", test_outputs},
        {"standardise", test_standardise},
        {"offset", test_offset},
        {"duplicates", test_duplicates},
        {"select", test_select},
        {"errors", test_errors},
        {"allocation failures", test_allocation_failures},
    };
    return CUTAP_RUN("gp_data", cases);
}
