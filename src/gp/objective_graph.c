/* The objectives of a fit as graph, with the number of rows left open.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With A = K + diag(noise) + c mean(diag K) I, r = y - H beta and
 * P = A^-1 - A^-1 H (H'A^-1 H)^-1 H'A^-1 (A^-1 without a profiled mean):
 *     ml  = log N(y; H beta, A), beta = (H'A^-1 H)^-1 H'A^-1 y
 *     loo = sum_i log N(y_i; y_i - (P y)_i / P_ii, 1 / P_ii)
 * Outputs share A, so their values add up. beta maximises ml, hence
 * d ml / d beta = 0 and a first derivative may hold it fixed; a second one may
 * not. Sources: Rasmussen & Williams 2006, eq. 2.42, 2.43, 5.8, 5.12; Dubrule
 * 1983 for P. */
#include "config.h"

#include "objective_impl.h"

#include <string.h>

static const double log_2pi = 1.83787706640934548356;

/* What the builders below need to know. */
typedef struct maker {
    gp_objective_graph *o;
    const gp_kernel *kernel;
    const gp_params *params;
    la_dtype dtype;
    ad_dim n;
    size_t d, p, q;
} maker;

static ad_node *input(maker *m, gp_in which, const char *name, int rank,
                      ad_dim second)
{
    ad_dim dim[] = {m->n, second};
    m->o->in[which] = ad_input(m->o->g, name, m->dtype, rank, dim);
    return m->o->in[which];
}

static void declare_inputs(maker *m, const gp_data *data)
{
    ad_graph *g = m->o->g;
    ad_dim count[] = {ad_fixed(m->params->n)};
    m->o->in[GP_IN_FREE] = ad_input(g, "free", LA_F64, 1, count);
    m->o->in[GP_IN_JITTER] = ad_input(g, "jitter", LA_F64, 0, NULL);
    input(m, GP_IN_X, "X", 2, ad_fixed(m->d));
    input(m, GP_IN_Y, "y", 2, ad_fixed(m->p));
    if (m->q > 0)
        input(m, GP_IN_H, "H", 2, ad_fixed(m->q));
    if (data->weight)
        input(m, GP_IN_WEIGHT, "inverse_weight", 1, ad_fixed(1));
    if (data->noise)
        input(m, GP_IN_NOISE, "known_noise", 1, ad_fixed(1));
}

/* A = K + noise + jitter; *diag: its diagonal, which never reads the matrix.
 * The jitter is relative to the mean of k(x,x), so it moves with the parameters
 * and so does its derivative. */
static ad_node *covariance(maker *m, ad_node **diag)
{
    gp_objective_graph *o = m->o;
    gp_build b = {.g = o->g,
                  .dtype = m->dtype,
                  .X = o->in[GP_IN_X],
                  .free = ad_cast(o->in[GP_IN_FREE], m->dtype),
                  .params = m->params};
    ad_node *K = gp_kernel_build(m->kernel, &b);
    ad_node *noise = gp_build_take(&b);
    b.next = 0;
    ad_node *level = ad_cast(o->in[GP_IN_JITTER], m->dtype);
    ad_node *own = gp_kernel_diag(m->kernel, &b);
    if (o->in[GP_IN_WEIGHT])
        noise = ad_mul(noise, o->in[GP_IN_WEIGHT]);
    if (o->in[GP_IN_NOISE])
        noise = ad_add(o->in[GP_IN_NOISE], noise);
    noise = ad_add(noise, ad_mul(level, ad_mean(own, AD_ALL)));
    *diag = ad_add(own, noise);
    return ad_add_diag(K, noise);
}

/* The profiled mean: V = L^-1 H, G = chol(V'V), beta. */
typedef struct profile {
    ad_node *V, *G, *beta;
} profile;

