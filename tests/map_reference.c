/* Rows of the map table in long double (64 bits of mantissa).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each function takes the form that does not cancel at its argument, so that
 * its error is far below an ulp of double. */
#include "map_reference.h"

#include <float.h>
#include <math.h>

#define LN2 0.693147180559945309417232121458176568L
#define LN2_REST -1.14583527267987328109e-20L /* ln 2 - LN2 in 64 bits */
#define LOG_SQRT_PI 0.572364942924700087071713675676529356L
#define SQRT_HALF 0.707106781186547524400844362104849039L

/* erfc(x) = exp(-x^2) / (x sqrt(pi)) s(x); the asymptotic series from 20 on. */
static long double log_erfc(long double x)
{
    if (x < 20)
        return fabsl(x) < 0.5L ? log1pl(-erfl(x)) : logl(erfcl(x));
    if (x > 1e160L)
        return -x * x;
    long double s = 1, term = 1;
    for (int k = 1; k < 20; k++) {
        term *= -(2 * k - 1) / (2 * x * x);
        s += term;
    }
    return -x * x - logl(x) - LOG_SQRT_PI + logl(s);
}

static long double log1mexp(long double x)
{
    return x > -LN2 ? logl(-expm1l(x)) : log1pl(-expl(x));
}

static long double softplus(long double x)
{
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

static long double softplus_inv(long double x)
{
    if (x < 0.4L)
        return logl(expm1l(x));
    if (x < 1)
        return log1pl(2 * expm1l((x - LN2) - LN2_REST));
    return x + log1mexp(-x);
}

static long double ndtr(long double x)
{
    return erfcl(-x * SQRT_HALF) / 2;
}

static long double log_ndtr(long double x)
{
    if (x > 0)
        return log1pl(-ndtr(-x));
    return log_erfc(-x * SQRT_HALF) - LN2;
}

static long double one_operand(int row, long double x)
{
    switch (row) {
    case LA_COPY:
        return x;
    case LA_NEG:
        return -x;
    case LA_ABS:
        return fabsl(x);
    case LA_SIGN:
        return x > 0 ? 1 : x < 0 ? -1 : x;
    case LA_FLOOR:
        return floorl(x);
    case LA_CEIL:
        return ceill(x);
    case LA_ROUND:
        return roundl(x);
    case LA_SQUARE:
        return x * x;
    case LA_RECIP:
        return 1 / x;
    case LA_SQRT:
        return sqrtl(x);
    case LA_IS_FINITE:
        return isfinite(x);
    default:
        return x == 0; /* LA_NOT */
    }
}

typedef long double function(long double);

static function *const functions[LA_MAP_COUNT] = {
    [LA_EXP] = expl,          [LA_EXPM1] = expm1l,
    [LA_LOG] = logl,          [LA_LOG1P] = log1pl,
    [LA_LOG1MEXP] = log1mexp, [LA_SIN] = sinl,
    [LA_COS] = cosl,          [LA_TAN] = tanl,
    [LA_ATAN] = atanl,        [LA_SINH] = sinhl,
    [LA_COSH] = coshl,        [LA_TANH] = tanhl,
    [LA_SOFTPLUS] = softplus, [LA_SOFTPLUS_INV] = softplus_inv,
    [LA_ERF] = erfl,          [LA_ERFC] = erfcl,
    [LA_LOG_ERFC] = log_erfc, [LA_NDTR] = ndtr,
    [LA_LOG_NDTR] = log_ndtr,
};

static long double two_operands(int row, long double a, long double b)
{
    switch (row) {
    case LA_ADD:
        return a + b;
    case LA_SUB:
        return a - b;
    case LA_MUL:
        return a * b;
    case LA_DIV:
        return a / b;
    case LA_POW:
        return powl(a, b);
    case LA_MIN:
        return isnan(a) || a < b ? a : b;
    case LA_MAX:
        return isnan(a) || a > b ? a : b;
    case LA_EQ:
        return a == b;
    case LA_NE:
        return a != b;
    case LA_LT:
        return a < b;
    default:
        return a <= b; /* LA_LE */
    }
}

long double map_reference(int row, const long double *x)
{
    if (functions[row])
        return functions[row](x[0]);
    if (row == LA_SIGMOID)
        return 1 / (1 + expl(-x[0]));
    if (row == LA_LOG_SIGMOID)
        return -softplus(-x[0]);
    if (row == LA_WHERE)
        return x[0] != 0 ? x[1] : x[2];
    if (row == LA_FMA)
        return fmal(x[0], x[1], x[2]);
    if (la_map_arity((la_map_row)row) == 2)
        return two_operands(row, x[0], x[1]);
    return one_operand(row, x[0]);
}

/* The distance of neighbours of dtype around x. */
static long double spacing(la_dtype dtype, long double x)
{
    const int digits = dtype == LA_F64 ? DBL_MANT_DIG : FLT_MANT_DIG;
    const int lowest = dtype == LA_F64 ? DBL_MIN_EXP : FLT_MIN_EXP;
    const int exponent = x == 0 ? lowest : ilogbl(x) + 1;
    return ldexpl(1, (exponent < lowest ? lowest : exponent) - digits);
}

double map_ulps(la_dtype dtype, double actual, long double exact)
{
    const int top = dtype == LA_F64 ? DBL_MAX_EXP : FLT_MAX_EXP;
    const double rounded =
        dtype == LA_F64 ? (double)exact : (double)(float)exact;
    if (isnan(exact) || isnan(actual))
        return isnan(exact) && isnan(actual) ? 0 : (double)INFINITY;
    if (isinf(rounded) || isinf(exact))
        return actual == rounded ? 0 : (double)INFINITY;
    long double value = actual;
    if (isinf(actual))
        value = copysignl(ldexpl(1, top), value);
    return (double)(fabsl(value - exact) / spacing(dtype, exact));
}
