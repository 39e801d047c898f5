/* covar-gp info: what a file holds.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <stdlib.h>
#include <string.h>

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
    if (!ctx || dataset_load(&d, ctx, rest.item[0]) != COVAR_OK)
        exit_code = app_failure(APP, ctx);
    else
        dataset_describe(d, print_line, stdout);
    dataset_free(d);
    covar_context_free(ctx);
    return app_end_output(APP, exit_code);
}
