/* gp_fit: starts, settings, budgets, reports, refits.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "gp/gp_impl.h"
#include "test_gp.h"
#include "test_util.h"

#include <covar/rng.h>
#include <math.h>

/* ---- Starts and reports ------------------------------------------------- */

static void test_default_options(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), NULL, &r));
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    TEST_INT(r.n, SERIES_N);
    TEST_INT(r.d, 1);
    TEST_INT(r.n_restarts, 5);
    TEST_TEXT(r.restart[0].start, "short");
    TEST_TEXT(r.restart[1].start, "long");
    TEST_CONTAINS(r.restart[2].start, "sobol ");
    double best = -INFINITY;
    for (size_t i = 0; i < r.n_restarts; i++)
        best = fmax(best, r.restart[i].objective);
    TEST_CLOSE(r.objective, best, 1e-10);
    TEST_CLOSE(r.lml, r.objective, 0);
    TEST_CLOSE(r.lml_standardised, r.lml + SERIES_N * log(r.y_sd), 1e-13);
    CU_ASSERT(r.evaluations > 32 && r.iterations > 5 && r.peak_bytes > 0);
    CU_ASSERT(r.rcond > 0 && r.seconds > 0);
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT(fabs(gp_param_gradient(m, i)) < 1e-3);
    gp_model_free(m);
    covar_context_free(ctx);
}

/* Equal bits for equal threads and for other threads; another seed spreads
 * other starts. */
static void test_deterministic(void)
{
    series s = series_make();
    double value[3][3];
    for (int k = 0; k < 3; k++) {
        covar_context *ctx = test_context();
        covar_context_set_threads(ctx, k == 1 ? 2 : 1);
        gp_options o = gp_options_default();
        o.restarts = 1;
        gp_model *m = NULL;
        TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL));
        for (size_t i = 0; i < 3; i++)
            value[k][i] = gp_param_value(m, i);
        gp_model_free(m);
        covar_context_free(ctx);
    }
    TEST_SAME_BITS(value[2], value[0], 3, sizeof(double));
    TEST_CLOSE_ARRAY(value[1], value[0], 3, 1e-12);
}

