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

#if defined(__AVX512F__)
enum { LEAF_BYTES = 64 };
#elif defined(__AVX__)
enum { LEAF_BYTES = 32 };
#else
enum { LEAF_BYTES = 16 };
#endif

#define REAL_BODY "linalg/leaf.inc"
#include "linalg/each_real.h"

/* What comparing vectors gives: all bits of an element set, or none. */
typedef int32_t mask_f32 __attribute__((vector_size(LEAF_BYTES)));
typedef int64_t mask_f64 __attribute__((vector_size(LEAF_BYTES)));

/* Square tiles with rows of 16 bytes, which every instruction set moves at
 * once, and their transposes. */
enum { TILE_f64 = 2, TILE_f32 = 4 };
typedef double tile_row_f64 __attribute__((vector_size(16)));
typedef float tile_row_f32 __attribute__((vector_size(16)));

static inline void transpose_f64(tile_row_f64 T[TILE_f64])
{
    const tile_row_f64 a = T[0], b = T[1];
    T[0] = (tile_row_f64){a[0], b[0]};
    T[1] = (tile_row_f64){a[1], b[1]};
}

static inline void transpose_f32(tile_row_f32 T[TILE_f32])
{
    const tile_row_f32 a = T[0], b = T[1], c = T[2], d = T[3];
    const tile_row_f32 ac_left = {a[0], c[0], a[1], c[1]};
    const tile_row_f32 bd_left = {b[0], d[0], b[1], d[1]};
    const tile_row_f32 ac_right = {a[2], c[2], a[3], c[3]};
    const tile_row_f32 bd_right = {b[2], d[2], b[3], d[3]};
    T[0] = (tile_row_f32){ac_left[0], bd_left[0], ac_left[1], bd_left[1]};
    T[1] = (tile_row_f32){ac_left[2], bd_left[2], ac_left[3], bd_left[3]};
    T[2] = (tile_row_f32){ac_right[0], bd_right[0], ac_right[1], bd_right[1]};
    T[3] = (tile_row_f32){ac_right[2], bd_right[2], ac_right[3], bd_right[3]};
}

#define REAL_BODY "linalg/leaf_group.inc"
#include "linalg/each_real.h"

#define REAL_BODY "linalg/leaf_solve.inc"
#include "linalg/each_real.h"

/* sum = squared differences in eight features. */
static __attribute__((noinline)) void set_eight(size_t m,
                                                const double *restrict x,
                                                const double *restrict Z,
                                                size_t ldz,
                                                double *restrict sum)
{
    const double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    const double x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];
    const double *restrict z4 = Z + 4 * ldz;
    for (size_t j = 0; j < m / LA_LEAF_ALIGN * LA_LEAF_ALIGN; j++) {
        const double p = x0 - Z[j], q = x1 - Z[ldz + j];
        const double r = x2 - Z[2 * ldz + j], s = x3 - Z[3 * ldz + j];
        const double t = x4 - z4[j], u = x5 - z4[ldz + j];
        const double v = x6 - z4[2 * ldz + j], w = x7 - z4[3 * ldz + j];
        sum[j] = p * p + q * q + r * r + s * s + t * t + u * u + v * v + w * w;
    }
}

/* sum = sum or 0, plus squared differences in four features. */
static __attribute__((noinline)) void add_four(size_t m, bool first,
                                               const double *restrict x,
                                               const double *restrict Z,
                                               size_t ldz, double *restrict sum)
{
    const double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    for (size_t j = 0; j < m / LA_LEAF_ALIGN * LA_LEAF_ALIGN; j++) {
        const double p = x0 - Z[j], q = x1 - Z[ldz + j];
        const double r = x2 - Z[2 * ldz + j], s = x3 - Z[3 * ldz + j];
        sum[j] = (first ? 0 : sum[j]) + p * p + q * q + r * r + s * s;
    }
}

static void sqdist(size_t m, size_t d, const double *x, const double *Z,
                   size_t ldz, double *sum)
{
    size_t k = 0;
    if (d == 0)
        memset(sum, 0, m * sizeof *sum);
    if (d >= 8) {
        set_eight(m, x, Z, ldz, sum);
        k = 8;
    }
    for (; k < d; k += 4)
        add_four(m, k == 0, x + k, Z + k * ldz, ldz, sum);
}

const la_leaf COVAR_PASTE(la_leaf, ISA) = {
    .on_f32 = {gemm_f32, potrf_f32, chol_rev_f32, solve_f32, invert_f32,
               square_f32, potrf_group_f32, rev_group_f32},
    .on_f64 = {gemm_f64, potrf_f64, chol_rev_f64, solve_f64, invert_f64,
               square_f64, potrf_group_f64, rev_group_f64},
    .sqdist = sqdist,
};
