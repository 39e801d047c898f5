/* The map interpreter against one element at a time: random programs over
 * operands of all layouts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The naive evaluator calls the row functions with one element, so that stored
 * results, maxima and minima must agree to the bit; sums are compared with
 * long double.
 *
 * The file is longer than 400 lines: its cases share one evaluator. */
#include <config.h>

#include "linalg/map_table.h"
#include "test_util.h"

#include <covar/rng.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IN = 4, MAX_STEP = 14, MAX_OUT = 3, MAX_COUNT = 10000 };

typedef struct program {
    la_map_code code;
    la_map_step steps[MAX_STEP];
    la_map_result results[MAX_OUT];
    double constants[2];
    int rank;
    size_t dim[LA_MAX_DIMS];
    la_view in[MAX_IN], out[MAX_OUT];
    void *memory[MAX_IN + MAX_OUT];
} program;

static covar_rng stream;

static size_t draw(size_t n)
{
    double u;
    covar_rng_uniform(&u, 1, &stream);
    return (size_t)(u * (double)n);
}

static const uint8_t bounded_rows[] = {
    LA_ADD, LA_SUB, LA_MUL, LA_FMA, LA_MIN,    LA_MAX,  LA_ABS,   LA_NEG,
    LA_MUL, LA_ADD, LA_SUB, LA_EXP, LA_SQUARE, LA_TANH, LA_WHERE, LA_SIGMOID};

static void random_steps(program *p)
{
    la_map_code *c = &p->code;
    c->n_in = 1 + (int)draw(MAX_IN);
    c->n_const = (int)draw(3);
    c->n_step = (int)draw(MAX_STEP + 1);
    const int fixed = c->n_in + c->n_const;
    const int spare = 1 + (int)draw(6);
    int known = fixed;
    for (int i = 0; i < c->n_step; i++) {
        la_map_step *s = &p->steps[i];
        memset(s, 0, sizeof *s);
        s->row = bounded_rows[draw(NELEM(bounded_rows))];
        for (int k = 0; k < 3; k++)
            s->in[k] = (uint16_t)draw((size_t)known);
        if (s->row == LA_EXP) /* of what is surely bounded */
            s->in[0] = (uint16_t)draw((size_t)fixed);
        s->out = (uint16_t)(known - fixed < spare
                                ? known
                                : fixed + (int)draw((size_t)spare));
        known = s->out >= known ? s->out + 1 : known;
    }
    c->n_reg = known;
    c->constants = p->constants;
    c->steps = p->steps;
    c->results = p->results;
    p->constants[0] = 0.7;
    p->constants[1] = -1.25;
    c->n_result = 1 + (int)draw(MAX_OUT);
    for (int k = 0; k < c->n_result; k++) {
        const size_t kind = draw(8);
        p->results[k].reg =
            (uint16_t)(known - 1 - (int)draw((size_t)known) / 3);
        p->results[k].reduce = kind < 4 ? (la_reduce_kind)kind : LA_REDUCE_NONE;
        p->results[k].axes =
            p->results[k].reduce ? (unsigned)draw(1u << p->rank) : 0;
    }
}

static void random_dims(program *p)
{
    static const size_t sizes[] = {1, 2, 3, 5, 7, 16, 33, 64, 65, 130, 700};
    for (;;) {
        size_t count = 1;
        p->rank = (int)draw(5);
        for (int i = 0; i < p->rank; i++) {
            p->dim[i] = draw(40) == 0 ? 0 : sizes[draw(NELEM(sizes))];
            count *= p->dim[i] > 0 ? p->dim[i] : 1;
        }
        if (count <= MAX_COUNT)
            return;
    }
}

