/* Golden values of operators and their derivatives, through graphs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Factorisations: worked by hand or published with the operators (Seeger et
 * al. 2017); tails of erfc: 40-digit arithmetic; Gaussian process: 60-digit
 * arithmetic on the inputs given here. */
#include "config.h"

#include <covar/autodiff.h>
#include <math.h>

#include "test_util.h"

/* ---- An eager graph for each test --------------------------------------- */

static covar_context *ctx;
static ad_graph      *g;

static void begin(void)
{
    ctx = test_context();
    TEST_OK(ctx, ad_graph_create(&g, ctx, &(ad_graph_options){.eager = true}));
}

static void end(void)
{
    ad_graph_free(g);
    covar_context_free(ctx);
}

static ad_node *constant(la_view x, const char *name)
{
    return ad_name(ad_constant(g, x), name);
}

/* The n elements of x are `expected`? */
static void check(ad_node *x, const double *expected, size_t n,
                  double tolerance)
{
    la_array *a = ad_value(x);
    double    value[64] = {0};
    if (!test_check(a != NULL, __FILE__, __LINE__, "no value: %s",
                    ad_graph_error_text(g)))
        return;
    la_view v = la_array_view(a);
    TEST_INT(la_view_count(v), n);
    for (size_t i = 0; i < n && i < la_view_count(v); i++)
        value[i] = la_view_get(v, i);
    TEST_CLOSE_ARRAY(value, expected, n, tolerance);
    la_array_free(a);
}

static double number(ad_node *x)
{
    la_array *a = ad_value(x);
    double    y = a ? la_view_get(la_array_view(a), 0) : NAN;
    la_array_free(a);
    return y;
}

/* The adjoint of x for adjoints y_bar of y. */
static ad_node *pull(ad_node *y, ad_node *y_bar, ad_node *x)
{
    ad_node *x_bar = NULL;
    TEST_OK(ctx, ad_lop(&x_bar, &y, &y_bar, 1, &x, 1, NULL));
    return x_bar;
}

static ad_node *gradient(ad_node *y, ad_node *x)
{
    ad_node *dy = NULL;
    TEST_OK(ctx, ad_grad(&dy, y, &x, 1));
    return dy;
}

/* ---- Factorisations ----------------------------------------------------- */

static const double M[] = {9,  3, -6, 12, 3,  26,  -7, -11,
                           -6, -7, 9, 7,  12, -11, 7,  65};

static void test_cholesky(void)
{
    static const double L[] = {3, 0, 0, 0, 1, 5, 0, 0, -2, -1, 2, 0, 4, -3, 6, 2};
    static const double A_bar[] = {
        2.202222222222, -0.006666666667, 1.95, -0.55,
        -0.006666666667, 0.22, 0.15, 0.15,
        1.95, 0.15, 1.75, -0.5, -0.55, 0.15, -0.5, 0.25};
    begin();
    ad_node *A = constant(la_mat_f64(M, 4, 4), "A");
    ad_node *F = ad_cholesky(A);
    ad_dim   n[2] = {ad_fixed(4), ad_fixed(4)};
    check(F, L, 16, 1e-15);
    check(pull(F, ad_fill(g, LA_F64, 1, 2, n), A), A_bar, 16, 1e-11);
    end();
}

static void test_potri(void)
{
    static const double expected[] = {
        -0.469444444444, 0, 0, 0, -0.025, -0.021666666667, 0, 0,
        -0.466666666667, -0.631666666667, -3.7075, 0,
        0.125, 0.183333333333, 1.070833333333, -2};
    double A_bar[16];
    for (int i = 0; i < 16; i++)
        A_bar[i] = i / 10.0;
    begin();
    ad_node *L = ad_name(ad_cholesky(ad_constant(g, la_mat_f64(M, 4, 4))), "L");
    ad_node *G = ad_constant(g, la_mat_f64(A_bar, 4, 4));
    check(pull(ad_potri(L), G, L), expected, 16, 1e-11);
    end();
}

