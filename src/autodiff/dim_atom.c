/* The kinds of atoms: symbols, floor(p / c), min(p, q).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * floor is pulled apart as far as it is exact: with c_t = c q_t + r_t,
 *     floor(sum c_t m_t / c) = sum q_t m_t + floor(sum r_t m_t / c),
 * and a common factor of the r_t and c is taken out, so that equal sizes
 * written differently are one: (2n + 3) / 2 = n + 1. */
#include "config.h"

#include "autodiff/dim_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- Symbols ------------------------------------------------------------ */

static bool eval_symbol(const ad_atom *a, const size_t *symbol, int64_t *value)
{
    if (!symbol || symbol[a->symbol] > INT64_MAX)
        return false;
    *value = (int64_t)symbol[a->symbol];
    return true;
}

static void text_symbol(char *buf, size_t size, const ad_atom *a)
{
    snprintf(buf, size, "%s", a->name);
}

static ad_dim rebuild_symbol(ad_graph *to, const ad_atom *a, bool resolve)
{
    return resolve && a->resolved ? dim_rebuild(to, a->equal, true)
                                  : ad_symbol(to, a->name);
}

const dim_kind dim_symbol = {"symbol", eval_symbol, text_symbol, rebuild_symbol,
                             false};

/* ---- floor(a / c) ------------------------------------------------------- */

static bool eval_floor(const ad_atom *a, const size_t *symbol, int64_t *value)
{
    int64_t p;
    if (!dim_value(a->a, symbol, &p))
        return false;
    *value = dim_floor_div(p, a->c);
    return true;
}

static void text_floor(char *buf, size_t size, const ad_atom *a)
{
    char p[128];
    bool sum = a->a.poly && a->a.poly->n > 1;
    ad_dim_text(p, sizeof(p), a->a);
    snprintf(buf, size, sum ? "floor((%s)/%lld)" : "floor(%s/%lld)", p,
             (long long)a->c);
}

static ad_dim rebuild_floor(ad_graph *to, const ad_atom *a, bool resolve)
{
    return ad_dim_div(dim_rebuild(to, a->a, resolve), (size_t)a->c);
}

const dim_kind dim_floor = {"floor", eval_floor, text_floor, rebuild_floor,
                            false};

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

/* One term of a polynomial times `coef`, as a size. */
static ad_dim scaled_term(ad_dim_table *t, const ad_term *term, int64_t coef)
{
    ad_dim d = ad_fixed(1);
    for (int k = 0; k < term->degree; k++)
        d = ad_dim_mul(d, dim_of_atom(t, term->atom[k]));
    return ad_dim_is_invalid(d) || !d.poly
               ? d
               : dim_combine(t, coef, d, 0, ad_fixed(0));
}

ad_dim ad_dim_div(ad_dim a, size_t c)
{
    if (!a.poly) {
        bool bad = ad_dim_is_invalid(a) || c == 0;
        return bad ? ad_dim_invalid() : ad_fixed(a.fixed / c);
    }
    ad_dim_table *t = a.poly->table;
    if (c == 0 || c > INT64_MAX)
        return dim_fail(t, COVAR_ERR_ARG, "division by zero", a, ad_fixed(c));
    const ad_poly *p = a.poly;
    int64_t m = (int64_t)c, common = m, constant = 0;
    ad_dim whole = ad_fixed(0), rest = ad_fixed(0);
    for (int i = 0; i < p->n; i++)
        if (p->term[i].degree > 0)
            common = gcd(common, p->term[i].coef -
                                     m * dim_floor_div(p->term[i].coef, m));
    for (int i = 0; i < p->n; i++) {
        int64_t q = dim_floor_div(p->term[i].coef, m);
        int64_t r = p->term[i].coef - m * q;
        if (p->term[i].degree == 0) {
            constant = dim_floor_div(p->term[i].coef, common);
            continue;
        }
        if (q != 0)
            whole = ad_dim_add(whole, scaled_term(t, &p->term[i], q));
        if (r != 0)
            rest = ad_dim_add(rest, scaled_term(t, &p->term[i], r / common));
    }
    m /= common;
    int64_t lift = dim_floor_div(constant, m); /* whole multiples of m */
    constant -= m * lift;
    if (rest.poly && m > 1) {
        rest = ad_dim_add(rest, ad_fixed((size_t)constant));
        if (ad_dim_is_invalid(rest))
            return rest;
        rest = dim_of_atom(t, &(ad_atom){.kind = &dim_floor,
                                         .a = rest,
                                         .c = m,
                                         .depth = dim_depth(rest) + 1});
    }
    if (ad_dim_is_invalid(whole) || ad_dim_is_invalid(rest))
        return ad_dim_invalid();
    whole = dim_combine(t, 1, whole, 1, rest);
    return ad_dim_is_invalid(whole)
               ? whole
               : dim_combine(t, 1, whole, lift, ad_fixed(1));
}

/* ---- min(a, b) ---------------------------------------------------------- */

static bool eval_min(const ad_atom *a, const size_t *symbol, int64_t *value)
{
    int64_t p, q;
    if (!dim_value(a->a, symbol, &p) || !dim_value(a->b, symbol, &q))
        return false;
    *value = p < q ? p : q;
    return true;
}

static void text_min(char *buf, size_t size, const ad_atom *a)
{
    char p[96], q[96];
    snprintf(buf, size, "min(%s, %s)", ad_dim_text(p, sizeof(p), a->a),
             ad_dim_text(q, sizeof(q), a->b));
}

static ad_dim rebuild_min(ad_graph *to, const ad_atom *a, bool resolve)
{
    return ad_dim_min(dim_rebuild(to, a->a, resolve),
                      dim_rebuild(to, a->b, resolve));
}

const dim_kind dim_min = {"min", eval_min, text_min, rebuild_min, true};

/* Does a exceed b, or the other way, by a constant? */
static bool differ_by_constant(ad_dim a, ad_dim b, int64_t *by)
{
    const ad_poly *p = a.poly, *q = b.poly;
    if (!p || !q)
        return false;
    int64_t c = 0, d = 0;
    int n = p->n, m = q->n;
    if (p->term[n - 1].degree == 0)
        c = p->term[--n].coef;
    if (q->term[m - 1].degree == 0)
        d = q->term[--m].coef;
    if (n != m || dim_mul_overflows(d, -1, &d) || dim_add_overflows(c, d, by))
        return false;
    for (int i = 0; i < n; i++) {
        if (p->term[i].coef != q->term[i].coef ||
            p->term[i].degree != q->term[i].degree)
            return false;
        for (int k = 0; k < p->term[i].degree; k++)
            if (p->term[i].atom[k] != q->term[i].atom[k])
                return false;
    }
    return true;
}

ad_dim ad_dim_min(ad_dim a, ad_dim b)
{
    int64_t by;
    bool good;
    ad_dim_table *t = dim_common_table(&a, &b, &good);
    if (!good)
        return ad_dim_invalid();
    if (!t)
        return a.fixed < b.fixed ? a : b;
    if (ad_dim_same(a, b))
        return a;
    if (differ_by_constant(a, b, &by))
        return by < 0 ? a : b;
    int depth = dim_depth(a) > dim_depth(b) ? dim_depth(a) : dim_depth(b);
    return dim_of_atom(
        t, &(ad_atom){.kind = &dim_min, .a = a, .b = b, .depth = depth + 1});
}
