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
#include <string.h>

#include "check.h"
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

/* The mean's coefficients are determined by the rows that are not in fold f;
 * H (n,q) is the basis, room (n,q) work. */
static covar_status check_left(const gp_model *m, covar_context *ctx,
                               const char *who, const double *H, double *room,
                               const int32_t *fold, size_t f)
{
    size_t n = m->data->n, q = m->q, left = 0;
    for (size_t i = 0; i < n; i++) {
        if (fold ? (size_t)fold[i] == f : i == f)
            continue;
        memcpy(room + left * q, H + i * q, q * sizeof(*room));
        left++;
    }
    if (left >= q && gp_dependent_column(room, left, q) == q)
        return COVAR_OK;
    return covar_fail(ctx, COVAR_ERR_SINGULAR,
                      "%s: without %s %zu the other %zu rows do not determine "
                      "the %zu coefficients of the mean",
                      who, fold ? "fold" : "row", f, left, q);
}

/* The same for each of k folds (fold NULL: each row). */
static covar_status check_folds(const gp_model *m, covar_context *ctx,
                                const char *who, const int32_t *fold, size_t k)
{
    size_t n = m->data->n, q = m->q;
    if (q == 0)
        return COVAR_OK;
    double *H = covar_heap_alloc(m->heap, n * q, 2 * sizeof(*H));
    if (!H)
        return covar_fail_nomem(ctx, who);
    gp_mean_basis_at(H, m->data, &m->options,
                     la_mat_f64(m->data->X, n, m->data->d));
    covar_status status = COVAR_OK;
    for (size_t f = 0; status == COVAR_OK && f < k; f++)
        status = check_left(m, ctx, who, H, H + n * q, fold, f);
    covar_heap_free(m->heap, H);
    return status;
}

/* What was asked for is finite. */
static covar_status check_numbers(covar_context *ctx, const char *who, size_t n,
                                  const double *mean, const double *var_y,
                                  const double *log_p)
{
    const double *x[] = {mean, var_y, log_p};
    static const char *const name[] = {"mean", "variance", "log density"};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; x[k] && i < n; i++)
            if (!isfinite(x[k][i]))
                return covar_fail(ctx, COVAR_ERR_NUMERIC,
                                  "%s: the %s of row %zu comes out as %g", who,
                                  name[k], i, x[k][i]);
    return COVAR_OK;
}

covar_status gp_loo(const gp_model *m, covar_context *ctx, double *mean,
                    double *var_y, double *log_p)
{
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_loo", {"the model", m}));
    size_t n = m->data->n, p = m->data->p;
    COVAR_TRY(check_folds(m, ctx, "gp_loo", NULL, n));
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
    COVAR_TRY(status);
    return check_numbers(ctx, "gp_loo", n, mean, var_y, log_p);
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

static covar_status check_fold_numbers(covar_context *ctx, const int32_t *fold,
                                       size_t n, size_t k)
{
    if (k == 0 || k > n)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "gp_cv: k is %zu; 1 to %zu (rows) is allowed", k, n);
    for (size_t i = 0; i < n; i++)
        if (fold[i] < 0 || (size_t)fold[i] >= k)
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "gp_cv: fold %d of row %zu is not in 0..%zu",
                              (int)fold[i], i, k - 1);
    return COVAR_OK;
}

covar_status gp_cv(const gp_model *m, covar_context *ctx, const int32_t *fold,
                   size_t k, double *mean, double *var_y, double *log_p)
{
    COVAR_TRY(
        GP_CHECK_POINTERS(ctx, "gp_cv", {"the model", m}, {"fold", fold}));
    size_t n = m->data->n;
    COVAR_TRY(check_fold_numbers(ctx, fold, n, k));
    COVAR_TRY(check_folds(m, ctx, "gp_cv", fold, k));
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
    COVAR_TRY(status);
    return check_numbers(ctx, "gp_cv", n, mean, var_y, log_p);
}
