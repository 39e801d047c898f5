/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "datasets_util.h"

#include <math.h>

/* Is {train, test} a partition of 0..n-1? */
static void check_partition(const dataset_split *s, size_t n, const char *what)
{
    unsigned char *seen = calloc(n + 1, 1);
    size_t bad = 0;
    la_view side[2] = {s->train, s->test};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < la_view_count(side[k]); i++) {
            int32_t r = ((const int32_t *)side[k].data)[i];
            bad += r < 0 || (size_t)r >= n || seen[r]++ > 0;
        }
    for (size_t i = 0; i < n; i++)
        bad += !seen[i];
    test_check(bad == 0, __FILE__, __LINE__, "%s: %zu rows out of place", what,
               bad);
    free(seen);
}

static void test_random(void)
{
    covar_context *ctx = test_context();
    static const size_t sizes[] = {2, 3, 9, 10, 1000};
    for (size_t k = 0; k < NELEM(sizes); k++) {
        size_t n = sizes[k];
        dataset_split s = {0}, again = {0}, other = {0};
        TEST_OK(ctx, dataset_split_random(&s, ctx, n, 0.1, 7));
        TEST_OK(ctx, dataset_split_random(&again, ctx, n, 0.1, 7));
        TEST_OK(ctx, dataset_split_random(&other, ctx, n, 0.1, 8));
        TEST_INT(s.test.dim[0], n < 15 ? 1 : n / 10);
        TEST_INT(s.train.dim[0] + s.test.dim[0], n);
        check_partition(&s, n, "random");
        CU_ASSERT(memcmp(s.test.data, again.test.data,
                         s.test.dim[0] * sizeof(int32_t)) == 0);
        if (n == 1000)
            CU_ASSERT(memcmp(s.test.data, other.test.data,
                             s.test.dim[0] * sizeof(int32_t)) != 0);
        for (size_t i = 1; i < s.train.dim[0]; i++)
            CU_ASSERT(((int32_t *)s.train.data)[i] >
                      ((int32_t *)s.train.data)[i - 1]);
        dataset_split_clear(&s);
        dataset_split_clear(&again);
        dataset_split_clear(&other);
    }
    covar_context_free(ctx);
}

static void test_random_errors(void)
{
    covar_context *ctx = test_context();
    dataset_split s = {0};
    static const double bad[] = {0.0, 1.0, -0.1, (double)NAN};
    for (size_t i = 0; i < NELEM(bad); i++)
        TEST_STATUS(ctx, dataset_split_random(&s, ctx, 10, bad[i], 1),
                    COVAR_ERR_ARG);
    TEST_STATUS(ctx, dataset_split_random(&s, ctx, 1, 0.5, 1), COVAR_ERR_ARG);
    CU_ASSERT_PTR_NULL(s.owned);
    dataset_split_clear(&s);
    dataset_split_clear(NULL);
    covar_context_free(ctx);
}

/* Each row is test about equally often. */
static void test_random_is_even(void)
{
    enum { N = 20, RUNS = 2000 };
    covar_context *ctx = test_context();
    int count[N] = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        dataset_split s = {0};
        TEST_OK(ctx, dataset_split_random(&s, ctx, N, 0.25, seed));
        for (size_t i = 0; i < s.test.dim[0]; i++)
            count[((int32_t *)s.test.data)[i]]++;
        dataset_split_clear(&s);
    }
    for (int i = 0; i < N; i++) /* 500 +- 19.4, five of these */
        CU_ASSERT(abs(count[i] - RUNS / 4) < 97);
    covar_context_free(ctx);
}

