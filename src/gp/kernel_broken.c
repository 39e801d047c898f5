/* Kernels that could not be made: they carry the reason to whoever uses them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A constructor cannot report (it has no context) and its result is often not
 * looked at before gp_fit, where NULL means the default kernel. So it gives a
 * kernel all the same: one with a status and a sentence and no tree. When even
 * that does not fit into memory it is `no_memory`, which nobody owns: heap
 * NULL, never counted, never freed, never written. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel_tree.h"

enum { REASON_SIZE = 256 };

static const gp_kernel no_memory = {
    .broken = COVAR_ERR_NOMEM,
    .why = "a kernel could not be made: out of memory",
};

static gp_kernel *out_of_memory(void)
{
    return (gp_kernel *)(uintptr_t)&no_memory;
}

gp_kernel *gp_kernel_or_no_memory(gp_kernel *k)
{
    return k ? k : out_of_memory();
}

gp_kernel *gp_kernel_broken(const char *format, ...)
{
    char text[REASON_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    covar_heap *heap = covar_heap_create(NULL);
    gp_kernel *k = gp_node_create(heap, GP_FORM_SUM);
    covar_heap_release(heap);
    char *why = k ? covar_heap_strdup(k->heap, text) : NULL;
    if (!why) {
        gp_kernel_free(k);
        return out_of_memory();
    }
    k->broken = COVAR_ERR_ARG;
    k->why = why;
    return k;
}

const char *gp_kernel_error(const gp_kernel *k)
{
    return k && k->broken != COVAR_OK ? k->why : NULL;
}

covar_status gp_check_kernel(covar_context *ctx, const char *who,
                             const gp_kernel *k)
{
    if (!gp_kernel_error(k))
        return COVAR_OK;
    return covar_fail(ctx, k->broken, "%s: the kernel is none: %s", who,
                      k->why);
}

gp_kernel *gp_kernel_fault(const char *who, gp_kernel *a, gp_kernel *b)
{
    if (!a || !b)
        return gp_kernel_broken("%s: a kernel is NULL", who);
    if (a->broken != COVAR_OK)
        return gp_kernel_retain(a);
    return b->broken != COVAR_OK ? gp_kernel_retain(b) : NULL;
}
