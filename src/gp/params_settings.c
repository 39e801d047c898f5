/* Applies the caller's settings (start, fix, bounds, prior, tie) by name.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <math.h>
#include <string.h>

#include "check.h"

static covar_status check_value(covar_context *ctx, const gp_param *p,
                                double value, bool fixed)
{
    bool zero_allowed =
        fixed && (p->kind == GP_KIND_NOISE || p->kind == GP_KIND_OFFSET);
    if (isfinite(value) &&
        (!p->log || value > 0 || (value == 0 && zero_allowed)))
        return COVAR_OK;
    return covar_fail(ctx, COVAR_ERR_ARG, "%s = %g, but it must be %s", p->name,
                      value,
                      !p->log        ? "finite"
                      : zero_allowed ? "zero or positive"
                                     : "positive");
}

static covar_status set_value(gp_param *p, covar_context *ctx,
                              const gp_setting *s)
{
    bool fixed = s->kind == GP_SET_FIX;
    COVAR_TRY(check_value(ctx, p, s->a, fixed));
    p->value = s->a;
    p->has_start = true;
    p->fixed = p->fixed || fixed;
    return COVAR_OK;
}

static covar_status set_bounds(gp_param *p, covar_context *ctx,
                               const gp_setting *s)
{
    if (!(s->a < s->b) || (p->log && !(s->a > 0 && isfinite(s->b))))
        return covar_fail(
            ctx, COVAR_ERR_ARG, "bounds of %s: [%g, %g] is not an interval%s",
            p->name, s->a, s->b, p->log ? " of positive numbers" : "");
    p->lower = s->a;
    p->upper = s->b;
    return COVAR_OK;
}

static covar_status set_prior(gp_param *p, covar_context *ctx,
                              const gp_setting *s)
{
    static const char *const kinds[] = {"default", "flat", "lognormal", "gamma",
                                        "normal"};
    COVAR_TRY(gp_check_enum(ctx, "gp_options_prior", "kind",
                            (long)s->prior.kind, kinds,
                            sizeof(kinds) / sizeof(kinds[0])));
    bool ok = s->prior.kind == GP_PRIOR_DEFAULT ||
              s->prior.kind == GP_PRIOR_FLAT ||
              (isfinite(s->prior.a) && s->prior.b > 0 && isfinite(s->prior.b) &&
               (s->prior.kind != GP_PRIOR_GAMMA || s->prior.a > 0));
    if (!ok)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "prior of %s: parameters (%g, %g) are not valid",
                          p->name, s->prior.a, s->prior.b);
    if (s->prior.kind != GP_PRIOR_DEFAULT)
        p->prior = s->prior;
    return COVAR_OK;
}

/* Ties point at a parameter that is not tied itself. */
static covar_status set_tie(gp_params *p, covar_context *ctx, ptrdiff_t i,
                            const gp_setting *s, const gp_options *options)
{
    ptrdiff_t to = gp_params_find(p, s->to);
    if (to < 0)
        return gp_unknown_name(ctx, p, options, s->to);
    while (p->param[to].tie >= 0)
        to = p->param[to].tie;
    if (to == i)
        return covar_fail(ctx, COVAR_ERR_ARG, "%s cannot be tied to itself",
                          p->param[i].name);
    if (p->param[to].log != p->param[i].log || p->param[to].dropped)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "%s cannot be tied to %s, another kind of parameter",
                          p->param[i].name, p->param[to].name);
    p->param[i].tie = to;
    for (size_t j = 0; j < p->n; j++)
        if (p->param[j].tie == i)
            p->param[j].tie = to;
    return COVAR_OK;
}

static covar_status apply(gp_params *p, covar_context *ctx, const gp_setting *s,
                          const gp_options *options)
{
    ptrdiff_t i = gp_params_find(p, s->name);
    if (i < 0)
        return gp_unknown_name(ctx, p, options, s->name);
    gp_param *param = &p->param[i];
    if (param->dropped)
        return covar_fail(ctx, COVAR_ERR_NAME,
                          "%s: column %td is constant, so the parameter takes "
                          "no part",
                          param->name, param->column);
    switch (s->kind) {
    case GP_SET_START:
    case GP_SET_FIX:
        return set_value(param, ctx, s);
    case GP_SET_FIX_START:
        if (!param->has_start)
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "%s is to be fixed but has no value",
                              param->name);
        param->fixed = true;
        return COVAR_OK;
    case GP_SET_BOUNDS:
        return set_bounds(param, ctx, s);
    case GP_SET_PRIOR:
        return set_prior(param, ctx, s);
    case GP_SET_TIE:
        return set_tie(p, ctx, i, s, options);
    }
    return COVAR_OK;
}

covar_status gp_params_apply(gp_params *p, covar_context *ctx,
                             const gp_options *options)
{
    for (size_t i = 0; i < options->n_settings; i++)
        if (!gp_mean_owns_name(options->settings[i].name))
            COVAR_TRY(apply(p, ctx, &options->settings[i], options));
    return COVAR_OK;
}