/* A view of dims `dim` over new memory, in a random layout. */
static la_view random_view(void **memory, la_dtype t, int rank,
                           const size_t *dim, bool plain)
{
    const size_t layout = plain ? 0 : draw(4);
    size_t order[LA_MAX_DIMS], wide[LA_MAX_DIMS], count = 1;
    ptrdiff_t stride[LA_MAX_DIMS];
    for (int i = 0; i < rank; i++)
        order[i] = layout == 1 ? (size_t)(rank - 1 - i) : (size_t)i;
    for (int i = rank; i-- > 0;) {
        const size_t d = order[i];
        wide[d] = layout == 2 ? 2 : layout == 3 && i == rank - 1 ? 3 : 1;
        stride[d] = (ptrdiff_t)(count * wide[d]);
        count *= wide[d] * (dim[d] > 0 ? dim[d] : 1);
    }
    char *p = calloc(count + 1, la_dtype_size(t));
    *memory = p;
    if (layout == 3 && rank > 0 && dim[0] > 1) { /* backwards */
        p += (ptrdiff_t)(dim[0] - 1) * stride[0] * (ptrdiff_t)la_dtype_size(t);
        stride[0] = -stride[0];
    }
    return la_view_strided(p, t, rank, dim, stride);
}

static void fill_random(la_view x)
{
    for (size_t i = 0; i < la_view_count(x); i++) {
        double u;
        covar_rng_uniform(&u, 1, &stream);
        la_view_set(x, i, 3 * u - 1.5);
    }
}

static void random_operands(program *p, bool in_place)
{
    for (int k = 0; k < p->code.n_in; k++) {
        size_t dim[LA_MAX_DIMS];
        const size_t kind = draw(5);
        for (int i = 0; i < p->rank; i++)
            dim[i] = kind == 0 && draw(2) == 0 ? 1 : p->dim[i];
        const int rank = kind == 1 ? 0 : p->rank;
        p->in[k] =
            random_view(&p->memory[k], p->code.dtype, rank, dim, draw(2) == 0);
        fill_random(p->in[k]);
    }
    for (int k = 0; k < p->code.n_result; k++) {
        size_t dim[LA_MAX_DIMS];
        int rank = 0;
        for (int i = 0; i < p->rank; i++)
            if (!(p->results[k].axes >> i & 1))
                dim[rank++] = p->dim[i];
        p->out[k] = random_view(&p->memory[MAX_IN + k], p->code.dtype, rank,
                                dim, draw(2) == 0);
    }
    /* the first two results take the places of inputs */
    for (int k = 0; in_place && k < 2 && k < p->code.n_result; k++)
        if (k < p->code.n_in && p->results[k].reduce == LA_REDUCE_NONE &&
            la_view_same_dims(p->in[k], p->out[k]))
            p->out[k] = p->in[k];
}

static void free_operands(program *p)
{
    for (size_t k = 0; k < NELEM(p->memory); k++) {
        free(p->memory[k]);
        p->memory[k] = NULL;
    }
}

/* All registers for element i of the space. */
static void naive(const program *p, const la_map_kernels *kernels, size_t i,
                  double *reg)
{
    const la_map_code *c = &p->code;
    for (int k = 0; k < c->n_in; k++) {
        la_view x;
        (void)la_view_broadcast(&x, p->in[k], p->rank, p->dim);
        reg[k] = la_view_get(x, i);
    }
    for (int k = 0; k < c->n_const; k++)
        reg[c->n_in + k] = c->dtype == LA_F32 ? (double)(float)c->constants[k]
                                              : c->constants[k];
    for (int k = 0; k < c->n_step; k++) {
        const la_map_step *s = &c->steps[k];
        double x64[4], y64 = 0;
        float x32[4], y32 = 0;
        const void *in[4];
        for (int j = 0; j < la_row_arity(s->row); j++) {
            x64[j] = reg[la_step_operand(s, j)];
            x32[j] = (float)x64[j];
            in[j] = c->dtype == LA_F64 ? (void *)&x64[j] : (void *)&x32[j];
        }
        void *out = c->dtype == LA_F64 ? (void *)&y64 : (void *)&y32;
        kernels->row[s->row](1, out, in, 0);
        reg[s->out] = c->dtype == LA_F64 ? y64 : (double)y32;
    }
}

