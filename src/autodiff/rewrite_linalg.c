/* Linear algebra rules: cheaper and more accurate ways to the same matrices.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/rewrite_impl.h"

#include <math.h>

static la_trans flip(int64_t t)
{
    return t == LA_TRANS ? LA_NO_TRANS : LA_TRANS;
}

static const ad_gemm_fields *gemm_of(const ad_node *y)
{
    return y->fields;
}

/* ---- Transposes into flags ---------------------------------------------- */

static ad_node *gemm_transpose(const ad_rewriter *rw, ad_node *y)
{
    const ad_gemm_fields *f = gemm_of(y);
    ad_node *A = ad_match(y->in[0], &ad_op_transpose, 0);
    ad_node *B = ad_match(y->in[1], &ad_op_transpose, 0);
    (void)rw;
    if (!A && !B)
        return NULL;
    return ad_gemm(f->alpha, A ? flip(f->ta) : (la_trans)f->ta,
                   A ? A : y->in[0], B ? flip(f->tb) : (la_trans)f->tb,
                   B ? B : y->in[1]);
}

static ad_node *transpose_gemm(const ad_rewriter *rw, ad_node *y)
{
    ad_node *x = y->in[0];
    if (x->op != &ad_op_gemm || ad_use_count(rw, x) > 1)
        return NULL;
    const ad_gemm_fields *f = gemm_of(x);
    return ad_gemm(f->alpha, flip(f->tb), x->in[1], flip(f->ta), x->in[0]);
}

static ad_node *syrk_transpose(const ad_rewriter *rw, ad_node *y)
{
    const ad_syrk_fields *f = y->fields;
    ad_node *A = ad_match(y->in[0], &ad_op_transpose, 0);
    (void)rw;
    return A ? ad_syrk(f->alpha, flip(f->trans), A) : NULL;
}

/* op(T') of the other triangle, for solves and products. */
static ad_node *triangle_transpose(const ad_rewriter *rw, ad_node *y)
{
    ad_trsm_fields f = *(const ad_trsm_fields *)y->fields;
    ad_node *T = ad_match(y->in[0], &ad_op_transpose, 0);
    (void)rw;
    if (!T)
        return NULL;
    f.trans = flip(f.trans);
    f.uplo = f.uplo == LA_LOWER ? LA_UPPER : LA_LOWER;
    return ad_apply(NULL, y->op, 2, (ad_node *[]){T, y->in[1]}, &f);
}

/* ---- Symmetric products ------------------------------------------------- */

static ad_node *gemm_self(const ad_rewriter *rw, ad_node *y)
{
    const ad_gemm_fields *f = gemm_of(y);
    (void)rw;
    return y->in[0] == y->in[1] && f->ta != f->tb
               ? ad_syrk(f->alpha, (la_trans)f->ta, y->in[0])
               : NULL;
}

/* x is L L' of a Cholesky factor: L. */
static ad_node *factored(ad_node *x)
{
    if (x->op == &ad_op_syrk) {
        const ad_syrk_fields *f = x->fields;
        return f->alpha == 1 && f->trans == LA_NO_TRANS ? x->in[0] : NULL;
    }
    if (x->op == &ad_op_gemm && x->in[0] == x->in[1]) {
        const ad_gemm_fields *f = x->fields;
        return f->alpha == 1 && f->ta == LA_NO_TRANS && f->tb == LA_TRANS
                   ? x->in[0]
                   : NULL;
    }
    return NULL;
}

static ad_node *cholesky_product(const ad_rewriter *rw, ad_node *y)
{
    ad_node *L = factored(y->in[0]);
    (void)rw;
    return L && L->op == &ad_op_cholesky ? L : NULL;
}

/* ---- Inverses ----------------------------------------------------------- */

static ad_node *turned(ad_node *B, int64_t trans)
{
    return trans == LA_TRANS ? ad_transpose(B) : B;
}

static ad_node *scaled(ad_node *x, double alpha)
{
    return alpha == 1 ? x : ad_scale(x, alpha);
}

static ad_node *inverse_product(const ad_rewriter *rw, ad_node *y)
{
    const ad_gemm_fields *f = gemm_of(y);
    ad_node *L = ad_match(y->in[0], &ad_op_potri, 0);
    if (L && ad_use_count(rw, y->in[0]) == 1)
        return scaled(ad_chol_solve(L, turned(y->in[1], f->tb)), f->alpha);
    L = ad_match(y->in[1], &ad_op_potri, 0);
    if (!L || ad_use_count(rw, y->in[1]) > 1)
        return NULL;
    ad_node *X = turned(y->in[0], f->ta);
    X = ad_trsm(LA_RIGHT, LA_LOWER, LA_TRANS, L, X);
    return scaled(ad_trsm(LA_RIGHT, LA_LOWER, LA_NO_TRANS, L, X), f->alpha);
}

#define RULE(name, why, root, apply)                                           \
    {                                                                          \
        name, why, &ad_op_##root, AD_PHASE_LINALG, apply                       \
    }

const ad_rule ad_rules_linalg[] = {
    RULE("gemm_transpose", "A' B -> gemm with a flag: no copy", gemm,
         gemm_transpose),
    RULE("transpose_gemm", "(A B)' -> B' A' with flags: no copy", transpose,
         transpose_gemm),
    RULE("syrk_transpose", "syrk(A') -> syrk with a flag: no copy", syrk,
         syrk_transpose),
    RULE("trsm_transpose",
         "solve with T' -> the other triangle's flag: no "
         "copy",
         trsm, triangle_transpose),
    RULE("trmm_transpose",
         "product with T' -> the other triangle's flag: no "
         "copy",
         trmm, triangle_transpose),
    RULE("gemm_self", "A A' -> syrk(A): half the flops, exactly symmetric",
         gemm, gemm_self),
    RULE("cholesky_product",
         "chol(L L') -> L for a Cholesky factor L: no "
         "flops",
         cholesky, cholesky_product),
    RULE("inverse_product",
         "(L L')^-1 B -> two solves: less work, more "
         "accurate",
         gemm, inverse_product),
    {NULL, NULL, NULL, AD_PHASE_LINALG, NULL},
};
