/* Makes HDF5 files to read, by libhdf5's own calls.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DATASETS_HDF5_UTIL_H
#define DATASETS_HDF5_UTIL_H

#include "datasets_util.h"

#include <hdf5.h>

typedef struct made_file {
    temp_path path;
    hid_t file;
    hid_t plan; /* of the next members */
} made_file;

static inline made_file made_begin(const char *name)
{
    made_file f = {.path = temp_name(name), .plan = H5P_DEFAULT};
    f.file = H5Fcreate(f.path.text, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    test_check(f.file >= 0, __FILE__, __LINE__, "cannot make %s", f.path.text);
    return f;
}

/* A member of file type `type` from memory of type `memory`; value NULL
 * leaves it unwritten. */
static inline void made_as(const made_file *f, const char *name, hid_t type,
                           hid_t memory, int rank, const hsize_t *dim,
                           const void *value)
{
    hid_t link = H5Pcreate(H5P_LINK_CREATE);
    hid_t space =
        rank > 0 ? H5Screate_simple(rank, dim, NULL) : H5Screate(H5S_SCALAR);
    H5Pset_create_intermediate_group(link, 1);
    hid_t set =
        H5Dcreate2(f->file, name, type, space, link, f->plan, H5P_DEFAULT);
    bool good = set >= 0 && (!value || H5Dwrite(set, memory, H5S_ALL, H5S_ALL,
                                                H5P_DEFAULT, value) >= 0);
    test_check(good, __FILE__, __LINE__, "cannot make member %s", name);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(link);
}

/* From doubles, and from memory of the same type. */
static inline void made_member(const made_file *f, const char *name, hid_t type,
                               int rank, const hsize_t *dim,
                               const double *value)
{
    made_as(f, name, type, H5T_NATIVE_DOUBLE, rank, dim, value);
}

static inline void made_raw(const made_file *f, const char *name, hid_t type,
                            int rank, const hsize_t *dim, const void *value)
{
    made_as(f, name, type, type, rank, dim, value);
}

static inline void made_end(made_file *f)
{
    H5Fclose(f->file);
    f->file = -1;
}

/* Closes, loads and removes the file. */
static inline covar_status made_load(dataset **out, covar_context *ctx,
                                     made_file *f)
{
    made_end(f);
    covar_status status = dataset_load(out, ctx, f->path.text);
    remove(f->path.text);
    return status;
}

#endif
