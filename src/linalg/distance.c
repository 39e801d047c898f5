/* Squared distances out_ij = |x_i - z_j|^2.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * d <= DIRECT_MAX: differences, squared and added in double. Nothing cancels
 * whatever the offset of the inputs; out_ij and out_ji come from the same
 * instructions on swapped operands, hence exact symmetry, and x_i - x_i is an
 * exact zero. Z is packed feature by feature, so that one row function runs
 * along j for all of them; output is written once: for d = 8 about as fast as
 * memory takes it.
 *
 * Larger d: |x|^2 + |z|^2 - 2 x'z with both centred by the mean of Z (of X
 * when Z is none), in double, by row blocks through gemm; rounding below zero
 * is cut off. Without Z only the lower triangle is made, then mirrored. */
#include <config.h>

#include "linalg/batch.h"
#include "linalg/blas.h"
#include "linalg/check.h"
#include "linalg/leaf.h"
#include "linalg/triangle.h"

#include <string.h>

enum {
    DIRECT_MAX = 16, /* features */
    CHUNK = 512,     /* columns whose packed features stay in the L1 cache */
    ROWS = 64,       /* rows of one task, or of one gemm */
    PARALLEL = 16384 /* elements below which one thread is used */
};

/* One matrix. The work holds, for direct differences, Z packed (d, m), both
 * padded, in double; else centred X and Z, their squared norms, a block of
 * products. */
typedef struct pair {
    const void *X, *Z;
    void *out;
    size_t n, m, d;
    ptrdiff_t ldx, ldz, ldo;
    bool symmetric;
    double *work;
    size_t stride; /* row stride of the packed Z */
    int threads;
    const la_leaf *leaf;
} pair;

static size_t padded(size_t m)
{
    return (m + LA_LEAF_ALIGN - 1) / LA_LEAF_ALIGN * LA_LEAF_ALIGN;
}

static size_t padded_features(size_t d)
{
    return (d + 3) / 4 * 4;
}

/* x = row of length d, minus the centre; returns its squared norm. */
static double centre_row(size_t d, double *x, const double *centre)
{
    double norm = 0;
    for (size_t k = 0; k < d; k++) {
        x[k] -= centre[k];
        norm += x[k] * x[k];
    }
    return norm;
}

#define REAL_BODY "linalg/distance.inc"
#include "linalg/each_real.h"

size_t la_sqdist_work_size(la_view X, la_view Z)
{
    if (X.rank < 2 || X.rank > LA_MAX_DIMS || Z.rank > LA_MAX_DIMS)
        return 0;
    const bool symmetric = la_view_is_none(Z);
    const size_t n = X.dim[X.rank - 2], d = X.dim[X.rank - 1];
    const size_t m = symmetric || Z.rank < 2 ? n : Z.dim[Z.rank - 2];
    size_t count = padded_features(d) * (padded(m) + LA_LEAF_ALIGN);
    if (d > DIRECT_MAX)
        count = (n + 1) * d + n + ROWS * m + (symmetric ? 0 : m * d + m);
    return count * sizeof(double);
}

covar_status la_cpu_sqdist(const la_exec *exec, la_view out, la_view X,
                           la_view Z, void *work)
{
    const bool symmetric = la_view_is_none(Z);
    if (symmetric)
        Z = X;
    pair p = {
        .n = X.dim[X.rank - 2],
        .m = Z.dim[Z.rank - 2],
        .d = X.dim[X.rank - 1],
        .ldx = la_ld(X),
        .ldz = la_ld(Z),
        .ldo = la_ld(out),
        .symmetric = symmetric,
        .work = work,
        .threads = 1,
        .stride = padded(Z.dim[Z.rank - 2]) + LA_LEAF_ALIGN,
        .leaf = la_leaf_of(exec),
    };
    if (p.n * p.m >= PARALLEL && exec->threads > 1)
        p.threads = exec->threads;
    for (size_t b = 0; b < la_batch_count(out, 2); b++) {
        p.X = la_batch_at(X, 2, b);
        p.Z = la_batch_at(Z, 2, b);
        p.out = la_batch_at(out, 2, b);
        if (out.dtype == LA_F64)
            sqdist_f64(&p);
        else
            sqdist_f32(&p);
    }
    return COVAR_OK;
}

covar_status la_sqdist(const la_exec *exec, la_view out, la_view X, la_view Z,
                       void *work)
{
    static const char who[] = "la_sqdist";
    COVAR_TRY(la_check_input(exec, who, "X", X, 2));
    COVAR_TRY(la_check_output(exec, who, "out", out, 2));
    COVAR_TRY(la_check_pair(exec, who, "X", X, 2, "out", out, 2));
    const bool symmetric = la_view_is_none(Z);
    const la_view other = symmetric ? X : Z;
    if (!symmetric) {
        COVAR_TRY(la_check_input(exec, who, "Z", Z, 2));
        COVAR_TRY(la_check_pair(exec, who, "X", X, 2, "Z", Z, 2));
        if (la_cols(X) != la_cols(Z))
            return la_fail_shape(exec, who, "X", X, "Z", Z,
                                 "their numbers of columns differ");
    }
    if (la_rows(out) != la_rows(X) || la_cols(out) != la_rows(other))
        return la_fail_shape(exec, who, "out", out, symmetric ? "X" : "Z",
                             other,
                             "out needs a row for each row of X and a "
                             "column for each row of Z");
    if (!work && la_view_count(out) > 0 && la_cols(X) > 0)
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "%s: work is NULL: la_sqdist_work_size bytes are "
                          "needed",
                          who);
    return la_device_of(exec)->sqdist(exec, out, X, Z, work);
}
