/* Golden values of operators and their derivatives, through graphs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Factorisations: worked by hand or published with the operators (Seeger et
 * al. 2017); tails of erfc: 40-digit arithmetic; Gaussian process: 60-digit
 * arithmetic on the inputs given here. */
#include "config.h"

#include "eager.h"
#include "golden_json.h"

#include <math.h>
#include <stdio.h>

/* ---- Factorisations ----------------------------------------------------- */

static const double M[] = {9,  3,  -6, 12, 3,  26,  -7, -11,
                           -6, -7, 9,  7,  12, -11, 7,  65};

static void test_cholesky(void)
{
    static const double L[] = {3,  0,  0, 0, 1, 5,  0, 0,
                               -2, -1, 2, 0, 4, -3, 6, 2};
    static const double A_bar[] = {2.202222222222,
                                   -0.006666666667,
                                   1.95,
                                   -0.55,
                                   -0.006666666667,
                                   0.22,
                                   0.15,
                                   0.15,
                                   1.95,
                                   0.15,
                                   1.75,
                                   -0.5,
                                   -0.55,
                                   0.15,
                                   -0.5,
                                   0.25};
    eager_begin();
    ad_node *A = eager_constant(la_mat_f64(M, 4, 4), "A");
    ad_node *F = ad_cholesky(A);
    ad_dim n[2] = {ad_fixed(4), ad_fixed(4)};
    eager_check(F, L, 16, 1e-15);
    eager_check(eager_pull(F, ad_fill(eager_g, LA_F64, 1, 2, n), A), A_bar, 16,
                1e-11);
    eager_end();
}

static void test_potri(void)
{
    static const double expected[] = {-0.469444444444,
                                      0,
                                      0,
                                      0,
                                      -0.025,
                                      -0.021666666667,
                                      0,
                                      0,
                                      -0.466666666667,
                                      -0.631666666667,
                                      -3.7075,
                                      0,
                                      0.125,
                                      0.183333333333,
                                      1.070833333333,
                                      -2};
    double A_bar[16];
    for (int i = 0; i < 16; i++)
        A_bar[i] = i / 10.0;
    eager_begin();
    ad_node *L =
        ad_name(ad_cholesky(ad_constant(eager_g, la_mat_f64(M, 4, 4))), "L");
    ad_node *G = ad_constant(eager_g, la_mat_f64(A_bar, 4, 4));
    eager_check(eager_pull(ad_potri(L), G, L), expected, 16, 1e-11);
    eager_end();
}

static void test_eigh(void)
{
    static const double a[] = {1, 2, 2, 5}, u[] = {1, 2, 3, 4}, l[] = {.5, -1};
    static const double U[] = {.92387953251128674, -.38268343236508977,
                               .38268343236508977, .92387953251128674};
    static const double lambda[] = {.17157287525380990, 5.8284271247461901};
    static const double A_bar[] = {.218483984058, -.592176187722,
                                   -.592176187722, -.718483984058};
    eager_begin();
    ad_node *A = eager_constant(la_mat_f64(a, 2, 2), "A"), *A_dot = NULL;
    ad_node *E = ad_eigh(A);
    eager_check(ad_out(E, 0), U, 4, 1e-14);
    eager_check(ad_out(E, 1), lambda, 2, 1e-14);
    ad_node *y[2] = {ad_out(E, 0), ad_out(E, 1)};
    ad_node *y_bar[2] = {ad_constant(eager_g, la_mat_f64(u, 2, 2)),
                         ad_constant(eager_g, la_vec_f64(l, 2))};
    TEST_OK(eager_ctx, ad_lop(&A_dot, y, y_bar, 2, &A, 1, NULL));
    eager_check(A_dot, A_bar, 4, 1e-11);
    eager_end();
}

/* log det through the eigenvalues of a matrix with equal ones: the gradient
 * is the inverse, exactly; and adjoints that do tell the vectors apart give
 * numbers, not NaN. */
