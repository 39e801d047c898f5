/* gp_fit: from rows and options to a fitted model.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows are copied and measured, parameters listed and set, all starts run
 * (multistart.c); at the best point the gradient is taken once more for the
 * report and the model conditioned. The search's arena is given back before
 * the factor is made. */
#include "config.h"

#include "check.h"
#include "fit_impl.h"

#include <math.h>
#include <string.h>

/* Everything that one fit owns. */
typedef struct fit {
    covar_context *ctx;
    covar_heap *heap;
    gp_options options; /* kernel, settings and arrays are the caller's */
    gp_kernel *kernel;
    gp_data *data;
    gp_params params;
    gp_space space;
    gp_search search;
    bool searching; /* `search` is made */
    gp_problem *problem;
    size_t search_bytes;
    double *x;    /* (n of the space) */
    double *grad; /* (P) at the best point */
    gp_report report;
} fit;

static void clear(fit *f)
{
    gp_problem_free(f->problem);
    if (f->searching)
        gp_search_clear(&f->search);
    gp_space_clear(&f->space);
    gp_params_clear(&f->params);
    gp_data_free(f->data);
    gp_kernel_free(f->kernel);
    covar_heap_free(f->heap, f->x);
    covar_heap_free(f->heap, f->grad);
}

static covar_status prepare_new(fit *f, la_view X, la_view y)
{
    covar_context *ctx = f->ctx;
    COVAR_TRY(gp_data_create(&f->data, ctx, X, y, &f->options));
    f->kernel = gp_kernel_retain(f->options.kernel);
    if (!f->kernel)
        COVAR_TRY(gp_kernel_parse(&f->kernel, ctx, "matern52(ard)"));
    return gp_params_create(&f->params, ctx, f->kernel, f->data, &f->options);
}

/* Rows, kernel and table of a model; its values are the start. */
static covar_status prepare_again(fit *f, const gp_model *m)
{
    COVAR_TRY(gp_data_select(&f->data, f->ctx, m->data, NULL, m->data->n));
    f->kernel = gp_kernel_retain(m->kernel);
    COVAR_TRY(gp_params_copy(&f->params, f->ctx, &m->params));
    for (size_t i = 0; i < f->params.n; i++)
        f->params.param[i].has_start = !f->params.param[i].dropped;
    return COVAR_OK;
}

/* What follows from the table and the settings. */
static covar_status prepare_search(fit *f)
{
    covar_context *ctx = f->ctx;
    COVAR_TRY(gp_params_apply(&f->params, ctx, &f->options));
    COVAR_TRY(gp_mean_take_given(f->data, ctx, &f->options));
    COVAR_TRY(gp_check_noise(ctx, f->kernel, &f->params));
    COVAR_TRY(gp_space_create(&f->space, ctx, &f->params));
    COVAR_TRY(gp_check_data(ctx, f->data, &f->options, &f->space));
    if (!f->options.no_fit)
        COVAR_TRY(gp_check_starts(ctx, &f->params));
    f->x = covar_heap_calloc(f->heap, f->space.n, sizeof(*f->x));
    f->grad = covar_heap_calloc(f->heap, f->params.n, sizeof(*f->grad));
    if (!f->x || !f->grad)
        return covar_fail_nomem(ctx, "gp_fit");
    double began = f->search.began;
    COVAR_TRY(gp_search_create(&f->search, ctx, &f->space, &f->options));
    f->search.began = began;
    f->searching = true;
    return COVAR_OK;
}

/* Says of which kernel the failure is that the search came to. */
static covar_status fail_at(fit *f, covar_status status)
{
    char kernel[200], why[400];
    gp_kernel_print(kernel, sizeof(kernel), f->kernel);
    const char *text = covar_error_text(f->ctx);
    size_t length = strlen(text);
    length = length < sizeof(why) - 1 ? length : sizeof(why) - 1;
    memcpy(why, text, length);
    why[length] = '\0';
    return covar_fail(f->ctx, status,
                      "gp_fit: no finite likelihood with kernel %s, n = %zu, "
                      "up to jitter %g of its mean diagonal: %s",
                      kernel, f->data->n,
                      f->search.jitter[f->search.n_level - 1], why);
}

/* Where the table's values are, without a search. */
static covar_status take_values(fit *f, gp_result *best)
{
    const gp_fit_input in = {f->kernel, &f->params, f->data, &f->options};
    gp_start_complete(&f->params);
    gp_params_to_free(f->search.free, &f->params);
    gp_space_take(f->x, &f->space, f->search.free);
    *best = (gp_result){.value = (double)NAN, .reason = "none"};
    COVAR_TRY(gp_problem_create(&f->problem, f->ctx, in.kernel, in.params,
                                in.data, in.options));
    f->search.problem = f->problem;
    return gp_check_memory(f->ctx, f->problem, f->data, &f->options);
}

/* Writes the point into the table and takes value and gradient there. */
static covar_status evaluate_best(fit *f, gp_result *best)
{
    gp_search *s = &f->search;
    gp_result at;
    const char *reason = best->reason;
    COVAR_TRY(gp_search_value(&at, s, f->x, best->level, f->grad));
    if (at.status != COVAR_OK)
        return fail_at(f, at.status);
    if (best->status != COVAR_OK)
        return covar_fail(f->ctx, best->status,
                          "gp_fit: no start leads anywhere (%s); the first has "
                          "the objective %g",
                          covar_status_text(best->status), at.value);
    *best = at;
    best->reason = reason;
    gp_start_complete(&f->params);
    gp_params_from_free(&f->params, s->free);
    f->search_bytes = gp_problem_peak_bytes(f->problem);
    gp_problem_free(f->problem);
    f->problem = NULL;
    return COVAR_OK;
}

