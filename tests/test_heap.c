/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heap.h"
#include "test_util.h"

#include <stdint.h>
#include <string.h>

static void test_alignment_and_zero(void)
{
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 4095, 4096, 4097};
    covar_heap *heap = covar_heap_create(NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(heap);
    for (size_t i = 0; i < NELEM(sizes); i++) {
        char *p = covar_heap_calloc(heap, sizes[i], 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(p);
        TEST_INT((uintptr_t)p % 64, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            CU_ASSERT(p[k] == 0);
        memset(p, 1, sizes[i]);
        covar_heap_free(heap, p);
    }
    covar_heap_free(heap, NULL);
    covar_heap_release(heap);
}

static void test_overflow(void)
{
    test_allocator t = {0};
    covar_allocator allocator = test_allocator_use(&t);
    covar_heap *heap = covar_heap_create(&allocator);
    test_allocator_arm(&t, 0);
    CU_ASSERT_PTR_NULL(covar_heap_alloc(heap, SIZE_MAX, 2));
    CU_ASSERT_PTR_NULL(covar_heap_alloc(heap, SIZE_MAX / 8 + 1, 8));
    CU_ASSERT_PTR_NULL(covar_heap_alloc(heap, SIZE_MAX, 1));
    CU_ASSERT_PTR_NULL(covar_heap_calloc(heap, 1, SIZE_MAX - 10));
    CU_ASSERT_PTR_NULL(covar_heap_grow(heap, NULL, 0, SIZE_MAX, 16));
    TEST_INT(t.allocations, 0);
    covar_heap_release(heap);
    TEST_INT(t.live_blocks, 0);
}

static void test_sizes_return(void)
{
    test_allocator t = {0};
    covar_allocator allocator = test_allocator_use(&t);
    covar_heap *heap = covar_heap_create(&allocator);
    void *a = covar_heap_alloc(heap, 3, 8);
    void *b = covar_heap_alloc(heap, 0, 8);
    char *c = covar_heap_strdup(heap, "kernel");
    TEST_TEXT(c, "kernel");
    TEST_INT(t.live_blocks, 4);
    covar_heap_free(heap, a);
    covar_heap_free(heap, b);
    covar_heap_free(heap, c);
    covar_heap_release(heap);
    TEST_INT(t.live_blocks, 0);
    TEST_INT(t.live_bytes, 0);
    TEST_INT(t.mistakes, 0);
}

static void test_grow(void)
{
    test_allocator t = {0};
    covar_allocator allocator = test_allocator_use(&t);
    covar_heap *heap = covar_heap_create(&allocator);
    int *p = covar_heap_grow(heap, NULL, 0, 2, sizeof(*p));
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    p[0] = 7;
    p[1] = 8;
    test_allocator_arm(&t, 1);
    CU_ASSERT_PTR_NULL(covar_heap_grow(heap, p, 2, 4, sizeof(*p)));
    TEST_INT(p[1], 8);
    test_allocator_arm(&t, 0);
    p = covar_heap_grow(heap, p, 2, 100, sizeof(*p));
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    TEST_INT(p[0], 7);
    TEST_INT(p[1], 8);
    p = covar_heap_grow(heap, p, 100, 1, sizeof(*p));
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    TEST_INT(p[0], 7);
    covar_heap_free(heap, p);
    covar_heap_release(heap);
    TEST_INT(t.live_blocks, 0);
    TEST_INT(t.mistakes, 0);
}

static void test_outlives_context(void)
{
    test_allocator t = {0};
    covar_allocator allocator = test_allocator_use(&t);
    covar_context *ctx = covar_context_create_with(&allocator);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ctx);
    covar_heap *heap = covar_heap_retain(covar_context_heap(ctx));
    char *p = covar_heap_strdup(heap, "still here");
    covar_context_free(ctx);
    TEST_INT(t.live_blocks, 2);
    TEST_TEXT(p, "still here");
    covar_heap_free(heap, p);
    covar_heap_release(heap);
    TEST_INT(t.live_blocks, 0);
}

static void test_half_an_allocator(void)
{
    covar_allocator none = {0};
    CU_ASSERT_PTR_NULL(covar_heap_create(&none));
    CU_ASSERT_PTR_NULL(covar_heap_retain(NULL));
    covar_heap_release(NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"alignment and zeros", test_alignment_and_zero},
        {"overflow", test_overflow},
        {"free is told the size", test_sizes_return},
        {"grow", test_grow},
        {"outlives the context", test_outlives_context},
        {"half an allocator", test_half_an_allocator},
    };
    return CUTAP_RUN("heap", cases);
}
