/* Private: what the HDF5 reader and writer share.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DATASET_HDF5_H
#define DATASET_HDF5_H

#include "dataset_impl.h"

#include <hdf5.h>

/* libhdf5 prints its errors unless told not to: quiet between the two. */
typedef struct hdf5_quiet {
    H5E_auto2_t print;
    void *data;
} hdf5_quiet;
hdf5_quiet hdf5_quiet_begin(void);
void hdf5_quiet_end(hdf5_quiet q);

/* Fails with "path: `name`: what: libhdf5's reason"; name may be NULL. */
covar_status hdf5_fail(covar_context *ctx, const char *path, const char *name,
                       covar_status status, const char *what);

/* One file being read. Budgets count bytes of memory. */
typedef struct hdf5_reader {
    covar_context *ctx;
    dataset *d;
    hid_t file;
    hsize_t file_bytes;
    double budget;     /* what all members may still take */
    const char *group; /* "" or "name/" while its links are walked */
    covar_status status;
} hdf5_reader;

/* Reads dataset `path_name` ("g/m") into a member of that name. */
covar_status hdf5_read_member(hdf5_reader *r, const char *path_name);

/* What is known of a chunked dataset before it is read. */
typedef struct hdf5_chunks {
    hdf5_reader *r;
    const char *name;
    hid_t set, plan;
    int rank;
    const size_t *dim;
    size_t element_bytes;
    double most_bytes; /* that a chunk may have */
} hdf5_chunks;

/* Are the filters known, and does every chunk that is stored unfold to the
 * size it should have? libhdf5 would read past the end of one that does not. */
covar_status hdf5_check_chunks(const hdf5_chunks *c);

/* Reads the attributes of the root that are texts or numbers. */
covar_status hdf5_read_attributes(hdf5_reader *r);

#endif
