/* Copies with any strides and conversion of dtype; fills.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Equal dtypes move as words of 8, 4 or 1 bytes: whole rows where both sides
 * are contiguous, square tiles where they are transposed to each other, so
 * that both sides use each cache line once. Different dtypes go through short
 * rows of double, which holds every i32, u8 and f32 exactly. */
#include <config.h>

#include "linalg/check.h"
#include "linalg/nest.h"

#include <string.h>

enum {
    CONVERT_ROW = 256,        /* doubles in the buffer of a conversion */
    TILE = 32,                /* words on the side of a transposing tile */
    PARALLEL_BYTES = 1 << 20, /* below this one thread copies */
};

typedef struct word_copy {
    char *out;
    const char *x;
    ptrdiff_t so, sx; /* in bytes */
    size_t n;
} word_copy;

static void copy_words_8(const word_copy *c)
{
    char *out = c->out;
    const char *x = c->x;
    for (size_t i = 0; i < c->n; i++, out += c->so, x += c->sx)
        memcpy(out, x, 8);
}

static void copy_words_4(const word_copy *c)
{
    char *out = c->out;
    const char *x = c->x;
    for (size_t i = 0; i < c->n; i++, out += c->so, x += c->sx)
        memcpy(out, x, 4);
}

static void copy_words_1(const word_copy *c)
{
    char *out = c->out;
    const char *x = c->x;
    for (size_t i = 0; i < c->n; i++, out += c->so, x += c->sx)
        *out = *x;
}

static void copy_row(word_copy c, size_t size)
{
    if (c.so == (ptrdiff_t)size && c.sx == (ptrdiff_t)size)
        memcpy(c.out, c.x, c.n * size);
    else if (size == 8)
        copy_words_8(&c);
    else if (size == 4)
        copy_words_4(&c);
    else
        copy_words_1(&c);
}

/* One nest: operand 0 is out, operand 1 is x. */
typedef struct copy_plan {
    la_nest nest;
    char *out;
    const char *x;
    size_t size_out, size_x;
    la_dtype type_out, type_x;
} copy_plan;

static ptrdiff_t step_out(const copy_plan *p, int axis)
{
    return p->nest.stride[0][axis] * (ptrdiff_t)p->size_out;
}

static ptrdiff_t step_x(const copy_plan *p, int axis)
{
    return p->nest.stride[1][axis] * (ptrdiff_t)p->size_x;
}

/* Row i of the nest: all of its last dim. */
static word_copy row_at(const copy_plan *p, size_t i)
{
    const int last = p->nest.rank - 1;
    return (word_copy){.out = p->out + la_nest_offset(&p->nest, 0, last, i) *
                                           (ptrdiff_t)p->size_out,
                       .x = p->x + la_nest_offset(&p->nest, 1, last, i) *
                                       (ptrdiff_t)p->size_x,
                       .so = step_out(p, last),
                       .sx = step_x(p, last),
                       .n = p->nest.dim[last]};
}

/* Rows [i0, i1) of the last two dims at c, by tiles. */
static void copy_tiles(const copy_plan *p, word_copy c, size_t i0, size_t i1)
{
    const int row = p->nest.rank - 2, col = row + 1;
    const ptrdiff_t ro = step_out(p, row), rx = step_x(p, row);
    const size_t m = p->nest.dim[col];
    for (size_t j = 0; j < m; j += TILE)
        for (size_t i = i0; i < i1; i++) {
            word_copy t = c;
            t.out += (ptrdiff_t)i * ro + (ptrdiff_t)j * c.so;
            t.x += (ptrdiff_t)i * rx + (ptrdiff_t)j * c.sx;
            t.n = m - j < TILE ? m - j : TILE;
            copy_row(t, p->size_out);
        }
}

/* Are the last two dims of x in the other order than those of out? */
static bool is_transposed(const copy_plan *p)
{
    const int last = p->nest.rank - 1;
    return last > 0 && p->nest.stride[1][last - 1] == 1 &&
           p->nest.stride[1][last] != 0;
}

static void copy_transposed(const copy_plan *p, int threads)
{
    const int row = p->nest.rank - 2;
    const size_t n = p->nest.dim[row];
    const size_t bands = (n + TILE - 1) / TILE;
    const size_t tasks = la_nest_outer(&p->nest) / n * bands;
    (void)threads;
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t t = 0; t < tasks; t++) {
        const size_t i0 = t % bands * TILE;
        const size_t i1 = n - i0 < TILE ? n : i0 + TILE;
        copy_tiles(p, row_at(p, t / bands * n), i0, i1);
    }
}

static void copy_rows(const copy_plan *p, int threads)
{
    const size_t rows = la_nest_outer(&p->nest);
    (void)threads;
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < rows; i++)
        copy_row(row_at(p, i), p->size_out);
}

static void load_doubles(la_dtype type, double *out, word_copy c)
{
    const char *x = c.x;
    for (size_t i = 0; i < c.n; i++, x += c.sx)
        switch (type) {
        case LA_F64:
            out[i] = *(const double *)(const void *)x;
            break;
        case LA_F32:
            out[i] = (double)*(const float *)(const void *)x;
            break;
        case LA_I32:
            out[i] = *(const int32_t *)(const void *)x;
            break;
        case LA_U8:
            out[i] = *(const uint8_t *)(const void *)x;
            break;
        }
}

