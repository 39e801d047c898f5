/* Random numbers from a key, and the next key.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A key is i32 (3): seed low, seed high, step. random: element e is number e
 * of the Philox stream (stream, step) of that seed, whatever the number of
 * threads. rng_next: the key of the following step. Neither has a derivative:
 * what depends on random numbers is differentiated for fixed numbers. */
#include "config.h"

#include "autodiff/ops/ops.h"

static const ad_field random_fields[] = {
    {"kind", AD_FIELD_INT, offsetof(ad_random_fields, kind)},
    {"dtype", AD_FIELD_INT, offsetof(ad_random_fields, dtype)},
    {"stream", AD_FIELD_INT, offsetof(ad_random_fields, stream)},
    {"dims", AD_FIELD_DIMS, offsetof(ad_random_fields, dims)},
    {NULL, AD_FIELD_INT, 0},
};

static const ad_random_fields *fields_of(const ad_node *y)
{
    return y->fields;
}

static covar_status need_key(ad_node *y)
{
    const ad_type *key = ad_in_type(y, 0);
    size_t n;
    if (key->dtype == LA_I32 && key->rank == 1 &&
        ad_dim_is_fixed(key->dim[0], &n) && n == 3)
        return COVAR_OK;
    return ad_node_fail(y, COVAR_ERR_SHAPE, "the key is %s, not i32 (3)",
                        ad_in_text(y, 0).s);
}

static covar_status infer(ad_node *y)
{
    const ad_random_fields *f = fields_of(y);
    ad_type t = {.dtype = (la_dtype)f->dtype, .rank = f->dims.rank};
    COVAR_TRY(need_key(y));
    if (!la_dtype_is_real(t.dtype))
        return ad_node_fail(y, COVAR_ERR_DTYPE, "%s numbers: f32 or f64 only",
                            la_dtype_name(t.dtype));
    for (int k = 0; k < t.rank; k++)
        t.dim[k] = f->dims.dim[k];
    ad_node_set_type(y, 0, &t);
    return COVAR_OK;
}

static covar_status eval(const ad_call *c)
{
    const ad_random_fields *f = fields_of(c->node);
    return la_random(c->exec, (la_random_kind)f->kind, c->out[0], c->x[0],
                     (uint32_t)f->stream);
}

static ad_node *draw(ad_rng *rng, la_random_kind kind, la_dtype dtype, int rank,
                     const ad_dim *dim)
{
    ad_random_fields f = {kind, dtype, 0, {.rank = rank}};
    if (!rng || !rng->key ||
        !ad_have_dims(rng->key->graph, "random", rank, dim))
        return NULL;
    for (int k = 0; k < rank; k++)
        f.dims.dim[k] = dim[k];
    f.stream = rng->next_stream++;
    return ad_apply(NULL, &ad_op_random, 1, &rng->key, &f);
}

/* Variants: normal, uniform. */
static covar_status example(ad_example *e, size_t n, la_dtype dtype)
{
    COVAR_TRY(ad_example_variants(e, 2));
    static const size_t three = 3;
    ad_rng rng = {.key = ad_example_input(e, LA_I32, 1, &three, AD_DRAW_KEY)};
    ad_dim dim[2] = {ad_fixed(n), ad_fixed(3)};
    la_random_kind kind = ad_example_variant(e) ? LA_UNIFORM : LA_NORMAL;
    return ad_example_result(e, draw(&rng, kind, dtype, 2, dim));
}

const ad_op ad_op_random = {
    .abi = AD_OP_ABI,
    .name = "random",
    .formula = "numbers 0, 1, ... of the key's stream",
    .source = "Salmon et al. 2011; Box & Muller 1958",
    .n_in = 1,
    .n_out = 1,
    .fields = random_fields,
    .fields_size = sizeof(ad_random_fields),
    .flags = AD_RANDOM,
    .views = -1,
    .infer = infer,
    .eval = eval,
    .example = example,
};

ad_node *ad_normal(ad_rng *rng, la_dtype dtype, int rank, const ad_dim *dim)
{
    return draw(rng, LA_NORMAL, dtype, rank, dim);
}

ad_node *ad_uniform(ad_rng *rng, la_dtype dtype, int rank, const ad_dim *dim)
{
    return draw(rng, LA_UNIFORM, dtype, rank, dim);
}

/* ---- Keys --------------------------------------------------------------- */

static covar_status infer_next(ad_node *y)
{
    COVAR_TRY(need_key(y));
    ad_node_set_type(y, 0, ad_in_type(y, 0));
    return COVAR_OK;
}

static covar_status eval_next(const ad_call *c)
{
    COVAR_TRY(ad_eval_start(c, 0));
    uint32_t step = (uint32_t)(int32_t)la_view_get(c->x[0], 2) + 1u;
    return la_fill(c->exec, la_view_slice(c->out[0], 0, 2, 1),
                   (double)(int32_t)step);
}

static covar_status example_next(ad_example *e, size_t n, la_dtype dtype)
{
    (void)n, (void)dtype;
    COVAR_TRY(ad_example_variants(e, 1));
    static const size_t three = 3;
    ad_rng rng = {.key = ad_example_input(e, LA_I32, 1, &three, AD_DRAW_KEY)};
    return ad_example_result(e, ad_rng_next(&rng));
}

const ad_op ad_op_rng_next = {
    .abi = AD_OP_ABI,
    .name = "rng_next",
    .formula = "the key with its step + 1",
    .n_in = 1,
    .n_out = 1,
    .views = -1,
    .overwrites = 1,
    .infer = infer_next,
    .eval = eval_next,
    .example = example_next,
};

ad_rng ad_rng_create(ad_graph *g, const char *name, uint64_t seed)
{
    uint32_t word[3] = {(uint32_t)seed, (uint32_t)(seed >> 32), 0};
    int32_t key[3] = {(int32_t)word[0], (int32_t)word[1], 0};
    return (ad_rng){.key = ad_param(g, name, la_vec_i32(key, 3))};
}

ad_node *ad_rng_next(const ad_rng *rng)
{
    return rng ? ad_apply(NULL, &ad_op_rng_next, 1, &rng->key, NULL) : NULL;
}
