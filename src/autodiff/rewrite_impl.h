/* Private to the rewriter: passes over a graph, and what rules are made of.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_REWRITE_IMPL_H
#define COVAR_REWRITE_IMPL_H

#include "autodiff/ops/ops.h"

/* ---- The engine (rewrite.c) --------------------------------------------- */

/* What a pass makes of y, whose inputs are new already: y itself or another
 * node of the same type; NULL after an error. */
typedef ad_node *ad_visit_fn(ad_rewriter *rw, ad_node *y);

enum { AD_RULE_MOST = 160 }; /* rules at most */

struct ad_rewriter {
    ad_graph *g;
    ad_visit_fn *visit;
    const ad_rule **rule; /* those of the phase, grouped by root */
    size_t n_rule;
    bool own; /* g is a private copy: enter and name every node */
    bool changed;
    ad_node *const *opaque; /* left as they are, with what they need */
    size_t n_opaque;
    ad_node **map;           /* by old id */
    size_t n_old;            /* ids below are older than the pass */
    uint32_t *old_use, *use; /* users, by old and by new id */
    size_t n_use;
};

/* One memoised bottom-up pass from the roots, which it replaces. */
covar_status ad_rewrite_pass(ad_rewriter *rw, ad_node **root, size_t n);

/* ---- Constants (fold.c) ------------------------------------------------- */

/* The value of y as a constant when all its inputs are constants, y is small
 * and neither random nor fallible; else y. NULL after an error. */
ad_node *ad_fold_constants(ad_graph *g, ad_node *y);

/* ---- Rule tables, ended by an entry without name ------------------------ */

extern const ad_rule ad_rules_identity[], ad_rules_canonical[],
    ad_rules_shape[], ad_rules_stable[], ad_rules_log[], ad_rules_linalg[],
    ad_rules_diagonal[], ad_rules_blas[];

/* ---- Matching and building (rewrite_match.c) ---------------------------- */

/* Input i of x if x applies op, else NULL. Accepts NULL. */
ad_node *ad_match(ad_node *x, const ad_op *op, int i);

/* x is op(a, c) or op(c, a) with c uniform: a, and the number; else NULL. */
ad_node *ad_match_scalar(ad_node *x, const ad_op *op, double *c);

/* x is -a or a * -1: a; else NULL. */
ad_node *ad_match_neg(ad_node *x);

/* x is 1 - a, in any of the forms that canonical rules leave: a; else NULL. */
ad_node *ad_match_one_minus(ad_node *x);

/* x is 1 + a: a; else NULL. */
ad_node *ad_match_one_plus(ad_node *x);

bool ad_is_uniform(const ad_node *x, double c);
bool ad_same_shape(const ad_node *x, const ad_node *y); /* dims and dtype */

/* x if it has y's shape, x repeated to that shape, or NULL. */
ad_node *ad_shaped_like(ad_node *x, const ad_node *y);

#endif
