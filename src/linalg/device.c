/* Which device a kernel runs on.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/leaf.h"
#include "linalg/linalg_impl.h"

la_exec la_exec_cpu(covar_context *ctx)
{
    const int threads = covar_context_threads(ctx);
    return (la_exec){.ctx = ctx, .threads = threads > 1 ? threads : 1};
}

const la_device *la_device_of(const la_exec *exec)
{
    return exec->device ? exec->device : &la_device_cpu;
}

const la_leaf *la_leaf_of(const la_exec *exec)
{
#ifdef HAVE_ISA_X86
    switch (covar_context_isa(exec->ctx)) {
    case COVAR_ISA_V4:
        return &la_leaf_v4;
    case COVAR_ISA_V3:
        return &la_leaf_v3;
    default:
        break;
    }
#else
    (void)exec;
#endif
    return &la_leaf_base;
}
