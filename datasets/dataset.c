/* The data set object: named members and attributes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Both are short lists, searched from the front. */
#include "config.h"

#include "dataset_impl.h"
#include "number.h"

#include <string.h>

enum { NAME_BYTES = 256 };

covar_status dataset_create(dataset **out, covar_context *ctx, const char *name)
{
    if (out)
        *out = NULL;
    if (!out || !ctx)
        return dataset_refuse(ctx, "dataset_create", ctx ? "out" : "ctx");
    covar_heap *heap = covar_context_heap(ctx);
    dataset *d = covar_heap_calloc(heap, 1, sizeof(*d));
    if (!d)
        return covar_fail_nomem(ctx, "dataset_create");
    d->heap = covar_heap_retain(heap);
    d->format = "memory";
    covar_status status = COVAR_OK;
    d->path = covar_heap_strdup(heap, "");
    if (!d->path)
        status = covar_fail_nomem(ctx, "dataset_create");
    if (status == COVAR_OK && name)
        status = dataset_set_attribute(ctx, d, "name", name);
    if (status != COVAR_OK) {
        dataset_free(d);
        return status;
    }
    *out = d;
    return COVAR_OK;
}

static void entry_clear(covar_heap *heap, dataset_entry *e)
{
    covar_heap_free(heap, e->name);
    covar_heap_free(heap, e->data);
}

static void note_clear(covar_heap *heap, dataset_note *n)
{
    covar_heap_free(heap, n->name);
    covar_heap_free(heap, n->text);
}

void dataset_free(dataset *d)
{
    if (!d)
        return;
    covar_heap *heap = d->heap;
    for (size_t i = 0; i < d->n_entry; i++)
        entry_clear(heap, &d->entry[i]);
    for (size_t i = 0; i < d->n_note; i++)
        note_clear(heap, &d->note[i]);
    covar_heap_free(heap, d->entry);
    covar_heap_free(heap, d->note);
    covar_heap_free(heap, d->x_names.name);
    covar_heap_free(heap, d->y_names.name);
    covar_heap_free(heap, d->path);
    covar_heap_free(heap, d);
    covar_heap_release(heap);
}

/* ---- members ---- */

const dataset_entry *dataset_find(const dataset *d, const char *name)
{
    for (size_t i = 0; d && name && i < d->n_entry; i++)
        if (strcmp(d->entry[i].name, name) == 0)
            return &d->entry[i];
    return NULL;
}

la_view dataset_entry_view(const dataset_entry *e)
{
    return la_view_dense(e->data, e->dtype, e->rank, e->dim);
}

la_view dataset_member(const dataset *d, const char *name)
{
    const dataset_entry *e = dataset_find(d, name);
    return e ? dataset_entry_view(e) : la_view_none();
}

size_t dataset_member_count(const dataset *d)
{
    return d ? d->n_entry : 0;
}

const char *dataset_member_name(const dataset *d, size_t i)
{
    return d && i < d->n_entry ? d->entry[i].name : NULL;
}

/* NAME or GROUP/NAME, of a length that any sentence can hold. */
static bool is_member_name(const char *name)
{
    size_t length = strlen(name);
    const char *slash = strchr(name, '/');
    bool plain = length > 0 && length < NAME_BYTES && strcmp(name, ".") != 0;
    return plain && (!slash || (slash != name && slash[1] != '\0' &&
                                !strchr(slash + 1, '/')));
}

/* Room for one more element of a list; false when out of memory. */
static bool make_room(covar_heap *heap, void **list, size_t n, size_t *room,
                      size_t size)
{
    if (n < *room)
        return true;
    size_t more = *room > 0 ? 2 * *room : 8;
    void *grown = covar_heap_grow(heap, *list, n, more, size);
    if (!grown)
        return false;
    *list = grown;
    *room = more;
    return true;
}

covar_status dataset_adopt(covar_context *ctx, dataset *d, const char *name,
                           la_dtype dtype, int rank, const size_t *dim,
                           void *data)
{
    dataset_entry e = {.data = data, .dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++)
        e.dim[i] = dim[i];
    void *list = d->entry;
    e.name = covar_heap_strdup(d->heap, name);
    if (!e.name ||
        !make_room(d->heap, &list, d->n_entry, &d->entry_room, sizeof(e))) {
        entry_clear(d->heap, &e);
        return covar_fail_nomem(ctx, name);
    }
    d->entry = list;
    d->entry[d->n_entry++] = e;
    return COVAR_OK;
}

static void remove_entry(dataset *d, size_t i)
{
    entry_clear(d->heap, &d->entry[i]);
    d->n_entry--;
    memmove(d->entry + i, d->entry + i + 1,
            (d->n_entry - i) * sizeof(*d->entry));
}

/* Exchanges new member `last` with the old one of its name, renews the names
 * and drops the loser: the old one, or the new one after a failure. */
static covar_status settle(covar_context *ctx, dataset *d, size_t old)
{
    size_t last = d->n_entry - 1;
    dataset_entry e = d->entry[old];
    d->entry[old] = d->entry[last];
    d->entry[last] = e;
    if (old != last)
        d->n_entry--;
    covar_status status = dataset_finish(ctx, d);
    if (old != last)
        d->n_entry++;
    if (status != COVAR_OK) {
        e = d->entry[old];
        d->entry[old] = d->entry[last];
        d->entry[last] = e;
    }
    if (old != last || status != COVAR_OK)
        remove_entry(d, last);
    return status;
}

