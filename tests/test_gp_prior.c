/* Hyper-priors: densities, derivatives, which parameters have a term.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "golden_json.h"
#include "gp/gp_impl.h"
#include "test_util.h"

#include <math.h>

static const gp_prior gamma_3_6 = {GP_PRIOR_GAMMA, 3, 6};
static const gp_prior gamma_2_015 = {GP_PRIOR_GAMMA, 2, .15};
static const gp_prior lognormal_m4_1 = {GP_PRIOR_LOGNORMAL, -4, 1};

static void test_golden(void)
{
    golden *file = golden_open("gp_public.json");
    const golden *c = golden_case(file, "G18");
    const golden *e = golden_at(c, "expected/log_prior");
    double ell = golden_number(c, "inputs/ell");
    TEST_REL(gp_prior_log_density(gamma_3_6, ell),
             golden_number(e, "gamma_3_6_ell"), 1e-14);
    TEST_REL(gp_prior_log_density(gamma_2_015, golden_number(c, "inputs/sf2")),
             golden_number(e, "gamma_2_015_sf2"), 1e-14);
    TEST_REL(
        gp_prior_log_density(lognormal_m4_1, golden_number(c, "inputs/sn2")),
        golden_number(e, "lognormal_m4_1_sn2"), 1e-14);
    gp_prior scaled = {GP_PRIOR_LOGNORMAL, sqrt(2), sqrt(3)};
    TEST_REL(gp_prior_log_density(scaled, ell),
             golden_number(e, "lognormal_dimscaled_ell_d1"), 1e-14);
    golden_close(file);
}

static void test_support(void)
{
    CU_ASSERT(gp_prior_log_density(gamma_3_6, 0) == -INFINITY);
    CU_ASSERT(gp_prior_log_density(lognormal_m4_1, -1) == -INFINITY);
    CU_ASSERT(gp_prior_log_density((gp_prior){.kind = GP_PRIOR_FLAT}, 5) == 0);
    TEST_CLOSE(gp_prior_log_density((gp_prior){GP_PRIOR_NORMAL, 1, 2}, 1),
               -log(2 * sqrt(2 * M_PI)), 1e-15);
}

/* Derivatives against central differences, in logs and in values. */
static void test_derivatives(void)
{
    static const gp_prior priors[] = {{GP_PRIOR_GAMMA, 3, 6},
                                      {GP_PRIOR_LOGNORMAL, .3, .7},
                                      {GP_PRIOR_NORMAL, .4, 1.2},
                                      {GP_PRIOR_FLAT, 0, 0}};
    for (size_t i = 0; i < NELEM(priors); i++)
        for (int log = 0; log < 2; log++) {
            gp_param q = {.log = log, .prior = priors[i], .tie = -1};
            gp_params p = {.param = &q, .n = 1};
            const double h = 1e-4, at = .8;
            double free = at, g = 0, s = 0, f[3], slope[2] = {0, 0};
            gp_prior_sum(&p, &free, &g, &s);
            for (int k = -1; k <= 1; k++) {
                free = at + k * h;
                f[k + 1] = gp_prior_sum(&p, &free, NULL, NULL);
                if (k != 0)
                    gp_prior_sum(&p, &free, &slope[k > 0], NULL);
            }
            TEST_CLOSE(g, (f[2] - f[0]) / (2 * h), 1e-7);
            TEST_CLOSE(s, (slope[1] - slope[0]) / (2 * h), 1e-7);
        }
}

/* Sums add to what is there; fixed, dropped and tied ones have no term. */
static void test_who_has_a_term(void)
{
    gp_param q[4];
    double free[4] = {.1, .2, .3, .4}, g[4] = {1, 1, 1, 1};
    for (int i = 0; i < 4; i++)
        q[i] = (gp_param){.log = true, .prior = gamma_3_6, .tie = -1};
    q[1].fixed = true;
    q[2].dropped = true;
    q[3].tie = 0;
    gp_params p = {.param = q, .n = 4};
    TEST_CLOSE(gp_prior_sum(&p, free, g, NULL),
               gp_prior_log_density(gamma_3_6, exp(.1)), 1e-15);
    TEST_CLOSE(g[0], 1 + 2 - 6 * exp(.1), 1e-14);
    for (int i = 1; i < 4; i++)
        TEST_CLOSE(g[i], 1, 0);
}

/* The defaults of a table are stated for conditioned values. */
static void test_defaults(void)
{
    covar_context *ctx = test_context();
    const double X[] = {0, 0, 2, 50, 4, 100}, y[] = {1, 3, 8};
    gp_options o = gp_options_default();
    gp_kernel *k = NULL;
    gp_data *data = NULL;
    gp_params p = {.heap = NULL};
    TEST_OK(ctx, gp_kernel_parse(&k, ctx, "rbf(ard)"));
    TEST_OK(ctx, gp_data_create(&data, ctx, la_mat_f64(X, 3, 2),
                                la_vec_f64(y, 3), &o));
    TEST_OK(ctx, gp_params_create(&p, ctx, k, data, &o));
    TEST_INT(p.n, 4);
    double sd = data->y_sd[0], column = sqrt(8.0 / 3);
    const gp_prior expected[] = {
        {GP_PRIOR_LOGNORMAL, 2 * log(sd), 1},
        {GP_PRIOR_LOGNORMAL, sqrt(2) + log(2) / 2 + log(column), sqrt(3)},
        {GP_PRIOR_LOGNORMAL, sqrt(2) + log(2) / 2 + log(25 * column), sqrt(3)},
        {GP_PRIOR_LOGNORMAL, -4 + 2 * log(sd), 1}};
    for (size_t i = 0; i < p.n; i++) {
        TEST_INT(p.param[i].prior.kind, expected[i].kind);
        TEST_CLOSE(p.param[i].prior.a, expected[i].a, 1e-14);
        TEST_CLOSE(p.param[i].prior.b, expected[i].b, 1e-14);
    }
    gp_params_clear(&p);
    gp_data_free(data);
    gp_kernel_free(k);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden G18", test_golden},
        {"support", test_support},
        {"derivatives", test_derivatives},
        {"who has a term", test_who_has_a_term},
        {"defaults", test_defaults},
    };
    return CUTAP_RUN("gp_prior", cases);
}
