/* A likelihood to be maximised: compiled value, gradient and Hessian.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One graph, programs made when they are first asked for, and one runner
 * alive at a time: its arena is the memory that counts (about two n x n).
 * Where the Hessian's program would be dear, central differences of the exact
 * gradient stand in for it; see gp_hessian_is_exact. */
#include "config.h"

#include "objective_impl.h"

#include <math.h>
#include <string.h>

/* PRODUCT: the Hessian times a direction, an input of its own. */
typedef enum what { VALUE, GRADIENT, PRODUCT, WHAT_COUNT } what;

struct gp_problem {
    covar_context *ctx;
    covar_heap *heap;
    size_t n, n_param;
    la_dtype dtype;
    gp_objective_graph graph;
    ad_program *program[2][WHAT_COUNT]; /* ml, loo */
    ad_runner *runner;                  /* of the program last run */
    const ad_program *running;
    la_array *in[GP_IN_COUNT];
    double *free;      /* (P): what the runner reads */
    double *direction; /* (P): likewise, for PRODUCT */
    double *room;      /* (2 P): for differences */
    double jitter;
    size_t peak;
};

/* ---- Inputs ------------------------------------------------------------- */

/* An array of the objective's dtype filled by the caller. */
static covar_status new_input(gp_problem *p, gp_in which, la_dtype dtype,
                              size_t rows, size_t cols)
{
    la_exec exec = la_exec_cpu(p->ctx);
    size_t dim[] = {rows, cols};
    return la_array_create(&p->in[which], &exec, dtype, cols > 0 ? 2 : 1, dim);
}

static void copy_in(gp_problem *p, gp_in which, const double *x, size_t count)
{
    la_view v = la_array_view(p->in[which]);
    for (size_t i = 0; i < count; i++)
        la_view_set(v, i, x[i]);
}

/* Is every leaf a function of differences of x? */
static bool is_stationary(const gp_kernel *k)
{
    bool all = k->form != GP_FORM_LEAF || k->type->stationary;
    for (size_t i = 0; all && i < k->n_child; i++)
        all = is_stationary(k->child[i]);
    return all;
}

const double *gp_input_shift(const gp_kernel *k, const gp_data *data)
{
    return is_stationary(k) ? data->col_mean : data->x_shift;
}

static covar_status bind_x(gp_problem *p, const gp_kernel *k,
                           const gp_data *data, la_dtype dtype)
{
    COVAR_TRY(new_input(p, GP_IN_X, dtype, data->n, data->d));
    const double *shift = gp_input_shift(k, data);
    la_view v = la_array_view(p->in[GP_IN_X]);
    for (size_t i = 0; i < data->n * data->d; i++)
        la_view_set(v, i, data->X[i] - shift[i % data->d]);
    return COVAR_OK;
}

static covar_status bind_y(gp_problem *p, const gp_data *data,
                           const gp_options *options)
{
    size_t count = data->n * data->p;
    COVAR_TRY(new_input(p, GP_IN_Y, options->dtype, data->n, data->p));
    double *mean = covar_heap_alloc(p->heap, count, sizeof(*mean));
    if (!mean)
        return covar_fail_nomem(p->ctx, "gp_fit");
    covar_status status = gp_mean_offset(mean, p->ctx, data, options,
                                         la_mat_f64(data->X, data->n, data->d));
    for (size_t i = 0; i < count; i++)
        mean[i] = data->y[i] - mean[i];
    copy_in(p, GP_IN_Y, mean, count);
    covar_heap_free(p->heap, mean);
    return status;
}

static covar_status bind_basis(gp_problem *p, const gp_data *data,
                               const gp_options *options)
{
    size_t q = gp_mean_count(data, options);
    if (q == 0)
        return COVAR_OK;
    double *H = covar_heap_alloc(p->heap, data->n * q, sizeof(*H));
    if (!H)
        return covar_fail_nomem(p->ctx, "gp_fit");
    gp_mean_basis_at(H, data, options, la_mat_f64(data->X, data->n, data->d));
    covar_status status = new_input(p, GP_IN_H, options->dtype, data->n, q);
    if (status == COVAR_OK)
        copy_in(p, GP_IN_H, H, data->n * q);
    covar_heap_free(p->heap, H);
    return status;
}

static covar_status bind_noise(gp_problem *p, const gp_data *data,
                               la_dtype dtype)
{
    if (data->weight) {
        COVAR_TRY(new_input(p, GP_IN_WEIGHT, dtype, data->n, 0));
        la_view v = la_array_view(p->in[GP_IN_WEIGHT]);
        for (size_t i = 0; i < data->n; i++)
            la_view_set(v, i, 1 / data->weight[i]);
    }
    if (data->noise) {
        COVAR_TRY(new_input(p, GP_IN_NOISE, dtype, data->n, 0));
        copy_in(p, GP_IN_NOISE, data->noise, data->n);
    }
    return COVAR_OK;
}