static void test_eigh(void)
{
    static const double a[] = {1, 2, 2, 5}, u[] = {1, 2, 3, 4}, l[] = {.5, -1};
    static const double U[] = {.92387953251128674, -.38268343236508977,
                               .38268343236508977, .92387953251128674};
    static const double lambda[] = {.17157287525380990, 5.8284271247461901};
    static const double A_bar[] = {.218483984058, -.592176187722,
                                   -.592176187722, -.718483984058};
    begin();
    ad_node *A = constant(la_mat_f64(a, 2, 2), "A"), *A_dot = NULL;
    ad_node *E = ad_eigh(A);
    check(ad_out(E, 0), U, 4, 1e-14);
    check(ad_out(E, 1), lambda, 2, 1e-14);
    ad_node *y[2] = {ad_out(E, 0), ad_out(E, 1)};
    ad_node *y_bar[2] = {ad_constant(g, la_mat_f64(u, 2, 2)),
                         ad_constant(g, la_vec_f64(l, 2))};
    TEST_OK(ctx, ad_lop(&A_dot, y, y_bar, 2, &A, 1, NULL));
    check(A_dot, A_bar, 4, 1e-11);
    end();
}

/* log det through the eigenvalues of a matrix with equal ones: the gradient
 * is the inverse, exactly; and adjoints that do tell the vectors apart give
 * numbers, not NaN. */
static void test_eigh_equal(void)
{
    static const double a[] = {2, 0, 0, 0, 2, 0, 0, 0, 3};
    static const double inverse[] = {.5, 0, 0, 0, .5, 0, 0, 0, 1 / 3.};
    begin();
    ad_node *A = constant(la_mat_f64(a, 3, 3), "A");
    ad_node *E = ad_eigh(A);
    check(gradient(ad_sum(ad_log(ad_out(E, 1)), AD_ALL), A), inverse, 9, 1e-14);
    /* U' diag(log lambda) U = log A, whose trace is the same */
    ad_node *U = ad_out(E, 0);
    ad_node *scaled = ad_mul(ad_expand(ad_log(ad_out(E, 1)), 1), U);
    ad_node *log_A = ad_gemm(1, LA_TRANS, U, LA_NO_TRANS, scaled);
    ad_node *trace = ad_sum(ad_extract_diag(log_A, 0), AD_ALL);
    check(gradient(trace, A), inverse, 9, 1e-14);
    ad_node *d = gradient(ad_sum(U, AD_ALL), A);
    TEST_INT(isfinite(number(ad_sum(d, AD_ALL))), 1);
    end();
}

static void test_not_positive_definite(void)
{
    static const double a[] = {1, .2, .2, -2};
    static const double two[] = {1, 0, 0, -2, 1, 0, 0, 4};
    const size_t        dim[] = {2, 2, 2};
    begin();
    ad_node *L = ad_cholesky(constant(la_mat_f64(a, 2, 2), "K"));
    TEST_INT(L == NULL, 1);
    TEST_INT(ad_graph_error(g), COVAR_ERR_NOT_PD);
    TEST_CONTAINS(ad_graph_error_text(g), "minor 2");
    ad_graph_clear_error(g);
    L = ad_cholesky(ad_constant(g, la_view_dense(two, LA_F64, 3, dim)));
    TEST_INT(L == NULL, 1);
    TEST_CONTAINS(ad_graph_error_text(g), "1 of 2");
    TEST_CONTAINS(ad_graph_error_text(g), "[0]");
    ad_graph_clear_error(g);
    double sum = number(ad_scalar(g, LA_F64, 3)); /* the graph goes on */
    TEST_CLOSE(sum, 3, 0);
    end();
}

/* ---- Tails -------------------------------------------------------------- */

static void test_logsumexp(void)
{
    static const double x[] = {-100, 100}, d[] = {1.3838965267367376e-87, 1};
    static const double far[] = {-INFINITY, -INFINITY}, none[] = {0, 0};
    begin();
    ad_node *v = constant(la_vec_f64(x, 2), "x");
    ad_node *y = ad_logsumexp(v, 0);
    TEST_CLOSE(number(y), 100, 0);
    check(gradient(y, v), d, 2, 1e-14);
    v = constant(la_vec_f64(far, 2), "x");
    y = ad_logsumexp(v, 0);
    TEST_CLOSE(number(y), -INFINITY, 0);
    check(gradient(y, v), none, 2, 0);
    end();
}

