/* The conformance suite over every operator of autodiff.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "conformance.h"

int main(void)
{
    conformance_add("operators", ad_ops);
    return cutap_finish();
}
