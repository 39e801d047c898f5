/* Private to src/gp: making sets of rows (data.c, data_measure.c).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_DATA_H
#define COVAR_GP_DATA_H

#include "gp_impl.h"

/* Fills statistics, shifts, constant columns and the duplicates flag of rows
 * that are in place. ARG when targets or inputs overflow. */
covar_status gp_data_measure(gp_data *data, covar_context *ctx,
                             const gp_options *options);

/* ---- Names of columns (data_names.c) ------------------------------------ */

/* Copies name[d] (NULL = none). */
covar_status gp_data_take_names(gp_data *data, covar_context *ctx,
                                const char *const *name);
void         gp_data_free_names(gp_data *data);

/* All names, each with its zero byte, into `text` (NULL = only count); returns
 * the bytes, 0 without names. And back: name[d] point into the text; false
 * when it does not hold exactly d names. */
size_t gp_data_names_text(char *text, const gp_data *data);
bool   gp_data_names_split(const char **name, size_t d, const char *text,
                           size_t length);

/* "3" or "3 (\"width\")", for sentences. */
enum { GP_LABEL_SIZE = 80 };
const char *gp_column_label(char label[GP_LABEL_SIZE], const char *const *name,
                            size_t k);

#endif
