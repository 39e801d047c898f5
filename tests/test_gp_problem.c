/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp_problem.h"

#include <math.h>

#include "test_util.h"

problem_setup problem_begin(void)
{
    return (problem_setup){.ctx = test_context(),
                           .options = gp_options_default()};
}

void problem_finish(problem_setup *s, const char *kernel, double noise,
                    la_view X, la_view y)
{
    covar_context *ctx = s->ctx;
    gp_options *o = &s->options;
    if (noise == 0)
        gp_options_fix(o, "noise_variance", 0);
    else
        gp_options_start(o, "noise_variance", noise);
    TEST_OK(ctx, gp_kernel_parse(&s->kernel, ctx, kernel));
    TEST_OK(ctx, gp_data_create(&s->data, ctx, X, y, o));
    TEST_OK(ctx, gp_mean_take_given(s->data, ctx, o));
    TEST_OK(ctx, gp_params_create(&s->params, ctx, s->kernel, s->data, o));
    TEST_OK(ctx, gp_params_apply(&s->params, ctx, o));
    TEST_OK(ctx, gp_problem_create(&s->problem, ctx, s->kernel, &s->params,
                                   s->data, o));
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->problem);
    gp_start_complete(&s->params);
    gp_params_to_free(s->free, &s->params);
}

void problem_clear(problem_setup *s)
{
    gp_problem_free(s->problem);
    gp_params_clear(&s->params);
    gp_data_free(s->data);
    gp_kernel_free(s->kernel);
    gp_options_clear(&s->options);
    covar_context_free(s->ctx);
}

double problem_value(problem_setup *s, gp_objective kind, double jitter)
{
    double v = NAN;
    TEST_OK(s->ctx,
            gp_problem_eval(s->problem, s->free, kind, jitter, &v, NULL, NULL));
    return v;
}
