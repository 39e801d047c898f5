/* Hand-fused loops to measure the map interpreter against.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chain A: d = |((a x + b) y - z) w| + c y.  Chain B: d = tanh(a x + b)
 * sigmoid(c x) + y, by the same vector functions as the library. Compiled per
 * instruction set, with the flags of the kernels. */
#ifndef BENCH_ELEMENTWISE_H
#define BENCH_ELEMENTWISE_H

#include <covar/linalg.h>

/* n elements; the arrays are 64-byte aligned and a multiple of that long. */
typedef void fused_fn(size_t n, void *d, const void *x, const void *y,
                      const void *z, const void *w, const double abc[3]);

typedef struct fused_loops {
    fused_fn *a, *b;
} fused_loops;

extern const fused_loops fused_loops_f64_base, fused_loops_f32_base;
extern const fused_loops fused_loops_f64_v3, fused_loops_f32_v3;
extern const fused_loops fused_loops_f64_v4, fused_loops_f32_v4;

#endif
