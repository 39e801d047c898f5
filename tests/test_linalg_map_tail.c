/* f(x) depends on x alone: arrays of every length up to three vectors and one
 * element, at every offset, have the bits of each element computed alone.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <covar/linalg.h>
#include <covar/rng.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "test_util.h"

enum {
    VECTOR = 16, /* elements of the longest vector, f32 on v4 */
    LONGEST = 3 * VECTOR + 1,
    ROOM = LONGEST + VECTOR /* lengths behind every offset */
};

typedef struct arrays {
    double x64[3][ROOM], alone64[ROOM], y64[ROOM];
    float x32[3][ROOM], alone32[ROOM], y32[ROOM];
} arrays;

static void fill(arrays *a)
{
    static const double special[] = {0,     -0.0, (double)NAN, -3,   1e-320,
                                     -1e-8, 720,  -750,        0.69, 25};
    covar_rng rng = covar_rng_init(7, 0);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < ROOM; i++) {
            double u;
            covar_rng_uniform(&u, 1, &rng);
            const double x =
                i % 5 == 4 ? special[(i / 5 + k) % NELEM(special)] : 8 * u - 4;
            a->x64[k][i] = x;
            a->x32[k][i] = (float)x;
        }
}

/* n elements from `offset` on; y is where the result goes. */
static void run(covar_context *ctx, la_map_row row, la_dtype t, arrays *a,
                size_t offset, size_t n, void *y)
{
    const la_exec exec = la_exec_cpu(ctx);
    la_view in[3];
    for (int k = 0; k < 3; k++)
        in[k] = t == LA_F64 ? la_vec_f64(a->x64[k] + offset, n)
                            : la_vec_f32(a->x32[k] + offset, n);
    TEST_OK(ctx, la_map(&exec, row, la_view_dense(y, t, 1, &n), in));
}

/* Equal bits; the sign and the digits of a NaN do not count. */
static bool same(la_dtype t, const char *a, const char *b, size_t n)
{
    const size_t size = la_dtype_size(t);
    for (size_t i = 0; i < n; i++) {
        const void *p = a + i * size, *q = b + i * size;
        const la_view x = la_view_dense(p, t, 0, NULL);
        const la_view y = la_view_dense(q, t, 0, NULL);
        if (memcmp(p, q, size) != 0 &&
            !(isnan(la_view_get(x, 0)) && isnan(la_view_get(y, 0))))
            return false;
    }
    return true;
}

static void test_row_dtype(covar_context *ctx, la_map_row row, la_dtype t,
                           arrays *a)
{
    const size_t size = la_dtype_size(t);
    char *alone = t == LA_F64 ? (char *)a->alone64 : (char *)a->alone32;
    char *y = t == LA_F64 ? (char *)a->y64 : (char *)a->y32;
    for (size_t i = 0; i < ROOM; i++)
        run(ctx, row, t, a, i, 1, alone + i * size);
    for (size_t offset = 0; offset < VECTOR; offset++)
        for (size_t n = 1; n <= LONGEST; n++) {
            char *out = y + offset * size;
            memset(y, 0x55, ROOM * size);
            run(ctx, row, t, a, offset, n, out);
            bool good = same(t, out, alone + offset * size, n);
            for (size_t i = 0; i < ROOM * size && good; i++)
                good = (i >= offset * size && i < (offset + n) * size) ||
                       y[i] == 0x55;
            if (!test_check(good, __FILE__, __LINE__,
                            "%s %s %s: length %zu at offset %zu",
                            covar_isa_name(covar_context_isa(ctx)),
                            la_dtype_name(t), la_map_name(row), n, offset))
                return;
        }
}

static void test_isa(const void *data)
{
    static arrays a;
    const covar_isa isa = *(const covar_isa *)data;
    covar_context *ctx = test_context();
    covar_context_set_isa(ctx, isa);
    const bool here = covar_context_isa(ctx) == isa;
    fill(&a);
    for (int row = 0; here && row < LA_MAP_COUNT; row++) {
        test_row_dtype(ctx, (la_map_row)row, LA_F64, &a);
        test_row_dtype(ctx, (la_map_row)row, LA_F32, &a);
    }
    covar_context_free(ctx);
    if (!here)
        CUTAP_SKIP("not on this processor");
}

int main(void)
{
    static const covar_isa isas[] = {COVAR_ISA_BASELINE, COVAR_ISA_V3,
                                     COVAR_ISA_V4};
    for (size_t i = 0; i < NELEM(isas); i++)
        cutap_add("linalg map tails", covar_isa_name(isas[i]), test_isa,
                  &isas[i]);
    return cutap_finish();
}
