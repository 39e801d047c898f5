/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <covar/status.h>
#include "test_util.h"

#include <string.h>

static void test_golden(void)
{
    TEST_INT(COVAR_OK, 0);
    TEST_TEXT(covar_status_text(COVAR_OK), "success");
    TEST_TEXT(covar_status_name(COVAR_OK), "COVAR_OK");
    TEST_TEXT(covar_status_text(COVAR_ERR_NOMEM), "out of memory");
    TEST_TEXT(covar_status_name(COVAR_CANCELLED), "COVAR_CANCELLED");
}

static void test_all_distinct(void)
{
    for (int i = 0; i < COVAR_STATUS_COUNT; i++) {
        const char *name = covar_status_name((covar_status)i);
        CU_ASSERT(strncmp(name, "COVAR_", 6) == 0);
        CU_ASSERT(strlen(covar_status_text((covar_status)i)) > 0);
        for (int j = 0; j < i; j++) {
            covar_status other = (covar_status)j;
            CU_ASSERT(strcmp(name, covar_status_name(other)) != 0);
            CU_ASSERT(strcmp(covar_status_text((covar_status)i),
                             covar_status_text(other)) != 0);
        }
    }
}

static void test_outside(void)
{
    covar_status past = COVAR_STATUS_COUNT;
    TEST_TEXT(covar_status_text(past), "unknown status");
    TEST_TEXT(covar_status_name(past), "COVAR_UNKNOWN");
}

int main(void)
{
    static const cutap_case cases[] = {
        {"golden", test_golden},
        {"all distinct", test_all_distinct},
        {"outside the list", test_outside},
    };
    return CUTAP_RUN("status", cases);
}
