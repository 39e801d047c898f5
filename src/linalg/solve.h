/* Private: triangular solves by recursion.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_LINALG_SOLVE_H
#define COVAR_LINALG_SOLVE_H

#include "linalg/leaf.h"

#define REAL_BODY "linalg/solve_decl.inc"
#include "linalg/each_real.h"

#endif
