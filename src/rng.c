/* Philox4x32-10 and what is drawn from it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: Salmon, Moraes, Dror and Shaw (2011), section 3.3. A round maps the
 * counter (c0, c1, c2, c3) under the key (k0, k1) to
 *     (hi(M1 c2) ^ c1 ^ k0, lo(M1 c2), hi(M0 c0) ^ c3 ^ k1, lo(M0 c0))
 * and the key grows by the Weyl constants between rounds. */
#include "config.h"

#include <covar/rng.h>

#include <math.h>

#define PHILOX_M0 UINT64_C(0xD2511F53)
#define PHILOX_M1 UINT64_C(0xCD9E8D57)
#define PHILOX_W0 UINT32_C(0x9E3779B9)
#define PHILOX_W1 UINT32_C(0xBB67AE85)

enum { PHILOX_ROUNDS = 10 };

static const double two_pi = 6.283185307179586476925286766559;

static uint32_t high_half(uint64_t x)
{
    return (uint32_t)(x >> 32);
}

static uint32_t low_half(uint64_t x)
{
    return (uint32_t)(x & UINT32_MAX);
}

/* The 53 leading bits of a pair of words, as an integer below 2^53. */
static uint64_t bits53(const uint32_t w[2])
{
    return ((uint64_t)w[1] << 21) ^ (w[0] >> 11);
}

/* [0, 1) and (0, 1]: the same grid, shifted by one step. */
static double unit_from_zero(const uint32_t w[2])
{
    return (double)bits53(w) * 0x1p-53;
}

static double unit_to_one(const uint32_t w[2])
{
    return (double)(bits53(w) + 1) * 0x1p-53;
}

covar_rng covar_rng_init(uint64_t seed, uint64_t stream)
{
    return (covar_rng){.seed = seed, .stream = stream, .index = 0};
}

void covar_philox(uint32_t out[4], uint64_t seed, uint64_t stream,
                  uint64_t index)
{
    if (!out)
        return;
    uint32_t k0 = low_half(seed), k1 = high_half(seed);
    uint32_t c0 = low_half(index), c1 = high_half(index);
    uint32_t c2 = low_half(stream), c3 = high_half(stream);
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t p0 = PHILOX_M0 * c0;
        uint64_t p1 = PHILOX_M1 * c2;
        c0 = high_half(p1) ^ c1 ^ k0;
        c1 = low_half(p1);
        c2 = high_half(p0) ^ c3 ^ k1;
        c3 = low_half(p0);
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static void next_block(uint32_t words[4], covar_rng *rng)
{
    covar_philox(words, rng->seed, rng->stream, rng->index++);
}

void covar_rng_uniform(double *out, size_t n, covar_rng *rng)
{
    uint32_t w[4];
    if (!out || !rng)
        return;
    for (size_t i = 0; i < n; i++) {
        if (i % 2 == 0)
            next_block(w, rng);
        out[i] = unit_from_zero(w + 2 * (i % 2));
    }
}

void covar_rng_normal(double *out, size_t n, covar_rng *rng)
{
    if (!out || !rng)
        return;
    for (size_t i = 0; i < n; i += 2) {
        uint32_t w[4];
        next_block(w, rng);
        double radius = sqrt(-2.0 * log(unit_to_one(w)));
        double angle = two_pi * unit_to_one(w + 2);
        out[i] = radius * cos(angle);
        if (i + 1 < n)
            out[i + 1] = radius * sin(angle);
    }
}

/* Does a come before b? Equal words keep the order of the indices. */
static bool before(const uint64_t *key, size_t a, size_t b)
{
    return key[a] < key[b] || (key[a] == key[b] && a < b);
}

/* Restores the heap order of order[0..n) below `top`. */
static void sift_down(size_t *order, const uint64_t *key, size_t top, size_t n)
{
    size_t moved = order[top];
    for (size_t child = 2 * top + 1; child < n; child = 2 * top + 1) {
        if (child + 1 < n && before(key, order[child], order[child + 1]))
            child++;
        if (!before(key, moved, order[child]))
            break;
        order[top] = order[child];
        top = child;
    }
    order[top] = moved;
}

void covar_rng_permutation(size_t *order, uint64_t *work, size_t n,
                           covar_rng *rng)
{
    uint32_t w[4];
    if (!order || !work || !rng)
        return;
    for (size_t i = 0; i < n; i++) {
        if (i % 2 == 0)
            next_block(w, rng);
        const uint32_t *pair = w + 2 * (i % 2);
        work[i] = (uint64_t)pair[1] << 32 | pair[0];
        order[i] = i;
    }
    for (size_t top = n / 2; top-- > 0;)
        sift_down(order, work, top, n);
    for (size_t last = n; last-- > 1;) {
        size_t largest = order[0];
        order[0] = order[last];
        order[last] = largest;
        sift_down(order, work, 0, last);
    }
}
