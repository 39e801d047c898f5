/* Reads an HDF5 file: walks its root and the groups in it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Only hard links are followed, and groups only from the root, so that cycles
 * and ways out of the file cannot be met. */
#include "config.h"

#include "dataset_hdf5.h"

#include <stdio.h>
#include <string.h>

enum { MOST_MEMBERS = 10000, NAME_BYTES = 256 };

hdf5_quiet hdf5_quiet_begin(void)
{
    hdf5_quiet q = {0};
    H5Eget_auto2(H5E_DEFAULT, &q.print, &q.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return q;
}

void hdf5_quiet_end(hdf5_quiet q)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, q.print, q.data);
}

typedef struct reason {
    char text[200];
} reason;

/* The innermost entry of the error stack says what really happened. */
static herr_t take_first(unsigned n, const H5E_error2_t *e, void *data)
{
    reason *r = data;
    if (n == 0 && e->desc)
        snprintf(r->text, sizeof(r->text), ": %s", e->desc);
    return 0;
}

covar_status hdf5_fail(covar_context *ctx, const char *path, const char *name,
                       covar_status status, const char *what)
{
    reason r = {{0}};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &r);
    if (name)
        return covar_fail(ctx, status, "%s: `%s` %s%s", path, name, what,
                          r.text);
    return covar_fail(ctx, status, "%s: %s%s", path, what, r.text);
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info,
                    void *data);

static covar_status read_group(hdf5_reader *r, const char *name)
{
    char prefix[NAME_BYTES + 1];
    if (r->group[0] != '\0')
        return covar_fail(r->ctx, COVAR_ERR_FORMAT,
                          "%s: `%s` is a group inside a group; these are not "
                          "read",
                          r->d->path, name);
    hid_t group = H5Gopen2(r->file, name, H5P_DEFAULT);
    if (group < 0)
        return hdf5_fail(r->ctx, r->d->path, name, COVAR_ERR_FORMAT,
                         "cannot be opened");
    snprintf(prefix, sizeof(prefix), "%s/", name);
    r->group = prefix;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, r) < 0 &&
        r->status == COVAR_OK)
        r->status = hdf5_fail(r->ctx, r->d->path, name, COVAR_ERR_FORMAT,
                              "cannot be listed");
    r->group = "";
    H5Gclose(group);
    return r->status;
}

static covar_status read_object(hdf5_reader *r, const char *name)
{
    hid_t object = H5Oopen(r->file, name, H5P_DEFAULT);
    if (object < 0)
        return hdf5_fail(r->ctx, r->d->path, name, COVAR_ERR_FORMAT,
                         "cannot be opened");
    H5I_type_t type = H5Iget_type(object);
    H5Oclose(object);
    if (type == H5I_GROUP)
        return read_group(r, name);
    if (type == H5I_DATASET)
        return hdf5_read_member(r, name);
    return COVAR_OK; /* a named type says nothing about the data */
}

static covar_status visit_link(hdf5_reader *r, const char *link,
                               const H5L_info_t *info)
{
    char name[NAME_BYTES];
    const char *path = r->d->path;
    int n = snprintf(name, sizeof(name), "%s%s", r->group, link);
    if (n < 0 || (size_t)n >= sizeof(name) || link[0] == '\0')
        return covar_fail(r->ctx, COVAR_ERR_FORMAT,
                          "%s: `%.40s...` is too long a name", path, link);
    if (info->type == H5L_TYPE_EXTERNAL)
        return covar_fail(r->ctx, COVAR_ERR_FORMAT,
                          "%s: `%s` is a link into another file; these are "
                          "not followed",
                          path, name);
    if (info->type != H5L_TYPE_HARD)
        return covar_fail(r->ctx, COVAR_ERR_FORMAT,
                          "%s: `%s` is a soft link; these are not followed",
                          path, name);
    if (r->d->n_entry >= MOST_MEMBERS)
        return covar_fail(r->ctx, COVAR_ERR_FORMAT, "%s: more than %d members",
                          path, MOST_MEMBERS);
    return read_object(r, name);
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info,
                    void *data)
{
    hdf5_reader *r = data;
    (void)group;
    r->status = visit_link(r, name, info);
    return r->status == COVAR_OK ? 0 : -1;
}

static covar_status read_file(hdf5_reader *r)
{
    const char *path = r->d->path;
    if (H5Fget_filesize(r->file, &r->file_bytes) < 0)
        return hdf5_fail(r->ctx, path, NULL, COVAR_ERR_FORMAT,
                         "cannot be measured");
    r->budget = 1032.0 * (double)r->file_bytes + 16.0 * (1 << 20);
    if (H5Literate(r->file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, r) < 0 &&
        r->status == COVAR_OK)
        return hdf5_fail(r->ctx, path, NULL, COVAR_ERR_FORMAT,
                         "cannot be listed");
    COVAR_TRY(r->status);
    return hdf5_read_attributes(r);
}

covar_status dataset_read_hdf5(covar_context *ctx, dataset *d)
{
    hdf5_reader r = {.ctx = ctx, .d = d, .group = "", .status = COVAR_OK};
    hdf5_quiet quiet = hdf5_quiet_begin();
    covar_status status = COVAR_OK;
    /* Closing the file closes whatever is still open in it. */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    d->format = "HDF5";
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    r.file = H5Fopen(d->path, H5F_ACC_RDONLY, access);
    if (r.file < 0)
        status = hdf5_fail(ctx, d->path, NULL, COVAR_ERR_FORMAT,
                           "is not readable as HDF5");
    else {
        status = read_file(&r);
        H5Fclose(r.file);
    }
    H5Pclose(access);
    hdf5_quiet_end(quiet);
    return status;
}
