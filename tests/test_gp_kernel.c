/* Kernels: every word of the grammar, constructors, printing, errors.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For every type: K is symmetric, positive semidefinite and has the stated
 * diagonal; the cross covariance of X with itself is K (but for white); the
 * text parses back to itself. Values against closed forms written out here. */
#include "config.h"

#include "gp/kernel_tree.h"
#include "gp/programs.h"
#include "test_util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 7, D = 2 };
static const double X[N * D] = {0.1, 0.2,  0.9,  -0.4, -0.6, 0.7, 0.3,
                                1.2, -1.1, -0.8, 1.4,  0.5,  0.9, -0.3};
static const double y[N] = {0.31, 1.02, -0.47, 0.66, -1.2, 1.55, 0.4};

static gp_model *model(covar_context *ctx, const char *text)
{
    gp_options o = gp_options_default();
    gp_model *m = NULL;
    TEST_OK(ctx, gp_kernel_parse(&o.kernel, ctx, text));
    o.mean = GP_MEAN_ZERO;
    o.standardise = GP_STANDARDISE_NONE;
    o.no_fit = true;
    gp_options_fix(&o, "noise_variance", 0.5);
    TEST_OK(ctx,
            gp_fit(&m, ctx, la_mat_f64(X, N, D), la_vec_f64(y, N), &o, NULL));
    gp_kernel_free(o.kernel);
    gp_options_clear(&o);
    return m;
}

/* K(X,X) or K(X,X') by the compiled programs. */
static void covariances(double K[N * N], const gp_model *m, covar_context *ctx,
                        gp_program_kind which)
{
    la_array *free = NULL, *rows = NULL;
    TEST_OK(ctx, gp_params_free_array(&free, ctx, &m->params, LA_F64));
    TEST_OK(ctx,
            gp_model_rows(&rows, ctx, m->data, LA_F64, la_mat_f64(X, N, D)));
    la_view in[] = {la_array_view(free), la_array_view(rows),
                    la_array_view(rows)};
    la_view out = la_mat_f64(K, N, N);
    TEST_OK(ctx, gp_programs_run(m->programs, ctx, which, in, &out));
    la_array_free(free);
    la_array_free(rows);
}

static const char *const texts[] = {
    "2*constant",
    "2*white",
    "2*rbf(lengthscale=0.8)",
    "2*rbf(ard,lengthscale[0]=0.8,lengthscale[1]=1.7)",
    "2*matern12(lengthscale=0.8)",
    "2*matern32(ard=2,lengthscale=0.8)",
    "2*matern52(lengthscale=0.8)[1]",
    "2*matern72(lengthscale=0.8)",
    "2*rq(lengthscale=0.8,alpha=0.7)",
    "2*periodic(lengthscale=0.9,period=1.3)[0]",
    "2*cosine(period=1.3)",
    "2*linear",
    "2*linear(ard,lengthscale[0]=0.5,lengthscale[1]=2)",
    "2*poly(degree=3,offset=0.4)",
    "2*spectral_mixture(q=2,weight[1]=0.5,frequency=0.7,bandwidth=0.2)[0]",
    "0.5*rbf(lengthscale=1)*linear[1] + 0.3*matern12(lengthscale=2)",
    "1.5*(rbf(lengthscale=1) + linear)*(white + constant)",
};

static void test_every_type(void)
{
    covar_context *ctx = test_context();
    la_exec exec = la_exec_cpu(ctx);
    for (size_t t = 0; t < NELEM(texts); t++) {
        double K[N * N], C[N * N], lambda[N], work[4096];
        int32_t info = 0;
        gp_model *m = model(ctx, texts[t]);
        covariances(K, m, ctx, GP_PROGRAM_GRAM);
        covariances(C, m, ctx, GP_PROGRAM_CROSS);
        bool white = strstr(texts[t], "white") != NULL;
        for (size_t i = 0; i < N * N; i++) {
            TEST_CLOSE(K[i], K[i % N * N + i / N], 1e-15);
            if (!white)
                TEST_CLOSE(C[i], K[i], 1e-14);
        }
        double trace = 0;
        for (size_t i = 0; i < N; i++)
            trace += K[i * N + i];
        CU_ASSERT_FATAL(la_syevd_work_size(LA_F64, N) <= sizeof(work));
        TEST_OK(ctx, la_syevd(&exec, la_mat_f64(K, N, N), la_vec_f64(lambda, N),
                              work, &info));
        if (!(lambda[0] >= -1e-13 * trace))
            test_check(false, __FILE__, __LINE__,
                       "%s: smallest eigenvalue %g of trace %g", texts[t],
                       lambda[0], trace);
        gp_model_free(m);
    }
    covar_context_free(ctx);
}

