/* The test helpers themselves: the sweep and the tables of tests.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heap.h"
#include "test_util.h"

#include <math.h>

static covar_status make_three(covar_context *ctx, void *data)
{
    covar_heap *heap = covar_context_heap(ctx);
    void *parts[3] = {NULL, NULL, NULL};
    covar_status status = COVAR_OK;
    (void)data;
    for (size_t i = 0; i < 3 && status == COVAR_OK; i++) {
        parts[i] = covar_heap_alloc(heap, i, 8);
        if (!parts[i])
            status = covar_fail_nomem(ctx, "make_three");
    }
    for (size_t i = 0; i < 3; i++)
        covar_heap_free(heap, parts[i]);
    return status;
}

static void test_sweep(void)
{
    TEST_INT(test_allocation_sweep("three blocks", make_three, NULL), 3);
}

static void test_comparisons(void)
{
    double a[] = {1, NAN, INFINITY}, b[] = {1 + 1e-12, NAN, INFINITY};
    TEST_CLOSE(a[0], b[0], 1e-11);
    TEST_REL(1e-30, 1.0001e-30, 1e-3);
    TEST_CLOSE_ARRAY(a, b, NELEM(a), 1e-11);
    TEST_CLOSE_ARRAY(a, b, 0, 0);
    TEST_SAME_BITS(a, a, NELEM(a), sizeof(a[0]));
}

static void test_shared(void)
{
    char path[4096];
    CU_ASSERT(!test_shared_path(path, sizeof(path), "no/such/file"));
    TEST_SHARED(path, "data/README.md");
    TEST_CONTAINS(path, "data/README.md");
}

static void test_row(const void *data)
{
    const int *row = data;
    TEST_INT(row[0] + row[1], row[2]);
}

int main(void)
{
    static const int rows[][3] = {{1, 2, 3}, {4, 5, 9}};
    static const char *const names[] = {"row 1", "row 2"};
    for (size_t i = 0; i < NELEM(rows); i++)
        cutap_add("table", names[i], test_row, rows[i]);
    static const cutap_case cases[] = {
        {"sweep", test_sweep},
        {"comparisons", test_comparisons},
        {"shared", test_shared},
    };
    return CUTAP_RUN("util", cases);
}
