/* Text that grows.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/text_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void reserve(ad_text_buffer *t, size_t more)
{
    if (t->failed || t->cap - t->n > more)
        return;
    size_t cap = 2 * (t->n + more) + 64;
    char *s = covar_heap_grow(t->heap, t->s, t->n, cap, 1);
    t->failed = !s;
    t->s = s ? s : t->s;
    t->cap = s ? cap : t->cap;
}

void ad_text_put(ad_text_buffer *t, const char *s)
{
    size_t n = strlen(s);
    reserve(t, n);
    if (t->failed)
        return;
    memcpy(t->s + t->n, s, n + 1);
    t->n += n;
}

void ad_text_putf(ad_text_buffer *t, const char *format, ...)
{
    char s[320];
    va_list list;
    va_start(list, format);
    vsnprintf(s, sizeof(s), format, list);
    va_end(list);
    ad_text_put(t, s);
}
