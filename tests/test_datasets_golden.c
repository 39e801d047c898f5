/* Every shared data set against golden/datasets.txt, which was made with h5py;
 * and the bundled ones against the shared ones they must equal.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "datasets_util.h"

#include <math.h>

static long double sum_of(la_view x, long double *size)
{
    long double sum = 0.0L;
    *size = 0.0L;
    for (size_t i = 0; i < la_view_count(x); i++) {
        double v = x.dtype == LA_F64   ? ((const double *)x.data)[i]
                   : x.dtype == LA_F32 ? (double)((const float *)x.data)[i]
                   : x.dtype == LA_I32 ? (double)((const int32_t *)x.data)[i]
                                       : (double)((const uint8_t *)x.data)[i];
        if (isnan(v))
            continue;
        sum += v;
        *size += fabsl((long double)v);
    }
    return sum;
}

static const char *shape_of(char buf[80], la_view x)
{
    size_t used = 0;
    buf[0] = '\0';
    for (int i = 0; i < x.rank; i++)
        used += (size_t)snprintf(buf + used, 80 - used, "%s%zu",
                                 i > 0 ? "x" : "", x.dim[i]);
    return buf;
}

static void check_member(const dataset *d, const char *set, const char *line)
{
    char name[64], type[8], dims[64], shape[80];
    size_t nan = 0;
    double sum = 0.0;
    if (!test_check(sscanf(line, "member %63s %7s %63s %zu %lf", name, type,
                           dims, &nan, &sum) == 5,
                    __FILE__, __LINE__, "bad line: %s", line))
        return;
    la_view x = dataset_member(d, name);
    long double size = 0.0L, ours = sum_of(x, &size);
    bool same = strcmp(la_dtype_name(x.dtype), type) == 0 &&
                strcmp(shape_of(shape, x), dims) == 0 &&
                dataset_nan_count(x) == nan &&
                fabsl(ours - (long double)sum) <= 1e-15L * size;
    test_check(same, __FILE__, __LINE__,
               "%s: %s is %s %s, %zu NaN, sum %.17Lg, not %s", set, name,
               la_dtype_name(x.dtype), shape, dataset_nan_count(x), ours, line);
}

static dataset *open_set(covar_context *ctx, const char *line, char *set)
{
    char path[600], name[80];
    size_t n = 0, columns = 0, splits = 0;
    dataset *d = NULL;
    sscanf(line, "set %63s %zu %zu %zu", set, &n, &columns, &splits);
    snprintf(name, sizeof(name), "data/%s.h5", set);
    if (!test_shared_path(path, sizeof(path), name))
        return NULL;
    if (!TEST_OK(ctx, dataset_load(&d, ctx, path)))
        return NULL;
    TEST_INT(dataset_n(d), n);
    TEST_INT(dataset_d(d), columns);
    TEST_INT(dataset_split_count(d), splits);
    TEST_TEXT(dataset_attribute(d, "name"), set);
    return d;
}

/* Each stored split has rows that exist, none twice; how many splits. */
static int check_splits(covar_context *ctx, const dataset *d)
{
    size_t count = d ? dataset_split_count(d) : 0;
    for (size_t k = 0; k < count; k++) {
        dataset_split s = {0};
        TEST_OK(ctx, dataset_split_get(&s, ctx, d, k));
        CU_ASSERT(s.train.dim[0] > 0 && s.test.dim[0] > 0);
        dataset_split_clear(&s);
    }
    return (int)count;
}

static void test_golden(void)
{
    char path[600], line[400], set[64] = "";
    covar_context *ctx = test_context();
    CU_ASSERT(
        test_source_path(path, sizeof(path), "tests/golden/datasets.txt"));
    FILE *f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    dataset *d = NULL;
    int sets = 0, members = 0, splits = 0;
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, "set ", 4) == 0) {
            dataset_free(d);
            d = open_set(ctx, line, set);
            sets += d != NULL;
            splits += check_splits(ctx, d);
        } else if (d && strncmp(line, "member ", 7) == 0) {
            check_member(d, set, line);
            members++;
        }
    }
    fclose(f);
    dataset_free(d);
    covar_context_free(ctx);
    if (sets == 0)
        CUTAP_SKIP("no shared data sets");
    cutap_note("%d sets, %d members, %d splits", sets, members, splits);
    TEST_INT(sets, 88);
}