/* Place of element i of the space in result k. */
static size_t place(const program *p, int k, size_t i)
{
    size_t at = 0, step = 1;
    for (int d = p->rank; d-- > 0; i /= p->dim[d])
        if (!(p->results[k].axes >> d & 1)) {
            at += i % p->dim[d] * step;
            step *= p->dim[d];
        }
    return at;
}

/* Expected results, and for sums the sum of absolute values. */
static void expected(const program *p, const la_map_kernels *kernels,
                     long double *want[], long double *size[])
{
    static const long double starts[] = {0, 0, -(long double)INFINITY,
                                         (long double)INFINITY};
    const la_view space = la_view_dense(NULL, LA_F64, p->rank, p->dim);
    for (int k = 0; k < p->code.n_result; k++)
        for (size_t i = 0; i < la_view_count(p->out[k]); i++) {
            want[k][i] = starts[p->results[k].reduce];
            size[k][i] = 0;
        }
    for (size_t i = 0; i < la_view_count(space); i++) {
        double reg[LA_MAP_MAX_REG];
        naive(p, kernels, i, reg);
        for (int k = 0; k < p->code.n_result; k++) {
            const long double v = reg[p->results[k].reg];
            long double *w = &want[k][place(p, k, i)];
            size[k][place(p, k, i)] += fabsl(v);
            switch (p->results[k].reduce) {
            case LA_REDUCE_SUM:
                *w += v;
                break;
            case LA_REDUCE_MAX:
                *w = fmaxl(*w, v);
                break;
            case LA_REDUCE_MIN:
                *w = fminl(*w, v);
                break;
            default:
                *w = v;
            }
        }
    }
}

static void compare(const program *p, int number, long double *want[],
                    long double *size[])
{
    for (int k = 0; k < p->code.n_result; k++)
        for (size_t i = 0; i < la_view_count(p->out[k]); i++) {
            const double got = la_view_get(p->out[k], i);
            const double eps =
                p->code.dtype == LA_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
            const bool sum = p->results[k].reduce == LA_REDUCE_SUM;
            const long double slack =
                sum ? 64 * (long double)DBL_EPSILON * size[k][i] +
                          eps * fabsl(want[k][i])
                    : 0;
            if (!test_check(fabsl(got - want[k][i]) <= slack ||
                                got == (double)want[k][i],
                            __FILE__, __LINE__,
                            "program %d, result %d (reduce %d), element %zu: "
                            "%.17g, not %.17Lg",
                            number, k, (int)p->results[k].reduce, i, got,
                            want[k][i]))
                return;
        }
}

/* By la_map_run, or bound before and run so many times. */
static covar_status run(covar_context *ctx, program *p, int threads, int times)
{
    la_exec exec = la_exec_cpu(ctx);
    exec.threads = threads;
    const size_t bytes = la_map_work_size(&p->code, p->rank, p->dim, threads);
    void *work = aligned_alloc(64, (bytes + 63) / 64 * 64);
    la_map_bound *b = malloc(la_map_bound_size(&p->code));
    covar_status s = COVAR_OK;
    if (times > 0) {
        s = la_map_bind(b, &exec, &p->code, p->rank, p->dim, p->in, p->out);
        for (int k = 0; k < times && s == COVAR_OK; k++)
            s = la_map_run_bound(b, p->in, p->out, work);
    } else {
        s = la_map_run(&exec, &p->code, p->rank, p->dim, p->in, p->out, work);
    }
    free(b);
    free(work);
    return s;
}

static long double pool[2][MAX_OUT][MAX_COUNT];

