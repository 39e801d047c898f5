/* Adding and removing rows of a fitted model, O(n^2).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Append: [L 0; L21 L22], L21 = K21 L^-T, L22 L22' = K22 + noise - L21 L21'.
 * Remove row i: rows and columns after it become the factor of
 * L33 L33' + l l', l = L[i+1:, i]. Source: Golub & Van Loan 2013, sec. 6.5.4.
 *
 * The x statistics of the fit stay (they condition, and change no result),
 * but for non-stationary kernels on centred inputs, whose centre is part of
 * the model: these are factored anew, O(n^3). */
#include "config.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "data.h"
#include "model_impl.h"

static bool is_stationary(const gp_kernel *k)
{
    if (k->form == GP_FORM_LEAF)
        return k->type->stationary;
    for (size_t i = 0; i < k->n_child; i++)
        if (!is_stationary(k->child[i]))
            return false;
    return true;
}

/* Does the centre of x enter the covariance? */
static bool centre_matters(const gp_model *m)
{
    gp_standardise s = m->options.standardise;
    bool centred = s == GP_STANDARDISE_XY || s == GP_STANDARDISE_X;
    return centred && !is_stationary(m->kernel);
}

/* Puts back what conditions x, so that the compiled programs stay valid. */
static covar_status keep_x_statistics(gp_data *to, const gp_data *from,
                                      covar_context *ctx)
{
    size_t bytes = from->d * sizeof(double);
    for (size_t i = 0; i < from->n_dropped; i++) {
        size_t k = from->dropped[i];
        if (to->col_range[k] > 0)
            return covar_fail(ctx, COVAR_ERR_DATA,
                              "gp_append: column %zu was constant in the fit "
                              "and took no part; fit again",
                              k);
    }
    memcpy(to->col_min, from->col_min, bytes);
    memcpy(to->col_range, from->col_range, bytes);
    memcpy(to->col_mean, from->col_mean, bytes);
    memcpy(to->x_shift, from->x_shift, bytes);
    memcpy(to->dropped, from->dropped, from->d * sizeof(*to->dropped));
    to->n_dropped = from->n_dropped;
    return COVAR_OK;
}

static covar_status keep_mean(gp_data *to, const gp_data *from,
                              covar_context *ctx)
{
    size_t n = from->d + 1;
    if (!from->mean_given || to->mean_given)
        return COVAR_OK;
    to->mean_given = covar_heap_alloc(to->heap, n, sizeof(double));
    if (!to->mean_given)
        return covar_fail_nomem(ctx, "gp_append");
    memcpy(to->mean_given, from->mean_given, n * sizeof(double));
    return COVAR_OK;
}

/* A model on other rows with m's parameters, without its factor. */
static covar_status on_rows(gp_model **out, const gp_model *m,
                            covar_context *ctx, gp_data *data)
{
    covar_status status = keep_mean(data, m->data, ctx);
    if (status == COVAR_OK && !centre_matters(m))
        status = keep_x_statistics(data, m->data, ctx);
    if (status == COVAR_OK)
        status =
            gp_model_create(out, ctx, m->kernel, &m->params, data, &m->options);
    COVAR_TRY(status);
    gp_report report = m->report;
    report.n = (*out)->report.n;
    report.n_missing = (*out)->report.n_missing;
    report.y_mean = (*out)->report.y_mean;
    report.y_sd = (*out)->report.y_sd;
    (*out)->report = report;
    (*out)->jitter_relative = m->jitter_relative;
    if (centre_matters(m))
        return gp_programs_create(&(*out)->programs, ctx, (*out)->kernel,
                                  &(*out)->params, (*out)->data,
                                  &(*out)->options);
    (*out)->programs = gp_programs_retain(m->programs);
    return COVAR_OK;
}

static covar_status finish(gp_model **out, gp_model *m, covar_context *ctx,
                           covar_status status)
{
    if (status == COVAR_OK)
        status = gp_model_solve(m, ctx);
    if (status != COVAR_OK) {
        gp_model_free(m);
        return status;
    }
    m->report.objective = m->report.lml;
    gp_model_note(m);
    *out = m;
    return COVAR_OK;
}

/* ---- Append ----------------------------------------------------------------
 */

/* The old rows and the new ones as one set. */
static covar_status join(gp_data **out, const gp_model *m, covar_context *ctx,
                         la_view X, la_view y)
{
    const gp_data *data = m->data;
    la_exec exec = la_exec_cpu(ctx);
    size_t n = data->n, d = data->d, p = data->p, all = n + X.dim[0];
    double *both = covar_heap_alloc(m->heap, all * (d + p), sizeof(*both));
    if (!both)
        return covar_fail_nomem(ctx, "gp_append");
    gp_options options = m->options;
    options.column_name = (const char *const *)data->column_name;
    double *targets = both + all * d;
    memcpy(both, data->X, n * d * sizeof(*both));
    memcpy(targets, data->y, n * p * sizeof(*both));
    covar_status status =
        la_copy(&exec, la_mat_f64(both + n * d, all - n, d), X);
    if (status == COVAR_OK && y.rank == 1)
        status = la_copy(&exec, la_vec_f64(targets + n * p, all - n), y);
    else if (status == COVAR_OK)
        status = la_copy(&exec, la_mat_f64(targets + n * p, all - n, p), y);
    if (status == COVAR_OK)
        status = gp_data_create(out, ctx, la_mat_f64(both, all, d),
                                la_mat_f64(targets, all, p), &options);
    if (status == COVAR_OK)
        (*out)->n_missing += data->n_missing;
    covar_heap_free(m->heap, both);
    return status;
}

