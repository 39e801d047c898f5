/* Private to src/autodiff: what nodes, graphs, bodies and programs are made of.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sizes in memory: everything that belongs to a graph lives in its arena and
 * goes with it (or back to a mark). Node ids grow with creation, so an input
 * always has a smaller id than its user: id order is a topological order. */
#ifndef COVAR_AUTODIFF_IMPL_H
#define COVAR_AUTODIFF_IMPL_H

#include <covar/autodiff.h>

#include "heap.h"

/* ---- Arena: bump allocation with marks (arena.c) ------------------------ */

typedef struct ad_arena ad_arena;
ad_arena *ad_arena_create(covar_heap *heap);
void      ad_arena_free(ad_arena *a);
void     *ad_arena_alloc(ad_arena *a, size_t bytes); /* zeroed, 16-aligned */
size_t    ad_arena_mark(const ad_arena *a);
void      ad_arena_release(ad_arena *a, size_t mark);

/* ---- Nodes (node.c) ----------------------------------------------------- */

struct ad_node {
    const ad_op *op;
    ad_graph    *graph;
    uint32_t     id;
    int          n_in, n_out;
    ad_node    **in;
    void        *fields;
    ad_type     *type; /* n_out */
    uint64_t     hash;
    ad_node     *chain;  /* next in the hash bucket */
    bool         merged; /* is in a bucket */

    const char *name;  /* given by ad_input, ad_param, ad_name; or NULL */
    const char *scope; /* "" at the top */
    const char *file;  /* of AD_HERE, or NULL */
    int         line;

    la_array **value;     /* eager graphs: n_out arrays, else NULL */
    ad_node  **expansion; /* composites: n_out nodes once expanded, or NULL */
};

/* Leaves and structural operators every phase knows (ops/leaf.c). */
extern const ad_op ad_op_input, ad_op_param, ad_op_constant, ad_op_out,
    ad_op_placeholder, ad_op_name, ad_op_dim_value, ad_op_fill;

typedef struct ad_constant_fields { la_array *array; } ad_constant_fields;
typedef struct ad_out_fields { int64_t index; } ad_out_fields;

/* A fresh unique leaf of this type (for derivative placeholders, bodies). */
ad_node *ad_placeholder(ad_graph *g, const ad_type *type, const char *name);

/* The one placeholder in g of a node of the graph around it, and back: the id
 * out there, -1 if x is no such placeholder. */
ad_node *ad_placeholder_for(ad_graph *g, const ad_node *outer);
int64_t  ad_placeholder_outer(const ad_node *x);

bool ad_is_constant(const ad_node *x, double *value); /* uniform constant? */

/* ---- Graphs (graph.c) --------------------------------------------------- */

typedef struct ad_dim_table ad_dim_table; /* dim.c */
typedef struct ad_scope ad_scope;         /* graph.c */
typedef struct ad_expansion ad_expansion; /* node.c */

struct ad_graph {
    covar_context *ctx;
    covar_heap    *heap;
    ad_arena      *arena;
    ad_dim_table  *dims;
    ad_store      *store;
    bool           eager;

    ad_node **node; /* by id */
    size_t    n_node, cap_node;
    ad_node **bucket;
    size_t    n_bucket; /* power of two */

    covar_status error;
    char         error_text[1024];

    const char *scope; /* what new nodes carry; "" at the top */
    const char *file;
    int         line;
    ad_graph   *parent; /* bodies: the graph around, else NULL */

    ad_scope     *scope_top;  /* stack of ad_scope_push */
    ad_expansion *expansions; /* of composites, newest first */
    size_t        file_mark;  /* where in the arena `file` was copied */
};

/* Makes an empty graph like g (context, store), lazy. For private copies. */
covar_status ad_graph_like(ad_graph **out, const ad_graph *g);

/* Copies the nodes that `root` needs from their graph into `to`; map[id] of
 * the source graph holds copies (NULL = not yet) and may be preset to cut the
 * copy at given nodes. Dims are re-interned. */
covar_status ad_graph_import(ad_graph *to, ad_node *const *root, size_t n,
                             ad_node **map);

/* Like ad_apply without infer (set the types yourself), hash-consing or eager
 * evaluation: for copies. Dims among the fields are re-interned. */
ad_node *ad_node_new(ad_graph *g, const ad_op *op, int n_in,
                     ad_node *const *in, const void *fields, int n_out);

/* The expansion of a composite, made once. out[k], k < n_out. NULL on error.*/
ad_node *const *ad_expand_node(ad_node *y);

/* Gives y the next id; enters it among the nodes to be merged with. */
covar_status ad_graph_append(ad_graph *g, ad_node *y);
covar_status ad_graph_enter(ad_graph *g, ad_node *y);

/* Forgets the expansions made since an arena mark. */
void ad_expansions_release(ad_graph *g, size_t mark);

