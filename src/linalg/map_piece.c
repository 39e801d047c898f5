/* Blocks of a map program to and from operands that are not contiguous.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A block is a run of the flat index; within one row of the nest it is a
 * strided piece of the operand. */
#include <config.h>

#include "linalg/map_plan.h"
#include "linalg/triangle.h"

#include <math.h>
#include <string.h>

const double la_map_neutral[] = {[LA_REDUCE_SUM] = 0,
                                 [LA_REDUCE_MAX] = -(double)INFINITY,
                                 [LA_REDUCE_MIN] = (double)INFINITY};

double la_map_join(la_reduce_kind kind, double a, double b)
{
    if (kind == LA_REDUCE_SUM)
        return a + b;
    const bool better = kind == LA_REDUCE_MAX ? b > a : b < a;
    return better || isnan(b) ? b : a;
}

/* n elements of a block, a piece of one row: `base` is the operand's data. */
typedef struct piece {
    char *block;
    char *base;
    ptrdiff_t first, stride; /* in elements */
    size_t n;
} piece;

static void read_piece(const piece *p, size_t size)
{
    const char *x = p->base + p->first * (ptrdiff_t)size;
    const ptrdiff_t step = p->stride * (ptrdiff_t)size;
    if (p->stride == 1)
        memcpy(p->block, x, p->n * size);
    else if (size == sizeof(double))
        for (size_t i = 0; i < p->n; i++, x += step)
            memcpy(p->block + i * sizeof(double), x, sizeof(double));
    else
        for (size_t i = 0; i < p->n; i++, x += step)
            memcpy(p->block + i * sizeof(float), x, sizeof(float));
}

static void write_piece(const piece *p, size_t size)
{
    char *x = p->base + p->first * (ptrdiff_t)size;
    const ptrdiff_t step = p->stride * (ptrdiff_t)size;
    if (p->stride == 1)
        memcpy(x, p->block, p->n * size);
    else if (size == sizeof(double))
        for (size_t i = 0; i < p->n; i++, x += step)
            memcpy(x, p->block + i * sizeof(double), sizeof(double));
    else
        for (size_t i = 0; i < p->n; i++, x += step)
            memcpy(x, p->block + i * sizeof(float), sizeof(float));
}

static double element(const char *x, size_t size)
{
    return size == sizeof(double) ? *(const double *)(const void *)x
                                  : (double)*(const float *)(const void *)x;
}

/* The piece's elements into accumulators `base`. */
static void reduce_piece(const la_map_plan *p, la_reduce_kind kind,
                         const piece *q)
{
    double *acc = (double *)(void *)q->base + q->first;
    if (q->stride == 0)
        *acc =
            la_map_join(kind, *acc, p->kernels->reduce[kind](q->n, q->block));
    else if (q->stride == 1)
        p->kernels->accumulate[kind](q->n, acc, q->block);
    else
        for (size_t i = 0; i < q->n; i++, acc += q->stride)
            *acc = la_map_join(kind, *acc,
                               element(q->block + i * p->size, p->size));
}

void la_map_move(const la_map_plan *p, la_map_job job, int k,
                 ptrdiff_t row_offset, char *block, char *base, size_t start,
                 size_t n)
{
    const la_nest *nest = &p->nest;
    const int last = nest->rank - 1;
    const ptrdiff_t stride = nest->stride[k][last];
    size_t row = start / p->row, col = start % p->row;
    for (size_t done = 0; done < n; row++, col = 0) {
        const size_t left = n - done;
        const ptrdiff_t offset =
            p->long_rows ? row_offset : la_nest_offset(nest, k, last, row);
        const piece q = {.block = block + done * p->size,
                         .base = base,
                         .first = offset + (ptrdiff_t)col * stride,
                         .stride = stride,
                         .n = left < p->row - col ? left : p->row - col};
        if (job == LA_MAP_READ)
            read_piece(&q, p->size);
        else if (job == LA_MAP_WRITE)
            write_piece(&q, p->size);
        else
            reduce_piece(p, p->code->results[k - p->code->n_in].reduce, &q);
        done += q.n;
    }
}

/* The same by single elements, for any strides. */
static void mirror_slowly(char *data, const ptrdiff_t *stride, size_t size,
                          size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        for (size_t j = 0; j < i; j++) {
            const ptrdiff_t low =
                (ptrdiff_t)i * stride[0] + (ptrdiff_t)j * stride[1];
            const ptrdiff_t up =
                (ptrdiff_t)j * stride[0] + (ptrdiff_t)i * stride[1];
            memcpy(data + up * (ptrdiff_t)size, data + low * (ptrdiff_t)size,
                   size);
        }
}

static void mirror_f64(double *A, ptrdiff_t ld, size_t first, size_t last)
{
    double *row = A + (ptrdiff_t)first * ld;
    const int n = (int)(last - first);
    la_mirror_block_f64(n, (int)first, row, A + first, ld);
    la_mirror_lower_f64(n, row + first, ld);
}

static void mirror_f32(float *A, ptrdiff_t ld, size_t first, size_t last)
{
    float *row = A + (ptrdiff_t)first * ld;
    const int n = (int)(last - first);
    la_mirror_block_f32(n, (int)first, row, A + first, ld);
    la_mirror_lower_f32(n, row + first, ld);
}

void la_map_mirror(const la_map_plan *p, size_t first, size_t last)
{
    for (int k = 0; k < p->code->n_result; k++) {
        const ptrdiff_t *stride = p->nest.stride[p->code->n_in + k];
        void *data = p->out[k].data;
        if (p->code->results[k].reduce != LA_REDUCE_NONE)
            continue;
        if (stride[1] != 1)
            mirror_slowly(data, stride, p->size, first, last);
        else if (p->code->dtype == LA_F64)
            mirror_f64(data, stride[0], first, last);
        else
            mirror_f32(data, stride[0], first, last);
    }
}
