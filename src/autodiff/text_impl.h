/* Private: text that grows, for printing graphs and programs.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_TEXT_IMPL_H
#define COVAR_TEXT_IMPL_H

#include "autodiff/autodiff_impl.h"

/* Set heap, the rest zero. s is the text, NULL while empty; after a failure
 * (out of memory) further text is dropped. */
typedef struct ad_text_buffer {
    covar_heap *heap;
    char *s;
    size_t n, cap;
    bool failed;
} ad_text_buffer;

void ad_text_put(ad_text_buffer *t, const char *s);

/* At most 319 bytes at a time. */
void ad_text_putf(ad_text_buffer *t, const char *format, ...)
    COVAR_PRINTF(2, 3);

#endif
