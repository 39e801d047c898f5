/* Examples of the rewrite rules, for their conformance suite.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CONFORMANCE_RULES_H
#define CONFORMANCE_RULES_H

#include "autodiff/ops/ops.h"

enum { MOST_EXAMPLES = 256 };

typedef struct leaves {
    ad_graph *g;
    ad_node *x, *y, *z, *p; /* (5); p positive */
    ad_node *s;             /* rank 0 */
    ad_node *A, *C;         /* (4,3) */
    ad_node *B;             /* (3,4) */
    ad_node *D, *K;         /* (4,4); K positive definite */
    ad_node *one;           /* (4,1) */
} leaves;

typedef struct example {
    const char *rule;
    ad_node *y;   /* what the rule replaces */
    size_t count; /* operators left after all phases */
} example;

/* Appends every example. */
void examples_all(example *list, size_t *n, const leaves *l);

#endif
