/* Train and test rows: stored, random, and those of the literature.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_impl.h"
#include <covar/rng.h>

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a split owns. */
typedef struct owned {
    covar_heap *heap;
    int32_t *rows;
} owned;

void dataset_split_clear(dataset_split *split)
{
    if (!split)
        return;
    owned *o = split->owned;
    if (o) {
        covar_heap *heap = o->heap;
        covar_heap_free(heap, o->rows);
        covar_heap_free(heap, o);
        covar_heap_release(heap);
    }
    *split = (dataset_split){.train = la_view_none(),
                             .test = la_view_none(),
                             .valid = la_view_none()};
}

/* Gives the split n rows of its own: the first n_train train, the rest test. */
static covar_status own_rows(int32_t **rows, dataset_split *out,
                             covar_context *ctx, size_t n)
{
    covar_heap *heap = covar_context_heap(ctx);
    owned *o = covar_heap_calloc(heap, 1, sizeof(*o));
    int32_t *r = o ? covar_heap_alloc(heap, n, sizeof(*r)) : NULL;
    if (!r) {
        covar_heap_free(heap, o);
        return covar_fail_nomem(ctx, "dataset_split");
    }
    *o = (owned){.heap = covar_heap_retain(heap), .rows = r};
    out->owned = o;
    *rows = r;
    return COVAR_OK;
}

/* ---- stored ---- */

static la_view side(const dataset *d, const char *which, size_t k)
{
    char name[64];
    snprintf(name, sizeof(name), "splits/%s_%zu", which, k);
    la_view rows = dataset_member(d, name);
    return rows.rank == 1 && rows.dtype == LA_I32 ? rows : la_view_none();
}

static la_view folds(const dataset *d)
{
    la_view fold = dataset_member(d, "fold");
    return fold.rank == 1 && fold.dtype == LA_I32 ? fold : la_view_none();
}

size_t dataset_split_count(const dataset *d)
{
    size_t k = 0;
    if (!d)
        return 0;
    while (!la_view_is_none(side(d, "train", k)) &&
           !la_view_is_none(side(d, "test", k)))
        k++;
    la_view fold = folds(d);
    if (k > 0 || la_view_is_none(fold))
        return k;
    const int32_t *f = fold.data;
    int32_t most = -1;
    for (size_t i = 0; i < fold.dim[0]; i++)
        most = f[i] > most ? f[i] : most;
    return (size_t)((int64_t)most + 1);
}

/* Marks the rows of one side; each may come once in the whole split. */
static covar_status mark(covar_context *ctx, const dataset *d, la_view rows,
                         uint8_t *seen, size_t n, size_t k)
{
    const int32_t *r = rows.data;
    for (size_t i = 0; !la_view_is_none(rows) && i < rows.dim[0]; i++) {
        if (r[i] < 0 || (size_t)r[i] >= n)
            return covar_fail(ctx, COVAR_ERR_FORMAT,
                              "%s: split %zu has row %ld, but there are %zu",
                              d->path, k, (long)r[i], n);
        if (seen[r[i]]++)
            return covar_fail(ctx, COVAR_ERR_FORMAT,
                              "%s: split %zu has row %ld twice", d->path, k,
                              (long)r[i]);
    }
    return COVAR_OK;
}

static covar_status split_from_lists(dataset_split *out, covar_context *ctx,
                                     const dataset *d, size_t k)
{
    size_t n = dataset_n(d);
    covar_heap *heap = covar_context_heap(ctx);
    dataset_split s = {.train = side(d, "train", k),
                       .test = side(d, "test", k),
                       .valid = side(d, "valid", k)};
    uint8_t *seen = covar_heap_calloc(heap, n, 1);
    if (!seen)
        return covar_fail_nomem(ctx, "dataset_split_get");
    covar_status status = mark(ctx, d, s.train, seen, n, k);
    if (status == COVAR_OK)
        status = mark(ctx, d, s.test, seen, n, k);
    if (status == COVAR_OK)
        status = mark(ctx, d, s.valid, seen, n, k);
    covar_heap_free(heap, seen);
    if (status == COVAR_OK)
        *out = s;
    return status;
}

/* Puts rows 0..n-1 into train and test, ascending, by a mark of each. */
static void deal(dataset_split *out, int32_t *rows, size_t n,
                 const int32_t *fold, int32_t k)
{
    size_t train = 0, test = 0;
    for (size_t i = 0; i < n; i++)
        train += fold[i] != k;
    for (size_t i = 0, next = 0; i < n; i++) {
        if (fold[i] != k)
            rows[next++] = (int32_t)i;
        else
            rows[train + test++] = (int32_t)i;
    }
    out->train = la_vec_i32(rows, train);
    out->test = la_vec_i32(rows + train, test);
}

