/* Posterior samples: from the joint covariance, or pathwise.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Joint: mean + C z, C C' = cov at Xs. Pathwise (Matheron's rule): with a
 * prior draw (f_X, f_Xs) and noise e,
 *     f = mean + f_Xs + K(Xs,X) (K + noise)^-1 (y - mean - f_X - e).
 * A covariance that is singular to rounding gets the smallest of 1e-14 ... 1e-8
 * of its mean diagonal that factors; the context's log is told.
 * Source: Wilson et al. 2020, "Efficiently sampling functions from Gaussian
 * process posteriors", eq. 10. */
#include "config.h"

#include <math.h>
#include <string.h>

#include <covar/rng.h>

#include "check.h"
#include "model_impl.h"

/* In place: lower factor of a covariance that may be singular to rounding;
 * *used = what had to be added to the diagonal, relative to its mean. */
static covar_status factor_covariance(double *cov, double *copy, size_t n,
                                      covar_context *ctx, double *used)
{
    static const double level[] = {0, 1e-14, 1e-12, 1e-10, 1e-8};
    la_exec exec = la_exec_cpu(ctx);
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += cov[i * n + i] / (double)n;
    memcpy(copy, cov, n * n * sizeof(*cov));
    for (size_t k = 0; k < sizeof(level) / sizeof(level[0]); k++) {
        int32_t info = 0;
        memcpy(cov, copy, n * n * sizeof(*cov));
        for (size_t i = 0; i < n; i++)
            cov[i * n + i] += level[k] * mean;
        COVAR_TRY(la_potrf(&exec, la_mat_f64(cov, n, n), &info));
        *used = level[k];
        if (info == 0)
            return COVAR_OK;
    }
    if (mean <= 0) { /* no uncertainty at all: the samples are the mean */
        memset(cov, 0, n * n * sizeof(*cov));
        *used = 0;
        return COVAR_OK;
    }
    return covar_fail(ctx, COVAR_ERR_NOT_PD,
                      "gp_sample: the joint covariance (%zu x %zu) is not "
                      "positive definite, even with 1e-8 of its diagonal",
                      n, n);
}

/* out (s,n) = C z with C (n,n) lower, z standard normal of stream `stream`. */
static covar_status draw(double *out, const double *C, size_t s, size_t n,
                         uint64_t seed, uint64_t stream, covar_context *ctx)
{
    la_exec exec = la_exec_cpu(ctx);
    covar_rng rng = covar_rng_init(seed, stream);
    covar_rng_normal(out, s * n, &rng);
    return la_trmm(&exec, LA_RIGHT, LA_LOWER, LA_TRANS, LA_NON_UNIT, 1,
                   la_mat_f64(C, n, n), la_mat_f64(out, s, n));
}

static void note_jitter(covar_context *ctx, double used)
{
    if (used > 0)
        covar_log(ctx, COVAR_LOG_WARNING,
                  "gp_sample: added %g of the mean variance to the diagonal",
                  used);
}

static covar_status sample_joint(double *out, const gp_model *m,
                                 covar_context *ctx, la_view Xs, size_t s,
                                 uint64_t seed)
{
    size_t n = Xs.dim[0], p = m->data->p, rounded = 0;
    double used = 0;
    double *cov = covar_heap_alloc(m->heap, 2 * n * n + n * p, sizeof(*cov));
    if (!cov)
        return covar_fail_nomem(ctx, "gp_sample");
    double *copy = cov + n * n, *mean = copy + n * n;
    covar_status status = gp_joint(mean, cov, m, ctx, Xs, &rounded);
    if (status == COVAR_OK)
        status = factor_covariance(cov, copy, n, ctx, &used);
    if (status == COVAR_OK)
        status = draw(out, cov, s, n, seed, 0, ctx);
    for (size_t i = 0; status == COVAR_OK && i < s * n; i++)
        out[i] += mean[(i % n) * p];
    note_jitter(ctx, used);
    covar_heap_free(m->heap, cov);
    return status;
}

/* ---- Pathwise --------------------------------------------------------------
 */

/* K(Xs,X) into k (ns,n), in double. */
static covar_status cross(double *k, const gp_model *m, covar_context *ctx,
                          la_view Xs)
{
    const gp_data *data = m->data;
    la_exec exec = la_exec_cpu(ctx);
    la_dtype t = m->options.dtype;
    size_t dim[] = {Xs.dim[0], data->n};
    la_array *array[4] = {NULL};
    covar_status status = gp_params_free_array(&array[0], ctx, &m->params, t);
    if (status == COVAR_OK)
        status = gp_model_rows(&array[1], ctx, data, t,
                               la_mat_f64(data->X, data->n, data->d));
    if (status == COVAR_OK)
        status = gp_model_rows(&array[2], ctx, data, t, Xs);
    if (status == COVAR_OK)
        status = la_array_create(&array[3], &exec, t, 2, dim);
    if (status == COVAR_OK) {
        la_view in[] = {la_array_view(array[0]), la_array_view(array[1]),
                        la_array_view(array[2])};
        la_view out = la_array_view(array[3]);
        status = gp_programs_run(m->programs, ctx, GP_PROGRAM_CROSS, in, &out);
        if (status == COVAR_OK)
            status = la_copy(&exec, la_mat_f64(k, dim[0], dim[1]), out);
    }
    for (int i = 0; i < 4; i++)
        la_array_free(array[i]);
    return status;
}

