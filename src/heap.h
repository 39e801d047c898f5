/* Private: the reference-counted allocator behind a context.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Objects that outlive their context (arrays, programs, stores, models) hold
 * a reference to its heap. Blocks are aligned to 64 bytes; sizes are checked
 * for overflow; a size of 0 gives a valid block. */
#ifndef COVAR_HEAP_H
#define COVAR_HEAP_H

#include <covar/context.h>

typedef struct covar_heap covar_heap;

/* The heap of a context (borrowed); retain it to keep it. */
covar_heap *covar_context_heap(const covar_context *ctx);
covar_heap *covar_heap_create(const covar_allocator *allocator);
covar_heap *covar_heap_retain(covar_heap *heap);
void covar_heap_release(covar_heap *heap);

/* n * size bytes, zeroed by calloc's rule or not; NULL on overflow or when
 * the allocator refuses. */
void *covar_heap_alloc(covar_heap *heap, size_t n, size_t size);
void *covar_heap_calloc(covar_heap *heap, size_t n, size_t size);

/* Grows a block to new_n elements, keeping old_n; NULL leaves it untouched. */
void *covar_heap_grow(covar_heap *heap, void *p, size_t old_n, size_t new_n,
                      size_t size);
char *covar_heap_strdup(covar_heap *heap, const char *text);
void covar_heap_free(covar_heap *heap, void *p);

/* Records COVAR_ERR_NOMEM with the sentence "who: out of memory". */
covar_status covar_fail_nomem(covar_context *ctx, const char *who);

#endif
