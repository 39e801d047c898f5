/* covar-gp: a table of numbers from a file, perhaps without its columns of
 * text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <stdio.h>
#include <string.h>

enum { SENTENCE = 600 };

/* The names of columns that were left out for their text, or NULL. */
static const char *left_out(const dataset *d)
{
    const char *names = dataset_attribute(d, "skipped_columns");
    return names && names[0] ? names : NULL;
}

covar_status load_table(dataset **d, covar_context *ctx, const char *path,
                        bool skip_text, bool quiet)
{
    const dataset_csv_options without_text = {.skip_text = true};
    char sentence[SENTENCE];
    covar_status status = dataset_load(d, ctx, path);
    if (status != COVAR_ERR_PARSE)
        return status;
    snprintf(sentence, sizeof(sentence), "%s", covar_error_text(ctx));
    COVAR_TRY(dataset_load_csv(d, ctx, path, &without_text));
    if (!skip_text) {
        dataset_free(*d);
        *d = NULL;
        return covar_fail(ctx, status,
                          "%s; --skip-text leaves columns with "
                          "text out",
                          sentence);
    }
    if (left_out(*d) && !quiet)
        fprintf(stderr, "%s: %s: not used, for their text: %s\n", APP, path,
                left_out(*d));
    return COVAR_OK;
}

covar_status fail_without_text(covar_context *ctx, const dataset *d,
                               covar_status status)
{
    char sentence[SENTENCE];
    if (status == COVAR_OK || !d || !left_out(d))
        return status;
    snprintf(sentence, sizeof(sentence), "%s", covar_error_text(ctx));
    return covar_fail(ctx, status, "%s; left out for their text: %s", sentence,
                      left_out(d));
}
