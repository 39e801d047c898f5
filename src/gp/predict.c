/* Prediction: means, variances, covariances and their derivatives in x.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows go through the compiled programs (programs.c) in blocks, so memory does
 * not grow with their number; the mean function is added in double here. A
 * joint covariance is one block. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "data.h"
#include "model_impl.h"

enum { BLOCK_BYTES = 1 << 24, LEAST_ROWS = 16, MOST_ROWS = 1024 };

/* What a block of rows needs: the fixed inputs and room for the outputs. */
typedef struct block {
    const gp_model *m;
    covar_context *ctx;
    gp_program_kind which;
    size_t rows; /* at most, in one block */
    la_array *free, *X;
    la_array *out[GP_PROGRAM_MAX_OUT];
    double *offset; /* (rows,p) */
    ad_runner *run;
} block;

static int output_count(gp_program_kind which)
{
    return which == GP_PROGRAM_SLOPE ? 5 : 3;
}

static void clear_block(block *b)
{
    ad_runner_free(b->run);
    la_array_free(b->free);
    la_array_free(b->X);
    for (int i = 0; i < GP_PROGRAM_MAX_OUT; i++)
        la_array_free(b->out[i]);
    covar_heap_free(b->m->heap, b->offset);
}

static covar_status make_outputs(block *b)
{
    la_exec exec = la_exec_cpu(b->ctx);
    const gp_data *data = b->m->data;
    la_dtype t = b->m->options.dtype;
    size_t r = b->rows;
    size_t second = b->which == GP_PROGRAM_JOINT ? r : 0;
    size_t dim[GP_PROGRAM_MAX_OUT][2] = {
        {r, data->p}, {r, second}, {r, 0}, {r, data->d}, {r, data->d}};
    for (int i = 0; i < output_count(b->which); i++) {
        bool vector = i == 2 || (i == 1 && b->which != GP_PROGRAM_JOINT);
        COVAR_TRY(
            la_array_create(&b->out[i], &exec, t, vector ? 1 : 2, dim[i]));
    }
    b->offset = covar_heap_alloc(b->m->heap, r * data->p, sizeof(double));
    return b->offset ? COVAR_OK : covar_fail_nomem(b->ctx, "gp_predict");
}

static covar_status make_block(block *b, const gp_model *m, covar_context *ctx,
                               gp_program_kind which, size_t rows)
{
    const gp_data *data = m->data;
    la_dtype t = m->options.dtype;
    *b = (block){.m = m, .ctx = ctx, .which = which, .rows = rows};
    COVAR_TRY(gp_params_free_array(&b->free, ctx, &m->params, t));
    COVAR_TRY(gp_model_rows(&b->X, ctx, data, t,
                            la_mat_f64(data->X, data->n, data->d)));
    COVAR_TRY(make_outputs(b));
    return ad_runner_create(&b->run, m->programs->program[which],
                            m->programs->store, ctx);
}

static la_view first_rows(la_array *a, size_t n)
{
    return la_view_slice(la_array_view(a), 0, 0, n);
}

/* The programs' results for rows Xs (m,d) in the first m rows of b->out, and
 * the mean function in b->offset. */
static covar_status run_block(block *b, la_view Xs)
{
    const gp_model *m = b->m;
    la_array *rows = NULL;
    la_view in[GP_PROGRAM_MAX_IN], out[GP_PROGRAM_MAX_OUT];
    COVAR_TRY(gp_model_rows(&rows, b->ctx, m->data, m->options.dtype, Xs));
    in[0] = la_array_view(b->free);
    in[1] = la_array_view(b->X);
    in[2] = la_array_view(rows);
    in[3] = la_array_view(m->L);
    in[4] = la_array_view(m->alpha);
    if (m->q > 0 && !m->options.mean_plugin) {
        in[5] = la_array_view(m->V);
        in[6] = la_array_view(m->B);
    }
    for (int i = 0; i < output_count(b->which); i++)
        out[i] = first_rows(b->out[i], Xs.dim[0]);
    covar_status status = ad_run(b->run, in, out);
    la_array_free(rows);
    COVAR_TRY(status);
    return gp_mean_at(b->offset, b->ctx, m, Xs);
}

/* offset(x) + h(x)'beta at X (k,d): (k,p). */
covar_status gp_mean_at(double *mean, covar_context *ctx, const gp_model *m,
                        la_view X)
{
    size_t k = X.dim[0], q = m->q, p = m->data->p;
    COVAR_TRY(gp_mean_offset(mean, ctx, m->data, &m->options, X));
    if (q == 0)
        return COVAR_OK;
    double *H = covar_heap_alloc(m->heap, k * q, sizeof(*H));
    if (!H)
        return covar_fail_nomem(ctx, "gp_predict");
    gp_mean_basis_at(H, m->data, &m->options, X);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < q; j++)
            for (size_t o = 0; o < p; o++)
                mean[i * p + o] += H[i * q + j] * m->beta[j * p + o];
    covar_heap_free(m->heap, H);
    return COVAR_OK;
}

