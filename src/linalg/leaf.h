/* Private: kernels on one small matrix or one row, built for each instruction
 * set and chosen once per call.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * They replace BLAS where its call would cost more than the arithmetic, and
 * end the recursions of the factorisations. Matrices are row-major with row
 * stride ld, of order n <= LA_LEAF_MAX. */
#ifndef COVAR_LINALG_LEAF_H
#define COVAR_LINALG_LEAF_H

#include <covar/linalg.h>

enum { LA_LEAF_MAX = 32 };

/* Matrices that a `_group` kernel takes at a time: 64 bytes of lanes. */
enum { LA_LANES_f64 = 8, LA_LANES_f32 = 16 };

/* How a triangle of order n meets its right-hand sides: the unknowns of one
 * are a column of B, or with `columns` a row; it is read by rows, or
 * `transposed`; the last unknown is found first when `backward`. */
typedef struct la_solve {
    int n;
    bool columns, transposed, backward, unit;
} la_solve;

#define REAL_BODY "linalg/leaf_decl.inc"
#include "linalg/each_real.h"

typedef struct la_leaf {
    la_leaf_f32 on_f32;
    la_leaf_f64 on_f64;

    /* sum[j] = sum_k (x[k] - Z[k * ldz + j])^2 for j < m; m is a multiple of
     * LA_LEAF_ALIGN and d of 4, x and Z padded with zeros. Every element is
     * computed by the same instructions. */
    void (*sqdist)(size_t m, size_t d, const double *x, const double *Z,
                   size_t ldz, double *sum);
} la_leaf;

enum { LA_LEAF_ALIGN = 8 };

extern const la_leaf la_leaf_base, la_leaf_v3, la_leaf_v4;

/* The table for the instruction set of the context. */
const la_leaf *la_leaf_of(const la_exec *exec);

/* First half of a recursive split: a multiple of 32 (of 8 when small), so
 * that the blocks suit the kernels of BLAS. */
static inline int la_split(int n)
{
    const int half = n / 2;
    return half > 64 ? (half + 31) / 32 * 32 : (half + 7) / 8 * 8;
}

#endif
