/* covar-gp: the report of a fit for people.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void print_kernel(FILE *f, const gp_model *m)
{
    const gp_kernel *k = gp_model_kernel(m);
    size_t n = gp_kernel_print(NULL, 0, k) + 1;
    char *text = malloc(n);
    if (!text)
        return;
    gp_kernel_print(text, n, k);
    fprintf(f, "kernel      %s\n", text);
    free(text);
}

static const char *remark(const gp_model *m, size_t i)
{
    if (gp_param_is_fixed(m, i))
        return "fixed";
    if (gp_param_is_irrelevant(m, i))
        return "at its bound: irrelevant input";
    if (gp_param_at_bound(m, i))
        return "at its bound";
    return isnan(gp_param_value(m, i)) ? "constant column" : "";
}

/* A value, or a dash where there is none. */
static void number(FILE *f, double value, int digits)
{
    if (isnan(value))
        fprintf(f, "%12s  ", "-");
    else
        fprintf(f, "%12.*g  ", digits, value);
}

/* The column that parameter i belongs to, if it has a name. */
static const char *column_of(const gp_model *m, size_t i)
{
    ptrdiff_t column = gp_param_column(m, i);
    const char *name = column < 0 ? NULL : gp_column_name(m, (size_t)column);
    return name ? name : "";
}

void print_parameters(FILE *f, const gp_model *m, const double *std_error)
{
    int width = 9;
    for (size_t i = 0; i < gp_param_count(m); i++) {
        int n = (int)strlen(gp_param_name(m, i));
        width = n > width ? n : width;
    }
    fprintf(f, "\n%-*s  %12s%s\n", width, "parameter", "value",
            std_error ? "     std error" : "");
    for (size_t i = 0; i < gp_param_count(m); i++) {
        fprintf(f, "%-*s  ", width, gp_param_name(m, i));
        number(f, gp_param_value(m, i), 6);
        if (std_error)
            number(f, std_error[i], 3);
        const char *column = column_of(m, i), *said = remark(m, i);
        fprintf(f, "%s%s%s\n", column, *column && *said ? ", " : "", said);
    }
}

static void starts(FILE *f, const gp_report *g)
{
    fprintf(f, "\nstarts:\n");
    for (size_t i = 0; i < g->n_restarts; i++)
        fprintf(f, "  %-12s %14.6f  %s\n", g->restart[i].start,
                g->restart[i].objective, g->restart[i].reason);
}

static void notes(FILE *f, const fit_result *r)
{
    const gp_report *g = &r->report;
    if (g->jitter_relative > 0)
        fprintf(f, "\njitter      %g relative, %g absolute\n",
                g->jitter_relative, g->jitter_absolute);
    if (g->notes == 0)
        return;
    fprintf(f, "\nnotes      ");
    for (unsigned b = 0; b < GP_NOTE_COUNT; b++)
        if (g->notes & (1u << b))
            fprintf(f, " %s", gp_note_name(b));
    fprintf(f, "\n");
}

static void test_scores(FILE *f, const fit_result *r)
{
    const gp_scores *s = &r->scores;
    double sd = r->report.y_sd;
    if (r->test.n == 0)
        return;
    fprintf(f, "\ntest on %zu rows    user units  standardised\n", s->n);
    fprintf(f, "  RMSE              %10.5g    %10.5g\n", s->rmse, s->rmse / sd);
    fprintf(f, "  mean log density  %10.5g    %10.5g\n", -s->nlpd,
            log(sd) - s->nlpd);
    fprintf(f, "  CRPS              %10.5g    %10.5g\n", s->crps, s->crps / sd);
    fprintf(f, "  95 %% coverage     %10.4f\n", s->coverage_95);
}

void report_text(FILE *f, const fit_result *r)
{
    const gp_report *g = &r->report;
    fprintf(f, "data        %s: %s, n = %zu, d = %zu", r->line->data,
            r->train.y_name ? r->train.y_name : "y", g->n, g->d);
    if (g->n_missing > 0)
        fprintf(f, ", %zu missing", g->n_missing);
    fprintf(f, "\n");
    print_kernel(f, r->model);
    fprintf(f, "mean        %s\n", mean_names[r->line->mean]);
    fprintf(f, "LML         %.8f   (standardised %.8f)\n", g->lml,
            g->lml_standardised);
    if (r->line->objective != GP_ML)
        fprintf(f, "objective   %s %.8f\n", objective_names[r->line->objective],
                g->objective);
    fprintf(f,
            "stopped     %s after %zu iterations, %zu evaluations, "
            "%.2f s\n",
            g->reason, g->iterations, g->evaluations, g->seconds);
    fprintf(f, "rcond       %.2g\n", g->rcond);
    print_parameters(f, r->model, r->std_error);
    if (g->n_restarts > 1)
        starts(f, g);
    notes(f, r);
    test_scores(f, r);
    if (r->saved)
        fprintf(f, "\nmodel saved to %s\n", r->line->save);
}
