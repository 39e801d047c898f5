/* The operator contract: how covar, and you, add operators to the graph.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An operator is one `const ad_op` in one file. Nothing else in the library
 * names it: graph, gradients, compiler and tests read the struct. To add one:
 * write the file, name it in the build, add a row to the op list of its
 * module, declare its builder. The conformance suite then tests it unasked.
 *
 *     static covar_status infer(ad_node *y) { return ad_like_input(y, 0); }
 *     static covar_status vjp(ad_node *y, ad_node *const y_bar[],
 *                             const bool need[], ad_node *x_bar[])
 *     {
 *         x_bar[0] = ad_mul(y_bar[0], y);        (d exp(x) = exp(x) dx)
 *         return COVAR_OK;
 *     }
 *     const ad_op ad_op_exp = { .abi = AD_OP_ABI, .name = "exp",
 *         .formula = "y = exp(x)", .n_in = 1, .n_out = 1,
 *         .flags = AD_ELEMENTWISE, .row = LA_EXP, .views = -1,
 *         .infer = infer, .vjp = vjp, .example = example }; */
#ifndef COVAR_OP_H
#define COVAR_OP_H

#include <covar/linalg.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ad_graph ad_graph;
typedef struct ad_node ad_node;
typedef struct ad_body ad_body;
typedef struct ad_op ad_op;

/* ---- Symbolic sizes ----------------------------------------------------- */

/* A size: a constant (poly NULL) or an interned polynomial over the symbols
 * of one graph. Equal sizes have equal fields. */
typedef struct ad_dim {
    const struct ad_poly *poly;
    size_t                fixed;
} ad_dim;

/* ---- Values ------------------------------------------------------------- */

/* Structure facts about a matrix value, a bit set. */
enum {
    AD_SYMMETRIC = 1u << 0,
    AD_LOWER = 1u << 1,
    AD_UPPER = 1u << 2,
    AD_DIAGONAL = 1u << 3,
    AD_PD = 1u << 4, /* symmetric positive definite */
    AD_ORTHOGONAL = 1u << 5,
    AD_POSITIVE = 1u << 6, /* every element > 0 */
    AD_SKEW = 1u << 7 /* the transpose is the negative */
};

/* What is known of a value before it is computed. */
typedef struct ad_type {
    la_dtype dtype;
    int      rank;
    ad_dim   dim[LA_MAX_DIMS];
    unsigned facts;
} ad_type;

/* ---- Fields ------------------------------------------------------------- */

/* An operator's attributes live in a plain struct of its own. The field table
 * alone drives equality, hash, printing and copying of a node: padding is
 * never read, -0 equals +0, all NaN are equal. */
typedef enum ad_field_kind {
    AD_FIELD_INT,    /* int64_t */
    AD_FIELD_REAL,   /* double */
    AD_FIELD_DIM,    /* ad_dim */
    AD_FIELD_DIMS,   /* ad_dims */
    AD_FIELD_AXES,   /* ad_axes */
    AD_FIELD_TEXT,   /* const char *, copied into the graph */
    AD_FIELD_ARRAY,  /* la_array *, shared; by content up to 256 bytes */
    AD_FIELD_BODY,   /* ad_body *, shared; by structure */
    AD_FIELD_POINTER /* anything: such a node is never merged nor saved */
} ad_field_kind;

typedef struct ad_dims {
    int    rank;
    ad_dim dim[LA_MAX_DIMS];
} ad_dims;

typedef struct ad_axes { /* an ordered list of axes */
    int n;
    int axis[LA_MAX_DIMS];
} ad_axes;

typedef struct ad_field {
    const char   *name; /* NULL ends the table */
    ad_field_kind kind;
    size_t        offset;
} ad_field;

/* ---- Evaluation --------------------------------------------------------- */

typedef struct ad_runner ad_runner;

/* One call of an operator. Inputs have unit last stride, any other strides
 * and no zero strides (elementwise operators: any strides). Outputs are dense
 * unless the operator has AD_ANY_STRIDE. */
