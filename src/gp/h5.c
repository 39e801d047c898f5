/* Arrays and texts in an HDF5 file, written whole or not at all.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every member carries an attribute `checksum` over its name, dims and numbers;
 * libhdf5 keeps checksums of what describes them (format of version 1.10). So
 * a file that is read is the file that was written. */
#include "config.h"

#include "h5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TEXT = 1 << 20 };

void gp_h5_fail(gp_h5 *f, covar_status status, const char *what)
{
    if (f->status == COVAR_OK)
        f->status = covar_fail(f->ctx, status, "%.500s: %s", f->path, what);
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

/* Why nothing can be at this path, or NULL. */
static const char *path_fault(const char *path, bool write)
{
    struct stat s;
    if (path[0] == '\0')
        return "a file name is needed";
    if (stat(path, &s) != 0)
        return write && errno == ENOENT ? NULL : strerror(errno);
    if (S_ISDIR(s.st_mode))
        return "is a folder";
    if (!S_ISREG(s.st_mode))
        return "is not a file";
    return !write && access(path, R_OK) != 0 ? strerror(errno) : NULL;
}

/* What has not reached a full disk can not be closed either, and libhdf5 would
 * try again, and crash, when the program ends. So nothing is begun without room
 * for the descriptions of members, and a file that fails gives back its space
 * before it is closed: what is left to write then fits. */
static bool check_room(gp_h5 *f)
{
    enum { DESCRIPTION_BYTES = 1 << 16 };
    int file = open(f->temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int fault = file < 0 ? errno : posix_fallocate(file, 0, DESCRIPTION_BYTES);
    if (file >= 0)
        close(file);
    if (fault != 0)
        gp_h5_fail(f, COVAR_ERR_IO, strerror(fault));
    return fault == 0;
}

static void make_room(const gp_h5 *f)
{
    if (truncate(f->temporary, 0) != 0)
        return; /* closing may fail; the failure itself is reported already */
}

static void create(gp_h5 *f)
{
    name_temporary(f);
    if (!f->temporary)
        return;
    if (!check_room(f))
        return;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
    f->file = H5Fcreate(f->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (f->file < 0)
        gp_h5_fail(f, COVAR_ERR_IO, "cannot be written");
}

void gp_h5_open(gp_h5 *f, covar_context *ctx, const char *path, bool write)
{
    *f = (gp_h5){
        .ctx = ctx, .heap = covar_context_heap(ctx), .path = path, .file = -1};
    H5Eget_auto2(H5E_DEFAULT, &f->report, &f->report_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const char *fault = path_fault(path, write);
    if (fault && path[0] == '\0')
        f->status = covar_fail(ctx, COVAR_ERR_IO, "%s: %s",
                               write ? "gp_save" : "gp_load", fault);
    else if (fault)
        gp_h5_fail(f, COVAR_ERR_IO, fault);
    else if (write)
        create(f);
    else if ((f->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)) < 0)
        gp_h5_fail(f, COVAR_ERR_FORMAT,
                   "is no saved model (not a whole HDF5 file)");
}

static void close_written(gp_h5 *f)
{
    if (f->status == COVAR_OK && H5Fflush(f->file, H5F_SCOPE_GLOBAL) < 0)
        gp_h5_fail(f, COVAR_ERR_IO, "could not be written to the end");
    if (f->status != COVAR_OK)
        make_room(f);
    if (H5Fclose(f->file) < 0)
        gp_h5_fail(f, COVAR_ERR_IO, "could not be closed");
}

covar_status gp_h5_close(gp_h5 *f)
{
    if (f->file >= 0 && f->temporary)
        close_written(f);
    else if (f->file >= 0 && H5Fclose(f->file) < 0)
        gp_h5_fail(f, COVAR_ERR_IO, "could not be closed");
    H5Eset_auto2(H5E_DEFAULT, f->report, f->report_data);
    if (f->temporary) {
        if (f->status == COVAR_OK && rename(f->temporary, f->path) != 0)
            gp_h5_fail(f, COVAR_ERR_IO, strerror(errno));
        if (f->status != COVAR_OK)
            unlink(f->temporary);
        covar_heap_free(f->heap, f->temporary);
    }
    return f->status;
}

/* ---- Checksums ---------------------------------------------------------- */

/* Element i of a dense array as a word of bits. */
static uint64_t bits_of(la_view x, size_t i)
{
    uint64_t wide = 0;
    uint32_t half = 0;
    switch (x.dtype) {
    case LA_F64:
        memcpy(&wide, (const double *)x.data + i, sizeof(wide));
        return wide;
    case LA_F32:
        memcpy(&half, (const float *)x.data + i, sizeof(half));
        return half;
    case LA_I32:
        return (uint32_t)((const int32_t *)x.data)[i];
    case LA_U8:
        break;
    }
    return ((const uint8_t *)x.data)[i];
}

/* FNV-1a over 64-bit words: each step is one-to-one in the state and in the
 * word, so a change of one number always shows. */
static uint64_t checksum(const char *name, la_view x)
{
    const uint64_t prime = 0x100000001b3;
    uint64_t sum = 0xcbf29ce484222325;
    for (; *name; name++)
        sum = (sum ^ (uint8_t)*name) * prime;
    sum = (sum ^ (uint64_t)x.rank) * prime;
    for (int k = 0; k < x.rank; k++)
        sum = (sum ^ x.dim[k]) * prime;
    size_t count = la_view_count(x);
    for (size_t i = 0; i < count; i++) {
        sum = (sum ^ bits_of(x, i)) * prime;
        sum ^= sum >> 32; /* high bits would never come down */
    }
    return sum;
}

static bool write_checksum(hid_t set, uint64_t sum)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t a = H5Acreate2(set, "checksum", H5T_STD_U64LE, space, H5P_DEFAULT,
                         H5P_DEFAULT);
    bool good = a >= 0 && H5Awrite(a, H5T_NATIVE_UINT64, &sum) >= 0;
    good = a >= 0 && H5Aclose(a) >= 0 && good;
    if (space >= 0)
        H5Sclose(space);
    return good;
}

/* The one that is stored; false: there is none. */
static bool read_checksum(hid_t set, uint64_t *sum)
{
    hid_t a = H5Aopen(set, "checksum", H5P_DEFAULT);
    hid_t space = a >= 0 ? H5Aget_space(a) : -1;
    bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(a, H5T_NATIVE_UINT64, sum) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (a >= 0)
        H5Aclose(a);
    return good;
}

/* ---- Members ------------------------------------------------------------ */

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
    if (set < 0 || !write_checksum(set, checksum(name, x)) ||
        (la_view_count(x) > 0 &&
         H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data) < 0))
        fail_member(f, COVAR_ERR_IO, name, "could not be written");
    if (f->status != COVAR_OK)
        make_room(f);
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

static void verify(gp_h5 *f, hid_t set, const char *name, la_view x)
{
    char text[200];
    uint64_t stored = 0, found = checksum(name, x);
    bool there = read_checksum(set, &stored);
    if (there && stored == found)
        return;
    if (there)
        snprintf(text, sizeof(text),
                 "the numbers of '%.60s' do not match their checksum", name);
    else
        snprintf(text, sizeof(text), "'%.60s' has no checksum", name);
    gp_h5_fail(f, COVAR_ERR_FORMAT, text);
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
    else
        verify(f, set, name, out);
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
