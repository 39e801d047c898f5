/* The generalised Cauchy point of the quadratic model in a box.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Along the projected steepest descent path x(t) = P(x - t g) the model is a
 * quadratic between breakpoints, where one coordinate after the other meets
 * its bound. The pieces are walked in order until one contains a minimum.
 * Source: Byrd, Lu, Nocedal, Zhu 1995, algorithm CP. */
#include "config.h"

#include "autodiff/optim_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void sift_down(size_t *heap, size_t size, size_t at, const double *t)
{
    const size_t item = heap[at];
    for (size_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && t[heap[child + 1]] < t[heap[child]])
            child++;
        if (t[item] <= t[heap[child]])
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

/* Removes and returns the coordinate with the smallest breakpoint. */
static size_t pop(size_t *heap, size_t *size, const double *t)
{
    const size_t first = heap[0];
    heap[0] = heap[--*size];
    if (*size > 0)
        sift_down(heap, *size, 0, t);
    return first;
}

/* Sets directions and breakpoints; returns the size of the heap of finite
 * breakpoints. Coordinates that cannot move at all are fixed from the start. */
static size_t prepare(ad_model_step *m)
{
    size_t size = 0;
    for (size_t i = 0; i < m->pairs->n; i++) {
        const double g = m->g[i];
        const double room =
            g < 0 ? m->upper[i] - m->x[i] : m->x[i] - m->lower[i];
        m->z[i] = 0;
        m->fixed[i] = g == 0 ? !(m->lower[i] < m->upper[i]) : !(room > 0);
        m->d[i] = m->fixed[i] ? 0 : -g;
        m->t[i] = g == 0 ? INFINITY : room / fabs(g);
        if (!m->fixed[i] && isfinite(m->t[i]))
            m->heap[size++] = i;
    }
    for (size_t i = size / 2; i-- > 0;)
        sift_down(m->heap, size, i, m->t);
    return size;
}

/* The derivatives of the model at the start of the current piece. */
typedef struct piece {
    double t, slope, curvature, least;
} piece;

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Goes on to breakpoint t[b], where coordinate b stops. */
static void pass_breakpoint(ad_model_step *m, piece *at, size_t b)
{
    const size_t k2 = 2 * m->pairs->count;
    const double g = m->g[b], theta = m->pairs->theta;
    const double dt = m->t[b] - at->t;
    m->z[b] = (g < 0 ? m->upper[b] : m->lower[b]) - m->x[b];
    m->fixed[b] = true;
    m->d[b] = 0;
    for (size_t j = 0; j < k2; j++)
        m->c[j] += dt * m->p[j];
    ad_pairs_row(m->pairs, m->u, b);
    memcpy(m->q, m->u, k2 * sizeof(*m->q));
    ad_middle_solve(&m->pairs->M, m->q); /* q = M w_b */
    at->slope += dt * at->curvature + g * g + theta * g * m->z[b] -
                 g * dot(m->q, m->c, k2);
    at->curvature -= theta * g * g + 2 * g * dot(m->q, m->p, k2) +
                     g * g * dot(m->q, m->u, k2);
    at->curvature = fmax(at->curvature, at->least);
    for (size_t j = 0; j < k2; j++)
        m->p[j] += g * m->u[j];
    at->t = m->t[b];
}

void ad_model_cauchy(ad_model_step *m)
{
    const size_t n = m->pairs->n, k2 = 2 * m->pairs->count;
    size_t size = prepare(m);
    const double dd = dot(m->d, m->d, n);
    ad_pairs_project(m->pairs, m->p, m->d);
    memset(m->c, 0, k2 * sizeof(*m->c));
    memcpy(m->q, m->p, k2 * sizeof(*m->q));
    ad_middle_solve(&m->pairs->M, m->q);
    piece at = {.slope = -dd, .curvature = m->pairs->theta * dd};
    at.least = DBL_EPSILON * at.curvature;
    at.curvature = fmax(at.curvature - dot(m->p, m->q, k2), at.least);
    double dt = dd > 0 ? -at.slope / at.curvature : 0;
    while (size > 0 && at.slope < 0 && m->t[m->heap[0]] <= at.t + dt) {
        pass_breakpoint(m, &at, pop(m->heap, &size, m->t));
        dt = at.curvature > 0 ? -at.slope / at.curvature : 0;
    }
    dt = fmax(dt, 0);
    for (size_t i = 0; i < n; i++) {
        if (!m->fixed[i])
            m->z[i] = (at.t + dt) * m->d[i];
    }
    for (size_t j = 0; j < k2; j++)
        m->c[j] += dt * m->p[j];
}
