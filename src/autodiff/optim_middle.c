/* Small symmetric indefinite systems of the compact L-BFGS matrix.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     [-E G'] [u1]   [v1]      T = H + G E^-1 G'
 *     [ G H ] [u2] = [v2]      T u2 = v2 + G E^-1 v1,  E u1 = G' u2 - v1
 *
 * with E and T positive definite: two Cholesky factors of order k (at most
 * the number of pairs, about ten) instead of one indefinite factorisation of
 * order 2k, and no pivoting. Blocks are this small and there is no execution
 * context here, hence not LAPACK.
 * Source: Byrd, Nocedal, Schnabel 1994, section 3, eq. 3.22 ff. */
#include "config.h"

#include "autodiff/optim_impl.h"

#include <float.h>
#include <math.h>

/* A = L L' in place, lower; false when a pivot is not above the rounding of
 * its own diagonal element. */
static bool cholesky(double *A, size_t k)
{
    for (size_t j = 0; j < k; j++) {
        double pivot = A[j * k + j];
        const double least = 10 * DBL_EPSILON * pivot;
        for (size_t l = 0; l < j; l++)
            pivot -= A[j * k + l] * A[j * k + l];
        if (!(pivot > least) || !isfinite(pivot))
            return false;
        A[j * k + j] = sqrt(pivot);
        for (size_t i = j + 1; i < k; i++) {
            double sum = A[i * k + j];
            for (size_t l = 0; l < j; l++)
                sum -= A[i * k + l] * A[j * k + l];
            A[i * k + j] = sum / A[j * k + j];
        }
    }
    return true;
}

/* v := L^-1 v. */
static void forward(const double *L, size_t k, double *v)
{
    for (size_t i = 0; i < k; i++) {
        for (size_t l = 0; l < i; l++)
            v[i] -= L[i * k + l] * v[l];
        v[i] /= L[i * k + i];
    }
}

/* v := L^-T v. */
static void backward(const double *L, size_t k, double *v)
{
    for (size_t i = k; i-- > 0;) {
        for (size_t l = i + 1; l < k; l++)
            v[i] -= L[l * k + i] * v[l];
        v[i] /= L[i * k + i];
    }
}

/* G is kept as R = G L^-T, where E = L L': then T = H + R R', and row i of R
 * is L^-1 times row i of G. */
bool ad_middle_factor(ad_middle *mid)
{
    const size_t k = mid->k;
    if (!cholesky(mid->E, k))
        return false;
    for (size_t i = 0; i < k; i++)
        forward(mid->E, k, mid->G + i * k);
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j <= i; j++) {
            for (size_t l = 0; l < k; l++)
                mid->T[i * k + j] += mid->G[i * k + l] * mid->G[j * k + l];
        }
    }
    return cholesky(mid->T, k);
}

void ad_middle_solve(const ad_middle *mid, double *v)
{
    const size_t k = mid->k;
    double *v1 = v, *v2 = v + k;
    forward(mid->E, k, v1); /* L^-1 v1 */
    for (size_t i = 0; i < k; i++) {
        for (size_t l = 0; l < k; l++)
            v2[i] += mid->G[i * k + l] * v1[l];
    }
    forward(mid->T, k, v2);
    backward(mid->T, k, v2);
    for (size_t l = 0; l < k; l++) { /* L' u1 = R' u2 - L^-1 v1 */
        double sum = -v1[l];
        for (size_t i = 0; i < k; i++)
            sum += mid->G[i * k + l] * v2[i];
        v1[l] = sum;
    }
    backward(mid->E, k, v1);
}
