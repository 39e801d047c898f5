/* The version of the library that runs, as opposed to that of the headers.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <covar/covar.h>

const char *covar_version(void)
{
    return PACKAGE_VERSION;
}