static void test_log_erfc(void)
{
    static const struct { double x, y, slope; } row[] = {
        {10, -102.87988902484489, -20.099024116734604},
        {27, -732.86888650789741, NAN},
        {30, -903.97411711064388, NAN},
        {100, -10005.177585122664, -200.00999900024991},
    };
    begin();
    for (size_t i = 0; i < NELEM(row); i++) {
        ad_node *x = ad_name(ad_scalar(g, LA_F64, row[i].x), "x");
        ad_node *y = ad_log_erfc(x);
        TEST_REL(number(y), row[i].y, 1e-13);
        if (!isnan(row[i].slope))
            TEST_REL(number(gradient(y, x)), row[i].slope, 1e-13);
    }
    /* both sides of the switch to the series, and far beyond overflow of x^2 */
    ad_node *x = ad_name(ad_scalar(g, LA_F64, 1e9), "x");
    TEST_REL(number(gradient(ad_log_erfc(x), x)), -2e9, 1e-14);
    x = ad_name(ad_scalar(g, LA_F64, -1e9), "x");
    TEST_REL(number(gradient(ad_log_ndtr(x), x)), 1e9, 1e-14);
    double at[2];
    for (int i = 0; i < 2; i++) {
        x = ad_name(ad_scalar(g, LA_F64, i ? -30.000001 : -29.999999), "x");
        at[i] = number(gradient(ad_log_ndtr(x), x));
    }
    TEST_CLOSE(at[1] - at[0], 2e-6 * 0.99891, 1e-8);
    end();
}

static void test_pow(void)
{
    begin();
    ad_node *x = ad_name(ad_scalar(g, LA_F64, 0), "x");
    TEST_CLOSE(number(gradient(ad_pow_scalar(x, 3), x)), 0, 0);
    TEST_CLOSE(number(gradient(ad_pow_scalar(x, 1), x)), 1, 0);
    ad_node *two = ad_name(ad_scalar(g, LA_F64, 2), "b");
    TEST_CLOSE(number(gradient(ad_pow(x, two), x)), 0, 0);
    TEST_CLOSE(number(gradient(ad_pow(x, two), two)), 0, 0);
    ad_node *none = ad_name(ad_scalar(g, LA_F64, 0), "b");
    TEST_CLOSE(number(gradient(ad_pow(x, none), x)), 0, 0);
    end();
}

/* ---- Scan --------------------------------------------------------------- */

/* Carries: x^i and the sum so far. */
static covar_status step_power(ad_graph *body, ad_node *const *x,
                               ad_node **out, void *data)
{
    (void)body, (void)data;
    out[0] = ad_mul(x[1], x[3]);
    out[1] = ad_add(x[2], ad_mul(x[0], x[1]));
    return COVAR_OK;
}

static void test_polynomial(void)
{
    static const double c[] = {1, 2, -3, 4};
    begin();
    ad_node *seq = ad_constant(g, la_vec_f64(c, 4));
    ad_node *x = ad_name(ad_scalar(g, LA_F64, 2), "x");
    ad_node *carry[2] = {ad_scalar(g, LA_F64, 1), ad_scalar(g, LA_F64, 0)};
    ad_node *y = ad_scan(&(ad_scan_spec){.n_seq = 1, .n_carry = 2,
                                         .n_const = 1, .seq = &seq,
                                         .carry = carry, .constant = &x,
                                         .step = step_power});
    ad_node *P = ad_out(y, 1);
    ad_node *dP = gradient(P, x);
    ad_node *d2P = gradient(dP, x);
    TEST_CLOSE(number(P), 25, 1e-15);
    TEST_CLOSE(number(dP), 38, 1e-15);
    TEST_CLOSE(number(d2P), 42, 1e-15);
    TEST_CLOSE(number(gradient(d2P, x)), 24, 1e-15);
    TEST_TEXT(ad_graph_error_text(g), "");
    end();
}

/* h' = tanh(W (u + h)). */
static covar_status step_recurrent(ad_graph *body, ad_node *const *x,
                                   ad_node **out, void *data)
{
    (void)body, (void)data;
    out[0] = ad_tanh(ad_matmul(x[2], ad_add(x[0], x[1])));
    return COVAR_OK;
}

static void test_recurrence(void)
{
    enum { T = 20, N = 5 };
    double u[T * N], h[N], W[N * N], v[T * N];
    for (int i = 0; i < T * N; i++) {
        u[i] = sin(3.7 * i);
        v[i] = cos(1.3 * i * i);
    }
    for (int i = 0; i < N * N; i++)
        W[i] = 0.4 * sin(0.9 + 2.1 * i);
    for (int i = 0; i < N; i++)
        h[i] = cos(2.0 * i);
    begin();
    ad_node *x[3] = {constant(la_mat_f64(u, T, N), "u"),
                     constant(la_vec_f64(h, N), "h0"),
                     constant(la_mat_f64(W, N, N), "W")};
    ad_node *x_dot[3] = {ad_constant(g, la_mat_f64(v, T, N)),
                         ad_constant(g, la_vec_f64(v, N)),
                         ad_constant(g, la_mat_f64(v, N, N))};
    ad_node *y = ad_out(ad_scan(&(ad_scan_spec){
                            .n_seq = 1, .n_carry = 1, .n_const = 1,
                            .seq = &x[0], .carry = &x[1], .constant = &x[2],
                            .step = step_recurrent}), 0);
    for (int k = 0; k < 3; k++) {
        ad_node *forward = NULL, *row;
        double   Jv[N];
        TEST_OK(ctx, ad_rop(&forward, &y, 1, &x[k], &x_dot[k], 1));
        for (int i = 0; i < N; i++) {
            double e[N] = {0};
            e[i] = 1;
            row = pull(y, ad_constant(g, la_vec_f64(e, N)), x[k]);
            Jv[i] = number(ad_dot(row, x_dot[k]));
        }
        check(forward, Jv, N, 1e-12);
    }
    end();
}

