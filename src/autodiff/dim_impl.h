/* Private to the dim files: polynomials over atoms.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A size is sum_t coef_t prod_k atom_tk. An atom is something whose value is
 * not a polynomial of other sizes: a symbol, floor(p/c), min(p, q); its kind
 * is a struct of functions, so that more kinds need no change elsewhere.
 * Polynomials and atoms are interned: equal ones of a graph are one pointer.
 * They live until the graph goes, also across ad_graph_release. */
#ifndef COVAR_DIM_IMPL_H
#define COVAR_DIM_IMPL_H

#include "autodiff/autodiff_impl.h"

enum { DIM_MAX_DEPTH = 64, DIM_MAX_DEGREE = 64 };

typedef struct ad_atom ad_atom;
typedef struct ad_poly ad_poly;

typedef struct dim_kind {
    const char *name;
    /* False = overflow; *value may be negative. */
    bool (*eval)(const ad_atom *a, const size_t *symbol, int64_t *value);
    void (*text)(char *buf, size_t size, const ad_atom *a);
    /* The same atom made from rebuilt parts; see dim_rebuild. */
    ad_dim (*rebuild)(ad_graph *to, const ad_atom *a, bool resolve);
    bool commutes; /* a and b may change places */
} dim_kind;

struct ad_atom {
    const dim_kind *kind;
    uint64_t hash; /* by structure */
    uint32_t id;
    int depth;        /* of nesting */
    const char *name; /* symbols */
    size_t symbol;    /* symbols: their number */
    bool resolved;    /* symbols: stated equal to `equal` */
    ad_dim equal;
    ad_dim a, b; /* floor(a / c), min(a, b) */
    int64_t c;
};

typedef struct ad_term {
    int64_t coef;
    int degree;
    const ad_atom **atom; /* degree of them, ascending id */
} ad_term;

struct ad_poly {
    ad_dim_table *table;
    uint64_t hash;
    ad_poly *chain;
    int depth, n;
    ad_term *term;   /* canonical order, no zero coefficient */
    ad_poly *stated; /* union-find: stated equal, and no bare symbol */
    bool known;      /* roots: stated equal to `fixed` */
    size_t fixed;
};

typedef struct dim_statement {
    struct dim_statement *next;
    ad_dim a, b;
} dim_statement;

struct ad_dim_table {
    ad_graph *g;
    covar_heap *heap;
    ad_arena *arena;
    ad_poly **poly; /* buckets */
    size_t n_poly, n_bucket;
    ad_atom **atom; /* by id */
    size_t n_atom, cap_atom;
    ad_atom **symbol; /* by number */
    size_t n_symbol, cap_symbol;
    dim_statement *statements;
    bool resolves; /* some symbol is resolved */
};

extern const dim_kind dim_symbol, dim_floor, dim_min;

/* Sorts, adds up equal monomials, drops zeros. False on overflow. */
bool dim_canonical(ad_term *term, int *n);

/* The size with these canonical terms, which lie in the arena above `mark`
 * and stay there only if the polynomial is new. */
ad_dim dim_intern(ad_dim_table *t, ad_term *term, int n, size_t mark);

/* The interned atom equal to `proto` as a size. */
ad_dim dim_of_atom(ad_dim_table *t, const ad_atom *proto);

/* The table of a or b, into which the one of a graph around is imported; *good
 * is false for strangers and invalid sizes. NULL: both are constants. */
ad_dim_table *dim_common_table(ad_dim *a, ad_dim *b, bool *good);

/* Records the failure of a size computation; returns the invalid dim. */
ad_dim dim_fail(ad_dim_table *t, covar_status status, const char *what,
                ad_dim a, ad_dim b);

bool dim_add_overflows(int64_t a, int64_t b, int64_t *out);
bool dim_mul_overflows(int64_t a, int64_t b, int64_t *out);
int64_t dim_floor_div(int64_t a, int64_t c);
bool dim_value(ad_dim d, const size_t *symbol, int64_t *value);
int dim_depth(ad_dim d);

/* The atom of d when d is a bare symbol, else NULL. */
ad_atom *dim_bare_symbol(ad_dim d);

/* d made anew in `to`, if resolve with symbols replaced by what they were
 * stated to be equal to. */
ad_dim dim_rebuild(ad_graph *to, ad_dim d, bool resolve);

/* sum_i coef_i * p_i, of one graph (table), as an interned size. */
ad_dim dim_combine(ad_dim_table *t, int64_t alpha, ad_dim a, int64_t beta,
                   ad_dim b);

#endif
