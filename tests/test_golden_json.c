/* The reader of golden values itself.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "golden_json.h"
#include "test_util.h"

#include <math.h>

static void test_small_text(void)
{
    static const char text[] =
        "{\"a\": [[1, -2.5e3], [3, null]], \"s\": \"x \\\"y\\\"\",\n"
        " \"o\": {\"p\": true, \"q\": []}}";
    golden *v = golden_parse(text, "text");
    CU_ASSERT_PTR_NOT_NULL_FATAL(v);
    double a[4];
    TEST_INT(golden_numbers(v, "a", a, 4), 4);
    TEST_CLOSE(a[1], -2500, 0);
    CU_ASSERT(isnan(a[3]));
    TEST_CLOSE(golden_number(v, "a/1/0"), 3, 0);
    TEST_TEXT(golden_text(v, "s"), "x \"y\"");
    TEST_CLOSE(golden_number(v, "o/p"), 1, 0);
    TEST_INT(golden_length(v, "o/q"), 0);
    TEST_INT(golden_length(v, "o"), 2);
    TEST_TEXT(golden_name(v, "o", 1), "q");
    CU_ASSERT_FALSE(golden_has(v, "o/r"));
    CU_ASSERT_FALSE(golden_has(v, "a/2"));
    golden_close(v);
}

static void test_cases_of_gp(void)
{
    golden *file = golden_open("gp_public.json");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    const golden *c = golden_case(file, "G01");
    TEST_CLOSE(golden_number(c, "expected/lml"), -6.43313143179418, 1e-15);
    double h[9];
    TEST_INT(golden_numbers(c, "expected/hessian_log_params", h, 9), 9);
    TEST_CLOSE(h[4], -13.374680863931443, 1e-15);
    TEST_INT(golden_length(file, "cases"), golden_number(file, "ncases"));
    golden_close(file);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"small text", test_small_text},
        {"cases of gp_public.json", test_cases_of_gp},
    };
    return CUTAP_RUN("golden_json", cases);
}