static profile profile_mean(const maker *m, ad_node *L)
{
    profile f = {NULL, NULL, NULL};
    f.V = ad_trsm(LA_LEFT, LA_LOWER, LA_NO_TRANS, L, m->o->in[GP_IN_H]);
    ad_node *u = ad_trsm(LA_LEFT, LA_LOWER, LA_NO_TRANS, L, m->o->in[GP_IN_Y]);
    f.G = ad_cholesky(ad_syrk(1, LA_TRANS, f.V));
    f.beta = ad_chol_solve(f.G, ad_gemm(1, LA_TRANS, f.V, LA_NO_TRANS, u));
    return f;
}

static ad_node *log_likelihood(const maker *m, ad_node *A, ad_node *beta)
{
    ad_node *y = m->o->in[GP_IN_Y];
    ad_dim dim[] = {m->n, ad_fixed(m->p)};
    ad_node *mean = m->q > 0 ? ad_matmul(m->o->in[GP_IN_H], beta)
                             : ad_fill(m->o->g, m->dtype, 0, 2, dim);
    return ad_cast(ad_mvn_logpdf(y, mean, A), LA_F64);
}

/* sum over rows and outputs of (log P_ii - a_i^2 / P_ii - log 2 pi) / 2. */
static ad_node *leave_one_out(const maker *m, ad_node *L, const profile *f)
{
    ad_graph *g = m->o->g;
    ad_node *r = m->o->in[GP_IN_Y];
    ad_node *diag = ad_extract_diag(ad_potri(L), 0);
    if (m->q > 0) {
        ad_node *W = ad_trsm(LA_LEFT, LA_LOWER, LA_TRANS, L, f->V);
        ad_node *Z = ad_trsm(LA_LEFT, LA_LOWER, LA_NO_TRANS, f->G,
                             ad_transpose(W)); /* (q,n) */
        diag = ad_sub(diag, ad_sum(ad_square(Z), AD_AXIS(0)));
        r = ad_sub(r, ad_matmul(m->o->in[GP_IN_H], f->beta));
    }
    ad_node *a = ad_chol_solve(L, r); /* (n,p) */
    ad_node *fit = ad_sum(ad_square(a), AD_AXIS(1));
    ad_node *term =
        ad_sub(ad_scale(ad_log(diag), (double)m->p), ad_div(fit, diag));
    ad_node *rows = ad_dim_value(g, LA_F64, m->n);
    ad_node *sum = ad_cast(ad_sum(term, AD_ALL), LA_F64);
    return ad_scale(ad_sub(sum, ad_scale(rows, (double)m->p * log_2pi)), 0.5);
}

static void build(maker *m)
{
    gp_objective_graph *o = m->o;
    ad_node *diag = NULL, *A = covariance(m, &diag);
    ad_node *L = ad_cholesky(A);
    ad_node *pivot = ad_div(ad_square(ad_extract_diag(L, 0)), diag);
    o->pivot = ad_cast(ad_reduce_min(pivot, AD_ALL), LA_F64);
    profile f = {NULL, NULL, NULL};
    if (m->q > 0)
        f = profile_mean(m, L);
    o->ml = log_likelihood(m, A, m->q > 0 ? ad_stop_gradient(f.beta) : NULL);
    o->ml_full = log_likelihood(m, A, f.beta);
    o->loo = leave_one_out(m, L, &f);
}

covar_status gp_objective_graph_create(gp_objective_graph *out,
                                       covar_context *ctx, const gp_kernel *k,
                                       const gp_params *params,
                                       const gp_data *data,
                                       const gp_options *options)
{
    memset(out, 0, sizeof(*out));
    COVAR_TRY(ad_graph_create(&out->g, ctx, NULL));
    maker m = {.o = out,
               .kernel = k,
               .params = params,
               .dtype = options->dtype,
               .n = ad_symbol(out->g, "n"),
               .d = data->d,
               .p = data->p,
               .q = gp_mean_count(data, options)};
    declare_inputs(&m, data);
    build(&m);
    covar_status status = ad_graph_error(out->g);
    if (status != COVAR_OK) {
        covar_fail(ctx, status, "kernel: %s", ad_graph_error_text(out->g));
        gp_objective_graph_clear(out);
    }
    return status;
}

void gp_objective_graph_clear(gp_objective_graph *o)
{
    ad_graph_free(o->g);
    memset(o, 0, sizeof(*o));
}
