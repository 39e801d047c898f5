/* Execution: the instructions of a plan, one after another.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing here allocates, hashes or locks. A failed factorisation stops the
 * run with a sentence (unless the program marks failures and goes on); the
 * commit section, which changes the store, comes after all that can fail. */
#include "config.h"

#include "autodiff/program_impl.h"

#include <string.h>

/* Puts the node's name before the sentence that its leaf left. */
static covar_status fail_step(const ad_runner *r, const ad_instr *i,
                              covar_status status)
{
    if (i->step) {
        char label[160];
        covar_fail_in(r->ctx,
                      ad_node_label(label, sizeof(label), i->step->node));
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
        if (i->n_info > 0 && !r->program->fail_mark)
            COVAR_TRY(
                ad_info_check(r->ctx, i->call.node, i->call.x, i->call.info));
    }
    return COVAR_OK;
}
