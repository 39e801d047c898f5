/* Fitted models: creation, reading, release.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "check.h"
#include "model_impl.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Options as a model keeps them: nothing that points at the caller's. */
static gp_options kept_options(const gp_options *options)
{
    gp_options o = *options;
    o.kernel = NULL;
    o.settings = NULL;
    o.n_settings = 0;
    o.weights = NULL;
    o.noise_per_point = NULL;
    o.column_name = NULL;
    return o;
}

covar_status gp_model_create(gp_model **out, covar_context *ctx,
                             const gp_kernel *k, const gp_params *params,
                             const gp_data *data, const gp_options *options)
{
    covar_heap *heap = covar_context_heap(ctx);
    gp_model *m = covar_heap_calloc(heap, 1, sizeof(*m));
    *out = NULL;
    if (!m)
        return covar_fail_nomem(ctx, "gp_fit");
    m->heap = covar_heap_retain(heap);
    m->options = kept_options(options);
    covar_status status = gp_data_select(&m->data, ctx, data, NULL, data->n);
    if (status == COVAR_OK)
        status = gp_params_copy(&m->params, ctx, params);
    if (status == COVAR_OK)
        status = gp_kernel_with_values(&m->kernel, ctx, k, params);
    if (status == COVAR_OK) {
        m->q = gp_mean_count(m->data, &m->options);
        m->beta = covar_heap_calloc(heap, m->q * data->p + 1, sizeof(double));
        m->gradient = covar_heap_calloc(heap, params->n, sizeof(double));
        m->mean_value = covar_heap_calloc(heap, 1 + data->d, sizeof(double));
        if (!m->beta || !m->gradient || !m->mean_value)
            status = covar_fail_nomem(ctx, "gp_fit");
    }
    if (status == COVAR_OK)
        status = gp_model_name_mean(m, ctx);
    if (status != COVAR_OK) {
        gp_model_free(m);
        return status;
    }
    gp_report *r = &m->report;
    r->n = data->n;
    r->n_missing = data->n_missing;
    r->d = data->d;
    r->y_mean = data->y_mean[0];
    r->y_sd = data->y_sd[0];
    r->reason = "none";
    *out = m;
    return COVAR_OK;
}

void gp_model_free(gp_model *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->mean_name && i < m->n_mean; i++)
        covar_heap_free(m->heap, m->mean_name[i]);
    covar_heap_free(m->heap, m->mean_name);
    gp_data_free(m->data);
    gp_kernel_free(m->kernel);
    gp_params_clear(&m->params);
    covar_heap_free(m->heap, m->mean_value);
    covar_heap_free(m->heap, m->beta);
    covar_heap_free(m->heap, m->gradient);
    la_array_free(m->L);
    la_array_free(m->alpha);
    la_array_free(m->V);
    la_array_free(m->B);
    gp_programs_release(m->programs);
    covar_heap *heap = m->heap;
    covar_heap_free(heap, m);
    covar_heap_release(heap);
}

void gp_model_note(gp_model *m)
{
    gp_report *r = &m->report;
    double epsilon = m->options.dtype == LA_F64 ? DBL_EPSILON : FLT_EPSILON;
    const gp_param *noise = &m->params.param[m->params.n - 1];
    r->noise_at_floor =
        !noise->fixed && noise->value <= noise->lower * (1 + 1e-6);
    r->notes |= r->jitter_relative > 0 ? GP_NOTE_JITTER : 0;
    r->notes |= m->data->duplicates ? GP_NOTE_DUPLICATE_ROWS : 0;
    r->notes |= m->data->n_dropped > 0 ? GP_NOTE_DROPPED_COLUMN : 0;
    r->notes |= r->noise_at_floor ? GP_NOTE_NOISE_FLOOR : 0;
    r->notes |= r->rcond < 10 * epsilon ? GP_NOTE_LOW_RCOND : 0;
    for (size_t i = 0; i < m->params.n; i++)
        if (gp_param_at_bound(m, i))
            r->notes |= GP_NOTE_AT_BOUND;
}

/* ---- Parameters: the table, then the mean's coefficients ------------------
 */

covar_status gp_model_name_mean(gp_model *m, covar_context *ctx)
{
    gp_mean_kind kind = m->options.mean;
    size_t d = m->data->d;
    if (kind == GP_MEAN_CONSTANT || kind == GP_MEAN_LINEAR)
        m->n_mean = kind == GP_MEAN_LINEAR ? 1 + d : 1;
    if (m->n_mean == 0)
        return COVAR_OK;
    m->mean_name = covar_heap_calloc(m->heap, m->n_mean, sizeof(char *));
    for (size_t i = 0; m->mean_name && i < m->n_mean; i++) {
        char name[48] = "mean.constant";
        if (i > 0)
            snprintf(name, sizeof(name), "mean.slope[%zu]", i - 1);
        m->mean_name[i] = covar_heap_strdup(m->heap, name);
        if (!m->mean_name[i])
            return covar_fail_nomem(ctx, "gp_fit");
    }
    return m->mean_name ? COVAR_OK : covar_fail_nomem(ctx, "gp_fit");
}

size_t gp_param_count(const gp_model *m)
{
    return m ? m->params.n + m->n_mean : 0;
}

static const gp_param *entry(const gp_model *m, size_t i)
{
    return m && i < m->params.n ? &m->params.param[i] : NULL;
}

