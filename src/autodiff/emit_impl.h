/* Private to the emitter: how steps become instructions for given sizes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * While instructions are made nothing has an address yet: memory is counted
 * in `storages`, and a view points into its storage as if that began at an
 * `origin`. When all is emitted, storages get their places and every pointer
 * becomes base + offset. */
#ifndef COVAR_EMIT_IMPL_H
#define COVAR_EMIT_IMPL_H

#include "autodiff/program_impl.h"

/* Bases of pointers: the arena, the inputs, the outputs; AD_FIXED never
 * moves (constants, the store). */
enum { AD_BASE_ARENA = 0, AD_BASE_INPUT = 1, AD_FIXED = UINT32_MAX };

typedef struct ad_storage {
    uint32_t base;
    char *origin;
    size_t bytes;
    uint32_t birth, death; /* instructions */
    size_t offset;         /* arena: its place in the end */
} ad_storage;

typedef struct ad_place {
    la_view view;
    uint32_t storage;
} ad_place;

typedef struct ad_value_state {
    bool made, has_dense;
    ad_place here;
    ad_place dense; /* a dense copy, made for operators that need it */
} ad_value_state;

typedef struct ad_raw_ref {
    void **where;
    uint32_t storage;
    size_t offset;
} ad_raw_ref;

typedef struct ad_emitter {
    ad_runner *r;
    const ad_program *p;
    ad_plan *plan;
    ad_arena *scratch;
    ad_value_state *state; /* by value */
    uint32_t *stack;       /* for chains of views */
    ad_storage *storage;
    size_t n_storage;
    ad_raw_ref *ref;
    size_t n_ref;
} ad_emitter;

/* ---- Places (emit_place.c) ---------------------------------------------- */

covar_status ad_emit_dims(const ad_emitter *e, const ad_type *type,
                          size_t *dim);
uint32_t ad_emit_storage(ad_emitter *e, uint32_t base, void *origin,
                         size_t bytes);

/* A dense place of this type in fresh arena memory. */
covar_status ad_emit_temporary(ad_emitter *e, const ad_type *type,
                               ad_place *place);

/* Where value v is, making the views (and copies) that lead to it. */
covar_status ad_emit_value(ad_emitter *e, uint32_t v, ad_place *place);

/* The same, copied where an operator could not read it. */
covar_status ad_emit_dense(ad_emitter *e, uint32_t v, ad_place *place);

/* Leaves: inputs, parameters, constants. */
void ad_emit_leaves(ad_emitter *e, const la_view *in);

bool ad_view_fits(la_view x);    /* readable by every operator? */
la_view ad_view_tidy(la_view x); /* usual strides on dims of 1 */

/* ---- Instructions (emit_step.c) ----------------------------------------- */

/* A new instruction with room for its operands; NULL when out of memory. */
ad_instr *ad_emit_instr(ad_emitter *e, int n_in, int n_out);

/* Says that instruction i uses this place as operand `view`. */
void ad_emit_operand(ad_emitter *e, const ad_instr *i, la_view *view,
                     ad_place place);
covar_status ad_emit_copy(ad_emitter *e, ad_place to, ad_place from);
covar_status ad_emit_step(ad_emitter *e, uint32_t step);

/* Copies to the caller and, as the commit section, to the store. */
covar_status ad_emit_results(ad_emitter *e, const la_view *out);

#endif