/* Copies a view of any strides into dense memory, the last dim innermost. */
static void copy_dense(char *to, la_view x, size_t count)
{
    size_t size = la_dtype_size(x.dtype);
    size_t index[LA_MAX_DIMS] = {0};
    ptrdiff_t at = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(to + i * size, (const char *)x.data + at * (ptrdiff_t)size,
               size);
        for (int k = x.rank - 1; k >= 0; k--) {
            at += x.stride[k];
            if (++index[k] < x.dim[k])
                break;
            at -= (ptrdiff_t)index[k] * x.stride[k];
            index[k] = 0;
        }
    }
}

covar_status dataset_set_member(covar_context *ctx, dataset *d,
                                const char *name, la_view x)
{
    if (!ctx || !d || !name)
        return dataset_refuse(ctx, "dataset_set_member",
                              !ctx ? "ctx"
                              : d  ? "name"
                                   : "d");
    if (!is_member_name(name))
        return covar_fail(ctx, COVAR_ERR_NAME,
                          "dataset_set_member: `%s` is no name of a member",
                          name);
    size_t old = 0;
    while (old < d->n_entry && strcmp(d->entry[old].name, name) != 0)
        old++;
    if (la_view_is_none(x)) {
        if (old < d->n_entry)
            remove_entry(d, old);
        return dataset_finish(ctx, d);
    }
    size_t count = 0;
    if (!la_view_is_valid(x) || x.device ||
        !dataset_shape_count(&count, x.rank, x.dim, la_dtype_size(x.dtype)))
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "dataset_set_member: `%s` has dtype %s, rank %d, no "
                          "data, too many elements, or is not in host memory",
                          name, la_dtype_name(x.dtype), x.rank);
    char *data = covar_heap_alloc(d->heap, count, la_dtype_size(x.dtype));
    if (!data)
        return covar_fail_nomem(ctx, "dataset_set_member");
    copy_dense(data, x, count);
    COVAR_TRY(dataset_adopt(ctx, d, name, x.dtype, x.rank, x.dim, data));
    return settle(ctx, d, old);
}

/* ---- attributes ---- */

static dataset_note *find_note(const dataset *d, const char *name)
{
    for (size_t i = 0; d && name && i < d->n_note; i++)
        if (strcmp(d->note[i].name, name) == 0)
            return &d->note[i];
    return NULL;
}

const char *dataset_attribute(const dataset *d, const char *name)
{
    const dataset_note *n = find_note(d, name);
    return n ? n->text : NULL;
}

double dataset_attribute_number(const dataset *d, const char *name,
                                double otherwise)
{
    const dataset_note *n = find_note(d, name);
    return n && n->is_number ? n->value : otherwise;
}

size_t dataset_attribute_count(const dataset *d)
{
    return d ? d->n_note : 0;
}

const char *dataset_attribute_name(const dataset *d, size_t i)
{
    return d && i < d->n_note ? d->note[i].name : NULL;
}

static covar_status put_note(covar_context *ctx, dataset *d, const char *name,
                             const char *text, bool is_number, double value)
{
    if (name[0] == '\0' || strlen(name) >= NAME_BYTES)
        return covar_fail(ctx, COVAR_ERR_NAME,
                          "dataset_set_attribute: `%.40s` is no name", name);
    dataset_note n = {.value = value, .is_number = is_number};
    dataset_note *old = find_note(d, name);
    void *list = d->note;
    n.name = covar_heap_strdup(d->heap, name);
    n.text = covar_heap_strdup(d->heap, text);
    if (!n.name || !n.text ||
        (!old &&
         !make_room(d->heap, &list, d->n_note, &d->note_room, sizeof(n)))) {
        note_clear(d->heap, &n);
        return covar_fail_nomem(ctx, "dataset_set_attribute");
    }
    d->note = list;
    if (!old)
        old = &d->note[d->n_note++];
    else
        note_clear(d->heap, old);
    *old = n;
    return COVAR_OK;
}

covar_status dataset_set_attribute(covar_context *ctx, dataset *d,
                                   const char *name, const char *text)
{
    if (!ctx || !d || !name || !text)
        return dataset_refuse(ctx, "dataset_set_attribute",
                              !ctx    ? "ctx"
                              : !d    ? "d"
                              : !name ? "name"
                                      : "text");
    COVAR_TRY(put_note(ctx, d, name, text, false, 0.0));
    bool names = strcmp(name, "columns") == 0 || strcmp(name, "columns_Y") == 0;
    return names ? dataset_finish(ctx, d) : COVAR_OK;
}

covar_status dataset_set_number(covar_context *ctx, dataset *d,
                                const char *name, double value)
{
    char text[COVAR_NUMBER_TEXT];
    if (!ctx || !d || !name)
        return dataset_refuse(ctx, "dataset_set_number",
                              !ctx ? "ctx"
                              : d  ? "name"
                                   : "d");
    return put_note(ctx, d, name, covar_number_print(text, value), true, value);
}