/* ad_apply that also merges equal leaves: parameters, equal by name. */
ad_node *ad_apply_merged(ad_graph *g, const ad_op *op, int n_in,
                         ad_node *const *in, const void *fields);

/* "scope/name: op" into buf, for sentences. */
const char *ad_node_label(char *buf, size_t size, const ad_node *y);

/* Records the graph's first error; returns status. */
covar_status ad_graph_nomem(ad_graph *g);
covar_status ad_graph_fail(ad_graph *g, covar_status status,
                           const char *format, ...) COVAR_PRINTF(3, 4);

/* Are the rank and the sizes given to a builder there? Else the graph has an
 * error. */
bool ad_have_dims(ad_graph *g, const char *who, int rank, const ad_dim *dim);

/* All nodes that the roots need, inputs before users, in a new block of the
 * heap (free it); *n_out their number. NULL when out of memory. */
ad_node **ad_topological(ad_graph *g, ad_node *const *root, size_t n,
                         size_t *n_out);

/* ---- Dims (dim.c) ------------------------------------------------------- */

ad_dim_table *ad_dim_table_create(covar_heap *heap, ad_graph *g);
void          ad_dim_table_free(ad_dim_table *t);
size_t        ad_dim_symbol_count(const ad_dim_table *t);
const char   *ad_dim_symbol_name(const ad_dim_table *t, size_t i);

/* Value of a dim for given symbol values; SHAPE when negative or unbound. */
covar_status ad_dim_eval(const ad_graph *g, ad_dim d, const size_t *symbol,
                         size_t *value);

/* Solves an input's dim against an actual size: binds symbol values when d is
 * a bare symbol, else checks later. bound[i] says which symbols are known. */
bool   ad_dim_bind(ad_dim d, size_t actual, size_t *symbol, bool *bound);
ad_dim ad_dim_import(ad_graph *to, ad_dim d);

/* The size of a symbol that nothing has bound yet, and an impossible size:
 * the result of a size computation that failed. */
#define AD_UNBOUND SIZE_MAX
ad_dim ad_dim_invalid(void);
bool   ad_dim_is_invalid(ad_dim d);
ad_graph *ad_dim_graph(ad_dim d); /* NULL for a constant */
uint64_t  ad_dim_hash(ad_dim d);  /* by structure: equal in any graph */

/* Checks what ad_dim_equal stated, for given symbol values. */
covar_status ad_dim_check(const ad_graph *g, const size_t *symbol);
covar_status ad_dim_import_equal(ad_graph *to, const ad_graph *from);
bool   ad_dims_equal(const ad_graph *g, ad_dim a, ad_dim b); /* with asserts */

/* ---- Fields (field.c) --------------------------------------------------- */

/* Copies the fields of `op` into `to` (text into the arena, arrays and bodies
 * shared, dims re-interned); false when out of memory. */
bool ad_fields_copy(ad_graph *g, const ad_op *op, void *to, const void *from);
void ad_fields_release(const ad_op *op, void *fields);
bool ad_fields_equal(const ad_op *op, const void *a, const void *b);
uint64_t ad_fields_hash(const ad_op *op, const void *fields, uint64_t seed);
uint64_t ad_hash_mix(uint64_t a, uint64_t b);
uint64_t ad_hash_text(const char *text);

/* Is there a size of a graph that is neither g nor around it? */
bool ad_fields_foreign(const ad_graph *g, const ad_op *op, const void *fields);

/* May two applications of op with equal fields and inputs be one node? */
bool ad_fields_mergeable(const ad_op *op);

/* Does op have a field of this kind? */
bool ad_fields_have(const ad_op *op, ad_field_kind kind);

/* ---- Bodies (body.c) ---------------------------------------------------- */

/* A frozen closed child graph; reference counted. */
struct ad_body {
    struct ad_body_owner *owner; /* the count of references */
    ad_graph *g;
    ad_node **in;
    ad_node **out;
    int       n_in, n_out;
    uint64_t  hash;
};

/* An empty lazy graph inside `parent`, with its context and store. A builder
 * called in it with a node of a graph around it captures that node: it gets a
 * placeholder, one for each outer node, also for parameters (capture.c). */
covar_status ad_graph_child(ad_graph **out, ad_graph *parent);
ad_node     *ad_capture(ad_graph *g, ad_node *outer);

/* How many nodes g has captured; writes the placeholders and what they stand
 * for in g->parent, unless the lists are NULL. */
size_t ad_graph_captures(const ad_graph *g, ad_node **inner, ad_node **outer);

/* Freezes g, which then belongs to the body; on failure g stays the caller's
 * and has the error. in are its free leaves (placeholders), y its results. */
covar_status ad_body_create(ad_body **out, ad_graph *g, ad_node *const *in,
                            int n_in, ad_node *const *y, int n_out);
bool     ad_body_equal(const ad_body *a, const ad_body *b);
ad_body *ad_body_retain(ad_body *b);
void     ad_body_release(ad_body *b);

