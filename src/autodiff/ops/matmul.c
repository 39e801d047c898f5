/* Matrix products: gemm, gemm with an addend, matrix times vector.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * D = alpha op(A) op(B) + beta C, op(A) (n,k), op(B) (k,m); batch dims equal.
 * A_bar = alpha D_bar op(B)', B_bar = alpha op(A)' D_bar, each transposed
 * where its operand was; C_bar = beta D_bar. */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field gemm_fields[] = {
    {"alpha", AD_FIELD_REAL, offsetof(ad_gemm_fields, alpha)},
    {"beta", AD_FIELD_REAL, offsetof(ad_gemm_fields, beta)},
    {"ta", AD_FIELD_INT, offsetof(ad_gemm_fields, ta)},
    {"tb", AD_FIELD_INT, offsetof(ad_gemm_fields, tb)},
    {NULL, AD_FIELD_INT, 0},
};

static const ad_gemm_fields *fields_of(const ad_node *y)
{
    return y->fields;
}

static la_trans flip(int64_t t)
{
    return t == LA_TRANS ? LA_NO_TRANS : LA_TRANS;
}

/* Triangle facts of op(x). */
static unsigned turned(unsigned facts, int64_t trans)
{
    if (trans == LA_NO_TRANS)
        return facts;
    return (facts & AD_LOWER ? AD_UPPER : 0u) |
           (facts & AD_UPPER ? AD_LOWER : 0u);
}

static unsigned facts_of(const ad_node *y)
{
    const ad_gemm_fields *f = fields_of(y);
    unsigned a = turned(ad_in_type(y, 0)->facts, f->ta);
    unsigned b = turned(ad_in_type(y, 1)->facts, f->tb);
    unsigned facts = a & b & (AD_LOWER | AD_UPPER);
    if (y->in[0] == y->in[1] && f->ta != f->tb)
        facts |= AD_SYMMETRIC;
    if (y->n_in == 3)
        facts &= ad_in_type(y, 2)->facts;
    return facts;
}

static covar_status infer(ad_node *y)
{
    const ad_gemm_fields *f = fields_of(y);
    COVAR_TRY(ad_need_real(y, 0));
    for (int i = 0; i < 2; i++) {
        COVAR_TRY(ad_need_same_dtype(y, 0, i));
        COVAR_TRY(ad_need_rank(y, i, 2));
    }
    const ad_type *A = ad_in_type(y, 0), *B = ad_in_type(y, 1);
    COVAR_TRY(ad_need_same_batch(y, 0, 2, 1, 2));
    int m = A->rank - 2;
    ad_dim k[2] = {A->dim[m + (f->ta == LA_NO_TRANS)],
                   B->dim[m + (f->tb != LA_NO_TRANS)]};
    if (!ad_same_dim(y, k[0], k[1]))
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "A%s is %s but B%s is %s: inner sizes %s and %s",
                            f->ta ? "'" : "", ad_in_text(y, 0).s,
                            f->tb ? "'" : "", ad_in_text(y, 1).s,
                            ad_one_dim_text(k[0]).s, ad_one_dim_text(k[1]).s);
    ad_type t = *A;
    t.dim[m] = A->dim[m + (f->ta != LA_NO_TRANS)];
    t.dim[m + 1] = B->dim[m + (f->tb == LA_NO_TRANS)];
    t.facts = facts_of(y);
    if (y->n_in == 3) {
        COVAR_TRY(ad_need_same_dtype(y, 0, 2));
        if (!ad_same_dims(y, &t, ad_in_type(y, 2))) {
            char text[120];
            return ad_node_fail(
                y, COVAR_ERR_SHAPE, "the product is %s but C is %s",
                ad_type_describe(text, sizeof(text), &t), ad_in_text(y, 2).s);
        }
    }
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval(const ad_call *c)
{
    const ad_gemm_fields *f = fields_of(c->node);
    bool add = c->node->n_in == 3;
    if (add)
        COVAR_TRY(ad_eval_start(c, 2));
    return la_gemm(c->exec, f->alpha, (la_trans)f->ta, c->x[0], (la_trans)f->tb,
                   c->x[1], add ? f->beta : 0, c->out[0]);
}

static ad_node *first_bar(const ad_gemm_fields *f, ad_node *g, ad_node *B)
{
    if (f->ta == LA_NO_TRANS)
        return ad_gemm(f->alpha, LA_NO_TRANS, g, flip(f->tb), B);
    return ad_gemm(f->alpha, (la_trans)f->tb, B, LA_TRANS, g);
}

static ad_node *second_bar(const ad_gemm_fields *f, ad_node *g, ad_node *A)
{
    if (f->tb == LA_NO_TRANS)
        return ad_gemm(f->alpha, flip(f->ta), A, LA_NO_TRANS, g);
    return ad_gemm(f->alpha, LA_TRANS, g, (la_trans)f->ta, A);
}

static covar_status vjp(ad_node *y, ad_node *const y_bar[], const bool need[],
                        ad_node *x_bar[])
{
    const ad_gemm_fields *f = fields_of(y);
    if (!y_bar[0])
        return COVAR_OK;
    if (need[0])
        x_bar[0] = first_bar(f, y_bar[0], y->in[1]);
    if (need[1])
        x_bar[1] = second_bar(f, y_bar[0], y->in[0]);
    if (y->n_in == 3 && need[2])
        x_bar[2] = f->beta == 1 ? y_bar[0] : ad_scale(y_bar[0], f->beta);
    return COVAR_OK;
}

