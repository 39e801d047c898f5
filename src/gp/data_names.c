/* The caller's names of the columns of X: kept with the rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In a file they are one text, each name followed by a zero byte. */
#include "config.h"

#include "data.h"

#include <stdio.h>
#include <string.h>

covar_status gp_data_take_names(gp_data *data, covar_context *ctx,
                                const char *const *name)
{
    if (!name)
        return COVAR_OK;
    for (size_t k = 0; k < data->d; k++)
        if (!name[k])
            return covar_fail(ctx, COVAR_ERR_ARG,
                              "gp_fit: column_name[%zu] is NULL; all %zu "
                              "columns need a name, or none",
                              k, data->d);
    data->column_name =
        covar_heap_calloc(data->heap, data->d, sizeof(*data->column_name));
    if (!data->column_name)
        return covar_fail_nomem(ctx, "gp_fit");
    for (size_t k = 0; k < data->d; k++) {
        data->column_name[k] = covar_heap_strdup(data->heap, name[k]);
        if (!data->column_name[k])
            return covar_fail_nomem(ctx, "gp_fit");
    }
    return COVAR_OK;
}

void gp_data_free_names(gp_data *data)
{
    for (size_t k = 0; data->column_name && k < data->d; k++)
        covar_heap_free(data->heap, data->column_name[k]);
    covar_heap_free(data->heap, data->column_name);
    data->column_name = NULL;
}

size_t gp_data_names_text(char *text, const gp_data *data)
{
    size_t length = 0;
    for (size_t k = 0; data->column_name && k < data->d; k++) {
        size_t n = strlen(data->column_name[k]) + 1;
        if (text)
            memcpy(text + length, data->column_name[k], n);
        length += n;
    }
    return length;
}

bool gp_data_names_split(const char **name, size_t d, const char *text,
                         size_t length)
{
    size_t at = 0;
    for (size_t k = 0; k < d; k++) {
        const char *end = at < length ? memchr(text + at, 0, length - at) : 0;
        if (!end)
            return false;
        name[k] = text + at;
        at = (size_t)(end - text) + 1;
    }
    return at == length;
}

const char *gp_column_label(char label[GP_LABEL_SIZE], const char *const *name,
                            size_t k)
{
    if (name && name[k])
        snprintf(label, GP_LABEL_SIZE, "%zu (\"%.40s\")", k, name[k]);
    else
        snprintf(label, GP_LABEL_SIZE, "%zu", k);
    return label;
}