/* Conditions at the best point. Should the factor need more jitter than the
 * search did, value and gradient are taken again at that level; should they
 * need more yet, for a pivot may be lost in one and not quite in the other, so
 * is the factor. */
static covar_status condition(gp_model **m, fit *f, gp_result *best)
{
    const double *c = f->search.jitter;
    for (;;) {
        COVAR_TRY(gp_model_condition(m, f->ctx, f->kernel, &f->params, f->data,
                                     &f->options, best->level));
        if ((*m)->jitter_relative == c[best->level])
            return COVAR_OK;
        while (best->level + 1 < f->search.n_level &&
               c[best->level] < (*m)->jitter_relative)
            best->level++;
        COVAR_TRY(gp_problem_create(&f->problem, f->ctx, f->kernel, &f->params,
                                    f->data, &f->options));
        f->search.problem = f->problem;
        COVAR_TRY(evaluate_best(f, best));
        if ((*m)->jitter_relative == c[best->level])
            return COVAR_OK;
        gp_model_free(*m);
        *m = NULL;
    }
}

static void fill_report(gp_model *m, const fit *f, const gp_result *best)
{
    gp_report *r = &m->report;
    const gp_search *s = &f->search;
    r->objective = f->options.objective == GP_ML ? r->lml : best->value;
    r->reason = best->reason;
    r->evaluations = s->evaluations;
    r->iterations = s->iterations;
    memcpy(r->restart, f->report.restart, sizeof(r->restart));
    r->n_restarts = f->report.n_restarts;
    r->subset_rows = f->report.subset_rows;
    r->notes |= f->report.notes;
    if (strcmp(r->reason, gp_reason(AD_STOP_ITERATIONS)) == 0)
        r->notes |= GP_NOTE_MAX_ITER;
    if (s->cancelled || covar_cancelled(f->ctx)) {
        r->notes |= GP_NOTE_CANCELLED;
        r->reason = gp_reason(AD_STOP_CANCELLED);
    } else if (gp_search_is_over(s) && strcmp(r->reason, "none") != 0) {
        r->notes |= GP_NOTE_MAX_TIME;
        r->reason = gp_reason(AD_STOP_SECONDS);
    }
    r->seconds = gp_clock() - s->began;
    r->peak_bytes = gp_fit_bytes(f->data->n, f->data->d, f->data->p,
                                 f->options.dtype, f->search_bytes);
    memcpy(m->gradient, f->grad, f->params.n * sizeof(*f->grad));
}

static covar_status run(gp_model **m, fit *f)
{
    gp_result best;
    COVAR_TRY(prepare_search(f));
    if (f->options.no_fit || f->space.n == 0) {
        COVAR_TRY(take_values(f, &best));
    } else {
        const gp_fit_input in = {f->kernel, &f->params, f->data, &f->options};
        COVAR_TRY(gp_multistart(f->x, &best, &f->search, &f->problem, &in,
                                &f->report));
    }
    COVAR_TRY(evaluate_best(f, &best));
    covar_status status = condition(m, f, &best);
    if (status != COVAR_OK) {
        gp_model_free(*m);
        *m = NULL;
        return status;
    }
    fill_report(*m, f, &best);
    return COVAR_OK;
}

covar_status gp_fit(gp_model **m, covar_context *ctx, la_view X, la_view y,
                    const gp_options *options, gp_report *report)
{
    if (m)
        *m = NULL;
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_fit", {"m", m}));
    fit f = {.ctx = ctx,
             .heap = covar_context_heap(ctx),
             .options = options ? *options : gp_options_default()};
    f.search.began = gp_clock();
    covar_status status = gp_check_options(ctx, &f.options);
    if (status == COVAR_OK)
        status = prepare_new(&f, X, y);
    if (status == COVAR_OK)
        status = run(m, &f);
    if (status == COVAR_OK && report)
        *report = (*m)->report;
    clear(&f);
    return status;
}

/* The model's options with the budgets and settings of the caller. */
static gp_options merged(const gp_model *m, const gp_options *options)
{
    gp_options o = m->options;
    o.no_fit = options && options->no_fit;
    o.restarts = options ? options->restarts : -1;
    o.seed = options ? options->seed : o.seed;
    o.max_iterations = options ? options->max_iterations : 0;
    o.max_seconds = options ? options->max_seconds : 0;
    o.max_bytes = options ? options->max_bytes : 0;
    o.settings = options ? options->settings : NULL;
    o.n_settings = options ? options->n_settings : 0;
    o.setting_error = options ? options->setting_error : COVAR_OK;
    return o;
}

covar_status gp_refit(gp_model **out, const gp_model *m, covar_context *ctx,
                      const gp_options *options, gp_report *report)
{
    if (out)
        *out = NULL;
    COVAR_TRY(
        GP_CHECK_POINTERS(ctx, "gp_refit", {"out", out}, {"the model", m}));
    fit f = {.ctx = ctx,
             .heap = covar_context_heap(ctx),
             .options = merged(m, options)};
    f.search.began = gp_clock();
    covar_status status = gp_check_options(ctx, &f.options);
    if (status == COVAR_OK)
        status = prepare_again(&f, m);
    if (status == COVAR_OK)
        status = run(out, &f);
    if (status == COVAR_OK && report)
        *report = (*out)->report;
    clear(&f);
    return gp_fail_as(ctx, status, "gp_refit");
}
