/* Makes one of the bundled files from a table: see make-datasets.sh.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     make-dataset TABLE.csv OUT.h5 TARGET ATTRIBUTE=TEXT ...
 *
 * Every other column becomes an input, in the order of the table. */
#include <covar/dataset.h>

#include <stdio.h>
#include <string.h>

/* "x_name[0],x_name[1],..." */
static covar_status set_columns(covar_context *ctx, dataset *d,
                                const dataset_xy *xy)
{
    char list[1024] = "";
    size_t used = 0;
    for (size_t j = 0; j < xy->d && used < sizeof(list); j++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                 j > 0 ? "," : "", xy->x_name[j]);
    return dataset_set_attribute(ctx, d, "columns", list);
}

static covar_status set_attributes(covar_context *ctx, dataset *d, char **text,
                                   int n)
{
    for (int i = 0; i < n; i++) {
        char *equals = strchr(text[i], '=');
        if (!equals)
            return covar_fail(ctx, COVAR_ERR_ARG, "`%s` lacks a =", text[i]);
        *equals = '\0';
        COVAR_TRY(dataset_set_attribute(ctx, d, text[i], equals + 1));
    }
    return COVAR_OK;
}

static covar_status make(covar_context *ctx, const dataset *table, int argc,
                         char **argv)
{
    dataset *d = NULL;
    dataset_xy xy = {0};
    covar_status status = dataset_select(&xy, ctx, table, argv[3], NULL);
    if (status == COVAR_OK)
        status = dataset_create(&d, ctx, "");
    if (status == COVAR_OK)
        status = dataset_set_member(ctx, d, "X", xy.X);
    if (status == COVAR_OK)
        status = dataset_set_member(ctx, d, "y", xy.y);
    if (status == COVAR_OK)
        status = set_columns(ctx, d, &xy);
    if (status == COVAR_OK)
        status = dataset_set_attribute(ctx, d, "target", argv[3]);
    if (status == COVAR_OK)
        status = set_attributes(ctx, d, argv + 4, argc - 4);
    if (status == COVAR_OK)
        status = dataset_save(ctx, d, argv[2]);
    dataset_free(d);
    dataset_xy_clear(&xy);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: make-dataset TABLE.csv OUT.h5 TARGET "
                        "ATTRIBUTE=TEXT ...\n");
        return 2;
    }
    covar_context *ctx = covar_context_create();
    dataset *table = NULL;
    if (!ctx)
        return 1;
    covar_status status = dataset_load_csv(&table, ctx, argv[1], NULL);
    if (status == COVAR_OK)
        status = make(ctx, table, argc, argv);
    if (status != COVAR_OK)
        fprintf(stderr, "make-dataset: %s\n", covar_error_text(ctx));
    dataset_free(table);
    covar_context_free(ctx);
    return status != COVAR_OK;
}
