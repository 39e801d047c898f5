/* A plain Gaussian process for bench_optim: value and exact gradient.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     -log p(y) = z'K^-1 z / 2 + log det K / 2 + n log(2 pi) / 2
 *     K = v k(r) + s I,  r^2 = sum_k ((x_ik - x_jk) / l_k)^2,  z = y - mu
 *     k = exp(-r^2 / 2)  or  (1 + q + q^2 / 3) exp(-q), q = sqrt(5) r
 *     gradient = -tr((a a' - K^-1) dK) / 2,  a = K^-1 z
 *
 * with mu = 1'K^-1 y / 1'K^-1 1. Independent of the library's own code.
 * Source: Rasmussen & Williams 2006, eq. 2.30 and 5.9. */
#include "config.h"

#include "bench_optim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <hdf5.h>

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda,
             int *info);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a,
             const int *lda, double *b, const int *ldb, int *info);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda,
             int *info);

/* ---- data ---- */

/* Reads a whole data set; `dims` gets up to two sizes. NULL on failure. */
static void *read_set(hid_t file, const char *name, hid_t type, size_t size,
                      hsize_t dims[2])
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0)
        return NULL;
    hid_t space = H5Dget_space(set);
    dims[0] = dims[1] = 1;
    H5Sget_simple_extent_dims(space, dims, NULL);
    void *out = malloc((size_t)(dims[0] * dims[1]) * size);
    if (out && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) {
        free(out);
        out = NULL;
    }
    H5Sclose(space);
    H5Dclose(set);
    return out;
}

/* Moves one strided column to its scale. */
static void scale_column(double *v, size_t n, size_t stride, gp_scale scale)
{
    double low = v[0], high = v[0], mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, v[i * stride]);
        high = fmax(high, v[i * stride]);
        mean += v[i * stride] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        const double e = v[i * stride] - mean;
        square += e * e / (double)n;
    }
    const double shift = scale == GP_UNIT_CUBE ? low : mean;
    const double unit = scale == GP_UNIT_CUBE ? high - low : sqrt(square);
    for (size_t i = 0; i < n; i++)
        v[i * stride] = (v[i * stride] - shift) / (unit > 0 ? unit : 1);
}

bool gp_data_read(gp_data *out, const char *dir, const char *name,
                  gp_scale scale)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s.h5", dir, name);
    *out = (gp_data){0};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return false;
    hsize_t dx[2], dy[2], dr[2];
    double *x = read_set(file, "X", H5T_NATIVE_DOUBLE, sizeof(double), dx);
    double *y = read_set(file, "y", H5T_NATIVE_DOUBLE, sizeof(double), dy);
    int *rows =
        read_set(file, "splits/train_0", H5T_NATIVE_INT, sizeof(int), dr);
    H5Fclose(file);
    bool good = x && y && rows;
    if (good) {
        const size_t n = (size_t)dr[0], d = (size_t)dx[1];
        *out = (gp_data){.n = n, .d = d};
        out->x = malloc(n * d * sizeof(double));
        out->y = malloc(n * sizeof(double));
        good = out->x && out->y;
        for (size_t i = 0; good && i < n; i++) {
            const size_t row = (size_t)rows[i];
            memcpy(out->x + i * d, x + row * d, d * sizeof(double));
            out->y[i] = y[row];
        }
        for (size_t k = 0; good && k < d; k++)
            scale_column(out->x + k, n, d, scale);
        if (good)
            scale_column(out->y, n, 1, GP_UNIT_SD);
    }
    free(x);
    free(y);
    free(rows);
    return good;
}

void gp_data_clear(gp_data *data)
{
    free(data->x);
    free(data->y);
    *data = (gp_data){0};
}

/* ---- the objective ---- */

bool gp_objective_init(gp_objective *gp, const gp_data *data, gp_kind kind)
{
    const size_t n = data->n;
    *gp = (gp_objective){.data = data, .kind = kind};
    gp->K = malloc(n * n * sizeof(double));
    gp->r2 = malloc(n * n * sizeof(double));
    gp->alpha = malloc(2 * n * sizeof(double));
    return gp->K && gp->r2 && gp->alpha;
}

