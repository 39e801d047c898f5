/* Conditions a model on its data at given parameters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     L L' = K + diag(noise) + c mean(diag K) I,  z = L^-1 (y - offset),
 *     V = L^-1 H,  B B' = V'V,  beta = (B B')^-1 V'z,
 *     alpha = L^-T (z - V beta),
 *     lml = -1/2 |z - V beta|^2 - log det L - n/2 log 2 pi   (each output).
 * c is 0 or the first jitter level at which the factorisation succeeds and no
 * pivot is lost to rounding.
 * Source: Rasmussen & Williams 2006, alg. 2.1 and sec. 2.7. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model_impl.h"

/* K(X,X) + noise into L; *mean_diag of K alone, which jitter is relative to: a
 * row with a huge known noise must not raise it. */
static covar_status gram(gp_model *m, covar_context *ctx, const la_view *in,
                         la_view noise, double *mean_diag)
{
    la_exec exec = la_exec_cpu(ctx);
    la_view L = la_array_view(m->L);
    size_t n = m->data->n;
    COVAR_TRY(gp_programs_run(m->programs, ctx, GP_PROGRAM_GRAM, in, &L));
    la_view diag = la_view_diag(L);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += la_view_get(diag, i);
    *mean_diag = n > 0 ? sum / (double)n : 0;
    COVAR_TRY(la_add_diag(&exec, L, noise));
    if (!isfinite(*mean_diag) || !la_all_finite(L, NULL))
        return covar_fail(ctx, COVAR_ERR_NUMERIC,
                          "the covariance matrix has entries that are not "
                          "finite");
    return COVAR_OK;
}

static void add_to_diagonal(la_view L, double value)
{
    la_view diag = la_view_diag(L);
    for (size_t i = 0; i < diag.dim[0]; i++)
        la_view_set(diag, i, la_view_get(diag, i) + value);
}

/* Largest column sum of absolute values of a symmetric matrix. */
static double norm1(la_view K)
{
    size_t n = K.dim[0];
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += fabs(la_view_get(K, i * n + j));
        largest = fmax(largest, sum);
    }
    return largest;
}

/* The error of pivot i is a sum of i products of relative error eps, so one
 * below n eps A_ii says nothing of the matrix, not even that it is positive.
 * The sum behaves like its square root, which is what f32 is held to: its
 * ladder of jitters begins near n eps. */
bool gp_pivot_is_lost(double pivot, la_dtype dtype, size_t n)
{
    double least = dtype == LA_F64 ? (double)n * (double)DBL_EPSILON
                                   : sqrt((double)n) * (double)FLT_EPSILON;
    return !(pivot >= least);
}

/* First pivot of L that rounding may have made, counted from 1; 0: none.
 * diag (n): of K + noise + jitter. */
static int32_t lost_pivot(const gp_model *m, const double *diag, double *pivot)
{
    la_view d = la_view_diag(la_array_view(m->L));
    for (size_t i = 0; i < m->data->n; i++) {
        double l = la_view_get(d, i);
        *pivot = l * l / diag[i];
        if (gp_pivot_is_lost(*pivot, m->options.dtype, m->data->n))
            return (int32_t)i + 1;
    }
    return 0;
}

/* One factorisation attempt at jitter level c; *info as of la_potrf, *pivot
 * the relative size of one that was lost to rounding, else 0. */
static covar_status factor(gp_model *m, covar_context *ctx, const la_view *in,
                           la_view noise, double c, int32_t *info,
                           double *pivot)
{
    la_exec exec = la_exec_cpu(ctx);
    la_view L = la_array_view(m->L);
    double mean_diag;
    COVAR_TRY(gram(m, ctx, in, noise, &mean_diag));
    m->jitter_relative = c;
    m->report.jitter_relative = c;
    m->report.jitter_absolute = c * mean_diag;
    if (c > 0)
        add_to_diagonal(L, m->report.jitter_absolute);
    double norm = norm1(L);
    size_t n = m->data->n;
    double *diag = covar_heap_alloc(m->heap, n, sizeof(*diag));
    if (!diag)
        return covar_fail_nomem(ctx, "gp_fit");
    for (size_t i = 0; i < n; i++)
        diag[i] = la_view_get(la_view_diag(L), i);
    *pivot = 0;
    covar_status status = la_potrf(&exec, L, info);
    if (status == COVAR_OK && *info == 0) {
        status = la_rcond_chol(&exec, L, norm, &m->report.rcond);
        *info = lost_pivot(m, diag, pivot);
    }
    covar_heap_free(m->heap, diag);
    return status;
}

