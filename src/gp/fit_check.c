/* What a fit refuses, each with the numbers and what to do instead.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "check.h"
#include "fit_impl.h"

#include <math.h>
#include <string.h>

static const char *const means[] = {"constant", "zero", "linear", "user"};
static const char *const objectives[] = {"ml", "map", "loo"};
static const char *const standardises[] = {"xy", "none", "x", "y"};
static const char *const jitters[] = {"auto", "none", "fixed"};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static covar_status check_enums(covar_context *ctx, const gp_options *o)
{
    COVAR_TRY(gp_check_enum(ctx, "gp_fit", "mean", (long)o->mean, means,
                            COUNT(means)));
    COVAR_TRY(gp_check_enum(ctx, "gp_fit", "objective", (long)o->objective,
                            objectives, COUNT(objectives)));
    COVAR_TRY(gp_check_enum(ctx, "gp_fit", "standardise", (long)o->standardise,
                            standardises, COUNT(standardises)));
    return gp_check_enum(ctx, "gp_fit", "jitter", (long)o->jitter, jitters,
                         COUNT(jitters));
}

covar_status gp_check_options(covar_context *ctx, const gp_options *options)
{
    const gp_options *o = options;
    COVAR_TRY(gp_check_kernel(ctx, "gp_fit", o->kernel));
    COVAR_TRY(check_enums(ctx, o));
    if (o->n_settings > 0 && !o->settings)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "gp_fit: n_settings is %zu but settings is NULL",
                          o->n_settings);
    if (o->setting_error != COVAR_OK)
        return covar_fail(
            ctx, o->setting_error, "gp_options: a setting failed: %s",
            o->setting_error == COVAR_ERR_NOMEM ? "out of memory"
                                                : "a name is NULL");
    COVAR_TRY(gp_check_real(ctx, "gp_fit", "the factorisation", o->dtype));
    if (o->mean == GP_MEAN_USER && !o->mean_fn)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "gp_fit: the mean is a function but mean_fn is NULL");
    if (o->jitter == GP_JITTER_FIXED &&
        !(o->jitter_value >= 0 && isfinite(o->jitter_value)))
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "gp_fit: jitter_value = %g, but it must be zero or "
                          "positive",
                          o->jitter_value);
    if (o->restarts < -1 || o->restarts > GP_MAX_RESTARTS - 5)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "gp_fit: restarts = %d, but it must be -1 to %d",
                          o->restarts, GP_MAX_RESTARTS - 5);
    if (!(o->max_seconds >= 0 && isfinite(o->max_seconds)))
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "gp_fit: max_seconds = %g, but it must be positive, "
                          "or 0 for no limit",
                          o->max_seconds);
    return COVAR_OK;
}

size_t gp_dependent_column(double *H, size_t n, size_t q)
{
    for (size_t j = 0; j < q; j++) {
        double before = 0, after = 0;
        for (size_t i = 0; i < n; i++)
            before += H[i * q + j] * H[i * q + j];
        for (size_t k = 0; k < j; k++) {
            double dot = 0;
            for (size_t i = 0; i < n; i++)
                dot += H[i * q + k] * H[i * q + j];
            for (size_t i = 0; i < n; i++)
                H[i * q + j] -= dot * H[i * q + k];
        }
        for (size_t i = 0; i < n; i++)
            after += H[i * q + j] * H[i * q + j];
        if (!(after > 1e-16 * before))
            return j;
        for (size_t i = 0; i < n; i++)
            H[i * q + j] /= sqrt(after);
    }
    return q;
}

static covar_status check_basis(covar_context *ctx, const gp_data *data,
                                const gp_options *options, size_t q)
{
    double *H = covar_heap_alloc(data->heap, data->n * q, sizeof(*H));
    if (!H)
        return covar_fail_nomem(ctx, "gp_fit");
    gp_mean_basis_at(H, data, options, la_mat_f64(data->X, data->n, data->d));
    size_t bad = gp_dependent_column(H, data->n, q);
    covar_heap_free(data->heap, H);
    if (bad == q)
        return COVAR_OK;
    size_t column = 0;
    for (size_t left = bad; column < data->d; column++)
        if (data->col_range[column] > 0 && --left == 0)
            break;
    return covar_fail(ctx, COVAR_ERR_DATA,
                      "gp_fit: column %zu of X is a linear combination of the "
                      "columns before it, so a linear mean has no unique "
                      "slopes: leave the column out or use a constant mean",
                      column);
}

covar_status gp_check_data(covar_context *ctx, const gp_data *data,
                           const gp_options *options, const gp_space *space)
{
    size_t q = gp_mean_count(data, options);
    if (data->n < q)
        return covar_fail(ctx, COVAR_ERR_DATA,
                          "gp_fit: %zu finite targets cannot determine %zu "
                          "coefficients of the mean: use a constant or zero "
                          "mean",
                          data->n, q);
    if (q > 1)
        COVAR_TRY(check_basis(ctx, data, options, q));
    if (options->no_fit || space->n == 0 || options->objective == GP_MAP)
        return COVAR_OK;
    if (data->n < q + 2)
        return covar_fail(ctx, COVAR_ERR_DATA,
                          "gp_fit: %zu finite targets are too few for %zu mean "
                          "coefficients and the parameters: at least %zu, or "
                          "objective MAP, or fixed parameters",
                          data->n, q, q + 2);
    bool constant = true;
    for (size_t k = 0; k < data->p; k++)
        constant = constant && !(data->y_sd[k] > 0);
    if (constant)
        return covar_fail(ctx, COVAR_ERR_DATA,
                          "gp_fit: all %zu targets are equal (%.15g), so the "
                          "likelihood has no maximum: use objective MAP or fix "
                          "the parameters",
                          data->n, data->y_mean[0]);
    return COVAR_OK;
}

static bool has_white(const gp_kernel *k)
{
    bool found = k->form == GP_FORM_LEAF && strcmp(k->type->word, "white") == 0;
    for (size_t i = 0; !found && i < k->n_child; i++)
        found = has_white(k->child[i]);
    return found;
}

covar_status gp_check_noise(covar_context *ctx, const gp_kernel *k,
                            const gp_params *params)
{
    if (!has_white(k) || params->param[params->n - 1].fixed)
        return COVAR_OK;
    return covar_fail(ctx, COVAR_ERR_ARG,
                      "gp_fit: white noise in the kernel and noise_variance "
                      "cannot be told apart: fix noise_variance (0 is allowed) "
                      "or take white out of the kernel");
}

covar_status gp_check_starts(covar_context *ctx, const gp_params *params)
{
    for (size_t i = 0; i < params->n; i++) {
        const gp_param *p = &params->param[i];
        if (!p->has_start || p->fixed || p->dropped || p->tie >= 0)
            continue;
        double slack = 1e-9 * fabs(p->value);
        if (p->value < p->lower - slack || p->value > p->upper + slack)
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "gp_fit: %s starts at %g, outside its bounds "
                              "[%g, %g]: move the start or the bounds",
                              p->name, p->value, p->lower, p->upper);
    }
    return COVAR_OK;
}