/* h' = tanh(x + c), c' = c x + 2 h: what enters as h and c differs. */
static covar_status step_two(ad_graph *body, ad_node *const *x, ad_node **out,
                             void *data)
{
    (void)body, (void)data;
    out[0] = ad_tanh(ad_add(x[0], x[2]));
    out[1] = ad_add(ad_mul(x[2], x[0]), ad_scale(x[1], 2));
    return COVAR_OK;
}

static void test_two_states(void)
{
    static const double x[] = {.5, -1, 2};
    begin();
    ad_node *seq = ad_constant(g, la_vec_f64(x, 3)), *d[2] = {NULL};
    ad_node *zero = ad_scalar(g, LA_F64, 0);
    ad_node *start[2] = {ad_name(zero, "h0"), ad_name(zero, "c0")};
    ad_node *y = ad_scan(&(ad_scan_spec){.n_seq = 1, .n_carry = 2,
                                         .seq = &seq, .carry = start,
                                         .step = step_two});
    TEST_OK(ctx, ad_grad(d, ad_out(y, 1), start, 2));
    /* c3 = 2 c2 + 2 h2; h2 = tanh(-1 + c1), c2 = -c1 + 2 h1, c1 = .5 c0 + 2 h0,
     * h1 = tanh(.5 + c0) */
    double t1 = tanh(.5), t2 = tanh(-1);
    double c1 = -2 + 2 * (1 - t2 * t2);
    TEST_CLOSE(number(d[0]), 2 * c1, 1e-14);
    TEST_CLOSE(number(d[1]), .5 * c1 + 4 * (1 - t1 * t1), 1e-14);
    end();
}

/* ---- A Gaussian process ------------------------------------------------- */

static void test_gaussian_process(void)
{
    static const double x[] = {-1.5, -0.3, 0.4, 1.1, 2.0};
    static const double y[] = {0.2, -0.7, 0.9, 1.3, -0.4};
    static const double slope[] = {-0.3952549659048943, -1.4851131634506631,
                                   -0.06819176590400942};
    static const double hessian[] = {
        -1.7589604484191734,  3.8500435348380977, -0.11250337718967161,
        3.8500435348380977,   -13.374680863931443, 0.143138770558586,
        -0.11250337718967161, 0.143138770558586, -0.052586065392579505};
    const double log_p[] = {log(1.3), log(0.8), log(0.05)};
    begin();
    ad_node *p = constant(la_vec_f64(log_p, 3), "p"), *e[3];
    for (size_t i = 0; i < 3; i++)
        e[i] = ad_exp(ad_squeeze(ad_slice(p, 0, ad_fixed(i), ad_fixed(1)), 0));
    ad_node *X = ad_div(ad_constant(g, la_mat_f64(x, 5, 1)), e[1]);
    ad_node *K = ad_mul(e[0], ad_exp(ad_scale(ad_sqdist(X, NULL), -0.5)));
    ad_dim   n = ad_fixed(5);
    ad_node *lml = ad_mvn_logpdf(ad_constant(g, la_vec_f64(y, 5)),
                                 ad_fill(g, LA_F64, 0, 1, &n),
                                 ad_add_diag(K, e[2]));
    TEST_CLOSE(number(lml), -6.43313143179418, 1e-12);
    ad_node *d = gradient(lml, p);
    check(d, slope, 3, 1e-10);
    check(ad_hessian(lml, p), hessian, 9, 1e-10);
    TEST_TEXT(ad_graph_error_text(g), "");
    end();
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
        {"polynomial by scan, three derivatives", test_polynomial},
        {"recurrence: R-op and Jacobian", test_recurrence},
        {"two zero states", test_two_states},
        {"Gaussian process: value, gradient, Hessian", test_gaussian_process},
    };
    return CUTAP_RUN("golden", cases);
}
