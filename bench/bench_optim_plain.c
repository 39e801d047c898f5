/* Textbook functions for bench_optim: Rosenbrock, a quadratic, a barrier.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rosenbrock of n coordinates: sum 100 (x_i+1 - x_i^2)^2 + (1 - x_i)^2, from
 * (-1.2, 1, -1.2, 1, ...). Source of the function and its start: More,
 * Garbow, Hillstrom 1981, problems 1 and 21. */
#include "config.h"

#include "bench_optim.h"

#include <math.h>

#define NELEM(array) (sizeof(array) / sizeof((array)[0]))

static covar_status rosenbrock(double *f, double *g, const double *x, size_t n,
                               void *data)
{
    (void)data;
    *f = 0;
    for (size_t i = 0; g && i < n; i++)
        g[i] = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        *f += 100 * a * a + b * b;
        if (g) {
            g[i] += -400 * a * x[i] - 2 * b;
            g[i + 1] += 200 * a;
        }
    }
    return COVAR_OK;
}

/* sum c_i (x_i - 1)^2 / 2 with c_i from 1 to 1e6, evenly in the logarithm. */
static covar_status quadratic(double *f, double *g, const double *x, size_t n,
                              void *data)
{
    (void)data;
    *f = 0;
    for (size_t i = 0; i < n; i++) {
        const double c = pow(1e6, (double)i / (double)(n - 1));
        *f += 0.5 * c * (x[i] - 1) * (x[i] - 1);
        if (g)
            g[i] = c * (x[i] - 1);
    }
    return COVAR_OK;
}

/* -log det of a banded matrix that is not positive definite everywhere, in
 * small: sum x_i^2 / 2 - log(x_i - x_i-1 ^ 2 / 4) only where the logarithm
 * exists; elsewhere the factorisation fails. */
static covar_status barrier(double *f, double *g, const double *x, size_t n,
                            void *data)
{
    (void)data;
    *f = 0;
    for (size_t i = 0; g && i < n; i++)
        g[i] = 0;
    for (size_t i = 0; i < n; i++) {
        const double before = i > 0 ? x[i - 1] : 0;
        const double pivot = x[i] - 0.25 * before * before;
        if (!(pivot > 0))
            return COVAR_ERR_NOT_PD;
        *f += 50 * x[i] * x[i] - 0.01 * log(pivot);
        if (g) {
            g[i] += 100 * x[i] - 0.01 / pivot;
            if (i > 0)
                g[i - 1] += 0.01 * 0.5 * before / pivot;
        }
    }
    return COVAR_OK;
}

typedef struct plain {
    const char *name;
    size_t n;
    ad_objective_fn *eval;
    double start_even, start_odd, lower, upper;
    double known;
} plain;

static const plain table[] = {
    {"rosenbrock 2", 2, rosenbrock, -1.2, 1, -INFINITY, INFINITY, 0},
    {"rosenbrock 10", 10, rosenbrock, -1.2, 1, -INFINITY, INFINITY, NAN},
    {"rosenbrock 100", 100, rosenbrock, -1.2, 1, -INFINITY, INFINITY, NAN},
    {"rosenbrock 2 in [-1.5, .5]", 2, rosenbrock, -1.2, 0.4, -1.5, 0.5, 0.25},
    {"rosenbrock 10 in [-1.5, .5]", 10, rosenbrock, -1.2, 0.4, -1.5, 0.5, NAN},
    {"rosenbrock 100 in [.9, 1.5]", 100, rosenbrock, 1.4, 0.95, 0.9, 1.5, 0},
    {"quadratic 20, condition 1e6", 20, quadratic, 0, 0, -INFINITY, INFINITY,
     0},
    {"quadratic 20, bounded", 20, quadratic, 0, 0, -1, 0.5, NAN},
    {"log barrier 10", 10, barrier, 1, 1, -INFINITY, INFINITY, NAN},
};

size_t bench_plain_count(void)
{
    return NELEM(table);
}

void bench_plain_get(bench_problem *out, size_t i)
{
    const plain *p = &table[i];
    *out = (bench_problem){
        .name = p->name,
        .problem = {.n = p->n, .eval = p->eval},
        .known = p->known,
    };
    for (size_t j = 0; j < p->n; j++) {
        out->lower[j] = p->lower;
        out->upper[j] = p->upper;
        out->start[j] = j % 2 == 0 ? p->start_even : p->start_odd;
    }
}
