/* Our minimiser against NLopt's on textbook functions and GP likelihoods.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "bench_optim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <nlopt.h>

#define NELEM(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST_EVALUATIONS = 2000 };

/* What one run did: every value in order. */
typedef struct trace {
    const bench_problem *what;
    double values[MOST_EVALUATIONS + 100];
    double norms[MOST_EVALUATIONS + 100];
    size_t count, infinite, best_at;
    double best;
    char end[32];
} trace;

static covar_status traced(double *f, double *g, const double *x, size_t n,
                           void *data)
{
    trace *t = data;
    const ad_problem *p = &t->what->problem;
    double own[MOST_COORDINATES];
    double *grad = g ? g : own;
    covar_status status = p->eval(f, grad, x, n, p->data);
    if (status != COVAR_OK || !isfinite(*f)) {
        *f = INFINITY;
        t->infinite++;
    }
    double norm = 0;
    for (size_t i = 0; i < n && status == COVAR_OK; i++) {
        const double room =
            grad[i] < 0 ? t->what->upper[i] - x[i] : x[i] - t->what->lower[i];
        norm = fmax(norm, fmin(fabs(grad[i]), room));
    }
    if (t->count < NELEM(t->values)) {
        t->values[t->count] = *f;
        t->norms[t->count] = norm;
        if (*f < t->best) {
            t->best = *f;
            t->best_at = t->count;
        }
        t->count++;
    }
    return status;
}

static double traced_nlopt(unsigned n, const double *x, double *g, void *data)
{
    double f;
    covar_status s = traced(&f, g, x, n, data);
    if (s != COVAR_OK && g)
        memset(g, 0, n * sizeof(*g));
    return s == COVAR_OK ? f : HUGE_VAL;
}

static void run_ours(trace *t, covar_context *ctx, const ad_optim_options *o)
{
    const bench_problem *b = t->what;
    ad_problem p = {.n = b->problem.n,
                    .eval = traced,
                    .data = t,
                    .lower = b->lower,
                    .upper = b->upper};
    double x[MOST_COORDINATES];
    memcpy(x, b->start, sizeof(x));
    ad_optim_report r;
    if (ad_minimise(&r, ctx, &p, x, o) == COVAR_OK)
        snprintf(t->end, sizeof(t->end), "%s", ad_stop_name(r.reason));
    else
        snprintf(t->end, sizeof(t->end), "%s",
                 covar_status_name(covar_error_status(ctx)));
}

static void run_nlopt(trace *t, nlopt_algorithm algorithm)
{
    const bench_problem *b = t->what;
    double x[MOST_COORDINATES], f;
    memcpy(x, b->start, sizeof(x));
    nlopt_opt o = nlopt_create(algorithm, (unsigned)b->problem.n);
    nlopt_set_min_objective(o, traced_nlopt, t);
    nlopt_set_lower_bounds(o, b->lower);
    nlopt_set_upper_bounds(o, b->upper);
    nlopt_set_ftol_rel(o, 1e-10);
    nlopt_set_xtol_abs1(o, 1e-10);
    nlopt_set_maxeval(o, MOST_EVALUATIONS);
    nlopt_result r = nlopt_optimize(o, x, &f);
    snprintf(t->end, sizeof(t->end), "%s", nlopt_result_to_string(r));
    nlopt_destroy(o);
}

static void compare(const bench_problem *b, covar_context *ctx)
{
    static trace runs[8];
    static const char *const names[] = {"covar",       "covar m=5",
                                        "covar m=30",  "covar uncapped",
                                        "nlopt lbfgs", "nlopt slsqp"};
    double best = isnan(b->known) ? INFINITY : b->known;
    for (size_t i = 0; i < NELEM(names); i++) {
        trace *t = &runs[i];
        *t = (trace){.what = b, .best = INFINITY};
        ad_optim_options o = {.max_evaluations = MOST_EVALUATIONS,
                              .max_iterations = 2000};
        if (i == 1)
            o.memory = 5;
        if (i == 2)
            o.memory = 30;
        if (i == 3)
            o.max_step = o.first_step = INFINITY;
        if (i < 4)
            run_ours(t, ctx, &o);
        else
            run_nlopt(t, i == 4 ? NLOPT_LD_LBFGS : NLOPT_LD_SLSQP);
        best = fmin(best, t->best);
    }
    printf("%s   best %.10g\n", b->name, best);
    for (size_t i = 0; i < NELEM(names); i++) {
        trace *t = &runs[i];
        size_t when[2] = {0, 0};
        const double near[2] = {1e-2, 1e-6};
        for (size_t k = 0; k < 2; k++)
            for (size_t j = 0; j < t->count && !when[k]; j++)
                if (t->values[j] <= best + near[k])
                    when[k] = j + 1;
        printf("  %-16s %6zu evals %4zu inf  +1e-2 %5zu  +1e-6 %5zu  f-best "
               "%9.2e  pg %8.1e  %s\n",
               names[i], t->count, t->infinite, when[0], when[1],
               t->best - best, t->norms[t->best_at], t->end);
    }
}

static void gp_case(bench_problem *b, const char *name, gp_objective *gp,
                    double l, double v, double s)
{
    const size_t d = gp->data->d;
    *b = (bench_problem){.name = name,
                         .known = NAN,
                         .problem = {.n = d + 2, .eval = gp_eval, .data = gp}};
    for (size_t k = 0; k < d + 2; k++) {
        b->lower[k] = log(k < d ? 1e-3 : k == d ? 1e-6 : 1e-8);
        b->upper[k] = log(k < d ? 1e3 : k == d ? 1e6 : 10);
        b->start[k] = log(k < d ? l : k == d ? v : s);
    }
}

int main(void)
{
    covar_context *ctx = covar_context_create();
    static bench_problem b;
    for (size_t i = 0; i < bench_plain_count(); i++) {
        bench_plain_get(&b, i);
        compare(&b, ctx);
    }
    const char *shared = getenv("COVAR_SHARED");
    const char *sets[] = {"yacht", "boston", "energy", "concrete"};
    size_t nsets = getenv("SETS") ? (size_t)atoi(getenv("SETS")) : 2;
    for (size_t i = 0; shared && i < 2 * nsets; i++) {
        char dir[512];
        snprintf(dir, sizeof(dir), "%s/data", shared);
        gp_data data;
        if (!gp_data_read(&data, dir, sets[i / 2], GP_UNIT_CUBE)) {
            printf("%s: skipped\n", sets[i / 2]);
            continue;
        }
        gp_objective gp;
        gp_objective_init(&gp, &data, i % 2 ? GP_MATERN52 : GP_RBF);
        char name[100];
        snprintf(name, 100, "%s %s", sets[i / 2], i % 2 ? "matern52" : "rbf");
        gp_case(&b, name, &gp, 0.3 * sqrt((double)data.d), 1, 0.1);
        compare(&b, ctx);
        gp_case(&b, name, &gp, 1.5 * sqrt((double)data.d), 1, 0.0025);
        compare(&b, ctx);
        gp_objective_clear(&gp);
        gp_data_clear(&data);
        if (!gp_data_read(&data, dir, sets[i / 2], GP_UNIT_SD))
            continue;
        gp_objective_init(&gp, &data, i % 2 ? GP_MATERN52 : GP_RBF);
        gp_case(&b, "trap", &gp, 2.449, 1, 0.09);
        compare(&b, ctx);
        gp_objective_clear(&gp);
        gp_data_clear(&data);
    }
    covar_context_free(ctx);
}
