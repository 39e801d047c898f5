/* Examples of the rewrite rules: expression, rule, operators that are left.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "conformance_rules.h"

typedef struct writer {
    example *list;
    size_t *n;
} writer;

static void add(const writer *w, const char *rule, ad_node *y, size_t count)
{
    if (*w->n < MOST_EXAMPLES)
        w->list[(*w->n)++] = (example){rule, y, count};
}

/* op(x), past the builder's own simplifications. */
static ad_node *one(const ad_op *op, ad_node *x, const void *fields)
{
    return ad_apply(NULL, op, 1, &x, fields);
}

static ad_node *number(const leaves *l, double c)
{
    return ad_scalar(l->g, LA_F64, c);
}

static ad_node *turned(ad_node *x)
{
    return one(&ad_op_transpose, x, NULL);
}

static void sums(const writer *w, const leaves *l)
{
    ad_node *x = l->x, *y = l->y;
    add(w, "add_number", ad_add_scalar(x, 0), 0);
    add(w, "add_number", ad_add_scalar(ad_add_scalar(x, 2), 3), 1);
    add(w, "add_number", ad_add(number(l, 2), x), 1);
    add(w, "add_number", ad_add_scalar(ad_sub(number(l, 2), x), 1), 1);
    add(w, "add_neg", ad_add(x, ad_neg(y)), 1);
    add(w, "add_neg", ad_add(ad_neg(x), y), 1);
    add(w, "add_self", ad_add(x, x), 1);
    add(w, "sub_number", ad_sub(x, number(l, 0)), 0);
    add(w, "sub_number", ad_sub(x, number(l, 3)), 1);
    add(w, "sub_number", ad_sub(number(l, 0), x), 1);
    add(w, "sub_number", ad_sub(number(l, 3), ad_add_scalar(x, 2)), 1);
    add(w, "sub_number", ad_sub(number(l, 3), ad_sub(number(l, 2), x)), 1);
    add(w, "sub_neg", ad_sub(x, ad_neg(y)), 1);
    add(w, "sub_neg", ad_sub(ad_neg(x), y), 2);
    add(w, "neg_neg", ad_neg(ad_neg(x)), 0);
    add(w, "neg_sub", ad_neg(ad_sub(x, y)), 1);
    add(w, "neg_scaled", ad_neg(ad_scale(x, 3)), 1);
}

static void products(const writer *w, const leaves *l)
{
    ad_node *x = l->x, *y = l->y, *p = l->p;
    add(w, "mul_number", ad_scale(x, 1), 0);
    add(w, "mul_number", ad_scale(x, -1), 1);
    add(w, "mul_number", ad_scale(ad_scale(x, 3), 5), 1);
    add(w, "mul_number", ad_scale(ad_div(x, number(l, 3)), 6), 1);
    add(w, "mul_number", ad_scale(ad_div(number(l, 3), x), 6), 1);
    add(w, "mul_number", ad_mul(number(l, 2), x), 1);
    add(w, "mul_self", ad_mul(x, x), 1);
    add(w, "mul_neg", ad_mul(ad_neg(x), y), 2);
    add(w, "mul_neg", ad_mul(ad_neg(x), ad_neg(y)), 1);
    add(w, "mul_recip", ad_mul(x, ad_recip(p)), 1);
    add(w, "mul_recip", ad_mul(ad_recip(p), x), 1);
    add(w, "div_number", ad_div(x, number(l, 1)), 0);
    add(w, "div_number", ad_div(number(l, 1), x), 1);
    add(w, "div_number", ad_div(x, number(l, 8)), 1);
    add(w, "div_number", ad_div(ad_scale(x, 3), number(l, 7)), 1);
    add(w, "div_number", ad_div(ad_div(x, number(l, 3)), number(l, 7)), 1);
    add(w, "div_neg", ad_div(ad_neg(x), p), 2);
    add(w, "div_neg", ad_div(ad_neg(x), ad_neg(p)), 1);
    add(w, "div_recip", ad_div(x, ad_recip(p)), 1);
    add(w, "recip_recip", ad_recip(ad_recip(x)), 0);
    add(w, "pow_number", ad_pow(p, number(l, 2)), 1);
    add(w, "pow_number", ad_pow(p, number(l, 1)), 0);
    add(w, "pow_number", ad_pow(p, number(l, 3)), 2);
    add(w, "pow_number", ad_pow(p, number(l, 4)), 2);
    add(w, "pow_number", ad_pow(p, number(l, 0.5)), 1);
    add(w, "pow_number", ad_pow(p, number(l, -0.5)), 2);
    add(w, "pow_number", ad_pow(p, number(l, -1)), 1);
    add(w, "pow_number", ad_pow(p, number(l, -2)), 2);
    add(w, "square_even", ad_square(ad_neg(x)), 1);
    add(w, "square_even", ad_square(ad_abs(x)), 1);
    add(w, "square_sqrt", ad_square(ad_sqrt(p)), 0);
}

