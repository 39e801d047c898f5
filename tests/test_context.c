/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <covar/context.h>
#include "heap.h"
#include "test_util.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static void test_errors(void)
{
    covar_context *ctx = test_context();
    TEST_TEXT(covar_error_text(ctx), "");
    TEST_INT(covar_error_status(ctx), COVAR_OK);
    TEST_STATUS(ctx,
                covar_fail(ctx, COVAR_ERR_SHAPE, "f: X is %zux%zu", (size_t)500,
                           (size_t)3),
                COVAR_ERR_SHAPE);
    TEST_TEXT(covar_error_text(ctx), "f: X is 500x3");
    TEST_STATUS(ctx, covar_fail_in(ctx, "gp_fit"), COVAR_ERR_SHAPE);
    TEST_TEXT(covar_error_text(ctx), "gp_fit: f: X is 500x3");
    TEST_STATUS(
        ctx,
        covar_fail(ctx, COVAR_ERR_DATA, "again: %s", covar_error_text(ctx)),
        COVAR_ERR_DATA);
    TEST_TEXT(covar_error_text(ctx), "again: gp_fit: f: X is 500x3");
    covar_error_clear(ctx);
    TEST_TEXT(covar_error_text(ctx), "");
    TEST_INT(covar_error_status(ctx), COVAR_OK);
    TEST_STATUS(ctx, covar_fail_nomem(ctx, "la_array"), COVAR_ERR_NOMEM);
    TEST_TEXT(covar_error_text(ctx), "la_array: out of memory");
    covar_context_free(ctx);
}

