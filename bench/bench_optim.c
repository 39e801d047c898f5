/* Our minimiser against NLopt's on textbook functions and GP likelihoods.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For each problem and minimiser: evaluations in all, those without a value,
 * the evaluation that first came within 1e-2 and 1e-6 of the best value of
 * all, what is missing to it, the projected gradient there, why it stopped.
 * Likelihoods are those of the data in $COVAR_SHARED/data, from the starts of
 * gp_fit (short, long) and from the one known as a trap (1 sd lengthscales).
 *     bench_optim [--full]        (--full: four data sets instead of two) */
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

typedef struct minimiser {
    const char *name;
    double cap;                /* of ours: longest step, 0 = default */
    nlopt_algorithm algorithm; /* used when `nlopt` */
    bool nlopt;
} minimiser;

static const minimiser minimisers[] = {
    {"covar", 0, 0, false},
    {"covar uncapped", INFINITY, 0, false},
    {"nlopt lbfgs", 0, NLOPT_LD_LBFGS, true},
    {"nlopt slsqp", 0, NLOPT_LD_SLSQP, true},
};

static void run(trace *t, const bench_problem *b, covar_context *ctx,
                const minimiser *m)
{
    const ad_optim_options o = {.max_evaluations = MOST_EVALUATIONS,
                                .max_iterations = MOST_EVALUATIONS,
                                .first_step = m->cap,
                                .max_step = m->cap};
    *t = (trace){.what = b, .best = INFINITY};
    if (m->nlopt)
        run_nlopt(t, m->algorithm);
    else
        run_ours(t, ctx, &o);
}

/* The evaluation that first reached `value`; 0 = none. */
static size_t first_at(const trace *t, double value)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->values[i] <= value)
            return i + 1;
    return 0;
}

static void compare(const bench_problem *b, covar_context *ctx)
{
    static trace runs[NELEM(minimisers)];
    double best = isnan(b->known) ? INFINITY : b->known;
    for (size_t i = 0; i < NELEM(minimisers); i++) {
        run(&runs[i], b, ctx, &minimisers[i]);
        best = fmin(best, runs[i].best);
    }
    printf("%s   best %.10g\n", b->name, best);
    for (size_t i = 0; i < NELEM(minimisers); i++) {
        const trace *t = &runs[i];
        printf("  %-14s %5zu evals %3zu inf  +1e-2 %4zu  +1e-6 %4zu  short of "
               "best %8.1e  pg %8.1e  %s\n",
               minimisers[i].name, t->count, t->infinite,
               first_at(t, best + 1e-2), first_at(t, best + 1e-6),
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

/* From the two starts of gp_fit in the unit cube, and from the trap. */
static void compare_set(const char *dir, const char *set, gp_kind kind,
                        covar_context *ctx)
{
    static const struct {
        const char *name;
        gp_scale scale;
        double l, v, noise; /* l times sqrt(d) in the unit cube */
    } starts[] = {{"short", GP_UNIT_CUBE, .3, 1, .1},
                  {"long", GP_UNIT_CUBE, 1.5, 1, .0025},
                  {"trap", GP_UNIT_SD, 2.449, 1, .09}};
    static bench_problem b;
    for (size_t i = 0; i < NELEM(starts); i++) {
        gp_data data;
        gp_objective gp;
        char name[100];
        if (!gp_data_read(&data, dir, set, starts[i].scale)) {
            printf("%s: skipped, not in %s\n", set, dir);
            return;
        }
        if (!gp_objective_init(&gp, &data, kind))
            exit(1);
        snprintf(name, sizeof(name), "%s, %s, %s", set,
                 kind == GP_RBF ? "rbf" : "matern52", starts[i].name);
        double unit =
            starts[i].scale == GP_UNIT_CUBE ? sqrt((double)data.d) : 1;
        gp_case(&b, name, &gp, starts[i].l * unit, starts[i].v,
                starts[i].noise);
        compare(&b, ctx);
        gp_objective_clear(&gp);
        gp_data_clear(&data);
    }
}

int main(int argc, char **argv)
{
    static const char *const sets[] = {"yacht", "boston", "energy", "concrete"};
    const size_t n_sets = argc > 1 && strcmp(argv[1], "--full") == 0 ? 4 : 2;
    covar_context *ctx = covar_context_create();
    static bench_problem b;
    for (size_t i = 0; i < bench_plain_count(); i++) {
        bench_plain_get(&b, i);
        compare(&b, ctx);
    }
    const char *shared = getenv("COVAR_SHARED");
    if (!shared)
        printf("likelihoods: skipped, COVAR_SHARED is not set\n");
    for (size_t i = 0; shared && i < 2 * n_sets; i++) {
        char dir[512];
        snprintf(dir, sizeof(dir), "%s/data", shared);
        compare_set(dir, sets[i / 2], i % 2 ? GP_MATERN52 : GP_RBF, ctx);
    }
    covar_context_free(ctx);
    return 0;
}
