/* Execution: the instructions of a plan, one after another.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing here allocates, hashes or locks. A failed factorisation stops the
 * run with a sentence (unless the program marks failures and goes on); the
 * commit section, which changes the store, comes after all that can fail. */
#include "config.h"

#include "autodiff/program_impl.h"

#include <stdio.h>
#include <string.h>

/* "1000 x 512 x 512" */
static void dims_text(char *buf, size_t size, la_view x)
{
    size_t used = 0;
    buf[0] = '\0';
    for (int k = 0; k < x.rank && used < size; k++) {
        int n = snprintf(buf + used, size - used, "%s%zu", k ? " x " : "",
                         x.dim[k]);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* "[7]" or "[1, 2]": batch element i of matrices x. */
static void index_text(char *buf, size_t size, la_view x, size_t i)
{
    size_t index[LA_MAX_DIMS] = {0}, used = 1;
    for (int k = x.rank - 3; k >= 0; k--) {
        index[k] = i % x.dim[k];
        i /= x.dim[k];
    }
    snprintf(buf, size, "[");
    for (int k = 0; k < x.rank - 2 && used < size; k++) {
        int n = snprintf(buf + used, size - used, "%s%zu", k ? ", " : "",
                         index[k]);
        used += n > 0 ? (size_t)n : 0;
    }
    if (used < size)
        snprintf(buf + used, size - used, "]");
}

static covar_status fail_info(const ad_runner *r, const ad_instr *i,
                              size_t n_failed, size_t first)
{
    const ad_op *op = i->step->node->op;
    const char  *what = op->info_text ? op->info_text : "info";
    char         label[160], dims[96], index[64];
    covar_status status = op->failure ? op->failure : COVAR_ERR_NUMERIC;
    ad_node_label(label, sizeof(label), i->step->node);
    dims_text(dims, sizeof(dims), i->call.x[0]);
    index_text(index, sizeof(index), i->call.x[0], first);
    int word = (int)i->call.info[first];
    if (i->call.x[0].rank <= 2)
        return covar_fail(r->ctx, status, "%s(%s) failed: %s %d", label, dims,
                          what, word);
    return covar_fail(r->ctx, status,
                      "%s(%s): %zu of %zu failed, first %s: %s %d", label,
                      dims, n_failed, i->n_info, index, what, word);
}

static covar_status check_info(const ad_runner *r, const ad_instr *i)
{
    size_t n_failed = 0, first = 0;
    for (size_t b = i->n_info; b-- > 0;)
        if (i->call.info[b] > 0) {
            n_failed++;
            first = b;
        }
    if (n_failed == 0 || r->program->fail_mark)
        return COVAR_OK;
    return fail_info(r, i, n_failed, first);
}

/* Puts the node's name before the sentence that its leaf left. */
static covar_status fail_step(const ad_runner *r, const ad_instr *i,
                              covar_status status)
{
    if (i->step) {
        char label[160];
        covar_fail_in(r->ctx, ad_node_label(label, sizeof(label),
                                            i->step->node));
    }
    return status;
}

covar_status ad_exec(ad_runner *r, ad_plan *plan)
{
    const ad_instr *end = plan->instr + plan->n_instr;
    for (const ad_instr *i = plan->instr; i < end; i++) {
        if (i->n_info > 0)
            memset(i->call.info, 0, sizeof(int32_t) * i->n_info);
        covar_status status = i->run(&i->call);
        if (status != COVAR_OK)
            return fail_step(r, i, status);
        if (i->n_info > 0)
            COVAR_TRY(check_info(r, i));
    }
    return COVAR_OK;
}
