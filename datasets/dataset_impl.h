/* Private: what a data set is made of, and what its readers share.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DATASET_IMPL_H
#define DATASET_IMPL_H

#include <covar/dataset.h>
#include "heap.h"

/* A dense array on the heap. */
typedef struct dataset_entry {
    char *name;
    void *data;
    la_dtype dtype;
    int rank;
    size_t dim[LA_MAX_DIMS];
} dataset_entry;

typedef struct dataset_note {
    char *name;
    char *text;
    double value; /* of a number */
    bool is_number;
} dataset_note;

/* Names of columns: one block, pointers first, then their texts. */
typedef struct dataset_names {
    const char **name;
    size_t n;
} dataset_names;

struct dataset {
    covar_heap *heap;
    char *path;         /* "" when made by dataset_create */
    const char *format; /* "HDF5", "CSV", "IDX" or "memory" */
    dataset_entry *entry;
    size_t n_entry, entry_room;
    dataset_note *note;
    size_t n_note, note_room;
    dataset_names x_names, y_names;
};

/* Hands over a block of d->heap (count elements of dtype) as a new member.
 * The block is freed on failure. Does not renew the names: dataset_finish. */
covar_status dataset_adopt(covar_context *ctx, dataset *d, const char *name,
                           la_dtype dtype, int rank, const size_t *dim,
                           void *data);

/* Checks offsets against seq or text and makes the names of columns. */
covar_status dataset_finish(covar_context *ctx, dataset *d);

/* Splits `list` at commas into n distinct names, else PREFIX1 ... PREFIXn.
 * n = 0 gives no names. */
covar_status dataset_names_make(dataset_names *out, covar_context *ctx,
                                covar_heap *heap, const char *list, size_t n,
                                const char *prefix);

/* Where a column was found: a member and a column of it. */
typedef struct dataset_place {
    const dataset_entry *entry; /* NULL = nowhere */
    size_t column;
    bool of_x;        /* a column of X */
    const char *name; /* borrowed from d */
} dataset_place;
dataset_place dataset_find_column(const dataset *d, const char *name);

const dataset_entry *dataset_find(const dataset *d, const char *name);
la_view dataset_entry_view(const dataset_entry *e);

/* Number of elements of a shape; false on overflow of the byte count. */
bool dataset_shape_count(size_t *count, int rank, const size_t *dim,
                         size_t size);

/* ARG: "who: what is NULL". */
covar_status dataset_refuse(covar_context *ctx, const char *who,
                            const char *what);

/* "500x3" for a sentence; returns buf. */
const char *dataset_shape_text(char *buf, size_t size, la_view x);

/* Element at an offset counted in elements, as double, and back. */
static inline double dataset_get(la_view x, ptrdiff_t i)
{
    switch (x.dtype) {
    case LA_F64:
        return ((const double *)x.data)[i];
    case LA_F32:
        return (double)((const float *)x.data)[i];
    case LA_I32:
        return (double)((const int32_t *)x.data)[i];
    case LA_U8:
        break;
    }
    return (double)((const uint8_t *)x.data)[i];
}

static inline void dataset_put(la_view x, ptrdiff_t i, double value)
{
    if (x.dtype == LA_F64)
        ((double *)x.data)[i] = value;
    else
        ((float *)x.data)[i] = (float)value;
}

/* The whole file in one heap block of `size` + 1 bytes, the last one 0;
 * gunzipped if it was compressed. */
covar_status dataset_file_read(char **out, size_t *size, covar_context *ctx,
                               covar_heap *heap, const char *path);

/* A new name "path.PID.K.part" that no file has, on the heap. */
covar_status dataset_file_begin(char **out, covar_context *ctx,
                                covar_heap *heap, const char *path);

/* Forces `part` to disk and renames it to path; on `failed` or an error of its
 * own removes it. Frees the name. Returns status, or IO. */
covar_status dataset_file_end(covar_context *ctx, covar_heap *heap, char *part,
                              const char *path, covar_status status);

/* The readers: fill an empty data set. Content is modified. */
covar_status dataset_read_hdf5(covar_context *ctx, dataset *d);
covar_status dataset_read_csv(covar_context *ctx, dataset *d, char *content,
                              size_t size, const dataset_csv_options *options);
covar_status dataset_read_idx(covar_context *ctx, dataset *d,
                              const char *content, size_t size);
bool dataset_is_idx(const char *content, size_t size);

/* A cell of text without blanks around it: its value, NaN for the words that
 * mean missing; false if it is neither. */
bool dataset_number_parse(double *out, const char *text);

#endif