static covar_status bind(gp_problem *p, const gp_kernel *k, const gp_data *data,
                         const gp_options *options)
{
    p->free = covar_heap_calloc(p->heap, p->n_param, sizeof(*p->free));
    p->direction = covar_heap_calloc(p->heap, p->n_param, sizeof(*p->free));
    p->room = covar_heap_calloc(p->heap, p->n_param, 2 * sizeof(*p->room));
    if (!p->free || !p->direction || !p->room)
        return covar_fail_nomem(p->ctx, "gp_fit");
    COVAR_TRY(bind_x(p, k, data, options->dtype));
    COVAR_TRY(bind_y(p, data, options));
    COVAR_TRY(bind_basis(p, data, options));
    return bind_noise(p, data, options->dtype);
}

/* ---- Programs ----------------------------------------------------------- */

static covar_status compile(gp_problem *p, bool loo, what w)
{
    const gp_objective_graph *o = &p->graph;
    ad_node *value = loo ? o->loo : w == PRODUCT ? o->ml_full : o->ml;
    ad_node *free = o->in[GP_IN_FREE], *out[] = {value, NULL};
    ad_slot slot[GP_IN_COUNT + 4];
    size_t n = 0;
    for (size_t i = 0; i < GP_IN_COUNT; i++)
        if (o->in[i])
            slot[n++] = (ad_slot)AD_IN(o->in[i]);
    if (w == GRADIENT)
        COVAR_TRY(ad_grad(&out[1], value, &free, 1));
    if (w == PRODUCT) {
        ad_dim dim = ad_dim_of(free, 0);
        ad_node *v = ad_input(o->g, "direction", LA_F64, 1, &dim);
        slot[n++] = (ad_slot)AD_IN(v);
        COVAR_TRY(ad_hvp(&out[0], value, &free, &v, 1));
    }
    slot[n++] = (ad_slot)AD_OUT(out[0]);
    if (out[1])
        slot[n++] = (ad_slot)AD_OUT(out[1]);
    slot[n++] = (ad_slot)AD_OUT(o->pivot);
    return ad_compile(&p->program[loo][w], o->g, &(ad_signature){n, slot},
                      NULL);
}

enum { MOST_INPUTS = GP_IN_COUNT + 1 };

static void input_views(const gp_problem *p, what w, la_view in[MOST_INPUTS])
{
    int n = 0;
    for (int i = 0; i < MOST_INPUTS; i++)
        in[i] = la_view_none();
    in[n++] = la_vec_f64(p->free, p->n_param);
    in[n++] = la_scalar_f64(&p->jitter);
    for (size_t i = GP_IN_X; i < GP_IN_COUNT; i++)
        if (p->in[i])
            in[n++] = la_array_view(p->in[i]);
    if (w == PRODUCT)
        in[n] = la_vec_f64(p->direction, p->n_param);
}

/* Makes p->runner the one of this program. */
static covar_status use(gp_problem *p, bool loo, what w)
{
    if (!p->program[loo][w])
        COVAR_TRY(compile(p, loo, w));
    if (p->running == p->program[loo][w])
        return COVAR_OK;
    ad_runner_free(p->runner);
    p->runner = NULL;
    p->running = NULL;
    COVAR_TRY(ad_runner_create(&p->runner, p->program[loo][w],
                               ad_graph_store(p->graph.g), p->ctx));
    p->running = p->program[loo][w];
    la_view in[MOST_INPUTS];
    input_views(p, w, in);
    size_t bytes = 0, bound;
    COVAR_TRY(ad_runner_plan(p->runner, in, &bytes, &bound));
    p->peak = bytes > p->peak ? bytes : p->peak;
    return COVAR_OK;
}

/* As condition.c does with the factor of a model. NaN is left to whoever looks
 * at the value. */
static covar_status check_pivot(const gp_problem *p, double pivot)
{
    if (isnan(pivot) || !gp_pivot_is_lost(pivot, p->dtype, p->n))
        return COVAR_OK;
    return covar_fail(p->ctx, COVAR_ERR_NOT_PD,
                      "K + noise (%zu x %zu) is not positive definite: its "
                      "least pivot is %.2g of the diagonal, which is rounding",
                      p->n, p->n, pivot);
}

/* value: NULL for PRODUCT; derivative: gradient or product (P). NOT_PD also
 * where a pivot is lost to rounding. */
static covar_status run(gp_problem *p, bool loo, what w, double *value,
                        double *derivative)
{
    COVAR_TRY(use(p, loo, w));
    la_view in[MOST_INPUTS], out[3];
    double pivot = 0;
    int n = 0;
    input_views(p, w, in);
    if (w != PRODUCT)
        out[n++] = la_scalar_f64(value);
    if (w != VALUE)
        out[n++] = la_vec_f64(derivative, p->n_param);
    out[n] = la_scalar_f64(&pivot);
    COVAR_TRY(ad_run(p->runner, in, out));
    return check_pivot(p, pivot);
}

