/* Every operator of this module, one row each, for loaders and suites.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/autodiff_impl.h"

const ad_op *const ad_ops[] = {
    &ad_op_input,     &ad_op_param, &ad_op_constant,    &ad_op_out, &ad_op_name,
    &ad_op_dim_value, &ad_op_fill,  &ad_op_placeholder, NULL,
};
