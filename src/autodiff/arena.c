/* Arenas: memory handed out front to back, given back down to a mark.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A mark is a position in the concatenation of all chunks. The last chunk that
 * a release empties is kept for the next allocation, so that a loop of mark,
 * build and release settles without calling the heap. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <string.h>

enum { ALIGNMENT = 16, FIRST_CHUNK = 4096, LAST_CHUNK = 1 << 20 };

typedef struct chunk {
    struct chunk *prev;
    size_t base; /* position of its first byte */
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
} chunk;

struct ad_arena {
    covar_heap *heap;
    chunk *top;
    chunk *spare; /* emptied, for reuse; or NULL */
    size_t next_size;
};

ad_arena *ad_arena_create(covar_heap *heap)
{
    ad_arena *a = covar_heap_calloc(heap, 1, sizeof(*a));
    if (!a)
        return NULL;
    a->heap = covar_heap_retain(heap);
    a->next_size = FIRST_CHUNK;
    return a;
}

void ad_arena_free(ad_arena *a)
{
    if (!a)
        return;
    covar_heap *heap = a->heap;
    ad_arena_release(a, 0);
    covar_heap_free(heap, a->top);
    covar_heap_free(heap, a->spare);
    covar_heap_free(heap, a);
    covar_heap_release(heap);
}

/* A chunk on top of the others with room for `bytes`. */
static chunk *push_chunk(ad_arena *a, size_t bytes)
{
    chunk *c = a->spare;
    if (c && c->size >= bytes) {
        a->spare = NULL;
    } else {
        size_t size = a->next_size > bytes ? a->next_size : bytes;
        if (size > SIZE_MAX - sizeof(*c))
            return NULL;
        c = covar_heap_alloc(a->heap, sizeof(*c) + size, 1);
        if (!c)
            return NULL;
        c->size = size;
        if (a->next_size < LAST_CHUNK)
            a->next_size *= 2;
    }
    c->used = 0;
    c->base = a->top ? a->top->base + a->top->used : 0;
    c->prev = a->top;
    a->top = c;
    return c;
}

void *ad_arena_alloc(ad_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    chunk *c = a->top;
    if (!c || c->size - c->used < bytes)
        c = push_chunk(a, bytes);
    if (!c)
        return NULL;
    void *p = c->bytes + c->used;
    c->used += bytes;
    return memset(p, 0, bytes);
}

size_t ad_arena_mark(const ad_arena *a)
{
    return a->top ? a->top->base + a->top->used : 0;
}

static void retire(ad_arena *a, chunk *c)
{
    chunk *loser = c;
    if (!a->spare || a->spare->size < c->size) {
        loser = a->spare;
        a->spare = c;
    }
    covar_heap_free(a->heap, loser);
}

void ad_arena_release(ad_arena *a, size_t mark)
{
    while (a->top && a->top->prev && a->top->base >= mark) {
        chunk *c = a->top;
        a->top = c->prev;
        retire(a, c);
    }
    if (a->top)
        a->top->used = mark - a->top->base;
}