static void test_eigh_equal(void)
{
    static const double a[] = {2, 0, 0, 0, 2, 0, 0, 0, 3};
    static const double inverse[] = {.5, 0, 0, 0, .5, 0, 0, 0, 1 / 3.};
    eager_begin();
    ad_node *A = eager_constant(la_mat_f64(a, 3, 3), "A");
    ad_node *E = ad_eigh(A);
    eager_check(eager_gradient(ad_sum(ad_log(ad_out(E, 1)), AD_ALL), A),
                inverse, 9, 1e-14);
    /* U' diag(log lambda) U = log A, whose trace is the same */
    ad_node *U = ad_out(E, 0);
    ad_node *scaled = ad_mul(ad_expand(ad_log(ad_out(E, 1)), 1), U);
    ad_node *log_A = ad_gemm(1, LA_TRANS, U, LA_NO_TRANS, scaled);
    ad_node *trace = ad_sum(ad_extract_diag(log_A, 0), AD_ALL);
    eager_check(eager_gradient(trace, A), inverse, 9, 1e-14);
    ad_node *d = eager_gradient(ad_sum(U, AD_ALL), A);
    TEST_INT(isfinite(eager_number(ad_sum(d, AD_ALL))), 1);
    eager_end();
}

static void test_not_positive_definite(void)
{
    static const double a[] = {1, .2, .2, -2};
    static const double two[] = {1, 0, 0, -2, 1, 0, 0, 4};
    const size_t dim[] = {2, 2, 2};
    eager_begin();
    ad_node *L = ad_cholesky(eager_constant(la_mat_f64(a, 2, 2), "K"));
    TEST_INT(L == NULL, 1);
    TEST_INT(ad_graph_error(eager_g), COVAR_ERR_NOT_PD);
    TEST_CONTAINS(ad_graph_error_text(eager_g), "minor 2");
    ad_graph_clear_error(eager_g);
    L = ad_cholesky(ad_constant(eager_g, la_view_dense(two, LA_F64, 3, dim)));
    TEST_INT(L == NULL, 1);
    TEST_CONTAINS(ad_graph_error_text(eager_g), "1 of 2");
    TEST_CONTAINS(ad_graph_error_text(eager_g), "[0]");
    ad_graph_clear_error(eager_g);
    double sum =
        eager_number(ad_scalar(eager_g, LA_F64, 3)); /* the graph goes on */
    TEST_CLOSE(sum, 3, 0);
    eager_end();
}

/* ---- Tails -------------------------------------------------------------- */

static void test_logsumexp(void)
{
    static const double x[] = {-100, 100}, d[] = {1.3838965267367376e-87, 1};
    static const double far[] = {-INFINITY, -INFINITY}, none[] = {0, 0};
    eager_begin();
    ad_node *v = eager_constant(la_vec_f64(x, 2), "x");
    ad_node *y = ad_logsumexp(v, 0);
    TEST_CLOSE(eager_number(y), 100, 0);
    eager_check(eager_gradient(y, v), d, 2, 1e-14);
    v = eager_constant(la_vec_f64(far, 2), "x");
    y = ad_logsumexp(v, 0);
    TEST_CLOSE(eager_number(y), -INFINITY, 0);
    eager_check(eager_gradient(y, v), none, 2, 0);
    eager_end();
}

static void test_log_erfc(void)
{
    static const struct {
        double x, y, slope;
    } row[] = {
        {10, -102.87988902484489, -20.099024116734604},
        {27, -732.86888650789741, NAN},
        {30, -903.97411711064388, NAN},
        {100, -10005.177585122664, -200.00999900024991},
    };
    eager_begin();
    for (size_t i = 0; i < NELEM(row); i++) {
        ad_node *x = ad_name(ad_scalar(eager_g, LA_F64, row[i].x), "x");
        ad_node *y = ad_log_erfc(x);
        TEST_REL(eager_number(y), row[i].y, 1e-15);
        if (!isnan(row[i].slope))
            TEST_REL(eager_number(eager_gradient(y, x)), row[i].slope, 2e-14);
    }
    /* both sides of the switch to the series, and far beyond overflow of x^2 */
    ad_node *x = ad_name(ad_scalar(eager_g, LA_F64, 1e9), "x");
    TEST_REL(eager_number(eager_gradient(ad_log_erfc(x), x)), -2e9, 1e-14);
    x = ad_name(ad_scalar(eager_g, LA_F64, -1e9), "x");
    TEST_REL(eager_number(eager_gradient(ad_log_ndtr(x), x)), 1e9, 1e-14);
    double at[2];
    for (int i = 0; i < 2; i++) {
        x = ad_name(ad_scalar(eager_g, LA_F64, i ? -30.000001 : -29.999999),
                    "x");
        at[i] = eager_number(eager_gradient(ad_log_ndtr(x), x));
    }
    TEST_CLOSE(at[1] - at[0], 2e-6 * 0.99891, 1e-10);
    eager_end();
}

