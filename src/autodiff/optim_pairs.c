/* The limited-memory BFGS matrix in compact form.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     B = theta I - W M W',   W = [Y, theta S],   theta = y'y / s'y
 *
 * (optim_impl.h has the letters). All scalar products of pairs are kept, so
 * that a new pair costs 3k dot products of length n.
 * Source: Byrd, Nocedal, Schnabel 1994, theorem 2.3. */
#include "config.h"

#include "autodiff/optim_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Moves the products of pairs 1.. to 0.. in one (m, m) table. */
static void shift_table(double *table, size_t m)
{
    for (size_t i = 0; i + 1 < m; i++)
        memmove(table + i * m, table + (i + 1) * m + 1,
                (m - 1) * sizeof(*table));
}

/* Drops the oldest pair; its two rows become the free ones at the end. */
static void drop_oldest(ad_pairs *p)
{
    const size_t m = p->capacity;
    double *s = p->s[0], *y = p->y[0];
    memmove(p->s, p->s + 1, (m - 1) * sizeof(*p->s));
    memmove(p->y, p->y + 1, (m - 1) * sizeof(*p->y));
    p->s[m - 1] = s;
    p->y[m - 1] = y;
    shift_table(p->ss, m);
    shift_table(p->sy, m);
    shift_table(p->yy, m);
    p->count--;
}

/* Factors M^-1 = [-D L'; L theta S'S]. */
static bool factor_middle(ad_pairs *p)
{
    const size_t k = p->count, m = p->capacity;
    p->M.k = k;
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < k; j++) {
            p->M.E[i * k + j] = i == j ? p->sy[i * m + i] : 0;
            p->M.G[i * k + j] = i > j ? p->sy[i * m + j] : 0;
            p->M.T[i * k + j] = p->theta * p->ss[i * m + j];
        }
    }
    return ad_middle_factor(&p->M);
}

void ad_pairs_reset(ad_pairs *p, double theta)
{
    p->count = 0;
    p->theta = theta;
    p->M.k = 0;
}

bool ad_pairs_push(ad_pairs *p, const double *s, const double *y)
{
    const size_t n = p->n, m = p->capacity;
    const double sy = dot(s, y, n), yy = dot(y, y, n), ss = dot(s, s, n);
    if (!(sy > 0) || !(sy > DBL_EPSILON * yy) || !(sy * sy > 1e-16 * ss * yy))
        return true;
    if (p->count == m)
        drop_oldest(p);
    const size_t k = p->count;
    memcpy(p->s[k], s, n * sizeof(*s));
    memcpy(p->y[k], y, n * sizeof(*y));
    for (size_t i = 0; i <= k; i++) {
        p->ss[i * m + k] = p->ss[k * m + i] = dot(p->s[i], s, n);
        p->yy[i * m + k] = p->yy[k * m + i] = dot(p->y[i], y, n);
        p->sy[i * m + k] = dot(p->s[i], y, n);
        p->sy[k * m + i] = dot(s, p->y[i], n);
    }
    p->count++;
    p->theta = yy / sy;
    if (factor_middle(p))
        return true;
    ad_pairs_reset(p, yy / sy);
    return false;
}

void ad_pairs_project(const ad_pairs *p, double *out, const double *v)
{
    const size_t k = p->count;
    for (size_t i = 0; i < k; i++) {
        out[i] = dot(p->y[i], v, p->n);
        out[k + i] = p->theta * dot(p->s[i], v, p->n);
    }
}

void ad_pairs_row(const ad_pairs *p, double *out, size_t i)
{
    const size_t k = p->count;
    for (size_t j = 0; j < k; j++) {
        out[j] = p->y[j][i];
        out[k + j] = p->theta * p->s[j][i];
    }
}

double ad_pairs_dot_row(const ad_pairs *p, size_t i, const double *v)
{
    const size_t k = p->count;
    double sum = 0;
    for (size_t j = 0; j < k; j++)
        sum += p->y[j][i] * v[j] + p->theta * p->s[j][i] * v[k + j];
    return sum;
}
