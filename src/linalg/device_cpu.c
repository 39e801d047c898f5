/* The device table of the CPU. Each kernel lives in the file named after it.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/linalg_impl.h"

static void *cpu_alloc(covar_heap *heap, size_t bytes)
{
    return covar_heap_alloc(heap, bytes, 1);
}

static void cpu_free(covar_heap *heap, void *p)
{
    covar_heap_free(heap, p);
}

const la_device la_device_cpu = {
    .abi = LA_DEVICE_ABI,
    .name = "cpu",
    .alloc = cpu_alloc,
    .free = cpu_free,
    .map_run = la_cpu_map_run,
    .copy = la_cpu_copy,
    .fill = la_cpu_fill,
    .gemm = la_cpu_gemm,
    .syrk = la_cpu_syrk,
    .trmm = la_cpu_trmm,
    .trsm = la_cpu_trsm,
    .potrf = la_cpu_potrf,
    .potri = la_cpu_potri,
    .chol_rev = la_cpu_chol_rev,
    .syevd = la_cpu_syevd,
    .tri = la_cpu_tri,
    .sum_log_diag = la_cpu_sum_log_diag,
    .sqdist = la_cpu_sqdist,
    .gather = la_cpu_gather,
    .scatter_add = la_cpu_scatter_add,
    .random = la_cpu_random,
};