typedef struct ad_call {
    const ad_node *node;
    la_exec       *exec;
    const la_view *x;    /* n_in */
    const la_view *out;  /* n_out */
    void          *work; /* what op->work asked for, 64-byte aligned */
    int32_t       *info; /* AD_FALLIBLE: one word per batch element, zeroed */
    ad_runner     *body; /* for a node with a body: ready to run, or NULL */
    const size_t  *symbol; /* sizes, for the dims among the node's fields */
} ad_call;

/* ---- Examples for the suites -------------------------------------------- */

/* Where example inputs are drawn from; directions keep the structure. */
typedef enum ad_draw {
    AD_DRAW_NORMAL,    /* standard normal */
    AD_DRAW_POSITIVE,  /* exp(normal / 2) */
    AD_DRAW_UNIT,      /* uniform on (-0.9, 0.9) */
    AD_DRAW_PD,        /* symmetric positive definite; symmetric directions */
    AD_DRAW_SYMMETRIC,
    AD_DRAW_LOWER,     /* lower triangular, diagonal in [1, 2] */
    AD_DRAW_NEGATIVE,  /* -exp(normal / 2) */
    AD_DRAW_INDEX,     /* i32 in 0..limit-1, limit given by ad_example_index */
    AD_DRAW_KEY        /* i32 (3): a random key; no direction */
} ad_draw;

typedef struct ad_example ad_example;

/* Declares one input of the example (batch dims are added by the suite when
 * the operator takes them: it passes n_batch leading dims through
 * ad_example_batch). NULL after an error. */
COVAR_API ad_node *ad_example_input(ad_example *e, la_dtype dtype, int rank,
                                    const size_t *dim, ad_draw draw);
COVAR_API ad_node *ad_example_index(ad_example *e, size_t n, size_t limit);
COVAR_API ad_graph *ad_example_graph(ad_example *e);

/* Leading batch dims to put before matrix dims: returns their number (0 or 1)
 * and writes their size. */
COVAR_API int ad_example_batch(const ad_example *e, size_t *dim);

/* Which of the operator's variants (flags, shapes) is wanted: 0, 1, ... The
 * example returns COVAR_ERR_ARG for a number past its last variant. */
COVAR_API int ad_example_variant(const ad_example *e);

/* COVAR_ERR_ARG when the variant is not below `count`, their number. */
COVAR_API covar_status ad_example_variants(const ad_example *e, int count);

/* The operator whose example is asked for (several may share one function). */
COVAR_API const ad_op *ad_example_op(const ad_example *e);

/* The value under test. */
COVAR_API covar_status ad_example_result(ad_example *e, ad_node *y);

/* ---- The operator ------------------------------------------------------- */

enum { AD_OP_ABI = 1 };

enum {
    AD_ELEMENTWISE = 1u << 0, /* evaluated by its row of the map table */
    AD_COMPOSITE = 1u << 1,   /* has expand instead of eval */
    AD_RANDOM = 1u << 2,      /* never merged, folded or duplicated */
    AD_FALLIBLE = 1u << 3,    /* writes info words */
    AD_ANY_STRIDE = 1u << 4,  /* eval takes and makes any strides */
    AD_LEAF = 1u << 5,        /* input, parameter, placeholder: unique */
    AD_BATCHED = 1u << 6      /* accepts leading batch dims (for the suites) */
};

struct ad_op {
    unsigned    abi;
    const char *name;    /* "cholesky" */
    const char *formula; /* "L L' = A, L lower" */
    const char *source;  /* "Seeger et al. 2017", may be NULL */
    int         n_in;    /* < 0: any number */
    int         n_out;   /* < 0: set by infer (scan, fused clusters) */

    const ad_field *fields; /* NULL: none */
    size_t          fields_size;

    unsigned   flags;
    la_map_row row;        /* AD_ELEMENTWISE only */
    int        views;      /* output 0 is a view of this input, or -1 */
    unsigned   overwrites; /* bit mask: inputs whose buffer output 0 may take */

    /* AD_FALLIBLE: what a positive info word means, as a status (0 stands for
     * COVAR_ERR_NUMERIC) and as words before its number ("leading minor"). */
    covar_status failure;
    const char  *info_text;

    /* Sets the type of every output: the only place that validates. */
    covar_status (*infer)(ad_node *y);

