/* Rules after derivatives: what only had a meaning before compiling goes.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/rewrite_impl.h"

static ad_node *input(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    return y->in[0];
}

const ad_rule ad_rules_identity[] = {
    {"name", "name(x) -> x: two equal values may be one from here on",
     &ad_op_name, AD_PHASE_IDENTITY, input},
    {"stop_gradient", "stop_gradient(x) -> x: no derivative is taken any more",
     &ad_op_stop_gradient, AD_PHASE_IDENTITY, input},
    {NULL, NULL, NULL, AD_PHASE_IDENTITY, NULL},
};
