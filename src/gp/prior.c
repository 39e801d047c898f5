/* Log densities of hyper-priors and their derivatives.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A prior is on the parameter's value v, also where v = exp(u) is optimised
 * through u: no Jacobian is added. With u = log v,
 *     lognormal(a, b)  -u - log(b sqrt(2 pi)) - (u - a)^2 / (2 b^2)
 *     gamma(a, b)      a log b - log Gamma(a) + (a - 1) u - b v
 *     normal(a, b)     -log(b sqrt(2 pi)) - (v - a)^2 / (2 b^2)
 * A flat prior adds nothing. Fixed, dropped and tied parameters have no term:
 * the first two are not random, and a tie is the parameter it points at. */
#include "config.h"

#include "gp_impl.h"

#include <math.h>

static const double half_log_2pi = 0.91893853320467274178;

/* Log density with first and second derivative in some coordinate. */
typedef struct term {
    double value, first, second;
} term;

/* In u = log v; `v` = exp(u). */
static term in_log(gp_prior p, double u, double v)
{
    double a = p.a, b = p.b;
    double z = (p.kind == GP_PRIOR_NORMAL ? v - a : u - a) / b;
    switch (p.kind) {
    case GP_PRIOR_LOGNORMAL:
        return (term){-u - log(b) - half_log_2pi - z * z / 2, -1 - z / b,
                      -1 / (b * b)};
    case GP_PRIOR_GAMMA:
        return (term){a * log(b) - lgamma(a) + (a - 1) * u - b * v,
                      a - 1 - b * v, -b * v};
    case GP_PRIOR_NORMAL:
        return (term){-log(b) - half_log_2pi - z * z / 2, -z * v / b,
                      -(v / b + z) * v / b};
    case GP_PRIOR_DEFAULT:
    case GP_PRIOR_FLAT:
        break;
    }
    return (term){0, 0, 0};
}

/* In v itself, by the chain rule d/dv = (d/du) / v. */
static term in_value(gp_prior p, double v)
{
    if (p.kind == GP_PRIOR_NORMAL) {
        double z = (v - p.a) / p.b;
        return (term){-log(p.b) - half_log_2pi - z * z / 2, -z / p.b,
                      -1 / (p.b * p.b)};
    }
    if (p.kind == GP_PRIOR_DEFAULT || p.kind == GP_PRIOR_FLAT)
        return (term){0, 0, 0};
    if (!(v > 0))
        return (term){-INFINITY, 0, 0};
    term t = in_log(p, log(v), v);
    return (term){t.value, t.first / v, (t.second - t.first) / (v * v)};
}

double gp_prior_log_density(gp_prior prior, double value)
{
    bool flat = prior.kind == GP_PRIOR_DEFAULT || prior.kind == GP_PRIOR_FLAT;
    bool known = flat || prior.kind == GP_PRIOR_LOGNORMAL ||
                 prior.kind == GP_PRIOR_GAMMA || prior.kind == GP_PRIOR_NORMAL;
    bool sound = isfinite(prior.a) && prior.b > 0 && isfinite(prior.b) &&
                 (prior.kind != GP_PRIOR_GAMMA || prior.a > 0);
    if (!known || isnan(value) || (!flat && !sound))
        return (double)NAN;
    return in_value(prior, value).value;
}

double gp_prior_sum(const gp_params *p, const double *free, double *grad,
                    double *hess_diag)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        const gp_param *q = &p->param[i];
        if (q->fixed || q->dropped || q->tie >= 0)
            continue;
        term t = q->log ? in_log(q->prior, free[i], exp(free[i]))
                        : in_value(q->prior, free[i]);
        sum += t.value;
        if (grad)
            grad[i] += t.first;
        if (hess_diag)
            hess_diag[i] += t.second;
    }
    return sum;
}
