/* What the tests of data sets share: temporary files and their content.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DATASETS_UTIL_H
#define DATASETS_UTIL_H

#include <covar/dataset.h>
#include <covar/rng.h>
#include "test_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct temp_path {
    char text[64];
} temp_path;

/* A name in the current folder that no other process uses. */
static inline temp_path temp_name(const char *name)
{
    temp_path p;
    snprintf(p.text, sizeof(p.text), "dataset-%ld-%s", (long)getpid(), name);
    return p;
}

static inline bool write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(bytes, 1, n, f) == n;
    return f && fclose(f) == 0 && good;
}

/* The content of a file, for free(); NULL if there is none. */
static inline char *read_bytes(size_t *n, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*n + 1);
    if (bytes && fread(bytes, 1, *n, f) != *n) {
        free(bytes);
        bytes = NULL;
    }
    fclose(f);
    return bytes;
}

/* Loads a file of these bytes; the file is removed again. */
static inline covar_status load_bytes(dataset **out, covar_context *ctx,
                                      const void *bytes, size_t n)
{
    temp_path p = temp_name("bytes");
    if (!write_bytes(p.text, bytes, n))
        return covar_fail(ctx, COVAR_ERR_IO, "the test cannot write");
    covar_status status = dataset_load(out, ctx, p.text);
    remove(p.text);
    return status;
}

/* Do two data sets have equal members (to the bit) and attributes? */
static inline void check_same(const dataset *a, const dataset *b)
{
    TEST_INT(dataset_member_count(a), dataset_member_count(b));
    TEST_INT(dataset_attribute_count(a), dataset_attribute_count(b));
    for (size_t i = 0; i < dataset_member_count(a); i++) {
        const char *name = dataset_member_name(a, i);
        la_view x = dataset_member(a, name), y = dataset_member(b, name);
        bool same = x.dtype == y.dtype && la_view_same_dims(x, y);
        test_check(same, __FILE__, __LINE__, "member %s differs in type", name);
        if (same)
            test_check(memcmp(x.data, y.data,
                              la_view_count(x) * la_dtype_size(x.dtype)) == 0,
                       __FILE__, __LINE__, "member %s differs", name);
    }
    for (size_t i = 0; i < dataset_attribute_count(a); i++) {
        const char *name = dataset_attribute_name(a, i);
        TEST_TEXT(dataset_attribute(b, name), dataset_attribute(a, name));
    }
}

#endif
