/* Sobol points by the Gray code.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     x_0 = 0,  x_i+1 = x_i xor v_c(i),  c(i) = lowest zero bit of i
 *
 * v_k = m_k 2^(32-k); the m_k of a coordinate follow from its first s ones by
 * the recurrence of a primitive polynomial of degree s over GF(2),
 *     m_k = 2 a_1 m_k-1 xor ... xor 2^(s-1) a_s-1 m_k-s+1
 *           xor 2^s m_k-s xor m_k-s.
 * GSL's Sobol generator ends at 40 coordinates, a kernel with as many inputs
 * needs more. Source: Joe & Kuo 2003, remark on algorithm 659, eq. 2; their
 * table of 2008. */
#include "config.h"

#include "sobol.h"

#include <covar/rng.h>

#include <string.h>

enum { MOST_DEGREE = 9 };

typedef struct start_numbers {
    uint8_t degree;
    uint8_t a; /* inner coefficients a_1 (high bit) .. a_s-1 */
    uint16_t m[MOST_DEGREE];
} start_numbers;

/* Coordinates 1 to 63; coordinate 0 has all m_k = 1. */
static const start_numbers table[COVAR_SOBOL_DIMS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
    {8, 38, {1, 3, 1, 11, 27, 43, 71, 9}},
    {8, 47, {1, 1, 7, 15, 21, 11, 81, 45}},
    {8, 49, {1, 3, 7, 3, 25, 31, 65, 79}},
    {8, 50, {1, 3, 1, 1, 19, 11, 3, 205}},
    {8, 52, {1, 1, 5, 9, 19, 21, 29, 157}},
    {8, 56, {1, 3, 7, 11, 1, 33, 89, 185}},
    {8, 67, {1, 3, 3, 3, 15, 9, 79, 71}},
    {8, 70, {1, 3, 7, 11, 15, 39, 119, 27}},
    {8, 84, {1, 1, 3, 1, 11, 31, 97, 225}},
    {8, 97, {1, 1, 1, 3, 23, 43, 57, 177}},
    {8, 103, {1, 3, 7, 7, 17, 17, 37, 71}},
    {8, 115, {1, 3, 1, 5, 27, 63, 123, 213}},
    {8, 122, {1, 1, 3, 5, 11, 43, 53, 133}},
    {9, 8, {1, 3, 5, 5, 29, 17, 47, 173, 479}},
    {9, 13, {1, 3, 3, 11, 3, 1, 109, 9, 69}},
    {9, 16, {1, 1, 1, 5, 17, 39, 23, 5, 343}},
    {9, 22, {1, 3, 1, 5, 25, 15, 31, 103, 499}},
    {9, 25, {1, 1, 1, 11, 11, 17, 63, 105, 183}},
    {9, 44, {1, 1, 5, 11, 9, 29, 97, 231, 363}},
    {9, 47, {1, 1, 5, 15, 19, 45, 41, 7, 383}},
    {9, 52, {1, 3, 7, 7, 31, 19, 83, 137, 221}},
    {9, 55, {1, 1, 1, 3, 23, 15, 111, 223, 83}},
    {9, 59, {1, 1, 5, 13, 31, 15, 55, 25, 161}},
    {9, 62, {1, 1, 3, 13, 25, 47, 39, 87, 257}},
};

static void set_direction(uint32_t *v, const start_numbers *row)
{
    const unsigned s = row->degree;
    for (unsigned k = 0; k < COVAR_SOBOL_BITS; k++) {
        if (k < s) {
            v[k] = (uint32_t)row->m[k] << (31 - k);
            continue;
        }
        v[k] = v[k - s] ^ (v[k - s] >> s);
        for (unsigned j = 1; j < s; j++) {
            if (row->a >> (s - 1 - j) & 1)
                v[k] ^= v[k - j];
        }
    }
}

covar_sobol covar_sobol_init(size_t dim)
{
    covar_sobol s = {.dim = dim};
    for (unsigned k = 0; k < COVAR_SOBOL_BITS; k++)
        s.direction[0][k] = UINT32_C(1) << (31 - k);
    for (size_t j = 1; j < COVAR_SOBOL_DIMS; j++)
        set_direction(s.direction[j], &table[j - 1]);
    return s;
}

void covar_sobol_shift(covar_sobol *s, uint64_t seed)
{
    s->seed = seed;
    for (uint64_t block = 0; block < COVAR_SOBOL_DIMS / 4; block++)
        covar_philox(s->shift + 4 * block, seed, UINT64_MAX, block);
}

/* Uniform coordinate j of point i. */
static double uniform(const covar_sobol *s, size_t j, uint64_t i)
{
    covar_rng rng = covar_rng_init(s->seed, j);
    rng.index = i;
    double u;
    covar_rng_uniform(&u, 1, &rng);
    return u > 0 ? u : 0.5;
}

void covar_sobol_next(double *out, covar_sobol *s)
{
    const size_t n = s->dim < COVAR_SOBOL_DIMS ? s->dim : COVAR_SOBOL_DIMS;
    for (size_t j = 0; j < n; j++) {
        const uint32_t x = s->at[j] ^ s->shift[j];
        out[j] = ((double)x + 0.5) * 0x1p-32;
    }
    for (size_t j = n; j < s->dim; j++)
        out[j] = uniform(s, j, s->index);
    unsigned c = 0;
    while (c < COVAR_SOBOL_BITS - 1 && s->index >> c & 1)
        c++;
    for (size_t j = 0; j < n; j++)
        s->at[j] ^= s->direction[j][c];
    s->index++;
}
