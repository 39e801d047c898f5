/* Reads the attributes of the root of an HDF5 file: strings of fixed or
 * variable length and numbers, single or in lists.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_hdf5.h"
#include "number.h"

#include <string.h>

enum {
    MOST_ATTRIBUTES = 1000,
    MOST_BYTES = 1 << 20 /* of one attribute */
};

/* Text that grows. */
typedef struct text {
    covar_heap *heap;
    char *at;
    size_t length, room;
} text;

static bool text_add(text *t, const char *more, size_t n)
{
    if (t->length + n + 1 > t->room) {
        size_t room = 2 * (t->length + n + 1);
        char *grown = covar_heap_grow(t->heap, t->at, t->length, room, 1);
        if (!grown)
            return false;
        t->at = grown;
        t->room = room;
    }
    memcpy(t->at + t->length, more, n);
    t->length += n;
    t->at[t->length] = '\0';
    return true;
}

/* Length without the padding of a fixed-length string. */
static size_t unpadded(const char *s, size_t size, H5T_str_t pad)
{
    const char *zero = memchr(s, 0, size);
    size_t n = zero ? (size_t)(zero - s) : size;
    while (pad == H5T_STR_SPACEPAD && n > 0 && s[n - 1] == ' ')
        n--;
    return n;
}

static bool join_fixed(text *t, const char *buf, size_t n, size_t size,
                       H5T_str_t pad)
{
    bool good = text_add(t, "", 0);
    for (size_t i = 0; good && i < n; i++) {
        const char *s = buf + i * size;
        good = (i == 0 || text_add(t, ",", 1)) &&
               text_add(t, s, unpadded(s, size, pad));
    }
    return good;
}

static bool join_variable(text *t, char *const *s, size_t n)
{
    bool good = text_add(t, "", 0);
    for (size_t i = 0; good && i < n; i++) {
        size_t length = s[i] ? strlen(s[i]) : 0;
        good = (i == 0 || text_add(t, ",", 1)) &&
               text_add(t, s[i] ? s[i] : "", length);
    }
    return good;
}

static bool join_numbers(text *t, const double *x, size_t n)
{
    bool good = text_add(t, "", 0);
    for (size_t i = 0; good && i < n; i++) {
        char number[COVAR_NUMBER_TEXT];
        covar_number_print(number, x[i]);
        good = (i == 0 || text_add(t, ",", 1)) &&
               text_add(t, number, strlen(number));
    }
    return good;
}

/* The attribute being read. */
typedef struct attribute {
    hdf5_reader *r;
    const char *name;
    hid_t id, type, space;
    size_t n, size;
} attribute;

static covar_status broken(const attribute *a)
{
    return hdf5_fail(a->r->ctx, a->r->d->path, a->name, COVAR_ERR_FORMAT,
                     "(attribute) cannot be read");
}

static covar_status read_string(attribute *a)
{
    covar_heap *heap = a->r->d->heap;
    text t = {.heap = heap};
    bool variable = H5Tis_variable_str(a->type) > 0;
    covar_status status = COVAR_OK;
    char *buf = covar_heap_calloc(heap, a->n, a->size);
    if (!buf)
        return covar_fail_nomem(a->r->ctx, "dataset_load");
    bool good = false;
    if (H5Aread(a->id, a->type, buf) < 0)
        status = broken(a);
    else if (variable) {
        good = join_variable(&t, (char *const *)(void *)buf, a->n);
        H5Dvlen_reclaim(a->type, a->space, H5P_DEFAULT, buf);
    } else
        good = join_fixed(&t, buf, a->n, a->size, H5Tget_strpad(a->type));
    if (status == COVAR_OK)
        status = good ? dataset_set_attribute(a->r->ctx, a->r->d, a->name, t.at)
                      : covar_fail_nomem(a->r->ctx, "dataset_load");
    covar_heap_free(heap, t.at);
    covar_heap_free(heap, buf);
    return status;
}

static covar_status read_number(attribute *a)
{
    covar_heap *heap = a->r->d->heap;
    text t = {.heap = heap};
    double *x = covar_heap_calloc(heap, a->n, sizeof(*x));
    covar_status status = COVAR_OK;
    if (!x)
        return covar_fail_nomem(a->r->ctx, "dataset_load");
    if (H5Aread(a->id, H5T_NATIVE_DOUBLE, x) < 0)
        status = broken(a);
    else if (a->n == 1)
        status = dataset_set_number(a->r->ctx, a->r->d, a->name, x[0]);
    else
        status = join_numbers(&t, x, a->n)
                     ? dataset_set_attribute(a->r->ctx, a->r->d, a->name, t.at)
                     : covar_fail_nomem(a->r->ctx, "dataset_load");
    covar_heap_free(heap, t.at);
    covar_heap_free(heap, x);
    return status;
}

static covar_status read_opened(attribute *a)
{
    a->type = H5Aget_type(a->id);
    a->space = H5Aget_space(a->id);
    if (a->type < 0 || a->space < 0)
        return broken(a);
    H5T_class_t class = H5Tget_class(a->type);
    hssize_t n = H5Sget_simple_extent_npoints(a->space);
    a->size = H5Tget_size(a->type);
    bool number = class == H5T_INTEGER || class == H5T_FLOAT;
    if ((class != H5T_STRING && !number) || n <= 0 || a->size == 0)
        return COVAR_OK;
    if ((size_t)n > MOST_BYTES / sizeof(double) ||
        (size_t)n > MOST_BYTES / a->size)
        return covar_fail(a->r->ctx, COVAR_ERR_FORMAT,
                          "%s: `%s` (attribute) is larger than 1 MiB",
                          a->r->d->path, a->name);
    a->n = (size_t)n;
    return number ? read_number(a) : read_string(a);
}

static herr_t visit(hid_t root, const char *name, const H5A_info_t *info,
                    void *data)
{
    hdf5_reader *r = data;
    (void)info;
    attribute a = {.r = r, .name = name, .type = -1, .space = -1};
    if (r->d->n_note >= MOST_ATTRIBUTES) {
        r->status =
            covar_fail(r->ctx, COVAR_ERR_FORMAT, "%s: more than %d attributes",
                       r->d->path, MOST_ATTRIBUTES);
        return -1;
    }
    a.id = H5Aopen(root, name, H5P_DEFAULT);
    r->status = a.id < 0 ? broken(&a) : read_opened(&a);
    if (a.space >= 0)
        H5Sclose(a.space);
    if (a.type >= 0)
        H5Tclose(a.type);
    if (a.id >= 0)
        H5Aclose(a.id);
    return r->status == COVAR_OK ? 0 : -1;
}

covar_status hdf5_read_attributes(hdf5_reader *r)
{
    hsize_t start = 0;
    hid_t root = H5Gopen2(r->file, "/", H5P_DEFAULT);
    if (root < 0)
        return hdf5_fail(r->ctx, r->d->path, "/", COVAR_ERR_FORMAT,
                         "cannot be opened");
    if (H5Aiterate2(root, H5_INDEX_NAME, H5_ITER_INC, &start, visit, r) < 0 &&
        r->status == COVAR_OK)
        r->status = hdf5_fail(r->ctx, r->d->path, NULL, COVAR_ERR_FORMAT,
                              "the attributes cannot be listed");
    H5Gclose(root);
    return r->status;
}
