/* Reads one dataset of an HDF5 file, after checking that it is what it says.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing is allocated before the declared size has been compared with the
 * bytes that are stored: deflate cannot shrink by more than 1032 : 1. */
#include "config.h"

#include "dataset_hdf5.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const double deflate_ratio = 1032.0, free_bytes = 1 << 20;

/* One dataset while it is read; ids are < 0 until opened. */
typedef struct member {
    hdf5_reader *r;
    const char *name;
    hid_t set, space, type, plan;
    bool wide; /* integers that may not fit i32 */
    size_t file_size;
    la_dtype dtype;
    int rank;
    size_t dim[LA_MAX_DIMS];
    size_t count;
} member;

static covar_status refuse(const member *m, const char *why)
{
    return covar_fail(m->r->ctx, COVAR_ERR_FORMAT, "%s: `%s` %s", m->r->d->path,
                      m->name, why);
}

static covar_status broken(const member *m, const char *what)
{
    return hdf5_fail(m->r->ctx, m->r->d->path, m->name, COVAR_ERR_FORMAT, what);
}

static covar_status choose_dtype(member *m)
{
    H5T_class_t class = H5Tget_class(m->type);
    m->file_size = H5Tget_size(m->type);
    if (class == H5T_FLOAT && m->file_size <= 16) {
        m->dtype = m->file_size <= 4 ? LA_F32 : LA_F64;
        return COVAR_OK;
    }
    if ((class == H5T_INTEGER || class == H5T_ENUM) && m->file_size <= 8) {
        bool is_unsigned =
            class == H5T_INTEGER && H5Tget_sign(m->type) == H5T_SGN_NONE;
        m->dtype = is_unsigned && m->file_size == 1 ? LA_U8 : LA_I32;
        m->wide = m->file_size > 4 || (is_unsigned && m->file_size > 2);
        return COVAR_OK;
    }
    return refuse(m, "holds neither floats nor integers of at most 64 bits");
}

static covar_status read_shape(member *m)
{
    hsize_t dim[H5S_MAX_RANK] = {0};
    H5S_class_t class = H5Sget_simple_extent_type(m->space);
    m->rank = H5Sget_simple_extent_ndims(m->space);
    if (m->rank < 0 || (class != H5S_SIMPLE && class != H5S_SCALAR))
        return broken(m, "has no dims");
    if (m->rank > LA_MAX_DIMS)
        return covar_fail(m->r->ctx, COVAR_ERR_FORMAT,
                          "%s: `%s` has %d dims, more than %d", m->r->d->path,
                          m->name, m->rank, LA_MAX_DIMS);
    if (H5Sget_simple_extent_dims(m->space, dim, NULL) < 0)
        return broken(m, "has no dims");
    for (int i = 0; i < m->rank; i++) {
        m->dim[i] = (size_t)dim[i];
        if (m->dim[i] != dim[i] || dim[i] > (hsize_t)PTRDIFF_MAX)
            return refuse(m, "has too large a dim");
    }
    if (!dataset_shape_count(&m->count, m->rank, m->dim, sizeof(int64_t)))
        return refuse(m, "has more elements than memory can hold");
    return COVAR_OK;
}

static covar_status check_storage(member *m)
{
    H5D_layout_t layout = H5Pget_layout(m->plan);
    double stored = (double)H5Dget_storage_size(m->set);
    double declared = (double)m->count * (double)m->file_size;
    if (layout == H5D_VIRTUAL ||
        (layout == H5D_CONTIGUOUS && H5Pget_external_count(m->plan) > 0))
        return refuse(m, "keeps its data in other files; these are not read");
    if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED &&
        layout != H5D_COMPACT)
        return broken(m, "has an unknown layout");
    if (stored > (double)m->r->file_bytes)
        stored = (double)m->r->file_bytes;
    double most = layout == H5D_CHUNKED ? deflate_ratio * stored : stored;
    most += free_bytes;
    double taken = (double)m->count * (m->wide ? 12.0 : 8.0);
    if (declared > most || taken > m->r->budget)
        return covar_fail(m->r->ctx, COVAR_ERR_FORMAT,
                          "%s: `%s` declares %.6g bytes, but the %.6g bytes "
                          "stored cannot hold that many",
                          m->r->d->path, m->name, declared, stored);
    m->r->budget -= taken;
    if (layout != H5D_CHUNKED)
        return COVAR_OK;
    hdf5_chunks c = {.r = m->r,
                     .name = m->name,
                     .set = m->set,
                     .plan = m->plan,
                     .rank = m->rank,
                     .dim = m->dim,
                     .element_bytes = m->file_size,
                     .most_bytes = most};
    return hdf5_check_chunks(&c);
}

