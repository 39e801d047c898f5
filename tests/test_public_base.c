/* The base through the public library alone.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <covar/covar.h>
#include "test_util.h"

#include <stdio.h>

static void test_version(void)
{
    TEST_TEXT(COVAR_VERSION, PACKAGE_VERSION);
    TEST_TEXT(covar_version(), PACKAGE_VERSION);
    char text[32];
    snprintf(text, sizeof(text), "%d.%d.%d", COVAR_VERSION_MAJOR,
             COVAR_VERSION_MINOR, COVAR_VERSION_PATCH);
    TEST_TEXT(text, COVAR_VERSION);
}

static void test_round_trip(void)
{
    covar_context *ctx = covar_context_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(ctx);
    covar_rng rng = covar_rng_init(1, 1);
    double z[3];
    covar_rng_normal(z, 3, &rng);
    TEST_STATUS(ctx, covar_fail(ctx, COVAR_ERR_DATA, "n = %d", 3),
                COVAR_ERR_DATA);
    TEST_TEXT(covar_error_text(ctx), "n = 3");
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"version", test_version},
        {"round trip", test_round_trip},
    };
    return CUTAP_RUN("public_base", cases);
}
