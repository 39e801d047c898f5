/* Transforms between a parameter's free coordinate and its value.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * softplus(u) = log(1 + e^u) is computed as max(u, 0) + log1p(e^-|u|), its
 * inverse as v + log(1 - e^-v): neither overflows. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <math.h>

ad_node *ad_transform_value(ad_transform t, ad_node *free)
{
    switch (t) {
    case AD_IDENTITY:
        return free;
    case AD_LOG:
        return ad_exp(free);
    case AD_SOFTPLUS:
        return ad_softplus(free);
    }
    if (free)
        ad_graph_fail(free->graph, COVAR_ERR_ARG,
                      "ad_transform_value: there is no transform %d", (int)t);
    return NULL;
}

double ad_transform_forward(ad_transform t, double free)
{
    switch (t) {
    case AD_IDENTITY:
        return free;
    case AD_LOG:
        return exp(free);
    case AD_SOFTPLUS:
        return fmax(free, 0) + log1p(exp(-fabs(free)));
    }
    return NAN;
}

double ad_transform_inverse(ad_transform t, double value)
{
    switch (t) {
    case AD_IDENTITY:
        return value;
    case AD_LOG:
        return log(value);
    case AD_SOFTPLUS:
        return value > 0 ? value + log(-expm1(-value)) : log(value);
    }
    return NAN;
}
