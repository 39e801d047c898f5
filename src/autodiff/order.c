/* Order of the steps: large values should die early.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A list scheduler: of the steps whose inputs are made, run the one that adds
 * the least memory (bytes made less bytes that die), first come first on
 * ties. So every other reader of a buffer runs before the step that overwrites
 * it, wherever the graph allows that. Sizes are judged with every symbol at
 * one nominal value. The depth-first order stays when it peaks no higher. */
#include "config.h"

#include "autodiff/program_impl.h"

#include <string.h>

enum { NOMINAL = 1009 };

typedef struct ready { /* a heap entry; stale when stamp differs */
    double score;
    uint32_t step, stamp;
} ready;

typedef struct scheduler {
    ad_program *p;
    double *bytes;        /* by root value: its memory, 0 for leaves */
    uint32_t *uses;       /* by root value: steps yet to read it */
    uint32_t *user_start; /* users of value v: user[user_start[v]..] */
    uint32_t *user;
    uint32_t *missing; /* by step: inputs yet to be made */
    uint32_t *stamp;   /* by step */
    bool *done;
    bool *kept;  /* by value: requested, never dies */
    ready *heap; /* a step enters once and once per improvement */
    size_t n_heap;
    uint32_t *order; /* result */
} scheduler;

static uint32_t root_of(const ad_program *p, uint32_t value)
{
    return p->value[value].root;
}

/* Is input i of the step the first with its root? Others count once only. */
static bool first_use(const ad_program *p, const ad_step *s, int i)
{
    for (int j = 0; j < i; j++)
        if (root_of(p, s->in[j]) == root_of(p, s->in[i]))
            return false;
    return true;
}

static double score(const scheduler *w, uint32_t step)
{
    const ad_step *s = &w->p->step[step];
    double sum = 0;
    for (int k = 0; k < s->n_out; k++)
        sum += w->bytes[s->out[k]];
    for (int i = 0; i < s->n_in; i++) {
        uint32_t r = root_of(w->p, s->in[i]);
        if (w->uses[r] == 1 && !w->kept[r] && first_use(w->p, s, i))
            sum -= w->bytes[r];
    }
    return sum;
}

static bool before(const ready *a, const ready *b)
{
    if (a->score < b->score || a->score > b->score)
        return a->score < b->score;
    return a->step < b->step;
}

static void push(scheduler *w, uint32_t step)
{
    ready e = {score(w, step), step, w->stamp[step]};
    size_t i = w->n_heap++;
    for (; i > 0 && before(&e, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = e;
}

static ready pop(scheduler *w)
{
    ready top = w->heap[0], e = w->heap[--w->n_heap];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= w->n_heap)
            break;
        if (child + 1 < w->n_heap &&
            before(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!before(&w->heap[child], &e))
            break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = e;
    return top;
}

/* One reader of value r is left: its score has improved. */
static void improve_last_user(scheduler *w, uint32_t r)
{
    for (uint32_t u = w->user_start[r]; u < w->user_start[r + 1]; u++) {
        uint32_t step = w->user[u];
        if (!w->done[step] && w->missing[step] == 0) {
            w->stamp[step]++;
            push(w, step);
        }
    }
}

static void run_step(scheduler *w, uint32_t step)
{
    const ad_step *s = &w->p->step[step];
    w->done[step] = true;
    for (int i = 0; i < s->n_in; i++) {
        uint32_t r = root_of(w->p, s->in[i]);
        if (first_use(w->p, s, i) && --w->uses[r] == 1)
            improve_last_user(w, r);
    }
    for (int k = 0; k < s->n_out; k++)
        for (uint32_t u = w->user_start[s->out[k]];
             u < w->user_start[s->out[k] + 1]; u++)
            if (--w->missing[w->user[u]] == 0)
                push(w, w->user[u]);
}

static double type_bytes(const ad_program *p, const ad_type *t,
                         const size_t *symbol)
{
    double bytes = (double)la_dtype_size(t->dtype);
    for (int k = 0; k < t->rank; k++) {
        size_t n = 1;
        if (ad_dim_eval(p->g, t->dim[k], symbol, &n) != COVAR_OK)
            n = NOMINAL;
        bytes *= (double)n;
    }
    return bytes;
}

/* Lists the users of every root value, and what each step waits for. */
static void count_uses(scheduler *w)
{
    const ad_program *p = w->p;
    for (uint32_t s = 0; s < p->n_step; s++)
        for (int i = 0; i < p->step[s].n_in; i++)
            if (first_use(p, &p->step[s], i))
                w->uses[root_of(p, p->step[s].in[i])]++;
    for (uint32_t v = 0; v < p->n_value; v++)
        w->user_start[v + 1] = w->user_start[v] + w->uses[v];
    for (uint32_t s = p->n_step; s-- > 0;)
        for (int i = 0; i < p->step[s].n_in; i++) {
            uint32_t r = root_of(p, p->step[s].in[i]);
            if (!first_use(p, &p->step[s], i))
                continue;
            w->user[w->user_start[r] + --w->uses[r]] = s;
            w->missing[s] += p->value[r].kind == AD_VALUE_STEP;
        }
    for (uint32_t v = 0; v < p->n_value; v++)
        w->uses[v] = w->user_start[v + 1] - w->user_start[v];
}

/* Largest sum of live bytes when the steps run in this order. A step may take
 * over the memory of an input that dies there. */
static double peak(scheduler *w, const uint32_t *order)
{
    const ad_program *p = w->p;
    double live = 0, most = 0;
    for (uint32_t v = 0; v < p->n_value; v++)
        w->uses[v] = w->user_start[v + 1] - w->user_start[v];
    for (uint32_t t = 0; t < p->n_step; t++) {
        const ad_step *s = &p->step[order[t]];
        bool elementwise = s->node->op == &ad_op_fused;
        double made = 0, dies = 0, reused = 0;
        for (int k = 0; k < s->n_out; k++)
            made += w->bytes[s->out[k]];
        for (int i = 0; i < s->n_in; i++) {
            uint32_t r = root_of(p, s->in[i]);
            if (!first_use(p, s, i) || --w->uses[r] > 0 || w->kept[r])
                continue;
            dies += w->bytes[r];
            bool taken = i < 32 && (s->node->op->overwrites >> i & 1);
            if (elementwise || taken)
                reused += w->bytes[r];
        }
        reused = reused < made ? reused : made;
        most = live + made - reused > most ? live + made - reused : most;
        live += made - dies;
    }
    return most;
}

static void schedule(scheduler *w)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < w->p->n_step; s++)
        if (w->missing[s] == 0)
            push(w, s);
    while (w->n_heap > 0) {
        ready e = pop(w);
        if (w->done[e.step] || w->stamp[e.step] != e.stamp)
            continue;
        w->order[n++] = e.step;
        run_step(w, e.step);
    }
}

