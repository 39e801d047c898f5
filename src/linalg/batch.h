/* Private: how a stack of matrices is worked off, and how many threads BLAS
 * may use.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each operator says from which size on (in flops of one matrix) a second
 * BLAS thread pays. Below that a stack is split over the threads, each with
 * BLAS on one thread; a stack shorter than the number of threads, or a single
 * matrix, is given to threaded BLAS. */
#ifndef COVAR_LINALG_BATCH_H
#define COVAR_LINALG_BATCH_H

#include <covar/linalg.h>

/* Flops of one matrix above which two BLAS threads beat one, taken from
 * the OpenMP build of OpenBLAS 0.3.21 on two cores of another machine; run
 * bench_linalg --threads 2 to place them anew. */
#define LA_CROSSOVER_GEMM 8e6  /* n = 160 */
#define LA_CROSSOVER_SYRK 16e6 /* n = 256 */
#define LA_CROSSOVER_TRMM 16e6 /* n = 256 */
#define LA_CROSSOVER_TRSM 12e6 /* n = 230 */
#define LA_CROSSOVER_CHOL 45e6 /* potrf n = 512, chol_rev and potri n = 400 */
#define LA_CROSSOVER_EIGH 1e9  /* n = 480 */

/* Recursive factorisations use one BLAS thread from this order down. */
enum { LA_SERIAL_ORDER = 256 };

/* Does the work on matrix b of the stack. */
typedef void la_batch_fn(const void *args, size_t b);

/* Calls run(args, b) for every b < count. `flops` is for one matrix. */
void la_batch_run(const la_exec *exec, size_t count, double flops,
                  double crossover, la_batch_fn *run, const void *args);

/* Does the part [first, first + count) of some work. */
typedef void la_part_fn(const void *args, int first, int count);

/* Calls run over parts that make up [0, n), one for each thread that BLAS may
 * use; BLAS has one thread in each of them. */
void la_blas_split(int n, la_part_fn *run, const void *args);

/* Sets the thread count of BLAS calls from this thread; returns the value to
 * give back to la_blas_leave. */
int la_blas_enter(int threads);
int la_blas_narrow(int n); /* to 1 if n <= LA_SERIAL_ORDER, else as it is */
void la_blas_leave(int saved);

#endif
