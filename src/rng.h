/* Counter-based random numbers: Philox4x32-10.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Word i of a stream is a pure function of (seed, stream, i), so that results
 * do not depend on the number of threads or on the order of evaluation.
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011. Known answers are tested. A NULL argument: nothing is
 * done. */
#ifndef COVAR_RNG_H
#define COVAR_RNG_H

#include <covar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stream and the position of its next word. Copy it to fork it. */
typedef struct covar_rng {
    uint64_t seed;
    uint64_t stream;
    uint64_t index; /* next block of four words */
} covar_rng;

COVAR_API covar_rng covar_rng_init(uint64_t seed, uint64_t stream);

/* One block: the four 32-bit words of Philox4x32-10 at counter
 * (index low, index high, stream low, stream high) and key `seed`. */
COVAR_API void covar_philox(uint32_t out[4], uint64_t seed, uint64_t stream,
                            uint64_t index);

/* Uniform on [0, 1) with 53 bits: ((w1 << 21) ^ (w0 >> 11)) * 2^-53, where
 * element i takes words 2 (i mod 2) and 2 (i mod 2) + 1 of block index + i / 2.
 * Advances the stream by (n + 1) / 2 blocks, so chunks of even length give the
 * same numbers as one long call. */
COVAR_API void covar_rng_uniform(double *out, size_t n, covar_rng *rng);

/* Standard normals by Box-Muller: elements 2 j and 2 j + 1 are r cos(t) and
 * r sin(t) with r = sqrt(-2 log u), t = 2 pi v, and u, v the two uniforms of
 * block index + j moved to (0, 1]. Advances the stream by (n + 1) / 2 blocks.
 * Source: Box, Muller, "A note on the generation of random normal deviates",
 * Annals of Mathematical Statistics 29 (1958). */
COVAR_API void covar_rng_normal(double *out, size_t n, covar_rng *rng);

/* A random permutation of 0..n-1: the indices in the order of n random words
 * of 64 bits, two a block, equal words in the order of their indices. `order`
 * (n) is written; `work` (n) is scratch. Advances the stream by (n + 1) / 2
 * blocks. Cost: n log n comparisons, no allocation. */
COVAR_API void covar_rng_permutation(size_t *order, uint64_t *work, size_t n,
                                     covar_rng *rng);

#ifdef __cplusplus
}
#endif

#endif