/* A block of L: rows first.., columns at.., size (r,c). */
static la_view part(la_view L, size_t first, size_t r, size_t at, size_t c)
{
    return la_view_slice(la_view_slice(L, 0, first, r), 1, at, c);
}

/* K21 and K22 + noise + jitter of the new rows into their places in L. */
static covar_status new_covariances(gp_model *m, covar_context *ctx, size_t n)
{
    const gp_data *data = m->data;
    la_exec exec = la_exec_cpu(ctx);
    la_dtype t = m->options.dtype;
    size_t d = data->d, k = data->n - n;
    la_view L = la_array_view(m->L), X = la_mat_f64(data->X, data->n, d);
    la_array *a[5] = {NULL};
    double noise =
        m->params.param[m->params.n - 1].value + m->report.jitter_absolute;
    covar_status status = gp_params_free_array(&a[0], ctx, &m->params, t);
    if (status == COVAR_OK)
        status = gp_model_rows(&a[1], ctx, data, t, la_view_slice(X, 0, 0, n));
    if (status == COVAR_OK)
        status = gp_model_rows(&a[2], ctx, data, t, la_view_slice(X, 0, n, k));
    if (status == COVAR_OK)
        status = la_array_create(&a[3], &exec, t, 2, (size_t[]){k, n});
    if (status == COVAR_OK)
        status = la_array_create(&a[4], &exec, t, 2, (size_t[]){k, k});
    la_view in[3], out;
    for (int i = 0; status == COVAR_OK && i < 3; i++)
        in[i] = la_array_view(a[i]);
    if (status == COVAR_OK) {
        out = la_array_view(a[3]);
        status = gp_programs_run(m->programs, ctx, GP_PROGRAM_CROSS, in, &out);
    }
    if (status == COVAR_OK)
        status = la_copy(&exec, part(L, n, k, 0, n), out);
    if (status == COVAR_OK) {
        out = la_array_view(a[4]);
        in[1] = in[2];
        status = gp_programs_run(m->programs, ctx, GP_PROGRAM_GRAM, in, &out);
    }
    if (status == COVAR_OK)
        status = la_copy(&exec, part(L, n, k, n, k), out);
    la_view diag = la_view_diag(part(L, n, k, n, k));
    for (size_t i = 0; status == COVAR_OK && i < k; i++)
        la_view_set(diag, i, la_view_get(diag, i) + noise);
    for (int i = 0; i < 5; i++)
        la_array_free(a[i]);
    return status;
}

/* Was a pivot of the rows from `first` on lost to rounding? A_ii is the square
 * of row i of L. */
static bool lost_pivot(const gp_model *m, size_t first)
{
    la_view L = la_array_view(m->L);
    size_t n = m->data->n;
    bool lost = false;
    for (size_t i = first; !lost && i < n; i++) {
        double own = la_view_get(L, i * n + i), square = own * own, sum = 0;
        for (size_t j = 0; j <= i; j++)
            sum += la_view_get(L, i * n + j) * la_view_get(L, i * n + j);
        lost = gp_pivot_is_lost(square / sum, m->options.dtype, n);
    }
    return lost;
}

/* Extends m's factor to all rows of `to`; *info is not 0 where it fails. */
static covar_status extend(gp_model *to, const gp_model *m, covar_context *ctx,
                           int32_t *info)
{
    la_exec exec = la_exec_cpu(ctx);
    size_t n = m->data->n, all = to->data->n, k = all - n;
    COVAR_TRY(la_array_create(&to->L, &exec, m->options.dtype, 2,
                              (size_t[]){all, all}));
    la_view L = la_array_view(to->L), L21 = part(L, n, k, 0, n),
            L22 = part(L, n, k, n, k);
    COVAR_TRY(la_copy(&exec, part(L, 0, n, 0, n), la_array_view(m->L)));
    COVAR_TRY(new_covariances(to, ctx, n));
    COVAR_TRY(la_trsm(&exec, LA_RIGHT, LA_LOWER, LA_TRANS, LA_NON_UNIT, 1,
                      la_array_view(m->L), L21));
    COVAR_TRY(la_syrk(&exec, -1, LA_NO_TRANS, L21, 1, L22));
    COVAR_TRY(la_potrf(&exec, L22, info));
    if (*info == 0 && lost_pivot(to, n))
        *info = 1;
    return COVAR_OK;
}

static covar_status refactor(gp_model *m, covar_context *ctx)
{
    la_array_free(m->L);
    m->L = NULL;
    return gp_model_factor(m, ctx, 0);
}