covar_status dataset_split_get(dataset_split *out, covar_context *ctx,
                               const dataset *d, size_t k)
{
    if (!out || !ctx || !d)
        return dataset_refuse(ctx, "dataset_split_get",
                              !ctx  ? "ctx"
                              : out ? "d"
                                    : "out");
    size_t count = dataset_split_count(d);
    dataset_split_clear(out);
    if (k >= count)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "%s has %zu splits; there is no split %zu "
                          "(the first is 0)",
                          d->path, count, k);
    if (!la_view_is_none(side(d, "train", 0)) &&
        !la_view_is_none(side(d, "test", 0)))
        return split_from_lists(out, ctx, d, k);
    la_view fold = folds(d);
    if (fold.dim[0] != dataset_n(d))
        return covar_fail(ctx, COVAR_ERR_FORMAT,
                          "%s: fold has %zu rows, but there are %zu", d->path,
                          fold.dim[0], dataset_n(d));
    int32_t *rows = NULL;
    COVAR_TRY(own_rows(&rows, out, ctx, fold.dim[0]));
    deal(out, rows, fold.dim[0], fold.data, (int32_t)k);
    return COVAR_OK;
}

/* ---- random ---- */

covar_status dataset_split_random(dataset_split *out, covar_context *ctx,
                                  size_t n, double test_fraction, uint64_t seed)
{
    if (!out || !ctx)
        return dataset_refuse(ctx, "dataset_split_random", ctx ? "out" : "ctx");
    dataset_split_clear(out);
    if (!(test_fraction > 0.0 && test_fraction < 1.0) || n < 2 || n > INT32_MAX)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "dataset_split_random: cannot take %g of %zu rows",
                          test_fraction, n);
    size_t n_test = (size_t)floor(test_fraction * (double)n + 0.5);
    n_test = n_test < 1 ? 1 : n_test > n - 1 ? n - 1 : n_test;
    covar_heap *heap = covar_context_heap(ctx);
    covar_rng rng = covar_rng_init(seed, 0);
    int32_t *rows = NULL;
    size_t *order = covar_heap_alloc(heap, n, sizeof(*order));
    uint64_t *words = covar_heap_alloc(heap, n, sizeof(*words));
    int32_t *is_test = covar_heap_calloc(heap, n, sizeof(*is_test));
    covar_status status = order && words && is_test
                              ? own_rows(&rows, out, ctx, n)
                              : covar_fail_nomem(ctx, "dataset_split_random");
    if (status == COVAR_OK) {
        covar_rng_permutation(order, words, n, &rng);
        for (size_t i = 0; i < n_test; i++)
            is_test[order[i]] = 1;
        deal(out, rows, n, is_test, 1);
    }
    covar_heap_free(heap, is_test);
    covar_heap_free(heap, words);
    covar_heap_free(heap, order);
    return status;
}

/* ---- the literature's ---- */

/* Fisher-Yates from the end, as numpy's RandomState(1).permutation does it. */
static void shuffle(int32_t *a, size_t n, const gsl_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        a[i] = (int32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        unsigned long mask = i, j;
        for (unsigned shift = 1; shift < 32; shift *= 2)
            mask |= mask >> shift;
        do
            j = gsl_rng_get(rng) & mask;
        while (j > i);
        int32_t moved = a[i];
        a[i] = a[j];
        a[j] = moved;
    }
}

covar_status dataset_split_literature(dataset_split *out, covar_context *ctx,
                                      size_t n, size_t k)
{
    enum { MOST_SPLITS = 10000 }; /* every split shuffles k + 1 times */
    if (!out || !ctx)
        return dataset_refuse(ctx, "dataset_split_literature",
                              ctx ? "out" : "ctx");
    dataset_split_clear(out);
    if (n == 0 || n > INT32_MAX)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "dataset_split_literature: cannot split %zu rows", n);
    if (k >= MOST_SPLITS)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "dataset_split_literature: split %zu is not in "
                          "0..%d",
                          k, MOST_SPLITS - 1);
    covar_heap *heap = covar_context_heap(ctx);
    int32_t *rows = NULL;
    /* Not gsl_rng_alloc: that would end the program when out of memory. */
    gsl_rng rng = {.type = gsl_rng_mt19937,
                   .state = covar_heap_alloc(heap, gsl_rng_mt19937->size, 1)};
    if (!rng.state)
        return covar_fail_nomem(ctx, "dataset_split_literature");
    covar_status status = own_rows(&rows, out, ctx, n);
    if (status == COVAR_OK) {
        size_t train = (size_t)rint(0.9 * (double)n);
        gsl_rng_set(&rng, 1);
        for (size_t i = 0; i <= k; i++)
            shuffle(rows, n, &rng);
        out->train = la_vec_i32(rows, train);
        out->test = la_vec_i32(rows + train, n - train);
    }
    covar_heap_free(heap, rng.state);
    return status;
}
