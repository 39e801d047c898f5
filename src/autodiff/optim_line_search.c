/* The length of one step: a search for the strong Wolfe conditions.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     f(a) <= f(0) + c1 a f'(0) + noise,   |f'(a)| <= c2 |f'(0)|
 *
 * By reverse communication: the caller evaluates, this file decides. First
 * the step grows until an interval (lo, hi) holds a good point, then the
 * interval shrinks by cubic interpolation. A trial without a value counts as
 * +infinity: "too far", halved; the first point before such a wall that
 * meets the first condition is taken, whatever its slope. `noise` makes that
 * condition harmless where f no longer resolves the decrease; there the
 * slopes alone decide.
 * Source: Nocedal & Wright 2006, algorithms 3.5 and 3.6, eq. 3.59; the noise
 * after Hager & Zhang 2005, eq. 27. */
#include "config.h"

#include "autodiff/optim_impl.h"

#include <math.h>

static const double decrease = 1e-4; /* c1 */
static const double curvature = 0.9; /* c2 */

enum { MOST_TRIALS = 40, MOST_FINITE = 20 };

void ad_search_begin(ad_search *s, double f, double slope, double a_first,
                     double a_max)
{
    *s = (ad_search){
        .start = {0, f, slope},
        .lo = {0, f, slope},
        .a = a_first,
        .a_max = a_max,
        .noise = ad_optim_noise(f),
    };
}

/* Minimiser of the cubic through both values and slopes; NaN if none. */
static double cubic(ad_trial p, ad_trial q)
{
    const double h = q.a - p.a;
    const double d1 = p.slope + q.slope - 3 * (q.f - p.f) / h;
    const double root = d1 * d1 - p.slope * q.slope;
    if (!(root >= 0))
        return NAN;
    const double d2 = copysign(sqrt(root), h);
    return q.a - h * (q.slope + d2 - d1) / (q.slope - p.slope + 2 * d2);
}

/* A trial inside the bracket, not too close to its ends. */
static double shrink(const ad_search *s)
{
    const double h = s->hi.a - s->lo.a;
    if (!isfinite(s->hi.f))
        return s->lo.a + 0.5 * h;
    const double a = cubic(s->lo, s->hi);
    const double share = (a - s->lo.a) / h;
    if (!isfinite(share))
        return s->lo.a + 0.5 * h;
    return s->lo.a + fmin(fmax(share, 0.1), 0.9) * h;
}

/* A longer trial: lo is below and falls steeply at `now`. */
static double grow(const ad_search *s, ad_trial before, ad_trial now)
{
    double a = cubic(before, now);
    if (!(a > now.a))
        a = 4 * now.a;
    return fmin(fmin(fmax(a, 1.5 * now.a), 4 * now.a), s->a_max);
}

static ad_search_state give_up(const ad_search *s)
{
    return s->lo.f < s->start.f ? AD_SEARCH_LOWEST : AD_SEARCH_FAILED;
}

static ad_search_state next(ad_search *s, double a)
{
    s->a = a;
    const size_t most = isfinite(s->hi.f) ? MOST_FINITE : MOST_TRIALS;
    const bool moved = a != s->lo.a && (!s->bracketed || a != s->hi.a);
    return moved && s->trials < most ? AD_SEARCH_TRY : give_up(s);
}

ad_search_state ad_search_update(ad_search *s, double f, double slope)
{
    const ad_trial now = {s->a, f, slope}, before = s->lo;
    const double line = s->start.f + decrease * now.a * s->start.slope;
    s->trials++;
    if (!isfinite(f) || f > line + s->noise || f > s->lo.f + s->noise) {
        s->hi = now;
        s->bracketed = true;
        return next(s, shrink(s));
    }
    const bool wall = s->bracketed && !isfinite(s->hi.f);
    const bool gentle = fabs(slope) <= curvature * fabs(s->start.slope);
    if (gentle || wall || (slope < 0 && now.a >= s->a_max))
        return AD_SEARCH_DONE;
    if (s->bracketed ? slope * (s->hi.a - s->lo.a) >= 0 : slope >= 0) {
        s->hi = s->lo;
        s->bracketed = true;
    }
    s->lo = now;
    return next(s, s->bracketed ? shrink(s) : grow(s, before, now));
}