/* numpy.random.RandomState(1).permutation(10), twice in a row. */
static void test_literature_small(void)
{
    covar_context *ctx = test_context();
    dataset_split s = {0};
    static const int32_t ten[] = {2, 9, 6, 4, 0, 3, 1, 7, 8, 5};
    static const int32_t next[] = {9, 5, 3, 0, 8, 4, 2, 1, 6, 7};
    TEST_OK(ctx, dataset_split_literature(&s, ctx, 10, 0));
    TEST_INT(s.train.dim[0], 9);
    CU_ASSERT(memcmp(s.train.data, ten, 9 * sizeof(*ten)) == 0);
    TEST_INT(*(int32_t *)s.test.data, ten[9]);
    TEST_OK(ctx, dataset_split_literature(&s, ctx, 10, 1));
    for (int i = 0; i < 9; i++)
        TEST_INT(((int32_t *)s.train.data)[i], next[i]);
    TEST_OK(ctx, dataset_split_literature(&s, ctx, 1, 3));
    TEST_INT(s.train.dim[0], 1);
    TEST_INT(s.test.dim[0], 0);
    TEST_STATUS(ctx, dataset_split_literature(&s, ctx, 0, 0), COVAR_ERR_ARG);
    TEST_STATUS(ctx, dataset_split_literature(&s, ctx, (size_t)1 << 31, 0),
                COVAR_ERR_ARG);
    dataset_split_clear(&s);
    covar_context_free(ctx);
}

/* The nine sets that come with the splits of the literature: all 165. */
static void test_literature_stored(void)
{
    static const char *const sets[] = {"boston",  "concrete", "energy",
                                       "kin8nm",  "naval",    "power",
                                       "protein", "wine_red", "yacht"};
    covar_context *ctx = test_context();
    size_t compared = 0, differ = 0;
    for (size_t i = 0; i < NELEM(sets); i++) {
        char name[64], path[600];
        dataset *d = NULL;
        snprintf(name, sizeof(name), "data/%s.h5", sets[i]);
        if (!test_shared_path(path, sizeof(path), name))
            continue;
        if (!TEST_OK(ctx, dataset_load(&d, ctx, path)))
            continue;
        for (size_t k = 0; k < dataset_split_count(d); k++, compared++) {
            dataset_split stored = {0}, made = {0};
            TEST_OK(ctx, dataset_split_get(&stored, ctx, d, k));
            TEST_OK(ctx, dataset_split_literature(&made, ctx, dataset_n(d), k));
            bool same = la_view_same_dims(stored.train, made.train) &&
                        la_view_same_dims(stored.test, made.test) &&
                        memcmp(stored.train.data, made.train.data,
                               made.train.dim[0] * sizeof(int32_t)) == 0 &&
                        memcmp(stored.test.data, made.test.data,
                               made.test.dim[0] * sizeof(int32_t)) == 0;
            differ += !test_check(same, __FILE__, __LINE__,
                                  "%s: split %zu differs", sets[i], k);
            dataset_split_clear(&stored);
            dataset_split_clear(&made);
        }
        dataset_free(d);
    }
    covar_context_free(ctx);
    if (compared == 0)
        CUTAP_SKIP("no shared data sets");
    cutap_note("%zu splits compared, %zu differ", compared, differ);
    TEST_INT(compared, 165);
}

/* A set of n rows with fold and, if wanted, splits. */
static dataset *make_set(covar_context *ctx, size_t n)
{
    dataset *d = NULL;
    double y[16] = {0};
    int32_t fold[16];
    for (size_t i = 0; i < n; i++)
        fold[i] = i == 0 ? -1 : (int32_t)(i % 3);
    TEST_OK(ctx, dataset_create(&d, ctx, "made"));
    TEST_OK(ctx, dataset_set_member(ctx, d, "y", la_vec_f64(y, n)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "fold", la_vec_i32(fold, n)));
    return d;
}

static void test_folds(void)
{
    covar_context *ctx = test_context();
    dataset *d = make_set(ctx, 7);
    dataset_split s = {0};
    TEST_INT(dataset_split_count(d), 3);
    for (size_t k = 0; k < 3; k++) {
        TEST_OK(ctx, dataset_split_get(&s, ctx, d, k));
        check_partition(&s, 7, "fold");
        CU_ASSERT(la_view_is_none(s.valid));
        for (size_t i = 0; i < s.test.dim[0]; i++)
            TEST_INT(((int32_t *)s.test.data)[i] % 3, k);
    }
    TEST_OK(ctx, dataset_split_get(&s, ctx, d, 0));
    TEST_INT(s.test.dim[0], 2); /* 3 and 6: row 0 always trains */
    TEST_STATUS(ctx, dataset_split_get(&s, ctx, d, 3), COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "has 3 splits; there is no split 3");
    const int32_t few[] = {0, 1};
    TEST_OK(ctx, dataset_set_member(ctx, d, "fold", la_vec_i32(few, 2)));
    TEST_STATUS(ctx, dataset_split_get(&s, ctx, d, 0), COVAR_ERR_FORMAT);
    TEST_CONTAINS(covar_error_text(ctx), "fold has 2 rows, but there are 7");
    dataset_split_clear(&s);
    dataset_free(d);
    covar_context_free(ctx);
}