static covar_status not_positive(const gp_model *m, covar_context *ctx,
                                 int32_t info, double pivot)
{
    char kernel[160], why[100] = "";
    size_t length = gp_kernel_print(kernel, sizeof(kernel), m->kernel);
    if (pivot > 0)
        snprintf(why, sizeof(why),
                 " (to rounding: its pivot is %.2g of the diagonal, rcond "
                 "%.2g)",
                 pivot, m->report.rcond);
    return covar_fail(ctx, COVAR_ERR_NOT_PD,
                      "kernel %s%s: K + noise (%zu x %zu) is not positive "
                      "definite at leading minor %d%s, relative jitter %g; a "
                      "larger noise or jitter would help",
                      kernel, length >= sizeof(kernel) ? "..." : "", m->data->n,
                      m->data->n, (int)info, why, m->jitter_relative);
}

static covar_status climb(gp_model *m, covar_context *ctx, const la_view *in,
                          la_view noise, size_t first_level)
{
    double level[8], pivot = 0;
    int32_t info = 1;
    size_t n_levels = gp_jitter_levels(&m->options, level);
    for (size_t i = first_level; info != 0 && i < n_levels; i++)
        COVAR_TRY(factor(m, ctx, in, noise, level[i], &info, &pivot));
    return info == 0 ? COVAR_OK : not_positive(m, ctx, info, pivot);
}

covar_status gp_model_factor(gp_model *m, covar_context *ctx,
                             size_t first_level)
{
    la_exec exec = la_exec_cpu(ctx);
    size_t n = m->data->n;
    la_dtype t = m->options.dtype;
    la_array *free = NULL, *X = NULL, *noise = NULL;
    la_view rows = la_mat_f64(m->data->X, n, m->data->d);
    covar_status status = la_array_create(&m->L, &exec, t, 2, (size_t[]){n, n});
    if (status == COVAR_OK)
        status = gp_params_free_array(&free, ctx, &m->params, t);
    if (status == COVAR_OK)
        status = gp_model_rows(&X, ctx, m->data, t, rows);
    if (status == COVAR_OK)
        status = gp_noise_array(&noise, ctx, &m->params, m->data, t);
    if (status == COVAR_OK) {
        la_view in[] = {la_array_view(free), la_array_view(X)};
        status = climb(m, ctx, in, la_array_view(noise), first_level);
    }
    la_array_free(free);
    la_array_free(X);
    la_array_free(noise);
    return status;
}

/* V = L^-1 H and the factor B of V'V. */
static covar_status profile(gp_model *m, covar_context *ctx)
{
    la_exec exec = la_exec_cpu(ctx);
    const gp_data *data = m->data;
    size_t n = data->n, q = m->q;
    la_dtype t = m->options.dtype;
    int32_t info = 0;
    double *H = covar_heap_alloc(m->heap, n * q, sizeof(*H));
    if (!H)
        return covar_fail_nomem(ctx, "gp_fit");
    gp_mean_basis_at(H, data, &m->options, la_mat_f64(data->X, n, data->d));
    covar_status status = la_array_create(&m->V, &exec, t, 2, (size_t[]){n, q});
    if (status == COVAR_OK)
        status = la_copy(&exec, la_array_view(m->V), la_mat_f64(H, n, q));
    covar_heap_free(m->heap, H);
    COVAR_TRY(status);
    la_view V = la_array_view(m->V);
    COVAR_TRY(la_trsm(&exec, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, 1,
                      la_array_view(m->L), V));
    COVAR_TRY(la_array_create(&m->B, &exec, t, 2, (size_t[]){q, q}));
    la_view B = la_array_view(m->B);
    COVAR_TRY(la_syrk(&exec, 1, LA_TRANS, V, 0, B));
    COVAR_TRY(la_potrf(&exec, B, &info));
    if (info != 0)
        return covar_fail(ctx, COVAR_ERR_DATA,
                          "the %zu mean coefficients are not determined by "
                          "these inputs (coefficient %d)",
                          q, (int)info - 1);
    return COVAR_OK;
}

