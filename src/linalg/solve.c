/* Triangular solves by recursion.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Halving the triangle, [T11 0; T21 T22] [X1; X2] = [B1; B2], turns all but
 * the smallest triangles into products, X2 = T22^-1 (B2 - T21 X1), which run
 * at the speed of gemm; trsm of OpenBLAS 0.3.21 has half of it or less.
 * Triangles of order 32 are solved by substitution (leaf_solve.inc). Threads
 * share the right-hand sides, each with the whole recursion. */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/blas.h"
#include "linalg/solve.h"

#define REAL_BODY "linalg/solve.inc"
#include "linalg/each_real.h"
