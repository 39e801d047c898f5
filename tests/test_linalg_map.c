/* Every row of the map table against long double, for f64 and f32 and every
 * instruction set that can run here: awkward values, random values over the
 * whole domain, golden values, zeros with a sign.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <covar/linalg.h>
#include <covar/rng.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "map_reference.h"
#include "test_util.h"

enum { RANDOM = 6000, MAX_N = 16000 };

static const double awkward[] = {0,
                                 -0.0,
                                 1,
                                 -1,
                                 (double)INFINITY,
                                 -(double)INFINITY,
                                 (double)NAN,
                                 5e-324,
                                 -5e-324,
                                 1e-310,
                                 -1e-310,
                                 DBL_MIN,
                                 1e-300,
                                 -1e-300,
                                 1e300,
                                 -1e300,
                                 DBL_MAX,
                                 -DBL_MAX,
                                 0.5,
                                 -0.5,
                                 1.5,
                                 2.5,
                                 -2.5,
                                 0.49999999999999994,
                                 4503599627370495.5,
                                 -4503599627370497.0,
                                 9007199254740993.0,
                                 8388607.5,
                                 709.78,
                                 709.79,
                                 710.4,
                                 -708.5,
                                 -745.1,
                                 -745.2,
                                 88.7,
                                 88.8,
                                 89.4,
                                 -87.5,
                                 -103.9,
                                 -104.1,
                                 1e-8,
                                 -1e-8,
                                 0.6931471805599453,
                                 0.69314718055994,
                                 0.69314718,
                                 0.35,
                                 1.1,
                                 0.65,
                                 -0.65,
                                 0.92,
                                 -0.92,
                                 20,
                                 -20,
                                 26.5,
                                 27.3,
                                 -38.4,
                                 -38.5,
                                 8.3,
                                 9.1,
                                 -50,
                                 50,
                                 -50.5,
                                 -800,
                                 800,
                                 1e-45,
                                 1.2e-38,
                                 -1e-40,
                                 3.4e38,
                                 -3.4e38,
                                 10,
                                 27,
                                 30,
                                 100,
                                 1e10,
                                 0.25,
                                 -0.25,
                                 -0.29,
                                 1e-17,
                                 -1e-17,
                                 0.9999999999999999,
                                 -0.9999999999999999,
                                 1.0000000000000002};

/* Numbers that rows are tried with: operand k at x[k], n of each. */
typedef struct sample {
    la_dtype dtype;
    size_t n;
    double x[3][MAX_N];
    long double exact[MAX_N];
} sample;

static sample samples; /* one at a time */

static double draw(covar_rng *rng)
{
    double u;
    covar_rng_uniform(&u, 1, rng);
    return u;
}

/* A quarter each: in +-2, +-40, +-750, and of any exponent. */
static double draw_number(covar_rng *rng, la_dtype t)
{
    const double u = draw(rng) - 0.5, kind = draw(rng);
    if (kind < 0.25)
        return 4 * u;
    if (kind < 0.5)
        return 80 * u;
    if (kind < 0.75)
        return 1500 * u;
    const double span = t == LA_F64 ? 2000 : 250;
    return copysign(ldexp(1 + draw(rng), (int)(span * (draw(rng) - 0.5))), u);
}

/* Random operand k brought into the row's domain. */
static double into_domain(int row, int k, double x)
{
    switch (row) {
    case LA_LOG1MEXP:
        return -fabs(x);
    case LA_LOG:
    case LA_SQRT:
    case LA_SOFTPLUS_INV:
        return fabs(x);
    case LA_LOG1P:
        return x < -1 ? -x : x;
    case LA_POW:
        return k == 0 && fabs(x) < 100 ? fabs(x) : x;
    case LA_SIN:
    case LA_COS:
    case LA_TAN:
        return fmod(x, 1e9);
    default:
        return x;
    }
}

static void fill_sample(sample *s, int row, la_dtype t)
{
    const size_t m = NELEM(awkward), arity = (size_t)la_map_arity(row);
    covar_rng rng = covar_rng_init((uint64_t)row, (uint64_t)t);
    const size_t special = arity == 1 ? m : m * m;
    s->dtype = t;
    s->n = special + RANDOM;
    for (size_t i = 0; i < s->n; i++) {
        long double x[3];
        for (size_t k = 0; k < 3; k++) {
            const size_t step = k == 0 ? i : k == 1 ? i / m : 7 * i + 3;
            double v = i < special
                           ? awkward[step % m]
                           : into_domain(row, (int)k, draw_number(&rng, t));
            if (t == LA_F32)
                v = (double)(float)v;
            s->x[k][i] = v;
            x[k] = v;
        }
        s->exact[i] = map_reference(row, x);
    }
}

