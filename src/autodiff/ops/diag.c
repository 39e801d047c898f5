/* Diagonals: taken out, made into a matrix, added to one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * extract_diag(k): y_i = x_(i, i+k), a view. make_diag(k) is its adjoint: zero
 * but for diagonal k. add_diag: A + diag(v), v (n) or one number a matrix, in
 * place over A; v_bar = the diagonal of y_bar, or its sum. */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field diag_fields[] = {
    {"k", AD_FIELD_INT, offsetof(ad_diag_fields, k)},
    {NULL, AD_FIELD_INT, 0},
};

static int k_of(const ad_node *y)
{
    return (int)((const ad_diag_fields *)y->fields)->k;
}

static size_t offset_of(const ad_node *y)
{
    int k = k_of(y);
    return (size_t)(k < 0 ? -k : k);
}

/* ---- extract_diag ------------------------------------------------------- */

static covar_status infer_extract(ad_node *y)
{
    COVAR_TRY(ad_need_square(y, 0));
    ad_type t = *ad_in_type(y, 0);
    size_t n;
    t.rank--;
    if (ad_dim_is_fixed(t.dim[t.rank], &n) && n < offset_of(y))
        return ad_node_fail(y, COVAR_ERR_SHAPE, "no diagonal %d in %s", k_of(y),
                            ad_in_text(y, 0).s);
    if (offset_of(y) > 0)
        t.dim[t.rank - 1] =
            ad_dim_sub(t.dim[t.rank - 1], ad_fixed(offset_of(y)));
    t.facts &= AD_POSITIVE;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

/* The main diagonal of the block that begins with the wanted element. */
static bool view_extract(const ad_node *y, la_view x, const size_t *dim,
                         const size_t *symbol, la_view *out)
{
    (void)dim, (void)symbol;
    size_t skip = offset_of(y), n = x.dim[x.rank - 1];
    int right = k_of(y) > 0;
    if (skip > n)
        return false;
    la_view part = la_view_slice(x, x.rank - 2, right ? 0 : skip, n - skip);
    part = la_view_slice(part, x.rank - 1, right ? skip : 0, n - skip);
    *out = la_view_diag(part);
    return true;
}

static covar_status vjp_extract(ad_node *y, ad_node *const y_bar[],
                                const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_make_diag(y_bar[0], k_of(y));
    return COVAR_OK;
}

/* Variants: the main diagonal, one above, two below. */
static covar_status example_extract(ad_example *e, size_t n, la_dtype dtype)
{
    static const int k[] = {0, 1, -2};
    COVAR_TRY(ad_example_variants(e, 3));
    int v = ad_example_variant(e);
    size_t m = v ? n + 2 : n;
    ad_node *x = ad_example_matrix(e, dtype, m, m, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_extract_diag(x, k[v]));
}

const ad_op ad_op_extract_diag = {
    .abi = AD_OP_ABI,
    .name = "extract_diag",
    .formula = "y_i = x_(i, i+k)",
    .n_in = 1,
    .n_out = 1,
    .fields = diag_fields,
    .fields_size = sizeof(ad_diag_fields),
    .flags = AD_ANY_STRIDE | AD_BATCHED,
    .views = 0,
    .infer = infer_extract,
    .view = view_extract,
    .vjp = vjp_extract,
    .jvp = ad_jvp_same,
    .example = example_extract,
};

ad_node *ad_extract_diag(ad_node *x, int k)
{
    return ad_apply(NULL, &ad_op_extract_diag, 1, &x, &(ad_diag_fields){k});
}

/* ---- make_diag ---------------------------------------------------------- */

static covar_status infer_make(ad_node *y)
{
    COVAR_TRY(ad_need_real(y, 0));
    COVAR_TRY(ad_need_rank(y, 0, 1));
    ad_type t = *ad_in_type(y, 0);
    if (t.rank == LA_MAX_DIMS)
        return ad_node_fail(y, COVAR_ERR_SHAPE, "%s has too many dims",
                            ad_in_text(y, 0).s);
    ad_dim n = ad_dim_add(t.dim[t.rank - 1], ad_fixed(offset_of(y)));
    t.dim[t.rank - 1] = t.dim[t.rank] = n;
    t.rank++;
    t.facts = k_of(y) <= 0 ? AD_LOWER : 0u;
    if (k_of(y) >= 0)
        t.facts |= AD_UPPER;
    if (k_of(y) == 0)
        t.facts |= AD_DIAGONAL | AD_SYMMETRIC;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval_make(const ad_call *c)
{
    return la_make_diag(c->exec, k_of(c->node), c->out[0], c->x[0]);
}

static covar_status vjp_make(ad_node *y, ad_node *const y_bar[],
                             const bool need[], ad_node *x_bar[])
{
    if (need[0] && y_bar[0])
        x_bar[0] = ad_extract_diag(y_bar[0], k_of(y));
    return COVAR_OK;
}

/* Variants: the main diagonal, one above, two below. */
static covar_status example_make(ad_example *e, size_t n, la_dtype dtype)
{
    static const int k[] = {0, 1, -2};
    COVAR_TRY(ad_example_variants(e, 3));
    ad_node *x = ad_example_vector(e, dtype, n, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_make_diag(x, k[ad_example_variant(e)]));
}

const ad_op ad_op_make_diag = {
    .abi = AD_OP_ABI,
    .name = "make_diag",
    .formula = "y_(i, i+k) = x_i, else 0",
    .n_in = 1,
    .n_out = 1,
    .fields = diag_fields,
    .fields_size = sizeof(ad_diag_fields),
    .flags = AD_BATCHED,
    .views = -1,
    .infer = infer_make,
    .eval = eval_make,
    .vjp = vjp_make,
    .jvp = ad_jvp_same,
    .example = example_make,
};

ad_node *ad_make_diag(ad_node *x, int k)
{
    return ad_apply(NULL, &ad_op_make_diag, 1, &x, &(ad_diag_fields){k});
}

ad_node *ad_eye(ad_graph *g, la_dtype dtype, ad_dim n)
{
    return ad_make_diag(ad_fill(g, dtype, 1, 1, &n), 0);
}

/* ---- add_diag ----------------------------------------------------------- */

static bool is_number(const ad_node *y)
{
    return ad_in_type(y, 1)->rank == ad_in_type(y, 0)->rank - 2;
}

static covar_status infer_add(ad_node *y)
{
    COVAR_TRY(ad_need_square(y, 0));
    COVAR_TRY(ad_need_same_dtype(y, 0, 1));
    const ad_type *A = ad_in_type(y, 0), *v = ad_in_type(y, 1);
    bool vector = v->rank == A->rank - 1;
    if (!vector && !is_number(y))
        return ad_node_fail(y, COVAR_ERR_SHAPE,
                            "A is %s, v is %s: it needs one dim less, or two",
                            ad_in_text(y, 0).s, ad_in_text(y, 1).s);
    COVAR_TRY(ad_need_same_batch(y, 0, 2, 1, vector));
    if (vector && !ad_same_dim(y, A->dim[v->rank], v->dim[v->rank - 1]))
        return ad_node_fail(y, COVAR_ERR_SHAPE, "A is %s but v is %s",
                            ad_in_text(y, 0).s, ad_in_text(y, 1).s);
    ad_type t = *A;
    t.facts &= AD_SYMMETRIC | AD_LOWER | AD_UPPER | AD_DIAGONAL | AD_PD;
    if (!(v->facts & AD_POSITIVE))
        t.facts &= ~(unsigned)AD_PD;
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval_add(const ad_call *c)
{
    COVAR_TRY(ad_eval_start(c, 0));
    return la_add_diag(c->exec, c->out[0], c->x[1]);
}

static covar_status vjp_add(ad_node *y, ad_node *const y_bar[],
                            const bool need[], ad_node *x_bar[])
{
    if (!y_bar[0])
        return COVAR_OK;
    if (need[0])
        x_bar[0] = y_bar[0];
    if (need[1]) {
        ad_node *d = ad_extract_diag(y_bar[0], 0);
        x_bar[1] =
            is_number(y) ? ad_sum(d, AD_AXIS(ad_in_type(y, 1)->rank)) : d;
    }
    return COVAR_OK;
}

/* diag(v_dot), added to A_dot. */
static covar_status jvp_add(ad_node *y, ad_node *const x_dot[],
                            ad_node *y_dot[])
{
    ad_node *A_dot = x_dot[0];
    if (!A_dot && x_dot[1]) {
        const ad_type *A = ad_in_type(y, 0);
        A_dot = ad_fill(y->graph, A->dtype, 0, A->rank, A->dim);
    }
    y_dot[0] = x_dot[1] ? ad_add_diag(A_dot, x_dot[1]) : A_dot;
    return COVAR_OK;
}

/* Variants: a vector, a number a matrix. */
static covar_status example_add(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 2));
    size_t dim[3];
    int b = ad_example_batch(e, dim), number = ad_example_variant(e);
    ad_node *A = ad_example_matrix(e, dtype, n, n, AD_DRAW_NORMAL);
    dim[b] = n;
    ad_node *v =
        ad_example_input(e, dtype, number ? b : b + 1, dim, AD_DRAW_NORMAL);
    return ad_example_result(e, ad_add_diag(A, v));
}

const ad_op ad_op_add_diag = {
    .abi = AD_OP_ABI,
    .name = "add_diag",
    .formula = "y = A + diag(v)",
    .n_in = 2,
    .n_out = 1,
    .flags = AD_BATCHED,
    .views = -1,
    .overwrites = 1,
    .infer = infer_add,
    .eval = eval_add,
    .vjp = vjp_add,
    .jvp = jvp_add,
    .example = example_add,
};

/* One number of rank 0 serves a whole batch. */
ad_node *ad_add_diag(ad_node *A, ad_node *v)
{
    if (A && v && ad_rank(v) == 0 && ad_rank(A) > 2)
        v = ad_broadcast(v, ad_rank(A) - 2, ad_node_type(A, 0)->dim);
    return ad_apply(NULL, &ad_op_add_diag, 2, (ad_node *[]){A, v}, NULL);
}