void gp_objective_clear(gp_objective *gp)
{
    free(gp->K);
    free(gp->r2);
    free(gp->alpha);
    *gp = (gp_objective){0};
}

static double kernel(gp_kind kind, double r2)
{
    if (kind == GP_RBF)
        return exp(-0.5 * r2);
    const double q = sqrt(5 * r2);
    return (1 + q + q * q / 3) * exp(-q);
}

/* -2 dk / d(r^2) */
static double kernel_slope(gp_kind kind, double r2)
{
    if (kind == GP_RBF)
        return exp(-0.5 * r2);
    const double q = sqrt(5 * r2);
    return 5.0 / 3.0 * (1 + q) * exp(-q);
}

/* Fills r^2 (lower triangle, rows) and K. */
static void fill(gp_objective *gp, const double *theta)
{
    const gp_data *data = gp->data;
    const size_t n = data->n, d = data->d;
    const double v = exp(theta[d]), s = exp(theta[d + 1]);
    double inv2[MOST_COORDINATES];
    for (size_t k = 0; k < d; k++)
        inv2[k] = exp(-2 * theta[k]);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double r2 = 0;
            for (size_t k = 0; k < d; k++) {
                const double e = data->x[i * d + k] - data->x[j * d + k];
                r2 += e * e * inv2[k];
            }
            gp->r2[i * n + j] = r2;
            gp->K[i * n + j] = v * kernel(gp->kind, r2) + (i == j ? s : 0);
        }
    }
}

/* g from K^-1 (lower triangle of gp->K, rows) and alpha. */
static void gradient(const gp_objective *gp, double *g, const double *theta)
{
    const gp_data *data = gp->data;
    const size_t n = data->n, d = data->d;
    const double v = exp(theta[d]), s = exp(theta[d + 1]);
    double inv2[MOST_COORDINATES];
    for (size_t k = 0; k < d; k++)
        inv2[k] = exp(-2 * theta[k]);
    for (size_t k = 0; k < d + 2; k++)
        g[k] = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double r2 = gp->r2[i * n + j];
            const double w = gp->alpha[i] * gp->alpha[j] - gp->K[i * n + j];
            if (i == j) {
                g[d] -= 0.5 * w * v;
                g[d + 1] -= 0.5 * w * s;
                continue;
            }
            g[d] -= w * v * kernel(gp->kind, r2);
            const double slope = w * v * kernel_slope(gp->kind, r2);
            for (size_t k = 0; k < d; k++) {
                const double e = data->x[i * d + k] - data->x[j * d + k];
                g[k] -= slope * e * e * inv2[k];
            }
        }
    }
}

covar_status gp_eval(double *f, double *g, const double *x, size_t n_params,
                     void *data)
{
    (void)n_params;
    gp_objective *gp = data;
    const size_t n = gp->data->n;
    const int order = (int)n, two = 2;
    int info = 0;
    fill(gp, x);
    dpotrf_("U", &order, gp->K, &order, &info);
    if (info != 0) {
        gp->failures++;
        return COVAR_ERR_NOT_PD;
    }
    double logdet = 0;
    for (size_t i = 0; i < n; i++) {
        logdet += 2 * log(gp->K[i * n + i]);
        gp->alpha[i] = gp->data->y[i];
        gp->alpha[n + i] = 1;
    }
    dpotrs_("U", &order, &two, gp->K, &order, gp->alpha, &order, &info);
    double top = 0, bottom = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        top += gp->alpha[i];
        bottom += gp->alpha[n + i];
    }
    const double mu = top / bottom;
    for (size_t i = 0; i < n; i++) {
        gp->alpha[i] -= mu * gp->alpha[n + i];
        square += gp->alpha[i] * (gp->data->y[i] - mu);
    }
    *f = 0.5 * (square + logdet + (double)n * log(6.283185307179586));
    if (g) {
        dpotri_("U", &order, gp->K, &order, &info);
        gradient(gp, g, x);
    }
    return COVAR_OK;
}