static ad_node *plus(ad_node *a, ad_node *b)
{
    return a && b ? ad_add(a, b) : a ? a : b;
}

static covar_status jvp(ad_node *y, ad_node *const x_dot[], ad_node *y_dot[])
{
    const ad_gemm_fields *f = fields_of(y);
    la_trans ta = (la_trans)f->ta, tb = (la_trans)f->tb;
    ad_node *d = NULL;
    if (x_dot[0])
        d = ad_gemm(f->alpha, ta, x_dot[0], tb, y->in[1]);
    if (x_dot[1])
        d = plus(d, ad_gemm(f->alpha, ta, y->in[0], tb, x_dot[1]));
    if (y->n_in == 3 && x_dot[2])
        d = plus(d, ad_scale(x_dot[2], f->beta));
    y_dot[0] = d;
    return COVAR_OK;
}

/* Variants: the four transpositions; A with itself; matrix times vector. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 6));
    int v = ad_example_variant(e);
    la_trans ta = v & 1 ? LA_TRANS : LA_NO_TRANS;
    la_trans tb = v & 2 ? LA_TRANS : LA_NO_TRANS;
    if (v == 4) {
        ad_node *S = ad_example_matrix(e, dtype, n, 3, AD_DRAW_NORMAL);
        return ad_example_result(e, ad_gemm(0.5, LA_TRANS, S, LA_NO_TRANS, S));
    }
    size_t k = n + 1, m = 3;
    ad_node *A = ad_example_matrix(e, dtype, v & 1 ? k : n, v & 1 ? n : k,
                                   AD_DRAW_NORMAL);
    ad_node *B = v == 5 ? ad_example_vector(e, dtype, n, AD_DRAW_NORMAL)
                        : ad_example_matrix(e, dtype, v & 2 ? m : k,
                                            v & 2 ? k : m, AD_DRAW_NORMAL);
    if (v == 5)
        return ad_example_result(e, ad_matmul(A, B));
    return ad_example_result(e, ad_gemm(v ? 1 : -1.5, ta, A, tb, B));
}

/* Variants: beta 1 and another; the second with transposes. */
static covar_status example_add(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 2));
    int v = ad_example_variant(e);
    ad_node *A =
        ad_example_matrix(e, dtype, v ? 2 : n, v ? n : 2, AD_DRAW_NORMAL);
    ad_node *B =
        ad_example_matrix(e, dtype, v ? n : 2, v ? 2 : n, AD_DRAW_NORMAL);
    ad_node *C = ad_example_matrix(e, dtype, n, n, AD_DRAW_NORMAL);
    la_trans t = v ? LA_TRANS : LA_NO_TRANS;
    return ad_example_result(
        e, ad_gemm_add(v ? -1 : 2, t, A, t, B, v ? 0.5 : 1, C));
}

const ad_op ad_op_gemm = {
    .abi = AD_OP_ABI,
    .name = "gemm",
    .formula = "D = alpha op(A) op(B)",
    .n_in = 2,
    .n_out = 1,
    .fields = gemm_fields,
    .fields_size = sizeof(ad_gemm_fields),
    .flags = AD_BATCHED,
    .views = -1,
    .infer = infer,
    .eval = eval,
    .vjp = vjp,
    .jvp = jvp,
    .example = example,
};

const ad_op ad_op_gemm_add = {
    .abi = AD_OP_ABI,
    .name = "gemm_add",
    .formula = "D = alpha op(A) op(B) + beta C",
    .n_in = 3,
    .n_out = 1,
    .fields = gemm_fields,
    .fields_size = sizeof(ad_gemm_fields),
    .flags = AD_BATCHED,
    .views = -1,
    .overwrites = 1u << 2,
    .infer = infer,
    .eval = eval,
    .vjp = vjp,
    .jvp = jvp,
    .example = example_add,
};

/* B with one dim less than A is a vector: a column for the time being. */
ad_node *ad_gemm(double alpha, la_trans ta, ad_node *A, la_trans tb, ad_node *B)
{
    ad_gemm_fields f = {alpha, 0, ta, tb};
    if (A && B && ad_rank(A) >= 2 && ad_rank(B) == ad_rank(A) - 1 &&
        tb == LA_NO_TRANS) {
        int last = ad_rank(B);
        ad_node *column = ad_gemm(alpha, ta, A, tb, ad_expand(B, last));
        return ad_squeeze(column, last);
    }
    return ad_apply(NULL, &ad_op_gemm, 2, (ad_node *[]){A, B}, &f);
}

ad_node *ad_matmul(ad_node *A, ad_node *B)
{
    return ad_gemm(1, LA_NO_TRANS, A, LA_NO_TRANS, B);
}

ad_node *ad_gemm_add(double alpha, la_trans ta, ad_node *A, la_trans tb,
                     ad_node *B, double beta, ad_node *C)
{
    ad_gemm_fields f = {alpha, beta, ta, tb};
    return ad_apply(NULL, &ad_op_gemm_add, 3, (ad_node *[]){A, B, C}, &f);
}