static void others(const writer *w, const leaves *l)
{
    ad_node *x = l->x, *y = l->y;
    add(w, "name", ad_name(x, "other"), 1);
    add(w, "stop_gradient", ad_stop_gradient(x), 1);
    add(w, "abs_known", ad_abs(ad_exp(x)), 1);
    add(w, "abs_known", ad_abs(ad_neg(x)), 1);
    add(w, "min_self", ad_min(x, x), 0);
    add(w, "max_self", ad_max(x, x), 0);
    add(w, "where_known", ad_where(l->z, x, x), 0);
    add(w, "where_known", ad_where(number(l, 1), x, y), 0);
    add(w, "where_known", ad_where(number(l, 0), x, y), 0);
    add(w, "copy", ad_copy(x), 0);
    add(w, "cast_cast", one(&ad_op_cast, x, &(ad_cast_fields){LA_F64}), 0);
    ad_node *narrow = ad_cast(x, LA_F32);
    add(w, "cast_cast", ad_cast(ad_cast(narrow, LA_F64), LA_F32), 1);
}

static void views(const writer *w, const leaves *l)
{
    ad_dim four = ad_fixed(4), three = ad_fixed(3), twelve = ad_fixed(12);
    ad_node *A = l->A, *S = ad_exp(l->s);
    ad_node *flat = ad_reshape(A, 1, &twelve);
    ad_dim grid[2] = {four, three};
    add(w, "reshape_same",
        one(&ad_op_reshape, A, &(ad_dims_fields){{2, {four, three}}}), 0);
    add(w, "reshape_view",
        ad_reshape(flat, 2, (ad_dim[]){ad_fixed(2), ad_fixed(6)}), 1);
    add(w, "broadcast_same",
        one(&ad_op_broadcast, A, &(ad_dims_fields){{2, {four, three}}}), 0);
    ad_node *row = ad_broadcast(S, 2, (ad_dim[]){ad_fixed(1), three});
    add(w, "broadcast_broadcast", ad_broadcast(row, 2, grid), 2);
    add(w, "squeeze_expand", ad_squeeze(ad_expand(A, 1), 1), 0);
    add(w, "expand_squeeze", ad_expand(ad_squeeze(l->one, 1), 1), 0);
    add(w, "transpose_transpose", turned(turned(A)), 0);
    add(w, "permute_known", ad_permute(A, (int[]){0, 1}), 0);
    add(w, "permute_known", ad_permute(A, (int[]){1, 0}), 1);
    ad_node *cube = ad_expand(A, 0);
    add(w, "permute_known",
        ad_permute(ad_permute(cube, (int[]){1, 2, 0}), (int[]){1, 2, 0}), 2);
    ad_dim zero = ad_fixed(0), two = ad_fixed(2);
    add(w, "slice_known", ad_slice(A, 0, zero, four), 0);
    add(w, "slice_known",
        ad_slice(ad_slice(A, 0, ad_fixed(1), three), 0, ad_fixed(1), two), 1);
    add(w, "slice_known",
        ad_slice(ad_pad(A, 0, two, ad_fixed(9)), 0, two, four), 0);
    add(w, "concat_one", one(&ad_op_concat, A, &(ad_axis_fields){0}), 0);
}

static void reductions(const writer *w, const leaves *l)
{
    static const struct {
        const ad_op *op;
        const char *chain, *single, *view;
    } kind[] = {{&ad_op_sum, "sum_sum", "sum_one", "sum_view"},
                {&ad_op_reduce_max, "max_max", "max_one", "max_view"},
                {&ad_op_reduce_min, "min_min", "min_one", "min_view"}};
    ad_reduce_fields first = {1}, second = {2};
    for (size_t i = 0; i < NELEM(kind); i++) {
        const ad_op *op = kind[i].op;
        ad_node *inner = one(op, l->A, &second);
        add(w, kind[i].chain, one(op, inner, &first), 1);
        add(w, kind[i].chain, one(op, one(op, l->A, &first), &first), 1);
        add(w, kind[i].single, one(op, l->one, &second), 1);
        add(w, kind[i].single, one(op, l->x, &(ad_reduce_fields){0}), 0);
        ad_node *flat = ad_squeeze(l->one, 1);
        add(w, kind[i].view, one(op, flat, &first), 1);
        ad_node *deep = ad_expand(l->A, 1); /* (4,1,3) */
        add(w, kind[i].view, one(op, deep, &(ad_reduce_fields){6}), 1);
        add(w, kind[i].view, one(op, deep, &(ad_reduce_fields){3}), 1);
    }
    ad_node *wide = ad_broadcast_like(l->one, l->A);
    add(w, "sum_broadcast", ad_sum(wide, AD_AXIS(1)), 2);
    add(w, "sum_broadcast", ad_sum(wide, AD_ALL), 2);
    add(w, "sum_broadcast", ad_sum(ad_broadcast_like(l->s, l->A), AD_AXIS(0)),
        3);
    add(w, "sum_neg", ad_sum(ad_neg(l->x), AD_ALL), 2);
}