static void random_programs(la_dtype t, bool in_place, bool bound)
{
    covar_context *ctx = test_context();
    const la_map_kernels *kernels =
        la_map_kernels_of(covar_context_isa(ctx), t);
    long double *want[MAX_OUT], *size[MAX_OUT];
    for (int k = 0; k < MAX_OUT; k++) {
        want[k] = pool[0][k];
        size[k] = pool[1][k];
    }
    const int times = !bound ? 0 : in_place ? 1 : 2;
    for (int i = 0; i < (bound ? 600 : 120); i++) {
        program p = {.code = {.dtype = t}};
        random_dims(&p);
        random_steps(&p);
        random_operands(&p, in_place);
        expected(&p, kernels, want, size);
        if (TEST_OK(ctx, run(ctx, &p, 1 + i % 2, times)))
            compare(&p, i, want, size);
        free_operands(&p);
    }
    covar_context_free(ctx);
}

static void test_f64(void)
{
    stream = covar_rng_init(1, 0);
    random_programs(LA_F64, false, false);
}

static void test_f32(void)
{
    stream = covar_rng_init(2, 0);
    random_programs(LA_F32, false, false);
}

static void test_in_place(void)
{
    stream = covar_rng_init(3, 0);
    random_programs(LA_F64, true, false);
    random_programs(LA_F32, true, false);
}

/* A register that holds one value and is then overwritten by a whole block:
 * r = exp(a), r = r x, with a of rank 0. What is read must not be what is
 * being written, in any vector of the block. */
static void test_bound_register(void)
{
    enum { N = 100 };
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    const la_map_step steps[] = {{.row = LA_EXP, .out = 2, .in = {0}},
                                 {.row = LA_MUL, .out = 2, .in = {1, 2}},
                                 {.row = LA_ADD, .out = 3, .in = {2, 1}}};
    const la_map_result result = {.reg = 3};
    const la_map_code code = {.dtype = LA_F64,
                              .n_in = 2,
                              .n_step = 3,
                              .n_result = 1,
                              .n_reg = 4,
                              .steps = steps,
                              .results = &result};
    const size_t dim = N;
    const double a = 0.5;
    double x[N], y[N];
    for (size_t i = 0; i < N; i++)
        x[i] = 1 + (double)i;
    const la_view in[2] = {la_scalar_f64(&a), la_vec_f64(x, N)};
    const la_view out = la_vec_f64(y, N);
    void *work =
        aligned_alloc(64, (la_map_work_size(&code, 1, &dim, 1) + 63) / 64 * 64);
    la_map_bound *b = malloc(la_map_bound_size(&code));
    TEST_OK(ctx, la_map_bind(b, &exec, &code, 1, &dim, in, &out));
    TEST_OK(ctx, la_map_run_bound(b, in, &out, work));
    for (size_t i = 0; i < N; i++)
        TEST_CLOSE(y[i], x[i] * exp(a) + x[i], 1e-14);
    free(b);
    free(work);
    covar_context_free(ctx);
}

static void test_bound(void)
{
    stream = covar_rng_init(4, 0);
    for (int k = 0; k < 4; k++)
        random_programs(k % 2 ? LA_F32 : LA_F64, k >= 2, true);
}

/* ---- optimised programs -----------------------------------------------------
 */

/* The largest value that each register can have had: bounds its error. */
static double magnitude(const program *p)
{
    double m[LA_MAP_MAX_REG], top = 2;
    const size_t n = (size_t)(p->code.n_in + p->code.n_const);
    for (size_t k = 0; k < n; k++)
        m[k] = 2;
    for (int k = 0; k < p->code.n_step; k++) {
        const la_map_step *s = &p->code.steps[k];
        const double a = m[s->in[0]], b = m[s->in[1]], c = m[s->in[2]];
        switch (s->row) {
        case LA_MUL:
            m[s->out] = a * b;
            break;
        case LA_FMA:
            m[s->out] = a * b + c;
            break;
        case LA_SQUARE:
            m[s->out] = a * a;
            break;
        case LA_EXP: /* of an operand */
            m[s->out] = 20;
            break;
        default:
            m[s->out] = a + b + c;
        }
        top = m[s->out] > top ? m[s->out] : top;
    }
    return top;
}

