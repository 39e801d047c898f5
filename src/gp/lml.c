/* The likelihood itself, for users with an optimiser or sampler of their own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every call makes its own problem: a model is shared between threads and
 * keeps nothing that changes. */
#include "config.h"

#include "check.h"

#include <math.h>
#include <string.h>

size_t gp_lml_dim(const gp_model *m)
{
    return m ? m->params.n : 0;
}

/* Values in user units to free coordinates, each checked. */
static covar_status take_values(double *free, const gp_params *p,
                                covar_context *ctx, const double *value)
{
    for (size_t i = 0; i < p->n; i++) {
        const gp_param *q = &p->param[i];
        free[i] = q->log ? log(value[i]) : value[i];
        bool zero = value[i] == 0 &&
                    (q->kind == GP_KIND_NOISE || q->kind == GP_KIND_OFFSET);
        if (q->dropped || zero || isfinite(free[i]))
            continue;
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "gp_lml: %s = %g, but it must be "
                          "%s",
                          q->name, value[i],
                          q->log ? "positive and finite" : "finite");
    }
    return COVAR_OK;
}

static covar_status likelihood(const gp_model *m, covar_context *ctx,
                               const double *free, double *lml, double *grad,
                               double *hess)
{
    gp_problem *problem = NULL;
    COVAR_TRY(gp_problem_create(&problem, ctx, m->kernel, &m->params, m->data,
                                &m->options));
    covar_status status = gp_problem_eval(problem, free, GP_ML,
                                          m->jitter_relative, lml, grad, hess);
    gp_problem_free(problem);
    return status;
}

covar_status gp_lml(const gp_model *m, covar_context *ctx, const double *value,
                    double *lml, double *grad, double *hess)
{
    COVAR_TRY(GP_CHECK_POINTERS(ctx, "gp_lml", {"the model", m}));
    covar_heap *heap = covar_context_heap(ctx);
    double *free = covar_heap_calloc(heap, m->params.n, sizeof(*free));
    if (!free)
        return covar_fail_nomem(ctx, "gp_lml");
    gp_params_to_free(free, &m->params);
    covar_status status = COVAR_OK;
    if (value)
        status = take_values(free, &m->params, ctx, value);
    if (status == COVAR_OK)
        status = likelihood(m, ctx, free, lml, grad, hess);
    covar_heap_free(heap, free);
    return status;
}

/* No coordinate that is read is NaN. */
static covar_status check_free(const gp_nlopt *f, const double *x)
{
    const gp_params *p = &f->model->params;
    for (size_t i = 0; i < p->n; i++)
        if (!p->param[i].dropped && isnan(x[i]))
            return covar_fail(f->ctx, COVAR_ERR_ARG,
                              "gp_nlopt_f: x[%zu] (%s) "
                              "is nan",
                              i, p->param[i].name);
    return COVAR_OK;
}

double gp_nlopt_f(unsigned n, const double *x, double *grad, void *data)
{
    const gp_nlopt *f = data;
    double lml = -HUGE_VAL;
    covar_status status = COVAR_ERR_ARG;
    if (f && f->model && f->ctx) {
        if (!x)
            status = covar_fail(f->ctx, COVAR_ERR_ARG, "gp_nlopt_f: x is NULL");
        else if (n == f->model->params.n && check_free(f, x) == COVAR_OK)
            status = likelihood(f->model, f->ctx, x, &lml, grad, NULL);
        else if (n == f->model->params.n)
            status = COVAR_ERR_ARG;
        else
            status = covar_fail(f->ctx, COVAR_ERR_SHAPE,
                                "gp_nlopt_f: %u coordinates for %zu parameters",
                                n, f->model->params.n);
    }
    bool good = status == COVAR_OK && isfinite(lml);
    for (unsigned i = 0; grad && i < n; i++)
        grad[i] = good && isfinite(grad[i]) ? -grad[i] : 0;
    return good ? -lml : HUGE_VAL;
}
