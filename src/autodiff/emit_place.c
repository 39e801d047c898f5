/* Places: where each value lies while instructions are emitted.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A view is made when its first reader is emitted. Where an operator cannot
 * make its view of x as x lies, or a reader needs another layout, x is first
 * copied densely; the copy serves all later readers. */
#include "config.h"

#include "autodiff/emit_impl.h"

/* Origin of storages without an address: only differences to it count. */
static char *nowhere(void)
{
    return (char *)(uintptr_t)(UINT64_C(1) << 44);
}

covar_status ad_emit_dims(const ad_emitter *e, const ad_type *type, size_t *dim)
{
    for (int k = 0; k < type->rank; k++) {
        covar_status status =
            ad_dim_eval(e->p->g, type->dim[k], e->plan->symbol, &dim[k]);
        if (status != COVAR_OK) {
            char text[96];
            return covar_fail(e->r->ctx, status,
                              "ad_run: dim %s has no size here",
                              ad_dim_text(text, sizeof(text), type->dim[k]));
        }
    }
    return COVAR_OK;
}

uint32_t ad_emit_storage(ad_emitter *e, uint32_t base, void *origin,
                         size_t bytes)
{
    e->storage[e->n_storage] = (ad_storage){
        .base = base,
        .origin = base == AD_FIXED ? origin : nowhere(),
        .bytes = bytes,
        .birth = UINT32_MAX,
    };
    return (uint32_t)e->n_storage++;
}

covar_status ad_emit_temporary(ad_emitter *e, const ad_type *type,
                               ad_place *place)
{
    size_t dim[LA_MAX_DIMS];
    COVAR_TRY(ad_emit_dims(e, type, dim));
    la_view x = la_view_dense(nowhere(), type->dtype, type->rank, dim);
    size_t bytes = la_view_count(x) * la_dtype_size(type->dtype);
    *place = (ad_place){x, ad_emit_storage(e, AD_BASE_ARENA, NULL, bytes)};
    return COVAR_OK;
}

bool ad_view_fits(la_view x)
{
    if (x.rank == 0 || la_view_count(x) == 0)
        return true;
    int last = x.rank - 1;
    if (x.dim[last] > 1 && x.stride[last] != 1)
        return false;
    for (int k = 0; k < last; k++)
        if (x.dim[k] > 1 && x.stride[k] == 0)
            return false;
    return x.rank < 2 || x.dim[last - 1] < 2 ||
           x.stride[last - 1] >= (ptrdiff_t)x.dim[last];
}

la_view ad_view_tidy(la_view x)
{
    ptrdiff_t natural = 1;
    for (int k = x.rank - 1; k >= 0; k--) {
        if (x.dim[k] <= 1)
            x.stride[k] = natural;
        natural = x.stride[k] * (ptrdiff_t)(x.dim[k] ? x.dim[k] : 1);
    }
    return x;
}

static covar_status dense_copy(ad_emitter *e, uint32_t v)
{
    ad_value_state *s = &e->state[v];
    const ad_value_info *info = &e->p->value[v];
    if (s->has_dense)
        return COVAR_OK;
    COVAR_TRY(ad_emit_temporary(e, &info->node->type[info->out], &s->dense));
    COVAR_TRY(ad_emit_copy(e, s->dense, s->here));
    s->has_dense = true;
    return COVAR_OK;
}

static covar_status make_view(ad_emitter *e, uint32_t v)
{
    const ad_value_info *info = &e->p->value[v];
    const ad_node *y = info->node;
    ad_value_state *to = &e->state[v], *from = &e->state[info->index];
    size_t dim[LA_MAX_DIMS];
    COVAR_TRY(ad_emit_dims(e, &y->type[0], dim));
    to->here = from->here;
    if (!y->op->view(y, from->here.view, dim, e->plan->symbol,
                     &to->here.view)) {
        COVAR_TRY(dense_copy(e, info->index));
        to->here = from->dense;
        if (!y->op->view(y, from->dense.view, dim, e->plan->symbol,
                         &to->here.view))
            return covar_fail(e->r->ctx, COVAR_ERR_UNSUPPORTED,
                              "ad_run: %s has no view of a dense array",
                              y->op->name);
    }
    to->made = true;
    return COVAR_OK;
}

covar_status ad_emit_value(ad_emitter *e, uint32_t v, ad_place *place)
{
    size_t n = 0;
    for (uint32_t u = v; !e->state[u].made; u = e->p->value[u].index)
        e->stack[n++] = u;
    while (n > 0)
        COVAR_TRY(make_view(e, e->stack[--n]));
    *place = e->state[v].here;
    return COVAR_OK;
}

covar_status ad_emit_dense(ad_emitter *e, uint32_t v, ad_place *place)
{
    COVAR_TRY(ad_emit_value(e, v, place));
    if (!ad_view_fits(place->view)) {
        COVAR_TRY(dense_copy(e, v));
        *place = e->state[v].dense;
    }
    place->view = ad_view_tidy(place->view);
    return COVAR_OK;
}

static void leaf(ad_emitter *e, uint32_t v, uint32_t base, la_view x)
{
    uint32_t s = ad_emit_storage(e, base, x.data, 0);
    x.data = e->storage[s].origin;
    e->state[v] = (ad_value_state){.made = true, .here = {x, s}};
}

void ad_emit_leaves(ad_emitter *e, const la_view *in)
{
    for (uint32_t v = 0; v < e->p->n_value; v++) {
        const ad_value_info *info = &e->p->value[v];
        if (info->kind == AD_VALUE_INPUT)
            leaf(e, v, AD_BASE_INPUT + info->index, in[info->index]);
        if (info->kind == AD_VALUE_STORE)
            leaf(e, v, AD_FIXED, e->r->param[info->index]);
        if (info->kind == AD_VALUE_CONSTANT) {
            const ad_constant_fields *f = info->node->fields;
            leaf(e, v, AD_FIXED, la_array_view(f->array));
        }
    }
}
