/* Random arrays by counter: element e depends on (seed, stream, step, e) only.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * f64 values are bit for bit those of covar_rng_uniform and covar_rng_normal
 * on the stream (stream << 32 | step). f32 values come from the same numbers:
 * a uniform is cut (not rounded, which could give 1) to 24 bits, a normal is
 * rounded. Chunks have an even number of elements, because one Philox block
 * makes two, so any thread may start anywhere. */
#include <config.h>

#include "linalg/check.h"

#include <covar/rng.h>

#include <math.h>

enum { CHUNK = 2048 };

typedef struct random_args {
    la_random_kind kind;
    la_view out;
    uint64_t seed, stream;
} random_args;

static void draw(const random_args *r, double *out, size_t start, size_t n)
{
    covar_rng rng = covar_rng_init(r->seed, r->stream);
    rng.index = start / 2;
    if (r->kind == LA_UNIFORM)
        covar_rng_uniform(out, n, &rng);
    else
        covar_rng_normal(out, n, &rng);
}

static void fill_chunk(const random_args *r, size_t start, size_t n)
{
    if (r->out.dtype == LA_F64) {
        draw(r, (double *)r->out.data + start, start, n);
        return;
    }
    double buffer[CHUNK];
    float *out = (float *)r->out.data + start;
    draw(r, buffer, start, n);
    for (size_t i = 0; i < n; i++)
        out[i] = r->kind == LA_UNIFORM
                     ? (float)(floor(buffer[i] * 0x1p24) * 0x1p-24)
                     : (float)buffer[i];
}

covar_status la_cpu_random(const la_exec *exec, la_random_kind kind,
                           la_view out, la_view key, uint32_t stream)
{
    const int32_t *word = key.data;
    const uint64_t high = (uint32_t)word[1], step = (uint32_t)word[2];
    const random_args args = {kind, out, high << 32 | (uint32_t)word[0],
                              (uint64_t)stream << 32 | step};
    const size_t count = la_view_count(out);
    const size_t chunks = (count + CHUNK - 1) / CHUNK;
    (void)exec;
#pragma omp parallel for num_threads(exec->threads)                            \
    schedule(static) if (chunks > 8 && exec->threads > 1)
    for (size_t c = 0; c < chunks; c++) {
        const size_t start = c * CHUNK;
        fill_chunk(&args, start, count - start < CHUNK ? count - start : CHUNK);
    }
    return COVAR_OK;
}

covar_status la_random(const la_exec *exec, la_random_kind kind, la_view out,
                       la_view key, uint32_t stream)
{
    static const char who[] = "la_random";
    COVAR_TRY(la_check_output(exec, who, "out", out, 0));
    COVAR_TRY(la_check_i32(exec, who, "key", key));
    if (key.dim[0] != 3)
        return la_fail_shape(exec, who, "key", key, "out", out,
                             "a key is {seed low, seed high, step}");
    if (!la_view_is_dense(out))
        return la_fail_shape(exec, who, "out", out, "key", key,
                             "out must be dense");
    if (kind != LA_UNIFORM && kind != LA_NORMAL)
        return covar_fail(exec->ctx, COVAR_ERR_ARG, "%s: no kind %d", who,
                          (int)kind);
    return la_device_of(exec)->random(exec, kind, out, key, stream);
}
