/* Stacks of matrices over threads, and the thread count of BLAS.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only file with an OpenMP region around BLAS calls: inside one the OpenMP
 * build of OpenBLAS runs on a single thread by itself. Outside, it takes the
 * number of threads from the calling thread's OpenMP setting, which is set
 * before the call and restored after it. A region costs about 3 us, so stacks
 * below 20 us of work are not split. Without OpenMP everything runs one after
 * another. */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/linalg_impl.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static const double region_flops = 2e5;

int la_blas_enter(int threads)
{
#ifdef _OPENMP
    const int saved = omp_get_max_threads();
    if (threads != saved)
        omp_set_num_threads(threads);
    return saved;
#else
    return threads;
#endif
}

int la_blas_narrow(int n)
{
#ifdef _OPENMP
    return la_blas_enter(n <= LA_SERIAL_ORDER ? 1 : omp_get_max_threads());
#else
    (void)n;
    return 1;
#endif
}

void la_blas_leave(int saved)
{
#ifdef _OPENMP
    if (omp_get_max_threads() != saved)
        omp_set_num_threads(saved);
#else
    (void)saved;
#endif
}

void la_blas_split(int n, la_part_fn *run, const void *args)
{
#ifdef _OPENMP
    const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
    if (threads > 1) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int t = 0; t < threads; t++) {
            const int first = (int)((int64_t)n * t / threads);
            const int end = (int)((int64_t)n * (t + 1) / threads);
            run(args, first, end - first);
        }
        return;
    }
#endif
    run(args, 0, n);
}

/* Threads over the stack: 1 = one matrix after another. */
static int stack_threads(const la_exec *exec, size_t count, double flops,
                         double crossover)
{
    const size_t threads = exec->threads > 1 ? (size_t)exec->threads : 1;
    if (count < 2 || threads == 1 || (double)count * flops < region_flops)
        return 1;
    if (flops >= crossover && count < threads)
        return 1;
    return (int)(count < threads ? count : threads);
}

void la_batch_run(const la_exec *exec, size_t count, double flops,
                  double crossover, la_batch_fn *run, const void *args)
{
    const int outer = stack_threads(exec, count, flops, crossover);
    if (outer > 1) {
#pragma omp parallel for num_threads(outer) schedule(static)
        for (size_t b = 0; b < count; b++)
            run(args, b);
        return;
    }
    const int saved = la_blas_enter(
        flops >= crossover && exec->threads > 1 ? exec->threads : 1);
    for (size_t b = 0; b < count; b++)
        run(args, b);
    la_blas_leave(saved);
}

size_t la_batch_count(la_view x, int core)
{
    size_t count = 1;
    for (int k = 0; k < x.rank - core; k++)
        count *= x.dim[k];
    return count;
}

void *la_batch_at(la_view x, int core, size_t b)
{
    if (!x.data || b == 0 || x.rank <= core)
        return x.data;
    ptrdiff_t offset = 0;
    int k = x.rank - core - 1;
    for (; k > 0; k--) {
        offset += (ptrdiff_t)(b % x.dim[k]) * x.stride[k];
        b /= x.dim[k];
    }
    offset += (ptrdiff_t)b * x.stride[0];
    return (char *)x.data + offset * (ptrdiff_t)la_dtype_size(x.dtype);
}