static bool is_smooth(const program *p)
{
    for (int k = 0; k < p->code.n_step; k++)
        if (p->steps[k].row == LA_WHERE)
            return false;
    return true;
}

static void test_optimised(void)
{
    covar_context *ctx = test_context();
    int shorter = 0;
    stream = covar_rng_init(4, 0);
    for (int i = 0; i < 300; i++) {
        program p = {.code = {.dtype = i % 2 ? LA_F32 : LA_F64}};
        random_dims(&p);
        random_steps(&p);
        for (int k = 0; k < p.code.n_result; k++) {
            p.results[k].reduce = LA_REDUCE_NONE;
            p.results[k].axes = 0;
        }
        if (!is_smooth(&p))
            continue;
        random_operands(&p, false);
        TEST_OK(ctx, run(ctx, &p, 1, 0));
        const size_t n = la_view_count(p.out[0]);
        double *plain = calloc(n + 1, sizeof(double));
        for (size_t j = 0; j < n; j++)
            plain[j] = la_view_get(p.out[0], j);
        const double slack = magnitude(&p);
        const int steps = la_map_optimise(p.steps, p.code.n_step, &p.code);
        shorter += steps < p.code.n_step;
        p.code.n_step = steps;
        TEST_OK(ctx, run(ctx, &p, 1, 0));
        const double eps = i % 2 ? (double)FLT_EPSILON : DBL_EPSILON;
        for (size_t j = 0; j < n; j++)
            if (!test_check(fabs(la_view_get(p.out[0], j) - plain[j]) <=
                                20 * eps * slack,
                            __FILE__, __LINE__,
                            "program %d, element %zu: %g, not %g", i, j,
                            la_view_get(p.out[0], j), plain[j]))
                break;
        free(plain);
        free_operands(&p);
    }
    test_check(shorter > 20, __FILE__, __LINE__, "only %d shorter programs",
               shorter);
    covar_context_free(ctx);
}

/* |((a x + b) y - z) w| + c y, as an unoptimised emitter writes it. */
static const la_map_step chain[] = {
    {LA_MUL, 7, {0, 4, 0}}, {LA_ADD, 7, {7, 5, 0}}, {LA_MUL, 7, {7, 1, 0}},
    {LA_SUB, 7, {7, 2, 0}}, {LA_MUL, 7, {7, 3, 0}}, {LA_ABS, 7, {7, 0, 0}},
    {LA_MUL, 8, {1, 6, 0}}, {LA_ADD, 8, {7, 8, 0}}};

/* tanh(a x + b) sigmoid(c x) + y */
static const la_map_step gate[] = {
    {LA_MUL, 7, {0, 4, 0}}, {LA_ADD, 7, {7, 5, 0}},     {LA_TANH, 7, {7, 0, 0}},
    {LA_MUL, 8, {0, 6, 0}}, {LA_SIGMOID, 8, {8, 0, 0}}, {LA_MUL, 7, {7, 8, 0}},
    {LA_ADD, 8, {7, 1, 0}}};

static void test_chain(void)
{
    la_map_step steps[NELEM(chain)];
    const la_map_result result = {.reg = 8};
    const la_map_code code = {.dtype = LA_F64,
                              .n_in = 4,
                              .n_const = 3,
                              .n_step = NELEM(chain),
                              .n_result = 1,
                              .n_reg = 9,
                              .steps = steps,
                              .results = &result};
    memcpy(steps, chain, sizeof chain);
    TEST_INT(la_map_optimise(steps, NELEM(chain), &code), 3);
    TEST_INT(steps[0].row, LA_SUPER_FMA_MUL);
    TEST_INT(steps[1].row, LA_SUPER_SUB_MUL);
    TEST_INT(steps[2].row, LA_SUPER_ABS_FMA);
    memcpy(steps, gate, sizeof gate);
    TEST_INT(la_map_optimise(steps, NELEM(gate), &code), 2);
    TEST_INT(steps[0].row, LA_SUPER_FMA_TANH);
    TEST_INT(steps[1].row, LA_SUPER_MUL_SIGMOID_FMA);
}

