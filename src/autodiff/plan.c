/* The memory plan: where in one arena each buffer lies.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Buffers are intervals of time with a size. Largest first, each takes the
 * tightest gap (best fit) between the buffers already placed that live at the
 * same time as it does. Ties go to the earlier buffer and the lower gap, so
 * the plan depends on nothing but its input. */
#include "config.h"

#include "autodiff/program_impl.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 };

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

typedef struct entry {
    size_t bytes;
    size_t index;
} entry;

static int by_size(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static bool meet(const ad_interval *a, const ad_interval *b)
{
    return a->birth <= b->death && b->birth <= a->death;
}

/* The tightest gap for x among the placed ones, which are sorted by offset. */
static size_t best_offset(const ad_interval *interval, const size_t *placed,
                          size_t n_placed, const ad_interval *x)
{
    size_t end = 0, best = SIZE_MAX, best_slack = SIZE_MAX;
    size_t need = aligned(x->bytes);
    for (size_t i = 0; i < n_placed; i++) {
        const ad_interval *y = &interval[placed[i]];
        if (!meet(x, y))
            continue;
        if (y->offset > end && y->offset - end >= need &&
            y->offset - end - need < best_slack) {
            best = end;
            best_slack = y->offset - end - need;
        }
        size_t y_end = y->offset + aligned(y->bytes);
        end = y_end > end ? y_end : end;
    }
    return best == SIZE_MAX ? end : best;
}

/* Largest sum of sizes alive at one time: events sorted by counting. */
static size_t live_bound(const ad_interval *interval, size_t n, size_t *change,
                         uint32_t n_time)
{
    /* change[t] holds births, change[n_time + t] what died before t */
    for (size_t i = 0; i < n; i++) {
        change[interval[i].birth] += aligned(interval[i].bytes);
        change[n_time + interval[i].death + 1] += aligned(interval[i].bytes);
    }
    size_t live = 0, most = 0;
    for (uint32_t t = 0; t < n_time; t++) {
        live += change[t];
        live -= change[n_time + t];
        most = live > most ? live : most;
    }
    return most;
}

static void place_all(ad_interval *interval, size_t n, entry *order,
                      size_t *placed, size_t *bytes)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (entry){aligned(interval[i].bytes), i};
    qsort(order, n, sizeof(*order), by_size);
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        ad_interval *x = &interval[order[i].index];
        x->offset = best_offset(interval, placed, i, x);
        size_t at = i;
        for (; at > 0 && interval[placed[at - 1]].offset > x->offset; at--)
            placed[at] = placed[at - 1];
        placed[at] = order[i].index;
        size_t end = x->offset + aligned(x->bytes);
        *bytes = end > *bytes ? end : *bytes;
    }
}

covar_status ad_plan_offsets(covar_heap *heap, ad_interval *interval, size_t n,
                             size_t *bytes, size_t *bound)
{
    uint32_t n_time = 1;
    for (size_t i = 0; i < n; i++)
        if (interval[i].death + 1 > n_time)
            n_time = interval[i].death + 1;
    entry *order = covar_heap_alloc(heap, n, sizeof(*order));
    size_t *placed = covar_heap_alloc(heap, n, sizeof(*placed));
    size_t *change =
        covar_heap_calloc(heap, 2 * (size_t)n_time + 2, sizeof(*change));
    covar_status status = COVAR_ERR_NOMEM;
    if (order && placed && change) {
        *bound = live_bound(interval, n, change, n_time);
        place_all(interval, n, order, placed, bytes);
        status = COVAR_OK;
    }
    covar_heap_free(heap, order);
    covar_heap_free(heap, placed);
    covar_heap_free(heap, change);
    return status;
}
