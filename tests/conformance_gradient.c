/* Conformance of derivatives: differences, adjoint identity, linearity, own
 * against derived tangents, second order.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * F is the operator at the example's inputs x, d the example's directions, w
 * a random adjoint. Differences are the five-point rule with step h: error
 * h^4 |F^(5)| / 30 + eps |F| / h. */
#include "config.h"

#include "conformance.h"

#include <math.h>
#include <stdlib.h>

static const double step = 1e-3;

/* d/dt of y(x + t d) at t = 0, in doubles; NULL after a failure. */
static double *difference(subject *s, ad_node *y, size_t *count)
{
    static const double t[] = {-2, -1, 1, 2}, c[] = {1, -8, 8, -1};
    double *sum = NULL;
    for (int k = 0; k < 4; k++) {
        double *v = subject_values(s, y, t[k] * step, count);
        if (!v) {
            free(sum);
            return NULL;
        }
        if (!sum)
            sum = calloc(*count + 1, sizeof(double));
        for (size_t i = 0; i < *count; i++)
            sum[i] += c[k] * v[i] / (12 * step);
        free(v);
    }
    return sum;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Where rounding to f32 takes part, only that much can be asked for. */
static double tight(const subject *s)
{
    return s->e.rough ? 1e-6 : 1e-10;
}

/* What a check differentiates: the smooth inputs, and w like y. */
typedef struct parts {
    int n;
    int place[AD_EXAMPLE_MAX_IN]; /* among the leaves */
    ad_node *wrt[AD_EXAMPLE_MAX_IN];
    ad_node *x_bar[AD_EXAMPLE_MAX_IN];
    ad_node *d[AD_EXAMPLE_MAX_IN]; /* the directions as leaves */
    ad_node *w;
    int w_place;
} parts;

static const ad_grad_options zeros = {.zero_if_disconnected = true};

static bool parts_init(parts *p, subject *s)
{
    *p = (parts){.w_place = s->n_leaf};
    p->w = subject_leaf(s, s->e.y, "w", 7);
    for (int i = 0; i < s->e.n_in; i++)
        if (s->e.in[i].smooth) {
            p->place[p->n] = i;
            p->wrt[p->n++] = s->e.in[i].node;
        }
    for (int i = 0; i < p->n; i++) {
        const ad_example_value *v = &s->e.in[p->place[i]];
        int at = s->n_leaf;
        p->d[i] = subject_leaf(s, p->wrt[i], "d", 8);
        for (size_t k = 0; k < v->count; k++)
            s->value[at][k] = v->direction[k];
    }
    covar_status status =
        ad_lop(p->x_bar, &s->e.y, &p->w, 1, p->wrt, p->n, &zeros);
    return subject_check(s, status == COVAR_OK, "vjp: %s",
                         covar_error_text(s->ctx));
}

/* sum_i <x_i, d_i>; scale gets the sum of the absolute products. */
static double against(subject *s, const parts *p, ad_node *const *x,
                      double *scale)
{
    double sum = 0;
    *scale = 1e-3;
    for (int i = 0; i < p->n; i++) {
        size_t count;
        double *v = subject_values(s, x[i], 0, &count);
        if (!v)
            return NAN;
        const double *d = s->e.in[p->place[i]].direction;
        sum += dot(v, d, count);
        for (size_t k = 0; k < count; k++)
            *scale += fabs(v[k] * d[k]);
        free(v);
    }
    return sum;
}

/* ---- First order -------------------------------------------------------- */

/* The tangent along d, own (ad_rop) and derived (vjp twice). */
static void check_tangent(subject *s, parts *p)
{
    ad_node *own = NULL, *derived = NULL;
    size_t n = 0;
    covar_status status = ad_rop(&own, &s->e.y, 1, p->wrt, p->d, p->n);
    if (!subject_check(s, status == COVAR_OK, "jvp: %s",
                       covar_error_text(s->ctx)))
        return;
    double *a = subject_values(s, own, 0, &n);
    double *b = difference(s, s->e.y, &n);
    double scale = a ? fmax(1, max_abs(a, n)) : 1, value, size;
    if (a && b && !s->e.rough) {
        subject_check(s, max_gap(a, b, n) <= 1e-7 * scale,
                      "jvp and differences are %g apart of %g",
                      max_gap(a, b, n), scale);
    }
    value = against(s, p, p->x_bar, &size);
    if (a) {
        double other = dot(a, s->value[p->w_place], n);
        subject_check(s, fabs(value - other) <= tight(s) * fmax(size, scale),
                      "<x_bar, d> = %.12g but <w, J d> = %.12g", value, other);
    }
    free(b);
    status = ad_lop(&derived, p->x_bar, p->d, p->n, &p->w, 1, &zeros);
    subject_check(s, status == COVAR_OK, "vjp of vjp: %s",
                  covar_error_text(s->ctx));
    b = status == COVAR_OK ? subject_values(s, derived, 0, &n) : NULL;
    if (a && b)
        subject_check(s, max_gap(a, b, n) <= 10 * tight(s) * scale,
                      "own and derived jvp are %g apart of %g",
                      max_gap(a, b, n), scale);
    free(a);
    free(b);
}

static bool is_square(const ad_node *y)
{
    const ad_type *t = ad_node_type(y, 0);
    size_t m = 0, n = 1;
    return t->rank >= 2 && ad_dim_is_fixed(t->dim[t->rank - 2], &m) &&
           ad_dim_is_fixed(t->dim[t->rank - 1], &n) && m == n;
}

/* An adjoint that is known to be symmetric may take another way. */
static void check_symmetric(subject *s, parts *p)
{
    ad_node *w = ad_symmetrise(p->w), *y_dot = NULL, *x_bar[AD_EXAMPLE_MAX_IN];
    covar_status status = ad_lop(x_bar, &s->e.y, &w, 1, p->wrt, p->n, &zeros);
    if (status == COVAR_OK)
        status = ad_rop(&y_dot, &s->e.y, 1, p->wrt, p->d, p->n);
    if (!subject_check(s, status == COVAR_OK, "symmetric adjoint: %s",
                       covar_error_text(s->ctx)))
        return;
    double size, value = against(s, p, x_bar, &size);
    size_t n = 0;
    double *a = subject_values(s, y_dot, 0, &n);
    double *b = subject_values(s, w, 0, &n);
    if (a && b)
        subject_check(s, fabs(value - dot(a, b, n)) <= tight(s) * fmax(1, size),
                      "symmetric w: <x_bar, d> = %.12g but <w, J d> = %.12g",
                      value, dot(a, b, n));
    free(a);
    free(b);
}

/* The expansion beside an eval is the same function. */
static void check_expansion(subject *s)
{
    size_t n = 0;
    if (s->e.y->op != s->e.op || !s->e.op->expand || !s->e.op->eval)
        return;
    ad_node *const *e = ad_expand_node(s->e.y);
    if (!subject_check(s, e != NULL, "expand: %s", ad_graph_error_text(s->e.g)))
        return;
    double *a = subject_values(s, s->e.y, 0, &n);
    double *b = subject_values(s, e[0], 0, &n);
    if (a && b)
        subject_check(s, max_gap(a, b, n) <= 1e-10 * fmax(1, max_abs(a, n)),
                      "eval and expand are %g apart", max_gap(a, b, n));
    free(a);
    free(b);
}

/* x_bar(2 w) = 2 x_bar(w) and x_bar(w + v) = x_bar(w) + x_bar(v). */
static void check_linear(subject *s, parts *p)
{
    double *w = s->value[p->w_place], size;
    size_t n = 0;
    double *unused = subject_values(s, p->w, 0, &n);
    double *v = malloc((n + 1) * sizeof(double));
    free(unused);
    double a = against(s, p, p->x_bar, &size), b, c, scale = size;
    for (size_t i = 0; i < n; i++) {
        v[i] = w[i];
        w[i] = cos((double)i);
    }
    b = against(s, p, p->x_bar, &size);
    scale += size;
    for (size_t i = 0; i < n; i++)
        w[i] = 2 * v[i] - 3 * w[i];
    c = against(s, p, p->x_bar, &size);
    subject_check(s, fabs(2 * a - 3 * b - c) <= tight(s) * (scale + size),
                  "vjp is not linear: 2 * %g - 3 * %g = %g", a, b, c);
    for (size_t i = 0; i < n; i++)
        w[i] = v[i];
    free(v);
}

static size_t first(covar_context *ctx, const ad_op *op, int variant, size_t n,
                    size_t batch)
{
    subject s;
    parts p;
    if (!subject_init(&s, ctx, op, n, LA_F64, variant, batch))
        return 0;
    if (subject_is_smooth(&s) && parts_init(&p, &s)) {
        check_tangent(&s, &p);
        check_linear(&s, &p);
        check_expansion(&s);
        if (is_square(s.e.y))
            check_symmetric(&s, &p);
    }
    size_t checks = s.n_check;
    subject_clear(&s);
    return checks;
}

size_t conformance_first(covar_context *ctx, const ad_op *op, int variant)
{
    static const size_t size[] = {0, 1, 2, 7};
    size_t checks = 0;
    for (size_t i = 0; i < NELEM(size); i++) {
        checks += first(ctx, op, variant, size[i], 0);
        if (op->flags & AD_BATCHED)
            checks += first(ctx, op, variant, size[i], 2);
    }
    return checks;
}

/* ---- Second order ------------------------------------------------------- */

/* phi(x) = sum_i <r_i, x_bar_i(x)>, w fixed: its adjoint against differences
 * along d. */
static void check_second(subject *s, parts *p)
{
    ad_node *r[AD_EXAMPLE_MAX_IN], *h[AD_EXAMPLE_MAX_IN], *phi = NULL;
    size_t count;
    double size;
    for (int i = 0; i < p->n; i++) {
        r[i] = subject_leaf(s, p->wrt[i], "r", 20 + (uint64_t)i);
        ad_node *term = ad_dot(r[i], p->x_bar[i]);
        phi = phi ? ad_add(phi, term) : term;
    }
    covar_status status = ad_lop(h, p->x_bar, r, p->n, p->wrt, p->n, &zeros);
    if (!subject_check(s, status == COVAR_OK, "second order: %s",
                       covar_error_text(s->ctx)))
        return;
    double value = against(s, p, h, &size);
    double *slope = difference(s, phi, &count);
    double *level = subject_values(s, phi, 0, &count);
    if (slope && level && !s->e.rough) {
        double scale = fmax(1, fmax(size, fabs(level[0])));
        subject_check(s, fabs(value - slope[0]) <= 1e-7 * scale,
                      "second order %.12g, differences %.12g of %g", value,
                      slope[0], scale);
    }
    free(slope);
    free(level);
}

static size_t second(covar_context *ctx, const ad_op *op, int variant, size_t n,
                     size_t batch)
{
    subject s;
    parts p;
    if (!subject_init(&s, ctx, op, n, LA_F64, variant, batch))
        return 0;
    if (subject_is_smooth(&s) && parts_init(&p, &s))
        check_second(&s, &p);
    size_t checks = s.n_check;
    subject_clear(&s);
    return checks;
}

size_t conformance_second(covar_context *ctx, const ad_op *op, int variant)
{
    static const size_t size[] = {0, 1, 2, 7};
    size_t checks = 0;
    for (size_t i = 0; i < NELEM(size); i++)
        checks += second(ctx, op, variant, size[i], 0);
    if (op->flags & AD_BATCHED)
        checks += second(ctx, op, variant, 2, 2);
    return checks;
}
