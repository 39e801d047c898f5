/* The mean: basis, coefficients in user units, coefficients given by name.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "gp/gp_impl.h"
#include "test_util.h"

#include <math.h>

enum { N = 4 };
static const double X[3 * N] = {1, 5, 2, 2, 5, 0, 3, 5, 7, 6, 5, 1};
static const double y[N] = {1, 4, 2, 8};

static gp_data *make(covar_context *ctx, const gp_options *o)
{
    gp_data *data = NULL;
    TEST_OK(ctx, gp_data_create(&data, ctx, la_mat_f64(X, N, 3),
                                la_vec_f64(y, N), o));
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    return data;
}

static void test_count_and_basis(void)
{
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    gp_data *data = make(ctx, &o);
    TEST_INT(gp_mean_count(data, &o), 1);
    o.mean = GP_MEAN_ZERO;
    TEST_INT(gp_mean_count(data, &o), 0);
    o.mean = GP_MEAN_LINEAR; /* column 1 is constant */
    TEST_INT(gp_mean_count(data, &o), 3);
    double H[3 * N];
    gp_mean_basis_at(H, data, &o, la_mat_f64(X, N, 3));
    TEST_CLOSE_ARRAY(H + 3, ((double[]){1, (2 - 3.) / 5, (0 - 2.5) / 7}), 3,
                     1e-15);
    gp_data_free(data);
    covar_context_free(ctx);
}

/* offset + h'beta is constant + slope'x in user units. */
static void test_natural(void)
{
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    o.mean = GP_MEAN_LINEAR;
    gp_data *data = make(ctx, &o);
    const double beta[] = {.3, -2, 5};
    double c[4], H[3 * N], offset[N];
    gp_mean_natural(c, data, &o, beta, 0);
    CU_ASSERT(isnan(c[2]));
    gp_mean_basis_at(H, data, &o, la_mat_f64(X, N, 3));
    TEST_OK(ctx, gp_mean_offset(offset, ctx, data, &o, la_mat_f64(X, N, 3)));
    for (size_t i = 0; i < N; i++) {
        double mean = offset[i];
        for (size_t j = 0; j < 3; j++)
            mean += H[3 * i + j] * beta[j];
        TEST_CLOSE(c[0] + c[1] * X[3 * i] + c[3] * X[3 * i + 2], mean, 1e-14);
    }
    gp_data_free(data);
    covar_context_free(ctx);
}

static void twice_first_column(double *mean, la_view x, void *data)
{
    double *factor = data;
    for (size_t i = 0; i < x.dim[0]; i++)
        mean[i] = *factor * la_view_get(x, i * x.dim[1]);
}

static void test_user(void)
{
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    double factor = 2, offset[N];
    o.mean = GP_MEAN_USER;
    o.mean_fn = twice_first_column;
    o.mean_data = &factor;
    gp_data *data = make(ctx, &o);
    TEST_OK(ctx, gp_mean_offset(offset, ctx, data, &o, la_mat_f64(X, N, 3)));
    TEST_CLOSE(offset[3], 12, 0);
    factor = NAN;
    TEST_STATUS(ctx, gp_mean_offset(offset, ctx, data, &o, la_mat_f64(X, N, 3)),
                COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "nan at row 0");
    gp_data_free(data);
    covar_context_free(ctx);
}

static void test_given(void)
{
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    o.mean = GP_MEAN_LINEAR;
    gp_options_fix(&o, "mean.constant", 10);
    gp_options_fix(&o, "mean.slope[0]", 2);
    gp_options_fix(&o, "mean.slope[2]", 3);
    gp_data *data = make(ctx, &o);
    TEST_OK(ctx, gp_mean_take_given(data, ctx, &o));
    TEST_INT(gp_mean_count(data, &o), 0);
    double offset[N], c[4];
    TEST_OK(ctx, gp_mean_offset(offset, ctx, data, &o, la_mat_f64(X, N, 3)));
    TEST_CLOSE(offset[2], 10 + 2 * 3 + 3 * 7, 0);
    gp_mean_natural(c, data, &o, NULL, 0);
    TEST_CLOSE(c[3], 3, 0);
    gp_data_free(data);
    gp_options_clear(&o);
    covar_context_free(ctx);
}

/* One setting that is refused, with a part of the sentence. */
static void refuse(gp_mean_kind mean, bool no_fit, const char *name,
                   double value, bool fix, covar_status status,
                   const char *part)
{
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    o.mean = mean;
    o.no_fit = no_fit;
    if (fix)
        gp_options_fix(&o, name, value);
    else
        gp_options_start(&o, name, value);
    gp_data *data = make(ctx, &o);
    TEST_STATUS(ctx, gp_mean_take_given(data, ctx, &o), status);
    TEST_CONTAINS(covar_error_text(ctx), part);
    gp_data_free(data);
    gp_options_clear(&o);
    covar_context_free(ctx);
}

static void test_given_errors(void)
{
    refuse(GP_MEAN_ZERO, false, "mean.constant", 1, true, COVAR_ERR_NAME,
           "only constant and linear");
    refuse(GP_MEAN_CONSTANT, false, "mean.slope[0]", 1, true, COVAR_ERR_NAME,
           "no coefficient is called mean.slope[0]");
    refuse(GP_MEAN_LINEAR, false, "mean.slope[1]", 1, true, COVAR_ERR_NAME,
           "columns that vary");
    refuse(GP_MEAN_LINEAR, false, "mean.slope[0]", 1, true, COVAR_ERR_ARG,
           "mean.constant must be given");
    refuse(GP_MEAN_LINEAR, false, "mean.constant", 1, true, COVAR_ERR_ARG,
           "mean.slope[0] must be given");
    refuse(GP_MEAN_CONSTANT, false, "mean.constant", 1, false, COVAR_ERR_ARG,
           "least squares");
    refuse(GP_MEAN_CONSTANT, true, "mean.constant", INFINITY, false,
           COVAR_ERR_ARG, "finite");
}

int main(void)
{
    static const cutap_case cases[] = {
        {"count and basis", test_count_and_basis},
        {"natural coefficients", test_natural},
        {"user's function", test_user},
        {"given coefficients", test_given},
        {"errors of given coefficients", test_given_errors},
    };
    return CUTAP_RUN("gp_mean", cases);
}