static void store_doubles(la_dtype type, word_copy c, const double *x)
{
    char *out = c.out;
    for (size_t i = 0; i < c.n; i++, out += c.so)
        switch (type) {
        case LA_F64:
            *(double *)(void *)out = x[i];
            break;
        case LA_F32:
            *(float *)(void *)out = (float)x[i];
            break;
        case LA_I32:
            *(int32_t *)(void *)out = (int32_t)x[i];
            break;
        case LA_U8:
            *(uint8_t *)(void *)out = (uint8_t)x[i];
            break;
        }
}

/* Does x, rounded toward zero, fit? Not for NaN. */
static bool fits(la_dtype type, double x)
{
    if (type == LA_I32)
        return x > -2147483649.0 && x < 2147483648.0;
    return type != LA_U8 || (x > -1.0 && x < 256.0);
}

/* One row through a buffer of doubles; writes unless `check`, which instead
 * looks for the first element that does not fit. Returns its index or n. */
static size_t convert_row(const copy_plan *p, word_copy c, bool check)
{
    double buffer[CONVERT_ROW];
    const size_t n = c.n;
    for (size_t done = 0; done < n; done += CONVERT_ROW) {
        word_copy part = c;
        part.n = n - done < CONVERT_ROW ? n - done : CONVERT_ROW;
        part.out += (ptrdiff_t)done * c.so;
        part.x += (ptrdiff_t)done * c.sx;
        load_doubles(p->type_x, buffer, part);
        if (!check)
            store_doubles(p->type_out, part, buffer);
        for (size_t i = 0; check && i < part.n; i++)
            if (!fits(p->type_out, buffer[i]))
                return done + i;
    }
    return n;
}

static bool is_integer(la_dtype type)
{
    return type == LA_I32 || type == LA_U8;
}

static covar_status convert(const la_exec *exec, const copy_plan *p)
{
    const size_t rows = la_nest_outer(&p->nest);
    for (size_t i = 0; is_integer(p->type_out) && i < rows; i++) {
        const word_copy c = row_at(p, i);
        const size_t bad = convert_row(p, c, true);
        if (bad == c.n)
            continue;
        double value;
        const word_copy one = {.x = c.x + (ptrdiff_t)bad * c.sx, .n = 1};
        load_doubles(p->type_x, &value, one);
        return covar_fail(exec->ctx, COVAR_ERR_NUMERIC,
                          "la_copy: the element %g has no value in %s", value,
                          la_dtype_name(p->type_out));
    }
    for (size_t i = 0; i < rows; i++)
        convert_row(p, row_at(p, i), false);
    return COVAR_OK;
}

static void plan_copy(copy_plan *p, la_view out, la_view x)
{
    p->out = out.data;
    p->x = x.data;
    p->type_out = out.dtype;
    p->type_x = x.dtype;
    p->size_out = la_dtype_size(out.dtype);
    p->size_x = la_dtype_size(x.dtype);
    la_nest_init(&p->nest, out.rank, out.dim);
    la_nest_add(&p->nest, out.stride);
    la_nest_add(&p->nest, x.stride);
    la_nest_sort(&p->nest, 0);
    la_nest_collapse(&p->nest);
}

covar_status la_cpu_copy(const la_exec *exec, la_view out, la_view x)
{
    copy_plan plan;
    if (la_view_count(out) == 0)
        return COVAR_OK;
    plan_copy(&plan, out, x);
    if (out.dtype != x.dtype)
        return convert(exec, &plan);
    const size_t bytes = la_view_count(out) * plan.size_out;
    const int threads = bytes < PARALLEL_BYTES ? 1 : exec->threads;
    if (is_transposed(&plan))
        copy_transposed(&plan, threads);
    else
        copy_rows(&plan, threads);
    return COVAR_OK;
}

covar_status la_cpu_fill(const la_exec *exec, la_view out, double value)
{
    const la_view x = la_scalar_f64(&value);
    la_view full;
    if (!la_view_broadcast(&full, x, out.rank, out.dim))
        return COVAR_ERR_SHAPE;
    return la_cpu_copy(exec, out, full);
}

/* An output that can be written: data there, no element twice. */
static covar_status check_out(const la_exec *exec, const char *who, la_view out)
{
    char text[64];
    COVAR_TRY(la_check_exec(exec));
    if (!la_view_is_valid(out))
        return covar_fail(exec->ctx, COVAR_ERR_ARG, "%s: out (%s) has no data",
                          who, la_view_describe(text, sizeof text, out));
    for (int i = 0; i < out.rank; i++)
        if (out.dim[i] > 1 && out.stride[i] == 0 && la_view_count(out) > 0)
            return covar_fail(exec->ctx, COVAR_ERR_SHAPE,
                              "%s: out (%s) has stride 0 in axis %d", who,
                              la_view_describe(text, sizeof text, out), i);
    return COVAR_OK;
}

covar_status la_copy(const la_exec *exec, la_view out, la_view x)
{
    char to[64], from[64];
    la_view full;
    la_view_describe(to, sizeof to, out);
    la_view_describe(from, sizeof from, x);
    COVAR_TRY(check_out(exec, "la_copy", out));
    if (!la_view_broadcast(&full, x, out.rank, out.dim))
        return covar_fail(exec->ctx, COVAR_ERR_SHAPE,
                          "la_copy: x is %s but out is %s", from, to);
    if (!la_view_is_valid(x) && la_view_count(full) > 0)
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "la_copy: x (%s) has no data", from);
    if (la_view_overlap(out, full))
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "la_copy: out (%s) overlaps x (%s)", to, from);
    return la_device_of(exec)->copy(exec, out, full);
}

covar_status la_fill(const la_exec *exec, la_view out, double value)
{
    COVAR_TRY(check_out(exec, "la_fill", out));
    return la_device_of(exec)->fill(exec, out, value);
}
