/* What each row of the map table should give, in long double.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MAP_REFERENCE_H
#define MAP_REFERENCE_H

#include <covar/linalg.h>

long double map_reference(int row, const long double *x);

/* |actual - exact| in units of the last place of dtype at `exact`; 0 when
 * both are NaN, or equal infinities, or `exact` rounds to what overflowed. */
double map_ulps(la_dtype dtype, double actual, long double exact);

#endif
