/* Stores: named arrays that programs, graphs and modules share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An array keeps its address for the life of the store; ad_store_set writes
 * into it. `version` counts the writes, so that an eager graph can tell a
 * value it has seen from a newer one. */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <stdatomic.h>
#include <string.h>

typedef struct entry {
    char *name;
    la_array *array;
    int64_t version;
    uint64_t hash;
    size_t next; /* in the bucket, + 1; 0 ends */
} entry;

struct ad_store {
    covar_heap *heap;
    atomic_size_t references;
    atomic_bool busy;
    _Atomic int64_t commits; /* by programs with updates */
    entry *entry;
    size_t n, cap;
    size_t *bucket; /* cap of them: index + 1 */
};

covar_status ad_store_create(ad_store **out, covar_context *ctx)
{
    if (out)
        *out = NULL;
    if (!out || !ctx)
        return covar_fail(ctx, COVAR_ERR_ARG, "ad_store_create: %s is NULL",
                          ctx ? "out" : "ctx");
    covar_heap *heap = covar_context_heap(ctx);
    *out = covar_heap_calloc(heap, 1, sizeof(**out));
    if (!*out)
        return covar_fail_nomem(ctx, "ad_store_create");
    (*out)->heap = covar_heap_retain(heap);
    atomic_init(&(*out)->references, 1);
    atomic_init(&(*out)->busy, false);
    atomic_init(&(*out)->commits, 0);
    return COVAR_OK;
}

ad_store *ad_store_retain(ad_store *s)
{
    if (s)
        atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed);
    return s;
}

void ad_store_free(ad_store *s)
{
    if (!s ||
        atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1)
        return;
    covar_heap *heap = s->heap;
    for (size_t i = 0; i < s->n; i++) {
        covar_heap_free(heap, s->entry[i].name);
        la_array_free(s->entry[i].array);
    }
    covar_heap_free(heap, s->entry);
    covar_heap_free(heap, s->bucket);
    covar_heap_free(heap, s);
    covar_heap_release(heap);
}

static entry *find(const ad_store *s, const char *name)
{
    if (!s || !name || s->cap == 0)
        return NULL;
    uint64_t hash = ad_hash_text(name);
    for (size_t i = s->bucket[hash & (s->cap - 1)]; i; i = s->entry[i - 1].next)
        if (s->entry[i - 1].hash == hash &&
            strcmp(s->entry[i - 1].name, name) == 0)
            return &s->entry[i - 1];
    return NULL;
}

size_t ad_store_count(const ad_store *s)
{
    return s ? s->n : 0;
}

const char *ad_store_name(const ad_store *s, size_t i)
{
    return s && i < s->n ? s->entry[i].name : NULL;
}

la_array *ad_store_array(const ad_store *s, const char *name)
{
    const entry *e = find(s, name);
    return e ? e->array : NULL;
}

la_view ad_store_view(const ad_store *s, const char *name)
{
    const entry *e = find(s, name);
    return e ? la_array_view(e->array) : la_view_none();
}

int64_t ad_store_version(const ad_store *s, const char *name)
{
    const entry *e = find(s, name);
    return e ? e->version + atomic_load(&s->commits) : 0;
}

bool ad_store_acquire(ad_store *s)
{
    return !atomic_exchange_explicit(&s->busy, true, memory_order_acquire);
}

void ad_store_release(ad_store *s)
{
    atomic_fetch_add(&s->commits, 1);
    atomic_store_explicit(&s->busy, false, memory_order_release);
}

static void put_in_bucket(ad_store *s, size_t i)
{
    size_t *head = &s->bucket[s->entry[i].hash & (s->cap - 1)];
    s->entry[i].next = *head;
    *head = i + 1;
}

static bool reserve(ad_store *s)
{
    if (s->n < s->cap)
        return true;
    size_t cap = s->cap ? 2 * s->cap : 8;
    entry *e = covar_heap_grow(s->heap, s->entry, s->n, cap, sizeof(*e));
    if (!e)
        return false;
    s->entry = e;
    size_t *bucket = covar_heap_calloc(s->heap, cap, sizeof(*bucket));
    if (!bucket)
        return false; /* the longer list does no harm */
    covar_heap_free(s->heap, s->bucket);
    s->bucket = bucket;
    s->cap = cap;
    for (size_t i = 0; i < s->n; i++)
        put_in_bucket(s, i);
    return true;
}

static covar_status add(ad_store *s, const la_exec *exec, const char *name,
                        la_view value)
{
    if (!reserve(s))
        return covar_fail_nomem(exec->ctx, "ad_store_set");
    char *copy = covar_heap_strdup(s->heap, name);
    if (!copy)
        return covar_fail_nomem(exec->ctx, "ad_store_set");
    la_array *array;
    covar_status status = la_array_from_view(&array, exec, value);
    if (status != COVAR_OK) {
        covar_heap_free(s->heap, copy);
        return status;
    }
    s->entry[s->n] = (entry){copy, array, 0, ad_hash_text(name), 0};
    put_in_bucket(s, s->n++);
    return COVAR_OK;
}

static covar_status overwrite(entry *e, const la_exec *exec, la_view value)
{
    char a[96], b[96];
    la_view held = la_array_view(e->array);
    if (held.dtype != value.dtype || !la_view_same_dims(held, value))
        return covar_fail(exec->ctx, COVAR_ERR_SHAPE,
                          "ad_store_set: '%s' is %s but the value is %s",
                          e->name, la_view_describe(a, sizeof(a), held),
                          la_view_describe(b, sizeof(b), value));
    e->version++;
    return la_copy(exec, held, value);
}

covar_status ad_store_set(ad_store *s, covar_context *ctx, const char *name,
                          la_view value)
{
    if (!s || !ctx || !name || !*name || !la_view_is_valid(value))
        return covar_fail(ctx, COVAR_ERR_ARG,
                          "ad_store_set: needs a store, a name and a value");
    if (!ad_store_acquire(s))
        return covar_fail(ctx, COVAR_BUSY,
                          "ad_store_set: '%s': the store is in use by a "
                          "program with updates",
                          name);
    la_exec exec = la_exec_cpu(ctx);
    entry *e = find(s, name);
    covar_status status =
        e ? overwrite(e, &exec, value) : add(s, &exec, name, value);
    atomic_store_explicit(&s->busy, false, memory_order_release);
    return status;
}
