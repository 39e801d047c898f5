/* Fields: the attributes of operators, handled by their tables alone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Equality here decides which nodes are one node: -0 equals +0, all NaN are
 * equal, arrays of up to 256 bytes are compared by content and larger ones by
 * identity, bodies by structure. Hashes agree with it, and are the same in any
 * graph and any process except for fields compared by identity. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <math.h>
#include <string.h>

enum { MERGE_BYTES = 256 };

static const ad_field no_fields[] = {{NULL, AD_FIELD_INT, 0}};

static const ad_field *table_of(const ad_op *op)
{
    return op->fields ? op->fields : no_fields;
}

static const void *at(const void *fields, const ad_field *f)
{
    return (const char *)fields + f->offset;
}

/* ---- Hashing ------------------------------------------------------------ */

uint64_t ad_hash_mix(uint64_t a, uint64_t b)
{
    uint64_t h = a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2));
    h ^= h >> 30;
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 27;
    h *= 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

static uint64_t hash_bytes(const void *p, size_t n)
{
    const unsigned char *byte = p;
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ byte[i]) * 0x100000001b3u;
    return h;
}

uint64_t ad_hash_text(const char *text)
{
    return text ? hash_bytes(text, strlen(text)) : 0;
}

static uint64_t hash_real(double v)
{
    if (isnan(v))
        return 1;
    v = v == 0 ? 0.0 : v;
    return hash_bytes(&v, sizeof(v));
}

static size_t byte_count(la_view x)
{
    return la_view_count(x) * la_dtype_size(x.dtype);
}

static bool by_content(la_view x)
{
    return !x.device && byte_count(x) <= MERGE_BYTES;
}

static uint64_t hash_array(const la_array *a)
{
    if (!a)
        return 0;
    la_view x = la_array_view(a);
    uint64_t h = by_content(x) ? hash_bytes(x.data, byte_count(x))
                               : (uint64_t)(uintptr_t)a;
    h = ad_hash_mix(h, (uint64_t)x.dtype);
    for (int i = 0; i < x.rank; i++)
        h = ad_hash_mix(h, x.dim[i]);
    return h;
}

static uint64_t hash_field(const ad_field *f, const void *p)
{
    uint64_t h = 0;
    switch (f->kind) {
    case AD_FIELD_INT:
        return (uint64_t) * (const int64_t *)p;
    case AD_FIELD_REAL:
        return hash_real(*(const double *)p);
    case AD_FIELD_DIM:
        return ad_dim_hash(*(const ad_dim *)p);
    case AD_FIELD_DIMS: {
        const ad_dims *d = p;
        for (int i = 0; i < d->rank; i++)
            h = ad_hash_mix(h, ad_dim_hash(d->dim[i]));
        return ad_hash_mix(h, (uint64_t)d->rank);
    }
    case AD_FIELD_AXES: {
        const ad_axes *a = p;
        for (int i = 0; i < a->n; i++)
            h = ad_hash_mix(h, (uint64_t)a->axis[i]);
        return ad_hash_mix(h, (uint64_t)a->n);
    }
    case AD_FIELD_TEXT:
        return ad_hash_text(*(const char *const *)p);
    case AD_FIELD_ARRAY:
        return hash_array(*(la_array *const *)p);
    case AD_FIELD_BODY: {
        const ad_body *b = *(ad_body *const *)p;
        return b ? b->hash : 0;
    }
    case AD_FIELD_POINTER:
        return (uint64_t)(uintptr_t) * (void *const *)p;
    }
    return h;
}

uint64_t ad_fields_hash(const ad_op *op, const void *fields, uint64_t seed)
{
    uint64_t h = seed;
    for (const ad_field *f = table_of(op); f->name; f++)
        h = ad_hash_mix(h, hash_field(f, at(fields, f)));
    return h;
}

/* ---- Equality ----------------------------------------------------------- */

static bool equal_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool equal_array(const la_array *a, const la_array *b)
{
    if (a == b || !a || !b)
        return a == b;
    la_view x = la_array_view(a), y = la_array_view(b);
    return x.dtype == y.dtype && la_view_same_dims(x, y) && by_content(x) &&
           by_content(y) &&
           (byte_count(x) == 0 || memcmp(x.data, y.data, byte_count(x)) == 0);
}

static bool equal_dims(const ad_dims *a, const ad_dims *b)
{
    bool equal = a->rank == b->rank;
    for (int i = 0; equal && i < a->rank; i++)
        equal = ad_dim_same(a->dim[i], b->dim[i]);
    return equal;
}

