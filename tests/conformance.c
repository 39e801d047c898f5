/* The conformance suite's driver and its subjects: see conformance.h.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "conformance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <covar/rng.h>

/* ---- Subjects ----------------------------------------------------------- */

bool subject_check(subject *s, bool good, const char *format, ...)
{
    char text[512];
    va_list args;
    s->n_check++;
    if (good)
        return test_check(true, __FILE__, __LINE__, "%s", "");
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return test_check(false, __FILE__, __LINE__,
                      "%s variant %d n %zu batch %zu %s: %s", s->e.op->name,
                      s->e.variant, s->n, s->e.n_batch, la_dtype_name(s->dtype),
                      text);
}

static void add_leaf(subject *s, ad_node *x, double *value, double *direction)
{
    s->leaf[s->n_leaf] = x;
    s->value[s->n_leaf] = value;
    s->direction[s->n_leaf++] = direction;
}

bool subject_init(subject *s, covar_context *ctx, const ad_op *op, size_t n,
                  la_dtype dtype, int variant, size_t n_batch)
{
    *s = (subject){.ctx = ctx, .n = n, .dtype = dtype};
    covar_error_clear(ctx);
    covar_status status =
        ad_example_init(&s->e, ctx, op, n, dtype, variant, n_batch);
    bool past_last = status == COVAR_ERR_ARG && variant > 0 &&
                     covar_error_status(ctx) == COVAR_OK;
    if (status != COVAR_OK && !past_last)
        test_check(false, __FILE__, __LINE__, "%s variant %d n %zu: %s: %s",
                   op->name, variant, n, covar_status_name(status),
                   covar_error_text(ctx));
    if (status != COVAR_OK)
        return false;
    for (int i = 0; i < s->e.n_in; i++)
        add_leaf(s, s->e.in[i].node, s->e.in[i].value, s->e.in[i].direction);
    return true;
}

void subject_clear(subject *s)
{
    for (int i = s->e.n_in; i < s->n_leaf; i++)
        free(s->value[i]);
    ad_example_clear(&s->e);
}

static size_t type_count(const ad_type *t)
{
    size_t count = 1, n;
    for (int k = 0; k < t->rank; k++)
        count *= ad_dim_is_fixed(t->dim[k], &n) ? n : 0;
    return count;
}

ad_node *subject_leaf(subject *s, const ad_node *x, const char *name,
                      uint64_t seed)
{
    const ad_type *t = ad_node_type(x, 0);
    size_t count = type_count(t);
    ad_node *leaf = ad_input(s->e.g, name, t->dtype, t->rank, t->dim);
    double *value = malloc((count + 1) * sizeof(double));
    covar_rng rng = covar_rng_init(seed, 99);
    covar_rng_normal(value, count, &rng);
    add_leaf(s, leaf, value, NULL);
    return leaf;
}

/* Leaf i at value + t direction, as a new array. */
static covar_status bind(subject *s, int i, double t, la_array **out)
{
    const ad_type *type = ad_node_type(s->leaf[i], 0);
    la_exec exec = la_exec_cpu(s->ctx);
    size_t dim[LA_MAX_DIMS] = {0};
    for (int k = 0; k < type->rank; k++)
        ad_dim_is_fixed(type->dim[k], &dim[k]);
    COVAR_TRY(la_array_create(out, &exec, type->dtype, type->rank, dim));
    la_view v = la_array_view(*out);
    for (size_t k = 0; k < la_view_count(v); k++) {
        double d = s->direction[i] ? s->direction[i][k] : 0;
        la_view_set(v, k, s->value[i][k] + t * d);
    }
    return COVAR_OK;
}

static covar_status evaluate(subject *s, ad_node *const *y, size_t n, double t,
                             la_array **out)
{
    la_array *array[SUBJECT_MAX_LEAF] = {NULL};
    la_view view[SUBJECT_MAX_LEAF];
    covar_status status = ad_graph_error(s->e.g);
    for (int i = 0; status == COVAR_OK && i < s->n_leaf; i++) {
        status = bind(s, i, t, &array[i]);
        if (status == COVAR_OK)
            view[i] = la_array_view(array[i]);
    }
    if (status == COVAR_OK)
        status =
            ad_evaluate(s->e.g, s->leaf, view, (size_t)s->n_leaf, y, n, out);
    for (int i = 0; i < s->n_leaf; i++)
        la_array_free(array[i]);
    return status;
}

