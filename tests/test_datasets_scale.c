/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "datasets_util.h"

#include <float.h>
#include <math.h>

static double mean_of(const dataset_scale *s, size_t j)
{
    return ((const double *)dataset_scale_mean(s).data)[j];
}

static double sd_of(const dataset_scale *s, size_t j)
{
    return ((const double *)dataset_scale_sd(s).data)[j];
}

/* Columns: 1..4; constant; one of a large offset; tiny values. */
static const double table[] = {
    1, 0.1, 1e9 + 1, 1e-300, 2, 0.1, 1e9 + 2, 2e-300,
    3, 0.1, 1e9 + 3, 3e-300, 4, 0.1, 1e9 + 4, 4e-300,
};

static void test_by_hand(void)
{
    covar_context *ctx = test_context();
    dataset_scale *s = NULL;
    double z[16], back[16];
    const double sd = sqrt(1.25);
    TEST_OK(ctx, dataset_scale_fit(&s, ctx, la_mat_f64(table, 4, 4),
                                   la_view_none()));
    TEST_CLOSE(mean_of(s, 0), 2.5, 0.0);
    TEST_REL(sd_of(s, 0), sd, DBL_EPSILON);
    TEST_CLOSE(mean_of(s, 1), 0.1, 0.0);
    TEST_CLOSE(sd_of(s, 1), 0.0, 0.0);
    TEST_CLOSE(mean_of(s, 2), 1e9 + 2.5, 0.0);
    TEST_REL(sd_of(s, 2), sd, DBL_EPSILON);
    TEST_REL(sd_of(s, 3), sd * 1e-300, 4 * DBL_EPSILON);
    TEST_OK(ctx, dataset_scale_apply(la_mat_f64(z, 4, 4), ctx, s,
                                     la_mat_f64(table, 4, 4)));
    for (size_t i = 0; i < 4; i++) {
        TEST_REL(z[4 * i], ((double)i - 1.5) / sd, 4 * DBL_EPSILON);
        TEST_CLOSE(z[4 * i + 1], 0.0, 0.0);
        TEST_REL(z[4 * i + 3], ((double)i - 1.5) / sd, 8 * DBL_EPSILON);
    }
    TEST_OK(ctx, dataset_scale_invert(la_mat_f64(back, 4, 4), ctx, s,
                                      la_mat_f64(z, 4, 4)));
    for (size_t i = 0; i < 16; i++)
        TEST_REL(back[i], table[i], 4 * DBL_EPSILON);
    dataset_scale_free(s);
    dataset_scale_free(NULL);
    covar_context_free(ctx);
}

static void test_training_rows_only(void)
{
    covar_context *ctx = test_context();
    dataset_scale *s = NULL;
    const int32_t rows[] = {3, 1}, outside[] = {0, 4};
    TEST_OK(ctx, dataset_scale_fit(&s, ctx, la_mat_f64(table, 4, 4),
                                   la_vec_i32(rows, 2)));
    TEST_CLOSE(mean_of(s, 0), 3.0, 0.0);
    TEST_CLOSE(sd_of(s, 0), 1.0, 0.0);
    dataset_scale_free(s);
    TEST_STATUS(ctx,
                dataset_scale_fit(&s, ctx, la_mat_f64(table, 4, 4),
                                  la_vec_i32(outside, 2)),
                COVAR_ERR_ARG);
    CU_ASSERT_PTR_NULL(s);
    TEST_STATUS(ctx,
                dataset_scale_fit(&s, ctx, la_mat_f64(table, 4, 4),
                                  la_vec_i32(rows, 0)),
                COVAR_ERR_DATA);
    TEST_STATUS(ctx,
                dataset_scale_fit(&s, ctx, la_mat_f64(table, 4, 4),
                                  la_vec_f64(table, 2)),
                COVAR_ERR_DTYPE);
    covar_context_free(ctx);
}

static void test_missing(void)
{
    covar_context *ctx = test_context();
    dataset_scale *s = NULL;
    double y[] = {1, (double)NAN, 3, (double)NAN}, z[4];
    TEST_OK(ctx, dataset_scale_fit(&s, ctx, la_vec_f64(y, 4), la_view_none()));
    TEST_CLOSE(mean_of(s, 0), 2.0, 0.0);
    TEST_CLOSE(sd_of(s, 0), 1.0, 0.0);
    TEST_OK(ctx,
            dataset_scale_apply(la_vec_f64(z, 4), ctx, s, la_vec_f64(y, 4)));
    TEST_CLOSE(z[0], -1.0, 0.0);
    CU_ASSERT(isnan(z[1]) && isnan(z[3]));
    dataset_scale_free(s);
    TEST_STATUS(ctx,
                dataset_scale_fit(&s, ctx, la_mat_f64(y, 2, 2), la_view_none()),
                COVAR_ERR_DATA);
    TEST_CONTAINS(covar_error_text(ctx), "row 0, column 1 (from 0) is nan");
    y[2] = (double)INFINITY;
    TEST_STATUS(ctx,
                dataset_scale_fit(&s, ctx, la_vec_f64(y, 4), la_view_none()),
                COVAR_ERR_DATA);
    TEST_CONTAINS(covar_error_text(ctx), "row 2, column 0");
    y[0] = y[2] = (double)NAN;
    TEST_STATUS(ctx,
                dataset_scale_fit(&s, ctx, la_vec_f64(y, 4), la_view_none()),
                COVAR_ERR_DATA);
    TEST_CONTAINS(covar_error_text(ctx), "has no values in the 4 rows");
    covar_context_free(ctx);
}