/* ---- Values ------------------------------------------------------------- */

typedef double closed_form(double r2, double dx, double dot);

static double rbf(double r2, double dx, double dot)
{
    (void)dx;
    (void)dot;
    return exp(-r2 / 2);
}

static double matern72(double r2, double dx, double dot)
{
    double s = sqrt(7 * r2);
    (void)dx;
    (void)dot;
    return (1 + s + 2 * s * s / 5 + s * s * s / 15) * exp(-s);
}

static double rq(double r2, double dx, double dot)
{
    (void)dx;
    (void)dot;
    return pow(1 + r2 / 1.4, -0.7);
}

static double periodic(double r2, double dx, double dot)
{
    double s = sin(M_PI * dx / 1.3);
    (void)r2;
    (void)dot;
    return exp(-2 * s * s / 0.81);
}

static double poly(double r2, double dx, double dot)
{
    (void)r2;
    (void)dx;
    return pow(dot + 0.4, 3);
}

static void test_values(void)
{
    static const struct {
        const char *text;
        closed_form *value;
    } cases[] = {
        {"2*rbf(lengthscale=0.8)", rbf},
        {"2*matern72(lengthscale=0.8)", matern72},
        {"2*rq(lengthscale=0.8,alpha=0.7)", rq},
        {"2*periodic(lengthscale=0.9,period=1.3)[0]", periodic},
        {"2*poly(degree=3,offset=0.4)", poly},
    };
    covar_context *ctx = test_context();
    for (size_t t = 0; t < NELEM(cases); t++) {
        double K[N * N];
        gp_model *m = model(ctx, cases[t].text);
        covariances(K, m, ctx, GP_PROGRAM_GRAM);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                const double *a = X + i * D, *b = X + j * D;
                double u = a[0] - b[0], v = a[1] - b[1];
                double expected = 2 * cases[t].value((u * u + v * v) / 0.64, u,
                                                     a[0] * b[0] + a[1] * b[1]);
                TEST_CLOSE(K[i * N + j], expected, 1e-13);
            }
        gp_model_free(m);
    }
    covar_context_free(ctx);
}

/* ---- Text --------------------------------------------------------------- */

static void test_round_trip(void)
{
    covar_context *ctx = test_context();
    for (size_t t = 0; t < NELEM(texts); t++) {
        char first[400], second[400];
        gp_kernel *k = NULL, *again = NULL;
        TEST_OK(ctx, gp_kernel_parse(&k, ctx, texts[t]));
        size_t n = gp_kernel_print(first, sizeof(first), k);
        TEST_INT(n, strlen(first));
        TEST_OK(ctx, gp_kernel_parse(&again, ctx, first));
        gp_kernel_print(second, sizeof(second), again);
        TEST_TEXT(second, first);
        TEST_INT(gp_kernel_print(NULL, 0, k), n);
        gp_kernel_free(k);
        gp_kernel_free(again);
    }
    covar_context_free(ctx);
}

static void test_constructors(void)
{
    char text[200];
    gp_kernel *k = gp_add(gp_mul(gp_rbf(0), gp_periodic(1.0)), gp_matern52(3));
    gp_kernel_print(text, sizeof(text), k);
    TEST_TEXT(text, "rbf*periodic(period=1) + matern52(ard=3)");
    k = gp_mul(k, gp_linear(0));
    gp_kernel_print(text, sizeof(text), k);
    TEST_TEXT(text, "(rbf*periodic(period=1) + matern52(ard=3))*linear");
    gp_kernel_free(k);
    k = gp_columns(gp_rbf(0), (size_t[]){2, 5}, 2);
    gp_kernel_print(text, sizeof(text), k);
    TEST_TEXT(text, "rbf[2,5]");
    gp_kernel_free(k);
    gp_kernel_free(NULL);
}

