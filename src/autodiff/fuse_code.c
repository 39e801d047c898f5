/* Fusion, third part: the code of a cluster.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inputs take the first registers, numbers the next (immediates), temporaries
 * the rest: each is freed after its last use and taken again, results stay.
 * Where registers or results do not suffice the cluster is cut in two, and
 * what the second half needs of the first is stored. */
#include "config.h"

#include "autodiff/fuse_impl.h"

#include <string.h>

typedef struct coding {
    ad_fusion *f;
    const ad_cluster *c;
    ad_node **map;
    size_t low, high; /* members of this piece */
    ad_node *input[LA_MAP_MAX_REG];
    double number[LA_MAP_MAX_REG];
    ad_cluster_result result[LA_MAP_MAX_RESULT];
    int n_input, n_number, n_result;
    uint16_t *reg;    /* by member of the piece: temporary */
    size_t *last_use; /* by member; SIZE_MAX: a result */
    int n_temporary;
} coding;

static const ad_field fused_table[] = {
    {"code", AD_FIELD_POINTER, offsetof(ad_fused_fields, fused)},
    {NULL, AD_FIELD_INT, 0}};

const ad_op ad_op_fused = {.abi = AD_OP_ABI,
                           .name = "fused",
                           .formula = "elementwise operators in one loop",
                           .n_in = -1,
                           .n_out = -1,
                           .fields = fused_table,
                           .fields_size = sizeof(ad_fused_fields),
                           .flags = AD_ANY_STRIDE,
                           .views = -1};

/* ---- Operands ----------------------------------------------------------- */

static bool is_known(const coding *k, const ad_node *x)
{
    return k->f->stamp_of[x->id] == k->f->stamp;
}

static void know(coding *k, const ad_node *x, ad_operand o)
{
    k->f->stamp_of[x->id] = k->f->stamp;
    k->f->operand[x->id] = o;
}

static int index_of(const coding *k, const ad_node *x)
{
    return k->f->operand[x->id].index;
}

static bool add_number(coding *k, const ad_node *x, double value)
{
    int i = 0;
    while (i < k->n_number && memcmp(&k->number[i], &value, sizeof(value)) != 0)
        i++;
    if (i == LA_MAP_MAX_REG)
        return false;
    k->number[i] = value;
    k->n_number += i == k->n_number;
    know(k, x, (ad_operand){AD_OPERAND_NUMBER, i});
    return true;
}

static bool add_operand(coding *k, const ad_node *x)
{
    double value;
    if (is_known(k, x))
        return true;
    if (ad_is_constant(x, &value))
        return add_number(k, x, value);
    if (k->n_input == LA_MAP_MAX_REG)
        return false;
    know(k, x, (ad_operand){AD_OPERAND_INPUT, k->n_input});
    k->input[k->n_input++] = k->map[x->id];
    return true;
}

static bool add_operands(coding *k)
{
    k->f->stamp++;
    k->n_input = k->n_number = 0;
    for (size_t i = k->low; i < k->high; i++)
        know(k, k->c->member[i],
             (ad_operand){AD_OPERAND_MEMBER, (int)(i - k->low)});
    for (size_t i = k->low; i < k->high; i++)
        for (int j = 0; j < k->c->member[i]->n_in; j++)
            if (!add_operand(k, k->c->member[i]->in[j]))
                return false;
    return true;
}

static bool member_here(const coding *k, const ad_node *x)
{
    return is_known(k, x) && k->f->operand[x->id].kind == AD_OPERAND_MEMBER;
}

/* ---- Results ------------------------------------------------------------ */

static bool add_result(coding *k, ad_cluster_result r)
{
    if (k->n_result == LA_MAP_MAX_RESULT)
        return false;
    k->last_use[index_of(k, r.member)] = SIZE_MAX;
    k->result[k->n_result++] = r;
    return true;
}

static bool stored_already(const coding *k, const ad_node *y)
{
    for (int i = 0; i < k->n_result; i++)
        if (k->result[i].value == y)
            return true;
    return false;
}

/* The cluster's results that this piece makes, and what later pieces need. */
static bool add_results(coding *k)
{
    k->n_result = 0;
    memset(k->last_use, 0, sizeof(*k->last_use) * (k->high - k->low));
    for (size_t i = 0; i < k->c->n_result; i++)
        if (member_here(k, k->c->result[i].member) &&
            !add_result(k, k->c->result[i]))
            return false;
    for (size_t i = k->high; i < k->c->n_member; i++)
        for (int j = 0; j < k->c->member[i]->n_in; j++) {
            ad_node *x = k->c->member[i]->in[j];
            if (member_here(k, x) && !stored_already(k, x) &&
                !add_result(k, (ad_cluster_result){x, x, LA_REDUCE_NONE, 0}))
                return false;
        }
    return true;
}

/* ---- Registers ---------------------------------------------------------- */

static void find_last_uses(coding *k)
{
    for (size_t i = k->low; i < k->high; i++)
        for (int j = 0; j < k->c->member[i]->n_in; j++) {
            const ad_node *x = k->c->member[i]->in[j];
            if (member_here(k, x) && k->last_use[index_of(k, x)] != SIZE_MAX)
                k->last_use[index_of(k, x)] = i - k->low;
        }
}

