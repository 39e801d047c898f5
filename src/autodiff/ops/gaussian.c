/* The log density of a multivariate normal, as a composite.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * log N(y; mean, K) = -1/2 |a|^2 - p sum_i log L_ii - n p/2 log 2 pi with
 * K = L L', L a = y - mean, summed over the p columns of y.
 * With g its adjoint and A = K^-1 (y - mean):
 *   K_bar = g/2 (A A' - p K^-1), y_bar = -g A, mean_bar = g A.
 * K^-1 comes from an in-place inversion of the factor, A A' for p = 1 is an
 * elementwise product, so that K_bar need never be stored: n^3 flops in all
 * and one more n x n. Source: Rasmussen & Williams 2006, (5.9). */
#include "config.h"

#include "autodiff/ops/ops.h"

static const double log_2_pi = 1.83787706640934548356;

/* y is (..., n) where K is (..., n, n); else (..., n, p). */
static bool is_vector(const ad_node *node)
{
    return ad_in_type(node, 0)->rank < ad_in_type(node, 2)->rank;
}

static covar_status infer(ad_node *node)
{
    COVAR_TRY(ad_need_square(node, 2));
    const ad_type *y = ad_in_type(node, 0), *K = ad_in_type(node, 2);
    bool vector = is_vector(node);
    COVAR_TRY(ad_need_same_dtype(node, 0, 1));
    COVAR_TRY(ad_need_same_dtype(node, 0, 2));
    COVAR_TRY(ad_need_rank(node, 0, 1));
    if (!ad_same_dims(node, y, ad_in_type(node, 1)))
        return ad_node_fail(node, COVAR_ERR_SHAPE, "y is %s but mean is %s",
                            ad_in_text(node, 0).s, ad_in_text(node, 1).s);
    COVAR_TRY(ad_need_same_batch(node, 0, vector ? 1 : 2, 2, 2));
    if (!ad_same_dim(node, y->dim[K->rank - 2], K->dim[K->rank - 1]))
        return ad_node_fail(node, COVAR_ERR_SHAPE, "y is %s but K is %s",
                            ad_in_text(node, 0).s, ad_in_text(node, 2).s);
    ad_type t = *K;
    t.rank = K->rank - 2;
    t.facts = 0;
    ad_node_set_type(node, 0, &t);
    return COVAR_OK;
}

/* L^-1 (y - mean), a matrix: (..., n, 1) for a vector y. */
static ad_node *whitened(ad_node *node, ad_node *L)
{
    ad_node *r = ad_sub(node->in[0], node->in[1]);
    if (is_vector(node))
        r = ad_expand(r, ad_rank(r));
    return ad_trsm(LA_LEFT, LA_LOWER, LA_NO_TRANS, L, r);
}

static ad_dim columns(const ad_node *node)
{
    const ad_type *y = ad_in_type(node, 0);
    return is_vector(node) ? ad_fixed(1) : y->dim[y->rank - 1];
}

/* x times the number of columns. */
static ad_node *times_p(ad_node *node, ad_node *x)
{
    la_dtype dtype = ad_in_type(node, 0)->dtype;
    ad_dim p = columns(node);
    return ad_is_one(p) ? x : ad_mul(x, ad_dim_value(node->graph, dtype, p));
}

static covar_status expand(ad_node *node, ad_node *out[])
{
    const ad_type *K = ad_in_type(node, 2);
    int m = K->rank - 2;
    ad_node *L = ad_cholesky(node->in[2]);
    ad_node *a = whitened(node, L);
    ad_node *square = ad_sum(ad_square(a), AD_AXIS(m) | AD_AXIS(m + 1));
    ad_dim count = ad_dim_mul(K->dim[m], columns(node));
    ad_node *constant =
        ad_scale(ad_dim_value(node->graph, K->dtype, count), -0.5 * log_2_pi);
    out[0] = ad_add(
        ad_sub(ad_scale(square, -0.5), times_p(node, ad_sum_log_diag(L))),
        constant);
    return COVAR_OK;
}

/* A A' of A (..., n, p): an outer product where p is 1, and then fused. */
static ad_node *gram(ad_node *A)
{
    int m = A ? ad_rank(A) - 2 : 0;
    if (!A || !ad_is_one(ad_dim_of(A, m + 1)))
        return ad_syrk(1, LA_NO_TRANS, A);
    ad_node *a = ad_squeeze(A, m + 1);
    return ad_mul(ad_expand(a, m + 1), ad_expand(a, m));
}

/* g, of the batch's shape, against arrays of `rank` dims. */
static ad_node *spread(ad_node *g, int rank)
{
    while (g && ad_rank(g) > 0 && ad_rank(g) < rank)
        g = ad_expand(g, ad_rank(g));
    return g;
}

static covar_status vjp(ad_node *node, ad_node *const y_bar[],
                        const bool need[], ad_node *x_bar[])
{
    ad_node *g = y_bar[0], *K = node->in[2];
    if (!g)
        return COVAR_OK;
    int rank = ad_rank(K);
    ad_node *L = ad_cholesky(K);
    ad_node *A = ad_trsm(LA_LEFT, LA_LOWER, LA_TRANS, L, whitened(node, L));
    ad_node *alpha = is_vector(node) ? ad_squeeze(A, rank - 1) : A;
    ad_node *slope = ad_mul(spread(g, ad_rank(node->in[0])), alpha);
    if (need[0])
        x_bar[0] = ad_neg(slope);
    if (need[1])
        x_bar[1] = slope;
    if (need[2]) {
        ad_node *gap = ad_sub(gram(A), times_p(node, ad_potri(L)));
        x_bar[2] = ad_mul(ad_scale(spread(g, rank), 0.5), gap);
    }
    return COVAR_OK;
}

/* Variants: a vector, two columns, one column. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 3));
    static const size_t p[] = {0, 2, 1};
    int v = ad_example_variant(e);
    ad_node *in[2];
    for (int i = 0; i < 2; i++)
        in[i] = v ? ad_example_matrix(e, dtype, n, p[v], AD_DRAW_NORMAL)
                  : ad_example_vector(e, dtype, n, AD_DRAW_NORMAL);
    ad_node *K = ad_example_matrix(e, dtype, n, n, AD_DRAW_PD);
    return ad_example_result(e, ad_mvn_logpdf(in[0], in[1], K));
}

const ad_op ad_op_mvn_logpdf = {
    .abi = AD_OP_ABI,
    .name = "mvn_logpdf",
    .formula = "log N(y; mean, K)",
    .source = "Rasmussen & Williams 2006, (5.8), (5.9)",
    .n_in = 3,
    .n_out = 1,
    .flags = AD_COMPOSITE | AD_BATCHED,
    .views = -1,
    .infer = infer,
    .expand = expand,
    .vjp = vjp,
    .example = example,
};

ad_node *ad_mvn_logpdf(ad_node *y, ad_node *mean, ad_node *K)
{
    return ad_apply(NULL, &ad_op_mvn_logpdf, 3, (ad_node *[]){y, mean, K},
                    NULL);
}