static void test_given_start(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_of(ctx, "0.7*rbf(lengthscale=1)");
    o.restarts = -1;
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    TEST_INT(r.n_restarts, 1);
    TEST_TEXT(r.restart[0].start, "given");
    gp_model_free(m);
    o.restarts = 1;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    TEST_INT(r.n_restarts, 4);
    TEST_TEXT(r.restart[1].start, "short");
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* Fixed values keep their bits, ties are equal, bounds hold and are noted. */
static void test_settings(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_of(ctx, "rbf + matern32");
    o.restarts = -1;
    gp_options_fix(&o, "noise_variance", .04);
    gp_options_tie(&o, "1.lengthscale", "0.lengthscale");
    gp_options_bounds(&o, "0.lengthscale", .1, .3);
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    TEST_CLOSE(gp_value(m, ctx, "noise_variance"), .04, 0);
    TEST_CLOSE(gp_value(m, ctx, "0.lengthscale"), .3, 1e-12);
    TEST_CLOSE(gp_value(m, ctx, "1.lengthscale"), .3, 1e-12);
    CU_ASSERT(r.notes & GP_NOTE_AT_BOUND);
    CU_ASSERT_FALSE(r.notes & GP_NOTE_NOISE_FLOOR);
    CU_ASSERT(isfinite(gp_param_gradient(m, 4)));
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* More than 1000 rows: starts are compared on a subset. */
static void test_subset(void)
{
    enum { BIG = 1005 };
    static double x[BIG], y[BIG];
    for (size_t i = 0; i < BIG; i++) {
        x[i] = (double)i / 100;
        y[i] = sin(x[i]) + .3 * cos(37.0 * (double)(i * i % 1009));
    }
    covar_context *ctx = test_context();
    gp_options o = gp_options_of(ctx, "rbf");
    o.restarts = 1;
    o.max_iterations = 2;
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx,
            gp_fit(&m, ctx, la_mat_f64(x, BIG, 1), la_vec_f64(y, BIG), &o, &r));
    CU_ASSERT(r.notes & GP_NOTE_SUBSET);
    TEST_INT(r.subset_rows, 1000);
    TEST_INT(r.n, BIG);
    TEST_INT(r.n_restarts, 4);
    TEST_TEXT(r.restart[3].start, "all rows");
    TEST_CLOSE(r.restart[3].objective, r.lml, 1e-9);
    cutap_note("%d rows: %zu evaluations, %.3f s", BIG, r.evaluations,
               r.seconds);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* A path without noise: on all rows the winner's start is tried too. */
static void test_subset_without_noise(void)
{
    enum { BIG = 1003 };
    static double x[BIG], y[BIG];
    covar_rng rng = covar_rng_init(3, 0);
    covar_rng_normal(y, BIG, &rng);
    for (size_t i = 0; i < BIG; i++) {
        x[i] = (double)i / 100;
        y[i] = (i > 0 ? .99 * y[i - 1] : 0) + .14 * y[i];
    }
    covar_context *ctx = test_context();
    gp_options o = gp_options_of(ctx, "matern12(lengthscale=1)");
    gp_options_start(&o, "noise_variance", 1e-4);
    gp_options_bounds(&o, "noise_variance", 1e-4, 1.001e-4);
    o.restarts = 1;
    o.max_iterations = 2;
    gp_model *m = NULL;
    gp_report r;
    TEST_OK(ctx,
            gp_fit(&m, ctx, la_mat_f64(x, BIG, 1), la_vec_f64(y, BIG), &o, &r));
    CU_ASSERT(r.noise_at_floor);
    TEST_INT(r.n_restarts, 6);
    TEST_TEXT(r.restart[4].start, "all rows");
    TEST_TEXT(r.restart[5].start, "all rows, from the start");
    TEST_CLOSE(r.lml, fmax(r.restart[4].objective, r.restart[5].objective),
               1e-9);
    gp_model_free(m);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* ---- Budgets ------------------------------------------------------------ */

static bool refuse_after(const covar_progress *p, void *data)
{
    size_t *left = data;
    (void)p;
    return (*left)-- > 1;
}

static void test_budgets(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_default();
    gp_model *m = NULL;
    gp_report r;
    o.restarts = -1;
    o.max_iterations = 2;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    CU_ASSERT(r.notes & GP_NOTE_MAX_ITER);
    TEST_TEXT(r.reason, "max_iterations");
    gp_model_free(m);

    o.max_iterations = 0;
    o.max_seconds = 1e-9;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    CU_ASSERT(r.notes & GP_NOTE_MAX_TIME);
    TEST_TEXT(r.reason, "max_seconds");
    gp_model_free(m);

    o.max_seconds = 0;
    o.restarts = 0;
    for (size_t calls = 1; calls < 40; calls += 13) {
        size_t left = calls;
        covar_context_set_progress(ctx, refuse_after, &left);
        TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
        CU_ASSERT(r.notes & GP_NOTE_CANCELLED);
        TEST_TEXT(r.reason, "cancelled");
        CU_ASSERT(isfinite(r.lml));
        gp_model_free(m);
    }
    covar_context_set_progress(ctx, NULL, NULL);

    covar_cancel(ctx);
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    CU_ASSERT(r.notes & GP_NOTE_CANCELLED);
    covar_cancel_clear(ctx);
    gp_model_free(m);
    covar_context_free(ctx);
}

static void test_memory(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_default();
    gp_model *m = NULL;
    o.max_bytes = 2000;
    TEST_STATUS(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, NULL),
                COVAR_ERR_NOMEM);
    CU_ASSERT_PTR_NULL(m);
    TEST_CONTAINS(covar_error_text(ctx), "20 rows");
    TEST_CONTAINS(covar_error_text(ctx), "max_bytes is 2000");
    double f64 = (double)gp_bytes_needed(10000, 8, NULL);
    o.dtype = LA_F32;
    double f32 = (double)gp_bytes_needed(10000, 8, &o);
    CU_ASSERT(f64 >= 8e8 && f64 <= 2.3 * 8e8 + 1e7);
    CU_ASSERT(f32 >= .45 * f64 && f32 <= .55 * f64);
    covar_context_free(ctx);
}

static void test_refit(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_options o = gp_options_of(ctx, "rbf");
    gp_model *m = NULL, *again = NULL;
    gp_report r, r2;
    o.restarts = -1;
    TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r));
    TEST_OK(ctx, gp_refit(&again, m, ctx, NULL, &r2));
    TEST_CLOSE(r2.lml, r.lml, 1e-9);
    TEST_TEXT(r2.restart[0].start, "given");
    CU_ASSERT(r2.evaluations < r.evaluations);
    gp_model_free(again);
    gp_options fewer = gp_options_default();
    gp_options_fix(&fewer, "noise_variance", .5);
    fewer.restarts = -1;
    TEST_OK(ctx, gp_refit(&again, m, ctx, &fewer, &r2));
    TEST_CLOSE(gp_value(again, ctx, "noise_variance"), .5, 0);
    CU_ASSERT(r2.lml < r.lml);
    gp_model_free(again);
    gp_model_free(m);
    gp_options_clear(&fewer);
    gp_options_done(&o);
    covar_context_free(ctx);
}

