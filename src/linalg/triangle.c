/* Passes over one square matrix that several kernels share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The mirror goes by tiles of 8 x 8, one cache line of doubles wide: with a
 * row stride that is a multiple of 4 KiB the rows of a larger tile would all
 * fall into the same cache sets and push each other out. */
#include <config.h>

#include "linalg/triangle.h"

#include <math.h>
#include <string.h>

enum { TILE = 8 };

#define REAL_BODY "linalg/triangle.inc"
#include "linalg/each_real.h"