/* ---- Variances: rounding below zero is counted, more is an error
 * ------------- */

static covar_status checked_variance(double *var, gp_prediction *out,
                                     const gp_model *m, covar_context *ctx,
                                     double prior, size_t row)
{
    double epsilon = m->options.dtype == LA_F64 ? DBL_EPSILON : FLT_EPSILON;
    double rounding = 50 * (double)m->data->n * epsilon * prior;
    if (*var >= 0 || !isfinite(*var)) /* the whole is checked for the latter */
        return COVAR_OK;
    if (!(*var >= -rounding))
        return covar_fail(ctx, COVAR_ERR_NUMERIC,
                          "gp_predict: variance %g at row %zu is below "
                          "rounding (%g of k(x,x) = %g)",
                          *var, row, -rounding, prior);
    *var = 0;
    out->rounded++;
    return COVAR_OK;
}

/* A slope that does not exist; one that overflows is left to gp_predict. */
static covar_status check_slope(const block *b, la_view x, la_view Xs,
                                size_t first)
{
    size_t at;
    if (la_all_finite(x, &at))
        return COVAR_OK;
    size_t row =
        first + (x.dim[0] > 0 ? at / (la_view_count(x) / x.dim[0]) : 0);
    if (gp_is_far(b->m, Xs, row))
        return COVAR_OK;
    return covar_fail(b->ctx, COVAR_ERR_NO_GRAD,
                      "gp_predict: the derivative at row %zu does not exist "
                      "for this kernel (a training input?)",
                      row);
}

static covar_status take_slopes(const block *b, gp_prediction *out, la_view Xs,
                                size_t first, size_t rows)
{
    const gp_model *m = b->m;
    size_t d = m->data->d;
    la_view dmean = first_rows(b->out[3], rows);
    la_view dvar = first_rows(b->out[4], rows);
    if (out->dmean)
        COVAR_TRY(check_slope(b, dmean, Xs, first));
    if (out->dvar)
        COVAR_TRY(check_slope(b, dvar, Xs, first));
    for (size_t i = 0; i < rows * d; i++) {
        bool sloped = m->n_mean > 1 && !isnan(m->mean_value[1 + i % d]);
        double slope = sloped ? m->mean_value[1 + i % d] : 0;
        if (out->dmean)
            out->dmean[first * d + i] = la_view_get(dmean, i) + slope;
        if (out->dvar)
            out->dvar[first * d + i] = la_view_get(dvar, i);
    }
    return COVAR_OK;
}

/* Copies one block's results to their place in the caller's arrays. */
static covar_status take_points(const block *b, gp_prediction *out, la_view Xs,
                                size_t first, size_t rows)
{
    const gp_model *m = b->m;
    size_t p = m->data->p;
    double noise = m->params.param[m->params.n - 1].value;
    la_view mean = la_array_view(b->out[0]), var = la_array_view(b->out[1]),
            prior = la_array_view(b->out[2]);
    for (size_t i = 0; out->mean && i < rows * p; i++)
        out->mean[first * p + i] = la_view_get(mean, i) + b->offset[i];
    for (size_t i = 0; (out->var_f || out->var_y) && i < rows; i++) {
        double v = la_view_get(var, i);
        COVAR_TRY(checked_variance(&v, out, m, b->ctx, la_view_get(prior, i),
                                   first + i));
        if (out->var_f)
            out->var_f[first + i] = v;
        if (out->var_y)
            out->var_y[first + i] = v + noise;
    }
    return b->which == GP_PROGRAM_SLOPE ? take_slopes(b, out, Xs, first, rows)
                                        : COVAR_OK;
}

static size_t block_rows(const gp_model *m, size_t ns)
{
    size_t bytes = la_dtype_size(m->options.dtype) * (m->data->n + 1);
    size_t rows = BLOCK_BYTES / bytes;
    rows = rows < LEAST_ROWS ? LEAST_ROWS : rows;
    rows = rows > MOST_ROWS ? MOST_ROWS : rows;
    return rows < ns ? rows : ns;
}

