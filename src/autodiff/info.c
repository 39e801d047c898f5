/* Info words: how many a call writes, and what a failed one says.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <stdio.h>

/* Dims before the last two of the first input count the batch. */
size_t ad_info_count(const ad_node *y, const la_view *x)
{
    size_t n = 1;
    for (int i = 0; y->n_in > 0 && i + 2 < x[0].rank; i++)
        n *= x[0].dim[i];
    return n;
}

static size_t first_failed(const int32_t *info, size_t n, size_t *failed)
{
    size_t first = n;
    *failed = 0;
    for (size_t i = 0; i < n; i++)
        if (info[i] > 0) {
            first = *failed == 0 ? i : first;
            ++*failed;
        }
    return first;
}

/* "1000 x 512 x 512" */
static void describe(char *buf, size_t size, la_view x)
{
    size_t used = 0;
    buf[0] = '\0';
    for (int i = 0; i < x.rank && used < size; i++) {
        int n = snprintf(buf + used, size - used, "%s%zu", i ? " x " : "",
                         x.dim[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* "3 of 1000 failed, first [7]: ": the index counts the batch dims of x. */
static void describe_batch(char *buf, size_t size, la_view x, size_t first,
                           size_t failed, size_t n)
{
    char index[96] = "";
    size_t used = 0, place = n, rest = first;
    for (int i = 0; i + 2 < x.rank && used < sizeof(index); i++) {
        place /= x.dim[i];
        int k = snprintf(index + used, sizeof(index) - used, "%s%zu",
                         i ? "," : "", rest / place);
        used += k > 0 ? (size_t)k : 0;
        rest %= place;
    }
    snprintf(buf, size, "%zu of %zu failed, first [%s]: ", failed, n, index);
}

covar_status ad_info_check(covar_context *ctx, const ad_node *y,
                           const la_view *x, const int32_t *info)
{
    char label[256], dims[96], batch[192] = "failed: ";
    size_t n = ad_info_count(y, x), failed;
    size_t first = first_failed(info, n, &failed);
    if (failed == 0)
        return COVAR_OK;
    ad_node_label(label, sizeof(label), y);
    describe(dims, sizeof(dims), x[0]);
    if (x[0].rank > 2)
        describe_batch(batch, sizeof(batch), x[0], first, failed, n);
    covar_status status = y->op->failure;
    return covar_fail(ctx, status != COVAR_OK ? status : COVAR_ERR_NUMERIC,
                      "%s(%s): %s%s %ld", label, dims, batch,
                      y->op->info_text ? y->op->info_text : "info",
                      (long)info[first]);
}