/* A register that is read twice, or is a result, must stay. */
static void test_not_fused(void)
{
    const la_map_result both[] = {{.reg = 2}, {.reg = 3}};
    la_map_step steps[] = {{LA_MUL, 2, {0, 1, 0}}, {LA_ADD, 3, {2, 0, 0}}};
    la_map_code code = {.dtype = LA_F64,
                        .n_in = 2,
                        .n_step = 2,
                        .n_result = 2,
                        .n_reg = 4,
                        .steps = steps,
                        .results = both};
    TEST_INT(la_map_optimise(steps, 2, &code), 2);
    la_map_step square[] = {{LA_ADD, 2, {0, 1, 0}}, {LA_MUL, 3, {2, 2, 0}}};
    code.n_result = 1;
    code.results = &both[1];
    TEST_INT(la_map_optimise(square, 2, &code), 2);
    /* register 2 is an operand that changes in between */
    la_map_step moved[] = {{LA_ABS, 2, {0, 0, 0}},
                           {LA_MUL, 3, {2, 1, 0}},
                           {LA_NEG, 2, {1, 0, 0}},
                           {LA_ADD, 3, {3, 2, 0}}};
    TEST_INT(la_map_optimise(moved, 4, &code), 4);
}

/* ---- threads
 * ------------------------------------------------------------------ */

static void one_shape(covar_context *ctx, la_dtype t, const size_t *dim,
                      unsigned axes)
{
    enum { N = 200000 };
    const size_t size = la_dtype_size(t), count = dim[0] * dim[1];
    const la_map_step steps[] = {{LA_EXP, 2, {0, 0, 0}},
                                 {LA_MUL, 3, {2, 1, 0}}};
    const la_map_result results[] = {
        {.reg = 3}, {3, LA_REDUCE_SUM, axes}, {2, LA_REDUCE_MAX, axes}};
    const la_map_code code = {.dtype = t,
                              .n_in = 2,
                              .n_step = 2,
                              .n_result = 3,
                              .n_reg = 4,
                              .steps = steps,
                              .results = results};
    const size_t kept = (axes & 1 ? 1 : dim[0]) * (axes & 2 ? 1 : dim[1]);
    char *memory = calloc(2 * count + 2 * (count + 2 * kept), size);
    char *a = memory + 2 * count * size, *b = a + (count + 2 * kept) * size;
    const la_view in[] = {la_view_dense(memory, t, 2, dim),
                          la_view_dense(memory + count * size, t, 2, dim)};
    fill_random(in[0]);
    fill_random(in[1]);
    for (int k = 0; k < 2; k++) {
        char *p = k ? b : a;
        size_t out_dim[2];
        int rank = 0;
        la_exec exec = la_exec_cpu(ctx);
        for (int i = 0; i < 2; i++)
            if (!(axes >> i & 1))
                out_dim[rank++] = dim[i];
        const la_view out[] = {
            la_view_dense(p, t, 2, dim),
            la_view_dense(p + count * size, t, rank, out_dim),
            la_view_dense(p + (count + kept) * size, t, rank, out_dim)};
        exec.threads = k ? 3 : 1;
        void *work = aligned_alloc(
            64, (la_map_work_size(&code, 2, dim, 3) + 63) / 64 * 64);
        TEST_OK(ctx, la_map_run(&exec, &code, 2, dim, in, out, work));
        free(work);
    }
    TEST_SAME_BITS(a, b, count + 2 * kept, size);
    free(memory);
}

static void test_threads(void)
{
    static const size_t dims[][2] = {
        {1, 150001}, {300, 501}, {50001, 3}, {3, 50001}, {2000, 70}};
    covar_context *ctx = test_context();
    stream = covar_rng_init(5, 0);
    for (size_t i = 0; i < NELEM(dims); i++)
        for (unsigned axes = 0; axes < 4; axes++) {
            one_shape(ctx, LA_F64, dims[i], axes);
            one_shape(ctx, LA_F32, dims[i], axes);
        }
    covar_context_free(ctx);
}

