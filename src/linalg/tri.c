/* Parts of square matrices: triangles, Phi, and the two symmetric forms.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All kinds work in place; out of place the matrix is copied first. */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/check.h"
#include "linalg/triangle.h"

#include <string.h>

typedef struct tri_args {
    la_tri_kind kind;
    la_view out, x;
} tri_args;

#define REAL_BODY "linalg/tri.inc"
#include "linalg/each_real.h"

covar_status la_cpu_tri(const la_exec *exec, la_tri_kind kind, la_view out,
                        la_view x)
{
    const tri_args args = {kind, out, x};
    const double n = la_rows(out);
    la_batch_run(exec, la_batch_count(out, 2), 2 * n * n, 1,
                 out.dtype == LA_F64 ? tri_one_f64 : tri_one_f32, &args);
    return COVAR_OK;
}

covar_status la_tri(const la_exec *exec, la_tri_kind kind, la_view out,
                    la_view x)
{
    static const char who[] = "la_tri";
    COVAR_TRY(la_check_input(exec, who, "x", x, 2));
    COVAR_TRY(la_check_output(exec, who, "out", out, 2));
    COVAR_TRY(la_check_pair(exec, who, "x", x, 2, "out", out, 2));
    COVAR_TRY(la_check_square(exec, who, "x", x));
    if (!la_view_same_dims(x, out))
        return la_fail_shape(exec, who, "x", x, "out", out,
                             "equal dims are needed");
    if ((unsigned)kind > LA_TRI_MEAN)
        return covar_fail(exec->ctx, COVAR_ERR_ARG, "%s: no kind %d", who,
                          (int)kind);
    return la_device_of(exec)->tri(exec, kind, out, x);
}
