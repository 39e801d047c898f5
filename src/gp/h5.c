/* Arrays and texts in an HDF5 file, written whole or not at all.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "h5.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT = 1 << 20 };

void gp_h5_fail(gp_h5 *f, covar_status status, const char *what)
{
    if (f->status == COVAR_OK)
        f->status = covar_fail(f->ctx, status, "%s: %s", f->path, what);
}

static void fail_member(gp_h5 *f, covar_status status, const char *name,
                        const char *what)
{
    char text[200];
    snprintf(text, sizeof(text), "member %.60s %s", name, what);
    gp_h5_fail(f, status, text);
}

/* path + ".tmp.PID" */
static void name_temporary(gp_h5 *f)
{
    size_t n = strlen(f->path) + 32;
    f->temporary = covar_heap_alloc(f->heap, n, 1);
    if (f->temporary)
        snprintf(f->temporary, n, "%s.tmp.%ld", f->path, (long)getpid());
    else
        gp_h5_fail(f, COVAR_ERR_NOMEM, "out of memory");
}

void gp_h5_open(gp_h5 *f, covar_context *ctx, const char *path, bool write)
{
    *f = (gp_h5){
        .ctx = ctx, .heap = covar_context_heap(ctx), .path = path, .file = -1};
    H5Eget_auto2(H5E_DEFAULT, &f->report, &f->report_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (write) {
        name_temporary(f);
        if (f->temporary)
            f->file = H5Fcreate(f->temporary, H5F_ACC_TRUNC, H5P_DEFAULT,
                                H5P_DEFAULT);
        if (f->file < 0)
            gp_h5_fail(f, COVAR_ERR_IO, "cannot be written");
        return;
    }
    if (access(path, R_OK) != 0)
        gp_h5_fail(f, COVAR_ERR_IO, "cannot be read");
    else if ((f->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)) < 0)
        gp_h5_fail(f, COVAR_ERR_FORMAT, "is not a whole HDF5 file");
}

covar_status gp_h5_close(gp_h5 *f)
{
    if (f->file >= 0 && H5Fclose(f->file) < 0)
        gp_h5_fail(f, COVAR_ERR_IO, "could not be closed");
    H5Eset_auto2(H5E_DEFAULT, f->report, f->report_data);
    if (f->temporary) {
        if (f->status == COVAR_OK && rename(f->temporary, f->path) != 0)
            gp_h5_fail(f, COVAR_ERR_IO, "cannot be renamed to");
        if (f->status != COVAR_OK)
            unlink(f->temporary);
        covar_heap_free(f->heap, f->temporary);
    }
    return f->status;
}

static hid_t memory_type(la_dtype t)
{
    switch (t) {
    case LA_F64:
        return H5T_NATIVE_DOUBLE;
    case LA_F32:
        return H5T_NATIVE_FLOAT;
    case LA_I32:
        return H5T_NATIVE_INT32;
    case LA_U8:
        return H5T_NATIVE_UINT8;
    }
    return -1;
}

void gp_h5_write(gp_h5 *f, const char *name, la_view x)
{
    if (f->status != COVAR_OK)
        return;
    hsize_t dim[LA_MAX_DIMS];
    for (int i = 0; i < x.rank; i++)
        dim[i] = x.dim[i];
    hid_t type = memory_type(x.dtype);
    hid_t space = H5Screate_simple(x.rank, dim, NULL);
    hid_t set = H5Dcreate2(f->file, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    if (set < 0 ||
        (la_view_count(x) > 0 &&
         H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data) < 0))
        fail_member(f, COVAR_ERR_IO, name, "could not be written");
    if (set >= 0 && H5Dclose(set) < 0)
        fail_member(f, COVAR_ERR_IO, name, "could not be written");
    if (space >= 0)
        H5Sclose(space);
}

void gp_h5_write_text(gp_h5 *f, const char *name, const char *text)
{
    gp_h5_write(f, name, la_vec_u8((const uint8_t *)text, strlen(text)));
}

bool gp_h5_dims(gp_h5 *f, const char *name, size_t dim[2])
{
    dim[0] = dim[1] = 0;
    if (f->status != COVAR_OK || H5Lexists(f->file, name, H5P_DEFAULT) <= 0)
        return false;
    hsize_t size[H5S_MAX_RANK] = {0};
    hid_t set = H5Dopen2(f->file, name, H5P_DEFAULT);
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    bool ok = (rank == 1 || rank == 2) &&
              H5Sget_simple_extent_dims(space, size, NULL) == rank;
    if (space >= 0)
        H5Sclose(space);
    if (set >= 0)
        H5Dclose(set);
    if (!ok) {
        fail_member(f, COVAR_ERR_FORMAT, name, "is not an array");
        return false;
    }
    dim[0] = (size_t)size[0];
    dim[1] = rank == 2 ? (size_t)size[1] : 0;
    return true;
}

void gp_h5_read(gp_h5 *f, const char *name, la_view out)
{
    size_t dim[2];
    if (f->status != COVAR_OK)
        return;
    if (!gp_h5_dims(f, name, dim)) {
        fail_member(f, COVAR_ERR_FORMAT, name, "is missing");
        return;
    }
    bool fits = dim[0] == out.dim[0] &&
                (out.rank == 1 ? dim[1] == 0 : dim[1] == out.dim[1]);
    if (!fits) {
        fail_member(f, COVAR_ERR_FORMAT, name, "has the wrong size");
        return;
    }
    hid_t set = H5Dopen2(f->file, name, H5P_DEFAULT);
    if (set < 0 ||
        (la_view_count(out) > 0 && H5Dread(set, memory_type(out.dtype), H5S_ALL,
                                           H5S_ALL, H5P_DEFAULT, out.data) < 0))
        fail_member(f, COVAR_ERR_FORMAT, name, "could not be read");
    if (set >= 0)
        H5Dclose(set);
}

char *gp_h5_read_text(gp_h5 *f, const char *name)
{
    size_t dim[2];
    if (!gp_h5_dims(f, name, dim) || dim[1] != 0 || dim[0] > MAX_TEXT) {
        fail_member(f, COVAR_ERR_FORMAT, name, "is not a text");
        return NULL;
    }
    char *text = covar_heap_calloc(f->heap, dim[0] + 1, 1);
    if (!text) {
        gp_h5_fail(f, COVAR_ERR_NOMEM, "out of memory");
        return NULL;
    }
    gp_h5_read(f, name, la_vec_u8((uint8_t *)text, dim[0]));
    if (f->status == COVAR_OK && strlen(text) == dim[0])
        return text;
    fail_member(f, COVAR_ERR_FORMAT, name, "is not a text");
    covar_heap_free(f->heap, text);
    return NULL;
}