typedef struct bundled {
    const char *name, *shared, *target;
    size_t n, d, nan;
    double sum_x, sum_y;
} bundled;

static const bundled sets[] = {
    {"airpassengers", "airpassengers", "passengers", 144, 1, 0, 281514.0,
     40363.0},
    {"co2_monthly", "co2_r", "ppm", 468, 1, 0, 925918.50000078, 157741.05},
    {"co2_weekly", "co2_weekly", "ppm", 2284, 1, 59, 4522583.421333932,
     756816.5},
    {"faithful", "faithful", "waiting", 272, 1, 0, 948.677, 19284.0},
    {"lakehuron", "lakehuron", "level", 98, 1, 0, 188503.0, 56742.4},
    {"longley", "nist_longley", "employed", 16, 6, 0, 8207657.9, 1045072.0},
    {"lynx", "lynx", "trappings", 114, 1, 0, 214035.0, 175334.0},
    {"mcycle", "mcycle", "accel_g", 133, 1, 0, 3348.8, -3397.6},
    {"nile", "nile", "flow", 100, 1, 0, 192050.0, 91935.0},
    {"sunspots_year", "sunspot_year", "sunspots", 289, 1, 0, 532916.0, 14049.3},
};

static void check_equal(const dataset *a, const dataset *b, const char *member)
{
    la_view x = dataset_member(a, member), y = dataset_member(b, member);
    if (test_check(la_view_same_dims(x, y), __FILE__, __LINE__,
                   "%s of %s has other dims than the shared one", member,
                   dataset_attribute(a, "name")))
        TEST_SAME_BITS(x.data, y.data, la_view_count(x), sizeof(double));
}

static void check_bundled(covar_context *ctx, const bundled *s)
{
    char name[80], path[600], shared[600];
    dataset *d = NULL, *other = NULL;
    dataset_xy xy = {0};
    snprintf(name, sizeof(name), "datasets/%s.h5", s->name);
    CU_ASSERT(test_source_path(path, sizeof(path), name));
    if (!TEST_OK(ctx, dataset_load(&d, ctx, path)))
        return;
    TEST_OK(ctx, dataset_select(&xy, ctx, d, NULL, NULL));
    TEST_OK(ctx, dataset_check_inputs(ctx, &xy));
    TEST_INT(xy.n, s->n);
    TEST_INT(xy.d, s->d);
    TEST_INT(dataset_nan_count(xy.y), s->nan);
    TEST_TEXT(xy.y_name, s->target);
    TEST_TEXT(dataset_attribute(d, "name"), s->name);
    CU_ASSERT(dataset_attribute(d, "title") && dataset_attribute(d, "source") &&
              dataset_attribute(d, "licence"));
    long double size;
    TEST_REL((double)sum_of(xy.X, &size), s->sum_x, 1e-15);
    TEST_REL((double)sum_of(xy.y, &size), s->sum_y, 1e-15);
    snprintf(name, sizeof(name), "data/%s.h5", s->shared);
    if (test_shared_path(shared, sizeof(shared), name)) {
        TEST_OK(ctx, dataset_load(&other, ctx, shared));
        if (other) {
            check_equal(d, other, "X");
            check_equal(d, other, "y");
        }
    }
    dataset_xy_clear(&xy);
    dataset_free(other);
    dataset_free(d);
}

static void test_bundled(void)
{
    covar_context *ctx = test_context();
    for (size_t i = 0; i < NELEM(sets); i++) {
        TEST_TEXT(dataset_bundled_name(i), sets[i].name);
        check_bundled(ctx, &sets[i]);
    }
    CU_ASSERT_PTR_NULL(dataset_bundled_name(NELEM(sets)));
    dataset *d = NULL;
    TEST_STATUS(ctx, dataset_load_bundled(&d, ctx, "../nile"), COVAR_ERR_NAME);
    TEST_CONTAINS(covar_error_text(ctx), "there is no `../nile`; there are "
                                         "airpassengers, co2_monthly");
    TEST_CONTAINS(covar_error_text(ctx), "nile, sunspots_year");
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"bundled sets", test_bundled},
        {"shared sets, member by member, and splits", test_golden},
    };
    return CUTAP_RUN("datasets golden", cases);
}