static bool prepare(scheduler *w, ad_arena *a)
{
    const ad_program *p = w->p;
    size_t nv = p->n_value, ns = p->n_step, n_use = 0;
    for (size_t s = 0; s < ns; s++)
        n_use += (size_t)p->step[s].n_in;
    size_t n_symbol = ad_dim_symbol_count(p->g->dims);
    size_t *symbol = ad_arena_alloc(a, sizeof(*symbol) * (n_symbol + 1));
    w->bytes = ad_arena_alloc(a, sizeof(*w->bytes) * (nv + 1));
    w->uses = ad_arena_alloc(a, sizeof(*w->uses) * (nv + 1));
    w->user_start = ad_arena_alloc(a, sizeof(*w->user_start) * (nv + 1));
    w->user = ad_arena_alloc(a, sizeof(*w->user) * (n_use + 1));
    w->missing = ad_arena_alloc(a, sizeof(*w->missing) * (ns + 1));
    w->stamp = ad_arena_alloc(a, sizeof(*w->stamp) * (ns + 1));
    w->done = ad_arena_alloc(a, sizeof(*w->done) * (ns + 1));
    w->kept = ad_arena_alloc(a, sizeof(*w->kept) * (nv + 1));
    w->heap = ad_arena_alloc(a, sizeof(*w->heap) * (ns + nv + 1));
    w->order = ad_arena_alloc(a, sizeof(*w->order) * (ns + 1));
    if (!symbol || !w->bytes || !w->uses || !w->user_start || !w->user ||
        !w->missing || !w->stamp || !w->done || !w->kept || !w->heap ||
        !w->order)
        return false;
    for (size_t i = 0; i < n_symbol; i++)
        symbol[i] = NOMINAL;
    for (uint32_t v = 0; v < p->n_value; v++)
        if (p->value[v].kind == AD_VALUE_STEP)
            w->bytes[v] =
                type_bytes(p, &p->value[v].node->type[p->value[v].out], symbol);
    for (uint32_t i = 0; i < p->n_out; i++)
        w->kept[root_of(p, p->out[i])] = true;
    for (uint32_t i = 0; i < p->n_update; i++)
        w->kept[root_of(p, p->update[i].value)] = true;
    count_uses(w);
    return true;
}

/* Puts the steps into `order`; step numbers in values follow. */
static void permute(ad_program *p, const uint32_t *order, ad_step *copy)
{
    memcpy(copy, p->step, sizeof(*copy) * p->n_step);
    for (uint32_t t = 0; t < p->n_step; t++) {
        p->step[t] = copy[order[t]];
        for (int k = 0; k < p->step[t].n_out; k++)
            p->value[p->step[t].out[k]].index = t;
    }
}

static void set_last_uses(scheduler *w)
{
    ad_program *p = w->p;
    for (uint32_t t = 0; t < p->n_step; t++) {
        for (int k = 0; k < p->step[t].n_out; k++)
            p->value[p->step[t].out[k]].last_use = t;
        for (int i = 0; i < p->step[t].n_in; i++)
            p->value[root_of(p, p->step[t].in[i])].last_use = t;
    }
    for (uint32_t v = 0; v < p->n_value; v++)
        if (w->kept[v])
            p->value[v].last_use = AD_NEVER;
}

covar_status ad_program_order(ad_program *p)
{
    ad_arena *a = ad_arena_create(p->heap);
    scheduler w = {.p = p};
    ad_step *copy = NULL;
    bool ok = a && prepare(&w, a);
    if (ok) {
        copy = ad_arena_alloc(a, sizeof(*copy) * ((size_t)p->n_step + 1));
        ok = copy != NULL;
    }
    if (ok) {
        uint32_t *plain = w.stamp; /* free once the schedule stands */
        schedule(&w);
        for (uint32_t s = 0; s < p->n_step; s++)
            plain[s] = s;
        if (peak(&w, w.order) < peak(&w, plain))
            permute(p, w.order, copy);
        set_last_uses(&w);
    }
    ad_arena_free(a);
    return ok ? COVAR_OK : COVAR_ERR_NOMEM;
}
