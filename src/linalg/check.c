/* Checks of operands, and the sentences that say what is wrong with them.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/check.h"

#include <limits.h>

enum { TEXT = 96 };

static covar_status fail_one(const la_exec *exec, covar_status status,
                             const char *who, const char *name, la_view x,
                             const char *why)
{
    char text[TEXT];
    return covar_fail(exec->ctx, status, "%s: %s is %s: %s", who, name,
                      la_view_describe(text, sizeof text, x), why);
}

covar_status la_check_exec(const la_exec *exec)
{
    return exec && exec->ctx ? COVAR_OK : COVAR_ERR_ARG;
}

/* Device, data, and that sizes and strides fit. */
static covar_status check_place(const la_exec *exec, const char *who,
                                const char *name, la_view x, int core)
{
    const la_device *device = x.device ? x.device : &la_device_cpu;
    if (x.rank < 0 || x.rank > LA_MAX_DIMS)
        return fail_one(exec, COVAR_ERR_SHAPE, who, name, x,
                        "the rank must be within 0..6");
    if (x.rank < core)
        return fail_one(exec, COVAR_ERR_SHAPE, who, name, x,
                        core == 2 ? "a matrix (rank >= 2) is needed"
                                  : "a vector (rank >= 1) is needed");
    if (device != la_device_of(exec))
        return fail_one(exec, COVAR_ERR_DEVICE, who, name, x,
                        "it is on another device");
    if (!x.data && la_view_count(x) > 0)
        return fail_one(exec, COVAR_ERR_ARG, who, name, x, "data is NULL");
    for (int k = x.rank - core; k < x.rank; k++)
        if (x.dim[k] > INT_MAX)
            return fail_one(exec, COVAR_ERR_SHAPE, who, name, x,
                            "sizes above 2^31 - 1 are not supported");
    if (core > 0 && x.dim[x.rank - 1] > 1 && x.stride[x.rank - 1] != 1)
        return fail_one(exec, COVAR_ERR_SHAPE, who, name, x,
                        "the last stride must be 1 (copy it first)");
    return COVAR_OK;
}

covar_status la_check_input(const la_exec *exec, const char *who,
                            const char *name, la_view x, int core)
{
    COVAR_TRY(la_check_exec(exec));
    if (!la_dtype_is_real(x.dtype))
        return fail_one(exec, COVAR_ERR_DTYPE, who, name, x,
                        "f64 or f32 is needed");
    COVAR_TRY(check_place(exec, who, name, x, core));
    if (core < 2 || x.dim[x.rank - 2] < 2 || x.dim[x.rank - 1] == 0)
        return COVAR_OK;
    const ptrdiff_t row = x.stride[x.rank - 2];
    if (row < 1 || (size_t)row < x.dim[x.rank - 1] || row > INT_MAX)
        return fail_one(exec, COVAR_ERR_SHAPE, who, name, x,
                        "the row stride must be at least the number of "
                        "columns and below 2^31");
    return COVAR_OK;
}

covar_status la_check_output(const la_exec *exec, const char *who,
                             const char *name, la_view x, int core)
{
    COVAR_TRY(la_check_input(exec, who, name, x, core));
    for (int k = 0; k < x.rank - core; k++)
        if (x.stride[k] == 0 && x.dim[k] > 1 && la_view_count(x) > 0)
            return fail_one(exec, COVAR_ERR_SHAPE, who, name, x,
                            "an output cannot have a batch stride of 0");
    return COVAR_OK;
}

covar_status la_check_square(const la_exec *exec, const char *who,
                             const char *name, la_view x)
{
    if (la_rows(x) != la_cols(x))
        return fail_one(exec, COVAR_ERR_SHAPE, who, name, x,
                        "a square matrix is needed");
    return COVAR_OK;
}

covar_status la_check_pair(const la_exec *exec, const char *who,
                           const char *name_a, la_view a, int core_a,
                           const char *name_b, la_view b, int core_b)
{
    if (a.dtype != b.dtype) {
        char text_a[TEXT], text_b[TEXT];
        return covar_fail(exec->ctx, COVAR_ERR_DTYPE,
                          "%s: %s is %s but %s is %s", who, name_a,
                          la_view_describe(text_a, sizeof text_a, a), name_b,
                          la_view_describe(text_b, sizeof text_b, b));
    }
    bool same = a.rank - core_a == b.rank - core_b;
    for (int k = 0; same && k < a.rank - core_a; k++)
        same = a.dim[k] == b.dim[k];
    if (!same)
        return la_fail_shape(exec, who, name_a, a, name_b, b,
                             "their batches differ");
    return COVAR_OK;
}

covar_status la_check_i32(const la_exec *exec, const char *who,
                          const char *name, la_view x)
{
    COVAR_TRY(la_check_exec(exec));
    if (x.dtype != LA_I32)
        return fail_one(exec, COVAR_ERR_DTYPE, who, name, x, "i32 is needed");
    COVAR_TRY(check_place(exec, who, name, x, 1));
    if (x.rank != 1)
        return fail_one(exec, COVAR_ERR_SHAPE, who, name, x,
                        "a vector (rank 1) is needed");
    return COVAR_OK;
}

covar_status la_fail_shape(const la_exec *exec, const char *who,
                           const char *name_a, la_view a, const char *name_b,
                           la_view b, const char *why)
{
    char text_a[TEXT], text_b[TEXT];
    return covar_fail(exec->ctx, COVAR_ERR_SHAPE,
                      "%s: %s is %s but %s is %s: "
                      "%s",
                      who, name_a, la_view_describe(text_a, sizeof text_a, a),
                      name_b, la_view_describe(text_b, sizeof text_b, b), why);
}

covar_status la_check_info(const la_exec *exec, const char *who,
                           const int32_t *info)
{
    if (!info)
        return covar_fail(exec->ctx, COVAR_ERR_ARG, "%s: info is NULL", who);
    return COVAR_OK;
}

covar_status la_check_flag(const la_exec *exec, const char *who,
                           const char *name, int flag)
{
    COVAR_TRY(la_check_exec(exec));
    if (flag != 0 && flag != 1)
        return covar_fail(exec->ctx, COVAR_ERR_ARG, "%s: %s is %d, not 0 or 1",
                          who, name, flag);
    return COVAR_OK;
}
