/* Views: shapes and strides by value, over memory that somebody else owns.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing here touches elements except la_view_get and la_view_set. A request
 * that makes no sense (axis or range outside the view) gives
 * la_view_none(); so does any of a view whose rank is outside 0..LA_MAX_DIMS,
 * which has no elements. */
#include <config.h>

#include <covar/linalg.h>

#include <math.h>
#include <stdio.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [LA_F64] = {"f64", sizeof(double)},
    [LA_F32] = {"f32", sizeof(float)},
    [LA_I32] = {"i32", sizeof(int32_t)},
    [LA_U8] = {"u8", sizeof(uint8_t)},
};

static bool has_rank(la_view x)
{
    return x.rank >= 0 && x.rank <= LA_MAX_DIMS;
}

static bool known(la_dtype dtype)
{
    return (unsigned)dtype < sizeof(dtypes) / sizeof(dtypes[0]);
}

static char *at(la_view x, ptrdiff_t offset)
{
    if (!x.data || offset == 0)
        return x.data;
    return (char *)x.data + offset * (ptrdiff_t)la_dtype_size(x.dtype);
}

/* Offset in elements of the element with dense index i. */
static ptrdiff_t offset_of(la_view x, size_t i)
{
    ptrdiff_t offset = 0;
    for (int k = x.rank; k-- > 0;) {
        offset += (ptrdiff_t)(i % x.dim[k]) * x.stride[k];
        i /= x.dim[k];
    }
    return offset;
}

static la_view without_axis(la_view x, int axis)
{
    x.rank--;
    for (int k = axis; k < x.rank; k++) {
        x.dim[k] = x.dim[k + 1];
        x.stride[k] = x.stride[k + 1];
    }
    x.dim[x.rank] = 0;
    x.stride[x.rank] = 0;
    return x;
}

size_t la_dtype_size(la_dtype dtype)
{
    return known(dtype) ? dtypes[dtype].size : 0;
}

const char *la_dtype_name(la_dtype dtype)
{
    return known(dtype) ? dtypes[dtype].name : "unknown";
}

bool la_dtype_is_real(la_dtype dtype)
{
    return dtype == LA_F64 || dtype == LA_F32;
}

la_view la_scalar_f64(const double *p)
{
    return la_view_dense(p, LA_F64, 0, NULL);
}

la_view la_vec_f64(const double *p, size_t n)
{
    return la_view_dense(p, LA_F64, 1, &n);
}

la_view la_mat_f64(const double *p, size_t rows, size_t cols)
{
    return la_view_dense(p, LA_F64, 2, (size_t[]){rows, cols});
}

la_view la_scalar_f32(const float *p)
{
    return la_view_dense(p, LA_F32, 0, NULL);
}

la_view la_vec_f32(const float *p, size_t n)
{
    return la_view_dense(p, LA_F32, 1, &n);
}

la_view la_mat_f32(const float *p, size_t rows, size_t cols)
{
    return la_view_dense(p, LA_F32, 2, (size_t[]){rows, cols});
}

la_view la_vec_i32(const int32_t *p, size_t n)
{
    return la_view_dense(p, LA_I32, 1, &n);
}

la_view la_vec_u8(const uint8_t *p, size_t n)
{
    return la_view_dense(p, LA_U8, 1, &n);
}

la_view la_view_dense(const void *p, la_dtype dtype, int rank,
                      const size_t *dim)
{
    ptrdiff_t stride[LA_MAX_DIMS] = {0};
    size_t step = 1; /* may wrap: then la_view_count is SIZE_MAX */
    for (int k = dim && rank <= LA_MAX_DIMS ? rank : 0; k-- > 0;) {
        stride[k] = (ptrdiff_t)step;
        step *= dim[k];
    }
    return la_view_strided(p, dtype, rank, dim, stride);
}

la_view la_view_strided(const void *p, la_dtype dtype, int rank,
                        const size_t *dim, const ptrdiff_t *stride)
{
    if (rank < 0 || rank > LA_MAX_DIMS || !known(dtype) ||
        (rank > 0 && (!dim || !stride)))
        return la_view_none();
    la_view x = {.data = (void *)(uintptr_t)p, .dtype = dtype, .rank = rank};
    for (int k = 0; k < rank; k++) {
        x.dim[k] = dim[k];
        x.stride[k] = stride[k];
    }
    return x;
}

la_view la_view_none(void)
{
    return (la_view){.data = NULL};
}

bool la_view_is_none(la_view x)
{
    return !x.data && x.rank == 0;
}

bool la_view_is_valid(la_view x)
{
    return has_rank(x) && known(x.dtype) && (x.data || la_view_count(x) == 0);
}

size_t la_view_count(la_view x)
{
    if (!has_rank(x))
        return 0;
    size_t count = 1;
    bool fits = true;
    for (int k = 0; k < x.rank; k++) {
        if (x.dim[k] == 0)
            return 0;
        fits = fits && count <= SIZE_MAX / x.dim[k];
        count *= x.dim[k];
    }
    return fits ? count : SIZE_MAX;
}

bool la_view_is_dense(la_view x)
{
    size_t step = 1;
    if (la_view_count(x) == 0)
        return true;
    for (int k = x.rank; k-- > 0;) {
        if (x.dim[k] != 1 && x.stride[k] != (ptrdiff_t)step)
            return false;
        step *= x.dim[k];
    }
    return true;
}

bool la_view_same_dims(la_view a, la_view b)
{
    bool same = a.rank == b.rank && has_rank(a);
    for (int k = 0; same && k < a.rank; k++)
        same = a.dim[k] == b.dim[k];
    return same;
}

