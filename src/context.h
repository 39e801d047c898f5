/* The context: everything a covar call may consult apart from its arguments.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     covar_context *ctx = covar_context_create();
 *     covar_context_set_threads(ctx, 2);
 *     if (gp_fit(&model, ctx, X, y, NULL, NULL) != COVAR_OK)
 *         fprintf(stderr, "%s\n", covar_error_text(ctx));
 *     covar_context_free(ctx);
 *
 * The library has no globals and never reads the environment: allocator,
 * thread count, instruction-set limit, callbacks and the last error live
 * here. A NULL context has one thread, the baseline instruction set and no
 * callbacks. Use one context per thread; only covar_cancel may be called from
 * another thread or from a signal handler. */
#ifndef COVAR_CONTEXT_H
#define COVAR_CONTEXT_H

#include <covar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covar_context covar_context;

/* Where memory comes from. `alloc` returns `bytes` bytes aligned to 64, or
 * NULL; `free` accepts NULL and is told the size that was asked for. Both may
 * be called from any thread that uses an object made with this allocator. */
typedef struct covar_allocator {
    void *(*alloc)(void *data, size_t bytes);
    void (*free)(void *data, void *p, size_t bytes);
    void *data;
} covar_allocator;

/* The instruction sets that kernels are built for. A limit, not a promise:
 * the best one that both the processor and the limit allow is used. */
typedef enum covar_isa {
    COVAR_ISA_AUTO = 0,
    COVAR_ISA_BASELINE,
    COVAR_ISA_V3, /* x86-64-v3: AVX2 and FMA */
    COVAR_ISA_V4  /* x86-64-v4: AVX-512 */
} covar_isa;

typedef enum covar_log_level {
    COVAR_LOG_DEBUG,
    COVAR_LOG_INFO,
    COVAR_LOG_WARNING
} covar_log_level;

/* What a long computation says of itself. Returns false to ask it to stop. */
typedef struct covar_progress {
    const char *task; /* e.g. "gp_fit" */
    size_t done;      /* units finished */
    size_t total;     /* 0 = unknown */
    double value;     /* objective so far, NaN if there is none */
    double seconds;
} covar_progress;

typedef void covar_log_fn(covar_log_level level, const char *text, void *data);
typedef bool covar_progress_fn(const covar_progress *progress, void *data);

/* Makes a context with the C library's allocator, one thread per processor
 * that OpenMP reports, no callbacks. NULL when out of memory. */
COVAR_API covar_context *covar_context_create(void);

/* The same with the caller's allocator (copied). NULL `allocator` = default.
 * Objects made under a context keep its allocator alive, not the context. */
COVAR_API covar_context *covar_context_create_with(
    const covar_allocator *allocator);

/* Frees the context. Objects made with it stay valid. Accepts NULL. */
COVAR_API void covar_context_free(covar_context *ctx);

/* The sentence of the last failure, "" after none; a fixed sentence for a
 * NULL context. Valid until the next failing call on this context. */
COVAR_API const char *covar_error_text(const covar_context *ctx);

/* The code of the last failure; COVAR_OK when there was none. */
COVAR_API covar_status covar_error_status(const covar_context *ctx);

/* Forgets the last failure. */
COVAR_API void covar_error_clear(covar_context *ctx);

/* Records a failure and returns `status`, so that a function can write
 * `return covar_fail(ctx, COVAR_ERR_SHAPE, "f: X is %zux%zu but ...", ...);`.
 * The sentence is cut at 1023 bytes. A NULL context is accepted. */
COVAR_API covar_status covar_fail(covar_context *ctx, covar_status status,
                                  const char *format, ...) COVAR_PRINTF(3, 4);

/* Puts "prefix: " before the sentence of the failure just recorded. Returns
 * the recorded status. For a caller that knows the name of what failed. */
COVAR_API covar_status covar_fail_in(covar_context *ctx, const char *prefix);

/* Number of threads that own kernels and BLAS may use: 0 = what OpenMP would
 * take (OMP_NUM_THREADS or the caller's omp_set_num_threads, else all
 * processors). Larger than the machine is allowed. */
COVAR_API void covar_context_set_threads(covar_context *ctx, int threads);
COVAR_API int covar_context_threads(const covar_context *ctx);

/* Limits the instruction set (see covar_isa). `covar_context_isa` returns the
 * one that will be used, never COVAR_ISA_AUTO. */
COVAR_API void covar_context_set_isa(covar_context *ctx, covar_isa limit);
COVAR_API covar_isa covar_context_isa(const covar_context *ctx);
COVAR_API const char *covar_isa_name(covar_isa isa);

/* Callbacks; NULL switches one off. `data` is passed through. */
COVAR_API void covar_context_set_log(covar_context *ctx, covar_log_fn *log,
                                     void *data);
COVAR_API void covar_context_set_progress(covar_context *ctx,
                                          covar_progress_fn *progress,
                                          void *data);

/* Sends a line to the log callback, if there is one. */
COVAR_API void covar_log(covar_context *ctx, covar_log_level level,
                         const char *format, ...) COVAR_PRINTF(3, 4);

/* Reports progress. COVAR_CANCELLED when the callback or covar_cancel asked
 * to stop (no error sentence is recorded: it is not a failure). */
COVAR_API covar_status covar_report_progress(covar_context *ctx,
                                             const covar_progress *progress);

/* Asks the computation that runs on `ctx` to stop at its best point so far.
 * Async-signal-safe and thread-safe. The request stays until it is cleared. */
COVAR_API void covar_cancel(covar_context *ctx);
COVAR_API void covar_cancel_clear(covar_context *ctx);
COVAR_API bool covar_cancelled(const covar_context *ctx);

#ifdef __cplusplus
}
#endif

#endif