static bool equal_axes(const ad_axes *a, const ad_axes *b)
{
    bool equal = a->n == b->n;
    for (int i = 0; equal && i < a->n; i++)
        equal = a->axis[i] == b->axis[i];
    return equal;
}

static bool equal_field(const ad_field *f, const void *p, const void *q)
{
    switch (f->kind) {
    case AD_FIELD_INT:
        return *(const int64_t *)p == *(const int64_t *)q;
    case AD_FIELD_REAL: {
        double a = *(const double *)p, b = *(const double *)q;
        return a == b || (isnan(a) && isnan(b));
    }
    case AD_FIELD_DIM:
        return ad_dim_same(*(const ad_dim *)p, *(const ad_dim *)q);
    case AD_FIELD_DIMS:
        return equal_dims(p, q);
    case AD_FIELD_AXES:
        return equal_axes(p, q);
    case AD_FIELD_TEXT:
        return equal_text(*(const char *const *)p, *(const char *const *)q);
    case AD_FIELD_ARRAY:
        return equal_array(*(la_array *const *)p, *(la_array *const *)q);
    case AD_FIELD_BODY:
        return ad_body_equal(*(ad_body *const *)p, *(ad_body *const *)q);
    case AD_FIELD_POINTER:
        return *(void *const *)p == *(void *const *)q;
    }
    return false;
}

bool ad_fields_equal(const ad_op *op, const void *a, const void *b)
{
    for (const ad_field *f = table_of(op); f->name; f++)
        if (!equal_field(f, at(a, f), at(b, f)))
            return false;
    return true;
}

bool ad_fields_have(const ad_op *op, ad_field_kind kind)
{
    for (const ad_field *f = table_of(op); f->name; f++)
        if (f->kind == kind)
            return true;
    return false;
}

static bool foreign(const ad_graph *g, ad_dim d)
{
    const ad_graph *home = ad_dim_graph(d);
    while (g && home && g != home)
        g = g->parent;
    return home && g != home;
}

bool ad_fields_foreign(const ad_graph *g, const ad_op *op, const void *fields)
{
    for (const ad_field *f = table_of(op); f->name; f++) {
        const void *p = at(fields, f);
        if (f->kind == AD_FIELD_DIM && foreign(g, *(const ad_dim *)p))
            return true;
        if (f->kind != AD_FIELD_DIMS)
            continue;
        const ad_dims *d = p;
        for (int i = 0; i < d->rank; i++)
            if (foreign(g, d->dim[i]))
                return true;
    }
    return false;
}

bool ad_fields_mergeable(const ad_op *op)
{
    return !ad_fields_have(op, AD_FIELD_POINTER);
}

/* ---- Copies ------------------------------------------------------------- */

static bool copy_text(ad_graph *g, const char **to, const char *from)
{
    *to = NULL;
    if (!from)
        return true;
    size_t bytes = strlen(from) + 1;
    char *text = ad_arena_alloc(g->arena, bytes);
    if (text)
        *to = memcpy(text, from, bytes);
    return text != NULL;
}

static void copy_dims(ad_graph *g, ad_dims *to)
{
    for (int i = 0; i < to->rank; i++)
        to->dim[i] = ad_dim_import(g, to->dim[i]);
}

bool ad_fields_copy(ad_graph *g, const ad_op *op, void *to, const void *from)
{
    bool good = true;
    if (op->fields_size > 0)
        memcpy(to, from, op->fields_size);
    for (const ad_field *f = table_of(op); f->name; f++) {
        void *p = (char *)to + f->offset;
        switch (f->kind) {
        case AD_FIELD_TEXT:
            good = copy_text(g, p, *(const char *const *)at(from, f)) && good;
            break;
        case AD_FIELD_ARRAY:
            la_array_retain(*(la_array **)p);
            break;
        case AD_FIELD_BODY:
            ad_body_retain(*(ad_body **)p);
            break;
        case AD_FIELD_DIM:
            *(ad_dim *)p = ad_dim_import(g, *(ad_dim *)p);
            break;
        case AD_FIELD_DIMS:
            copy_dims(g, p);
            break;
        default:
            break;
        }
    }
    return good;
}

void ad_fields_release(const ad_op *op, void *fields)
{
    for (const ad_field *f = table_of(op); f->name; f++) {
        void *p = (char *)fields + f->offset;
        if (f->kind == AD_FIELD_ARRAY)
            la_array_free(*(la_array **)p);
        else if (f->kind == AD_FIELD_BODY)
            ad_body_release(*(ad_body **)p);
    }
}