/* Temporaries by linear scan; false when there are not enough. */
static bool assign_registers(coding *k)
{
    bool busy[LA_MAP_MAX_REG] = {false};
    int most = LA_MAP_MAX_REG - k->n_input - k->n_number;
    k->n_temporary = 0;
    find_last_uses(k);
    for (size_t i = 0; i < k->high - k->low; i++) {
        const ad_node *y = k->c->member[k->low + i];
        for (int j = 0; j < y->n_in; j++) {
            const ad_node *x = y->in[j];
            if (member_here(k, x) && k->last_use[index_of(k, x)] == i)
                busy[k->reg[index_of(k, x)]] = false;
        }
        int r = 0;
        while (r < most && busy[r])
            r++;
        if (r >= most)
            return false;
        busy[r] = true;
        k->reg[i] = (uint16_t)r;
        k->n_temporary = r + 1 > k->n_temporary ? r + 1 : k->n_temporary;
    }
    return true;
}

static uint16_t register_of(const coding *k, const ad_node *x)
{
    ad_operand o = k->f->operand[x->id];
    int base = k->n_input + k->n_number;
    if (o.kind == AD_OPERAND_INPUT)
        return (uint16_t)o.index;
    if (o.kind == AD_OPERAND_NUMBER)
        return (uint16_t)(k->n_input + o.index);
    return (uint16_t)(base + k->reg[o.index]);
}

/* ---- The node ----------------------------------------------------------- */

/* Is this piece over a square, with results that a swap of its dims leaves as
 * they are? */
static bool is_symmetric(const coding *k, const ad_dims *space)
{
    bool yes = space->rank == 2 &&
               ad_dims_equal(k->f->g, space->dim[0], space->dim[1]);
    for (int i = 0; i < k->n_result && yes; i++) {
        const ad_cluster_result *r = &k->result[i];
        yes = r->member->type->facts & AD_SYMMETRIC &&
              (r->reduce == LA_REDUCE_NONE || r->axes == 3);
    }
    return yes;
}

static bool fill_code(const coding *k, ad_fused *out)
{
    ad_arena *a = k->f->g->arena;
    size_t n = k->high - k->low;
    int base = k->n_input + k->n_number;
    double *number =
        ad_arena_alloc(a, sizeof(double) * ((size_t)k->n_number + 1));
    la_map_step *step = ad_arena_alloc(a, sizeof(*step) * n);
    la_map_result *result =
        ad_arena_alloc(a, sizeof(*result) * (size_t)k->n_result);
    uint16_t *row = ad_arena_alloc(a, sizeof(*row) * n);
    if (!number || !step || !result || !row)
        return false;
    memcpy(number, k->number, sizeof(double) * (size_t)k->n_number);
    for (size_t i = 0; i < n; i++) {
        const ad_node *y = k->c->member[k->low + i];
        row[i] = step[i].row = (uint16_t)y->op->row;
        step[i].out = (uint16_t)(base + k->reg[i]);
        for (int j = 0; j < y->n_in; j++)
            step[i].in[j] = register_of(k, y->in[j]);
    }
    for (int i = 0; i < k->n_result; i++)
        result[i] = (la_map_result){register_of(k, k->result[i].member),
                                    k->result[i].reduce, k->result[i].axes};
    const ad_type *t = k->c->member[k->low]->type;
    out->space.rank = t->rank;
    memcpy(out->space.dim, t->dim, sizeof(t->dim));
    out->row = row;
    out->n_row = (int)n;
    out->code = (la_map_code){t->dtype,    k->n_input,
                              k->n_number, (int)n,
                              k->n_result, base + k->n_temporary,
                              number,      step,
                              result,      is_symmetric(k, &out->space)};
    out->code.n_step = la_map_optimise(step, (int)n, &out->code);
    return true;
}

static bool make_node(coding *k)
{
    ad_graph *g = k->f->g;
    ad_fused *fused = ad_arena_alloc(g->arena, sizeof(*fused));
    if (!fused || !fill_code(k, fused)) {
        ad_graph_nomem(g);
        return false;
    }
    ad_fused_fields fields = {fused};
    ad_node *y = ad_node_new(g, &ad_op_fused, k->n_input, k->input, &fields,
                             k->n_result);
    if (!y)
        return false;
    const ad_node *last = k->c->member[k->high - 1];
    y->scope = last->scope;
    y->file = last->file;
    y->line = last->line;
    for (int i = 0; i < k->n_result; i++)
        y->type[i] = k->result[i].value->type[0];
    for (int i = 0; i < k->n_result; i++) {
        ad_node *value = ad_out(y, i);
        if (!value)
            return false;
        value->name = k->result[i].value->name;
        k->map[k->result[i].value->id] = value;
    }
    return true;
}

static bool emit_piece(coding *k, size_t low, size_t high)
{
    k->low = low;
    k->high = high;
    if (add_operands(k) && add_results(k) && assign_registers(k))
        return k->n_result == 0 || make_node(k);
    if (high - low < 2)
        return false; /* cannot be: one row fits */
    size_t mid = low + (high - low) / 2;
    return emit_piece(k, low, mid) && emit_piece(k, mid, high);
}

bool ad_fuse_emit(ad_fusion *f, const ad_cluster *c, ad_node **map)
{
    if (c->n_member == 0)
        return true;
    size_t mark = ad_arena_mark(f->arena);
    coding k = {.f = f, .c = c, .map = map};
    k.reg = ad_arena_alloc(f->arena, sizeof(*k.reg) * c->n_member);
    k.last_use = ad_arena_alloc(f->arena, sizeof(*k.last_use) * c->n_member);
    bool ok = k.reg && k.last_use && emit_piece(&k, 0, c->n_member);
    ad_arena_release(f->arena, mark);
    return ok;
}