/* ---- Reference evaluation (evaluate.c) ---------------------------------- */

/* Values of y[n] in a lazy graph, node by node, without rewriting; `leaf` and
 * `value` bind inputs, params and placeholders (unbound params come from the
 * store). Each out[k] is a new array. The reference for every other way to
 * run, and what eager graphs use node by node. */
covar_status ad_evaluate(ad_graph *g, ad_node *const *leaf,
                         const la_view *value, size_t n_leaf,
                         ad_node *const *y, size_t n, la_array **out);

/* The same for sizes that are known already: symbol[] of the graph. */
covar_status ad_evaluate_at(ad_graph *g, const la_exec *exec,
                            const size_t *symbol, ad_node *const *leaf,
                            const la_view *value, size_t n_leaf,
                            ad_node *const *y, size_t n, la_array **out);

/* Values of a body's outputs for views x of its inputs, as new arrays; sizes
 * that the inputs do not tell are those of `outer`. */
covar_status ad_evaluate_body(const la_exec *exec, const ad_body *b,
                              const ad_graph *outer, const size_t *symbol,
                              const la_view *x, la_array **out);

/* Evaluates one node whose inputs have views x; makes n_out arrays. */
covar_status ad_eval_node(const la_exec *exec, ad_node *y, const la_view *x,
                          la_array **out, const size_t *symbol);

/* Has y the values of its expansion? */
bool ad_is_expanded(const ad_node *y);

/* Gives a node of an eager graph its values; the error stays in the graph. */
covar_status ad_eval_eager(ad_node *y);

/* Info words of a call on inputs x, and the sentence and status of failed
 * ones: COVAR_OK when none is positive (info.c). */
size_t       ad_info_count(const ad_node *y, const la_view *x);
covar_status ad_info_check(covar_context *ctx, const ad_node *y,
                           const la_view *x, const int32_t *info);

/* ---- Examples for the suites (example.c) -------------------------------- */

enum { AD_EXAMPLE_MAX_IN = 8 };

typedef struct ad_example_value {
    ad_node *node;
    double  *value, *direction; /* direction is zero for integers */
    size_t   count;
    bool     smooth; /* f32 or f64 */
} ad_example_value;

struct ad_example {
    ad_graph    *g;
    const ad_op *op;
    int          variant;
    size_t       n_batch; /* 0: none */
    uint64_t     seed;

    ad_example_value in[AD_EXAMPLE_MAX_IN];
    int              n_in;
    ad_node         *y;
    bool             rough; /* differences say nothing here */
};

/* Runs op's example in a fresh lazy graph. ARG for a variant past the last. */
covar_status ad_example_init(ad_example *e, covar_context *ctx,
                             const ad_op *op, size_t n, la_dtype dtype,
                             int variant, size_t n_batch);
void         ad_example_clear(ad_example *e);

/* ---- Rewriting (rewrite.c) ---------------------------------------------- */

typedef struct ad_rewriter ad_rewriter;

typedef enum ad_phase {
    AD_PHASE_IDENTITY, /* names and barriers: only after derivatives */
    AD_PHASE_CANONICAL,
    AD_PHASE_STABLE,
    AD_PHASE_LINALG,
    AD_PHASE_BLAS
} ad_phase;

/* One rewrite: "before -> after", why it holds, and the code. */
typedef struct ad_rule {
    const char  *name;
    const char  *why;
    const ad_op *root;
    ad_phase     phase;
    /* The replacement of y (same type), or NULL when the rule does not apply.
     * y's inputs are already rewritten. */
    ad_node *(*apply)(const ad_rewriter *rw, ad_node *y);
} ad_rule;

/* Rule i of all, NULL past the last. */
const ad_rule *ad_rule_get(size_t i);

/* How many nodes of the program use x (before this sweep). */
size_t ad_use_count(const ad_rewriter *rw, const ad_node *x);

/* Rewrites the roots in place with the rules of `phase`: memoised bottom-up
 * rebuild, at most 3 sweeps; ad_expand_composites replaces composites. */
covar_status ad_rewrite(ad_graph *g, ad_phase phase, ad_node **root, size_t n);

/* The same leaving some nodes, and what they need, as they are. */
covar_status ad_rewrite_opaque(ad_graph *g, ad_phase phase, ad_node **root,
                               size_t n, ad_node *const *opaque,
                               size_t n_opaque);
covar_status ad_expand_composites(ad_graph *g, ad_node **root, size_t n);

/* ---- Stores (store.c) --------------------------------------------------- */

la_array *ad_store_array(const ad_store *s, const char *name); /* borrowed */

/* Grows with every write to the array: by ad_store_set, or by a program that
 * gave the store back after updates. */
int64_t ad_store_version(const ad_store *s, const char *name);

/* Exclusive use by a program with updates: false = busy. */
bool ad_store_acquire(ad_store *s);
void ad_store_release(ad_store *s);

#endif