/* Rounded twice, as a fused row may be without the instruction for it. */
static long double fma_in_two(const sample *s, size_t i)
{
    const double p = s->x[0][i] * s->x[1][i];
    return (s->dtype == LA_F32 ? (long double)(float)p : (long double)p) +
           s->x[2][i];
}

static void run_row(covar_context *ctx, int row, const sample *s, double *y)
{
    const la_exec exec = la_exec_cpu(ctx);
    const size_t n = s->n;
    float *f = malloc(4 * n * sizeof(float));
    la_view in[3], out = la_vec_f64(y, n);
    for (size_t k = 0; k < 3; k++) {
        in[k] = la_vec_f64(s->x[k], n);
        for (size_t i = 0; s->dtype == LA_F32 && i < n; i++)
            f[k * n + i] = (float)s->x[k][i];
        if (s->dtype == LA_F32)
            in[k] = la_vec_f32(f + k * n, n);
    }
    if (s->dtype == LA_F32)
        out = la_vec_f32(f + 3 * n, n);
    TEST_OK(ctx, la_map(&exec, (la_map_row)row, out, in));
    for (size_t i = 0; s->dtype == LA_F32 && i < n; i++)
        y[i] = (double)f[3 * n + i];
    free(f);
}

/* Largest error in ulp; a failed assertion names the operands. */
static double worst_of(const sample *s, int row, const double *y,
                       const char *isa)
{
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < s->n; i++) {
        double e = map_ulps(s->dtype, y[i], s->exact[i]);
        if (row == LA_FMA && e > 1) {
            const double two = map_ulps(s->dtype, y[i], fma_in_two(s, i));
            e = two < e ? two : e;
        }
        if (!(e <= worst)) {
            worst = e;
            at = i;
        }
    }
    test_check(worst <= 2, __FILE__, __LINE__,
               "%s %s %s(%.17g, %.17g, %.17g) = %.17g, not %.20Lg: %.3g ulp",
               isa, la_dtype_name(s->dtype), la_map_name((la_map_row)row),
               s->x[0][at], s->x[1][at], s->x[2][at], y[at], s->exact[at],
               worst);
    return worst;
}

static const covar_isa isas[] = {COVAR_ISA_BASELINE, COVAR_ISA_V3,
                                 COVAR_ISA_V4};

static void test_row(const void *data)
{
    const int row = *(const int *)data;
    double *y = malloc(MAX_N * sizeof(double));
    char note[200];
    int length = snprintf(note, sizeof note, "worst ulp");
    for (int t = LA_F64; t <= LA_F32; t++) {
        fill_sample(&samples, row, (la_dtype)t);
        for (size_t i = 0; i < NELEM(isas); i++) {
            covar_context *ctx = test_context();
            covar_context_set_isa(ctx, isas[i]);
            if (covar_context_isa(ctx) == isas[i]) {
                const char *isa = covar_isa_name(isas[i]);
                run_row(ctx, row, &samples, y);
                length += snprintf(note + length, sizeof note - (size_t)length,
                                   "  %s %s %.3f", la_dtype_name((la_dtype)t),
                                   isa, worst_of(&samples, row, y, isa));
            }
            covar_context_free(ctx);
        }
    }
    cutap_note("%-12s %s", la_map_name((la_map_row)row), note);
    free(y);
}

/* row(x) by the context's best kernels. */
static double apply(covar_context *ctx, la_map_row row, double x)
{
    const la_exec exec = la_exec_cpu(ctx);
    double y = (double)NAN;
    const la_view in = la_scalar_f64(&x);
    TEST_OK(ctx, la_map(&exec, row, la_scalar_f64(&y), &in));
    return y;
}