/* ---- Evaluation --------------------------------------------------------- */

bool gp_hessian_is_exact(size_t n, size_t n_param)
{
    return 8.0 * (double)n_param * pow((double)n, 3) <= 2e11;
}

/* Column j of the Hessian from two gradients, one step h to each side. */
static covar_status difference(gp_problem *p, bool loo, size_t j, double *hv)
{
    size_t n = p->n_param;
    const double h = 6e-6 * fmax(1, fabs(p->free[j])), at = p->free[j];
    double value, *low = p->room, *high = p->room + n;
    p->free[j] = at - h;
    covar_status status = run(p, loo, GRADIENT, &value, low);
    p->free[j] = at + h;
    if (status == COVAR_OK)
        status = run(p, loo, GRADIENT, &value, high);
    p->free[j] = at;
    for (size_t i = 0; status == COVAR_OK && i < n; i++)
        hv[i] = (high[i] - low[i]) / (2 * h);
    return status;
}

/* Row j; zeros for an entry at -infinity (a variance fixed at 0). */
static covar_status hessian_row(gp_problem *p, bool loo, size_t j, double *hv)
{
    memset(hv, 0, p->n_param * sizeof(*hv));
    if (!isfinite(p->free[j]))
        return COVAR_OK;
    if (!gp_hessian_is_exact(p->n, p->n_param))
        return difference(p, loo, j, hv);
    p->direction[j] = 1;
    covar_status status = run(p, loo, PRODUCT, NULL, hv);
    p->direction[j] = 0;
    return status;
}

static covar_status hessian(gp_problem *p, bool loo, double *hess)
{
    size_t n = p->n_param;
    for (size_t j = 0; j < n; j++)
        COVAR_TRY(hessian_row(p, loo, j, hess + j * n));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double mean = (hess[i * n + j] + hess[j * n + i]) / 2;
            hess[i * n + j] = hess[j * n + i] = mean;
        }
    return COVAR_OK;
}

covar_status gp_problem_eval(gp_problem *p, const double *free,
                             gp_objective kind, double jitter, double *value,
                             double *grad, double *hess)
{
    bool loo = kind == GP_LOO;
    for (size_t i = 0; i < p->n_param; i++)
        p->free[i] = isnan(free[i]) ? 0 : free[i]; /* dropped: not read */
    p->jitter = jitter;
    double v;
    if (value || grad) {
        COVAR_TRY(run(p, loo, grad ? GRADIENT : VALUE, &v, grad));
        if (!isfinite(v))
            return covar_fail(p->ctx, COVAR_ERR_NUMERIC,
                              "the objective is %g at these parameters", v);
        if (value)
            *value = v;
    }
    return hess ? hessian(p, loo, hess) : COVAR_OK;
}

size_t gp_problem_peak_bytes(const gp_problem *p)
{
    return p->peak;
}

covar_status gp_problem_plan(gp_problem *p, gp_objective kind, size_t n,
                             size_t *bytes)
{
    COVAR_TRY(use(p, kind == GP_LOO, GRADIENT));
    la_view in[MOST_INPUTS];
    input_views(p, GRADIENT, in);
    for (size_t i = 2; i < MOST_INPUTS; i++) /* all but free and jitter */
        in[i].dim[0] = n;
    size_t bound;
    return ad_runner_plan(p->runner, in, bytes, &bound);
}

void gp_problem_free(gp_problem *p)
{
    if (!p)
        return;
    ad_runner_free(p->runner);
    for (int l = 0; l < 2; l++)
        for (int w = 0; w < WHAT_COUNT; w++)
            ad_program_free(p->program[l][w]);
    for (int i = 0; i < GP_IN_COUNT; i++)
        la_array_free(p->in[i]);
    gp_objective_graph_clear(&p->graph);
    covar_heap_free(p->heap, p->free);
    covar_heap_free(p->heap, p->direction);
    covar_heap_free(p->heap, p->room);
    covar_heap *heap = p->heap;
    covar_heap_free(heap, p);
    covar_heap_release(heap);
}

covar_status gp_problem_create(gp_problem **out, covar_context *ctx,
                               const gp_kernel *k, const gp_params *params,
                               const gp_data *data, const gp_options *options)
{
    *out = NULL;
    covar_heap *heap = covar_context_heap(ctx);
    gp_problem *p = covar_heap_calloc(heap, 1, sizeof(*p));
    if (!p)
        return covar_fail_nomem(ctx, "gp_fit");
    p->ctx = ctx;
    p->heap = covar_heap_retain(heap);
    p->n = data->n;
    p->n_param = params->n;
    p->dtype = options->dtype;
    covar_status status =
        gp_objective_graph_create(&p->graph, ctx, k, params, data, options);
    if (status == COVAR_OK)
        status = bind(p, k, data, options);
    if (status != COVAR_OK) {
        gp_problem_free(p);
        return status;
    }
    *out = p;
    return COVAR_OK;
}
