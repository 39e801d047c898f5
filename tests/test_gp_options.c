/* The list of settings in the options.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "gp/gp_impl.h"
#include "test_util.h"

static void test_list(void)
{
    gp_options o = gp_options_default();
    char name[] = "period";
    gp_options_start(&o, name, 3);
    name[0] = 'P'; /* names are copied */
    gp_options_fix(&o, "noise_variance", 0);
    gp_options_fix_start(&o, "alpha");
    gp_options_bounds(&o, "variance", 1, 2);
    gp_options_prior(&o, "variance", (gp_prior){GP_PRIOR_GAMMA, 3, 6});
    gp_options_tie(&o, "0.lengthscale", "1.lengthscale");
    TEST_INT(o.n_settings, 6);
    TEST_INT(o.setting_error, COVAR_OK);
    const gp_setting *s = o.settings;
    TEST_TEXT(s[0].name, "period");
    TEST_INT(s[0].kind, GP_SET_START);
    TEST_CLOSE(s[0].a, 3, 0);
    TEST_INT(s[1].kind, GP_SET_FIX);
    TEST_INT(s[2].kind, GP_SET_FIX_START);
    TEST_INT(s[3].kind, GP_SET_BOUNDS);
    TEST_CLOSE(s[3].b, 2, 0);
    TEST_INT(s[4].kind, GP_SET_PRIOR);
    TEST_INT(s[4].prior.kind, GP_PRIOR_GAMMA);
    TEST_INT(s[5].kind, GP_SET_TIE);
    TEST_TEXT(s[5].to, "1.lengthscale");
    gp_options_clear(&o);
    TEST_INT(o.n_settings, 0);
    CU_ASSERT_PTR_NULL(o.settings);
    gp_options_clear(&o);
    gp_options_clear(NULL);
}

/* The first failure stays and later settings are not taken. */
static void test_null_names(void)
{
    gp_options o = gp_options_default();
    gp_options_start(&o, NULL, 1);
    gp_options_start(&o, "variance", 1);
    TEST_INT(o.setting_error, COVAR_ERR_ARG);
    TEST_INT(o.n_settings, 0);
    gp_options_clear(&o);
    gp_options_tie(&o, "variance", NULL);
    TEST_INT(o.setting_error, COVAR_ERR_ARG);
    gp_options_clear(&o);
    gp_options_start(NULL, "variance", 1);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"list", test_list},
        {"NULL names", test_null_names},
    };
    return CUTAP_RUN("gp_options", cases);
}
