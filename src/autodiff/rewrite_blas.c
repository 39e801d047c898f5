/* Product rules: scalars into alpha, sums of products into one buffer,
 * triangular factors into trmm.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/rewrite_impl.h"

#include <math.h>

static const ad_gemm_fields *gemm_of(const ad_node *y)
{
    return y->fields;
}

/* gemm, gemm_add or syrk with every factor times c. */
static ad_node *times(const ad_rewriter *rw, ad_node *x, double c)
{
    if (ad_use_count(rw, x) > 1 || !isnormal(c))
        return NULL;
    if (x->op == &ad_op_syrk) {
        const ad_syrk_fields *f = x->fields;
        return ad_syrk(f->alpha * c, (la_trans)f->trans, x->in[0]);
    }
    if (x->op != &ad_op_gemm && x->op != &ad_op_gemm_add)
        return NULL;
    ad_gemm_fields f = *gemm_of(x);
    f.alpha *= c;
    f.beta *= c;
    return ad_apply(NULL, x->op, x->n_in, x->in, &f);
}

static ad_node *scaled_product(const ad_rewriter *rw, ad_node *y)
{
    double c;
    ad_node *x = ad_match_scalar(y, &ad_op_mul, &c);
    return x ? times(rw, x, c) : NULL;
}

static ad_node *negated_product(const ad_rewriter *rw, ad_node *y)
{
    return times(rw, y->in[0], -1);
}

/* A factor c A or -A of full shape, used only here: A and c. */
static ad_node *scaled_factor(const ad_rewriter *rw, ad_node *x, double *c)
{
    if (ad_use_count(rw, x) > 1)
        return NULL;
    ad_node *A = ad_match_scalar(x, &ad_op_mul, c);
    if (!A && (A = ad_match(x, &ad_op_neg, 0)))
        *c = -1;
    return A && ad_same_shape(A, x) && isnormal(*c) ? A : NULL;
}

static ad_node *product_of_scaled(const ad_rewriter *rw, ad_node *y)
{
    ad_gemm_fields f = *gemm_of(y);
    for (int i = 0; i < 2; i++) {
        double c;
        ad_node *in[2] = {y->in[0], y->in[1]};
        ad_node *A = scaled_factor(rw, in[i], &c);
        if (!A)
            continue;
        in[i] = A;
        f.alpha *= c;
        return ad_apply(NULL, y->op, 2, in, &f);
    }
    return NULL;
}

/* ---- Sums of products --------------------------------------------------- */

static bool is_product(const ad_rewriter *rw, const ad_node *x)
{
    return x->op == &ad_op_gemm && ad_use_count(rw, x) == 1;
}

/* What a product may be added into: made by an operator, and used up here. */
static bool is_addend(const ad_rewriter *rw, const ad_node *x)
{
    bool made = x->op == &ad_op_gemm || x->op == &ad_op_gemm_add ||
                x->op == &ad_op_syrk || x->op == &ad_op_trsm ||
                x->op == &ad_op_trmm;
    return made && ad_use_count(rw, x) == 1;
}

static ad_node *accumulate(ad_node *x, double sign, double beta, ad_node *C)
{
    const ad_gemm_fields *f = gemm_of(x);
    return ad_gemm_add(sign * f->alpha, (la_trans)f->ta, x->in[0],
                       (la_trans)f->tb, x->in[1], beta, C);
}

static ad_node *product_plus(const ad_rewriter *rw, ad_node *y)
{
    for (int i = 0; i < 2; i++) {
        ad_node *x = y->in[1 - i], *C = y->in[i];
        if (is_product(rw, x) && is_addend(rw, C) && x != C &&
            ad_same_shape(C, y) && ad_same_shape(x, y))
            return accumulate(x, 1, 1, C);
    }
    return NULL;
}

static ad_node *product_minus(const ad_rewriter *rw, ad_node *y)
{
    ad_node *a = y->in[0], *b = y->in[1];
    if (a == b || !ad_same_shape(a, b))
        return NULL;
    if (is_product(rw, b) && is_addend(rw, a))
        return accumulate(b, -1, 1, a);
    return is_product(rw, a) && is_addend(rw, b) ? accumulate(a, 1, -1, b)
                                                 : NULL;
}

/* ---- Triangles ---------------------------------------------------------- */

static bool triangle(const ad_node *x, la_uplo *uplo)
{
    *uplo = x->type->facts & AD_LOWER ? LA_LOWER : LA_UPPER;
    return (x->type->facts & (AD_LOWER | AD_UPPER)) != 0;
}

static ad_node *product_triangle(const ad_rewriter *rw, ad_node *y)
{
    const ad_gemm_fields *f = gemm_of(y);
    la_uplo uplo;
    ad_node *z = NULL;
    (void)rw;
    if (triangle(y->in[0], &uplo) && f->tb == LA_NO_TRANS)
        z = ad_trmm(LA_LEFT, uplo, (la_trans)f->ta, y->in[0], y->in[1]);
    else if (triangle(y->in[1], &uplo) && f->ta == LA_NO_TRANS)
        z = ad_trmm(LA_RIGHT, uplo, (la_trans)f->tb, y->in[1], y->in[0]);
    return z && f->alpha != 1 ? ad_scale(z, f->alpha) : z;
}

#define RULE(name, why, root, apply)                                           \
    {                                                                          \
        name, why, &ad_op_##root, AD_PHASE_BLAS, apply                         \
    }

const ad_rule ad_rules_blas[] = {
    RULE("scaled_product", "c (A B) -> gemm with alpha: no pass", mul,
         scaled_product),
    RULE("negated_product", "-(A B) -> gemm with alpha: no pass", neg,
         negated_product),
    RULE("product_of_scaled", "(c A) B -> gemm with alpha: no pass", gemm,
         product_of_scaled),
    RULE("product_plus",
         "A B + C D -> gemm into the buffer of C D: one matrix "
         "less",
         add, product_plus),
    RULE("product_minus",
         "A B - C D -> gemm into the buffer of C D: one "
         "matrix less",
         sub, product_minus),
    RULE("product_triangle", "L B -> trmm for triangular L: half the flops",
         gemm, product_triangle),
    {NULL, NULL, NULL, AD_PHASE_BLAS, NULL},
};