/* f32, strided, in place. */
static void test_views(void)
{
    covar_context *ctx = test_context();
    dataset_scale *s = NULL;
    float x[6] = {1, 10, 2, 20, 3, 30}, turned[6];
    la_view t = la_view_transpose(la_mat_f32(turned, 2, 3));
    la_view columns = la_mat_f32(x, 3, 2);
    TEST_OK(ctx, dataset_scale_fit(&s, ctx, columns, la_view_none()));
    TEST_CLOSE(mean_of(s, 1), 20.0, 0.0);
    TEST_OK(ctx, dataset_scale_apply(columns, ctx, s, columns));
    TEST_CLOSE((double)x[1], -sqrt(1.5), (double)FLT_EPSILON);
    TEST_OK(ctx, dataset_scale_invert(columns, ctx, s, columns));
    TEST_CLOSE((double)x[5], 30.0, (double)FLT_EPSILON);
    TEST_OK(ctx, dataset_scale_apply(t, ctx, s, columns));
    TEST_CLOSE((double)turned[5], sqrt(1.5), (double)FLT_EPSILON);
    TEST_CLOSE((double)turned[3], -sqrt(1.5), (double)FLT_EPSILON);
    float back[6];
    TEST_STATUS(ctx,
                dataset_scale_apply(la_mat_f32(back, 2, 3), ctx, s, columns),
                COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(ctx), "out is 2x3, the input 3x2");
    TEST_STATUS(
        ctx, dataset_scale_apply(la_vec_f32(back, 3), ctx, s, la_vec_f32(x, 3)),
        COVAR_ERR_SHAPE);
    dataset_scale_free(s);
    const int32_t whole[2] = {1, 2};
    TEST_STATUS(
        ctx, dataset_scale_fit(&s, ctx, la_vec_i32(whole, 2), la_view_none()),
        COVAR_ERR_DTYPE);
    TEST_STATUS(
        ctx, dataset_scale_fit(&s, ctx, la_scalar_f64(table), la_view_none()),
        COVAR_ERR_SHAPE);
    TEST_OK(ctx, dataset_scale_fit(&s, ctx, la_mat_f64(table, 4, 0),
                                   la_view_none()));
    TEST_INT(dataset_scale_mean(s).dim[0], 0);
    dataset_scale_free(s);
    covar_context_free(ctx);
}

/* Real inputs: constant columns of naval and sml, tiny ones of elevators. */
static void check_set(covar_context *ctx, const char *path, size_t constant)
{
    dataset *d = NULL;
    dataset_scale *s = NULL;
    if (!TEST_OK(ctx, dataset_load(&d, ctx, path)))
        return;
    la_view x = dataset_member(d, "X");
    size_t n = x.dim[0], columns = x.dim[1], zero = 0;
    int bad = 0;
    double *z = malloc(n * columns * sizeof(*z));
    la_view out = la_mat_f64(z, n, columns);
    TEST_OK(ctx, dataset_scale_fit(&s, ctx, x, la_view_none()));
    TEST_OK(ctx, dataset_scale_apply(out, ctx, s, x));
    for (size_t j = 0; j < columns; j++) {
        double sum = 0.0, squares = 0.0;
        for (size_t i = 0; i < n; i++) {
            double v = z[i * columns + j];
            bad += isfinite(v) ? 0 : 1;
            sum += v;
            squares += v * v;
        }
        zero += sd_of(s, j) == 0.0;
        TEST_CLOSE(sum / (double)n, 0.0, 1e-9);
        TEST_CLOSE(squares / (double)n, sd_of(s, j) > 0.0 ? 1.0 : 0.0, 1e-9);
    }
    TEST_INT(bad, 0);
    TEST_INT(zero, constant);
    free(z);
    dataset_scale_free(s);
    dataset_free(d);
}

static void test_real(void)
{
    char naval[600], sml[600], elevators[600];
    TEST_SHARED(naval, "data/naval.h5");
    TEST_SHARED(sml, "data/sml.h5");
    TEST_SHARED(elevators, "data/elevators.h5");
    covar_context *ctx = test_context();
    check_set(ctx, naval, 2);
    check_set(ctx, sml, 4);
    check_set(ctx, elevators, 0);
    covar_context_free(ctx);
}

static covar_status fit_and_free(covar_context *ctx, void *data)
{
    dataset_scale *s = NULL;
    (void)data;
    covar_status status =
        dataset_scale_fit(&s, ctx, la_mat_f64(table, 4, 4), la_view_none());
    dataset_scale_free(s);
    return status;
}

static void test_allocations(void)
{
    test_allocation_sweep("scale", fit_and_free, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"by hand", test_by_hand},
        {"training rows only", test_training_rows_only},
        {"missing and infinite", test_missing},
        {"f32, strides, in place, errors", test_views},
        {"constant and tiny real columns", test_real},
        {"every allocation fails", test_allocations},
    };
    return CUTAP_RUN("datasets scale", cases);
}