static void test_pow(void)
{
    eager_begin();
    ad_node *x = ad_name(ad_scalar(eager_g, LA_F64, 0), "x");
    TEST_CLOSE(eager_number(eager_gradient(ad_pow_scalar(x, 3), x)), 0, 0);
    TEST_CLOSE(eager_number(eager_gradient(ad_pow_scalar(x, 1), x)), 1, 0);
    ad_node *two = ad_name(ad_scalar(eager_g, LA_F64, 2), "b");
    TEST_CLOSE(eager_number(eager_gradient(ad_pow(x, two), x)), 0, 0);
    TEST_CLOSE(eager_number(eager_gradient(ad_pow(x, two), two)), 0, 0);
    ad_node *none = ad_name(ad_scalar(eager_g, LA_F64, 0), "b");
    TEST_CLOSE(eager_number(eager_gradient(ad_pow(x, none), x)), 0, 0);
    eager_end();
}

/* ---- G24: transforms and stable logs ------------------------------------ */

/* Every element to 1e-13 of itself, also where it is 1e-18. */
static void check_special(const golden *c, const char *in, const char *out,
                          ad_node *f(ad_node *))
{
    enum { MOST = 16 };
    char path[64];
    double x[MOST], expected[MOST];
    snprintf(path, sizeof(path), "inputs/%s", in);
    const size_t n = golden_numbers(c, path, x, MOST);
    snprintf(path, sizeof(path), "expected/%s", out);
    TEST_INT(golden_numbers(c, path, expected, MOST), n);
    for (size_t i = 0; i < n; i++) {
        eager_begin();
        ad_node *y = f(ad_constant(eager_g, la_vec_f64(x + i, 1)));
        TEST_REL(eager_number(y), expected[i], 1e-13);
        eager_end();
    }
}

static void test_special(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G24");
    check_special(c, "softplus_x", "softplus", ad_softplus);
    check_special(c, "inv_softplus_x", "inv_softplus", ad_softplus_inv);
    check_special(c, "lognormcdf_x", "lognormcdf", ad_log_ndtr);
    check_special(c, "log1mexp_x", "log1mexp", ad_log1mexp);
    golden_close(file);
}

/* ---- A Gaussian process ------------------------------------------------- */

static void test_gaussian_process(void)
{
    static const double x[] = {-1.5, -0.3, 0.4, 1.1, 2.0};
    static const double y[] = {0.2, -0.7, 0.9, 1.3, -0.4};
    static const double slope[] = {-0.3952549659048943, -1.4851131634506631,
                                   -0.06819176590400942};
    static const double hessian[] = {
        -1.7589604484191734,  3.8500435348380977,  -0.11250337718967161,
        3.8500435348380977,   -13.374680863931443, 0.143138770558586,
        -0.11250337718967161, 0.143138770558586,   -0.052586065392579505};
    const double log_p[] = {log(1.3), log(0.8), log(0.05)};
    eager_begin();
    ad_node *p = eager_constant(la_vec_f64(log_p, 3), "p"), *e[3];
    for (size_t i = 0; i < 3; i++)
        e[i] = ad_exp(ad_squeeze(ad_slice(p, 0, ad_fixed(i), ad_fixed(1)), 0));
    ad_node *X = ad_div(ad_constant(eager_g, la_mat_f64(x, 5, 1)), e[1]);
    ad_node *K = ad_mul(e[0], ad_exp(ad_scale(ad_sqdist(X, NULL), -0.5)));
    ad_dim n = ad_fixed(5);
    ad_node *lml =
        ad_mvn_logpdf(ad_constant(eager_g, la_vec_f64(y, 5)),
                      ad_fill(eager_g, LA_F64, 0, 1, &n), ad_add_diag(K, e[2]));
    TEST_CLOSE(eager_number(lml), -6.43313143179418, 1e-12);
    ad_node *d = eager_gradient(lml, p);
    eager_check(d, slope, 3, 1e-10);
    eager_check(ad_hessian(lml, p), hessian, 9, 1e-10);
    TEST_TEXT(ad_graph_error_text(eager_g), "");
    eager_end();
}

int main(void)
{
    static const cutap_case cases[] = {
        {"cholesky and its adjoint", test_cholesky},
        {"potri's adjoint", test_potri},
        {"eigh and its adjoint", test_eigh},
        {"eigh with equal eigenvalues", test_eigh_equal},
        {"not positive definite", test_not_positive_definite},
        {"logsumexp of far numbers", test_logsumexp},
        {"tails of log erfc and log Phi", test_log_erfc},
        {"powers at 0", test_pow},
        {"G24 transforms and stable logs", test_special},
        {"Gaussian process: value, gradient, Hessian", test_gaussian_process},
    };
    return CUTAP_RUN("golden", cases);
}
