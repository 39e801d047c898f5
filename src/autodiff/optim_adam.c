/* Adam as update slots, so that it runs inside the program.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2,   t <- t + 1,
 *   p <- p - rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
 * with the new m, v and t on the right. 1 - b^t is -expm1(t log b), exact for
 * b near 1. Moments are arrays "name.m" and "name.v" of the store, the count
 * of steps is "adam.step". Source: Kingma & Ba 2015, algorithm 1. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <math.h>
#include <stdio.h>

static ad_adam_options with_defaults(const ad_adam_options *options)
{
    ad_adam_options o = options ? *options : (ad_adam_options){0};
    o.rate = o.rate != 0 ? o.rate : 0.001;
    o.beta1 = o.beta1 != 0 ? o.beta1 : 0.9;
    o.beta2 = o.beta2 != 0 ? o.beta2 : 0.999;
    o.epsilon = o.epsilon != 0 ? o.epsilon : 1e-8;
    return o;
}

static covar_status check(ad_graph *g, const ad_adam_options *o,
                          ad_node *const *param, int n)
{
    if (!(o->rate > 0 && o->beta1 >= 0 && o->beta1 < 1 && o->beta2 >= 0 &&
          o->beta2 < 1 && o->epsilon > 0))
        return ad_graph_fail(g, COVAR_ERR_ARG,
                             "ad_adam: rate %g, beta1 %g, beta2 %g, epsilon "
                             "%g: needs rate, epsilon > 0 and betas in [0, 1)",
                             o->rate, o->beta1, o->beta2, o->epsilon);
    for (int i = 0; i < n; i++)
        if (!param[i] || param[i]->op != &ad_op_param)
            return ad_graph_fail(g, COVAR_ERR_ARG,
                                 "ad_adam: node %d is no parameter", i + 1);
    return COVAR_OK;
}

/* A parameter of zeros like x, named "x.suffix". */
static ad_node *moment(ad_node *x, const char *suffix)
{
    ad_graph *g = x->graph;
    la_exec exec = la_exec_cpu(g->ctx);
    la_array *zeros = NULL;
    size_t dim[LA_MAX_DIMS] = {0};
    char name[256];
    int used = snprintf(name, sizeof(name), "%s.%s", x->name, suffix);
    if (used < 0 || (size_t)used >= sizeof(name)) {
        ad_graph_fail(g, COVAR_ERR_NAME, "ad_adam: the name '%s' is too long",
                      x->name);
        return NULL;
    }
    for (int k = 0; k < x->type->rank; k++)
        ad_dim_is_fixed(x->type->dim[k], &dim[k]);
    covar_status status =
        la_array_create(&zeros, &exec, x->type->dtype, x->type->rank, dim);
    if (status != COVAR_OK) {
        ad_graph_fail(g, status, "ad_adam: %s", covar_error_text(g->ctx));
        return NULL;
    }
    ad_node *y = ad_param(g, name, la_array_view(zeros));
    la_array_free(zeros);
    return y;
}

/* beta m + (1 - beta) x */
static ad_node *moving(ad_node *m, ad_node *x, double beta)
{
    return ad_add(ad_scale(m, beta), ad_scale(x, 1 - beta));
}

/* 1 - beta^t as a rank-0 value of the given dtype. */
static ad_node *correction(ad_node *t, double beta, la_dtype dtype)
{
    return ad_cast(ad_neg(ad_expm1(ad_scale(t, log(beta)))), dtype);
}

static void add_update(ad_slot *slots, size_t *n_slots, ad_node *p, ad_node *x)
{
    slots[(*n_slots)++] = (ad_slot)AD_UPDATE(p, x);
}

static void step_one(ad_slot *slots, size_t *n_slots, ad_node *p, ad_node *g,
                     ad_node *t, const ad_adam_options *o)
{
    la_dtype dtype = p->type->dtype;
    ad_node *m = moment(p, "m"), *v = moment(p, "v");
    ad_node *m_new = moving(m, g, o->beta1);
    ad_node *v_new = moving(v, ad_square(g), o->beta2);
    ad_node *m_hat = ad_div(m_new, correction(t, o->beta1, dtype));
    ad_node *v_hat = ad_div(v_new, correction(t, o->beta2, dtype));
    ad_node *root = ad_add_scalar(ad_sqrt(v_hat), o->epsilon);
    ad_node *step = ad_scale(ad_div(m_hat, root), o->rate);
    add_update(slots, n_slots, m, m_new);
    add_update(slots, n_slots, v, v_new);
    add_update(slots, n_slots, p, ad_sub(p, step));
}

covar_status ad_adam(ad_slot *slots, size_t *n_slots, ad_node *loss,
                     ad_node *const *param, int n,
                     const ad_adam_options *options)
{
    if (n_slots)
        *n_slots = 0;
    if (!loss)
        return COVAR_POISONED;
    ad_graph *g = loss->graph;
    if (!slots || !n_slots || n < 0 || (n > 0 && !param))
        return ad_graph_fail(g, COVAR_ERR_ARG,
                             "ad_adam: slots, their number or the %d "
                             "parameters are NULL",
                             n);
    ad_adam_options o = with_defaults(options);
    COVAR_TRY(ad_graph_error(g));
    COVAR_TRY(check(g, &o, param, n));
    double zero = 0;
    ad_node *t = ad_param(g, "adam.step", la_scalar_f64(&zero));
    ad_node *t_new = ad_add_scalar(t, 1);
    ad_node **grad =
        covar_heap_calloc(g->heap, (size_t)n + 1, sizeof(ad_node *));
    if (!grad)
        return ad_graph_nomem(g);
    covar_status status = ad_grad(grad, loss, param, n);
    for (int i = 0; i < n && status == COVAR_OK; i++) {
        step_one(slots, n_slots, param[i], grad[i], t_new, &o);
        status = ad_graph_error(g);
    }
    covar_heap_free(g->heap, grad);
    add_update(slots, n_slots, t, t_new);
    return status == COVAR_OK ? ad_graph_error(g) : status;
}
