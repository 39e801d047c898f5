/* The compiled programs of a model: covariances and predictions.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With k = K(Xs, X), W = k L^-T, and for a profiled mean with basis H,
 * V = L^-1 H, V'V = B B', R = H(Xs) - W V:
 *     mean = k alpha                          (the mean function comes on top)
 *     cov  = K(Xs, Xs) - W W' + (R B^-T)(R B^-T)'.
 * Derivatives in Xs are gradients of the sums over rows, for rows do not
 * interact. Source: Rasmussen & Williams 2006, eq. 2.25, 2.26, 2.41, 2.42. */
#include "config.h"

#include "programs.h"

#include <stdatomic.h>

/* The symbolic pieces that all programs are made from. */
typedef struct pieces {
    ad_graph *g;
    ad_node *in[GP_PROGRAM_MAX_IN];
    int n_in;
    gp_build at_x, cross, at_xs;
    ad_node *V, *B;
    const gp_data *data;
} pieces;

static ad_node *matrix(pieces *p, const char *name, la_dtype t, ad_dim rows,
                       ad_dim cols)
{
    ad_node *x = ad_input(p->g, name, t, 2, (ad_dim[]){rows, cols});
    p->in[p->n_in++] = x;
    return x;
}

static void make_pieces(pieces *p, const gp_params *params, const gp_data *data,
                        const gp_options *options)
{
    la_dtype t = options->dtype;
    size_t q = options->mean_plugin ? 0 : gp_mean_count(data, options);
    ad_dim n = ad_symbol(p->g, "n"), m = ad_symbol(p->g, "m");
    ad_dim d = ad_fixed(data->d), count = ad_fixed(params->n);
    p->data = data;
    p->in[p->n_in++] = ad_input(p->g, "free", t, 1, &count);
    ad_node *X = matrix(p, "X", t, n, d), *Xs = matrix(p, "Xs", t, m, d);
    matrix(p, "L", t, n, n);
    matrix(p, "alpha", t, n, ad_fixed(data->p));
    if (q > 0) {
        p->V = matrix(p, "V", t, n, ad_fixed(q));
        p->B = matrix(p, "B", t, ad_fixed(q), ad_fixed(q));
    }
    gp_build base = {.g = p->g, .dtype = t, .free = p->in[0], .params = params};
    p->at_x = p->cross = p->at_xs = base;
    p->at_x.X = X;
    p->cross.X = Xs;
    p->cross.Z = X;
    p->at_xs.X = Xs;
}

/* The conditioned basis at Xs (model coordinates), as in mean.c: (m,q). */
static ad_node *basis(const pieces *p)
{
    const gp_data *data = p->data;
    ad_node *Xs = p->in[2];
    la_dtype t = ad_node_type(Xs, 0)->dtype;
    ad_dim column[] = {ad_dim_of(Xs, 0), ad_fixed(1)};
    ad_node *one = ad_fill(p->g, t, 1, 2, column);
    size_t q = 1;
    ad_dim_is_fixed(ad_dim_of(p->V, 1), &q);
    ad_node *H = one;
    for (size_t k = 0; q > 1 && k < data->d; k++) {
        if (!(data->col_range[k] > 0))
            continue;
        ad_node *x = ad_slice(Xs, 1, ad_fixed(k), ad_fixed(1));
        ad_node *h =
            ad_scale(ad_add_scalar(x, data->x_shift[k] - data->col_mean[k]),
                     1 / data->col_range[k]);
        H = ad_concat((ad_node *[]){H, h}, 2, 1);
    }
    return H;
}

/* Rows w and r with cov = K - W W' + r r'; r NULL without a profiled mean. */
static void half_covariances(const pieces *p, ad_node *k, ad_node **W,
                             ad_node **r)
{
    *W = ad_trsm(LA_RIGHT, LA_LOWER, LA_TRANS, p->in[3], k);
    *r = NULL;
    if (p->V) {
        ad_node *R = ad_sub(basis(p), ad_matmul(*W, p->V));
        *r = ad_trsm(LA_RIGHT, LA_LOWER, LA_TRANS, p->B, R);
    }
}

typedef struct outputs {
    ad_node *y[GP_PROGRAM_MAX_OUT];
    int n;
} outputs;

static ad_node *row_squares(ad_node *x)
{
    return ad_sum(ad_square(x), AD_AXIS(1));
}

static void point(pieces *p, const gp_kernel *kernel, outputs *o)
{
    gp_build cross = p->cross, at_xs = p->at_xs;
    ad_node *k = gp_kernel_build(kernel, &cross), *W, *r;
    ad_node *prior = gp_kernel_diag(kernel, &at_xs);
    half_covariances(p, k, &W, &r);
    ad_node *var = ad_sub(prior, row_squares(W));
    o->y[o->n++] = ad_matmul(k, p->in[4]);
    o->y[o->n++] = r ? ad_add(var, row_squares(r)) : var;
    o->y[o->n++] = prior;
}

