/* covar-gp: the report of a fit as one JSON object (schema covar-gp/1).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void parameters(app_json *j, const fit_result *r)
{
    const gp_model *m = r->model;
    app_json_open(j, "parameters", '{');
    for (size_t i = 0; i < gp_param_count(m); i++)
        app_json_number(j, gp_param_name(m, i), gp_param_value(m, i));
    app_json_close(j, '}');
    app_json_open(j, "std_errors", '{');
    for (size_t i = 0; i < gp_param_count(m); i++)
        app_json_number(j, gp_param_name(m, i), r->std_error[i]);
    app_json_close(j, '}');
    app_json_open(j, "gradient", '{');
    for (size_t i = 0; i < gp_param_count(m); i++) {
        app_json_open(j, gp_param_name(m, i), '{');
        app_json_text(j, "wrt", gp_param_is_log(m, i) ? "log" : "raw");
        app_json_number(j, "value", gp_param_gradient(m, i));
        app_json_close(j, '}');
    }
    app_json_close(j, '}');
}

typedef bool param_test(const gp_model *m, size_t i);

static void names_where(app_json *j, const char *key, const gp_model *m,
                        param_test *test)
{
    app_json_open(j, key, '[');
    for (size_t i = 0; i < gp_param_count(m); i++)
        if (test(m, i))
            app_json_text(j, NULL, gp_param_name(m, i));
    app_json_close(j, ']');
}

static void lists(app_json *j, const fit_result *r)
{
    const size_t *column = NULL;
    size_t n = gp_dropped_columns(r->model, &column);
    names_where(j, "fixed", r->model, gp_param_is_fixed);
    names_where(j, "at_bound", r->model, gp_param_at_bound);
    names_where(j, "irrelevant_inputs", r->model, gp_param_is_irrelevant);
    app_json_open(j, "dropped_columns", '[');
    for (size_t i = 0; i < n; i++)
        app_json_count(j, NULL, column[i]);
    app_json_close(j, ']');
}

static void fit_history(app_json *j, const gp_report *r)
{
    app_json_text(j, "reason", r->reason);
    app_json_count(j, "evaluations", r->evaluations);
    app_json_count(j, "iterations", r->iterations);
    app_json_open(j, "restarts", '[');
    for (size_t i = 0; i < r->n_restarts; i++) {
        app_json_open(j, NULL, '{');
        app_json_text(j, "start", r->restart[i].start);
        app_json_number(j, "objective", r->restart[i].objective);
        app_json_text(j, "reason", r->restart[i].reason);
        app_json_close(j, '}');
    }
    app_json_close(j, ']');
    app_json_open(j, "jitter", '{');
    app_json_number(j, "relative", r->jitter_relative);
    app_json_number(j, "absolute", r->jitter_absolute);
    app_json_close(j, '}');
    app_json_number(j, "rcond", r->rcond);
    app_json_bool(j, "noise_at_floor", r->noise_at_floor);
}

static void notes(app_json *j, unsigned bits)
{
    app_json_open(j, "notes", '[');
    for (unsigned b = 0; b < GP_NOTE_COUNT; b++)
        if (bits & (1u << b))
            app_json_text(j, NULL, gp_note_name(b));
    app_json_close(j, ']');
}

/* On the scale of y / sd(y_train): densities gain log sd. */
static void test_scores(app_json *j, const fit_result *r)
{
    const gp_scores *s = &r->scores;
    double sd = r->report.y_sd;
    app_json_open(j, "test", '{');
    app_json_count(j, "n", s->n);
    app_json_number(j, "rmse", s->rmse);
    app_json_number(j, "nlpd", s->nlpd);
    app_json_number(j, "mean_log_density", -s->nlpd);
    app_json_number(j, "crps", s->crps);
    app_json_number(j, "smse", s->smse);
    app_json_number(j, "msll", s->msll);
    app_json_number(j, "coverage_95", s->coverage_95);
    app_json_open(j, "standardised", '{');
    app_json_number(j, "rmse", s->rmse / sd);
    app_json_number(j, "nlpd", s->nlpd - log(sd));
    app_json_number(j, "mean_log_density", log(sd) - s->nlpd);
    app_json_number(j, "crps", s->crps / sd);
    app_json_close(j, '}');
    app_json_close(j, '}');
}

static void kernel_text(app_json *j, const gp_model *m)
{
    const gp_kernel *k = gp_model_kernel(m);
    size_t n = gp_kernel_print(NULL, 0, k) + 1;
    char *text = malloc(n);
    if (text)
        gp_kernel_print(text, n, k);
    app_json_text(j, "kernel", text);
    free(text);
}

static void split_number(app_json *j, const fit_line *line)
{
    if (line->split >= 0)
        app_json_count(j, "split", (size_t)line->split);
    else
        app_json_null(j, "split");
}

void report_json(FILE *file, const fit_result *r)
{
    const gp_report *g = &r->report;
    app_json j = {.file = file, .first = true};
    app_json_open(&j, NULL, '{');
    app_json_text(&j, "schema", "covar-gp/1");
    app_json_text(&j, "data", r->line->data);
    split_number(&j, r->line);
    app_json_count(&j, "n", g->n);
    app_json_count(&j, "n_missing", g->n_missing);
    app_json_count(&j, "d", g->d);
    kernel_text(&j, r->model);
    app_json_text(&j, "mean", mean_names[r->line->mean]);
    app_json_text(&j, "standardise", standardise_names[r->line->standardise]);
    app_json_number(&j, "y_mean", g->y_mean);
    app_json_number(&j, "y_sd", g->y_sd);
    app_json_number(&j, "lml", g->lml);
    app_json_number(&j, "lml_standardised", g->lml_standardised);
    app_json_open(&j, "objective", '{');
    app_json_text(&j, "name", objective_names[r->line->objective]);
    app_json_number(&j, "value", g->objective);
    app_json_close(&j, '}');
    parameters(&j, r);
    lists(&j, r);
    fit_history(&j, g);
    app_json_count(&j, "rounded_variances", r->rounded);
    notes(&j, g->notes);
    app_json_number(&j, "seconds", g->seconds);
    app_json_count(&j, "peak_bytes", g->peak_bytes);
    if (r->test.n > 0)
        test_scores(&j, r);
    app_json_close(&j, '}');
}
