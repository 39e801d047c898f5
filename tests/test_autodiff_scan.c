/* Scan: loops and their derivatives.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "eager.h"

#include <math.h>

/* Carries: x^i and the sum so far. */
static covar_status step_power(ad_graph *body, ad_node *const *x, ad_node **out,
                               void *data)
{
    (void)body, (void)data;
    out[0] = ad_mul(x[1], x[3]);
    out[1] = ad_add(x[2], ad_mul(x[0], x[1]));
    return COVAR_OK;
}

static void test_polynomial(void)
{
    static const double c[] = {1, 2, -3, 4};
    eager_begin();
    ad_node *seq = ad_constant(eager_g, la_vec_f64(c, 4));
    ad_node *x = ad_name(ad_scalar(eager_g, LA_F64, 2), "x");
    ad_node *carry[2] = {ad_scalar(eager_g, LA_F64, 1),
                         ad_scalar(eager_g, LA_F64, 0)};
    ad_node *y = ad_scan(&(ad_scan_spec){.n_seq = 1,
                                         .n_carry = 2,
                                         .n_const = 1,
                                         .seq = &seq,
                                         .carry = carry,
                                         .constant = &x,
                                         .step = step_power});
    ad_node *P = ad_out(y, 1);
    ad_node *dP = eager_gradient(P, x);
    ad_node *d2P = eager_gradient(dP, x);
    TEST_CLOSE(eager_number(P), 25, 1e-15);
    TEST_CLOSE(eager_number(dP), 38, 1e-15);
    TEST_CLOSE(eager_number(d2P), 42, 1e-15);
    TEST_CLOSE(eager_number(eager_gradient(d2P, x)), 24, 1e-15);
    TEST_TEXT(ad_graph_error_text(eager_g), "");
    eager_end();
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
    eager_begin();
    ad_node *x[3] = {eager_constant(la_mat_f64(u, T, N), "u"),
                     eager_constant(la_vec_f64(h, N), "h0"),
                     eager_constant(la_mat_f64(W, N, N), "W")};
    ad_node *x_dot[3] = {ad_constant(eager_g, la_mat_f64(v, T, N)),
                         ad_constant(eager_g, la_vec_f64(v, N)),
                         ad_constant(eager_g, la_mat_f64(v, N, N))};
    ad_node *y = ad_out(ad_scan(&(ad_scan_spec){.n_seq = 1,
                                                .n_carry = 1,
                                                .n_const = 1,
                                                .seq = &x[0],
                                                .carry = &x[1],
                                                .constant = &x[2],
                                                .step = step_recurrent}),
                        0);
    for (int k = 0; k < 3; k++) {
        ad_node *forward = NULL, *row;
        double Jv[N];
        TEST_OK(eager_ctx, ad_rop(&forward, &y, 1, &x[k], &x_dot[k], 1));
        for (int i = 0; i < N; i++) {
            double e[N] = {0};
            e[i] = 1;
            row = eager_pull(y, ad_constant(eager_g, la_vec_f64(e, N)), x[k]);
            Jv[i] = eager_number(ad_dot(row, x_dot[k]));
        }
        eager_check(forward, Jv, N, 1e-12);
    }
    eager_end();
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
    eager_begin();
    ad_node *seq = ad_constant(eager_g, la_vec_f64(x, 3)), *d[2] = {NULL};
    ad_node *zero = ad_scalar(eager_g, LA_F64, 0);
    ad_node *start[2] = {ad_name(zero, "h0"), ad_name(zero, "c0")};
    ad_node *y = ad_scan(&(ad_scan_spec){.n_seq = 1,
                                         .n_carry = 2,
                                         .seq = &seq,
                                         .carry = start,
                                         .step = step_two});
    TEST_OK(eager_ctx, ad_grad(d, ad_out(y, 1), start, 2));
    /* c3 = 2 c2 + 2 h2; h2 = tanh(-1 + c1), c2 = -c1 + 2 h1, c1 = .5 c0 + 2 h0,
     * h1 = tanh(.5 + c0) */
    double t1 = tanh(.5), t2 = tanh(-1);
    double c1 = -2 + 2 * (1 - t2 * t2);
    TEST_CLOSE(eager_number(d[0]), 2 * c1, 1e-14);
    TEST_CLOSE(eager_number(d[1]), .5 * c1 + 4 * (1 - t1 * t1), 1e-14);
    eager_end();
}