/* MAP and LOO have optima of their own; f32 finds the f64 one. */
static void test_objectives(void)
{
    covar_context *ctx = test_context();
    series s = series_make();
    gp_report r[4];
    for (int k = 0; k < 4; k++) {
        gp_options o = gp_options_of(ctx, "rbf");
        o.restarts = -1;
        o.objective = k == 1 ? GP_MAP : k == 2 ? GP_LOO : GP_ML;
        o.dtype = k == 3 ? LA_F32 : LA_F64;
        gp_model *m = NULL;
        TEST_OK(ctx, gp_fit(&m, ctx, series_x(&s), series_y(&s), &o, &r[k]));
        gp_model_free(m);
        gp_options_done(&o);
    }
    CU_ASSERT(r[1].lml < r[0].lml && r[2].lml < r[0].lml);
    CU_ASSERT(fabs(r[1].objective - r[1].lml) > .1);
    TEST_CLOSE(r[3].lml, r[0].lml, 1e-4);
    covar_context_free(ctx);
}

static covar_status small_fit(covar_context *ctx, void *nothing)
{
    (void)nothing;
    series s = series_make();
    gp_options o = gp_options_default();
    o.restarts = -1;
    o.max_iterations = 2;
    gp_model *m = NULL;
    covar_status status =
        gp_fit(&m, ctx, la_mat_f64(s.x, 6, 1), la_vec_f64(s.y, 6), &o, NULL);
    gp_model_free(m);
    return status;
}

static void test_allocation_failures(void)
{
    test_allocation_sweep("gp_fit", small_fit, NULL);
}

static void test_note_names(void)
{
    TEST_TEXT(gp_note_name(0), "JITTER");
    TEST_TEXT(gp_note_name(10), "SUBSET");
    TEST_TEXT(gp_note_name(GP_NOTE_COUNT), "");
}

int main(void)
{
    static const cutap_case cases[] = {
        {"default options", test_default_options},
        {"deterministic", test_deterministic},
        {"given start", test_given_start},
        {"settings", test_settings},
        {"subset", test_subset},
        {"subset without noise", test_subset_without_noise},
        {"budgets", test_budgets},
        {"memory", test_memory},
        {"refit", test_refit},
        {"objectives", test_objectives},
        {"allocation failures", test_allocation_failures},
        {"note names", test_note_names},
    };
    return CUTAP_RUN("gp_fit", cases);
}