const char *gp_param_name(const gp_model *m, size_t i)
{
    const gp_param *p = entry(m, i);
    if (p)
        return p->name;
    return i < gp_param_count(m) ? m->mean_name[i - m->params.n] : NULL;
}

double gp_param_value(const gp_model *m, size_t i)
{
    const gp_param *p = entry(m, i);
    if (p)
        return p->dropped ? (double)NAN : p->value;
    return i < gp_param_count(m) ? m->mean_value[i - m->params.n] : (double)NAN;
}

ptrdiff_t gp_param_column(const gp_model *m, size_t i)
{
    const gp_param *p = entry(m, i);
    if (p)
        return p->column;
    if (i >= gp_param_count(m) || i == m->params.n) /* mean.constant */
        return -1;
    return (ptrdiff_t)(i - m->params.n) - 1;
}

bool gp_param_is_fixed(const gp_model *m, size_t i)
{
    const gp_param *p = entry(m, i);
    return p ? p->fixed : i < gp_param_count(m) && m->data->mean_given != NULL;
}

bool gp_param_is_log(const gp_model *m, size_t i)
{
    const gp_param *p = entry(m, i);
    return p && p->log;
}

bool gp_param_at_bound(const gp_model *m, size_t i)
{
    const gp_param *p = entry(m, i);
    double near = 1e-6;
    if (!p || p->fixed || p->dropped || p->tie >= 0)
        return false;
    if (p->log)
        return p->value <= p->lower * (1 + near) ||
               p->value >= p->upper * (1 - near);
    return p->value <= p->lower || p->value >= p->upper;
}

bool gp_param_is_irrelevant(const gp_model *m, size_t i)
{
    const gp_param *p = entry(m, i);
    return p && p->kind == GP_KIND_LENGTHSCALE && gp_param_at_bound(m, i) &&
           p->value > sqrt(p->lower * p->upper);
}

/* d lml / d coefficient k of a given mean: 1'alpha or x_k'alpha. */
static double mean_gradient(const gp_model *m, size_t k)
{
    const gp_data *data = m->data;
    la_view alpha = la_array_view(m->alpha);
    double sum = 0;
    for (size_t i = 0; i < data->n; i++)
        for (size_t j = 0; j < data->p; j++)
            sum += la_view_get(alpha, i * data->p + j) *
                   (k == 0 ? 1 : data->X[i * data->d + k - 1]);
    return sum;
}

double gp_param_gradient(const gp_model *m, size_t i)
{
    if (entry(m, i))
        return m->gradient[i];
    if (i >= gp_param_count(m))
        return (double)NAN;
    if (!m->data->mean_given)
        return 0; /* profiled: stationary by construction */
    return m->options.objective == GP_LOO ? (double)NAN
                                          : mean_gradient(m, i - m->params.n);
}

covar_status gp_param_get(const gp_model *m, covar_context *ctx,
                          const char *name, double *value)
{
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_param_get", {"the model", m},
                                {"name", name}, {"value", value}));
    ptrdiff_t i = gp_params_find(&m->params, name);
    for (size_t j = 0; i < 0 && j < m->n_mean; j++)
        if (strcmp(m->mean_name[j], name) == 0)
            i = (ptrdiff_t)(m->params.n + j);
    if (i < 0)
        return covar_fail(ctx, COVAR_ERR_NAME,
                          "gp_param_get: the model has no parameter %.200s",
                          name);
    *value = gp_param_value(m, (size_t)i);
    return COVAR_OK;
}

/* ---- Data and factor -------------------------------------------------------
 */

size_t gp_n(const gp_model *m)
{
    return m ? m->data->n : 0;
}

size_t gp_d(const gp_model *m)
{
    return m ? m->data->d : 0;
}

size_t gp_outputs(const gp_model *m)
{
    return m ? m->data->p : 0;
}

const char *gp_column_name(const gp_model *m, size_t i)
{
    return m && m->data->column_name && i < m->data->d ? m->data->column_name[i]
                                                       : NULL;
}

la_view gp_inputs(const gp_model *m)
{
    return m ? la_mat_f64(m->data->X, m->data->n, m->data->d) : la_view_none();
}

/* (n,p), or (n) for one output. */
static la_view by_output(const gp_model *m, la_view x)
{
    if (m->data->p == 1)
        x.rank = 1;
    return x;
}

la_view gp_targets(const gp_model *m)
{
    if (!m)
        return la_view_none();
    return by_output(m, la_mat_f64(m->data->y, m->data->n, m->data->p));
}

la_view gp_cholesky(const gp_model *m)
{
    return m ? la_array_view(m->L) : la_view_none();
}

la_view gp_alpha(const gp_model *m)
{
    return m ? by_output(m, la_array_view(m->alpha)) : la_view_none();
}

double gp_log_det(const gp_model *m)
{
    return m ? m->log_det : (double)NAN;
}

const gp_kernel *gp_model_kernel(const gp_model *m)
{
    return m ? m->kernel : NULL;
}

gp_mean_kind gp_model_mean(const gp_model *m)
{
    return m ? m->options.mean : GP_MEAN_CONSTANT;
}

gp_standardise gp_model_standardise(const gp_model *m)
{
    return m ? m->options.standardise : GP_STANDARDISE_XY;
}

size_t gp_dropped_columns(const gp_model *m, const size_t **col)
{
    if (col)
        *col = m ? m->data->dropped : NULL;
    return m ? m->data->n_dropped : 0;
}
