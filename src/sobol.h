/* Private: Sobol points in the unit cube, for starts of a fit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     covar_sobol points = covar_sobol_init(d);
 *     covar_sobol_shift(&points, seed);
 *     for (size_t i = 0; i < 32; i++)
 *         covar_sobol_next(u, &points);
 *
 * Every block of 2^k points that starts at a multiple of 2^k puts one point
 * into each of 2^k equal intervals, in every coordinate, shifted or not.
 * Coordinates from COVAR_SOBOL_DIMS on are Philox uniforms instead, of stream
 * = coordinate: a space of that many dimensions is not filled by a few dozen
 * points in any case. Source: Joe & Kuo 2008, "Constructing Sobol sequences
 * with better two-dimensional projections", the table new-joe-kuo-6. */
#ifndef COVAR_SOBOL_H
#define COVAR_SOBOL_H

#include <covar/base.h>

enum { COVAR_SOBOL_DIMS = 64, COVAR_SOBOL_BITS = 32 };

/* About 9 kB, by value, no memory of its own. */
typedef struct covar_sobol {
    size_t dim;
    uint64_t seed;
    uint64_t index; /* of the next point */
    uint32_t direction[COVAR_SOBOL_DIMS][COVAR_SOBOL_BITS];
    uint32_t at[COVAR_SOBOL_DIMS]; /* the next point, not shifted */
    uint32_t shift[COVAR_SOBOL_DIMS];
} covar_sobol;

/* The plain sequence in `dim` coordinates; its first point is the corner at
 * 0 and later ones lie on a grid, hence shift it. */
covar_sobol covar_sobol_init(size_t dim);

/* Moves all points by one random shift per coordinate (exclusive or), a
 * function of the seed. */
void covar_sobol_shift(covar_sobol *s, uint64_t seed);

/* Writes the next point, (dim) numbers strictly between 0 and 1. The sequence
 * repeats itself after 2^32 points. */
void covar_sobol_next(double *out, covar_sobol *s);

#endif
