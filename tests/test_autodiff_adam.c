/* Adam as updates: against the algorithm written out, and its errors.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_autodiff.h"

#include <math.h>

enum { N = 3, STEPS = 50 };

/* f(p) = sum (p - c)^4 / 4 with slope (p - c)^3. */
static const double target[N] = {1, -2, 0.5};
static const double start[N] = {0.3, 0.4, -1};

static void reference(double *p, int steps)
{
    double m[N] = {0}, v[N] = {0};
    for (int t = 1; t <= steps; t++)
        for (int i = 0; i < N; i++) {
            double g = pow(p[i] - target[i], 3);
            m[i] = 0.9 * m[i] + 0.1 * g;
            v[i] = 0.99 * v[i] + 0.01 * g * g;
            double m_hat = m[i] / (1 - pow(0.9, t));
            double v_hat = v[i] / (1 - pow(0.99, t));
            p[i] -= 0.05 * m_hat / (sqrt(v_hat) + 1e-6);
        }
}

static void run_adam(la_dtype dtype, double tolerance)
{
    fixture f = fixture_create(false);
    float narrow[N] = {0.3f, 0.4f, -1};
    la_view init =
        dtype == LA_F64 ? la_vec_f64(start, N) : la_vec_f32(narrow, N);
    ad_node *p = ad_param(f.g, "p", init);
    ad_node *c = ad_cast(ad_constant(f.g, la_vec_f64(target, N)), dtype);
    ad_node *loss =
        ad_scale(ad_sum(ad_square(ad_square(ad_sub(p, c))), AD_ALL), 0.25);
    ad_slot slot[5];
    size_t n, done;
    ad_adam_options o = {
        .rate = 0.05, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-6};
    TEST_OK(f.ctx, ad_adam(slot, &n, loss, &p, 1, &o));
    TEST_INT(n, 4);
    slot[n] = (ad_slot)AD_OUT(loss);
    ad_program *program = NULL;
    ad_runner *r = NULL;
    TEST_OK(f.ctx,
            ad_compile(&program, f.g, &(ad_signature){n + 1, slot}, NULL));
    TEST_OK(f.ctx, ad_runner_create(&r, program, ad_graph_store(f.g), f.ctx));
    double value = 0, expected[N];
    float small = 0;
    la_view out =
        dtype == LA_F64 ? la_scalar_f64(&value) : la_scalar_f32(&small);
    TEST_OK(f.ctx, ad_run_many(r, STEPS, NULL, &out, &done));
    TEST_INT(done, STEPS);
    for (int i = 0; i < N; i++)
        expected[i] = start[i];
    reference(expected, STEPS);
    la_view now = ad_store_view(ad_graph_store(f.g), "p");
    for (size_t i = 0; i < N; i++)
        TEST_CLOSE(la_view_get(now, i), expected[i], tolerance);
    now = ad_store_view(ad_graph_store(f.g), "adam.step");
    TEST_CLOSE(la_view_get(now, 0), STEPS, 0);
    ad_runner_free(r);
    ad_program_free(program);
    fixture_free(&f);
}

static void test_f64(void)
{
    run_adam(LA_F64, 1e-12);
}

static void test_f32(void)
{
    run_adam(LA_F32, 1e-5);
}

static void test_errors(void)
{
    fixture f = fixture_create(false);
    ad_node *x = ad_input(f.g, "x", LA_F64, 0, NULL);
    ad_slot slot[4];
    size_t n;
    TEST_STATUS(f.ctx, ad_adam(slot, &n, ad_square(x), &x, 1, NULL),
                COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(f.ctx), "no parameter");
    ad_graph_clear_error(f.g);
    double one = 1;
    ad_node *p = ad_param(f.g, "p", la_scalar_f64(&one));
    TEST_STATUS(
        f.ctx,
        ad_adam(slot, &n, ad_square(p), &p, 1, &(ad_adam_options){.beta1 = 1}),
        COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(f.ctx), "beta1 1");
    TEST_STATUS(f.ctx, ad_adam(slot, &n, NULL, &p, 1, NULL), COVAR_POISONED);
    fixture_free(&f);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"f64 against the algorithm", test_f64},
        {"f32 against the algorithm", test_f32},
        {"errors", test_errors},
    };
    return CUTAP_RUN("adam", cases);
}
