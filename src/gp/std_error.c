/* Standard errors and covariance of the parameters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The observed information of the searched parameters in natural units,
 *     I = -d2 (lml [+ log priors under MAP]) / d theta d theta',
 * is inverted. For theta = exp(u) and D = diag(theta),
 *     I = D^-1 (-H + diag(g)) D^-1  with  H, g in u,
 * so the well-scaled middle is inverted by its eigenvalues and the result is
 * scaled afterwards. Directions with an eigenvalue that is not positive have
 * no finite variance: parameters that take part in one get NaN, as do fixed,
 * dropped and bounded ones. Profiled means: cov(beta) = (H'A^-1 H)^-1, taken
 * as independent of the others; it is exact at known parameters. */
#include "config.h"

#include "check.h"
#include "fit_impl.h"

#include <math.h>
#include <string.h>

static const size_t nowhere = SIZE_MAX;

/* What is inverted: members of a tie count as one. */
typedef struct information {
    covar_heap *heap;
    size_t n, n_param;
    size_t *slot;               /* (P) its place among the n, or nowhere */
    double *free, *grad, *hess; /* (P), (P), (P,P) */
    double *I;                  /* (n,n), then its inverse */
    double *scale;              /* (n): d theta / d u */
} information;

static void clear(information *f)
{
    void *part[] = {f->slot, f->free, f->grad, f->hess, f->I, f->scale};
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
        covar_heap_free(f->heap, part[i]);
}

static covar_status allocate(information *f, covar_context *ctx, size_t n)
{
    f->heap = covar_context_heap(ctx);
    f->n_param = n;
    f->slot = covar_heap_calloc(f->heap, n, sizeof(*f->slot));
    f->free = covar_heap_calloc(f->heap, n, sizeof(double));
    f->grad = covar_heap_calloc(f->heap, n, sizeof(double));
    f->hess = covar_heap_calloc(f->heap, n * n, sizeof(double));
    f->I = covar_heap_calloc(f->heap, n * n, sizeof(double));
    f->scale = covar_heap_calloc(f->heap, n, sizeof(double));
    bool whole = f->slot && f->free && f->grad && f->hess && f->I && f->scale;
    return whole ? COVAR_OK : covar_fail_nomem(ctx, "gp_param_covariance");
}

static covar_status derivatives(information *f, covar_context *ctx,
                                const gp_model *m)
{
    gp_problem *problem = NULL;
    double lml;
    gp_params_to_free(f->free, &m->params);
    COVAR_TRY(gp_problem_create(&problem, ctx, m->kernel, &m->params, m->data,
                                &m->options));
    covar_status status = gp_problem_eval(
        problem, f->free, GP_ML, m->jitter_relative, &lml, f->grad, f->hess);
    gp_problem_free(problem);
    if (status != COVAR_OK || m->options.objective != GP_MAP)
        return status;
    double *second = covar_heap_calloc(f->heap, f->n_param, sizeof(*second));
    if (!second)
        return covar_fail_nomem(ctx, "gp_param_covariance");
    gp_prior_sum(&m->params, f->free, f->grad, second);
    for (size_t i = 0; i < f->n_param; i++)
        f->hess[i * f->n_param + i] += second[i];
    covar_heap_free(f->heap, second);
    return COVAR_OK;
}

/* -H + diag(g) over the searched parameters away from their bounds. */
static void gather(information *f, const gp_params *p)
{
    size_t n_param = f->n_param;
    for (size_t i = 0; i < n_param; i++) {
        const gp_param *q = &p->param[i];
        bool in =
            !q->fixed && !q->dropped && q->tie < 0 && !gp_param_is_at_bound(q);
        f->slot[i] = in ? f->n : nowhere;
        if (in)
            f->scale[f->n++] = q->log ? q->value : 1;
    }
    for (size_t i = 0; i < n_param; i++)
        if (p->param[i].tie >= 0)
            f->slot[i] = f->slot[p->param[i].tie];
    for (size_t i = 0; i < n_param; i++) {
        size_t a = f->slot[i];
        if (a == nowhere)
            continue;
        for (size_t j = 0; j < n_param; j++)
            if (f->slot[j] != nowhere)
                f->I[a * f->n + f->slot[j]] -= f->hess[i * n_param + j];
        f->I[a * f->n + a] += p->param[i].log ? f->grad[i] : 0;
    }
}

/* I becomes its inverse over the directions that are determined; rows and
 * columns of the other parameters become NaN. U: rows are eigenvectors. */
static void invert(information *f, const double *U, const double *lambda,
                   double least)
{
    size_t n = f->n;
    double most = n > 0 ? fmax(lambda[n - 1], 0) : 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) {
                double u = U[k * n + a], v = U[k * n + b];
                if (lambda[k] > least * most)
                    sum += u * v / lambda[k];
                else if (fabs(u) > 1e-3 || fabs(v) > 1e-3)
                    sum = (double)NAN;
            }
            f->I[a * n + b] = sum * f->scale[a] * f->scale[b];
        }
}

