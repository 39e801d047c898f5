/* Models in files: everything that prediction needs, bit for bit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Layout (HDF5, schema "covar-gp-model/2"): the kernel's text; options as
 * integers; rows X, y, weight, noise with the statistics of the fit; the
 * parameter table as numbers (names follow from kernel and columns); the names
 * of the columns if there are any; beta, L, alpha, V, B; the report's numbers.
 * The programs are compiled on loading. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "data.h"
#include "kernel_tree.h"
#include "save.h"

/* The leaf that cannot be saved, or NULL. */
static const gp_kernel *unsaved_leaf(const gp_kernel *k)
{
    if (k->form == GP_FORM_LEAF)
        return k->type->saved ? NULL : k;
    for (size_t i = 0; i < k->n_child; i++) {
        const gp_kernel *leaf = unsaved_leaf(k->child[i]);
        if (leaf)
            return leaf;
    }
    return NULL;
}

size_t gp_data_members(gp_member list[GP_DATA_MEMBERS], gp_data *d)
{
    size_t n = 0;
    list[n++] = (gp_member){"X", &d->X, d->n, d->d};
    list[n++] = (gp_member){"y", &d->y, d->n, d->p};
    list[n++] = (gp_member){"weight", &d->weight, d->n, 0};
    list[n++] = (gp_member){"noise", &d->noise, d->n, 0};
    list[n++] = (gp_member){"col_min", &d->col_min, d->d, 0};
    list[n++] = (gp_member){"col_range", &d->col_range, d->d, 0};
    list[n++] = (gp_member){"col_mean", &d->col_mean, d->d, 0};
    list[n++] = (gp_member){"x_shift", &d->x_shift, d->d, 0};
    list[n++] = (gp_member){"y_shift", &d->y_shift, d->p, 0};
    list[n++] = (gp_member){"y_mean", &d->y_mean, d->p, 0};
    list[n++] = (gp_member){"y_sd", &d->y_sd, d->p, 0};
    list[n++] = (gp_member){"mean_given", &d->mean_given, d->d + 1, 0};
    return n;
}

la_view gp_member_view(const gp_member *m)
{
    return m->cols > 0 ? la_mat_f64(*m->at, m->rows, m->cols)
                       : la_vec_f64(*m->at, m->rows);
}

/* ---- Writing ----------------------------------------------------------------
 */

static void write_parameters(gp_h5 *f, const gp_model *m)
{
    size_t n = m->params.n;
    double *t = covar_heap_calloc(m->heap, n, PARAMETER_COLUMNS * sizeof(*t));
    if (!t) {
        gp_h5_fail(f, COVAR_ERR_NOMEM, "out of memory");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const gp_param *p = &m->params.param[i];
        double *row = t + i * PARAMETER_COLUMNS;
        row[VALUE] = p->value;
        row[LOWER] = p->lower;
        row[UPPER] = p->upper;
        row[SCALE] = p->scale;
        row[FIXED] = p->fixed;
        row[PRIOR_KIND] = p->prior.kind;
        row[PRIOR_A] = p->prior.a;
        row[PRIOR_B] = p->prior.b;
        row[TIE] = (double)p->tie;
        row[GRADIENT] = m->gradient[i];
    }
    gp_h5_write(f, "parameters", la_mat_f64(t, n, PARAMETER_COLUMNS));
    covar_heap_free(m->heap, t);
}

static void write_kernel(gp_h5 *f, const gp_model *m)
{
    size_t n = gp_kernel_print(NULL, 0, m->kernel) + 1;
    char *text = covar_heap_alloc(m->heap, n, 1);
    if (!text) {
        gp_h5_fail(f, COVAR_ERR_NOMEM, "out of memory");
        return;
    }
    gp_kernel_print(text, n, m->kernel);
    gp_h5_write_text(f, "kernel", text);
    covar_heap_free(m->heap, text);
}

static void write_names(gp_h5 *f, const gp_model *m)
{
    size_t n = gp_data_names_text(NULL, m->data);
    char *text = n > 0 ? covar_heap_alloc(m->heap, n, 1) : NULL;
    if (n > 0 && !text)
        gp_h5_fail(f, COVAR_ERR_NOMEM, "out of memory");
    if (!text)
        return;
    gp_data_names_text(text, m->data);
    gp_h5_write(f, "column_names", la_vec_u8((const uint8_t *)text, n));
    covar_heap_free(m->heap, text);
}

static void write_numbers(gp_h5 *f, const gp_model *m)
{
    const gp_options *o = &m->options;
    const gp_report *r = &m->report;
    int32_t option[OPTION_COUNT] = {
        [MEAN] = (int32_t)o->mean,
        [MEAN_PLUGIN] = o->mean_plugin,
        [OBJECTIVE] = (int32_t)o->objective,
        [STANDARDISE] = (int32_t)o->standardise,
        [DTYPE] = (int32_t)o->dtype,
        [JITTER] = (int32_t)o->jitter,
        [MEAN_GIVEN] = m->data->mean_given != NULL,
        [MISSING] = (int32_t)m->data->n_missing,
        [DUPLICATES] = m->data->duplicates,
    };
    double number[NUMBER_COUNT] = {
        [LML] = r->lml,
        [LML_STANDARDISED] = r->lml_standardised,
        [OBJECTIVE_VALUE] = r->objective,
        [LOG_DET] = m->log_det,
        [JITTER_RELATIVE] = r->jitter_relative,
        [JITTER_ABSOLUTE] = r->jitter_absolute,
        [RCOND] = r->rcond,
        [JITTER_VALUE] = o->jitter_value,
    };
    gp_h5_write(f, "options", la_vec_i32(option, OPTION_COUNT));
    gp_h5_write(f, "numbers", la_vec_f64(number, NUMBER_COUNT));
}

covar_status gp_save(const gp_model *m, covar_context *ctx, const char *path)
{
    COVAR_TRY(
        GP_CHECK_POINTERS(ctx, "gp_save", {"the model", m}, {"path", path}));
    const gp_kernel *leaf = unsaved_leaf(m->kernel);
    if (leaf || m->options.mean == GP_MEAN_USER)
        return covar_fail(
            ctx, COVAR_ERR_UNSUPPORTED,
            "%.300s: a model with %s %s cannot be saved, for that "
            "is code",
            path, leaf ? "kernel" : "a",
            leaf ? gp_leaf_title(leaf) : "user's mean function");
    gp_h5 f;
    gp_member list[GP_DATA_MEMBERS];
    gp_h5_open(&f, ctx, path, true);
    gp_h5_write_text(&f, "schema", GP_SCHEMA);
    write_kernel(&f, m);
    write_numbers(&f, m);
    write_parameters(&f, m);
    size_t n = gp_data_members(list, m->data);
    for (size_t i = 0; i < n; i++)
        if (*list[i].at)
            gp_h5_write(&f, list[i].name, gp_member_view(&list[i]));
    write_names(&f, m);
    gp_h5_write(&f, "beta", la_mat_f64(m->beta, m->q, m->data->p));
    gp_h5_write(&f, "L", la_array_view(m->L));
    gp_h5_write(&f, "alpha", la_array_view(m->alpha));
    if (m->q > 0) {
        gp_h5_write(&f, "V", la_array_view(m->V));
        gp_h5_write(&f, "B", la_array_view(m->B));
    }
    return gp_h5_close(&f);
}