/* ---- errors
 * ------------------------------------------------------------------- */

static void test_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    double x[12] = {0}, y[12];
    float f[3] = {0};
    la_map_step step = {LA_ADD, 2, {0, 1, 0}};
    const la_map_result result = {.reg = 2};
    la_map_code code = {.dtype = LA_F64,
                        .n_in = 2,
                        .n_step = 1,
                        .n_result = 1,
                        .n_reg = 3,
                        .steps = &step,
                        .results = &result};
    const size_t dim[] = {3};
    la_view in[] = {la_vec_f64(x, 3), la_vec_f64(x + 3, 3)};
    la_view out = la_vec_f64(y, 3);

    TEST_OK(ctx, la_map_run(&exec, &code, 1, dim, in, &out, NULL));
    in[1] = la_vec_f64(x, 4);
    TEST_STATUS(ctx, la_map_run(&exec, &code, 1, dim, in, &out, NULL),
                COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(ctx), "input 1 is f64 4 but f64 3");
    in[1] = la_vec_f32(f, 3);
    TEST_STATUS(ctx, la_map_run(&exec, &code, 1, dim, in, &out, NULL),
                COVAR_ERR_DTYPE);
    in[1] = la_vec_f64(x, 3);
    out = la_vec_f64(x + 1, 3);
    TEST_STATUS(ctx, la_map_run(&exec, &code, 1, dim, in, &out, NULL),
                COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "overlaps");
    out = la_vec_f64(y, 2);
    TEST_STATUS(ctx, la_map_run(&exec, &code, 1, dim, in, &out, NULL),
                COVAR_ERR_SHAPE);
    out = la_vec_f64(y, 3);
    step.in[1] = 2;
    TEST_STATUS(ctx, la_map_run(&exec, &code, 1, dim, in, &out, NULL),
                COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "never written");
    step.in[1] = 1;
    step.row = 9999;
    TEST_STATUS(ctx, la_map_run(&exec, &code, 1, dim, in, &out, NULL),
                COVAR_ERR_ARG);
    step.row = LA_ADD;
    step.out = 0;
    TEST_STATUS(ctx, la_map_run(&exec, &code, 1, dim, in, &out, NULL),
                COVAR_ERR_ARG);
    TEST_STATUS(ctx, la_map(&exec, LA_MAP_COUNT, out, in), COVAR_ERR_ARG);
    covar_context_free(ctx);
}

/* Two results that change places with the inputs. */
static void test_swap(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = la_exec_cpu(ctx);
    double x[70], y[70];
    const la_map_result results[] = {{.reg = 1}, {.reg = 0}};
    const la_map_code code = {.dtype = LA_F64,
                              .n_in = 2,
                              .n_result = 2,
                              .n_reg = 2,
                              .results = results};
    const size_t dim[] = {70};
    const la_view both[] = {la_vec_f64(x, 70), la_vec_f64(y, 70)};
    for (int i = 0; i < 70; i++) {
        x[i] = i;
        y[i] = -i;
    }
    TEST_OK(ctx, la_map_run(&exec, &code, 1, dim, both, both, NULL));
    for (int i = 0; i < 70; i++)
        test_check(x[i] == -i && y[i] == i, __FILE__, __LINE__,
                   "element %d: %g %g", i, x[i], y[i]);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"random programs, f64", test_f64},
        {"random programs, f32", test_f32},
        {"random programs in place", test_in_place},
        {"random programs, bound", test_bound},
        {"a bound register", test_bound_register},
        {"optimised programs", test_optimised},
        {"chains become super rows", test_chain},
        {"what must not be fused", test_not_fused},
        {"bits do not depend on threads", test_threads},
        {"two results change places", test_swap},
        {"errors", test_errors},
    };
    return CUTAP_RUN("linalg interp", cases);
}
