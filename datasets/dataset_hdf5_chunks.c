/* Checks the chunks of an HDF5 dataset before libhdf5 unfolds them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libhdf5 1.10 copies as many bytes from an unfolded chunk as the chunk should
 * have, whatever came out of the filters. So every stored chunk is unfolded
 * once here, only to be counted. */
#include "config.h"

#include "dataset_hdf5.h"

#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

enum {
    FIRST_FOREIGN_FILTER = 256,
    MOST_FILTERS = 32,
    FLETCHER_BYTES = 4,
    WINDOW_BYTES = 1 << 15
};

/* The filters of a dataset, as far as they matter for sizes. */
typedef struct pipeline {
    uint32_t deflate, fletcher; /* bit of the filter, 0 = not there */
    bool countable; /* nothing but deflate, shuffle and fletcher32 */
} pipeline;

static covar_status refuse(const hdf5_chunks *c, const char *why)
{
    return covar_fail(c->r->ctx, COVAR_ERR_FORMAT, "%s: `%s` %s", c->r->d->path,
                      c->name, why);
}

static covar_status read_pipeline(pipeline *p, const hdf5_chunks *c)
{
    int filters = H5Pget_nfilters(c->plan);
    *p = (pipeline){.countable = true};
    if (filters < 0 || filters > MOST_FILTERS)
        return refuse(c, "has a damaged list of filters");
    for (int i = 0; i < filters; i++) {
        unsigned flags = 0, config = 0;
        size_t n_values = 0;
        H5Z_filter_t id = H5Pget_filter2(c->plan, (unsigned)i, &flags,
                                         &n_values, NULL, 0, NULL, &config);
        if (id < 0 || id >= FIRST_FOREIGN_FILTER || H5Zfilter_avail(id) <= 0)
            return covar_fail(c->r->ctx, COVAR_ERR_FORMAT,
                              "%s: `%s` is compressed by filter %d, which "
                              "this libhdf5 lacks",
                              c->r->d->path, c->name, (int)id);
        bool last = i == filters - 1;
        bool known = id == H5Z_FILTER_SHUFFLE ||
                     (id == H5Z_FILTER_DEFLATE && !p->deflate) ||
                     (id == H5Z_FILTER_FLETCHER32 && last);
        p->countable = p->countable && known;
        if (id == H5Z_FILTER_DEFLATE)
            p->deflate = UINT32_C(1) << i;
        if (id == H5Z_FILTER_FLETCHER32)
            p->fletcher = UINT32_C(1) << i;
    }
    return COVAR_OK;
}

#ifdef HAVE_ZLIB
/* Does the stream hold exactly `expected` bytes? */
static bool unfolds_to(uint8_t *bytes, size_t n, size_t expected)
{
    uint8_t window[WINDOW_BYTES];
    z_stream z;
    size_t total = 0;
    memset(&z, 0, sizeof(z));
    if (n > UINT32_MAX || inflateInit(&z) != Z_OK)
        return false;
    z.next_in = bytes;
    z.avail_in = (uInt)n;
    int code = Z_OK;
    while (code == Z_OK && total <= expected) {
        z.next_out = window;
        z.avail_out = sizeof(window);
        code = inflate(&z, Z_NO_FLUSH);
        total += sizeof(window) - z.avail_out;
    }
    inflateEnd(&z);
    return code == Z_STREAM_END && total == expected;
}
#else
static bool unfolds_to(uint8_t *bytes, size_t n, size_t expected)
{
    (void)bytes;
    (void)n;
    (void)expected;
    return true;
}
#endif

/* The chunk at `offset`; one that is not stored is all fill values. */
static covar_status check_one(const hdf5_chunks *c, const pipeline *p,
                              const hsize_t *offset, size_t expected)
{
    covar_heap *heap = c->r->d->heap;
    hsize_t stored = 0;
    uint32_t skipped = 0;
    if (H5Dget_chunk_storage_size(c->set, offset, &stored) < 0 || stored == 0)
        return COVAR_OK;
    if (stored > c->r->file_bytes)
        return refuse(c, "has a chunk that is larger than the file");
    uint8_t *bytes = covar_heap_alloc(heap, (size_t)stored, 1);
    if (!bytes)
        return covar_fail_nomem(c->r->ctx, "dataset_load");
    bool good =
        H5Dread_chunk(c->set, H5P_DEFAULT, offset, &skipped, bytes) >= 0;
    /* A filter whose bit is in `skipped` was of no use to this chunk. */
    size_t n = (size_t)stored;
    if (p->fletcher & ~skipped)
        n = n > FLETCHER_BYTES ? n - FLETCHER_BYTES : 0;
    if (p->deflate & ~skipped)
        good = good && unfolds_to(bytes, n, expected);
    else
        good = good && n == expected;
    covar_heap_free(heap, bytes);
    return good ? COVAR_OK : refuse(c, "has a damaged chunk");
}

covar_status hdf5_check_chunks(const hdf5_chunks *c)
{
    hsize_t chunk[H5S_MAX_RANK] = {0}, offset[LA_MAX_DIMS] = {0};
    double bytes = (double)c->element_bytes;
    pipeline p;
    if (H5Pget_chunk(c->plan, H5S_MAX_RANK, chunk) != c->rank)
        return refuse(c, "has chunks of another rank than its own");
    for (int i = 0; i < c->rank; i++) {
        if (chunk[i] == 0)
            return refuse(c, "has a chunk size of 0");
        if (c->dim[i] == 0)
            return COVAR_OK;
        bytes *= (double)chunk[i];
    }
    if (bytes > c->most_bytes)
        return refuse(c, "has chunks that are larger than its stored bytes "
                         "can fill");
    COVAR_TRY(read_pipeline(&p, c));
    if (!p.countable)
        return COVAR_OK;
    for (int k = 0; k >= 0;) {
        COVAR_TRY(check_one(c, &p, offset, (size_t)bytes));
        for (k = c->rank - 1; k >= 0; k--) {
            offset[k] += chunk[k];
            if (offset[k] < c->dim[k])
                break;
            offset[k] = 0;
        }
    }
    return COVAR_OK;
}