static void test_parse_errors(void)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "a kernel (constant"},
        {"rbg", "column 1"},
        {"rbf +", "the end"},
        {"rbf(lengthscale)", "= or :="},
        {"rbf(lengthscale=x)", "a number"},
        {"rbf(period=1)", "a parameter of rbf: lengthscale"},
        {"periodic(ard)", "no ard"},
        {"rbf[1,1]", "columns without repetition"},
        {"rbf[3-1]", "a range that is not empty"},
        {"rbf[", "a column number"},
        {"(rbf", "+, * or )"},
        {"rbf)", "+, * or the end"},
        {"-2*rbf", "a positive factor"},
        {"2 rbf", "expected *"},
        {"poly(degree=0)", "from 1 to 64"},
        {"((((((((((((((((((((((((((((((((((rbf", "nested parentheses"},
    };
    covar_context *ctx = test_context();
    for (size_t t = 0; t < NELEM(cases); t++) {
        gp_kernel *k = (gp_kernel *)(uintptr_t)1;
        TEST_STATUS(ctx, gp_kernel_parse(&k, ctx, cases[t].text),
                    COVAR_ERR_PARSE);
        TEST_CONTAINS(covar_error_text(ctx), cases[t].part);
        CU_ASSERT_PTR_NULL(k);
    }
    gp_kernel *k = NULL;
    TEST_STATUS(ctx, gp_kernel_parse(NULL, ctx, "rbf"), COVAR_ERR_ARG);
    TEST_STATUS(ctx, gp_kernel_parse(&k, ctx, NULL), COVAR_ERR_ARG);
    covar_context_free(ctx);
}

/* ---- Names -------------------------------------------------------------- */

static void test_names(void)
{
    covar_context *ctx = test_context();
    gp_model *m = model(ctx, "rbf(ard)*periodic(period=1) + 2*(linear + rq)");
    static const char *const names[] = {
        "0.variance",      "0.0.lengthscale[0]", "0.0.lengthscale[1]",
        "0.1.lengthscale", "0.1.period",         "1.0.variance",
        "1.1.variance",    "1.1.lengthscale",    "1.1.alpha",
        "noise_variance",
    };
    TEST_INT(gp_param_count(m), NELEM(names));
    for (size_t i = 0; i < NELEM(names) && i < gp_param_count(m); i++)
        TEST_TEXT(gp_param_name(m, i), names[i]);
    gp_model_free(m);
    m = model(ctx, "rbf");
    double value = 0;
    TEST_OK(ctx, gp_param_get(m, ctx, "0.0.lengthscale", &value));
    TEST_OK(ctx, gp_param_get(m, ctx, "lengthscale", &value));
    TEST_STATUS(ctx, gp_param_get(m, ctx, "period", &value), COVAR_ERR_NAME);
    gp_model_free(m);
    covar_context_free(ctx);
}

static covar_status parse_and_print(covar_context *ctx, void *data)
{
    gp_kernel *k = NULL;
    char text[300];
    (void)data;
    COVAR_TRY(gp_kernel_parse(&k, ctx,
                              "2*rbf(ard,lengthscale[0]=3)[0,2-4] + "
                              "(linear + rq(alpha:=1))*white"));
    gp_kernel_print(text, sizeof(text), k);
    gp_kernel_free(k);
    return COVAR_OK;
}

static void test_allocations(void)
{
    test_allocation_sweep("gp_kernel_parse", parse_and_print, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"every type", test_every_type},
        {"values", test_values},
        {"round trip", test_round_trip},
        {"constructors", test_constructors},
        {"parse errors", test_parse_errors},
        {"names", test_names},
        {"failed allocations", test_allocations},
    };
    return CUTAP_RUN("gp_kernel", cases);
}
