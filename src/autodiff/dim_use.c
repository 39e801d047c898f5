/* Sizes in use: values, text, binding, stated equalities, other graphs.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/dim_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- Properties --------------------------------------------------------- */

bool ad_dim_same(ad_dim a, ad_dim b)
{
    return a.poly == b.poly && a.fixed == b.fixed;
}

bool ad_dim_is_fixed(ad_dim a, size_t *value)
{
    if (a.poly || ad_dim_is_invalid(a))
        return false;
    if (value)
        *value = a.fixed;
    return true;
}

ad_graph *ad_dim_graph(ad_dim d)
{
    return d.poly ? d.poly->table->g : NULL;
}

uint64_t ad_dim_hash(ad_dim d)
{
    return d.poly ? d.poly->hash : ad_hash_mix(d.fixed, 3);
}

int dim_depth(ad_dim d)
{
    return d.poly ? d.poly->depth : 0;
}

size_t ad_dim_symbol_count(const ad_dim_table *t)
{
    return t->n_symbol;
}

const char *ad_dim_symbol_name(const ad_dim_table *t, size_t i)
{
    return i < t->n_symbol ? t->symbol[i]->name : NULL;
}

/* ---- Values ------------------------------------------------------------- */

bool dim_value(ad_dim d, const size_t *symbol, int64_t *value)
{
    *value = 0;
    if (!d.poly) {
        *value = (int64_t)d.fixed;
        return !ad_dim_is_invalid(d);
    }
    for (int i = 0; i < d.poly->n; i++) {
        const ad_term *t = &d.poly->term[i];
        int64_t product = t->coef, factor;
        for (int k = 0; k < t->degree; k++)
            if (!t->atom[k]->kind->eval(t->atom[k], symbol, &factor) ||
                dim_mul_overflows(product, factor, &product))
                return false;
        if (dim_add_overflows(*value, product, value))
            return false;
    }
    return true;
}

covar_status ad_dim_eval(const ad_graph *g, ad_dim d, const size_t *symbol,
                         size_t *value)
{
    char text[256];
    int64_t v;
    if (!dim_value(d, symbol, &v))
        return covar_fail(g->ctx, COVAR_ERR_SHAPE,
                          "size %s: a symbol has no value yet, or it overflows",
                          ad_dim_text(text, sizeof(text), d));
    if (v < 0)
        return covar_fail(g->ctx, COVAR_ERR_SHAPE, "size %s is %lld: negative",
                          ad_dim_text(text, sizeof(text), d), (long long)v);
    *value = (size_t)v;
    return COVAR_OK;
}

ad_atom *dim_bare_symbol(ad_dim d)
{
    const ad_term *t = d.poly ? d.poly->term : NULL;
    if (!t || d.poly->n != 1 || t->coef != 1 || t->degree != 1 ||
        t->atom[0]->kind != &dim_symbol)
        return NULL;
    return d.poly->table->symbol[t->atom[0]->symbol];
}

bool ad_dim_bind(ad_dim d, size_t actual, size_t *symbol, bool *bound)
{
    const ad_atom *a = dim_bare_symbol(d);
    if (!d.poly)
        return d.fixed == actual;
    if (!a)
        return true;
    if (bound[a->symbol])
        return symbol[a->symbol] == actual;
    symbol[a->symbol] = actual;
    bound[a->symbol] = true;
    return true;
}

/* ---- Text --------------------------------------------------------------- */

/* Appends to buf; what does not fit is cut. */
static void put(char *buf, size_t size, size_t *used, const char *text)
{
    size_t room = *used < size ? size - *used : 0;
    int n = snprintf(buf + (room ? *used : 0), room, "%s", text);
    *used += n > 0 ? (size_t)n : 0;
}

static void put_term(char *buf, size_t size, size_t *used, const ad_term *t,
                     bool first)
{
    char text[160];
    bool negative = t->coef < 0;
    put(buf, size, used, negative ? (first ? "-" : " - ") : first ? "" : " + ");
    uint64_t coef = negative ? 0 - (uint64_t)t->coef : (uint64_t)t->coef;
    if (coef != 1 || t->degree == 0) {
        snprintf(text, sizeof(text), t->degree ? "%llu*" : "%llu",
                 (unsigned long long)coef);
        put(buf, size, used, text);
    }
    for (int k = 0; k < t->degree;) {
        int power = 1;
        while (k + power < t->degree && t->atom[k + power] == t->atom[k])
            power++;
        t->atom[k]->kind->text(text, sizeof(text), t->atom[k]);
        put(buf, size, used, text);
        snprintf(text, sizeof(text), "^%d", power);
        put(buf, size, used, power > 1 ? text : "");
        k += power;
        put(buf, size, used, k < t->degree ? "*" : "");
    }
}

const char *ad_dim_text(char *buf, size_t size, ad_dim a)
{
    size_t used = 0;
    if (!buf || size == 0)
        return "";
    buf[0] = '\0';
    if (ad_dim_is_invalid(a))
        snprintf(buf, size, "?");
    else if (!a.poly)
        snprintf(buf, size, "%zu", a.fixed);
    for (int i = 0; a.poly && i < a.poly->n; i++)
        put_term(buf, size, &used, &a.poly->term[i], i == 0);
    return buf;
}

const char *ad_type_describe(char *buf, size_t size, const ad_type *type)
{
    size_t used = 0;
    char text[128];
    if (!buf || !type || size == 0)
        return "";
    buf[0] = '\0';
    if (type->rank == 0)
        put(buf, size, &used, "scalar");
    for (int i = 0; i < type->rank; i++) {
        bool sum = type->dim[i].poly && type->dim[i].poly->n > 1;
        ad_dim_text(text, sizeof(text), type->dim[i]);
        put(buf, size, &used, i ? " x " : "");
        put(buf, size, &used, sum ? "(" : "");
        put(buf, size, &used, text);
        put(buf, size, &used, sum ? ")" : "");
    }
    put(buf, size, &used, " ");
    put(buf, size, &used, la_dtype_name(type->dtype));
    return buf;
}
