/* The reference-counted allocator behind contexts and the objects made there.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A block is [64 bytes of header | payload]. The header keeps the size that
 * the allocator was asked for, since its `free` is told that size. */
#include "config.h"

#include "heap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct covar_heap {
    covar_allocator allocator;
    atomic_size_t references;
};

typedef struct block {
    size_t bytes; /* header included */
} block;

_Static_assert(sizeof(block) <= ALIGNMENT, "the header must fit its place");

static void *system_alloc(void *data, size_t bytes)
{
    (void)data;
    if (bytes > (size_t)PTRDIFF_MAX - ALIGNMENT)
        return NULL;
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return aligned_alloc(ALIGNMENT, rounded > 0 ? rounded : ALIGNMENT);
}

static void system_free(void *data, void *p, size_t bytes)
{
    (void)data;
    (void)bytes;
    free(p);
}

static const covar_allocator system_allocator = {
    .alloc = system_alloc,
    .free = system_free,
};

covar_heap *covar_heap_create(const covar_allocator *allocator)
{
    const covar_allocator *a = allocator ? allocator : &system_allocator;
    if (!a->alloc || !a->free)
        return NULL;
    covar_heap *heap = a->alloc(a->data, sizeof(*heap));
    if (!heap)
        return NULL;
    heap->allocator = *a;
    atomic_init(&heap->references, 1);
    return heap;
}

covar_heap *covar_heap_retain(covar_heap *heap)
{
    if (heap)
        atomic_fetch_add_explicit(&heap->references, 1, memory_order_relaxed);
    return heap;
}

void covar_heap_release(covar_heap *heap)
{
    if (!heap)
        return;
    if (atomic_fetch_sub_explicit(&heap->references, 1, memory_order_acq_rel) ==
        1) {
        covar_allocator a = heap->allocator;
        a.free(a.data, heap, sizeof(*heap));
    }
}

void *covar_heap_alloc(covar_heap *heap, size_t n, size_t size)
{
    const size_t most = (size_t)PTRDIFF_MAX - 2 * ALIGNMENT;
    if (size > 0 && n > most / size)
        return NULL;
    size_t bytes = n * size + ALIGNMENT;
    char *start = heap->allocator.alloc(heap->allocator.data, bytes);
    if (!start)
        return NULL;
    *(block *)(void *)start = (block){.bytes = bytes};
    return start + ALIGNMENT;
}

void *covar_heap_calloc(covar_heap *heap, size_t n, size_t size)
{
    void *p = covar_heap_alloc(heap, n, size);
    if (p)
        memset(p, 0, n * size);
    return p;
}

void *covar_heap_grow(covar_heap *heap, void *p, size_t old_n, size_t new_n,
                      size_t size)
{
    void *q = covar_heap_alloc(heap, new_n, size);
    if (!q)
        return NULL;
    size_t kept = old_n < new_n ? old_n : new_n;
    if (p)
        memcpy(q, p, kept * size);
    covar_heap_free(heap, p);
    return q;
}

char *covar_heap_strdup(covar_heap *heap, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = covar_heap_alloc(heap, bytes, 1);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

void covar_heap_free(covar_heap *heap, void *p)
{
    if (!p)
        return;
    char *start = (char *)p - ALIGNMENT;
    size_t bytes = ((block *)(void *)start)->bytes;
    heap->allocator.free(heap->allocator.data, start, bytes);
}
