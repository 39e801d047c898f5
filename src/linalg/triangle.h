/* Private: passes over one square matrix that several kernels share.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_LINALG_TRIANGLE_H
#define COVAR_LINALG_TRIANGLE_H

#include <covar/linalg.h>

#define REAL_BODY "linalg/triangle_decl.inc"
#include "linalg/each_real.h"

#endif
