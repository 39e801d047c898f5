/* Reference optima on real data (skipped where the data are not there).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "gp/gp_impl.h"
#include "test_gp.h"
#include "test_util.h"

#include <math.h>

#include <covar/dataset.h>

/* The views point into the data set, which the caller frees. */
static dataset *load(dataset_xy *xy, covar_context *ctx, const char *path)
{
    dataset *d = NULL;
    *xy = (dataset_xy){.n = 0};
    TEST_OK(ctx, dataset_load(&d, ctx, path));
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    TEST_OK(ctx, dataset_select(xy, ctx, d, NULL, NULL));
    return d;
}

static void test_snelson(void)
{
    static const struct {
        const char *word;
        double lml;
    } rows[] = {{"rbf", -55.90027669},
                {"matern12", -68.30588481},
                {"matern32", -60.57398881},
                {"matern52", -58.55545556}};
    char path[1024];
    TEST_SHARED(path, "data/snelson.h5");
    covar_context *ctx = test_context();
    dataset_xy xy;
    dataset *d = load(&xy, ctx, path);
    for (size_t i = 0; i < NELEM(rows); i++) {
        gp_options o = gp_options_of(ctx, rows[i].word);
        o.mean = GP_MEAN_ZERO;
        o.standardise = GP_STANDARDISE_NONE;
        o.restarts = -1;
        gp_model *m = NULL;
        gp_report r;
        TEST_OK(ctx, gp_fit(&m, ctx, xy.X, xy.y, &o, &r));
        TEST_CLOSE(r.lml, rows[i].lml, 1e-9);
        TEST_TEXT(r.restart[0].start, "short");
        cutap_note("snelson %s: %.8f, %zu evaluations, %.3f s", rows[i].word,
                   r.lml, r.evaluations, r.seconds);
        if (i == 0) {
            TEST_CLOSE(gp_value(m, ctx, "variance"), .76916363, 1e-5);
            TEST_CLOSE(gp_value(m, ctx, "lengthscale"), .61234257, 1e-5);
            TEST_CLOSE(gp_value(m, ctx, "noise_variance"), .07964713, 1e-5);
        }
        gp_model_free(m);
        gp_options_done(&o);
    }
    dataset_xy_clear(&xy);
    dataset_free(d);
    covar_context_free(ctx);
}

static const char co2_kernel[] =
    "4356*rbf(lengthscale=67)"
    " + 5.76*rbf(lengthscale=90)*periodic(lengthscale=1.3,period:=1)"
    " + 0.4356*rq(lengthscale=1.2,alpha=0.78)"
    " + 0.0324*rbf(lengthscale=0.134)";

static void test_co2(void)
{
    char path[1024];
    TEST_SHARED(path, "data/co2_r.h5");
    covar_context *ctx = test_context();
    dataset_xy xy;
    dataset *d = load(&xy, ctx, path);
    for (int fit = 0; fit < 2; fit++) {
        gp_options o = gp_options_of(ctx, co2_kernel);
        o.mean = GP_MEAN_ZERO;
        o.standardise = GP_STANDARDISE_Y;
        o.restarts = -1;
        o.no_fit = !fit;
        gp_options_start(&o, "noise_variance", .0361);
        gp_model *m = NULL;
        gp_report r;
        TEST_OK(ctx, gp_fit(&m, ctx, xy.X, xy.y, &o, &r));
        TEST_CLOSE(r.lml, fit ? -83.213816 : -87.033511, fit ? 1e-6 : 1e-8);
        TEST_CLOSE(gp_value(m, ctx, "1.1.period"), 1, 0);
        cutap_note("co2: %.8f, %zu evaluations, %.3f s", r.lml, r.evaluations,
                   r.seconds);
        gp_model_free(m);
        gp_options_done(&o);
    }
    dataset_xy_clear(&xy);
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_mcycle(void)
{
    static const struct {
        const char *kernel;
        double lml;
    } rows[] = {{"2500*rbf(lengthscale=5)", -623.34963326210937},
                {"2500*matern32(lengthscale=5)", -628.18644357310511},
                {"2500*matern52(lengthscale=5)", -626.18803294816937}};
    char path[1024];
    TEST_SHARED(path, "data/mcycle.h5");
    covar_context *ctx = test_context();
    dataset_xy xy;
    dataset *d = load(&xy, ctx, path);
    for (size_t i = 0; i < NELEM(rows); i++) {
        gp_options o = gp_options_of(ctx, rows[i].kernel);
        o.mean = GP_MEAN_ZERO;
        o.standardise = GP_STANDARDISE_NONE;
        o.no_fit = true;
        gp_options_start(&o, "noise_variance", 400);
        gp_model *m = NULL;
        gp_report r;
        TEST_OK(ctx, gp_fit(&m, ctx, xy.X, xy.y, &o, &r));
        TEST_REL(r.lml, rows[i].lml, 1e-13);
        CU_ASSERT(r.notes & GP_NOTE_DUPLICATE_ROWS);
        gp_model_free(m);
        gp_options_done(&o);
    }
    dataset_xy_clear(&xy);
    dataset_free(d);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"snelson", test_snelson},
        {"co2", test_co2},
        {"mcycle", test_mcycle},
    };
    return CUTAP_RUN("gp_reference", cases);
}
