/* covar-gp: what its files share.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_APP_H
#define COVAR_GP_APP_H

#include <covar/dataset.h>
#include <covar/gp.h>

#include "app.h"

#define APP "covar-gp"

/* The command line of `fit`; see the man page. */
typedef struct fit_line {
    const char *data, *target, *kernel;
    const char *noise_column, *save, *plot;
    int         mean, objective, standardise, dtype, report;
    app_list    prior, set, fix;
    double      noise, fix_noise; /* NaN = not given */
    bool        no_fit, skip_text, quiet, help;
    const char *jitter;
    long        split, restarts, max_iterations, threads, seed; /* -1 = none */
    double      test_fraction, max_seconds;
} fit_line;

/* Everything a finished fit has to say. */
typedef struct fit_result {
    const fit_line *line;
    covar_context  *ctx;
    dataset        *data;
    dataset_xy      all, train, test; /* test.n = 0 without a split */
    double         *train_noise, *test_noise; /* known variances or NULL */
    gp_model       *model;
    gp_report       report;
    double         *std_error; /* by parameter */
    double         *test_mean, *test_var; /* of y, at the test rows */
    gp_scores       scores;
    size_t          rounded;
    bool            saved;
} fit_result;

int run_fit(int argc, char **argv);
int run_predict(int argc, char **argv);
int run_info(int argc, char **argv);

/* Fills options from the command line; APP_USAGE after saying what is wrong. */
int fit_options(gp_options *o, gp_kernel **kernel, covar_context *ctx,
                const fit_line *line);

/* A data set. Columns of a CSV file with text in them are left out, and named
 * on stderr unless quiet, if `skip_text`; else PARSE with the cell. */
covar_status load_table(dataset **d, covar_context *ctx, const char *path,
                        bool skip_text, bool quiet);

/* `status`; a failure's sentence then names the columns left out, too. */
covar_status fail_without_text(covar_context *ctx, const dataset *d,
                               covar_status status);

/* The data set with its target, split and known noise. */
covar_status load_data(fit_result *r);

/* The columns of a file that a model takes, in the model's order: by name when
 * both have names, else by position, exactly as many as the model has, or one
 * more, the target. Leaves r->X dense, r->name. Says on stderr which columns it
 * left out, or that names were missing, unless quiet. Errors: NAME (the missing
 * ones, and what there is), SHAPE (how many), DATA (NaN: file, row, column). */
typedef struct model_columns {
    la_view      X;
    double      *x;
    const char **name; /* in the file */
} model_columns;
covar_status take_columns(model_columns *r, covar_context *ctx,
                          const gp_model *m, const dataset *d,
                          const char *path, bool quiet);
void model_columns_clear(model_columns *r);

void report_json(FILE *file, const fit_result *r);
void report_text(FILE *file, const fit_result *r);

/* Lines of a report: the kernel, and a table of the parameters with the columns
 * they belong to. std_error may be NULL. */
void print_kernel(FILE *file, const gp_model *m);
void print_parameters(FILE *file, const gp_model *m, const double *std_error);

/* Can the picture, its script and its data be written? As app_check_output. */
int plot_check(const fit_line *line);

/* Writes PICTURE by gnuplot, with the script and data beside it. APP_FAILED
 * after saying why; without gnuplot that is said and the script is kept. */
int plot_fit(const fit_result *r);

extern const char *const mean_names[], *const standardise_names[],
    *const objective_names[];

#endif