    /* views >= 0: the view of x that output 0 is. `dim` holds the evaluated
     * output dims, `symbol` the sizes they come from. False = x is not laid
     * out for it (copy x first). Such an operator needs no eval. */
    bool (*view)(const ad_node *y, la_view x, const size_t *dim,
                 const size_t *symbol, la_view *out);

    /* Bytes of workspace for these inputs; may be NULL. */
    size_t (*work)(const ad_node *y, const la_view *x);

    /* Calls la_* leaves; no device switch, no dtype switch, no allocation. */
    covar_status (*eval)(const ad_call *c);

    /* Composites: builds the forward from other operators; out has n_out
     * entries. Fused adjoints have it beside eval: their derivative. */
    covar_status (*expand)(ad_node *y, ad_node *out[]);

    /* Adjoints of the inputs from those of the outputs, as graph. y_bar[k] is
     * NULL for an exact zero. Where need[i], set x_bar[i] to a node, AD_ZERO
     * or AD_NO_GRAD (left NULL means AD_ZERO). Linear in y_bar. */
    covar_status (*vjp)(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[]);

    /* Tangents of the outputs; optional (else derived from vjp). x_dot[i] is
     * NULL for an exact zero; y_dot[k] may be left NULL for zero. */
    covar_status (*jvp)(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[]);

    /* A random valid application of size n for the suites. */
    covar_status (*example)(ad_example *e, size_t n, la_dtype dtype);
};

/* The operators of one module, for loaders and suites. NULL-terminated. */
typedef const ad_op *const ad_op_list[];

COVAR_API extern const ad_op *const ad_ops[]; /* every operator of autodiff */

/* ---- For operator writers ----------------------------------------------- */

/* Applies an operator: checks for NULL inputs (then NULL, silently: the graph
 * holds the first error) and that all belong to one graph, infers, returns an
 * equal existing node if there is one; in an eager graph evaluates. `g` may be
 * NULL if there is an input. `fields` is copied. */
COVAR_API ad_node *ad_apply(ad_graph *g, const ad_op *op, int n_in,
                            ad_node *const *in, const void *fields);

COVAR_API ad_graph    *ad_node_graph(const ad_node *x);
COVAR_API const ad_op *ad_node_op(const ad_node *x);
COVAR_API int          ad_node_n_in(const ad_node *x);
COVAR_API ad_node     *ad_node_in(const ad_node *x, int i);
COVAR_API int          ad_node_n_out(const ad_node *x);
COVAR_API const void  *ad_node_fields(const ad_node *x);
COVAR_API const char  *ad_node_name(const ad_node *x); /* NULL if none */

/* Type of output k (0 for an ordinary value). In infer, write through
 * ad_node_set_type. */
COVAR_API const ad_type *ad_node_type(const ad_node *x, int k);
COVAR_API void ad_node_set_type(ad_node *y, int k, const ad_type *type);

/* For infer of an operator with n_out < 0: how many values y has. */
COVAR_API covar_status ad_node_set_n_out(ad_node *y, int n_out);

/* For infer: output 0 has the type of input i, without its facts. */
COVAR_API covar_status ad_like_input(ad_node *y, int i);

/* Records an error of `y`: "layer1/K: matmul: A is n x 8 but B is 7 x 1" (its
 * scope and name, if any, before the operator), keeps it as the graph's first,
 * returns status. */
COVAR_API covar_status ad_node_fail(const ad_node *y, covar_status status,
                                    const char *format, ...)
    COVAR_PRINTF(3, 4);

/* Exact zero, and "has no derivative here" (ad_grad then fails and names the
 * operator), as results of vjp. Never valid as inputs of anything else. */
COVAR_API extern const char ad_zero_mark, ad_no_grad_mark;
#define AD_ZERO ((ad_node *)(uintptr_t)&ad_zero_mark)
#define AD_NO_GRAD ((ad_node *)(uintptr_t)&ad_no_grad_mark)

/* Sums x_bar over the axes that broadcasting repeated, to the shape of x. */
COVAR_API ad_node *ad_unbroadcast(ad_node *x_bar, const ad_node *x);

/* "n x 8 f64" into buf. */
COVAR_API const char *ad_type_describe(char *buf, size_t size,
                                       const ad_type *type);

#ifdef __cplusplus
}
#endif

#endif