static void put_rows(covar_context *ctx, dataset *d, const char *name,
                     const int32_t *rows, size_t n)
{
    TEST_OK(ctx, dataset_set_member(ctx, d, name, la_vec_i32(rows, n)));
}

static void test_lists(void)
{
    covar_context *ctx = test_context();
    dataset *d = make_set(ctx, 5);
    dataset_split s = {0};
    const int32_t train[] = {4, 0}, test[] = {2, 1}, valid[] = {3};
    put_rows(ctx, d, "splits/train_0", train, 2);
    TEST_INT(dataset_split_count(d), 3); /* the folds, without a test_0 */
    put_rows(ctx, d, "splits/test_0", test, 2);
    put_rows(ctx, d, "splits/valid_0", valid, 1);
    TEST_INT(dataset_split_count(d), 1);
    TEST_OK(ctx, dataset_split_get(&s, ctx, d, 0));
    CU_ASSERT_PTR_EQUAL(s.train.data, dataset_member(d, "splits/train_0").data);
    TEST_INT(s.valid.dim[0], 1);
    const int32_t twice[] = {2, 4}, outside[] = {2, 5}, below[] = {-1};
    put_rows(ctx, d, "splits/test_0", twice, 2);
    TEST_STATUS(ctx, dataset_split_get(&s, ctx, d, 0), COVAR_ERR_FORMAT);
    TEST_CONTAINS(covar_error_text(ctx), "split 0 has row 4 twice");
    put_rows(ctx, d, "splits/test_0", outside, 2);
    TEST_STATUS(ctx, dataset_split_get(&s, ctx, d, 0), COVAR_ERR_FORMAT);
    TEST_CONTAINS(covar_error_text(ctx), "has row 5, but there are 5");
    put_rows(ctx, d, "splits/test_0", below, 1);
    TEST_STATUS(ctx, dataset_split_get(&s, ctx, d, 0), COVAR_ERR_FORMAT);
    dataset_split_clear(&s);
    dataset_free(d);
    covar_context_free(ctx);
}

static covar_status every_kind(covar_context *ctx, void *data)
{
    dataset_split s = {0};
    dataset *d = NULL;
    const double y[3] = {0};
    const int32_t fold[] = {0, 1, -1}, rows[] = {0, 1};
    (void)data;
    covar_status status = dataset_create(&d, ctx, "made");
    if (status == COVAR_OK)
        status = dataset_set_member(ctx, d, "y", la_vec_f64(y, 3));
    if (status == COVAR_OK)
        status = dataset_set_member(ctx, d, "fold", la_vec_i32(fold, 3));
    if (status == COVAR_OK)
        status = dataset_split_get(&s, ctx, d, 1);
    if (status == COVAR_OK)
        status =
            dataset_set_member(ctx, d, "splits/train_0", la_vec_i32(rows, 1));
    if (status == COVAR_OK)
        status = dataset_set_member(ctx, d, "splits/test_0",
                                    la_vec_i32(rows + 1, 1));
    if (status == COVAR_OK)
        status = dataset_split_get(&s, ctx, d, 0);
    if (status == COVAR_OK)
        status = dataset_split_random(&s, ctx, 10, 0.3, 1);
    if (status == COVAR_OK)
        status = dataset_split_literature(&s, ctx, 10, 1);
    dataset_split_clear(&s);
    dataset_free(d);
    return status;
}

static void test_allocations(void)
{
    test_allocation_sweep("splits", every_kind, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"random", test_random},
        {"random: errors", test_random_errors},
        {"random: every row alike", test_random_is_even},
        {"literature, by hand", test_literature_small},
        {"literature, stored ones", test_literature_stored},
        {"folds", test_folds},
        {"lists of rows", test_lists},
        {"every allocation fails", test_allocations},
    };
    return CUTAP_RUN("datasets split", cases);
}
