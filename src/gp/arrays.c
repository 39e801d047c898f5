/* Rows, parameters and noise as arrays of the model's element type.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <math.h>

#include "programs.h"

/* An array of `dtype` from n numbers with the dims of `like`. */
static covar_status from_doubles(la_array **out, covar_context *ctx,
                                 la_dtype dtype, la_view like)
{
    la_exec exec = la_exec_cpu(ctx);
    COVAR_TRY(la_array_create(out, &exec, dtype, like.rank, like.dim));
    covar_status status = la_copy(&exec, la_array_view(*out), like);
    if (status != COVAR_OK) {
        la_array_free(*out);
        *out = NULL;
    }
    return status;
}

covar_status gp_params_free_array(la_array **out, covar_context *ctx,
                                  const gp_params *p, la_dtype dtype)
{
    double *free = covar_heap_alloc(p->heap, p->n, sizeof(*free));
    if (!free)
        return covar_fail_nomem(ctx, "gp_predict");
    for (size_t i = 0; i < p->n; i++) {
        double value = p->param[i].value;
        free[i] = p->param[i].log ? log(value) : value;
        if (p->param[i].dropped) /* never read */
            free[i] = 0;
    }
    covar_status status = from_doubles(out, ctx, dtype, la_vec_f64(free, p->n));
    covar_heap_free(p->heap, free);
    return status;
}

covar_status gp_model_rows(la_array **out, covar_context *ctx,
                           const gp_data *data, la_dtype dtype, la_view X)
{
    size_t m = X.dim[0], d = data->d;
    double *row = covar_heap_alloc(data->heap, m * d, sizeof(*row));
    if (!row)
        return covar_fail_nomem(ctx, "gp_predict");
    for (size_t i = 0; i < m * d; i++)
        row[i] = la_view_get(X, i) - data->x_shift[i % d];
    covar_status status = from_doubles(out, ctx, dtype, la_mat_f64(row, m, d));
    covar_heap_free(data->heap, row);
    return status;
}

covar_status gp_noise_array(la_array **out, covar_context *ctx,
                            const gp_params *p, const gp_data *data,
                            la_dtype dtype)
{
    double learned = p->param[p->n - 1].value;
    double *noise = covar_heap_alloc(data->heap, data->n, sizeof(*noise));
    if (!noise)
        return covar_fail_nomem(ctx, "gp_fit");
    for (size_t i = 0; i < data->n; i++) {
        noise[i] = data->weight ? learned / data->weight[i] : learned;
        noise[i] += data->noise ? data->noise[i] : 0;
    }
    covar_status status =
        from_doubles(out, ctx, dtype, la_vec_f64(noise, data->n));
    covar_heap_free(data->heap, noise);
    return status;
}
