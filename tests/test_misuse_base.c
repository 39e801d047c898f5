/* Misuse of the base: NULL for everything that is a pointer.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_util.h"

#include <covar/covar.h>
#include <covar/rng.h>

#include <math.h>

static void test_null_context(void)
{
    covar_progress p = {.task = "t"};
    covar_context_free(NULL);
    covar_error_clear(NULL);
    covar_context_set_threads(NULL, 3);
    covar_context_set_isa(NULL, COVAR_ISA_V3);
    covar_context_set_log(NULL, NULL, NULL);
    covar_context_set_progress(NULL, NULL, NULL);
    covar_log(NULL, COVAR_LOG_INFO, "%d", 1);
    covar_cancel(NULL);
    covar_cancel_clear(NULL);
    TEST_TEXT(covar_error_text(NULL), "no context");
    TEST_INT(covar_error_status(NULL), COVAR_OK);
    TEST_INT(covar_context_threads(NULL), 1);
    TEST_INT(covar_context_isa(NULL), COVAR_ISA_BASELINE);
    TEST_INT(covar_report_progress(NULL, &p), COVAR_OK);
    TEST_INT(covar_fail(NULL, COVAR_ERR_ARG, "x"), COVAR_ERR_ARG);
    TEST_INT(covar_fail_in(NULL, "f"), COVAR_OK);
    CU_ASSERT_FALSE(covar_cancelled(NULL));
}

static bool go_on(const covar_progress *progress, void *data)
{
    (void)progress;
    (void)data;
    return true;
}

static void test_null_arguments(void)
{
    covar_context *ctx = covar_context_create_with(NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ctx);
    TEST_INT(covar_fail(ctx, COVAR_ERR_ARG, NULL), COVAR_ERR_ARG);
    TEST_INT(covar_fail(ctx, COVAR_ERR_DATA, "%s", "f"), COVAR_ERR_DATA);
    TEST_INT(covar_fail_in(ctx, NULL), COVAR_ERR_DATA);
    TEST_TEXT(covar_error_text(ctx), ": f");
    covar_log(ctx, COVAR_LOG_INFO, NULL);
    TEST_INT(covar_report_progress(ctx, NULL), COVAR_OK);
    covar_context_set_progress(ctx, go_on, NULL);
    TEST_INT(covar_report_progress(ctx, NULL), COVAR_OK);
    covar_context_free(ctx);
}

static void test_numbers_out_of_range(void)
{
    covar_context *ctx = covar_context_create();
    TEST_TEXT(covar_status_text((covar_status)99), "unknown status");
    TEST_TEXT(covar_status_text((covar_status)-1), "unknown status");
    CU_ASSERT_PTR_NOT_NULL(covar_status_name((covar_status)-1));
    TEST_TEXT(covar_isa_name((covar_isa)-7), "unknown");
    TEST_TEXT(covar_isa_name((covar_isa)70), "unknown");
    covar_context_set_isa(ctx, (covar_isa)70);
    CU_ASSERT(covar_context_isa(ctx) >= COVAR_ISA_BASELINE &&
              covar_context_isa(ctx) <= COVAR_ISA_V4);
    covar_context_set_isa(ctx, (covar_isa)-70);
    CU_ASSERT(covar_context_isa(ctx) >= COVAR_ISA_BASELINE &&
              covar_context_isa(ctx) <= COVAR_ISA_V4);
    CU_ASSERT_PTR_NOT_NULL(covar_version());
    covar_context_free(ctx);
}

static void test_random(void)
{
    covar_rng rng = covar_rng_init(1, 2);
    double x = 7;
    size_t order;
    uint64_t work;
    covar_philox(NULL, 1, 2, 3);
    covar_rng_uniform(NULL, 5, &rng);
    covar_rng_uniform(&x, 1, NULL);
    covar_rng_uniform(&x, 0, &rng);
    covar_rng_normal(NULL, 5, &rng);
    covar_rng_normal(&x, 1, NULL);
    covar_rng_normal(&x, 0, &rng);
    covar_rng_permutation(NULL, &work, 1, &rng);
    covar_rng_permutation(&order, NULL, 1, &rng);
    covar_rng_permutation(&order, &work, 1, NULL);
    covar_rng_permutation(&order, &work, 0, &rng);
    TEST_CLOSE(x, 7, 0);
    TEST_INT(rng.index, 0);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"no context", test_null_context},
        {"NULL arguments", test_null_arguments},
        {"numbers out of range", test_numbers_out_of_range},
        {"random numbers", test_random},
    };
    return CUTAP_RUN("misuse base", cases);
}