static void stable(const writer *w, const leaves *l)
{
    ad_node *x = l->x, *p = l->p, *ex = ad_exp(x);
    add(w, "log1p_known", ad_log1p(ex), 1);
    add(w, "log1p_known", ad_log1p(ad_neg(ad_exp(ad_neg(p)))), 2);
    add(w, "log1p_known", ad_log1p(ad_expm1(x)), 0);
    add(w, "expm1_log1p", ad_expm1(ad_log1p(p)), 0);
    add(w, "exp_log", ad_exp(ad_log(p)), 0);
    add(w, "exp_log", ad_exp(ad_log1p(p)), 1);
    add(w, "exp_log", ad_exp(ad_log_sigmoid(x)), 1);
    add(w, "exp_log", ad_exp(ad_log_ndtr(x)), 1);
    add(w, "exp_log", ad_exp(ad_log_erfc(x)), 1);
    add(w, "sqrt_square", ad_sqrt(ad_square(x)), 1);
    add(w, "exp_minus_one", ad_add_scalar(ex, -1), 1);
    add(w, "one_minus", ad_sub(number(l, 1), ad_sigmoid(x)), 2);
    add(w, "one_minus", ad_sub(number(l, 1), ad_ndtr(x)), 2);
    add(w, "one_minus", ad_sub(number(l, 1), ad_erf(x)), 1);
    add(w, "one_minus", ad_sub(number(l, 1), ad_erfc(x)), 1);
    add(w, "one_minus", ad_sub(number(l, 1), ex), 2);
    add(w, "recip_logistic", ad_recip(ad_add_scalar(ad_exp(ad_neg(x)), 1)), 1);
    add(w, "div_logistic", ad_div(ex, ad_add_scalar(ex, 1)), 1);
    add(w, "div_logistic", ad_div(l->y, ad_add_scalar(ad_exp(ad_neg(x)), 1)),
        2);
    add(w, "x_log_x", ad_mul(p, ad_log(p)), 4);
}

static void logarithms(const writer *w, const leaves *l)
{
    ad_node *x = l->x, *y = l->y, *ex = ad_exp(x), *ey = ad_exp(y);
    ad_node *eA = ad_exp(l->A), *two = ad_add(ex, ey);
    add(w, "log_known", ad_log(ex), 0);
    add(w, "log_known", ad_log(ad_sigmoid(x)), 1);
    add(w, "log_known", ad_log(ad_erfc(x)), 1);
    add(w, "log_known", ad_log(ad_ndtr(x)), 1);
    add(w, "log_known", ad_log(ad_recip(ex)), 1);
    add(w, "log_known", ad_log(ad_sum(eA, AD_AXIS(1))), 1);
    add(w, "log_known", ad_log(ad_sum(eA, AD_ALL)), 2);
    add(w, "log_known", ad_log(ad_expand(ad_sum(ex, AD_ALL), 0)), 2);
    add(w, "log_known", ad_log(two), 11);
    add(w, "log_known",
        ad_log(ad_add(ad_add(two, ad_exp(l->z)), ad_exp(ad_sub(x, y)))), 20);
    add(w, "log_known", ad_log(ad_add_scalar(ex, 3)), 3);
    add(w, "log_known", ad_log(ad_add(ad_scale(ex, 2), ey)), 12);
    add(w, "log_product", ad_log(ad_mul(ex, l->p)), 2);
    add(w, "log_product", ad_log(ad_scale(ad_erfc(x), 0.5)), 2);
    add(w, "log_product", ad_log(ad_div(ex, ad_sum(ex, AD_ALL))), 2);
    ad_node *rows = ad_expand(ad_sum(eA, AD_AXIS(1)), 1);
    add(w, "log_product", ad_log(ad_div(eA, rows)), 3);
    add(w, "log_one_plus", ad_log(ad_add_scalar(l->p, 1)), 1);
    add(w, "log_one_plus",
        ad_log(ad_sub(number(l, 1), ad_scale(ad_sigmoid(x), 0.5))), 3);
    add(w, "log_expm1", ad_log(ad_neg(ad_expm1(ad_neg(l->p)))), 2);
    add(w, "log_expm1", ad_log(ad_expm1(l->p)), 1);
    add(w, "log1p_chain", ad_log1p(two), 15);
}

