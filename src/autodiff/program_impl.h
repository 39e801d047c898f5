/* Private to src/autodiff: what programs, plans and runners are made of.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A program is a list of steps over numbered values, sizes still symbolic.
 * Binding it to a tuple of sizes gives a plan: one instruction for each step
 * (and each copy that the layouts call for), every operand a finished view.
 * A runner holds the memory and the last few plans. */
#ifndef COVAR_PROGRAM_IMPL_H
#define COVAR_PROGRAM_IMPL_H

#include "autodiff/autodiff_impl.h"

#include <stdatomic.h>

/* ---- Programs (program.c, lower.c, order.c) ----------------------------- */

typedef enum ad_value_kind {
    AD_VALUE_STEP,     /* made by a step */
    AD_VALUE_INPUT,    /* the caller's; index = which input */
    AD_VALUE_STORE,    /* a parameter; index = which parameter */
    AD_VALUE_CONSTANT, /* elements of a constant node */
    AD_VALUE_VIEW      /* a view of the value `index` */
} ad_value_kind;

enum { AD_NEVER = UINT32_MAX }; /* "last use": requested, lives to the end */

typedef struct ad_value_info {
    ad_node *node;
    int out; /* which output of node: type = node->type[out] */
    ad_value_kind kind;
    uint32_t index;
    uint32_t root;     /* the value whose memory it is: itself or ... */
    uint32_t last_use; /* of a root: the last step that reads it */
} ad_value_info;

typedef struct ad_step {
    ad_node *node;
    int n_in, n_out;
    uint32_t *in, *out; /* values */
    ad_program *body;   /* compiled body of a scan, else NULL */
} ad_step;

typedef struct ad_update {
    uint32_t param, value;
} ad_update;

struct ad_program {
    atomic_size_t count;
    covar_heap *heap;
    ad_graph *g; /* private copy; everything below lives in its arena */
    bool fail_mark;

    uint32_t n_in, n_out, n_update, n_param;
    ad_node **in;    /* input nodes in slot order */
    ad_node **param; /* parameter nodes, each once */
    uint32_t *out;   /* values in slot order */
    ad_update *update;
    uint32_t n_value, n_step;
    ad_value_info *value;
    ad_step *step; /* in running order */
};

/* Numbers the values that the roots need and lists the steps in order;
 * fills value, step, param, out and update[].value. */
covar_status ad_program_lower(ad_program *p, ad_node *const *root);

/* Reorders steps so that large values die early; then sets last uses. */
covar_status ad_program_order(ad_program *p);

/* Does any dim, shape or layout need the operator to run? No: a view. */
bool ad_node_is_view(const ad_node *y);

/* ---- Fused elementwise clusters (fuse.c, fuse_code.c) ------------------- */

typedef struct ad_fused {
    la_map_code code;
    ad_dims space; /* the index space */
    int n_row;     /* rows before superinstructions, for inspection */
    const uint16_t *row;
} ad_fused;

typedef struct ad_fused_fields {
    const ad_fused *fused;
} ad_fused_fields;

extern const ad_op ad_op_fused;

/* Replaces elementwise nodes by clusters; `single` = one node each. */
covar_status ad_fuse(ad_graph *g, ad_node **root, size_t n, bool single);

/* ---- Memory plan (plan.c) ----------------------------------------------- */

typedef struct ad_interval {
    size_t bytes;
    uint32_t birth, death; /* first and last instruction, both included */
    size_t offset;         /* result: place in the arena, 64-byte aligned */
} ad_interval;

/* Places intervals that overlap in time apart; *bytes is the arena's size and
 * *bound the largest sum of sizes alive at once. */
covar_status ad_plan_offsets(covar_heap *heap, ad_interval *interval, size_t n,
                             size_t *bytes, size_t *bound);

/* ---- Bound programs (bind.c, emit.c) ------------------------------------ */

typedef struct ad_instr {
    ad_call call; /* first: run may cast it back; info NULL: cannot fail */
    covar_status (*run)(const ad_call *call);
    size_t n_info;
    const ad_step *step;     /* NULL for a copy */
    const la_map_code *code; /* of a fused step, with its index space */
    la_map_bound *map;       /* and bound, once it has run */
    bool bound;
    int rank;
    size_t dim[LA_MAX_DIMS];
} ad_instr;

/* A pointer that moves with its base: *where = base + offset. Bases: 0 the
 * arena, then the inputs, then the outputs. */
typedef struct ad_slot_ref {
    void **where;
    size_t offset;
} ad_slot_ref;

/* The bytes that a view touches, from its data pointer. */
typedef struct ad_extent {
    ptrdiff_t low, high;
} ad_extent;

typedef struct ad_plan {
    ad_arena *arena; /* everything below lives in it */
    ad_runner *runner;
    size_t *symbol;
    la_view *in, *out;      /* the bound views: dims, strides, pointers */
    ad_extent *extent;      /* of the inputs, then the outputs */
    size_t n_instr, n_main; /* instr[n_main..] are the commit section */
    ad_instr *instr;
    ad_slot_ref *ref;  /* sorted by base */
    size_t *ref_start; /* refs of base b: ref_start[b] .. [b + 1] */
    void *arena_base;  /* what base 0 was bound to */
    size_t bytes, live_bound;
    uint64_t used;    /* clock of the last use */
    ad_runner **body; /* child runners, one per step with a body */
    size_t n_body;
} ad_plan;

/* Sizes of the symbols from the actual inputs, with every check. */
covar_status ad_bind_sizes(const ad_runner *r, const la_view *in,
                           size_t *symbol, bool *bound);

/* Plan for these inputs; `out` NULL = dense outputs. Not yet pointing. */
covar_status ad_plan_create(ad_plan **out_plan, ad_runner *r, const la_view *in,
                            const la_view *out);
void ad_plan_free(ad_plan *plan);

/* ---- Running (exec.c, runner.c) ----------------------------------------- */

enum { AD_PLAN_CACHE = 8 };

struct ad_runner {
    covar_heap *heap;
    ad_program *program;
    ad_store *store;
    covar_context *ctx;
    la_exec exec;
    la_view *param;      /* of the store, in the program's order */
    const size_t *outer; /* body of a scan: sizes of the graph around it */
    const ad_graph *outer_graph;
    ad_plan *plan[AD_PLAN_CACHE];
    size_t n_plan;
    uint64_t clock;
    ad_plan *current; /* plan of the last run, or NULL */
    void *memory;
    size_t memory_bytes;
};

/* Runs a bound plan whose pointers are current. */
covar_status ad_exec(ad_runner *r, ad_plan *plan);

#endif
