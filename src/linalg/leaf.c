/* Kernels on one small matrix or one row; see leaf.h.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Compiled once per instruction set with ISA = _base, _v3, _v4. The loops
 * that must vectorise run along rows of a buffer whose width is a multiple of
 * the vector, padded with zeros, so that there are no scalar tails. */
#include <config.h>

#include "linalg/leaf.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define REAL_BODY "linalg/leaf.inc"
#include "linalg/each_real.h"

/* sum += squared differences in four features. */
static __attribute__((noinline)) void add_four(
    size_t m, const double *restrict x, const double *restrict a,
    const double *restrict b, const double *restrict c,
    const double *restrict d, double *restrict sum)
{
    const double xa = x[0], xb = x[1], xc = x[2], xd = x[3];
    for (size_t j = 0; j < m / LA_LEAF_ALIGN * LA_LEAF_ALIGN; j++) {
        const double p = xa - a[j], q = xb - b[j];
        const double r = xc - c[j], s = xd - d[j];
        sum[j] += (p * p + q * q) + (r * r + s * s);
    }
}

static __attribute__((noinline)) void add_one(size_t m, double x,
                                              const double *restrict a,
                                              double *restrict sum)
{
    for (size_t j = 0; j < m / LA_LEAF_ALIGN * LA_LEAF_ALIGN; j++) {
        const double p = x - a[j];
        sum[j] += p * p;
    }
}

static void sqdist(size_t m, size_t d, const double *x, const double *Z,
                   size_t ldz, double *sum)
{
    memset(sum, 0, m * sizeof *sum);
    size_t k = 0;
    for (; k + 4 <= d; k += 4)
        add_four(m, x + k, Z + k * ldz, Z + (k + 1) * ldz, Z + (k + 2) * ldz,
                 Z + (k + 3) * ldz, sum);
    for (; k < d; k++)
        add_one(m, x[k], Z + k * ldz, sum);
}

const la_leaf COVAR_PASTE(la_leaf, ISA) = {
    .on_f32 = {gemm_f32, solve_f32, potrf_f32, chol_rev_f32, invert_f32,
               square_f32},
    .on_f64 = {gemm_f64, solve_f64, potrf_f64, chol_rev_f64, invert_f64,
               square_f64},
    .sqdist = sqdist,
};
