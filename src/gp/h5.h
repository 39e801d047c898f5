/* Private to src/gp: the little of HDF5 that a model file needs (h5.c).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file collects the first failure; later calls do nothing, so that a caller
 * writes or reads everything and checks once, at gp_h5_close. */
#ifndef COVAR_GP_H5_H
#define COVAR_GP_H5_H

#include <hdf5.h>

#include "gp_impl.h"

typedef struct gp_h5 {
    covar_context *ctx;
    covar_heap    *heap;
    const char    *path;
    char          *temporary; /* while writing */
    hid_t          file;
    covar_status   status;
    H5E_auto2_t    report; /* HDF5's own printing, put back at the end */
    void          *report_data;
} gp_h5;

/* Opens `path` for reading, or a temporary beside it for writing. */
void gp_h5_open(gp_h5 *f, covar_context *ctx, const char *path, bool write);

/* Closes; a written file takes its name only if all went well. */
covar_status gp_h5_close(gp_h5 *f);

/* Records a failure: "path: ...". */
void gp_h5_fail(gp_h5 *f, covar_status status, const char *what);

void gp_h5_write(gp_h5 *f, const char *name, la_view x); /* dense */
void gp_h5_write_text(gp_h5 *f, const char *name, const char *text);

/* Reads a dataset of exactly these dims into dense `out` and compares its
 * checksum. */
void gp_h5_read(gp_h5 *f, const char *name, la_view out);

/* Dims of a dataset: rank 1 or 2; false (no failure) if it is absent. */
bool gp_h5_dims(gp_h5 *f, const char *name, size_t dim[2]);

/* A text from the heap; NULL after a failure. */
char *gp_h5_read_text(gp_h5 *f, const char *name);

#endif
