/* Reads a model file (the layout is in save.h and at the top of save.c).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing in the file is trusted: sizes must agree with each other, numbers
 * with their meaning; what does not is COVAR_ERR_FORMAT. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "data.h"
#include "save.h"

typedef struct loading {
    gp_h5 f;
    gp_options options;
    gp_kernel *kernel;
    gp_data *data;
    gp_params params;
    double *raw; /* X, y, weight, noise as read */
    int32_t option[OPTION_COUNT];
    double number[NUMBER_COUNT];
} loading;

static bool in_range(int32_t value, int32_t last)
{
    return value >= 0 && value <= last;
}

static void read_options(loading *l)
{
    const int32_t *o = l->option;
    gp_h5_read(&l->f, "options", la_vec_i32(l->option, OPTION_COUNT));
    gp_h5_read(&l->f, "numbers", la_vec_f64(l->number, NUMBER_COUNT));
    if (l->f.status != COVAR_OK)
        return;
    bool ok =
        in_range(o[MEAN], GP_MEAN_LINEAR) && in_range(o[OBJECTIVE], GP_LOO) &&
        in_range(o[STANDARDISE], GP_STANDARDISE_Y) &&
        in_range(o[DTYPE], LA_F32) && in_range(o[JITTER], GP_JITTER_FIXED);
    if (!ok) {
        gp_h5_fail(&l->f, COVAR_ERR_FORMAT, "options out of range");
        return;
    }
    l->options = gp_options_default();
    l->options.mean = (gp_mean_kind)o[MEAN];
    l->options.mean_plugin = o[MEAN_PLUGIN] != 0;
    l->options.objective = (gp_objective)o[OBJECTIVE];
    l->options.standardise = (gp_standardise)o[STANDARDISE];
    l->options.dtype = (la_dtype)o[DTYPE];
    l->options.jitter = (gp_jitter)o[JITTER];
    l->options.jitter_value = l->number[JITTER_VALUE];
}

/* Is it ours, and of this version? */
static void read_schema(loading *l)
{
    static const char family[] = "covar-gp-model/";
    gp_h5 *f = &l->f;
    size_t dim[2];
    char text[64] = "";
    if (gp_h5_dims(f, "schema", dim) && dim[1] == 0 && dim[0] > 0 &&
        dim[0] < sizeof(text))
        gp_h5_read(f, "schema", la_vec_u8((uint8_t *)text, dim[0]));
    if (strncmp(text, family, strlen(family)) != 0) {
        f->status = COVAR_OK; /* whatever else was wrong with it */
        gp_h5_fail(f, COVAR_ERR_FORMAT, "is not a covar model");
    } else if (strcmp(text, GP_SCHEMA) != 0) {
        f->status = COVAR_OK;
        gp_h5_fail(f, COVAR_ERR_FORMAT,
                   "is a covar model of another version than " GP_SCHEMA
                   "; save it again from the data");
    }
}

static void read_kernel(loading *l)
{
    read_schema(l);
    char *text =
        l->f.status == COVAR_OK ? gp_h5_read_text(&l->f, "kernel") : NULL;
    if (text)
        l->f.status = gp_kernel_parse(&l->kernel, l->f.ctx, text);
    covar_heap_free(l->f.heap, text);
}

/* Rows into a gp_data, then the statistics of the fit over its own. */
static void read_data(loading *l)
{
    gp_h5 *f = &l->f;
    size_t x[2], y[2], w[2], s[2];
    if (!gp_h5_dims(f, "X", x) || !gp_h5_dims(f, "y", y)) {
        gp_h5_fail(f, COVAR_ERR_FORMAT, "has no rows");
        return;
    }
    size_t n = x[0], d = x[1], p = y[1];
    bool weights = gp_h5_dims(f, "weight", w),
         noise = gp_h5_dims(f, "noise", s);
    if (f->status != COVAR_OK)
        return;
    if (n == 0 || d == 0 || p == 0 || d > SIZE_MAX / 64 ||
        n > (SIZE_MAX / 64) / (d + p + 2)) {
        gp_h5_fail(f, COVAR_ERR_FORMAT, "has no rows of a usable size");
        return;
    }
    l->raw = covar_heap_alloc(f->heap, n, (d + p + 2) * sizeof(double));
    if (!l->raw) {
        gp_h5_fail(f, COVAR_ERR_NOMEM, "out of memory");
        return;
    }
    double *Y = l->raw + n * d, *W = Y + n * p, *S = W + n;
    gp_h5_read(f, "X", la_mat_f64(l->raw, n, d));
    gp_h5_read(f, "y", la_mat_f64(Y, n, p));
    if (weights)
        gp_h5_read(f, "weight", la_vec_f64(W, n));
    if (noise)
        gp_h5_read(f, "noise", la_vec_f64(S, n));
    if (f->status != COVAR_OK)
        return;
    gp_options o = l->options;
    o.weights = weights ? W : NULL;
    o.noise_per_point = noise ? S : NULL;
    f->status = gp_data_create(&l->data, f->ctx, la_mat_f64(l->raw, n, d),
                               la_mat_f64(Y, n, p), &o);
    if (f->status == COVAR_OK && l->data->n != n)
        gp_h5_fail(f, COVAR_ERR_FORMAT, "has missing targets");
}

