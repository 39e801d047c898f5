/* The allocator that fails on request, and the sweep over all failures.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A block is [64 bytes with its size and a mark | payload]. */
#include "config.h"

#include "test_util.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, MOST_FAILURES = 1000000 };

static const size_t live_mark = 0x6c697665;

typedef struct block {
    size_t bytes;
    size_t mark;
} block;

static void *counting_alloc(void *data, size_t bytes)
{
    test_allocator *t = data;
    if (++t->allocations == t->fail_at) {
        t->failed = true;
        return NULL;
    }
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *start = aligned_alloc(ALIGNMENT, ALIGNMENT + rounded);
    if (!start)
        return NULL;
    /* A pattern, so that nobody relies on fresh memory being zero. */
    memset(start, 0xA5, ALIGNMENT + rounded);
    *(block *)(void *)start = (block){.bytes = bytes, .mark = live_mark};
    t->live_blocks++;
    t->live_bytes += bytes;
    if (t->live_bytes > t->peak_bytes)
        t->peak_bytes = t->live_bytes;
    return start + ALIGNMENT;
}

static void counting_free(void *data, void *p, size_t bytes)
{
    test_allocator *t = data;
    if (!p)
        return;
    block *b = (block *)(void *)((char *)p - ALIGNMENT);
    if (b->mark != live_mark) {
        t->mistakes++;
        return;
    }
    if (b->bytes != bytes)
        t->mistakes++;
    b->mark = 0;
    t->live_blocks--;
    t->live_bytes -= b->bytes;
    free(b);
}

covar_allocator test_allocator_use(test_allocator *t)
{
    return (covar_allocator){
        .alloc = counting_alloc, .free = counting_free, .data = t};
}

void test_allocator_arm(test_allocator *t, size_t k)
{
    t->fail_at = k;
    t->allocations = 0;
    t->failed = false;
}

/* One run with the k-th allocation failing; true if that failure happened. */
static bool run_failing(const char *what, test_body *body, void *data, size_t k)
{
    test_allocator t = {0};
    covar_allocator allocator = test_allocator_use(&t);
    covar_context *ctx = test_context_with(&allocator);
    size_t before = t.live_blocks;
    test_allocator_arm(&t, k);
    covar_status status = body(ctx, data);
    covar_status expected = t.failed ? COVAR_ERR_NOMEM : COVAR_OK;
    test_check(status == expected, __FILE__, __LINE__,
               "%s, allocation %zu %s: %s, not %s (%s)", what, k,
               t.failed ? "failed" : "was not reached",
               covar_status_name(status), covar_status_name(expected),
               covar_error_text(ctx));
    test_check(!t.failed || covar_error_text(ctx)[0] != '\0', __FILE__,
               __LINE__, "%s, allocation %zu failed: no sentence", what, k);
    test_check(t.live_blocks == before, __FILE__, __LINE__,
               "%s, allocation %zu of %zu failing: %zu blocks leaked", what, k,
               t.allocations, t.live_blocks - before);
    covar_context_free(ctx);
    test_check(t.live_blocks == 0 && t.mistakes == 0, __FILE__, __LINE__,
               "%s: %zu blocks left after the context, %zu wrong frees", what,
               t.live_blocks, t.mistakes);
    return t.failed;
}

size_t test_allocation_sweep(const char *what, test_body *body, void *data)
{
    size_t k = 1;
    while (k < MOST_FAILURES && run_failing(what, body, data, k))
        k++;
    cutap_note("%s: %zu allocations, each failed once", what, k - 1);
    test_check(k > 1, __FILE__, __LINE__, "%s: nothing was allocated", what);
    return k - 1;
}
