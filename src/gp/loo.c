/* Cross validation in closed form from one factor.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With P = K^-1 - U U', U = K^-1 H B^-T (H, B of the profiled mean; K includes
 * the noise) and alpha = P (y - offset): leaving out the set S,
 *     mean_S = y_S - P_SS^-1 alpha_S,   cov_S = P_SS^-1.
 * One point at a time: mean = y - alpha / P_ii, var = 1 / P_ii.
 * Sources: Rasmussen & Williams 2006, eq. 5.10 to 5.13; Dubrule 1983 for the
 * mean's part. */
#include "config.h"

#include <math.h>

#include "model_impl.h"

/* P (n,n) in double. */
static covar_status projected_inverse(double *P, const gp_model *m,
                                      covar_context *ctx)
{
    la_exec exec = la_exec_cpu(ctx);
    size_t n = m->data->n, q = m->q;
    la_view out = la_mat_f64(P, n, n);
    int32_t info = 0;
    COVAR_TRY(la_copy(&exec, out, la_array_view(m->L)));
    COVAR_TRY(la_potri(&exec, out, &info));
    if (info != 0)
        return covar_fail(ctx, COVAR_ERR_SINGULAR,
                          "gp_loo: the factor has a zero at %d", (int)info);
    if (q == 0)
        return COVAR_OK;
    double *U = covar_heap_alloc(m->heap, n * q + q * q, sizeof(*U));
    if (!U)
        return covar_fail_nomem(ctx, "gp_loo");
    la_view u = la_mat_f64(U, n, q), B = la_mat_f64(U + n * q, q, q);
    double *L = covar_heap_alloc(m->heap, n * n, sizeof(*L));
    covar_status status = L ? COVAR_OK : covar_fail_nomem(ctx, "gp_loo");
    if (status == COVAR_OK)
        status = la_copy(&exec, la_mat_f64(L, n, n), la_array_view(m->L));
    if (status == COVAR_OK)
        status = la_copy(&exec, u, la_array_view(m->V));
    if (status == COVAR_OK)
        status = la_copy(&exec, B, la_array_view(m->B));
    if (status == COVAR_OK)
        status = la_trsm(&exec, LA_LEFT, LA_LOWER, LA_TRANS, LA_NON_UNIT, 1,
                         la_mat_f64(L, n, n), u);
    if (status == COVAR_OK)
        status =
            la_trsm(&exec, LA_RIGHT, LA_LOWER, LA_TRANS, LA_NON_UNIT, 1, B, u);
    if (status == COVAR_OK)
        status = la_syrk(&exec, -1, LA_NO_TRANS, u, 1, out);
    covar_heap_free(m->heap, L);
    covar_heap_free(m->heap, U);
    return status;
}

/* What is known of one left-out point, to the caller's arrays. */
static void put(const gp_model *m, size_t i, double shift, double variance,
                double *mean, double *var_y, double *log_p)
{
    double y = m->data->y[i * m->data->p];
    if (mean)
        mean[i] = y - shift;
    if (var_y)
        var_y[i] = variance;
    if (log_p)
        log_p[i] = -0.5 * (log(2 * M_PI * variance) + shift * shift / variance);
}

covar_status gp_loo(const gp_model *m, covar_context *ctx, double *mean,
                    double *var_y, double *log_p)
{
    if (!m || !ctx)
        return covar_fail(ctx, COVAR_ERR_ARG, "gp_loo: the model is NULL");
    size_t n = m->data->n, p = m->data->p;
    double *P = covar_heap_alloc(m->heap, n * n, sizeof(*P));
    if (!P)
        return covar_fail_nomem(ctx, "gp_loo");
    covar_status status = projected_inverse(P, m, ctx);
    la_view alpha = la_array_view(m->alpha);
    for (size_t i = 0; status == COVAR_OK && i < n; i++) {
        double precision = P[i * n + i];
        if (!(precision > 0))
            status = covar_fail(ctx, COVAR_ERR_SINGULAR,
                                "gp_loo: without row %zu the mean is not "
                                "determined",
                                i);
        else
            put(m, i, la_view_get(alpha, i * p) / precision, 1 / precision,
                mean, var_y, log_p);
    }
    covar_heap_free(m->heap, P);
    return status;
}

/* One fold: rows row[k] of P; block and shift are work (k,k), (k). */
static covar_status fold_out(const gp_model *m, covar_context *ctx,
                             const double *P, const size_t *row, size_t k,
                             double *block, double *shift, double *mean,
                             double *var_y, double *log_p)
{
    la_exec exec = la_exec_cpu(ctx);
    size_t n = m->data->n, p = m->data->p;
    la_view alpha = la_array_view(m->alpha);
    int32_t info = 0;
    for (size_t i = 0; i < k; i++) {
        shift[i] = la_view_get(alpha, row[i] * p);
        for (size_t j = 0; j < k; j++)
            block[i * k + j] = P[row[i] * n + row[j]];
    }
    la_view L = la_mat_f64(block, k, k), s = la_mat_f64(shift, k, 1);
    COVAR_TRY(la_potrf(&exec, L, &info));
    if (info != 0)
        return covar_fail(ctx, COVAR_ERR_SINGULAR,
                          "gp_cv: without %zu rows, row %zu among them, the "
                          "model is not determined",
                          k, row[(size_t)info - 1]);
    COVAR_TRY(
        la_trsm(&exec, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, 1, L, s));
    COVAR_TRY(
        la_trsm(&exec, LA_LEFT, LA_LOWER, LA_TRANS, LA_NON_UNIT, 1, L, s));
    COVAR_TRY(la_potri(&exec, L, &info));
    for (size_t i = 0; i < k; i++)
        put(m, row[i], shift[i], block[i * k + i], mean, var_y, log_p);
    return COVAR_OK;
}

covar_status gp_cv(const gp_model *m, covar_context *ctx, const int32_t *fold,
                   size_t k, double *mean, double *var_y, double *log_p)
{
    if (!m || !ctx || !fold)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "gp_cv: the model or the folds "
                          "are NULL");
    size_t n = m->data->n;
    for (size_t i = 0; i < n; i++)
        if (fold[i] < 0 || (size_t)fold[i] >= k)
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "gp_cv: fold %d of row %zu is not in 0..%zu",
                              (int)fold[i], i, k - 1);
    double *P = covar_heap_alloc(m->heap, 2 * n * n + n, sizeof(*P));
    size_t *row = covar_heap_alloc(m->heap, n, sizeof(*row));
    covar_status status = P && row ? projected_inverse(P, m, ctx)
                                   : covar_fail_nomem(ctx, "gp_cv");
    for (size_t f = 0; status == COVAR_OK && f < k; f++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if ((size_t)fold[i] == f)
                row[count++] = i;
        if (count > 0)
            status = fold_out(m, ctx, P, row, count, P + n * n, P + 2 * n * n,
                              mean, var_y, log_p);
    }
    covar_heap_free(m->heap, P);
    covar_heap_free(m->heap, row);
    return status;
}