/* Wide integers go through int64: i32 if all fit, else f64 if exact. */
static covar_status narrow(member *m, void **data, const int64_t *wide)
{
    const int64_t most_exact = INT64_C(1) << 53;
    covar_heap *heap = m->r->d->heap;
    bool small = true;
    for (size_t i = 0; i < m->count; i++) {
        if (wide[i] > most_exact || wide[i] < -most_exact)
            return covar_fail(m->r->ctx, COVAR_ERR_FORMAT,
                              "%s: `%s` holds an integer beyond 2^53 "
                              "(element %zu)",
                              m->r->d->path, m->name, i);
        small = small && wide[i] >= INT32_MIN && wide[i] <= INT32_MAX;
    }
    m->dtype = small ? LA_I32 : LA_F64;
    *data = covar_heap_alloc(heap, m->count, la_dtype_size(m->dtype));
    if (!*data)
        return covar_fail_nomem(m->r->ctx, "dataset_load");
    for (size_t i = 0; i < m->count; i++) {
        if (small)
            ((int32_t *)*data)[i] = (int32_t)wide[i];
        else
            ((double *)*data)[i] = (double)wide[i];
    }
    return COVAR_OK;
}

static hid_t memory_type(const member *m)
{
    if (m->wide)
        return H5T_NATIVE_INT64;
    switch (m->dtype) {
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

static covar_status read_elements(member *m)
{
    covar_heap *heap = m->r->d->heap;
    size_t size = m->wide ? sizeof(int64_t) : la_dtype_size(m->dtype);
    void *data = covar_heap_alloc(heap, m->count, size);
    covar_status status = COVAR_OK;
    if (!data)
        return covar_fail_nomem(m->r->ctx, "dataset_load");
    if (m->count > 0 && H5Dread(m->set, memory_type(m), H5S_ALL, H5S_ALL,
                                H5P_DEFAULT, data) < 0)
        status = broken(m, "cannot be read");
    if (status == COVAR_OK && m->wide) {
        void *wide = data;
        status = narrow(m, &data, wide);
        covar_heap_free(heap, wide);
        if (status != COVAR_OK)
            return status;
    }
    if (status != COVAR_OK) {
        covar_heap_free(heap, data);
        return status;
    }
    return dataset_adopt(m->r->ctx, m->r->d, m->name, m->dtype, m->rank, m->dim,
                         data);
}

static covar_status read_opened(member *m)
{
    m->set = H5Dopen2(m->r->file, m->name, H5P_DEFAULT);
    if (m->set < 0)
        return broken(m, "cannot be opened");
    m->space = H5Dget_space(m->set);
    m->type = H5Dget_type(m->set);
    m->plan = H5Dget_create_plist(m->set);
    if (m->space < 0 || m->type < 0 || m->plan < 0)
        return broken(m, "cannot be opened");
    COVAR_TRY(choose_dtype(m));
    COVAR_TRY(read_shape(m));
    COVAR_TRY(check_storage(m));
    return read_elements(m);
}

covar_status hdf5_read_member(hdf5_reader *r, const char *path_name)
{
    member m = {.r = r,
                .name = path_name,
                .set = -1,
                .space = -1,
                .type = -1,
                .plan = -1};
    covar_status status = read_opened(&m);
    if (m.plan >= 0)
        H5Pclose(m.plan);
    if (m.type >= 0)
        H5Tclose(m.type);
    if (m.space >= 0)
        H5Sclose(m.space);
    if (m.set >= 0)
        H5Dclose(m.set);
    return status;
}
