/* What the verbs ask of their arguments and of their results.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data.h"

covar_status gp_check_pointers(covar_context *ctx, const char *who,
                               const gp_pointer *list, size_t n)
{
    if (!ctx)
        return COVAR_ERR_ARG;
    for (size_t i = 0; i < n; i++)
        if (!list[i].p)
            return covar_fail(ctx, COVAR_ERR_ARG, "%s: %s is NULL", who,
                              list[i].name);
    return COVAR_OK;
}

size_t gp_product(size_t a, size_t b, size_t c)
{
    if (a == 0 || b == 0 || c == 0)
        return 0;
    return a > SIZE_MAX / b || a * b > SIZE_MAX / c ? SIZE_MAX : a * b * c;
}

size_t gp_sum(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

covar_status gp_check_room(covar_context *ctx, const char *who, size_t bytes)
{
    enum { SMALL = 1 << 30 }; /* not worth asking the system */
    if (bytes <= SMALL)
        return COVAR_OK;
    size_t there = bytes > (size_t)PTRDIFF_MAX ? 0 : gp_free_bytes();
    if (bytes <= (size_t)PTRDIFF_MAX && (there == 0 || bytes <= there))
        return COVAR_OK;
    if (bytes > (size_t)PTRDIFF_MAX)
        return covar_fail(ctx, COVAR_ERR_NOMEM,
                          "%s: too large: more than %zu bytes would be needed",
                          who, (size_t)PTRDIFF_MAX);
    return covar_fail(ctx, COVAR_ERR_NOMEM,
                      "%s: too large: %zu bytes would be needed, the machine "
                      "has %zu",
                      who, bytes, there);
}

/* Bytes of the elements that differ: a stride of 0 repeats one. */
static size_t bytes_of(la_view x)
{
    size_t bytes = la_dtype_size(x.dtype);
    for (int k = 0; k < x.rank; k++)
        if (x.dim[k] == 0)
            return 0;
        else if (x.stride[k] != 0)
            bytes = gp_product(bytes, x.dim[k], 1);
    return bytes;
}

covar_status gp_check_real(covar_context *ctx, const char *who,
                           const char *name, la_dtype dtype)
{
    if (dtype == LA_F64 || dtype == LA_F32)
        return COVAR_OK;
    bool known = dtype == LA_I32 || dtype == LA_U8;
    return covar_fail(ctx, COVAR_ERR_DTYPE,
                      "%s: %s has the dtype %s (%d), but f64 (%d) or f32 (%d) "
                      "is needed",
                      who, name, known ? la_dtype_name(dtype) : "unknown",
                      (int)dtype, LA_F64, LA_F32);
}

covar_status gp_check_view(covar_context *ctx, const char *who,
                           const char *name, la_view x)
{
    char text[160];
    if (la_view_is_none(x))
        return covar_fail(ctx, COVAR_ERR_ARG, "%s: %s is missing", who, name);
    if (x.rank < 0 || x.rank > LA_MAX_DIMS)
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "%s: %s has rank %d; 0 to %d is allowed", who, name,
                          x.rank, LA_MAX_DIMS);
    COVAR_TRY(gp_check_real(ctx, who, name, x.dtype));
    la_view_describe(text, sizeof(text), x);
    if (x.device)
        return covar_fail(ctx, COVAR_ERR_DEVICE, "%s: %s is not in host memory",
                          who, name);
    size_t count = la_view_count(x);
    if (count > (size_t)PTRDIFF_MAX / sizeof(double))
        return covar_fail(ctx, COVAR_ERR_NOMEM,
                          "%s: %s is %s: too large for any memory", who, name,
                          text);
    if (count > 0 && !x.data)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "%s: %s is %s but its data is NULL", who, name, text);
    covar_status status = gp_check_room(ctx, who, bytes_of(x));
    return status == COVAR_OK
               ? COVAR_OK
               : covar_fail(ctx, status,
                            "%s: %s is %s: more than the machine's memory "
                            "(%zu bytes free)",
                            who, name, text, gp_free_bytes());
}

covar_status gp_check_enum(covar_context *ctx, const char *who,
                           const char *what, long value,
                           const char *const *name, size_t n)
{
    if (value >= 0 && (size_t)value < n)
        return COVAR_OK;
    char list[300] = "";
    size_t used = 0;
    for (size_t i = 0; i < n && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s %zu",
                                 i > 0 ? ", " : "", name[i], i);
    return covar_fail(ctx, COVAR_ERR_ARG,
                      "%s: %s = %ld is unknown; known are %s", who, what, value,
                      list);
}

/* ---- Results ------------------------------------------------------------ */

/* Column of row i of Xs that lies farthest from the training rows, counted in
 * their ranges. */
static size_t far_column(const gp_data *data, la_view Xs, size_t i)
{
    size_t column = 0;
    double most = -1;
    for (size_t k = 0; k < data->d; k++) {
        double range = data->col_range[k] > 0 ? data->col_range[k] : 1;
        double x = la_view_get(Xs, i * data->d + k);
        double far = fabs(x / range - data->col_mean[k] / range);
        if (far > most) {
            most = far;
            column = k;
        }
    }
    return column;
}

bool gp_is_far(const gp_model *m, la_view Xs, size_t row)
{
    const gp_data *data = m->data;
    size_t k = far_column(data, Xs, row);
    double range = data->col_range[k] > 0 ? data->col_range[k] : 1;
    double x = la_view_get(Xs, row * data->d + k);
    /* where squares of distances come near the end of the type */
    double most = m->options.dtype == LA_F64 ? 1e100 : 1e15;
    return !(fabs(x / range - data->col_mean[k] / range) < most);
}

covar_status gp_check_result(covar_context *ctx, const char *who,
                             const char *what, const gp_model *m, la_view Xs,
                             const double *x, size_t rows, size_t cols)
{
    const gp_data *data = m->data;
    for (size_t i = 0; x && i < rows * cols; i++) {
        if (isfinite(x[i]))
            continue;
        char label[GP_LABEL_SIZE];
        size_t row = i / cols, k = far_column(data, Xs, row);
        gp_column_label(label, (const char *const *)data->column_name, k);
        return covar_fail(ctx, COVAR_ERR_NUMERIC,
                          "%s: %s at row %zu comes out as %g: the arithmetic "
                          "overflows; of that input column %s is farthest out "
                          "(%g)",
                          who, what, row, x[i], label,
                          la_view_get(Xs, row * data->d + k));
    }
    return COVAR_OK;
}

covar_status gp_fail_as(covar_context *ctx, covar_status status,
                        const char *who)
{
    static const char fit[] = "gp_fit: ";
    char rest[800];
    const char *text = covar_error_text(ctx);
    if (status == COVAR_OK || strncmp(text, fit, strlen(fit)) != 0)
        return status;
    snprintf(rest, sizeof(rest), "%s", text + strlen(fit));
    return covar_fail(ctx, status, "%s: %s", who, rest);
}
