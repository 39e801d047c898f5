/* Private: the Fortran BLAS and LAPACK routines, and row-major faces of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fortran symbols (dgemm_), never cblas_*: with -lgsl ahead of us on the
 * linker's line cblas_dgemm would silently be the slow one of libgslcblas.
 * A row-major matrix is the column-major transpose of itself: a row-major
 * lower triangle is LAPACK's "U", a product swaps its factors, and nothing is
 * ever transposed in memory. Strings carry the hidden lengths of the Fortran
 * calling convention; C implementations ignore them. */
#ifndef COVAR_LINALG_BLAS_H
#define COVAR_LINALG_BLAS_H

#include <covar/linalg.h>

#define REAL_BODY "linalg/blas.inc"
#include "linalg/each_real.h"

#endif
