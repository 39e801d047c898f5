/* Rules for diagonals: what is wanted of a matrix is its diagonal only.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/rewrite_impl.h"

enum { DEEPEST = 12 };

static ad_node *scaled(ad_node *x, double alpha)
{
    return alpha == 1 ? x : ad_scale(x, alpha);
}

static ad_node *turned(ad_node *B, bool trans)
{
    return trans ? ad_transpose(B) : B;
}

static bool main_diagonal(const ad_node *y)
{
    return ((const ad_diag_fields *)y->fields)->k == 0;
}

static ad_node *log_det(const ad_rewriter *rw, ad_node *y)
{
    ad_node *d = ad_match(y->in[0], &ad_op_log, 0);
    (void)rw;
    if (!d || d->op != &ad_op_extract_diag || !main_diagonal(d))
        return NULL;
    int64_t axes = ((const ad_reduce_fields *)y->fields)->axes;
    int last = d->type->rank - 1;
    if (!(axes & AD_AXIS(last)))
        return NULL;
    ad_node *s = ad_sum_log_diag(d->in[0]);
    axes &= ~(int64_t)AD_AXIS(last);
    return axes ? ad_sum(s, (unsigned)axes) : s;
}

static ad_node *add_diagonal(const ad_rewriter *rw, ad_node *y)
{
    for (int i = 0; i < 2; i++) {
        ad_node *D = y->in[i], *A = y->in[1 - i];
        if (D->op == &ad_op_make_diag && main_diagonal(D) &&
            ad_same_shape(A, y) && ad_same_shape(D, y) &&
            ad_use_count(rw, D) == 1)
            return ad_add_diag(A, D->in[0]);
    }
    return NULL;
}

static ad_node *scaled_diagonal(const ad_rewriter *rw, ad_node *y)
{
    (void)rw;
    for (int i = 0; i < 2; i++) {
        ad_node *D = y->in[i], *c = y->in[1 - i];
        if (D->op == &ad_op_make_diag && c->type->rank == 0)
            return ad_make_diag(ad_mul(D->in[0], c),
                                (int)((const ad_diag_fields *)D->fields)->k);
    }
    return NULL;
}

/* ---- The diagonal of a computed matrix ---------------------------------- */

static bool is_square(const ad_type *t)
{
    return t->rank >= 2 &&
           ad_dim_same(t->dim[t->rank - 1], t->dim[t->rank - 2]);
}

/* diag(A B)_i = sum_k A_ik B_ki, without the product. */
static ad_node *diag_of_product(ad_node *x)
{
    const ad_gemm_fields *f = x->fields;
    ad_node *A = turned(x->in[0], f->ta == LA_TRANS);
    ad_node *B = turned(x->in[1], f->tb != LA_TRANS);
    if (!A || !B || !ad_same_shape(A, B))
        return NULL;
    return scaled(ad_sum(ad_mul(A, B), AD_AXIS(x->type->rank - 1)), f->alpha);
}

static ad_node *diag_of(ad_node *x, int depth);

/* What operand i of the elementwise x has on the diagonal. */
static ad_node *diag_of_operand(const ad_node *x, int i, int depth)
{
    ad_node *a = x->in[i];
    int last = x->type->rank - 1;
    if (a->type->rank == 0)
        return a;
    if (ad_same_shape(a, x))
        return diag_of(a, depth);
    for (int k = 0; k < last - 1; k++)
        if (!ad_dim_same(a->type->dim[k], x->type->dim[k]))
            return NULL;
    if (ad_is_one(a->type->dim[last]))
        return ad_squeeze(a, last);
    return ad_is_one(a->type->dim[last - 1]) ? ad_squeeze(a, last - 1) : NULL;
}

static ad_node *diag_of_elementwise(ad_node *x, int depth)
{
    ad_node *in[3] = {NULL};
    for (int i = 0; i < x->n_in; i++) {
        in[i] = diag_of_operand(x, i, depth);
        if (!in[i])
            return NULL;
    }
    return ad_apply(NULL, x->op, x->n_in, in, x->fields);
}

/* The main diagonal of a square x, from those of what x is made of. */
static ad_node *diag_of(ad_node *x, int depth)
{
    if (depth == 0)
        return ad_extract_diag(x, 0);
    if (x->op->flags & AD_ELEMENTWISE)
        return diag_of_elementwise(x, depth - 1);
    if (x->op == &ad_op_transpose)
        return diag_of(x->in[0], depth - 1);
    if (x->op == &ad_op_add_diag && x->in[1]->type->rank == x->type->rank - 1)
        return ad_add(diag_of(x->in[0], depth - 1), x->in[1]);
    if (x->op == &ad_op_sqdist_self)
        return ad_fill(x->graph, x->type->dtype, 0, x->type->rank - 1,
                       x->type->dim);
    return ad_extract_diag(x, 0);
}

static ad_node *diag_inside(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    if (!main_diagonal(y) || !is_square(x->type))
        return NULL;
    if (x->op == &ad_op_gemm && ad_use_count(rw, x) == 1)
        return diag_of_product(x);
    ad_node *d = diag_of(x, DEEPEST);
    return d == y ? NULL : d;
}

#define RULE(name, why, root, apply)                                           \
    {                                                                          \
        name, why, &ad_op_##root, AD_PHASE_LINALG, apply                       \
    }

const ad_rule ad_rules_diagonal[] = {
    RULE("log_det", "sum(log(diag(L))) -> sum_log_diag(L): one pass", sum,
         log_det),
    RULE("scaled_diagonal", "c diag(v) -> diag(c v): n products, not n^2", mul,
         scaled_diagonal),
    RULE("add_diagonal", "A + diag(v) -> add_diag(A, v): no second matrix", add,
         add_diagonal),
    RULE("diag_inside",
         "diag(f(A)) -> f(diag(A)), diag(A B) -> row sums of A "
         "times B': n or n^2 operations and no matrix",
         extract_diag, diag_inside),
    {NULL, NULL, NULL, AD_PHASE_LINALG, NULL},
};