/* c' = c w + x with w of the graph around. */
static covar_status step_outer(ad_graph *body, ad_node *const *x, ad_node **out,
                               void *data)
{
    ad_node *const *w = data;
    (void)body;
    out[0] = ad_add(ad_mul(x[1], *w), x[0]);
    return COVAR_OK;
}

static void test_outer_node(void)
{
    static const double x[] = {1, 2, 3};
    eager_begin();
    ad_node *seq = ad_constant(eager_g, la_vec_f64(x, 3));
    ad_node *zero = ad_scalar(eager_g, LA_F64, 0);
    ad_node *w = ad_name(ad_scalar(eager_g, LA_F64, 2), "w");
    ad_node *y = ad_scan(&(ad_scan_spec){.n_seq = 1,
                                         .n_carry = 1,
                                         .seq = &seq,
                                         .carry = &zero,
                                         .step = step_outer,
                                         .data = &w});
    ad_node *c = ad_out(y, 0); /* w^2 + 2 w + 3 */
    TEST_CLOSE(eager_number(c), 11, 1e-15);
    ad_node *d = eager_gradient(c, w);
    TEST_CLOSE(eager_number(d), 6, 1e-15);
    TEST_CLOSE(eager_number(eager_gradient(d, w)), 2, 1e-15);
    eager_end();
}

static covar_status step_widen(ad_graph *body, ad_node *const *x, ad_node **out,
                               void *data)
{
    (void)body, (void)data;
    out[0] = ad_expand(x[1], 0);
    return COVAR_OK;
}

static covar_status step_refuse(ad_graph *body, ad_node *const *x,
                                ad_node **out, void *data)
{
    (void)body, (void)x, (void)out, (void)data;
    return COVAR_ERR_DATA;
}

static void test_errors(void)
{
    static const double x[] = {1, 2, 3};
    eager_begin();
    ad_node *seq[2] = {ad_constant(eager_g, la_vec_f64(x, 3)),
                       ad_constant(eager_g, la_vec_f64(x, 2))};
    ad_node *zero = ad_scalar(eager_g, LA_F64, 0);
    ad_scan_spec s = {.n_seq = 1,
                      .n_carry = 1,
                      .seq = seq,
                      .carry = &zero,
                      .step = step_widen};
    TEST_INT(ad_scan(&s) == NULL, 1);
    TEST_CONTAINS(ad_graph_error_text(eager_g), "carry 0 begins as");
    ad_graph_clear_error(eager_g);
    s.n_seq = 2;
    TEST_INT(ad_scan(&s) == NULL, 1);
    TEST_CONTAINS(ad_graph_error_text(eager_g), "lengths differ");
    ad_graph_clear_error(eager_g);
    s.n_seq = 1;
    s.step = step_refuse;
    TEST_INT(ad_scan(&s) == NULL, 1);
    TEST_CONTAINS(ad_graph_error_text(eager_g), "step function failed");
    ad_graph_clear_error(eager_g);
    s.seq = &zero;
    TEST_INT(ad_scan(&s) == NULL, 1);
    TEST_CONTAINS(ad_graph_error_text(eager_g), "no steps");
    eager_end();
}

int main(void)
{
    static const cutap_case cases[] = {
        {"polynomial by scan, three derivatives", test_polynomial},
        {"recurrence: R-op and Jacobian", test_recurrence},
        {"two zero states", test_two_states},
        {"a node of the graph around", test_outer_node},
        {"errors", test_errors},
    };
    return CUTAP_RUN("scan", cases);
}
