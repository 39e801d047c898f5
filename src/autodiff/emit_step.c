/* Instructions: one for each step, with copies where layouts ask for them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An output takes over an input's memory when the operator allows it and the
 * value dies there: never a caller's array, a constant, the store, a requested
 * output, or memory that another operand still shows. */
#include "config.h"

#include "autodiff/emit_impl.h"

static covar_status run_copy(const ad_call *c)
{
    return la_copy(c->exec, c->out[0], c->x[0]);
}

/* Bound in the first run, when the pointers are known; later ones may differ,
 * but not in what overlaps: in place is in place in every run. */
static covar_status bind_map(const ad_call *c)
{
    ad_instr *i = (ad_instr *)(uintptr_t)c;
    COVAR_TRY(
        la_map_bind(i->map, c->exec, i->code, i->rank, i->dim, c->x, c->out));
    i->bound = true;
    return COVAR_OK;
}

static covar_status run_map(const ad_call *c)
{
    const ad_instr *i = (const ad_instr *)(const void *)c;
    if (!i->bound)
        COVAR_TRY(bind_map(c));
    return la_map_run_bound(i->map, c->x, c->out, c->work);
}

static covar_status nomem(const ad_emitter *e)
{
    return covar_fail_nomem(e->r->ctx, "ad_run");
}

ad_instr *ad_emit_instr(ad_emitter *e, int n_in, int n_out)
{
    ad_plan *plan = e->plan;
    ad_instr *i = &plan->instr[plan->n_instr];
    la_view *x = ad_arena_alloc(plan->arena, sizeof(*x) * (size_t)n_in);
    la_view *out = ad_arena_alloc(plan->arena, sizeof(*out) * (size_t)n_out);
    if (!x || !out)
        return NULL;
    i->call.x = x;
    i->call.out = out;
    i->call.exec = &e->r->exec;
    i->call.symbol = plan->symbol;
    plan->n_instr++;
    return i;
}

static void touch(ad_emitter *e, const ad_instr *i, uint32_t storage)
{
    ad_storage *s = &e->storage[storage];
    uint32_t now = (uint32_t)(i - e->plan->instr);
    s->birth = s->birth < now ? s->birth : now;
    s->death = s->death > now ? s->death : now;
}

void ad_emit_operand(ad_emitter *e, const ad_instr *i, la_view *view,
                     ad_place place)
{
    *view = place.view;
    size_t offset =
        (size_t)((char *)place.view.data - e->storage[place.storage].origin);
    e->ref[e->n_ref++] = (ad_raw_ref){&view->data, place.storage, offset};
    touch(e, i, place.storage);
}

covar_status ad_emit_copy(ad_emitter *e, ad_place to, ad_place from)
{
    ad_instr *i = ad_emit_instr(e, 1, 1);
    if (!i)
        return nomem(e);
    i->run = run_copy;
    ad_emit_operand(e, i, (la_view *)i->call.x, from);
    ad_emit_operand(e, i, (la_view *)i->call.out, to);
    return COVAR_OK;
}

/* ---- In place ----------------------------------------------------------- */

/* May output `dims of like` take the memory of input i? */
static bool may_take(const ad_emitter *e, const ad_step *s, const ad_place *x,
                     int i, const ad_place *out, uint32_t now, bool same_index)
{
    const ad_program *p = e->p;
    const ad_storage *m = &e->storage[x[i].storage];
    uint32_t root = p->value[s->in[i]].root;
    if (m->base != AD_BASE_ARENA || p->value[root].last_use != now ||
        x[i].view.data != m->origin || x[i].view.dtype != out->view.dtype ||
        !la_view_is_dense(x[i].view) ||
        m->bytes != e->storage[out->storage].bytes ||
        !la_view_same_dims(x[i].view, out->view))
        return false;
    for (int j = 0; j < s->n_in; j++) {
        bool same_view = same_index && x[j].view.data == x[i].view.data &&
                         la_view_is_dense(x[j].view) &&
                         la_view_same_dims(x[j].view, x[i].view);
        if (j != i && x[j].storage == x[i].storage && !same_view)
            return false;
    }
    return true;
}

