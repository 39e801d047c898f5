/* Private: the steps of a planned map program as calls of row functions.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A call names the places of its operands; where these are in memory is
 * filled in by who runs the calls, block after block or run after run. Places
 * are numbered: inputs, results, a block for each register, a block for each
 * result, a vector for each register. A register that has one value for all
 * elements (a constant, a broadcast input, and what is computed from these
 * alone) is in its vector. */
#ifndef COVAR_LINALG_MAP_DECODE_H
#define COVAR_LINALG_MAP_DECODE_H

#include "linalg/map_plan.h"

#include <string.h>

/* Inputs and constants are registers themselves. */
enum { LA_MAP_MAX_PLACE = 3 * LA_MAP_MAX_REG + 2 * LA_MAP_MAX_RESULT };

/* out = row(in...) */
typedef struct la_map_call {
    la_row_fn *row;
    uint8_t    out, in[LA_ROW_MAX_ARITY];
    uint8_t    arity, uniform;
    bool       one_value; /* a vector is enough */
} la_map_call;

/* Where each register is when the steps decoded so far have run. */
typedef struct la_map_decoder {
    const la_map_plan *plan;
    uint8_t            at[LA_MAP_MAX_REG];
    uint64_t           uniform; /* registers with one value */
} la_map_decoder;

/* Before the first step. Inputs that are gathered or copied first are in
 * their blocks. */
void la_map_decode_start(la_map_decoder *d, const la_map_plan *plan);

/* Step i, which follows the one decoded last. */
la_map_call la_map_decode(la_map_decoder *d, int i);

/* to = the register at place `from`; a whole block of it. */
la_map_call la_map_copy_call(const la_map_plan *p, uint8_t from, bool uniform,
                             uint8_t to);

static inline uint8_t la_map_place_of_result(const la_map_code *c, int k)
{
    return (uint8_t)(c->n_in + k);
}

/* Blocks: of register b, then of result b - n_reg. */
static inline uint8_t la_map_place_of_block(const la_map_code *c, int b)
{
    return (uint8_t)(c->n_in + c->n_result + b);
}

static inline uint8_t la_map_place_of_vector(const la_map_code *c, int reg)
{
    return la_map_place_of_block(c, c->n_reg + c->n_result + reg);
}

static inline int la_map_place_count(const la_map_code *c)
{
    return c->n_in + 2 * c->n_result + 2 * c->n_reg;
}

/* Fills a vector with one element. */
static inline void la_map_fill_vector(char *to, const void *element,
                                      size_t size)
{
    for (size_t i = 0; i < LA_MAP_SPLAT; i += size)
        memcpy(to + i, element, size);
}

/* Fills the vector of constant k. */
void la_map_fill_constant(char *to, const la_map_code *c, int k);

/* Runs calls on n elements. */
static inline void la_map_run_calls(const la_map_call *call, int count,
                                    char *const *place, size_t lanes, size_t n)
{
    for (const la_map_call *end = call + count; call < end; call++) {
        const void *in[LA_ROW_MAX_ARITY];
        for (int k = 0; k < call->arity; k++)
            in[k] = place[call->in[k]];
        call->row(call->one_value ? lanes : n, place[call->out], in,
                  call->uniform);
    }
}

#endif