static covar_status invert_by_eigenvalues(information *f, covar_context *ctx,
                                          size_t rows)
{
    size_t n = f->n;
    la_exec exec = la_exec_cpu(ctx);
    double *U = covar_heap_calloc(f->heap, n * n + n, sizeof(*U));
    void *work = covar_heap_alloc(f->heap, la_syevd_work_size(LA_F64, n), 1);
    int32_t info = 0;
    covar_status status =
        U && work ? COVAR_OK : covar_fail_nomem(ctx, "gp_param_covariance");
    if (status == COVAR_OK && n > 0) {
        memcpy(U, f->I, n * n * sizeof(*U));
        status = la_syevd(&exec, la_mat_f64(U, n, n), la_vec_f64(U + n * n, n),
                          work, &info);
    }
    if (status == COVAR_OK && info != 0)
        status = covar_fail(ctx, COVAR_ERR_NUMERIC,
                            "gp_param_covariance: the information matrix has "
                            "no eigenvalues");
    if (status == COVAR_OK)
        invert(f, U, U + n * n,
               gp_hessian_is_exact(rows, f->n_param) ? 1e-10 : 1e-7);
    covar_heap_free(f->heap, U);
    covar_heap_free(f->heap, work);
    return status;
}

/* ---- The profiled mean -------------------------------------------------- */

/* T (1 + d, q): coefficients in user units from those of the basis. */
static void natural_map(double *T, const gp_data *data, size_t q)
{
    T[0] = 1;
    for (size_t k = 0, j = 1; q > 1 && k < data->d; k++) {
        if (!(data->col_range[k] > 0))
            continue;
        T[(1 + k) * q + j] = 1 / data->col_range[k];
        T[j] = -data->col_mean[k] / data->col_range[k];
        j++;
    }
}

/* cov (n,n) = Z'Z with Z = B^-1 T' and B B' = H'A^-1 H. */
static covar_status mean_covariance(double *cov, covar_context *ctx,
                                    const gp_model *m, size_t n)
{
    size_t q = m->q;
    covar_heap *heap = covar_context_heap(ctx);
    la_exec exec = la_exec_cpu(ctx);
    double *block = covar_heap_calloc(heap, q * q + 2 * n * q, sizeof(*block));
    if (!block)
        return covar_fail_nomem(ctx, "gp_param_covariance");
    double *B = block, *T = B + q * q, *Z = T + n * q;
    natural_map(T, m->data, q);
    for (size_t i = 0; i < q * q; i++)
        B[i] = la_view_get(la_array_view(m->B), i);
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < n; k++)
            Z[i * n + k] = T[k * q + i];
    covar_status status =
        la_trsm(&exec, LA_LEFT, LA_LOWER, LA_NO_TRANS, LA_NON_UNIT, 1,
                la_mat_f64(B, q, q), la_mat_f64(Z, q, n));
    for (size_t a = 0; status == COVAR_OK && a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double sum = 0;
            for (size_t i = 0; i < q; i++)
                sum += Z[i * n + a] * Z[i * n + b];
            bool slope = a > 0 && !(m->data->col_range[a - 1] > 0);
            slope = slope || (b > 0 && !(m->data->col_range[b - 1] > 0));
            cov[a * n + b] = slope ? (double)NAN : sum;
        }
    covar_heap_free(heap, block);
    return status;
}

static covar_status put_mean(double *cov, covar_context *ctx, const gp_model *m)
{
    size_t count = gp_param_count(m), first = m->params.n, n = count - first;
    if (n == 0 || m->q == 0)
        return COVAR_OK; /* given coefficients stay NaN */
    covar_heap *heap = covar_context_heap(ctx);
    double *part = covar_heap_calloc(heap, n * n, sizeof(*part));
    if (!part)
        return covar_fail_nomem(ctx, "gp_param_covariance");
    covar_status status = mean_covariance(part, ctx, m, n);
    for (size_t i = 0; status == COVAR_OK && i < count; i++)
        for (size_t j = 0; j < count; j++) {
            if (i >= first && j >= first)
                cov[i * count + j] = part[(i - first) * n + j - first];
            else if (i >= first || j >= first)
                cov[i * count + j] = 0;
        }
    covar_heap_free(heap, part);
    return status;
}

/* ---- The whole ---------------------------------------------------------- */

static void put(double *cov, const information *f, size_t count)
{
    for (size_t i = 0; i < count * count; i++)
        cov[i] = (double)NAN;
    for (size_t i = 0; i < f->n_param; i++)
        for (size_t j = 0; j < f->n_param; j++) {
            size_t a = f->slot[i], b = f->slot[j];
            if (a != nowhere && b != nowhere)
                cov[i * count + j] = f->I[a * f->n + b];
        }
}

covar_status gp_param_covariance(const gp_model *m, covar_context *ctx,
                                 double *cov)
{
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_param_covariance", {"the model", m},
                                {"cov", cov}));
    information f = {.n = 0};
    covar_status status = allocate(&f, ctx, m->params.n);
    if (status == COVAR_OK)
        status = derivatives(&f, ctx, m);
    if (status == COVAR_OK) {
        gather(&f, &m->params);
        status = invert_by_eigenvalues(&f, ctx, m->data->n);
    }
    if (status == COVAR_OK) {
        put(cov, &f, gp_param_count(m));
        status = put_mean(cov, ctx, m);
    }
    clear(&f);
    return status;
}

covar_status gp_param_std_errors(const gp_model *m, covar_context *ctx,
                                 double *std_error)
{
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_param_std_errors", {"the model", m},
                                {"std_error", std_error}));
    size_t n = gp_param_count(m);
    covar_heap *heap = covar_context_heap(ctx);
    double *cov = covar_heap_calloc(heap, n * n, sizeof(*cov));
    if (!cov)
        return covar_fail_nomem(ctx, "gp_param_std_errors");
    covar_status status = gp_param_covariance(m, ctx, cov);
    for (size_t i = 0; status == COVAR_OK && i < n; i++)
        std_error[i] = sqrt(cov[i * n + i]);
    covar_heap_free(heap, cov);
    return status;
}