/* The columns' names, if the file has any. */
static void read_names(loading *l)
{
    gp_h5 *f = &l->f;
    size_t dim[2], d = f->status == COVAR_OK ? l->data->d : 0;
    if (!gp_h5_dims(f, "column_names", dim))
        return;
    char *text = covar_heap_alloc(f->heap, dim[0], 1);
    const char **name = covar_heap_calloc(f->heap, d, sizeof(*name));
    if (!text || !name)
        gp_h5_fail(f, COVAR_ERR_NOMEM, "out of memory");
    else
        gp_h5_read(f, "column_names", la_vec_u8((uint8_t *)text, dim[0]));
    if (f->status == COVAR_OK && !gp_data_names_split(name, d, text, dim[0]))
        gp_h5_fail(f, COVAR_ERR_FORMAT, "column names do not fit the columns");
    if (f->status == COVAR_OK)
        f->status = gp_data_take_names(l->data, f->ctx, name);
    covar_heap_free(f->heap, text);
    covar_heap_free(f->heap, name);
}

static void read_statistics(loading *l)
{
    gp_h5 *f = &l->f;
    if (f->status != COVAR_OK)
        return;
    gp_data *data = l->data;
    if (l->option[MEAN_GIVEN]) {
        data->mean_given =
            covar_heap_calloc(data->heap, data->d + 1, sizeof(double));
        if (!data->mean_given)
            gp_h5_fail(f, COVAR_ERR_NOMEM, "out of memory");
    }
    gp_member list[GP_DATA_MEMBERS];
    size_t n = gp_data_members(list, data);
    for (size_t i = 0; i < n; i++)
        if (*list[i].at &&
            (*list[i].at != data->mean_given || l->option[MEAN_GIVEN]))
            gp_h5_read(f, list[i].name, gp_member_view(&list[i]));
    data->n_missing = (size_t)l->option[MISSING];
    data->duplicates = l->option[DUPLICATES] != 0;
    data->n_dropped = 0;
    for (size_t k = 0; k < data->d; k++)
        if (!(data->col_range[k] > 0))
            data->dropped[data->n_dropped++] = k;
}

static void take_parameter(gp_param *p, const double *row, size_t n)
{
    p->value = row[VALUE];
    p->lower = row[LOWER];
    p->upper = row[UPPER];
    p->scale = row[SCALE];
    p->fixed = row[FIXED] != 0;
    p->has_start = true;
    p->prior = (gp_prior){GP_PRIOR_FLAT, row[PRIOR_A], row[PRIOR_B]};
    if (row[PRIOR_KIND] > 0 && row[PRIOR_KIND] <= GP_PRIOR_NORMAL)
        p->prior.kind = (gp_prior_kind)row[PRIOR_KIND];
    p->tie = row[TIE] >= 0 && row[TIE] < (double)n ? (ptrdiff_t)row[TIE] : -1;
}