/* Values to 17 digits from mpmath 1.3 with 50 digits. */
static void test_golden(void)
{
    static const struct {
        la_map_row row;
        double x, y;
    } golden[] = {
        {LA_LOG_ERFC, 10, -102.87988902484489},
        {LA_LOG_ERFC, 27, -732.86888650789741},
        {LA_LOG_ERFC, 30, -903.97411711064388},
        {LA_LOG_ERFC, 100, -10005.177585122664},
        {LA_SOFTPLUS, -50, 1.9287498479639178e-22},
        {LA_SOFTPLUS, 800, 800},
        {LA_SOFTPLUS, -800, 0},
        {LA_LOG_NDTR, -40, -804.6084420137538},
        {LA_LOG_NDTR, -10, -53.23128515051247},
        {LA_LOG_NDTR, -1, -1.8410216450092636},
        {LA_LOG_NDTR, 1, -0.17275377902344988},
        {LA_LOG_NDTR, 8, -6.220960574271786e-16},
        {LA_SOFTPLUS_INV, 1e-8, -18.420680738952367},
        {LA_SOFTPLUS_INV, 40, 40},
        {LA_LOG1MEXP, -1e-10, -23.025850929990458},
        {LA_LOG1MEXP, -0.5, -0.9327521295671886},
        {LA_LOG1MEXP, -40, -4.248354255291589e-18},
    };
    covar_context *ctx = test_context();
    for (size_t i = 0; i < NELEM(golden); i++) {
        const double y = apply(ctx, golden[i].row, golden[i].x);
        test_check(fabs(y - golden[i].y) <= 4e-16 * fabs(golden[i].y), __FILE__,
                   __LINE__, "%s(%g) = %.17g, not %.17g",
                   la_map_name(golden[i].row), golden[i].x, y, golden[i].y);
    }
    covar_context_free(ctx);
}

/* Odd functions, and those that copy the sign, keep that of a zero. */
static void test_signed_zero(void)
{
    static const la_map_row odd[] = {
        LA_COPY,  LA_SIGN, LA_FLOOR, LA_CEIL, LA_ROUND, LA_SQRT, LA_EXPM1,
        LA_LOG1P, LA_SIN,  LA_TAN,   LA_ATAN, LA_SINH,  LA_TANH, LA_ERF};
    covar_context *ctx = test_context();
    for (size_t i = 0; i < NELEM(odd); i++) {
        const double minus = apply(ctx, odd[i], -0.0);
        const double plus = apply(ctx, odd[i], 0.0);
        test_check(minus == 0 && signbit(minus) && plus == 0 && !signbit(plus),
                   __FILE__, __LINE__, "%s of zeros: %g, %g",
                   la_map_name(odd[i]), minus, plus);
    }
    CU_ASSERT(signbit(apply(ctx, LA_NEG, 0.0)));
    CU_ASSERT(!signbit(apply(ctx, LA_NEG, -0.0)));
    CU_ASSERT(!signbit(apply(ctx, LA_ABS, -0.0)));
    CU_ASSERT(signbit(apply(ctx, LA_CEIL, -0.25)));
    CU_ASSERT(signbit(apply(ctx, LA_ROUND, -0.25)));
    CU_ASSERT(apply(ctx, LA_RECIP, -0.0) == -(double)INFINITY);
    covar_context_free(ctx);
}

static void test_names(void)
{
    TEST_TEXT(la_map_name(LA_LOG_NDTR), "log_ndtr");
    TEST_INT(la_map_arity(LA_WHERE), 3);
    TEST_INT(la_map_arity(LA_POW), 2);
    TEST_TEXT(la_map_name(LA_MAP_COUNT), "unknown");
    TEST_INT(la_map_arity(LA_MAP_COUNT), 0);
}

static void run_plain(const void *data)
{
    void (*const *test)(void) = data;
    (*test)();
}

int main(void)
{
    static int rows[LA_MAP_COUNT];
    static void (*const plain[])(void) = {test_golden, test_signed_zero,
                                          test_names};
    cutap_add("linalg map", "golden values", run_plain, &plain[0]);
    cutap_add("linalg map", "signs of zeros", run_plain, &plain[1]);
    cutap_add("linalg map", "names and arities", run_plain, &plain[2]);
    for (int row = 0; row < LA_MAP_COUNT; row++) {
        rows[row] = row;
        cutap_add("linalg map", la_map_name((la_map_row)row), test_row,
                  &rows[row]);
    }
    return cutap_finish();
}
