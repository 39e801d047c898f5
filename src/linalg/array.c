/* Arrays: counted owners of elements on one device.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An array keeps the heap of the context it was made under alive, not the
 * context. The count is atomic: shares may be given up on any thread. */
#include <config.h>

#include "linalg/check.h"

#include <stdatomic.h>

struct la_array {
    atomic_size_t count;
    covar_heap *heap;
    const la_device *device;
    la_view view;
};

/* Bytes of a dense array, or false when size_t cannot hold them. */
static bool count_bytes(size_t *bytes, la_dtype dtype, int rank,
                        const size_t *dim)
{
    size_t total = la_dtype_size(dtype);
    bool empty = false;
    for (int k = 0; k < rank; k++)
        empty = empty || dim[k] == 0;
    for (int k = 0; !empty && k < rank; k++) {
        if (dim[k] > PTRDIFF_MAX / total)
            return false;
        total *= dim[k];
    }
    *bytes = empty ? 0 : total;
    return true;
}

/* A dense array with elements unset. */
static covar_status create(la_array **out, const la_exec *exec, la_dtype dtype,
                           int rank, const size_t *dim)
{
    static const char who[] = "la_array_create";
    if (out)
        *out = NULL;
    COVAR_TRY(la_check_exec(exec));
    if (!out || (rank > 0 && !dim))
        return covar_fail(exec->ctx, COVAR_ERR_ARG, "%s: %s is NULL", who,
                          out ? "dim" : "out");
    if (la_dtype_size(dtype) == 0)
        return covar_fail(exec->ctx, COVAR_ERR_DTYPE,
                          "%s: there is no dtype %d", who, (int)dtype);
    if (rank < 0 || rank > LA_MAX_DIMS)
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "la_array_create: rank %d is not in 0..%d", rank,
                          LA_MAX_DIMS);
    size_t bytes = 0;
    if (!count_bytes(&bytes, dtype, rank, dim))
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "la_array_create: the number of bytes of a rank-%d "
                          "%s array overflows",
                          rank, la_dtype_name(dtype));
    const la_device *device = la_device_of(exec);
    covar_heap *heap = covar_context_heap(exec->ctx);
    la_array *a = covar_heap_alloc(heap, 1, sizeof *a);
    void *data = a ? device->alloc(heap, bytes) : NULL;
    if (!data) {
        covar_heap_free(heap, a);
        return covar_fail_nomem(exec->ctx, "la_array_create");
    }
    a->heap = covar_heap_retain(heap);
    a->device = device;
    a->view = la_view_dense(data, dtype, rank, dim);
    a->view.device = exec->device;
    atomic_init(&a->count, 1);
    *out = a;
    return COVAR_OK;
}

covar_status la_array_create(la_array **out, const la_exec *exec,
                             la_dtype dtype, int rank, const size_t *dim)
{
    COVAR_TRY(create(out, exec, dtype, rank, dim));
    const covar_status status = (*out)->device->fill(exec, (*out)->view, 0.0);
    if (status != COVAR_OK) {
        la_array_free(*out);
        *out = NULL;
    }
    return status;
}

covar_status la_array_from_view(la_array **out, const la_exec *exec, la_view x)
{
    COVAR_TRY(la_check_exec(exec));
    if (!la_view_is_valid(x)) {
        char text[64];
        if (out)
            *out = NULL;
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "la_array_from_view: x (%s) has no data",
                          la_view_describe(text, sizeof text, x));
    }
    COVAR_TRY(create(out, exec, x.dtype, x.rank, x.dim));
    const covar_status status = (*out)->device->copy(exec, (*out)->view, x);
    if (status != COVAR_OK) {
        la_array_free(*out);
        *out = NULL;
    }
    return status;
}

la_array *la_array_retain(la_array *a)
{
    if (a)
        atomic_fetch_add_explicit(&a->count, 1, memory_order_relaxed);
    return a;
}

void la_array_free(la_array *a)
{
    if (!a ||
        atomic_fetch_sub_explicit(&a->count, 1, memory_order_acq_rel) != 1)
        return;
    covar_heap *heap = a->heap;
    a->device->free(heap, a->view.data);
    covar_heap_free(heap, a);
    covar_heap_release(heap);
}

la_view la_array_view(const la_array *a)
{
    return a ? a->view : la_view_none();
}