/* w = (K + noise)^-1 (y - mean(X) - prior_x - eps), in place over w (n). */
static covar_status weights(double *w, const gp_model *m, covar_context *ctx,
                            const double *prior_x, const double *eps)
{
    const gp_data *data = m->data;
    la_exec exec = la_exec_cpu(ctx);
    size_t n = data->n, p = data->p;
    double *mean = covar_heap_alloc(m->heap, n * p, sizeof(*mean));
    la_array *column = NULL;
    if (!mean)
        return covar_fail_nomem(ctx, "gp_sample");
    covar_status status =
        gp_mean_at(mean, ctx, m, la_mat_f64(data->X, n, data->d));
    for (size_t i = 0; status == COVAR_OK && i < n; i++)
        w[i] = data->y[i * p] - mean[i * p] - prior_x[i] - eps[i];
    covar_heap_free(m->heap, mean);
    if (status == COVAR_OK)
        status = la_array_create(&column, &exec, m->options.dtype, 2,
                                 (size_t[]){n, 1});
    for (int trans = 0; status == COVAR_OK && trans < 2; trans++) {
        if (trans == 0)
            status = la_copy(&exec, la_array_view(column), la_mat_f64(w, n, 1));
        if (status == COVAR_OK)
            status =
                la_trsm(&exec, LA_LEFT, LA_LOWER, (la_trans)trans, LA_NON_UNIT,
                        1, la_array_view(m->L), la_array_view(column));
    }
    if (status == COVAR_OK)
        status = la_copy(&exec, la_mat_f64(w, n, 1), la_array_view(column));
    la_array_free(column);
    return status;
}

/* The prior draws are finite. */
static covar_status check_draws(const gp_model *m, covar_context *ctx,
                                la_view Xs, const double *prior_x,
                                const double *prior_xs, const double *eps)
{
    size_t n = m->data->n;
    const struct {
        const char *name;
        const double *x;
        size_t n;
    } all[] = {{"prior_x", prior_x, n},
               {"prior_xs", prior_xs, Xs.dim[0]},
               {"eps", eps, n}};
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        for (size_t i = 0; i < all[k].n; i++)
            if (!isfinite(all[k].x[i]))
                return covar_fail(ctx, COVAR_ERR_ARG,
                                  "gp_pathwise: %s[%zu] is %g", all[k].name, i,
                                  all[k].x[i]);
    return COVAR_OK;
}

covar_status gp_pathwise(double *out, const gp_model *m, covar_context *ctx,
                         la_view Xs, const double *prior_x,
                         const double *prior_xs, const double *eps)
{
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_pathwise", {"out", out},
                                {"prior_x", prior_x}, {"prior_xs", prior_xs},
                                {"eps", eps}));
    COVAR_TRY(gp_check_points(m, ctx, Xs, "gp_pathwise"));
    COVAR_TRY(check_draws(m, ctx, Xs, prior_x, prior_xs, eps));
    size_t n = m->data->n, ns = Xs.dim[0], p = m->data->p;
    la_exec exec = la_exec_cpu(ctx);
    COVAR_TRY(gp_check_room(ctx, "gp_pathwise",
                            gp_product(ns, 2 * n + p, sizeof(double))));
    double *k = covar_heap_alloc(m->heap, ns * n + n + ns * p, sizeof(*k));
    if (!k)
        return covar_fail_nomem(ctx, "gp_pathwise");
    double *w = k + ns * n, *mean = w + n;
    covar_status status = weights(w, m, ctx, prior_x, eps);
    if (status == COVAR_OK)
        status = cross(k, m, ctx, Xs);
    if (status == COVAR_OK)
        status = gp_mean_at(mean, ctx, m, Xs);
    for (size_t i = 0; status == COVAR_OK && i < ns; i++)
        out[i] = prior_xs[i] + mean[i * p];
    if (status == COVAR_OK)
        status =
            la_gemm(&exec, 1, LA_NO_TRANS, la_mat_f64(k, ns, n), LA_NO_TRANS,
                    la_mat_f64(w, n, 1), 1, la_mat_f64(out, ns, 1));
    covar_heap_free(m->heap, k);
    if (status == COVAR_OK)
        status =
            gp_check_result(ctx, "gp_pathwise", "the path", m, Xs, out, ns, 1);
    return status;
}