static void linalg(const writer *w, const leaves *l)
{
    ad_node *A = l->A, *B = l->B, *C = l->C, *D = l->D;
    ad_node *L = ad_cholesky(l->K), *inverse = ad_potri(L);
    la_trans N = LA_NO_TRANS, T = LA_TRANS;
    add(w, "gemm_transpose", ad_gemm(2, N, turned(B), N, B), 1);
    add(w, "gemm_transpose", ad_gemm(2, T, A, N, turned(B)), 1);
    add(w, "transpose_gemm", turned(ad_gemm(2, N, A, N, B)), 1);
    add(w, "syrk_transpose", ad_syrk(2, N, turned(A)), 1);
    add(w, "trsm_transpose", ad_trsm(LA_LEFT, LA_UPPER, N, turned(L), A), 2);
    add(w, "trmm_transpose", ad_trmm(LA_LEFT, LA_UPPER, N, turned(L), A), 2);
    add(w, "gemm_self", ad_gemm(2, N, A, T, A), 1);
    add(w, "cholesky_product", ad_cholesky(ad_gemm(1, N, L, T, L)), 1);
    add(w, "cholesky_product", ad_cholesky(ad_syrk(1, N, L)), 1);
    add(w, "inverse_product", ad_gemm(1, N, inverse, N, A), 3);
    add(w, "inverse_product", ad_gemm(2, N, B, N, inverse), 4);
    ad_node *logs = ad_log(ad_extract_diag(L, 0));
    add(w, "log_det", ad_sum(logs, AD_ALL), 2);
    add(w, "scaled_diagonal", ad_mul(ad_make_diag(l->x, 0), l->s), 2);
    ad_node *diagonal = ad_make_diag(ad_exp(l->x), 1);
    add(w, "diag_of_diag", ad_extract_diag(diagonal, 1), 1);
    add(w, "tri_known", one(&ad_op_tri, L, &(ad_tri_fields){LA_TRIL}), 1);
    ad_tri_fields mean = {LA_TRI_MEAN};
    add(w, "tri_known", one(&ad_op_tri, ad_syrk(1, N, A), &mean), 1);
    ad_node *noise = ad_make_diag(ad_squeeze(l->one, 1), 0);
    add(w, "add_diagonal", ad_add(D, noise), 2);
    ad_node *AB4 = ad_gemm(2, N, A, N, B);
    add(w, "diag_inside", ad_extract_diag(AB4, 0), 4);
    ad_node *scale = ad_mul(ad_add(D, l->one), ad_transpose(D));
    add(w, "diag_inside", ad_extract_diag(ad_exp(scale), 0), 5);
    ad_node *S = ad_sqdist(A, NULL);
    add(w, "diag_inside",
        ad_extract_diag(ad_add_diag(ad_exp(S), ad_squeeze(l->one, 1)), 0), 2);
    add(w, "scaled_product", ad_scale(ad_gemm(2, N, A, N, B), 3), 1);
    add(w, "scaled_product", ad_scale(ad_syrk(2, N, A), 3), 1);
    add(w, "negated_product", ad_neg(ad_gemm(2, N, A, N, B)), 1);
    add(w, "product_of_scaled", ad_gemm(2, N, ad_scale(A, 3), N, B), 1);
    add(w, "product_of_scaled", ad_gemm(2, N, A, N, ad_neg(B)), 1);
    ad_node *AB = AB4, *CB = ad_gemm(1, N, C, N, B);
    add(w, "product_plus", ad_add(AB, CB), 2);
    add(w, "product_minus", ad_sub(AB, CB), 2);
    add(w, "product_minus", ad_sub(AB, ad_trmm(LA_LEFT, LA_LOWER, N, L, D)), 3);
    add(w, "product_triangle", ad_gemm(1, N, ad_tril(D), N, A), 2);
    add(w, "product_triangle", ad_gemm(3, N, B, T, ad_tril(D)), 3);
}

void examples_all(example *list, size_t *n, const leaves *l)
{
    writer w = {list, n};
    sums(&w, l);
    products(&w, l);
    others(&w, l);
    views(&w, l);
    reductions(&w, l);
    stable(&w, l);
    logarithms(&w, l);
    linalg(&w, l);
}
