/* Where a fit starts: two deterministic points and a spread of others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All numbers are conditioned (x in the unit cube, y / sd). The short start
 * sees wiggles and noise, the long one trends without noise: most likelihoods
 * have an optimum near one of them. Kinds without a rule of their own keep a
 * value that the caller gave, whatever the start. */
#include "config.h"

#include "fit_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Short and long start, and the range in which others are spread. */
typedef struct rule {
    double brief, lengthy, lower, upper;
    bool keeps_given;
} rule;

static const rule rules[] = {
    [GP_KIND_VARIANCE] = {1, 1, .1, 10, false},        /* / terms */
    [GP_KIND_LENGTHSCALE] = {.3, 1.5, .05, 20, false}, /* * sqrt d */
    [GP_KIND_PERIODIC_LENGTHSCALE] = {1, 1, .2, 5, true},
    [GP_KIND_PERIOD] = {0, 0, 0, 0, true}, /* by bounds */
    [GP_KIND_ALPHA] = {1, 1, .1, 10, true},
    [GP_KIND_OFFSET] = {1, 1, .1, 10, true},
    [GP_KIND_FREQUENCY] = {1, 1, .5, 0, true}, /* * 2^q, half n */
    [GP_KIND_BANDWIDTH] = {1, 1, .1, 10, true},
    [GP_KIND_WEIGHT] = {1, 1, .1, 10, true},
    [GP_KIND_LINEAR_LENGTHSCALE] = {1, 3, .1, 10, false},
    [GP_KIND_USER] = {1, 1, .1, 10, true}, /* * given */
    [GP_KIND_NOISE] = {.1, .0025, 1e-6, 1, false},
};

/* The first index in a name such as frequency[2][0]; 0 without one. */
static unsigned first_index(const char *name)
{
    const char *bracket = strchr(name, '[');
    return bracket ? (unsigned)strtoul(bracket + 1, NULL, 10) : 0;
}

/* The conditioned rule of one parameter. */
static rule rule_of(const gp_param *p)
{
    rule r = rules[p->kind];
    double low = p->lower / p->scale, high = p->upper / p->scale, factor = 1;
    switch (p->kind) {
    case GP_KIND_VARIANCE: /* d_active: number of terms */
        factor = 1 / (double)p->d_active;
        break;
    case GP_KIND_LENGTHSCALE:
        factor = sqrt((double)p->d_active);
        break;
    case GP_KIND_PERIOD:
        r = (rule){sqrt(low * high), sqrt(low * high), low, high, true};
        break;
    case GP_KIND_FREQUENCY:
        r.brief = r.lengthy = exp2(first_index(p->name) % 16);
        r.upper = fmax(1, high / 2);
        break;
    case GP_KIND_USER:
        factor = p->has_start ? p->value : 1;
        break;
    default:
        break;
    }
    return (rule){r.brief * factor, r.lengthy * factor, r.lower * factor,
                  r.upper * factor, r.keeps_given};
}

bool gp_start_is_given(const gp_params *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->param[i].has_start && !p->param[i].fixed &&
            !p->param[i].dropped && p->param[i].tie < 0)
            return true;
    return false;
}

/* A conditioned value of a parameter for one of the starts. */
static double start_value(const gp_param *p, gp_start which)
{
    rule r = rule_of(p);
    if (p->has_start && (which == GP_START_GIVEN || r.keeps_given))
        return p->value / p->scale;
    return which == GP_START_LONG ? r.lengthy : r.brief;
}

static double within(double x, double lower, double upper)
{
    return fmin(fmax(x, lower), upper);
}

void gp_start_place(double *x, const gp_space *s, gp_start which)
{
    for (size_t j = 0; j < s->n; j++) {
        const gp_param *p = &s->params->param[s->index[j]];
        double v = start_value(p, which);
        x[j] = within(p->log ? log(v) : v * p->scale, s->lower[j], s->upper[j]);
    }
}

void gp_start_spread(double *x, const gp_space *s, const double *u)
{
    for (size_t j = 0; j < s->n; j++) {
        const gp_param *p = &s->params->param[s->index[j]];
        rule r = rule_of(p);
        double low = log(r.lower), high = log(r.upper);
        if (!p->log) {
            double centre = p->has_start ? p->value : 0;
            low = centre - fmax(1, fabs(centre));
            high = centre + fmax(1, fabs(centre));
        } else if (r.keeps_given && p->has_start && p->kind == GP_KIND_PERIOD) {
            low = high = log(p->value / p->scale);
        }
        /* Bounds that miss the range take its place. */
        bool apart = high < s->lower[j] || low > s->upper[j];
        low = apart ? s->lower[j] : fmax(low, s->lower[j]);
        high = apart ? s->upper[j] : fmin(high, s->upper[j]);
        x[j] = low + u[j] * (high - low);
    }
}

void gp_start_complete(gp_params *p)
{
    for (size_t i = 0; i < p->n; i++) {
        gp_param *q = &p->param[i];
        if (q->dropped)
            q->value = (double)NAN;
        else if (!q->has_start)
            q->value = start_value(q, GP_START_SHORT) * q->scale;
    }
    for (size_t i = 0; i < p->n; i++)
        if (p->param[i].tie >= 0)
            p->param[i].value = p->param[p->param[i].tie].value;
}
