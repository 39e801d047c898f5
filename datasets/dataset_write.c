/* Writes a data set as HDF5.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNKED_FROM = 1 << 16, /* bytes; below, chunks would cost more */
    CHUNK_BYTES = 1 << 18,
    DEFLATE_LEVEL = 6
};

typedef struct writer {
    covar_context *ctx;
    const dataset *d;
    const char *path; /* the final one, for sentences */
    const char *part; /* the file that is written */
    hid_t file;
} writer;

static covar_status broken(const writer *w, const char *name)
{
    return hdf5_fail(w->ctx, w->path, name, COVAR_ERR_IO, "cannot be written");
}

/* What has not reached a full disk can not be closed either, and libhdf5 would
 * try again, and crash, when the program ends. So nothing is begun without room
 * for the descriptions of members, and a file that fails gives back its space
 * before anything of it is closed: what is left to write then fits. */
static covar_status check_room(const writer *w)
{
    enum { FILE_BYTES = 1 << 16, MEMBER_BYTES = 1 << 11 };
    const size_t entries = w->d->n_entry + w->d->n_note;
    int file = open(w->part, O_WRONLY);
    int fault =
        file < 0 ? errno
                 : posix_fallocate(
                       file, 0, (off_t)(FILE_BYTES + entries * MEMBER_BYTES));
    if (file >= 0)
        close(file);
    if (fault == 0)
        return COVAR_OK;
    return covar_fail(w->ctx, COVAR_ERR_IO, "%s: cannot be written: %s",
                      w->path, strerror(fault));
}

static void make_room(const writer *w)
{
    if (truncate(w->part, 0) != 0)
        return; /* closing may fail; the failure itself is reported already */
}

static hid_t element_type(la_dtype dtype)
{
    switch (dtype) {
    case LA_F64:
        return H5T_NATIVE_DOUBLE;
    case LA_F32:
        return H5T_NATIVE_FLOAT;
    case LA_I32:
        return H5T_NATIVE_INT32;
    case LA_U8:
        break;
    }
    return H5T_NATIVE_UINT8;
}

/* No times in the file; large members in chunks of whole rows. */
static hid_t make_plan(const dataset_entry *e, size_t count)
{
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    size_t size = la_dtype_size(e->dtype), row = size;
    if (plan < 0 || H5Pset_obj_track_times(plan, false) < 0)
        return plan;
    if (e->rank == 0 || count < CHUNKED_FROM / size)
        return plan;
    hsize_t chunk[LA_MAX_DIMS];
    for (int i = 1; i < e->rank; i++) {
        chunk[i] = e->dim[i];
        row *= e->dim[i];
    }
    size_t rows = CHUNK_BYTES / row;
    chunk[0] = rows < 1 ? 1 : rows > e->dim[0] ? e->dim[0] : rows;
    /* libhdf5 takes no chunk of 4 GiB: such rows stay contiguous. */
    if (row < UINT32_MAX / 2) {
        H5Pset_chunk(plan, e->rank, chunk);
        H5Pset_shuffle(plan);
        H5Pset_deflate(plan, DEFLATE_LEVEL);
    }
    return plan;
}

static bool write_elements(const writer *w, const dataset_entry *e)
{
    hsize_t dim[LA_MAX_DIMS] = {0};
    size_t count = 1;
    for (int i = 0; i < e->rank; i++) {
        dim[i] = e->dim[i];
        count *= e->dim[i];
    }
    hid_t type = element_type(e->dtype);
    hid_t plan = make_plan(e, count);
    hid_t space = e->rank > 0 ? H5Screate_simple(e->rank, dim, NULL)
                              : H5Screate(H5S_SCALAR);
    hid_t set = H5Dcreate2(w->file, e->name, type, space, H5P_DEFAULT, plan,
                           H5P_DEFAULT);
    bool good =
        set >= 0 && (count == 0 || (H5Dwrite(set, type, H5S_ALL, H5S_ALL,
                                             H5P_DEFAULT, e->data) >= 0 &&
                                    H5Dflush(set) >= 0));
    if (!good)
        make_room(w);
    good = set >= 0 && H5Dclose(set) >= 0 && good;
    if (space >= 0)
        H5Sclose(space);
    if (plan >= 0)
        H5Pclose(plan);
    return good;
}