/* beta from z (n,p), which becomes z - V beta. */
static covar_status regress(gp_model *m, covar_context *ctx, la_view z)
{
    la_exec exec = la_exec_cpu(ctx);
    size_t q = m->q, p = m->data->p;
    la_array *b = NULL;
    COVAR_TRY(
        la_array_create(&b, &exec, m->options.dtype, 2, (size_t[]){q, p}));
    la_view beta = la_array_view(b), V = la_array_view(m->V),
            B = la_array_view(m->B);
    covar_status status =
        la_gemm(&exec, 1, LA_TRANS, V, LA_NO_TRANS, z, 0, beta);
    if (status == COVAR_OK)
        status = la_trsm(&exec, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, 1,
                         B, beta);
    if (status == COVAR_OK)
        status = la_trsm(&exec, LA_LEFT, LA_LOWER, LA_TRANS, LA_NON_UNIT, 1, B,
                         beta);
    if (status == COVAR_OK)
        status = la_gemm(&exec, -1, LA_NO_TRANS, V, LA_NO_TRANS, beta, 1, z);
    for (size_t i = 0; status == COVAR_OK && i < q * p; i++)
        m->beta[i] = la_view_get(beta, i);
    la_array_free(b);
    return status;
}

/* y - offset (n,p) into alpha's array. */
static covar_status residuals(gp_model *m, covar_context *ctx)
{
    la_exec exec = la_exec_cpu(ctx);
    const gp_data *data = m->data;
    size_t n = data->n, p = data->p;
    double *r = covar_heap_alloc(m->heap, n * p, sizeof(*r));
    if (!r)
        return covar_fail_nomem(ctx, "gp_fit");
    covar_status status = gp_mean_offset(r, ctx, data, &m->options,
                                         la_mat_f64(data->X, n, data->d));
    for (size_t i = 0; status == COVAR_OK && i < n * p; i++)
        r[i] = data->y[i] - r[i];
    if (status == COVAR_OK)
        status = la_array_create(&m->alpha, &exec, m->options.dtype, 2,
                                 (size_t[]){n, p});
    if (status == COVAR_OK)
        status = la_copy(&exec, la_array_view(m->alpha), la_mat_f64(r, n, p));
    covar_heap_free(m->heap, r);
    return status;
}

static void set_likelihood(gp_model *m, double square)
{
    const gp_data *data = m->data;
    double n = (double)data->n, p = (double)data->p, half_log_det = 0;
    la_view diag = la_view_diag(la_array_view(m->L));
    for (size_t i = 0; i < data->n; i++)
        half_log_det += log(la_view_get(diag, i));
    m->log_det = 2 * half_log_det;
    m->report.lml = -square / 2 - p * half_log_det - p * n / 2 * log(2 * M_PI);
    m->report.lml_standardised = m->report.lml;
    for (size_t k = 0; k < data->p; k++)
        m->report.lml_standardised +=
            data->y_sd[k] > 0 ? n * log(data->y_sd[k]) : 0;
}

covar_status gp_model_solve(gp_model *m, covar_context *ctx)
{
    la_exec exec = la_exec_cpu(ctx);
    la_view L = la_array_view(m->L);
    la_array_free(m->V);
    la_array_free(m->B);
    la_array_free(m->alpha);
    m->V = m->B = m->alpha = NULL;
    if (m->q > 0)
        COVAR_TRY(profile(m, ctx));
    COVAR_TRY(residuals(m, ctx));
    la_view z = la_array_view(m->alpha);
    COVAR_TRY(
        la_trsm(&exec, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, 1, L, z));
    if (m->q > 0)
        COVAR_TRY(regress(m, ctx, z));
    gp_mean_natural(m->mean_value, m->data, &m->options, m->beta, 0);
    double square = 0;
    for (size_t i = 0; i < la_view_count(z); i++)
        square += la_view_get(z, i) * la_view_get(z, i);
    set_likelihood(m, square);
    return la_trsm(&exec, LA_LEFT, LA_LOWER, LA_TRANS, LA_NON_UNIT, 1, L, z);
}

covar_status gp_model_condition(gp_model **out, covar_context *ctx,
                                const gp_kernel *k, const gp_params *params,
                                const gp_data *data, const gp_options *options,
                                size_t first_level)
{
    gp_model *m = NULL;
    *out = NULL;
    COVAR_TRY(gp_model_create(&m, ctx, k, params, data, options));
    covar_status status = gp_programs_create(&m->programs, ctx, m->kernel,
                                             &m->params, m->data, &m->options);
    if (status == COVAR_OK)
        status = gp_model_factor(m, ctx, first_level);
    if (status == COVAR_OK)
        status = gp_model_solve(m, ctx);
    if (status != COVAR_OK) {
        gp_model_free(m);
        return status;
    }
    gp_model_note(m);
    *out = m;
    return COVAR_OK;
}
