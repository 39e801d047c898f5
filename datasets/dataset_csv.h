/* Private: cuts text into records and cells.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DATASET_CSV_H
#define DATASET_CSV_H

#include "dataset_impl.h"

/* A place in the content, which is cut up in place: cells are texts that end
 * in 0, without the blanks and quotes around them. */
typedef struct csv_scan {
    covar_context *ctx;
    const dataset *d;
    char *at, *end;
    char separator;
    size_t line;        /* from 1 */
    size_t record_line; /* where the record began */
    char **cell;        /* of the record */
    size_t n_cells, room;
} csv_scan;

/* Refuses binary content, skips a mark and comments, finds the separator if it
 * is 0. content[size] must be 0. */
covar_status csv_begin(csv_scan *s, covar_context *ctx, const dataset *d,
                       char *content, size_t size, char separator);

/* Next record that is not blank; *more = false at the end. */
covar_status csv_record(bool *more, csv_scan *s);

void csv_end(csv_scan *s);

#endif