/* The group of "group/member", without the time at which it was made. */
static bool make_group(const writer *w, const char *member)
{
    char name[256];
    const char *slash = strchr(member, '/');
    size_t n = slash ? (size_t)(slash - member) : 0;
    if (!slash || n >= sizeof(name))
        return !slash;
    memcpy(name, member, n);
    name[n] = '\0';
    if (H5Lexists(w->file, name, H5P_DEFAULT) > 0)
        return true;
    hid_t plan = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(plan, false);
    hid_t group = H5Gcreate2(w->file, name, H5P_DEFAULT, plan, H5P_DEFAULT);
    H5Pclose(plan);
    return group >= 0 && H5Gclose(group) >= 0;
}

static covar_status write_members(const writer *w)
{
    covar_status status = COVAR_OK;
    for (size_t i = 0; status == COVAR_OK && i < w->d->n_entry; i++) {
        const dataset_entry *e = &w->d->entry[i];
        if (!make_group(w, e->name) || !write_elements(w, e))
            status = broken(w, e->name);
    }
    return status;
}

/* A string of fixed length, padded by zeros (at least one: there is no empty
 * string type). */
static bool write_note(const writer *w, hid_t root, const dataset_note *n)
{
    size_t length = strlen(n->text);
    hid_t type = H5Tcopy(n->is_number ? H5T_NATIVE_DOUBLE : H5T_C_S1);
    hid_t space = H5Screate(H5S_SCALAR);
    bool good = type >= 0 && space >= 0;
    if (!n->is_number)
        good = good && H5Tset_size(type, length > 0 ? length : 1) >= 0 &&
               H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0;
    hid_t a =
        good ? H5Acreate2(root, n->name, type, space, H5P_DEFAULT, H5P_DEFAULT)
             : -1;
    const void *value =
        n->is_number ? (const void *)&n->value : (const void *)n->text;
    good = a >= 0 && H5Awrite(a, type, value) >= 0;
    good = a >= 0 && H5Aclose(a) >= 0 && good;
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    (void)w;
    return good;
}

static covar_status write_notes(const writer *w)
{
    covar_status status = COVAR_OK;
    hid_t root = H5Gopen2(w->file, "/", H5P_DEFAULT);
    if (root < 0)
        return broken(w, "/");
    for (size_t i = 0; status == COVAR_OK && i < w->d->n_note; i++)
        if (!write_note(w, root, &w->d->note[i]))
            status = broken(w, w->d->note[i].name);
    H5Gclose(root);
    return status;
}

static covar_status write_file(writer *w)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    covar_status status = check_room(w);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    /* From this version on, descriptions in the file carry checksums. */
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
    H5Pset_obj_track_times(creation, false);
    if (status == COVAR_OK)
        w->file = H5Fcreate(w->part, H5F_ACC_TRUNC, creation, access);
    if (status == COVAR_OK && w->file < 0)
        status = broken(w, NULL);
    if (status == COVAR_OK)
        status = write_members(w);
    if (status == COVAR_OK)
        status = write_notes(w);
    if (status == COVAR_OK && H5Fflush(w->file, H5F_SCOPE_GLOBAL) < 0)
        status = broken(w, NULL);
    if (status != COVAR_OK && w->file >= 0)
        make_room(w);
    if (w->file >= 0 && H5Fclose(w->file) < 0 && status == COVAR_OK)
        status = broken(w, NULL);
    H5Pclose(creation);
    H5Pclose(access);
    return status;
}

covar_status dataset_save(covar_context *ctx, const dataset *d,
                          const char *path)
{
    char *part = NULL;
    if (!ctx || !d || !path)
        return dataset_refuse(ctx, "dataset_save",
                              !ctx ? "ctx"
                              : d  ? "path"
                                   : "d");
    writer w = {.ctx = ctx, .d = d, .path = path, .file = -1};
    COVAR_TRY(dataset_file_begin(&part, ctx, d->heap, path));
    w.part = part;
    hdf5_quiet quiet = hdf5_quiet_begin();
    covar_status status = write_file(&w);
    hdf5_quiet_end(quiet);
    return dataset_file_end(ctx, d->heap, part, path, status);
}
