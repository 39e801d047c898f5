/* Private to the map kernels: what differs between instruction sets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kernels are compiled once for each level (ISA = _base, _v3, _v4). This
 * file names, for the level of the compiler flags, the width of a vector, the
 * form of an intrinsic (VI(add) is _mm256_add_pd for f64 on v3) and of a SLEEF
 * function (SLEEF(exp, u10) is Sleef_finz_expd4_u10avx2). SLEEF's finz and
 * cinz variants give the same bits for every vector length; cinz does without
 * fused multiply-add. Other processors use vectors of 16 bytes through the
 * compiler and SLEEF one element at a time. */
#ifndef COVAR_LINALG_MAP_ISA_H
#define COVAR_LINALG_MAP_ISA_H

#include "linalg/map_table.h"

#include <float.h>
#include <math.h>
#include <sleef.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Not an ordinary inline: operands are vectors, which have no portable way
 * through a call. */
#define VEC_FN static inline __attribute__((always_inline))

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define VEC_BYTES 64
#define VEC_HAS_FMA 1
#define VEC_HAS_MASKS 1
#define VEC_REGISTER "v"
#define VI_PREFIX _mm512_
#define SLEEF_f64(name, ulp) Sleef_finz_##name##d8_##ulp##avx512f
#define SLEEF_f32(name, ulp) Sleef_finz_##name##f16_##ulp##avx512f
#elif defined(__AVX2__) && defined(__FMA__)
#define VEC_BYTES 32
#define VEC_HAS_FMA 1
#define VEC_HAS_MASKS 0
#define VEC_REGISTER "x"
#define VI_PREFIX _mm256_
#define SLEEF_f64(name, ulp) Sleef_finz_##name##d4_##ulp##avx2
#define SLEEF_f32(name, ulp) Sleef_finz_##name##f8_##ulp##avx2
#else
#define VEC_BYTES 16
#define VEC_HAS_FMA 0
#define VEC_HAS_MASKS 0
#if defined(__SSE2__)
#define VEC_REGISTER "x"
#define VI_PREFIX _mm_
#define SLEEF_f64(name, ulp) Sleef_cinz_##name##d2_##ulp##sse2
#define SLEEF_f32(name, ulp) Sleef_cinz_##name##f4_##ulp##sse2
#else
#define SLEEF_f64(name, ulp) Sleef_cinz_##name##d1_##ulp##purec
#define SLEEF_f32(name, ulp) Sleef_cinz_##name##f1_##ulp##purec
#endif
#endif

#define SLEEF(name, ulp) FN(SLEEF)(name, ulp)
#define VI_SUFFIX_f64 _pd
#define VI_SUFFIX_f32 _ps
#define VI(op) COVAR_PASTE(COVAR_PASTE(VI_PREFIX, op), FN(VI_SUFFIX))

/* The bits of an element, and a number that rounds to an integer what is
 * added to it (its low bits then hold that integer). */
typedef uint64_t word_f64;
typedef uint32_t word_f32;
#define MANTISSA_f64 52
#define MANTISSA_f32 23
#define BIAS_f64 1023
#define BIAS_f32 127
#define ROUNDER_f64 0x1.8p52
#define ROUNDER_f32 0x1.8p23f
#define SIGN_f64 (UINT64_C(1) << 63)
#define SIGN_f32 (UINT32_C(1) << 31)
#if VEC_HAS_MASKS
typedef __mmask8  mask_f64;
typedef __mmask16 mask_f32;
#else
typedef int64_t mask_f64 __attribute__((vector_size(VEC_BYTES)));
typedef int32_t mask_f32 __attribute__((vector_size(VEC_BYTES)));
#endif

/* Short names inside a body for each_real.h. */
#define vec FN(vec)
#define bits FN(bits)
#define mask FN(mask)
#define LANES (VEC_BYTES / sizeof(real))

#endif
