/* Division by one value must give the bits of division by an array of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fast way rests on a theorem about correctly rounded reciprocals: here it
 * meets mantissas near 1 and near 2, where its first step is worst, zeros with
 * a sign, infinities, NaN, denormals, and divisors it must refuse. */
#include <config.h>

#include "linalg/map_table.h"
#include "test_util.h"

#include <covar/rng.h>
#include <math.h>
#include <string.h>

enum { N = 203 }; /* not a multiple of any vector */

static covar_rng stream;

static double uniform(void)
{
    double u;
    covar_rng_uniform(&u, 1, &stream);
    return u;
}

/* A number whose mantissa is random, barely above 1 or barely below 2. */
static double number(int span)
{
    const double kind = uniform(), u = uniform();
    const double m = kind < 0.3   ? 1 + ldexp(floor(u * 16), -52)
                     : kind < 0.6 ? 2 - ldexp(1 + floor(u * 16), -52)
                                  : 1 + u;
    const int e = (int)floor(span * (2 * uniform() - 1));
    return ldexp(uniform() < 0.5 ? -m : m, e);
}

static float single(int span)
{
    const double kind = uniform(), u = uniform();
    const double m = kind < 0.3   ? 1 + ldexp(floor(u * 16), -23)
                     : kind < 0.6 ? 2 - ldexp(1 + floor(u * 16), -23)
                                  : 1 + ldexp(floor(ldexp(u, 23)), -23);
    const int e = (int)floor(span * (2 * uniform() - 1));
    return (float)ldexp(uniform() < 0.5 ? -m : m, e);
}

static const double special[] = {0, -0.0, (double)INFINITY, -(double)INFINITY,
                                 (double)NAN};

/* Rows `div` and `sub_div` of one kernel table on a, b and the divisor d. */
static void compare(const la_map_kernels *k, size_t size, const void *a,
                    const void *b, const void *d)
{
    _Alignas(64) char one[LA_MAP_SPLAT];
    double all[N], fast[N], slow[N];
    for (size_t i = 0; i < LA_MAP_SPLAT; i += size)
        memcpy(one + i, d, size);
    for (size_t i = 0; i < N; i++)
        memcpy((char *)all + i * size, d, size);
    const void *uniform_in[] = {a, one}, *array_in[] = {a, all};
    k->row[LA_DIV](N, fast, uniform_in, 2);
    k->row[LA_DIV](N, slow, array_in, 0);
    TEST_SAME_BITS(fast, slow, N, size);
    const void *uniform_sub[] = {a, b, one}, *array_sub[] = {a, b, all};
    k->row[LA_SUPER_SUB_DIV](N, fast, uniform_sub, 4);
    k->row[LA_SUPER_SUB_DIV](N, slow, array_sub, 0);
    TEST_SAME_BITS(fast, slow, N, size);
}

static covar_isa best_isa(void)
{
    covar_context *ctx = test_context();
    const covar_isa isa = covar_context_isa(ctx);
    covar_context_free(ctx);
    return isa;
}

static void test_f64(void)
{
    const covar_isa most = best_isa();
    double a[N], b[N];
    for (int isa = COVAR_ISA_BASELINE; isa <= (int)most; isa++)
        for (int trial = 0; trial < 3000; trial++) {
            const int span = trial % 3 == 0 ? 1070 : 20;
            const double d = trial < 5 ? special[trial] : number(span);
            for (size_t i = 0; i < N; i++) {
                a[i] = uniform() < 0.01 ? special[(i + 1) % 5] : number(span);
                b[i] = uniform() < 0.5 ? 0 : number(20);
            }
            compare(la_map_kernels_of((covar_isa)isa, LA_F64), sizeof *a, a, b,
                    &d);
        }
}

static void test_f32(void)
{
    const covar_isa most = best_isa();
    float a[N], b[N];
    for (int isa = COVAR_ISA_BASELINE; isa <= (int)most; isa++)
        for (int trial = 0; trial < 3000; trial++) {
            const int span = trial % 3 == 0 ? 145 : 15;
            const float d = trial < 5 ? (float)special[trial] : single(span);
            for (size_t i = 0; i < N; i++) {
                a[i] = uniform() < 0.01 ? (float)special[(i + 1) % 5]
                                        : single(span);
                b[i] = uniform() < 0.5 ? 0 : single(15);
            }
            compare(la_map_kernels_of((covar_isa)isa, LA_F32), sizeof *a, a, b,
                    &d);
        }
}

int main(void)
{
    static const cutap_case cases[] = {
        {"f64", test_f64},
        {"f32", test_f32},
    };
    stream = covar_rng_init(11, 0);
    return CUTAP_RUN("linalg divide", cases);
}