static bool taken(const ad_place *out, int n, uint32_t storage)
{
    for (int k = 0; k < n; k++)
        if (out[k].storage == storage)
            return true;
    return false;
}

/* Lets output k take over an input that dies; its own storage stays unused. */
static void take_over(const ad_emitter *e, const ad_step *s, const ad_place *x,
                      ad_place *out, int k, uint32_t now)
{
    const ad_op *op = s->node->op;
    bool fused = op == &ad_op_fused;
    if (fused) {
        const ad_fused_fields *f = s->node->fields;
        if (f->fused->code.results[k].reduce != LA_REDUCE_NONE)
            return;
    }
    if (e->p->value[s->out[k]].last_use == now) /* nobody reads it */
        return;
    for (int i = 0; i < s->n_in; i++) {
        bool allowed = fused || (k == 0 && i < 32 && (op->overwrites >> i & 1));
        if (allowed && may_take(e, s, x, i, &out[k], now, fused) &&
            !taken(out, k, x[i].storage)) {
            out[k].storage = x[i].storage;
            return;
        }
    }
}

/* ---- Steps -------------------------------------------------------------- */

static covar_status set_map(ad_emitter *e, ad_instr *i, const ad_step *s)
{
    const ad_fused_fields *f = s->node->fields;
    ad_type space = {.rank = f->fused->space.rank};
    for (int k = 0; k < space.rank; k++)
        space.dim[k] = f->fused->space.dim[k];
    COVAR_TRY(ad_emit_dims(e, &space, i->dim));
    i->rank = space.rank;
    i->code = &f->fused->code;
    i->map = ad_arena_alloc(e->plan->arena, la_map_bound_size(i->code));
    i->run = run_map;
    return i->map ? COVAR_OK : nomem(e);
}

static covar_status add_work(ad_emitter *e, ad_instr *i, const ad_step *s)
{
    size_t bytes = 0;
    if (i->code)
        bytes = la_map_work_size(i->code, i->rank, i->dim, e->r->exec.threads);
    else if (s->node->op->work)
        bytes = s->node->op->work(s->node, i->call.x);
    if (bytes == 0)
        return COVAR_OK;
    uint32_t m = ad_emit_storage(e, AD_BASE_ARENA, NULL, bytes);
    e->ref[e->n_ref++] = (ad_raw_ref){&i->call.work, m, 0};
    touch(e, i, m);
    return COVAR_OK;
}

static covar_status add_info(ad_emitter *e, ad_instr *i, const ad_step *s)
{
    if (!(s->node->op->flags & AD_FALLIBLE))
        return COVAR_OK;
    i->n_info = ad_info_count(s->node, i->call.x);
    i->call.info =
        ad_arena_alloc(e->plan->arena, sizeof(int32_t) * (i->n_info + 1));
    return i->call.info ? COVAR_OK : nomem(e);
}

static covar_status add_body(ad_emitter *e, ad_instr *i, const ad_step *s)
{
    if (!s->body)
        return COVAR_OK;
    ad_runner *child = NULL;
    COVAR_TRY(ad_runner_create(&child, s->body, e->r->store, e->r->ctx));
    child->outer = e->plan->symbol;
    child->outer_graph = e->p->g;
    e->plan->body[e->plan->n_body++] = child;
    i->call.body = child;
    return COVAR_OK;
}

static covar_status place_operands(ad_emitter *e, uint32_t step, ad_place *x,
                                   ad_place *out)
{
    const ad_step *s = &e->p->step[step];
    bool any =
        s->node->op->flags & AD_ANY_STRIDE || s->node->op == &ad_op_fused;
    for (int i = 0; i < s->n_in; i++)
        COVAR_TRY(any ? ad_emit_value(e, s->in[i], &x[i])
                      : ad_emit_dense(e, s->in[i], &x[i]));
    for (int k = 0; k < s->n_out; k++) {
        COVAR_TRY(ad_emit_temporary(e, &s->node->type[k], &out[k]));
        take_over(e, s, x, out, k, step);
        e->state[s->out[k]] = (ad_value_state){.made = true, .here = out[k]};
    }
    return COVAR_OK;
}