la_view la_view_transpose(la_view x)
{
    if (!has_rank(x))
        return la_view_none();
    if (x.rank < 2)
        return x;
    la_view y = x;
    for (int k = 0; k < 2; k++) {
        y.dim[x.rank - 1 - k] = x.dim[x.rank - 2 + k];
        y.stride[x.rank - 1 - k] = x.stride[x.rank - 2 + k];
    }
    return y;
}

la_view la_view_slice(la_view x, int axis, size_t start, size_t length)
{
    if (!has_rank(x) || axis < 0 || axis >= x.rank || start > x.dim[axis] ||
        length > x.dim[axis] - start)
        return la_view_none();
    if (length > 0)
        x.data = at(x, (ptrdiff_t)start * x.stride[axis]);
    x.dim[axis] = length;
    return x;
}

la_view la_view_row(la_view x, size_t i)
{
    if (!has_rank(x) || x.rank < 1 || i >= x.dim[0])
        return la_view_none();
    x.data = at(x, (ptrdiff_t)i * x.stride[0]);
    return without_axis(x, 0);
}

la_view la_view_diag(la_view x)
{
    if (!has_rank(x) || x.rank < 2)
        return la_view_none();
    const int last = x.rank - 1;
    if (x.dim[last] < x.dim[last - 1])
        x.dim[last - 1] = x.dim[last];
    x.stride[last - 1] += x.stride[last];
    return without_axis(x, last);
}

la_view la_view_expand(la_view x, int axis)
{
    if (!has_rank(x) || axis < 0 || axis > x.rank || x.rank == LA_MAX_DIMS)
        return la_view_none();
    for (int k = x.rank; k > axis; k--) {
        x.dim[k] = x.dim[k - 1];
        x.stride[k] = x.stride[k - 1];
    }
    x.dim[axis] = 1;
    x.stride[axis] = 0;
    x.rank++;
    return x;
}

bool la_view_broadcast(la_view *out, la_view x, int rank, const size_t *dim)
{
    if (!out || rank < 0 || rank > LA_MAX_DIMS || (rank > 0 && !dim) ||
        (x.rank != 0 && x.rank != rank))
        return false;
    la_view y = x;
    y.rank = rank;
    for (int k = 0; k < rank; k++) {
        const bool repeat = x.rank == 0 || (x.dim[k] == 1 && dim[k] != 1);
        if (!repeat && x.dim[k] != dim[k])
            return false;
        y.dim[k] = dim[k];
        y.stride[k] = repeat ? 0 : x.stride[k];
    }
    *out = y;
    return true;
}

/* First byte and one past the last byte that x can touch. */
static void byte_range(la_view x, uintptr_t *low, uintptr_t *high)
{
    ptrdiff_t first = 0, last = 0;
    for (int k = 0; k < x.rank; k++) {
        const ptrdiff_t span = (ptrdiff_t)(x.dim[k] - 1) * x.stride[k];
        *(span < 0 ? &first : &last) += span;
    }
    const ptrdiff_t size = (ptrdiff_t)la_dtype_size(x.dtype);
    *low = (uintptr_t)x.data + (uintptr_t)(first * size);
    *high = (uintptr_t)x.data + (uintptr_t)((last + 1) * size);
}

bool la_view_overlap(la_view a, la_view b)
{
    if (!a.data || !b.data || a.device != b.device || !la_view_count(a) ||
        !la_view_count(b))
        return false;
    uintptr_t low_a, high_a, low_b, high_b;
    byte_range(a, &low_a, &high_a);
    byte_range(b, &low_b, &high_b);
    return low_a < high_b && low_b < high_a;
}

const char *la_view_describe(char *buf, size_t size, la_view x)
{
    if (!buf || size == 0)
        return "";
    if (!has_rank(x)) {
        snprintf(buf, size, "%s of rank %d", la_dtype_name(x.dtype), x.rank);
        return buf;
    }
    const bool none = la_view_is_none(x);
    int length =
        snprintf(buf, size, "%s%s", none ? "none" : la_dtype_name(x.dtype),
                 none || x.rank > 0 ? "" : " scalar");
    for (int k = 0; k < x.rank && length >= 0 && (size_t)length < size; k++)
        length += snprintf(buf + length, size - (size_t)length, "%c%zu",
                           k == 0 ? ' ' : 'x', x.dim[k]);
    return buf;
}

double la_view_get(la_view x, size_t i)
{
    if (!x.data || i >= la_view_count(x))
        return (double)NAN;
    const void *p = at(x, offset_of(x, i));
    switch (x.dtype) {
    case LA_F64:
        return *(const double *)p;
    case LA_F32:
        return (double)*(const float *)p;
    case LA_I32:
        return *(const int32_t *)p;
    case LA_U8:
        return *(const uint8_t *)p;
    }
    return (double)NAN;
}

void la_view_set(la_view x, size_t i, double value)
{
    if (!x.data || i >= la_view_count(x))
        return;
    void *p = at(x, offset_of(x, i));
    switch (x.dtype) {
    case LA_F64:
        *(double *)p = value;
        break;
    case LA_F32:
        *(float *)p = (float)value;
        break;
    case LA_I32:
        if (value > (double)INT32_MIN - 1 && value < (double)INT32_MAX + 1)
            *(int32_t *)p = (int32_t)value;
        break;
    case LA_U8:
        if (value > -1 && value < UINT8_MAX + 1)
            *(uint8_t *)p = (uint8_t)value;
        break;
    }
}
