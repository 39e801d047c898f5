/* Triangular solves and products.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trsm: X with op(T) X = B (left) or X op(T) = B (right); B_bar solves with
 * the other transpose, T_bar = -tri(B_bar X') in the matching order.
 * trmm: Y = op(T) B or B op(T). The other triangle of T is not read, and its
 * adjoint is zero. Source: Seeger et al. 2017, appendix. */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field trsm_fields[] = {
    {"side", AD_FIELD_INT, offsetof(ad_trsm_fields, side)},
    {"uplo", AD_FIELD_INT, offsetof(ad_trsm_fields, uplo)},
    {"trans", AD_FIELD_INT, offsetof(ad_trsm_fields, trans)},
    {NULL, AD_FIELD_INT, 0},
};

static const ad_trsm_fields *fields_of(const ad_node *y)
{
    return y->fields;
}

static covar_status infer(ad_node *y)
{
    const ad_trsm_fields *f = fields_of(y);
    COVAR_TRY(ad_need_square(y, 0));
    COVAR_TRY(ad_need_rank(y, 1, 2));
    COVAR_TRY(ad_need_same_dtype(y, 0, 1));
    COVAR_TRY(ad_need_same_batch(y, 0, 2, 1, 2));
    const ad_type *T = ad_in_type(y, 0);
    ad_type t = *ad_in_type(y, 1);
    int last = t.rank - (f->side == LA_LEFT ? 2 : 1);
    if (!ad_same_dim(y, T->dim[T->rank - 1], t.dim[last]))
        return ad_node_fail(
            y, COVAR_ERR_SHAPE, "T is %s but B, on its %s, is %s",
            ad_in_text(y, 0).s, f->side == LA_LEFT ? "right" : "left",
            ad_in_text(y, 1).s);
    bool lower = (f->uplo == LA_LOWER) == (f->trans == LA_NO_TRANS);
    t.facts &= lower ? AD_LOWER : AD_UPPER;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval(const ad_call *c)
{
    const ad_trsm_fields *f = fields_of(c->node);
    COVAR_TRY(ad_eval_start(c, 1));
    return (c->node->op == &ad_op_trsm ? la_trsm : la_trmm)(
        c->exec, (la_side)f->side, (la_uplo)f->uplo, (la_trans)f->trans,
        LA_NON_UNIT, 1, c->x[0], c->out[0]);
}

/* The same operation with T' for T and the other way round. */
static ad_node *turned(const ad_node *y, ad_node *B)
{
    ad_trsm_fields f = *fields_of(y);
    f.trans = f.trans == LA_TRANS ? LA_NO_TRANS : LA_TRANS;
    return ad_apply(NULL, y->op, 2, (ad_node *[]){y->in[0], B}, &f);
}

/* alpha tri of: P Q' where op(T) stands left, Q' P right; or transposed. */
static ad_node *triangle(const ad_node *y, double alpha, ad_node *P, ad_node *Q)
{
    const ad_trsm_fields *f = fields_of(y);
    bool left = f->side == LA_LEFT, plain = f->trans == LA_NO_TRANS;
    ad_node *a = plain == left ? P : Q, *b = plain == left ? Q : P;
    ad_node *full = left ? ad_gemm(alpha, LA_NO_TRANS, a, LA_TRANS, b)
                         : ad_gemm(alpha, LA_TRANS, a, LA_NO_TRANS, b);
    return f->uplo == LA_LOWER ? ad_tril(full) : ad_triu(full);
}

static covar_status vjp_trsm(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    if (!y_bar[0])
        return COVAR_OK;
    ad_node *B_bar = turned(y, y_bar[0]);
    if (need[0])
        x_bar[0] = triangle(y, -1, B_bar, y);
    if (need[1])
        x_bar[1] = B_bar;
    return COVAR_OK;
}

static covar_status vjp_trmm(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    if (!y_bar[0])
        return COVAR_OK;
    if (need[0])
        x_bar[0] = triangle(y, 1, y_bar[0], y->in[1]);
    if (need[1])
        x_bar[1] = turned(y, y_bar[0]);
    return COVAR_OK;
}

/* op(T_dot) times Z on T's side; reads the triangle only. */
static ad_node *times(const ad_node *y, ad_node *T_dot, ad_node *Z)
{
    return ad_apply(NULL, &ad_op_trmm, 2, (ad_node *[]){T_dot, Z}, y->fields);
}

/* op(T) X = B: X_dot solves op(T) X_dot = B_dot - op(T_dot) X. */
static covar_status jvp_trsm(ad_node *y, ad_node *const x_dot[],
                             ad_node *y_dot[])
{
    ad_node *right = x_dot[1];
    if (x_dot[0]) {
        ad_node *m = times(y, x_dot[0], y);
        right = right ? ad_sub(right, m) : ad_neg(m);
    }
    if (right)
        y_dot[0] = ad_apply(NULL, &ad_op_trsm, 2,
                            (ad_node *[]){y->in[0], right}, y->fields);
    return COVAR_OK;
}

static covar_status jvp_trmm(ad_node *y, ad_node *const x_dot[],
                             ad_node *y_dot[])
{
    if (x_dot[1])
        y_dot[0] = times(y, y->in[0], x_dot[1]);
    if (x_dot[0]) {
        ad_node *m = times(y, x_dot[0], y->in[1]);
        y_dot[0] = y_dot[0] ? ad_add(y_dot[0], m) : m;
    }
    return COVAR_OK;
}

/* A vector as B, for the left side: a column for the time being. */
static ad_node *build(const ad_op *op, la_side side, la_uplo uplo,
                      la_trans trans, ad_node *T, ad_node *B)
{
    ad_trsm_fields f = {side, uplo, trans};
    bool vector = T && B && side == LA_LEFT && ad_rank(T) >= 2 &&
                  ad_rank(B) == ad_rank(T) - 1;
    int last = vector ? ad_rank(B) : 0;
    if (vector)
        B = ad_expand(B, last);
    ad_node *y = ad_apply(NULL, op, 2, (ad_node *[]){T, B}, &f);
    return vector ? ad_squeeze(y, last) : y;
}

ad_node *ad_trsm(la_side side, la_uplo uplo, la_trans trans, ad_node *T,
                 ad_node *B)
{
    return build(&ad_op_trsm, side, uplo, trans, T, B);
}

ad_node *ad_trmm(la_side side, la_uplo uplo, la_trans trans, ad_node *T,
                 ad_node *B)
{
    return build(&ad_op_trmm, side, uplo, trans, T, B);
}

/* Variants: bits side, uplo, trans; then a vector. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 9));
    int v = ad_example_variant(e);
    la_side side = v & 1 ? LA_RIGHT : LA_LEFT;
    la_uplo uplo = v & 2 ? LA_UPPER : LA_LOWER;
    la_trans trans = v & 4 ? LA_TRANS : LA_NO_TRANS;
    ad_node *L = ad_example_matrix(e, dtype, n, n, AD_DRAW_LOWER);
    ad_node *T = uplo == LA_UPPER ? ad_copy(ad_transpose(L)) : L;
    ad_node *B = v == 8 ? ad_example_vector(e, dtype, n, AD_DRAW_NORMAL)
                        : ad_example_matrix(e, dtype, v & 1 ? 3 : n,
                                            v & 1 ? n : 3, AD_DRAW_NORMAL);
    return ad_example_result(e,
                             build(ad_example_op(e), side, uplo, trans, T, B));
}

const ad_op ad_op_trsm = {
    .abi = AD_OP_ABI,
    .name = "trsm",
    .formula = "op(T) X = B or X op(T) = B, T triangular",
    .source = "Seeger et al. 2017",
    .n_in = 2,
    .n_out = 1,
    .fields = trsm_fields,
    .fields_size = sizeof(ad_trsm_fields),
    .flags = AD_BATCHED,
    .views = -1,
    .overwrites = 1u << 1,
    .infer = infer,
    .eval = eval,
    .vjp = vjp_trsm,
    .jvp = jvp_trsm,
    .example = example,
};

const ad_op ad_op_trmm = {
    .abi = AD_OP_ABI,
    .name = "trmm",
    .formula = "Y = op(T) B or B op(T), T triangular",
    .source = "Seeger et al. 2017",
    .n_in = 2,
    .n_out = 1,
    .fields = trsm_fields,
    .fields_size = sizeof(ad_trsm_fields),
    .flags = AD_BATCHED,
    .views = -1,
    .overwrites = 1u << 1,
    .infer = infer,
    .eval = eval,
    .vjp = vjp_trmm,
    .jvp = jvp_trmm,
    .example = example,
};
