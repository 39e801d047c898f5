/* Private to src/linalg: the device table and what its kernels share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A public la_* function checks its arguments once and then calls the slot of
 * the device; a slot may rely on valid shapes, dtypes and strides. Slots come
 * in three kinds: required; defaulted (NULL = composed from required ones by
 * device.c); optional (NULL = COVAR_ERR_UNSUPPORTED). */
#ifndef COVAR_LINALG_IMPL_H
#define COVAR_LINALG_IMPL_H

#include <covar/linalg.h>

#include "heap.h"

enum { LA_DEVICE_ABI = 1 };

struct la_device {
    unsigned    abi;
    const char *name; /* "cpu" */

    /* required: memory */
    void *(*alloc)(covar_heap *heap, size_t bytes);
    void (*free)(covar_heap *heap, void *p);

    /* required: elementwise, reductions, copies */
    covar_status (*map_run)(const la_exec *, const la_map_code *, int rank,
                            const size_t *dim, const la_view *in,
                            const la_view *out, void *work);
    covar_status (*copy)(const la_exec *, la_view out, la_view x);
    covar_status (*fill)(const la_exec *, la_view out, double value);

    /* required: products and factorisations, lower/row-major conventions of
     * linalg.h; views have the batch dims in front */
    covar_status (*gemm)(const la_exec *, double alpha, la_trans ta, la_view A,
                         la_trans tb, la_view B, double beta, la_view C);
    covar_status (*syrk)(const la_exec *, double alpha, la_trans trans,
                         la_view A, double beta, la_view C);
    covar_status (*trmm)(const la_exec *, la_side, la_uplo, la_trans, la_diag,
                         double alpha, la_view T, la_view B);
    covar_status (*trsm)(const la_exec *, la_side, la_uplo, la_trans, la_diag,
                         double alpha, la_view T, la_view B);
    covar_status (*potrf)(const la_exec *, la_view A, int32_t *info);
    covar_status (*potri)(const la_exec *, la_view L, int32_t *info);
    covar_status (*chol_rev)(const la_exec *, la_view L, la_view L_bar);
    covar_status (*syevd)(const la_exec *, la_view A, la_view lambda,
                          void *work, int32_t *info);
    covar_status (*tri)(const la_exec *, la_tri_kind, la_view out, la_view x);
    covar_status (*sum_log_diag)(const la_exec *, la_view out, la_view L);
    covar_status (*sqdist)(const la_exec *, la_view out, la_view X, la_view Z,
                           void *work);
    covar_status (*gather)(const la_exec *, la_view out, la_view x,
                           la_view index);
    covar_status (*scatter_add)(const la_exec *, la_view out, la_view x,
                                la_view index);
    covar_status (*random)(const la_exec *, la_random_kind, la_view out,
                           la_view key, uint32_t stream);
};

extern const la_device la_device_cpu;

/* Slots of the CPU table, each in the file named after it. */
covar_status la_cpu_map_run(const la_exec *exec, const la_map_code *code,
                            int rank, const size_t *dim, const la_view *in,
                            const la_view *out, void *work);
covar_status la_cpu_copy(const la_exec *exec, la_view out, la_view x);
covar_status la_cpu_fill(const la_exec *exec, la_view out, double value);
covar_status la_cpu_gemm(const la_exec *exec, double alpha, la_trans ta,
                         la_view A, la_trans tb, la_view B, double beta,
                         la_view C);
covar_status la_cpu_syrk(const la_exec *exec, double alpha, la_trans trans,
                         la_view A, double beta, la_view C);
covar_status la_cpu_trmm(const la_exec *exec, la_side side, la_uplo uplo,
                         la_trans trans, la_diag diag, double alpha, la_view T,
                         la_view B);
covar_status la_cpu_trsm(const la_exec *exec, la_side side, la_uplo uplo,
                         la_trans trans, la_diag diag, double alpha, la_view T,
                         la_view B);
covar_status la_cpu_potrf(const la_exec *exec, la_view A, int32_t *info);
covar_status la_cpu_potri(const la_exec *exec, la_view L, int32_t *info);
covar_status la_cpu_chol_rev(const la_exec *exec, la_view L, la_view L_bar);
covar_status la_cpu_syevd(const la_exec *exec, la_view A, la_view lambda,
                          void *work, int32_t *info);
covar_status la_cpu_tri(const la_exec *exec, la_tri_kind kind, la_view out,
                        la_view x);
covar_status la_cpu_sum_log_diag(const la_exec *exec, la_view out, la_view L);
covar_status la_cpu_sqdist(const la_exec *exec, la_view out, la_view X,
                           la_view Z, void *work);
covar_status la_cpu_gather(const la_exec *exec, la_view out, la_view x,
                           la_view index);
covar_status la_cpu_scatter_add(const la_exec *exec, la_view out, la_view x,
                                la_view index);
covar_status la_cpu_random(const la_exec *exec, la_random_kind kind,
                           la_view out, la_view key, uint32_t stream);

/* The table to use for `exec`, never NULL. */
const la_device *la_device_of(const la_exec *exec);

/* Number of matrices in the batch of a view whose last `core` dims are the
 * matrix, and the address of matrix b, 0 <= b < count (mixed-radix over the
 * batch strides; without batch dims the one matrix, whatever b is). */
size_t la_batch_count(la_view x, int core);
void *la_batch_at(la_view x, int core, size_t b);

#endif