covar_status gp_append(gp_model **out, const gp_model *m, covar_context *ctx,
                       la_view X, la_view y)
{
    if (out)
        *out = NULL;
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_append", {"out", out}));
    COVAR_TRY(gp_check_points(m, ctx, X, "gp_append"));
    COVAR_TRY(gp_check_view(ctx, "gp_append", "y", y));
    size_t p = m->data->p;
    char text[80];
    bool fits = y.rank >= 1 && y.rank <= 2 && y.dim[0] == X.dim[0] &&
                (y.rank == 2 ? y.dim[1] : 1) == p;
    if (!fits)
        return covar_fail(ctx, COVAR_ERR_SHAPE,
                          "gp_append: X has %zu rows; y must have as many, of "
                          "%zu outputs, but is %s",
                          X.dim[0], p, la_view_describe(text, sizeof(text), y));
    if (m->data->weight || m->data->noise)
        return covar_fail(ctx, COVAR_ERR_UNSUPPORTED,
                          "gp_append: the model has weights or known noise, "
                          "which the new rows lack; fit again");
    gp_data *data = NULL;
    gp_model *next = NULL;
    int32_t info = 1;
    covar_status status = join(&data, m, ctx, X, y);
    if (status == COVAR_OK)
        status = on_rows(&next, m, ctx, data);
    gp_data_free(data);
    if (status == COVAR_OK && !centre_matters(m))
        status = extend(next, m, ctx, &info);
    if (status == COVAR_OK && info != 0) /* or the new rows need jitter */
        status = refactor(next, ctx);
    return gp_fail_as(ctx, finish(out, next, ctx, status), "gp_append");
}

/* ---- Remove
 * ------------------------------------------------------------------ */

/* In place: L (n,n) becomes the factor of L L' + x x'; x is used up. */
static void update_rank1(double *L, double *x, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double r = hypot(L[k * n + k], x[k]);
        double c = r / L[k * n + k], s = x[k] / L[k * n + k];
        L[k * n + k] = r;
        for (size_t i = k + 1; i < n; i++) {
            L[i * n + k] = (L[i * n + k] + s * x[i]) / c;
            x[i] = c * x[i] - s * L[i * n + k];
        }
    }
}

static covar_status shrink(gp_model *to, const gp_model *m, covar_context *ctx,
                           size_t row)
{
    la_exec exec = la_exec_cpu(ctx);
    size_t n = m->data->n, after = n - 1 - row;
    la_view old = la_array_view(m->L);
    COVAR_TRY(la_array_create(&to->L, &exec, m->options.dtype, 2,
                              (size_t[]){n - 1, n - 1}));
    la_view L = la_array_view(to->L);
    COVAR_TRY(
        la_copy(&exec, part(L, 0, row, 0, row), part(old, 0, row, 0, row)));
    COVAR_TRY(la_copy(&exec, part(L, row, after, 0, row),
                      part(old, row + 1, after, 0, row)));
    double *tail =
        covar_heap_alloc(m->heap, (after + 1) * after + 1, sizeof(*tail));
    if (!tail)
        return covar_fail_nomem(ctx, "gp_remove");
    la_view block = la_mat_f64(tail, after, after);
    double *x = tail + after * after;
    covar_status status =
        la_copy(&exec, block, part(old, row + 1, after, row + 1, after));
    if (status == COVAR_OK)
        status = la_copy(&exec, la_mat_f64(x, after, 1),
                         part(old, row + 1, after, row, 1));
    if (status == COVAR_OK) {
        update_rank1(tail, x, after);
        status = la_copy(&exec, part(L, row, after, row, after), block);
    }
    covar_heap_free(m->heap, tail);
    return status;
}

covar_status gp_remove(gp_model **out, const gp_model *m, covar_context *ctx,
                       size_t i)
{
    if (out)
        *out = NULL;
    COVAR_TRY(
        GP_CHECK_POINTERS(ctx, "gp_remove", {"out", out}, {"the model", m}));
    size_t n = m->data->n;
    if (i >= n || n == 1)
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "gp_remove: row %zu of %zu cannot be removed%s", i, n,
                          n == 1 ? ": it is the last" : "");
    size_t *rest = covar_heap_alloc(m->heap, n, sizeof(*rest));
    if (!rest)
        return covar_fail_nomem(ctx, "gp_remove");
    for (size_t k = 0; k + 1 < n; k++)
        rest[k] = k < i ? k : k + 1;
    gp_data *data = NULL;
    gp_model *next = NULL;
    covar_status status = gp_data_select(&data, ctx, m->data, rest, n - 1);
    covar_heap_free(m->heap, rest);
    if (status == COVAR_OK)
        status = gp_data_measure(data, ctx, &m->options);
    if (status == COVAR_OK)
        status = on_rows(&next, m, ctx, data);
    gp_data_free(data);
    if (status == COVAR_OK)
        status =
            centre_matters(m) ? refactor(next, ctx) : shrink(next, m, ctx, i);
    return gp_fail_as(ctx, finish(out, next, ctx, status), "gp_remove");
}