static void read_parameters(loading *l, double **gradient)
{
    gp_h5 *f = &l->f;
    if (f->status == COVAR_OK)
        f->status = gp_params_create(&l->params, f->ctx, l->kernel, l->data,
                                     &l->options);
    size_t n = l->params.n;
    if (f->status != COVAR_OK)
        return;
    double *t =
        covar_heap_calloc(f->heap, n, PARAMETER_COLUMNS * sizeof(double));
    *gradient = covar_heap_calloc(f->heap, n, sizeof(double));
    if (!t || !*gradient)
        gp_h5_fail(f, COVAR_ERR_NOMEM, "out of memory");
    else
        gp_h5_read(f, "parameters", la_mat_f64(t, n, PARAMETER_COLUMNS));
    for (size_t i = 0; f->status == COVAR_OK && i < n; i++) {
        gp_param *p = &l->params.param[i];
        const double *row = t + i * PARAMETER_COLUMNS;
        bool valid =
            p->dropped || (p->log ? row[VALUE] >= 0 : isfinite(row[VALUE]));
        if (!valid)
            gp_h5_fail(f, COVAR_ERR_FORMAT, "has an impossible parameter");
        take_parameter(p, row, n);
        (*gradient)[i] = row[GRADIENT];
    }
    covar_heap_free(f->heap, t);
}

static void read_array(loading *l, const char *name, la_array **out,
                       size_t rows, size_t cols)
{
    gp_h5 *f = &l->f;
    la_exec exec = la_exec_cpu(f->ctx);
    size_t dim[2];
    if (!gp_h5_dims(f, name, dim) || dim[0] != rows || dim[1] != cols) {
        gp_h5_fail(f, COVAR_ERR_FORMAT, "factor has the wrong size");
        return;
    }
    covar_status status = la_array_create(out, &exec, l->options.dtype, 2, dim);
    if (status != COVAR_OK)
        f->status = f->status == COVAR_OK ? status : f->status;
    else
        gp_h5_read(f, name, la_array_view(*out));
}

static void read_factor(loading *l, gp_model *m)
{
    size_t n = m->data->n, p = m->data->p, q = m->q;
    gp_h5_read(&l->f, "beta", la_mat_f64(m->beta, q, p));
    read_array(l, "L", &m->L, n, n);
    read_array(l, "alpha", &m->alpha, n, p);
    if (q > 0) {
        read_array(l, "V", &m->V, n, q);
        read_array(l, "B", &m->B, q, q);
    }
    m->log_det = l->number[LOG_DET];
    m->jitter_relative = l->number[JITTER_RELATIVE];
    m->report.lml = l->number[LML];
    m->report.lml_standardised = l->number[LML_STANDARDISED];
    m->report.objective = l->number[OBJECTIVE_VALUE];
    m->report.jitter_relative = l->number[JITTER_RELATIVE];
    m->report.jitter_absolute = l->number[JITTER_ABSOLUTE];
    m->report.rcond = l->number[RCOND];
    gp_mean_natural(m->mean_value, m->data, &m->options, m->beta, 0);
    gp_model_note(m);
}

static covar_status make_model(gp_model **out, loading *l, double **gradient)
{
    gp_h5 *f = &l->f;
    gp_model *m = NULL;
    if (f->status == COVAR_OK)
        f->status = gp_model_create(&m, f->ctx, l->kernel, &l->params, l->data,
                                    &l->options);
    if (f->status == COVAR_OK) {
        memcpy(m->gradient, *gradient, l->params.n * sizeof(double));
        read_factor(l, m);
    }
    if (f->status == COVAR_OK)
        f->status = gp_programs_create(&m->programs, f->ctx, m->kernel,
                                       &m->params, m->data, &m->options);
    covar_status status = gp_h5_close(f);
    if (status != COVAR_OK) {
        gp_model_free(m);
        return status;
    }
    *out = m;
    return COVAR_OK;
}

covar_status gp_load(gp_model **out, covar_context *ctx, const char *path)
{
    if (out)
        *out = NULL;
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_load", {"out", out}, {"path", path}));
    loading l = {.kernel = NULL};
    double *gradient = NULL;
    gp_h5_open(&l.f, ctx, path, false);
    if (l.f.status == COVAR_OK)
        read_kernel(&l);
    if (l.f.status == COVAR_OK)
        read_options(&l);
    if (l.f.status == COVAR_OK)
        read_data(&l);
    read_names(&l);
    read_statistics(&l);
    read_parameters(&l, &gradient);
    covar_heap *heap = l.f.heap;
    covar_status status = make_model(out, &l, &gradient);
    status = gp_fail_as(ctx, status, path);
    covar_heap_free(heap, gradient);
    covar_heap_free(heap, l.raw);
    gp_params_clear(&l.params);
    gp_data_free(l.data);
    gp_kernel_free(l.kernel);
    return status;
}