static covar_status predict_points(gp_prediction *out, const gp_model *m,
                                   covar_context *ctx, la_view Xs)
{
    block b;
    size_t ns = Xs.dim[0], rows = block_rows(m, ns);
    bool slopes = out->dmean || out->dvar;
    covar_status status = make_block(
        &b, m, ctx, slopes ? GP_PROGRAM_SLOPE : GP_PROGRAM_POINT, rows);
    for (size_t i = 0; status == COVAR_OK && i < ns; i += rows) {
        size_t now = ns - i < rows ? ns - i : rows;
        status = run_block(&b, la_view_slice(Xs, 0, i, now));
        if (status == COVAR_OK)
            status = take_points(&b, out, Xs, i, now);
    }
    clear_block(&b);
    return status;
}

/* ---- Joint covariance
 * ---------------------------------------------------------- */

covar_status gp_joint(double *mean, double *cov, const gp_model *m,
                      covar_context *ctx, la_view Xs, size_t *rounded)
{
    block b;
    size_t ns = Xs.dim[0], p = m->data->p;
    gp_prediction count = {.rounded = 0};
    covar_status status = make_block(&b, m, ctx, GP_PROGRAM_JOINT, ns);
    if (status == COVAR_OK)
        status = run_block(&b, Xs);
    for (size_t i = 0; status == COVAR_OK && mean && i < ns * p; i++)
        mean[i] = la_view_get(la_array_view(b.out[0]), i) + b.offset[i];
    for (size_t i = 0; status == COVAR_OK && i < ns * ns; i++)
        cov[i] = la_view_get(la_array_view(b.out[1]), i);
    for (size_t i = 0; status == COVAR_OK && i < ns; i++)
        status = checked_variance(&cov[i * ns + i], &count, m, ctx,
                                  la_view_get(la_array_view(b.out[2]), i), i);
    *rounded += count.rounded;
    clear_block(&b);
    return status;
}

/* ---- The verb
 * --------------------------------------------------------------------- */

covar_status gp_check_points(const gp_model *m, covar_context *ctx, la_view Xs,
                             const char *who)
{
    char text[80];
    COVAR_TRY(GP_CHECK_POINTERS(ctx, who, {"the model", m}));
    COVAR_TRY(gp_check_view(ctx, who, "X", Xs));
    if (Xs.rank != 2 || Xs.dim[1] != m->data->d)
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "%s: inputs are %s but the model takes (m, %zu)", who,
                          la_view_describe(text, sizeof(text), Xs), m->data->d);
    size_t at;
    if (la_all_finite(Xs, &at))
        return COVAR_OK;
    char label[GP_LABEL_SIZE];
    gp_column_label(label, (const char *const *)m->data->column_name,
                    at % Xs.dim[1]);
    return covar_fail(ctx, COVAR_ERR_ARG, "%s: input %g at row %zu, column %s",
                      who, la_view_get(Xs, at), at / Xs.dim[1], label);
}

/* All that was asked for is finite. */
static covar_status check_results(const gp_prediction *out, const gp_model *m,
                                  covar_context *ctx, la_view Xs)
{
    size_t ns = Xs.dim[0], d = m->data->d;
    const struct {
        const char *what;
        const double *x;
        size_t cols;
    } all[] = {{"the mean", out->mean, m->data->p},
               {"the variance", out->var_f, 1},
               {"the variance", out->var_y, 1},
               {"the covariance", out->cov, ns},
               {"the slope of the mean", out->dmean, d},
               {"the slope of the variance", out->dvar, d}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        COVAR_TRY(gp_check_result(ctx, "gp_predict", all[i].what, m, Xs,
                                  all[i].x, ns, all[i].cols));
    return COVAR_OK;
}

covar_status gp_predict(const gp_model *m, covar_context *ctx, la_view Xs,
                        gp_prediction *out)
{
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_predict", {"out", out}));
    if (out->cov && m && Xs.rank == 2) /* before a look at every input */
        COVAR_TRY(gp_check_room(ctx, "gp_predict",
                                gp_product(Xs.dim[0],
                                           gp_sum(Xs.dim[0], 3 * m->data->n),
                                           sizeof(double))));
    COVAR_TRY(gp_check_points(m, ctx, Xs, "gp_predict"));
    if (out->dmean && m->options.mean == GP_MEAN_USER)
        return covar_fail(ctx, COVAR_ERR_NO_GRAD,
                          "gp_predict: the user's mean function has no "
                          "derivative in x");
    out->rounded = 0;
    if (Xs.dim[0] == 0)
        return COVAR_OK;
    if (out->mean || out->var_f || out->var_y || out->dmean || out->dvar)
        COVAR_TRY(predict_points(out, m, ctx, Xs));
    size_t in_cov = 0;
    if (out->cov)
        COVAR_TRY(gp_joint(NULL, out->cov, m, ctx, Xs, &in_cov));
    return check_results(out, m, ctx, Xs);
}
