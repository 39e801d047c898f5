/* Minimiser of the quadratic model over the free coordinates of a box.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * F are the coordinates that are free at the step z, A the others:
 *     r   = (g + B z)_F = (g + theta z - W M c)_F,  c = W'z
 *     d_F = -B_FF^-1 r = -r / theta - W_F u / theta^2
 *     (M^-1 - W_F'W_F / theta) u = W_F' r
 * The matrix of the last line has the blocks E = D + Y_F'Y_F / theta,
 * G = L - S_F'Y_F, H = theta S_A'S_A of ad_middle. From z the step goes
 * either along d to the first bound, or to the projection of z + d onto the
 * box, whichever has the lower model value; the coordinates that met a bound
 * are fixed and it is done again. The projection alone (Morales & Nocedal)
 * can be far above the Cauchy point when coordinates are coupled.
 * Source: Byrd, Lu, Nocedal, Zhu 1995, section 5.1; Morales, Nocedal 2011. */
#include "config.h"

#include "autodiff/optim_impl.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 20 };

/* Sums of products over the smaller of F and A, each (k, k): S'S, S'Y, Y'Y.
 * `over_fixed` tells which one it was. */
static void partial_products(ad_model_step *m, bool over_fixed)
{
    const ad_pairs *p = m->pairs;
    const size_t k = p->count, n = p->n;
    double *ss = m->sub.T, *sy = m->sub.G, *yy = m->sub.E;
    memset(ss, 0, k * k * sizeof(*ss));
    memset(sy, 0, k * k * sizeof(*sy));
    memset(yy, 0, k * k * sizeof(*yy));
    for (size_t i = 0; i < n; i++) {
        if (m->fixed[i] != over_fixed)
            continue;
        for (size_t a = 0; a < k; a++) {
            const double s = p->s[a][i], y = p->y[a][i];
            for (size_t b = 0; b < k; b++) {
                ss[a * k + b] += s * p->s[b][i];
                sy[a * k + b] += s * p->y[b][i];
                yy[a * k + b] += y * p->y[b][i];
            }
        }
    }
}

/* Sets up and factors the matrix of u. */
static bool factor(ad_model_step *m, size_t n_fixed)
{
    const ad_pairs *p = m->pairs;
    const size_t k = p->count, cap = p->capacity;
    const bool over_fixed = n_fixed <= p->n / 2;
    partial_products(m, over_fixed);
    m->sub.k = k;
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < k; b++) {
            const size_t at = a * k + b, all = a * cap + b;
            const double ss = m->sub.T[at], sy = m->sub.G[at];
            const double yy = m->sub.E[at];
            const double ss_fixed = over_fixed ? ss : p->ss[all] - ss;
            const double sy_free = over_fixed ? p->sy[all] - sy : sy;
            const double yy_free = over_fixed ? p->yy[all] - yy : yy;
            m->sub.E[at] = yy_free / p->theta + (a == b ? p->sy[all] : 0);
            m->sub.G[at] = (a > b ? p->sy[all] : 0) - sy_free;
            m->sub.T[at] = p->theta * ss_fixed;
        }
    }
    return ad_middle_factor(&m->sub);
}

/* z_i + a d_i, inside the box. */
static double moved(const ad_model_step *m, size_t i, double a)
{
    return fmin(fmax(m->z[i] + a * m->d[i], m->lower[i] - m->x[i]),
                m->upper[i] - m->x[i]);
}

/* Model value of the step z + a d, projected: t = that step, c = W't. */
static double model_value(ad_model_step *m, double a)
{
    const ad_pairs *p = m->pairs;
    const size_t k2 = 2 * p->count;
    double value = 0, square = 0;
    for (size_t i = 0; i < p->n; i++) {
        m->t[i] = moved(m, i, a);
        value += m->g[i] * m->t[i];
        square += m->t[i] * m->t[i];
    }
    ad_pairs_project(p, m->c, m->t);
    memcpy(m->u, m->c, k2 * sizeof(*m->u));
    ad_middle_solve(&p->M, m->u);
    double lower_part = 0;
    for (size_t j = 0; j < k2; j++)
        lower_part += m->c[j] * m->u[j];
    return value + 0.5 * (p->theta * square - lower_part);
}

/* Largest a <= 1 with z + a d inside the box. */
static double inside(const ad_model_step *m)
{
    double a = 1;
    for (size_t i = 0; i < m->pairs->n; i++) {
        const double d = m->d[i];
        const double end = d < 0 ? m->lower[i] : m->upper[i];
        if (d != 0)
            a = fmin(a, (end - m->x[i] - m->z[i]) / d);
    }
    return fmax(a, 0);
}

/* d = the step from z to the minimiser over F; c = W'z is used up. */
static void newton_step(ad_model_step *m)
{
    const ad_pairs *p = m->pairs;
    ad_middle_solve(&p->M, m->c); /* M c */
    for (size_t i = 0; i < p->n; i++) {
        m->d[i] = m->fixed[i] ? 0
                              : m->g[i] + p->theta * m->z[i] -
                                    ad_pairs_dot_row(p, i, m->c);
    }
    ad_pairs_project(p, m->u, m->d);
    ad_middle_solve(&m->sub, m->u);
    for (size_t i = 0; i < p->n; i++) {
        if (!m->fixed[i])
            m->d[i] = -m->d[i] / p->theta -
                      ad_pairs_dot_row(p, i, m->u) / (p->theta * p->theta);
    }
}

/* Moves z and fixes what is at a bound now; returns how many that are. */
static size_t move(ad_model_step *m, double a)
{
    size_t n_fixed = 0;
    for (size_t i = 0; i < m->pairs->n; i++) {
        m->z[i] = moved(m, i, a);
        if (!m->fixed[i] && m->d[i] != 0)
            m->fixed[i] = m->z[i] == m->lower[i] - m->x[i] ||
                          m->z[i] == m->upper[i] - m->x[i];
        n_fixed += m->fixed[i];
    }
    return n_fixed;
}

bool ad_model_subspace(ad_model_step *m)
{
    const ad_pairs *p = m->pairs;
    const size_t n = p->n;
    size_t n_fixed = 0;
    for (size_t i = 0; i < n; i++)
        n_fixed += m->fixed[i];
    for (size_t round = 0; round < ROUNDS; round++) {
        if (p->count == 0 || n_fixed == n)
            return true;
        if (!factor(m, n_fixed))
            return round > 0;
        newton_step(m);
        double a = inside(m);
        if (a < 1 && model_value(m, 1) < model_value(m, a))
            a = 1;
        const size_t before = n_fixed;
        n_fixed = move(m, a);
        if (n_fixed == before)
            return true;
        ad_pairs_project(p, m->c, m->z);
    }
    return true;
}
