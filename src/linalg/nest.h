/* Private: a loop nest over several strided operands.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every pass over views of any strides first makes its nest as shallow and
 * its innermost loop as long and as contiguous as it can be: dims of 1 go,
 * dims are ordered by the stride of operand 0, and neighbours that every
 * operand crosses with one step are merged. A dense pass becomes one loop. */
#ifndef COVAR_LINALG_NEST_H
#define COVAR_LINALG_NEST_H

#include <covar/linalg.h>

/* The inputs and twice the results of a map program. */
enum { LA_NEST_MAX = LA_MAP_MAX_REG + 2 * LA_MAP_MAX_RESULT };

typedef struct la_nest {
    int       rank, n;
    size_t    dim[LA_MAX_DIMS];
    ptrdiff_t stride[LA_NEST_MAX][LA_MAX_DIMS]; /* in elements */
} la_nest;

/* An empty nest over the index space; then one call for each operand, whose
 * number is returned. */
void la_nest_init(la_nest *nest, int rank, const size_t *dim);
int  la_nest_add(la_nest *nest, const ptrdiff_t *stride);

/* Puts the dim with the smallest stride of operand `lead` innermost; equal
 * ones keep their order. */
void la_nest_sort(la_nest *nest, int lead);

/* Drops dims of 1 and merges the others. Rank 1 at least (one element, if
 * there was none); strides of dims of 1 count as 0. */
void la_nest_collapse(la_nest *nest);

/* Number of points of the nest, and of the nest without its last dim. */
size_t la_nest_count(const la_nest *nest);
size_t la_nest_outer(const la_nest *nest);

/* Offset in elements of operand k at point i of the first `rank` dims. */
ptrdiff_t la_nest_offset(const la_nest *nest, int k, int rank, size_t i);

#endif
