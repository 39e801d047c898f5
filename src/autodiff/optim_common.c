/* Options, bounds and small measures of the minimiser.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/optim_impl.h"

#include <math.h>
#include <time.h>

enum { MOST_MEMORY = 1000, FEW_COORDINATES = 1000, MEMORY_OF_FEW = 30 };

ad_optim_options ad_optim_options_default(void)
{
    return (ad_optim_options){
        .max_iterations = 200,
        .gradient_tol = 1e-5,
        .value_tol = 1e-10,
        .step_tol = 1e-10,
        .first_step = 1,
        .max_step = 2,
    };
}

const char *ad_stop_name(ad_stop reason)
{
    static const char *const names[] = {
        [AD_STOP_GRADIENT] = "gradient",
        [AD_STOP_VALUE] = "value",
        [AD_STOP_STEP] = "step",
        [AD_STOP_ITERATIONS] = "iterations",
        [AD_STOP_SECONDS] = "seconds",
        [AD_STOP_CANCELLED] = "cancelled",
        [AD_STOP_LINE_SEARCH] = "line_search",
    };
    const size_t i = (size_t)reason;
    return i < sizeof(names) / sizeof(names[0]) ? names[i] : "unknown";
}

/* `value` if it is positive, `otherwise` for 0. */
static covar_status real_option(double *out, covar_context *ctx, double value,
                                double otherwise, const char *name)
{
    if (!(value >= 0))
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "ad_minimise: %s = %g must be 0 (default) or more",
                          name, value);
    *out = value > 0 ? value : otherwise;
    return COVAR_OK;
}

covar_status ad_optim_options_resolve(ad_optim_options *out, covar_context *ctx,
                                      size_t n, const ad_optim_options *options)
{
    const ad_optim_options std = ad_optim_options_default();
    *out = options ? *options : std;
    if (out->max_iterations == 0)
        out->max_iterations = std.max_iterations;
    if (out->memory == 0)
        out->memory = n <= FEW_COORDINATES ? MEMORY_OF_FEW : 10;
    if (out->memory > MOST_MEMORY)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "ad_minimise: memory = %zu pairs, at most %d",
                          out->memory, MOST_MEMORY);
    const struct {
        double *value;
        double otherwise;
        const char *name;
    } reals[] = {
        {&out->max_seconds, 0, "max_seconds"},
        {&out->gradient_tol, std.gradient_tol, "gradient_tol"},
        {&out->value_tol, std.value_tol, "value_tol"},
        {&out->step_tol, std.step_tol, "step_tol"},
        {&out->first_step, std.first_step, "first_step"},
        {&out->max_step, std.max_step, "max_step"},
    };
    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
        COVAR_TRY(real_option(reals[i].value, ctx, *reals[i].value,
                              reals[i].otherwise, reals[i].name));
    return COVAR_OK;
}

covar_status ad_optim_bounds(double *x, double *lower, double *upper,
                             covar_context *ctx, const ad_problem *problem)
{
    for (size_t i = 0; i < problem->n; i++) {
        lower[i] = problem->lower ? problem->lower[i] : -INFINITY;
        upper[i] = problem->upper ? problem->upper[i] : INFINITY;
        if (!(lower[i] <= upper[i]) || lower[i] == INFINITY ||
            upper[i] == -INFINITY)
            return covar_fail(
                ctx, COVAR_ERR_ARG,
                "ad_minimise: lower[%zu] = %g and upper[%zu] = %g leave no "
                "value for this coordinate",
                i, lower[i], i, upper[i]);
        const double moved = fmin(fmax(x[i], lower[i]), upper[i]);
        if (isnan(x[i]) || !isfinite(moved))
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "ad_minimise: start x[%zu] = %g is not finite", i,
                              x[i]);
        x[i] = moved;
    }
    return COVAR_OK;
}

/* A log determinant of an ill-conditioned matrix is no better than that: the
 * value of a GP likelihood with condition 1e9 was seen to scatter by 4e-11. */
double ad_optim_noise(double f)
{
    return 1e-10 * fmax(1, fabs(f));
}

double ad_optim_clock(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
