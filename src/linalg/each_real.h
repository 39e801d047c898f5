/* Instantiates REAL_BODY once for f32 and once for f64.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the body: `real` is the element type, FN(foo) the function's name for
 * it (foo_f32, foo_f64), R(0.5) a literal, BLAS(gemm) the Fortran symbol
 * (sgemm_, dgemm_), EPS the machine epsilon, REAL_DTYPE its la_dtype.
 *
 *     #define REAL_BODY "linalg/foo.inc"
 *     #include "linalg/each_real.h" */
#ifndef COVAR_EACH_REAL_PASTE
#define COVAR_EACH_REAL_PASTE
#define COVAR_PASTE2(a, b) a##b
#define COVAR_PASTE(a, b) COVAR_PASTE2(a, b)
#endif

#define real float
#define FN(name) COVAR_PASTE(name, _f32)
#define R(literal) COVAR_PASTE(literal, f)
#define BLAS(name) COVAR_PASTE(COVAR_PASTE(s, name), _)
#define EPS FLT_EPSILON
#define REAL_DTYPE LA_F32
#include REAL_BODY
#undef real
#undef FN
#undef R
#undef BLAS
#undef EPS
#undef REAL_DTYPE

#define real double
#define FN(name) COVAR_PASTE(name, _f64)
#define R(literal) literal
#define BLAS(name) COVAR_PASTE(COVAR_PASTE(d, name), _)
#define EPS DBL_EPSILON
#define REAL_DTYPE LA_F64
#include REAL_BODY
#undef real
#undef FN
#undef R
#undef BLAS
#undef EPS
#undef REAL_DTYPE

#undef REAL_BODY
