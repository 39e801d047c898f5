/* The context: settings, callbacks, the last failure and the request to stop.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <covar/context.h>
#include "heap.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { TEXT_BYTES = 1024 };

struct covar_context {
    covar_heap *heap;
    int threads;       /* 0 = as OpenMP says */
    covar_isa machine; /* the best that processor and build offer */
    covar_isa isa_limit;
    covar_log_fn *log;
    void *log_data;
    covar_progress_fn *progress;
    void *progress_data;
    atomic_bool cancelled;
    covar_status status;
    char error[TEXT_BYTES];
};

/* What makes covar_cancel safe in a signal handler. */
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "atomic_bool must be lock-free");

static covar_isa detect_isa(void)
{
#ifdef HAVE_ISA_X86
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") &&
              __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") &&
              __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    if (v4)
        return COVAR_ISA_V4;
    if (v3)
        return COVAR_ISA_V3;
#endif
    return COVAR_ISA_BASELINE;
}

covar_context *covar_context_create(void)
{
    return covar_context_create_with(NULL);
}

covar_context *covar_context_create_with(const covar_allocator *allocator)
{
    covar_heap *heap = covar_heap_create(allocator);
    if (!heap)
        return NULL;
    covar_context *ctx = covar_heap_calloc(heap, 1, sizeof(*ctx));
    if (!ctx) {
        covar_heap_release(heap);
        return NULL;
    }
    ctx->heap = heap;
    ctx->machine = detect_isa();
    atomic_init(&ctx->cancelled, false);
    return ctx;
}

void covar_context_free(covar_context *ctx)
{
    if (!ctx)
        return;
    covar_heap *heap = ctx->heap;
    covar_heap_free(heap, ctx);
    covar_heap_release(heap);
}

covar_heap *covar_context_heap(const covar_context *ctx)
{
    return ctx ? ctx->heap : NULL;
}

const char *covar_error_text(const covar_context *ctx)
{
    return ctx ? ctx->error : "no context";
}

covar_status covar_error_status(const covar_context *ctx)
{
    return ctx ? ctx->status : COVAR_OK;
}

void covar_error_clear(covar_context *ctx)
{
    if (!ctx)
        return;
    ctx->status = COVAR_OK;
    ctx->error[0] = '\0';
}

covar_status covar_fail(covar_context *ctx, covar_status status,
                        const char *format, ...)
{
    if (!ctx || status == COVAR_OK || !format)
        return status;
    /* Formatted apart: an argument may be the sentence it replaces. */
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ctx->status = status;
    memcpy(ctx->error, text, strlen(text) + 1);
    return status;
}

covar_status covar_fail_in(covar_context *ctx, const char *prefix)
{
    if (!ctx)
        return COVAR_OK;
    return covar_fail(ctx, ctx->status, "%s: %s", prefix ? prefix : "",
                      ctx->error);
}

covar_status covar_fail_nomem(covar_context *ctx, const char *who)
{
    return covar_fail(ctx, COVAR_ERR_NOMEM, "%s: out of memory", who);
}

void covar_context_set_threads(covar_context *ctx, int threads)
{
    if (ctx)
        ctx->threads = threads > 0 ? threads : 0;
}

int covar_context_threads(const covar_context *ctx)
{
    if (!ctx)
        return 1;
    if (ctx->threads > 0)
        return ctx->threads;
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

void covar_context_set_isa(covar_context *ctx, covar_isa limit)
{
    if (ctx)
        ctx->isa_limit = limit;
}

covar_isa covar_context_isa(const covar_context *ctx)
{
    if (!ctx)
        return COVAR_ISA_BASELINE;
    bool limited =
        ctx->isa_limit >= COVAR_ISA_BASELINE && ctx->isa_limit < ctx->machine;
    return limited ? ctx->isa_limit : ctx->machine;
}

const char *covar_isa_name(covar_isa isa)
{
    static const char *const names[] = {
        [COVAR_ISA_AUTO] = "auto",
        [COVAR_ISA_BASELINE] = "baseline",
        [COVAR_ISA_V3] = "x86-64-v3",
        [COVAR_ISA_V4] = "x86-64-v4",
    };
    size_t i = (size_t)isa;
    return i < sizeof(names) / sizeof(names[0]) ? names[i] : "unknown";
}

void covar_context_set_log(covar_context *ctx, covar_log_fn *log, void *data)
{
    if (!ctx)
        return;
    ctx->log = log;
    ctx->log_data = data;
}

void covar_context_set_progress(covar_context *ctx, covar_progress_fn *progress,
                                void *data)
{
    if (!ctx)
        return;
    ctx->progress = progress;
    ctx->progress_data = data;
}

void covar_log(covar_context *ctx, covar_log_level level, const char *format,
               ...)
{
    if (!ctx || !ctx->log || !format)
        return;
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ctx->log(level, text, ctx->log_data);
}

covar_status covar_report_progress(covar_context *ctx,
                                   const covar_progress *progress)
{
    if (!ctx)
        return COVAR_OK;
    bool go_on = true;
    if (ctx->progress && progress)
        go_on = ctx->progress(progress, ctx->progress_data);
    return go_on && !covar_cancelled(ctx) ? COVAR_OK : COVAR_CANCELLED;
}

void covar_cancel(covar_context *ctx)
{
    if (ctx)
        atomic_store(&ctx->cancelled, true);
}

void covar_cancel_clear(covar_context *ctx)
{
    if (ctx)
        atomic_store(&ctx->cancelled, false);
}

bool covar_cancelled(const covar_context *ctx)
{
    return ctx && atomic_load(&ctx->cancelled);
}