covar_status ad_emit_step(ad_emitter *e, uint32_t step)
{
    const ad_step *s = &e->p->step[step];
    size_t mark = ad_arena_mark(e->scratch);
    ad_place *x =
        ad_arena_alloc(e->scratch, sizeof(*x) * (size_t)(s->n_in + s->n_out));
    if (!x)
        return nomem(e);
    COVAR_TRY(place_operands(e, step, x, x + s->n_in));
    ad_instr *i = ad_emit_instr(e, s->n_in, s->n_out);
    if (!i)
        return nomem(e);
    i->step = s;
    i->call.node = s->node;
    i->run = s->node->op->eval;
    for (int j = 0; j < s->n_in; j++)
        ad_emit_operand(e, i, (la_view *)&i->call.x[j], x[j]);
    for (int k = 0; k < s->n_out; k++)
        ad_emit_operand(e, i, (la_view *)&i->call.out[k], x[s->n_in + k]);
    ad_arena_release(e->scratch, mark);
    if (s->node->op == &ad_op_fused)
        COVAR_TRY(set_map(e, i, s));
    COVAR_TRY(add_work(e, i, s));
    COVAR_TRY(add_info(e, i, s));
    return add_body(e, i, s);
}

/* ---- Results ------------------------------------------------------------ */

/* Lets the value be made in the caller's array from the start. */
static bool claim(ad_emitter *e, uint32_t base, ad_place place, la_view out)
{
    ad_storage *m = &e->storage[place.storage];
    size_t bytes = la_view_count(out) * la_dtype_size(out.dtype);
    if (m->base != AD_BASE_ARENA || place.view.data != m->origin ||
        m->bytes != bytes || !la_view_is_dense(place.view) ||
        !la_view_is_dense(out))
        return false;
    m->base = base;
    return true;
}

/* Update values that show the store itself, saved before the store changes. */
static covar_status save_value(ad_emitter *e, uint32_t v, ad_place *place)
{
    const ad_value_info *info = &e->p->value[v];
    COVAR_TRY(ad_emit_value(e, v, place));
    if (e->p->value[info->root].kind != AD_VALUE_STORE)
        return COVAR_OK;
    ad_place copy;
    COVAR_TRY(ad_emit_temporary(e, &info->node->type[info->out], &copy));
    COVAR_TRY(ad_emit_copy(e, copy, *place));
    *place = copy;
    return COVAR_OK;
}

covar_status ad_emit_results(ad_emitter *e, const la_view *out)
{
    const ad_program *p = e->p;
    ad_place *next =
        ad_arena_alloc(e->scratch, sizeof(*next) * ((size_t)p->n_update + 1));
    if (!next)
        return nomem(e);
    for (uint32_t j = 0; j < p->n_out; j++) {
        ad_place place;
        uint32_t base = AD_BASE_INPUT + p->n_in + j;
        COVAR_TRY(ad_emit_value(e, p->out[j], &place));
        if (claim(e, base, place, out[j]))
            continue;
        uint32_t m = ad_emit_storage(e, base, NULL, 0);
        ad_place to = {out[j], m};
        to.view.data = e->storage[m].origin;
        COVAR_TRY(ad_emit_copy(e, to, place));
    }
    for (uint32_t u = 0; u < p->n_update; u++)
        COVAR_TRY(save_value(e, p->update[u].value, &next[u]));
    e->plan->n_main = e->plan->n_instr;
    for (uint32_t u = 0; u < p->n_update; u++) {
        la_view w = e->r->param[p->update[u].param];
        uint32_t m = ad_emit_storage(e, AD_FIXED, w.data, 0);
        COVAR_TRY(ad_emit_copy(e, (ad_place){w, m}, next[u]));
    }
    return COVAR_OK;
}
