/* covar-gp info: what a file holds, a data set or a saved model.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <stdlib.h>
#include <string.h>

/* Has this file the members of a saved model? */
static bool is_model(const dataset *d)
{
    return !la_view_is_none(dataset_member(d, "schema")) &&
           !la_view_is_none(dataset_member(d, "kernel")) &&
           !la_view_is_none(dataset_member(d, "parameters"));
}

static covar_status describe_model(covar_context *ctx, const char *path)
{
    gp_model *m = NULL;
    COVAR_TRY(gp_load(&m, ctx, path));
    printf("model       n = %zu, d = %zu", gp_n(m), gp_d(m));
    for (size_t i = 0; i < gp_d(m) && gp_column_name(m, i); i++)
        printf("%s%s", i == 0 ? ": " : ", ", gp_column_name(m, i));
    printf("\n");
    print_kernel(stdout, m);
    printf("mean        %s\n", mean_names[gp_model_mean(m)]);
    print_parameters(stdout, m, NULL);
    gp_model_free(m);
    return COVAR_OK;
}

static void print_line(const char *line, void *data)
{
    fprintf((FILE *)data, "%s\n", line);
}

static const app_option table[] = {
    {"--quiet", APP_FLAG, offsetof(fit_line, quiet), NULL},
    {"--threads", APP_COUNT, offsetof(fit_line, threads), NULL},
    {"--seed", APP_COUNT, offsetof(fit_line, seed), NULL},
    {NULL, APP_FLAG, 0, NULL},
};

int run_info(int argc, char **argv)
{
    fit_line line = {.quiet = false};
    app_list rest = {.n = 0};
    if (!app_parse(APP, argc, argv, table, &line, &rest))
        return APP_USAGE;
    if (rest.n != 1)
        return app_usage_error(APP, "info: expected one file, got %zu", rest.n);
    if (!app_check_threads(APP, line.threads))
        return APP_USAGE;
    covar_context *ctx = covar_context_create();
    dataset *d = NULL;
    int exit_code = APP_OK;
    if (!ctx || load_table(&d, ctx, rest.item[0], true, line.quiet) != COVAR_OK)
        exit_code = app_failure(APP, ctx);
    else if (is_model(d))
        exit_code = describe_model(ctx, rest.item[0]) == COVAR_OK
                        ? APP_OK
                        : app_failure(APP, ctx);
    else
        dataset_describe(d, print_line, stdout);
    dataset_free(d);
    covar_context_free(ctx);
    return app_end_output(APP, exit_code);
}
