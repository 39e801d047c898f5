/* Sobol points: known values, stratification, shifts, many coordinates.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "sobol.h"
#include "test_util.h"

#include <string.h>

/* Coordinate j of plain point i, in units of 2^-32. Golden: an independent
 * generator (scipy.stats.qmc, which uses the same table). */
static void test_known_points(void)
{
    static const struct {
        size_t i, j;
        uint32_t x;
    } golden[] = {
        {0, 0, 0},
        {1, 63, 2147483648},
        {2, 5, 3221225472},
        {4, 3, 3758096384},
        {5, 3, 1610612736},
        {31, 52, 1476395008},
        {100, 63, 2785017856},
        {513, 57, 130023424},
        {777, 40, 3099590656},
        {1000, 12, 692060160},
        {1023, 63, 171966464},
    };
    for (size_t k = 0; k < NELEM(golden); k++) {
        covar_sobol s = covar_sobol_init(COVAR_SOBOL_DIMS);
        double u[COVAR_SOBOL_DIMS];
        for (size_t i = 0; i <= golden[k].i; i++)
            covar_sobol_next(u, &s);
        CU_ASSERT_EQUAL(u[golden[k].j], (golden[k].x + 0.5) * 0x1p-32);
    }
}

/* Points 2^k .. 2^(k+1) - 1 fill every interval of length 2^-k once. */
static void check_strata(size_t dim, uint64_t seed)
{
    enum { K = 6, N = 1 << K };
    static unsigned hits[COVAR_SOBOL_DIMS][N];
    memset(hits, 0, sizeof(hits));
    covar_sobol s = covar_sobol_init(dim);
    if (seed > 0)
        covar_sobol_shift(&s, seed);
    double u[COVAR_SOBOL_DIMS];
    for (size_t i = 0; i < 2 * N; i++) {
        covar_sobol_next(u, &s);
        for (size_t j = 0; i >= N && j < dim; j++)
            hits[j][(size_t)(u[j] * N)]++;
    }
    for (size_t j = 0; j < dim; j++) {
        for (size_t c = 0; c < N; c++)
            test_check(hits[j][c] == 1, __FILE__, __LINE__,
                       "seed %llu: coordinate %zu, interval %zu of %d has %u",
                       (unsigned long long)seed, j, c, N, hits[j][c]);
    }
}

static void test_strata(void)
{
    static const size_t dims[] = {0, 1, 2, 63, 64};
    for (size_t i = 0; i < NELEM(dims); i++) {
        check_strata(dims[i], 0);
        check_strata(dims[i], 20260101);
    }
}

/* The first two coordinates are a (0, 2) sequence: every box of area 2^-6
 * with sides 2^-a and 2^-(6-a) holds one of 64 points. */
static void test_pairs(void)
{
    for (unsigned a = 0; a <= 6; a++) {
        unsigned hits[64] = {0};
        covar_sobol s = covar_sobol_init(2);
        covar_sobol_shift(&s, 7);
        for (size_t i = 0; i < 64; i++) {
            double u[2];
            covar_sobol_next(u, &s);
            const unsigned row = (unsigned)(u[0] * (1 << a));
            const unsigned column = (unsigned)(u[1] * (1 << (6 - a)));
            hits[(row << (6 - a)) + column]++;
        }
        for (size_t c = 0; c < 64; c++)
            CU_ASSERT_EQUAL(hits[c], 1);
    }
}

static void test_shift_is_a_function_of_the_seed(void)
{
    covar_sobol a = covar_sobol_init(3), b = a, c = a;
    covar_sobol_shift(&a, 1);
    covar_sobol_shift(&b, 1);
    covar_sobol_shift(&c, 2);
    double u[3], v[3], w[3];
    for (size_t i = 0; i < 5; i++) {
        covar_sobol_next(u, &a);
        covar_sobol_next(v, &b);
        covar_sobol_next(w, &c);
        TEST_SAME_BITS(u, v, 3, sizeof(double));
        CU_ASSERT_NOT_EQUAL(u[0], w[0]);
    }
}

static void test_many_coordinates(void)
{
    enum { DIM = 150, N = 2000 };
    covar_sobol s = covar_sobol_init(DIM), few = covar_sobol_init(2);
    covar_sobol_shift(&s, 3);
    covar_sobol_shift(&few, 3);
    double sum[DIM] = {0}, u[DIM], v[2];
    bool inside = true;
    for (size_t i = 0; i < N; i++) {
        covar_sobol_next(u, &s);
        covar_sobol_next(v, &few);
        TEST_SAME_BITS(u, v, 2, sizeof(double));
        for (size_t j = 0; j < DIM; j++) {
            inside = inside && u[j] > 0 && u[j] < 1;
            sum[j] += u[j] / N;
        }
    }
    CU_ASSERT_TRUE(inside);
    for (size_t j = 0; j < DIM; j++)
        TEST_CLOSE(sum[j], 0.5, j < COVAR_SOBOL_DIMS ? 2e-3 : 4e-2);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"known points", test_known_points},
        {"one point in each interval", test_strata},
        {"boxes of two coordinates", test_pairs},
        {"shift is a function of the seed",
         test_shift_is_a_function_of_the_seed},
        {"more coordinates than the table", test_many_coordinates},
    };
    return CUTAP_RUN("sobol", cases);
}
