/* Reads IDX, the format of MNIST: 0 0 TYPE RANK, RANK sizes of 4 bytes, then
 * the elements, all big-endian.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "dataset_impl.h"

#include <string.h>

typedef struct idx_type {
    uint8_t code;
    size_t size;
    la_dtype dtype; /* ours */
} idx_type;

static const idx_type types[] = {
    {0x08, 1, LA_U8},  {0x09, 1, LA_I32}, {0x0b, 2, LA_I32},
    {0x0c, 4, LA_I32}, {0x0d, 4, LA_F32}, {0x0e, 8, LA_F64},
};

static const idx_type *find_type(uint8_t code)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].code == code)
            return &types[i];
    return NULL;
}

bool dataset_is_idx(const char *content, size_t size)
{
    const uint8_t *c = (const uint8_t *)content;
    return size >= 4 && c[0] == 0 && c[1] == 0 && find_type(c[2]);
}

static uint64_t big_endian(const uint8_t *c, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word = word << 8 | c[i];
    return word;
}

/* Element at c as type `code`, into place i of an array of its dtype. */
static void store(void *out, size_t i, const uint8_t *c, const idx_type *t)
{
    uint64_t word = big_endian(c, t->size);
    uint32_t half = (uint32_t)word;
    switch (t->code) {
    case 0x08:
        ((uint8_t *)out)[i] = (uint8_t)word;
        break;
    case 0x09:
        ((int32_t *)out)[i] = (int32_t)word - (word >> 7 ? 0x100 : 0);
        break;
    case 0x0b:
        ((int32_t *)out)[i] = (int32_t)word - (word >> 15 ? 0x10000 : 0);
        break;
    case 0x0e:
        memcpy((double *)out + i, &word, sizeof(word));
        break;
    default: /* i32 and f32: four bytes as they are */
        memcpy((uint32_t *)out + i, &half, sizeof(half));
    }
}

/* The member an array becomes; labels are i32 whatever their width. */
static const char *member_name(la_dtype *dtype, int rank)
{
    bool real = *dtype == LA_F64 || *dtype == LA_F32;
    if (rank == 3 && *dtype == LA_U8)
        return "images";
    if (rank == 2)
        return "X";
    if (rank == 1 && real)
        return "y";
    if (rank != 1)
        return "data";
    *dtype = LA_I32;
    return "labels";
}

static covar_status read_head(size_t *count, size_t dim[LA_MAX_DIMS],
                              covar_context *ctx, const dataset *d,
                              const uint8_t *c, size_t size)
{
    const idx_type *t = find_type(c[2]);
    size_t rank = c[3], head = 4 + 4 * rank;
    if (rank > LA_MAX_DIMS)
        return covar_fail(ctx, COVAR_ERR_FORMAT,
                          "%s: IDX of %zu dims, more than %d", d->path, rank,
                          LA_MAX_DIMS);
    if (size < head)
        return covar_fail(ctx, COVAR_ERR_FORMAT,
                          "%s: IDX is cut off: %zu bytes, a head takes %zu",
                          d->path, size, head);
    for (size_t i = 0; i < rank; i++)
        dim[i] = (size_t)big_endian(c + 4 + 4 * i, 4);
    if (!dataset_shape_count(count, (int)rank, dim, sizeof(double)))
        return covar_fail(ctx, COVAR_ERR_FORMAT,
                          "%s: IDX with more elements than memory can hold",
                          d->path);
    size_t expected = head + *count * t->size;
    if (size != expected)
        return covar_fail(
            ctx, COVAR_ERR_FORMAT, "%s: IDX is %s: %zu bytes instead of %zu",
            d->path, size < expected ? "cut off" : "too long", size, expected);
    return COVAR_OK;
}

covar_status dataset_read_idx(covar_context *ctx, dataset *d,
                              const char *content, size_t size)
{
    const uint8_t *c = (const uint8_t *)content;
    size_t count = 0, dim[LA_MAX_DIMS] = {0};
    d->format = "IDX";
    COVAR_TRY(read_head(&count, dim, ctx, d, c, size));
    const idx_type *t = find_type(c[2]);
    int rank = c[3];
    la_dtype dtype = t->dtype;
    const char *name = member_name(&dtype, rank);
    void *data = covar_heap_alloc(d->heap, count, la_dtype_size(dtype));
    if (!data)
        return covar_fail_nomem(ctx, "dataset_load");
    c += 4 + 4 * (size_t)rank;
    for (size_t i = 0; i < count; i++, c += t->size) {
        if (t->dtype == LA_U8 && dtype == LA_I32)
            ((int32_t *)data)[i] = *c;
        else
            store(data, i, c, t);
    }
    return dataset_adopt(ctx, d, name, dtype, rank, dim, data);
}