static void test_long_sentence(void)
{
    covar_context *ctx = test_context();
    char text[3000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    TEST_STATUS(ctx, covar_fail(ctx, COVAR_ERR_ARG, "%s", text), COVAR_ERR_ARG);
    TEST_INT(strlen(covar_error_text(ctx)), 1023);
    TEST_STATUS(ctx, covar_fail_in(ctx, "who"), COVAR_ERR_ARG);
    TEST_INT(strlen(covar_error_text(ctx)), 1023);
    TEST_CONTAINS(covar_error_text(ctx), "who: xxx");
    covar_context_free(ctx);
}

static void test_no_context(void)
{
    TEST_STATUS(NULL, covar_fail(NULL, COVAR_ERR_ARG, "unseen"), COVAR_ERR_ARG);
    CU_ASSERT(strlen(covar_error_text(NULL)) > 0);
    TEST_INT(covar_error_status(NULL), COVAR_OK);
    covar_error_clear(NULL);
    covar_log(NULL, COVAR_LOG_INFO, "unseen");
    TEST_OK(NULL, covar_report_progress(NULL, NULL));
    covar_cancel(NULL);
    CU_ASSERT(!covar_cancelled(NULL));
    covar_context_free(NULL);
}

static void test_threads_and_isa(void)
{
    covar_context *ctx = covar_context_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(ctx);
    int all = covar_context_threads(ctx);
    CU_ASSERT(all >= 1);
    covar_context_set_threads(ctx, 1000);
    TEST_INT(covar_context_threads(ctx), 1000);
    covar_context_set_threads(ctx, 0);
    TEST_INT(covar_context_threads(ctx), all);
    covar_context_set_threads(ctx, -3);
    TEST_INT(covar_context_threads(ctx), all);
#ifdef _OPENMP
    omp_set_num_threads(all + 2);
    TEST_INT(covar_context_threads(ctx), all + 2);
    omp_set_num_threads(all);
#endif

    covar_isa best = covar_context_isa(ctx);
    cutap_note("processor: %s, %d threads", covar_isa_name(best), all);
    CU_ASSERT(best >= COVAR_ISA_BASELINE && best <= COVAR_ISA_V4);
    covar_context_set_isa(ctx, COVAR_ISA_BASELINE);
    TEST_INT(covar_context_isa(ctx), COVAR_ISA_BASELINE);
    covar_context_set_isa(ctx, COVAR_ISA_V4);
    TEST_INT(covar_context_isa(ctx), best);
    covar_context_set_isa(ctx, COVAR_ISA_AUTO);
    TEST_INT(covar_context_isa(ctx), best);
    TEST_TEXT(covar_isa_name(COVAR_ISA_V3), "x86-64-v3");
    TEST_TEXT(covar_isa_name((covar_isa)99), "unknown");
    covar_context_free(ctx);
}

typedef struct heard {
    covar_log_level level;
    char text[64];
    size_t calls;
    size_t stop_at;
} heard;

static void hear_log(covar_log_level level, const char *text, void *data)
{
    heard *h = data;
    h->level = level;
    h->calls++;
    strncpy(h->text, text, sizeof(h->text) - 1);
}

static bool hear_progress(const covar_progress *progress, void *data)
{
    heard *h = data;
    h->calls++;
    return progress->done < h->stop_at;
}

static void test_log(void)
{
    covar_context *ctx = test_context();
    heard h = {.level = COVAR_LOG_DEBUG};
    covar_log(ctx, COVAR_LOG_INFO, "nobody listens");
    covar_context_set_log(ctx, hear_log, &h);
    covar_log(ctx, COVAR_LOG_WARNING, "jitter %g", 1e-8);
    TEST_INT(h.calls, 1);
    TEST_INT(h.level, COVAR_LOG_WARNING);
    TEST_TEXT(h.text, "jitter 1e-08");
    covar_context_set_log(ctx, NULL, NULL);
    covar_log(ctx, COVAR_LOG_WARNING, "nobody listens");
    TEST_INT(h.calls, 1);
    covar_context_free(ctx);
}

static void test_progress(void)
{
    covar_context *ctx = test_context();
    covar_progress p = {.task = "t", .done = 1, .total = 3, .value = NAN};
    TEST_OK(ctx, covar_report_progress(ctx, &p));
    heard h = {.stop_at = 2};
    covar_context_set_progress(ctx, hear_progress, &h);
    TEST_OK(ctx, covar_report_progress(ctx, &p));
    p.done = 2;
    TEST_STATUS(ctx, covar_report_progress(ctx, &p), COVAR_CANCELLED);
    TEST_INT(h.calls, 2);
    TEST_TEXT(covar_error_text(ctx), "");
    CU_ASSERT(!covar_cancelled(ctx));
    covar_context_free(ctx);
}

static covar_context *signalled;

static void on_signal(int number)
{
    (void)number;
    covar_cancel(signalled);
}

static void test_cancel(void)
{
    covar_context *ctx = test_context();
    covar_progress p = {.task = "t"};
    signalled = ctx;
    CU_ASSERT(signal(SIGUSR1, on_signal) != SIG_ERR);
    CU_ASSERT(!covar_cancelled(ctx));
    raise(SIGUSR1);
    CU_ASSERT(covar_cancelled(ctx));
    TEST_STATUS(ctx, covar_report_progress(ctx, &p), COVAR_CANCELLED);
    TEST_STATUS(ctx, covar_report_progress(ctx, &p), COVAR_CANCELLED);
    covar_cancel_clear(ctx);
    TEST_OK(ctx, covar_report_progress(ctx, &p));
    covar_context_free(ctx);
}

static void test_every_allocation(void)
{
    size_t k = 1;
    for (;; k++) {
        test_allocator t = {0};
        covar_allocator allocator = test_allocator_use(&t);
        test_allocator_arm(&t, k);
        covar_context *ctx = covar_context_create_with(&allocator);
        CU_ASSERT(t.failed == !ctx);
        covar_context_free(ctx);
        TEST_INT(t.live_blocks, 0);
        TEST_INT(t.mistakes, 0);
        if (!t.failed)
            break;
    }
    CU_ASSERT(k > 1);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"errors", test_errors},
        {"long sentence", test_long_sentence},
        {"no context", test_no_context},
        {"threads and isa", test_threads_and_isa},
        {"log", test_log},
        {"progress", test_progress},
        {"cancel from a signal", test_cancel},
        {"every allocation fails", test_every_allocation},
    };
    return CUTAP_RUN("context", cases);
}
