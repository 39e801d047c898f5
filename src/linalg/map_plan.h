/* Private: how a map program will run over its index space.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The nest of the operands (inputs first, then results) is collapsed and
 * walked in blocks of at most `block` elements, in the order of the flat index
 * over the nest. Long rows (ROW_LENGTH and more): blocks do not cross from one
 * row of the last dim into the next, so that most operands are plain
 * pointers. Short rows: blocks cross, and what is not dense is gathered.
 *
 * Blocks come in chunks, the units of threads. Where a result is reduced, the
 * limits of the chunks follow from the sizes alone and each chunk is added up
 * in order, so that the bits do not depend on the number of threads:
 *   - shared accumulators: the outermost dim is kept by every reduced result
 *     and a chunk holds whole indices of it;
 *   - private accumulators: each chunk has its own, added up in order.
 *
 * Of symmetric programs row i may end after element i: a sum counts the others
 * twice, and when a chunk is done its stored rows are mirrored. */
#ifndef COVAR_LINALG_MAP_PLAN_H
#define COVAR_LINALG_MAP_PLAN_H

#include "linalg/map_table.h"
#include "linalg/nest.h"

enum {
    LA_MAP_BLOCK_BYTES = 4096,  /* the longest block of one register */
    LA_MAP_STACK_ACC = 1024,    /* accumulators without `work` */
    LA_MAP_STACK_BYTES = 24576, /* scratch without `work` */
    LA_MAP_PRIVATE_CHUNKS = 64,
    LA_MAP_PRIVATE_ACC = 1 << 17 /* accumulators of all private chunks */
};

/* How an operand is reached from the elements of a block. */
typedef enum la_map_access {
    LA_MAP_UNIFORM, /* one element for all */
    LA_MAP_DENSE,   /* contiguous over the whole nest */
    LA_MAP_ROW,     /* long rows: contiguous within a row */
    LA_MAP_REPEAT,  /* long rows: one element in a row */
    LA_MAP_GATHER   /* any other strides: copied to and from a block */
} la_map_access;

typedef struct la_map_plan {
    const la_map_code    *code;
    const la_map_kernels *kernels;
    const la_view        *in, *out;
    size_t                size;   /* of an element */
    size_t                lanes;  /* elements in LA_MAP_SPLAT bytes */
    la_nest               nest;
    size_t                total, row, block; /* elements */
    bool                  long_rows;
    bool                  triangle; /* rows end at the diagonal */
    uint8_t               access[LA_NEST_MAX]; /* by operand */
    bool                  stage[LA_MAP_MAX_REG]; /* inputs to copy first */
    int16_t last_write[LA_MAP_MAX_REG]; /* step, -1 = none */
    int8_t  target[LA_MAP_MAX_REG]; /* result written by it at once, or -1 */
    int8_t  slot[LA_MAP_MAX_REG];   /* block in scratch, or -1 */
    int8_t  out_slot[LA_MAP_MAX_RESULT];
    int     n_slot;

    size_t n_chunk, chunk; /* chunk: elements */
    size_t n_acc;          /* accumulators of one set */
    size_t acc_start[LA_MAP_MAX_RESULT];
    bool   private_acc;
    int    threads;
} la_map_plan;

/* Fills `plan`. `max_acc` accumulators and `scratch` bytes for each thread
 * are there. */
void la_map_plan_init(la_map_plan *plan, const la_exec *exec,
                      const la_map_code *code, int rank, const size_t *dim,
                      const la_view *in, const la_view *out, size_t max_acc,
                      size_t scratch);

/* Most that any plan of `code` needs: accumulators, bytes for a thread. */
size_t la_map_max_acc(const la_map_code *code, int rank, const size_t *dim);
size_t la_map_scratch(const la_map_code *code);

/* What a reduction starts from, and a with b taken in (NaN wins); by
 * la_reduce_kind. */
extern const double la_map_neutral[];
double              la_map_join(la_reduce_kind kind, double a, double b);

typedef enum la_map_job {
    LA_MAP_READ,  /* operand to block */
    LA_MAP_WRITE, /* block to operand */
    LA_MAP_REDUCE /* block into the accumulators of a reduced result */
} la_map_job;

/* Does the job for n elements of operand k from flat index `start` on; `base`
 * is the operand's first element or accumulator. In long rows `row_offset` is
 * that of the row; in short ones the block goes on from row to row. */
void la_map_move(const la_map_plan *p, la_map_job job, int k,
                 ptrdiff_t row_offset, char *block, char *base, size_t start,
                 size_t n);

/* Copies what rows first .. last - 1 of stored results have left of the
 * diagonal to the other side. */
void la_map_mirror(const la_map_plan *p, size_t first, size_t last);

#endif