static void joint(pieces *p, const gp_kernel *kernel, outputs *o)
{
    gp_build cross = p->cross, at_xs = p->at_xs, again = p->at_xs;
    ad_node *k = gp_kernel_build(kernel, &cross), *W, *r;
    half_covariances(p, k, &W, &r);
    ad_node *cov =
        ad_sub(gp_kernel_build(kernel, &at_xs), ad_syrk(1, LA_NO_TRANS, W));
    if (r)
        cov = ad_add(cov, ad_syrk(1, LA_NO_TRANS, r));
    o->y[o->n++] = ad_matmul(k, p->in[4]);
    o->y[o->n++] = cov;
    o->y[o->n++] = gp_kernel_diag(kernel, &again);
}

static covar_status slope(pieces *p, const gp_kernel *kernel, outputs *o)
{
    static const ad_grad_options options = {.zero_if_disconnected = true};
    point(p, kernel, o);
    ad_node *mean = ad_slice(o->y[0], 1, ad_fixed(0), ad_fixed(1));
    ad_node *sums[] = {ad_sum(mean, AD_ALL), ad_sum(o->y[1], AD_ALL)};
    for (int i = 0; i < 2; i++) {
        if (!sums[i])
            return ad_graph_error(p->g);
        ad_node *one = ad_scalar(p->g, p->at_x.dtype, 1);
        COVAR_TRY(
            ad_lop(&o->y[o->n++], &sums[i], &one, 1, &p->in[2], 1, &options));
    }
    return COVAR_OK;
}

static covar_status build(pieces *p, const gp_kernel *kernel,
                          gp_program_kind which, outputs *o)
{
    switch (which) {
    case GP_PROGRAM_GRAM:
        p->n_in = 2;
        o->y[o->n++] = gp_kernel_build(kernel, &p->at_x);
        return COVAR_OK;
    case GP_PROGRAM_CROSS:
        p->n_in = 3;
        o->y[o->n++] = gp_kernel_build(kernel, &p->cross);
        return COVAR_OK;
    case GP_PROGRAM_POINT:
        point(p, kernel, o);
        return COVAR_OK;
    case GP_PROGRAM_JOINT:
        joint(p, kernel, o);
        return COVAR_OK;
    default:
        return slope(p, kernel, o);
    }
}

static covar_status compile(ad_program **out, ad_graph *g, const pieces *p,
                            const outputs *o)
{
    ad_slot slot[GP_PROGRAM_MAX_IN + GP_PROGRAM_MAX_OUT];
    size_t n = 0;
    for (int i = 0; i < p->n_in; i++)
        slot[n++] = (ad_slot)AD_IN(p->in[i]);
    for (int i = 0; i < o->n; i++)
        slot[n++] = (ad_slot)AD_OUT(o->y[i]);
    ad_signature signature = {.n = n, .slots = slot};
    return ad_compile(out, g, &signature, NULL);
}

static covar_status make(struct gp_programs *out, covar_context *ctx,
                         gp_program_kind which, const gp_kernel *k,
                         const gp_params *params, const gp_data *data,
                         const gp_options *options)
{
    pieces p = {.n_in = 0};
    outputs o = {.n = 0};
    ad_graph_options shared = {.store = out->store};
    COVAR_TRY(ad_graph_create(&p.g, ctx, &shared));
    make_pieces(&p, params, data, options);
    covar_status status = build(&p, k, which, &o);
    if (status == COVAR_OK)
        status = compile(&out->program[which], p.g, &p, &o);
    ad_graph_free(p.g);
    return status;
}

covar_status gp_programs_create(struct gp_programs **out, covar_context *ctx,
                                const gp_kernel *k, const gp_params *params,
                                const gp_data *data, const gp_options *options)
{
    covar_heap *heap = covar_context_heap(ctx);
    struct gp_programs *p = covar_heap_calloc(heap, 1, sizeof(*p));
    *out = NULL;
    if (!p)
        return covar_fail_nomem(ctx, "gp_fit");
    p->heap = covar_heap_retain(heap);
    atomic_init(&p->refs, 1);
    covar_status status = ad_store_create(&p->store, ctx);
    for (int i = 0; status == COVAR_OK && i < GP_PROGRAM_COUNT; i++)
        status = make(p, ctx, (gp_program_kind)i, k, params, data, options);
    if (status != COVAR_OK) {
        gp_programs_release(p);
        return status;
    }
    *out = p;
    return COVAR_OK;
}

struct gp_programs *gp_programs_retain(struct gp_programs *p)
{
    atomic_fetch_add(&p->refs, 1);
    return p;
}

void gp_programs_release(struct gp_programs *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    for (int i = 0; i < GP_PROGRAM_COUNT; i++)
        ad_program_free(p->program[i]);
    ad_store_free(p->store);
    covar_heap *heap = p->heap;
    covar_heap_free(heap, p);
    covar_heap_release(heap);
}

covar_status gp_programs_run(const struct gp_programs *p, covar_context *ctx,
                             gp_program_kind which, const la_view *in,
                             const la_view *out)
{
    ad_runner *run = NULL;
    COVAR_TRY(ad_runner_create(&run, p->program[which], p->store, ctx));
    covar_status status = ad_run(run, in, out);
    ad_runner_free(run);
    return status;
}
