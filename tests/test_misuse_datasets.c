/* What the verbs of data sets do with arguments that make no sense: a status
 * and a sentence, never a crash.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <covar/dataset.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_util.h"

static void test_nothing(void)
{
    CU_ASSERT(1);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"nothing", test_nothing},
    };
    return CUTAP_RUN("misuse_datasets", cases);
}