/* Prior covariance of f at the rows of X and then Xs: (n + ns)^2. */
static covar_status prior_covariance(double *K, const gp_model *m,
                                     covar_context *ctx, la_view Xs)
{
    const gp_data *data = m->data;
    la_exec exec = la_exec_cpu(ctx);
    la_dtype t = m->options.dtype;
    size_t n = data->n, d = data->d, all = n + Xs.dim[0];
    la_array *free = NULL, *rows = NULL, *gram = NULL;
    double *X = covar_heap_alloc(m->heap, all * d, sizeof(*X));
    if (!X)
        return covar_fail_nomem(ctx, "gp_sample");
    memcpy(X, data->X, n * d * sizeof(*X));
    covar_status status = la_copy(&exec, la_mat_f64(X + n * d, all - n, d), Xs);
    if (status == COVAR_OK)
        status = gp_params_free_array(&free, ctx, &m->params, t);
    if (status == COVAR_OK)
        status = gp_model_rows(&rows, ctx, data, t, la_mat_f64(X, all, d));
    if (status == COVAR_OK)
        status = la_array_create(&gram, &exec, t, 2, (size_t[]){all, all});
    if (status == COVAR_OK) {
        la_view in[] = {la_array_view(free), la_array_view(rows)};
        la_view out = la_array_view(gram);
        status = gp_programs_run(m->programs, ctx, GP_PROGRAM_GRAM, in, &out);
        if (status == COVAR_OK)
            status = la_copy(&exec, la_mat_f64(K, all, all), out);
    }
    la_array_free(free);
    la_array_free(rows);
    la_array_free(gram);
    covar_heap_free(m->heap, X);
    return status;
}

/* One posterior sample from row i of the prior draws. */
static covar_status one_path(double *out, const gp_model *m, covar_context *ctx,
                             la_view Xs, const double *prior, double *eps,
                             uint64_t seed, size_t i)
{
    const gp_data *data = m->data;
    double noise = m->params.param[m->params.n - 1].value;
    covar_rng rng = covar_rng_init(seed, 2 + i);
    covar_rng_normal(eps, data->n, &rng);
    for (size_t k = 0; k < data->n; k++) {
        double variance = data->weight ? noise / data->weight[k] : noise;
        variance += data->noise ? data->noise[k] : 0;
        eps[k] *= sqrt(variance);
    }
    return gp_pathwise(out, m, ctx, Xs, prior, prior + data->n, eps);
}

static covar_status sample_pathwise(double *out, const gp_model *m,
                                    covar_context *ctx, la_view Xs, size_t s,
                                    uint64_t seed)
{
    size_t n = m->data->n, ns = Xs.dim[0], all = n + ns;
    double used = 0;
    double *K = covar_heap_alloc(m->heap, (2 * all + s) * all + n, sizeof(*K));
    if (!K)
        return covar_fail_nomem(ctx, "gp_sample");
    double *copy = K + all * all, *prior = copy + all * all;
    double *eps = prior + s * all;
    covar_status status = prior_covariance(K, m, ctx, Xs);
    if (status == COVAR_OK)
        status = factor_covariance(K, copy, all, ctx, &used);
    if (status == COVAR_OK)
        status = draw(prior, K, s, all, seed, 1, ctx);
    for (size_t i = 0; status == COVAR_OK && i < s; i++)
        status =
            one_path(out + i * ns, m, ctx, Xs, prior + i * all, eps, seed, i);
    note_jitter(ctx, used);
    covar_heap_free(m->heap, K);
    return status;
}

covar_status gp_sample(double *out, const gp_model *m, covar_context *ctx,
                       la_view Xs, size_t s, uint64_t seed, gp_sample_kind kind)
{
    static const char *const kinds[] = {"joint", "pathwise"};
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_sample", {"out", out}));
    COVAR_TRY(gp_check_points(m, ctx, Xs, "gp_sample"));
    COVAR_TRY(gp_check_enum(ctx, "gp_sample", "kind", (long)kind, kinds, 2));
    size_t ns = Xs.dim[0], all = gp_sum(ns, m->data->n);
    if (s == 0 || ns == 0)
        return COVAR_OK;
    COVAR_TRY(gp_check_room(
        ctx, "gp_sample",
        gp_sum(gp_product(s, all, sizeof(double)),
               gp_product(all, gp_sum(all, all), sizeof(double)))));
    COVAR_TRY(kind == GP_SAMPLE_JOINT
                  ? sample_joint(out, m, ctx, Xs, s, seed)
                  : sample_pathwise(out, m, ctx, Xs, s, seed));
    for (size_t i = 0; i < s; i++)
        COVAR_TRY(gp_check_result(ctx, "gp_sample", "the sample", m, Xs,
                                  out + i * ns, ns, 1));
    return COVAR_OK;
}
