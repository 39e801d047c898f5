/* Tells formats apart and calls their readers; bundled sets by name.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char hdf5_signature[8] = {'\x89', 'H',  'D',    'F',
                                       '\r',   '\n', '\x1a', '\n'};

/* Opens, looks, closes. HDF5 allows its signature at 0, 512, 1024, 2048 ... */
static covar_status look(bool *is_hdf5, covar_context *ctx, const char *path)
{
    struct stat s;
    *is_hdf5 = false;
    if (stat(path, &s) != 0)
        return covar_fail(ctx, COVAR_ERR_IO, "%s: cannot be opened: %s", path,
                          strerror(errno));
    if (S_ISFIFO(s.st_mode))
        return COVAR_OK;
    if (!S_ISREG(s.st_mode))
        return covar_fail(ctx, COVAR_ERR_IO, "%s: is not a file", path);
    FILE *f = fopen(path, "rb");
    if (!f)
        return covar_fail(ctx, COVAR_ERR_IO, "%s: cannot be opened: %s", path,
                          strerror(errno));
    char head[sizeof(hdf5_signature)];
    for (off_t at = 0; !*is_hdf5 && at < s.st_size; at = at ? 2 * at : 512) {
        if (fseeko(f, at, SEEK_SET) != 0 ||
            fread(head, sizeof(head), 1, f) != 1)
            break;
        *is_hdf5 = memcmp(head, hdf5_signature, sizeof(head)) == 0;
    }
    fclose(f);
    return COVAR_OK;
}

static covar_status read_content(covar_context *ctx, dataset *d, char *content,
                                 size_t size,
                                 const dataset_csv_options *options)
{
    if (!options && dataset_is_idx(content, size))
        return dataset_read_idx(ctx, d, content, size);
    if (size >= sizeof(hdf5_signature) &&
        memcmp(content, hdf5_signature, sizeof(hdf5_signature)) == 0)
        return covar_fail(ctx, COVAR_ERR_UNSUPPORTED,
                          "%s: HDF5 inside gzip or a pipe; unpack it first",
                          d->path);
    const dataset_csv_options detect = {0};
    return dataset_read_csv(ctx, d, content, size, options ? options : &detect);
}

/* Attribute `name` = the file's name without folders and extensions. */
static covar_status name_after_path(covar_context *ctx, dataset *d)
{
    if (dataset_attribute(d, "name"))
        return COVAR_OK;
    const char *slash = strrchr(d->path, '/');
    const char *start = slash ? slash + 1 : d->path;
    char name[128];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(start, "."), start);
    return dataset_set_attribute(ctx, d, "name", name[0] ? name : "data");
}

static covar_status load(dataset **out, covar_context *ctx, const char *path,
                         const dataset_csv_options *options)
{
    bool is_hdf5 = false;
    dataset *d = NULL;
    char *content = NULL;
    size_t size = 0;
    if (out)
        *out = NULL;
    if (!out || !ctx || !path)
        return dataset_refuse(ctx, "dataset_load",
                              !ctx  ? "ctx"
                              : out ? "path"
                                    : "out");
    COVAR_TRY(look(&is_hdf5, ctx, path));
    COVAR_TRY(dataset_create(&d, ctx, NULL));
    covar_heap_free(d->heap, d->path);
    d->path = covar_heap_strdup(d->heap, path);
    covar_status status = COVAR_OK;
    if (!d->path)
        status = covar_fail_nomem(ctx, "dataset_load");
    if (status == COVAR_OK && is_hdf5)
        status = options ? covar_fail(ctx, COVAR_ERR_FORMAT,
                                      "%s: is HDF5, not CSV", path)
                         : dataset_read_hdf5(ctx, d);
    else if (status == COVAR_OK) {
        status = dataset_file_read(&content, &size, ctx, d->heap, path);
        if (status == COVAR_OK)
            status = read_content(ctx, d, content, size, options);
        covar_heap_free(d->heap, content);
    }
    if (status == COVAR_OK)
        status = name_after_path(ctx, d);
    if (status == COVAR_OK)
        status = dataset_finish(ctx, d);
    if (status != COVAR_OK) {
        dataset_free(d);
        return status;
    }
    *out = d;
    return COVAR_OK;
}

covar_status dataset_load(dataset **out, covar_context *ctx, const char *path)
{
    return load(out, ctx, path, NULL);
}

covar_status dataset_load_csv(dataset **out, covar_context *ctx,
                              const char *path,
                              const dataset_csv_options *options)
{
    const dataset_csv_options detect = {0};
    return load(out, ctx, path, options ? options : &detect);
}

static const char *const bundled[] = {
    "airpassengers", "co2_monthly", "co2_weekly", "faithful", "lakehuron",
    "longley",       "lynx",        "mcycle",     "nile",     "sunspots_year",
};
static const size_t n_bundled = sizeof(bundled) / sizeof(bundled[0]);

const char *dataset_bundled_name(size_t i)
{
    return i < n_bundled ? bundled[i] : NULL;
}

covar_status dataset_load_bundled(dataset **out, covar_context *ctx,
                                  const char *name)
{
    char path[sizeof(COVAR_DATADIR) + 64];
    if (out)
        *out = NULL;
    if (!out || !ctx || !name)
        return dataset_refuse(ctx, "dataset_load_bundled",
                              !ctx  ? "ctx"
                              : out ? "name"
                                    : "out");
    for (size_t i = 0; i < n_bundled; i++) {
        if (strcmp(bundled[i], name) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s.h5", COVAR_DATADIR, name);
        return dataset_load(out, ctx, path);
    }
    char names[200] = "";
    for (size_t i = 0, used = 0; i < n_bundled && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                 i ? ", " : "", bundled[i]);
    return covar_fail(ctx, COVAR_ERR_NAME,
                      "dataset_load_bundled: there is no `%s`; there are %s",
                      name, names);
}
