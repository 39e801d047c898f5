/* Loop nests over strided operands.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/nest.h"

void la_nest_init(la_nest *nest, int rank, const size_t *dim)
{
    nest->rank = rank;
    nest->n = 0;
    for (int i = 0; i < rank; i++)
        nest->dim[i] = dim[i];
}

int la_nest_add(la_nest *nest, const ptrdiff_t *stride)
{
    for (int i = 0; i < nest->rank; i++)
        nest->stride[nest->n][i] = nest->dim[i] > 1 ? stride[i] : 0;
    return nest->n++;
}

static void swap_dims(la_nest *nest, int i, int j)
{
    const size_t dim = nest->dim[i];
    nest->dim[i] = nest->dim[j];
    nest->dim[j] = dim;
    for (int k = 0; k < nest->n; k++) {
        const ptrdiff_t s = nest->stride[k][i];
        nest->stride[k][i] = nest->stride[k][j];
        nest->stride[k][j] = s;
    }
}

static ptrdiff_t magnitude(ptrdiff_t s)
{
    return s < 0 ? -s : s;
}

void la_nest_sort(la_nest *nest, int lead)
{
    const ptrdiff_t *s = nest->stride[lead];
    for (int i = 1; i < nest->rank; i++)
        for (int j = i; j > 0 && magnitude(s[j - 1]) < magnitude(s[j]); j--)
            swap_dims(nest, j - 1, j);
}

static void remove_dim(la_nest *nest, int i)
{
    nest->rank--;
    for (int j = i; j < nest->rank; j++) {
        nest->dim[j] = nest->dim[j + 1];
        for (int k = 0; k < nest->n; k++)
            nest->stride[k][j] = nest->stride[k][j + 1];
    }
}

static bool can_merge(const la_nest *nest, int i)
{
    for (int k = 0; k < nest->n; k++)
        if (nest->stride[k][i] !=
            (ptrdiff_t)nest->dim[i + 1] * nest->stride[k][i + 1])
            return false;
    return true;
}

void la_nest_collapse(la_nest *nest)
{
    for (int i = nest->rank; i-- > 0;)
        if (nest->dim[i] == 1)
            remove_dim(nest, i);
    for (int i = nest->rank - 1; i-- > 0;)
        if (can_merge(nest, i)) {
            nest->dim[i + 1] *= nest->dim[i];
            remove_dim(nest, i);
        }
    if (nest->rank == 0) {
        nest->rank = 1;
        nest->dim[0] = 1;
        for (int k = 0; k < nest->n; k++)
            nest->stride[k][0] = 0;
    }
}

size_t la_nest_outer(const la_nest *nest)
{
    size_t count = 1;
    for (int i = 0; i + 1 < nest->rank; i++)
        count *= nest->dim[i];
    return count;
}

size_t la_nest_count(const la_nest *nest)
{
    return la_nest_outer(nest) * nest->dim[nest->rank - 1];
}

ptrdiff_t la_nest_offset(const la_nest *nest, int k, int rank, size_t i)
{
    ptrdiff_t offset = 0;
    for (int j = rank; j-- > 0 && i > 0;) {
        offset += (ptrdiff_t)(i % nest->dim[j]) * nest->stride[k][j];
        i /= nest->dim[j];
    }
    return offset;
}
