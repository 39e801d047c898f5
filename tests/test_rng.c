/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <covar/rng.h>
#include "test_util.h"

#include <math.h>
#include <stdlib.h>

enum { N_DRAWS = 200000 };

/* The kat_vectors that Random123 publishes for philox4x32 with 10 rounds. */
static void test_known_answers(void)
{
    static const struct {
        uint64_t seed, stream, index;
        uint32_t words[4];
    } known[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX,
         UINT64_MAX,
         UINT64_MAX,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {UINT64_C(0x299f31d0a4093822),
         UINT64_C(0x0370734413198a2e),
         UINT64_C(0x85a308d3243f6a88),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < NELEM(known); i++) {
        uint32_t out[4];
        covar_philox(out, known[i].seed, known[i].stream, known[i].index);
        for (size_t k = 0; k < 4; k++)
            TEST_INT(out[k], known[i].words[k]);
    }
}

/* Uniforms by hand from the first block of seed 0, stream 0. */
static void test_uniform_layout(void)
{
    covar_rng rng = covar_rng_init(0, 0);
    double u[3];
    covar_rng_uniform(u, 3, &rng);
    uint64_t first = (UINT64_C(0xe169c58d) << 21) ^ (0x6627e8d5u >> 11);
    uint64_t second = (UINT64_C(0x9b00dbd8) << 21) ^ (0xbc57ac4cu >> 11);
    TEST_CLOSE(u[0], ldexp((double)first, -53), 0);
    TEST_CLOSE(u[1], ldexp((double)second, -53), 0);
    TEST_INT(rng.index, 2);
}

static void test_normal_layout(void)
{
    covar_rng a = covar_rng_init(5, 6), b = a;
    double u[2], z[2];
    covar_rng_uniform(u, 2, &a);
    covar_rng_normal(z, 2, &b);
    double r = sqrt(-2 * log(u[0] + 0x1p-53));
    double t = 2 * acos(-1.0) * (u[1] + 0x1p-53);
    TEST_CLOSE(z[0], r * cos(t), 1e-14);
    TEST_CLOSE(z[1], r * sin(t), 1e-14);
}

typedef void draw(double *out, size_t n, covar_rng *rng);

/* Sizes 0, 1, 2, 3 and even chunks give the same numbers as one call. */
static void check_chunks(draw *fill)
{
    double whole[101], part[102];
    covar_rng rng = covar_rng_init(42, 7);
    covar_rng copy = rng;
    fill(whole, 101, &rng);
    TEST_INT(rng.index, 51);
    size_t done = 0;
    for (size_t chunk = 0; done < 101; chunk = (chunk + 2) % 14) {
        size_t n = chunk < 101 - done ? chunk : 101 - done;
        fill(part + done, n, &copy);
        done += n;
    }
    TEST_SAME_BITS(part, whole, 101, sizeof(double));
    TEST_INT(copy.index, rng.index);
    for (size_t n = 0; n <= 3; n++) {
        rng = covar_rng_init(42, 7);
        part[n] = -99;
        fill(part, n, &rng);
        TEST_SAME_BITS(part, whole, n, sizeof(double));
        TEST_CLOSE(part[n], -99, 0);
        TEST_INT(rng.index, (n + 1) / 2);
    }
}

static void test_chunks(void)
{
    check_chunks(covar_rng_uniform);
    check_chunks(covar_rng_normal);
}

/* Sample moments within 5 standard errors of the true ones. */
static void check_moment(const double *x, size_t n, int power, double mean,
                         double variance)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pow(x[i], power);
    double error = sum / (double)n - mean;
    TEST_CLOSE(error, 0, 5 * sqrt(variance / (double)n));
}

static void test_moments(void)
{
    double *x = malloc(N_DRAWS * sizeof(*x));
    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    covar_rng rng = covar_rng_init(1, 2);
    covar_rng_uniform(x, N_DRAWS, &rng);
    check_moment(x, N_DRAWS, 1, 1.0 / 2, 1.0 / 12);
    check_moment(x, N_DRAWS, 2, 1.0 / 3, 4.0 / 45);
    for (size_t i = 0; i < N_DRAWS; i++)
        if (!(x[i] >= 0 && x[i] < 1))
            CU_FAIL("uniform outside [0, 1)");
    covar_rng_normal(x, N_DRAWS, &rng);
    check_moment(x, N_DRAWS, 1, 0, 1);
    check_moment(x, N_DRAWS, 2, 1, 2);
    check_moment(x, N_DRAWS, 3, 0, 15);
    check_moment(x, N_DRAWS, 4, 3, 96);
    double lag = 0;
    for (size_t i = 0; i + 1 < N_DRAWS; i++)
        lag += x[i] * x[i + 1];
    TEST_CLOSE(lag / N_DRAWS, 0, 5 / sqrt((double)N_DRAWS));
    free(x);
}

static void test_streams_differ(void)
{
    double a[64], b[64], c[64];
    covar_rng ra = covar_rng_init(1, 0), rb = covar_rng_init(1, 1),
              rc = covar_rng_init(2, 0);
    covar_rng_uniform(a, 64, &ra);
    covar_rng_uniform(b, 64, &rb);
    covar_rng_uniform(c, 64, &rc);
    for (size_t i = 0; i < 64; i++)
        CU_ASSERT(a[i] != b[i] && a[i] != c[i]);
}

static void test_permutation(void)
{
    size_t order[1000];
    uint64_t work[1000];
    static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 999, 1000};
    for (size_t k = 0; k < NELEM(sizes); k++) {
        bool seen[1000] = {false};
        covar_rng rng = covar_rng_init(3, k);
        covar_rng_permutation(order, work, sizes[k], &rng);
        TEST_INT(rng.index, (sizes[k] + 1) / 2);
        for (size_t i = 0; i < sizes[k]; i++) {
            CU_ASSERT_FATAL(order[i] < sizes[k] && !seen[order[i]]);
            seen[order[i]] = true;
            CU_ASSERT(i == 0 || work[order[i - 1]] <= work[order[i]]);
        }
    }
}

/* Each of the 6 orders of 3 things comes up about n / 6 times. */
static void test_permutation_fair(void)
{
    double counts[6] = {0};
    covar_rng rng = covar_rng_init(9, 9);
    const int n = 12000;
    for (int i = 0; i < n; i++) {
        size_t p[3];
        uint64_t work[3];
        covar_rng_permutation(p, work, 3, &rng);
        counts[2 * p[0] + (p[1] > p[2])]++;
    }
    double chi2 = 0;
    for (size_t i = 0; i < 6; i++)
        chi2 += pow(counts[i] - n / 6.0, 2) / (n / 6.0);
    cutap_note("chi2 of 5 degrees of freedom: %.2f", chi2);
    CU_ASSERT(chi2 < 25); /* exceeded with probability 1.4e-4 */
}

int main(void)
{
    static const cutap_case cases[] = {
        {"known answers", test_known_answers},
        {"uniform layout", test_uniform_layout},
        {"normal layout", test_normal_layout},
        {"chunks", test_chunks},
        {"moments", test_moments},
        {"streams differ", test_streams_differ},
        {"permutation", test_permutation},
        {"permutation is fair", test_permutation_fair},
    };
    return CUTAP_RUN("rng", cases);
}