bool subject_evaluate(subject *s, ad_node *const *y, size_t n, double t,
                      la_array **out)
{
    covar_status status = evaluate(s, y, n, t, out);
    return subject_check(s, status == COVAR_OK, "evaluation: %s: %s",
                         covar_status_name(status), covar_error_text(s->ctx));
}

double *subject_values(subject *s, ad_node *y, double t, size_t *count)
{
    la_array *array;
    if (!y || !subject_evaluate(s, &y, 1, t, &array))
        return NULL;
    la_view v = la_array_view(array);
    double *x = malloc((la_view_count(v) + 1) * sizeof(double));
    *count = la_view_count(v);
    for (size_t i = 0; i < *count; i++)
        x[i] = la_view_get(v, i);
    la_array_free(array);
    return x;
}

bool subject_is_smooth(const subject *s)
{
    bool any = false;
    for (int i = 0; i < s->e.n_in; i++)
        any = any || s->e.in[i].smooth;
    return any && la_dtype_is_real(ad_node_type(s->e.y, 0)->dtype);
}

double max_abs(const double *x, size_t n)
{
    double m = 0;
    for (size_t i = 0; i < n; i++)
        m = fmax(m, fabs(x[i]));
    return m;
}

double max_gap(const double *a, const double *b, size_t n)
{
    double m = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(a[i]) != isnan(b[i]))
            return INFINITY;
        if (!isnan(a[i]) && a[i] != b[i])
            m = fmax(m, fabs(a[i] - b[i]));
    }
    return m;
}

/* ---- The driver --------------------------------------------------------- */

/* How many variants the example has; 0 when it is broken. */
static int count_variants(covar_context *ctx, const ad_op *op)
{
    subject s;
    int v = 0;
    while (v < 64 && subject_init(&s, ctx, op, 2, LA_F64, v, 0)) {
        subject_clear(&s);
        v++;
    }
    return v;
}

static void check_struct(const ad_op *op)
{
    bool composite = (op->flags & AD_COMPOSITE) != 0;
    bool row = (op->flags & AD_ELEMENTWISE) != 0;
    test_check(op->abi == AD_OP_ABI && op->name && op->formula, __FILE__,
               __LINE__, "%s: abi, name or formula missing", op->name);
    test_check(op->infer != NULL, __FILE__, __LINE__, "%s: no infer", op->name);
    test_check(op->eval || composite || row || op->views >= 0 ||
                   op == &ad_op_out,
               __FILE__, __LINE__, "%s: nothing evaluates it", op->name);
    test_check(!composite || op->expand, __FILE__, __LINE__,
               "%s: a composite without expand", op->name);
    test_check(op->views < 0 || op->view, __FILE__, __LINE__,
               "%s: a view without view", op->name);
}

static void run(const void *data)
{
    const ad_op *op = data;
    check_struct(op);
    if (!test_check(op->example != NULL, __FILE__, __LINE__,
                    "%s has no example: the suite cannot test it", op->name))
        return;
    covar_context *ctx = test_context();
    int n = count_variants(ctx, op);
    test_check(n > 0, __FILE__, __LINE__, "%s: no variant works", op->name);
    size_t value = 0, first = 0, second = 0;
    for (int v = 0; v < n; v++) {
        value += conformance_values(ctx, op, v);
        value += conformance_threads(ctx, op, v);
        value += conformance_in_place(ctx, op, v);
        value += conformance_bad_input(ctx, op, v);
        first += conformance_first(ctx, op, v);
        second += conformance_second(ctx, op, v);
    }
    size_t sweep = n > 0 ? conformance_memory(op, 0) : 0;
    if (n > 1)
        sweep += conformance_memory(op, n - 1);
    cutap_note("%s: %d variants; %zu value, %zu first, %zu second order "
               "checks, %zu failed allocations",
               op->name, n, value, first, second, sweep);
    covar_context_free(ctx);
}

void conformance_add(const char *suite, const ad_op *const *ops)
{
    const char *only = getenv("COVAR_ONLY");
    for (; *ops; ops++)
        if (only && strcmp(only, (*ops)->name) != 0)
            continue;
        else if (!((*ops)->flags & AD_LEAF))
            cutap_add(suite, (*ops)->name, run, *ops);
}
