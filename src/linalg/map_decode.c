/* Decoding of map programs; see map_decode.h.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/map_decode.h"

void la_map_decode_start(la_map_decoder *d, const la_map_plan *plan)
{
    const la_map_code *c = plan->code;
    d->plan = plan;
    d->uniform = 0;
    for (int k = 0; k < c->n_in; k++) {
        const uint8_t access = plan->access[k];
        const bool one = access == LA_MAP_UNIFORM || access == LA_MAP_REPEAT;
        const bool moved = access == LA_MAP_GATHER || plan->stage[k];
        d->at[k] = one     ? la_map_place_of_vector(c, k)
                   : moved ? la_map_place_of_block(c, k)
                           : (uint8_t)k;
        d->uniform |= (uint64_t)one << k;
    }
    for (int k = c->n_in; k < c->n_in + c->n_const; k++) {
        d->at[k] = la_map_place_of_vector(c, k);
        d->uniform |= UINT64_C(1) << k;
    }
}

/* One value, written by the step that computes it, or a block. */
static uint8_t place_of_output(const la_map_plan *p, int i, bool one_value)
{
    const int reg = p->code->steps[i].out;
    if (one_value)
        return la_map_place_of_vector(p->code, reg);
    if (p->last_write[reg] == i && p->target[reg] >= 0)
        return la_map_place_of_result(p->code, p->target[reg]);
    return la_map_place_of_block(p->code, reg);
}

la_map_call la_map_decode(la_map_decoder *d, int i)
{
    const la_map_plan *p = d->plan;
    const la_map_step *s = &p->code->steps[i];
    const int arity = la_row_arity(s->row);
    la_map_call call = {.row = p->kernels->row[s->row],
                        .arity = (uint8_t)arity};
    unsigned uniform = 0;
    for (int k = 0; k < arity; k++) {
        const int reg = la_step_operand(s, k);
        call.in[k] = d->at[reg];
        uniform |= (unsigned)(d->uniform >> reg & 1) << k;
    }
    if ((uniform & 3) == 1 && arity > 1 && la_row_commutes(s->row)) {
        const uint8_t first = call.in[0];
        call.in[0] = call.in[1];
        call.in[1] = first;
        uniform ^= 3;
    }
    call.one_value = uniform == (1u << arity) - 1;
    call.uniform = call.one_value ? 0 : (uint8_t)uniform;
    call.out = place_of_output(p, i, call.one_value);
    d->at[s->out] = call.out;
    d->uniform &= ~(UINT64_C(1) << s->out);
    d->uniform |= (uint64_t)call.one_value << s->out;
    return call;
}

la_map_call la_map_copy_call(const la_map_plan *p, uint8_t from, bool uniform,
                             uint8_t to)
{
    return (la_map_call){.row = p->kernels->row[LA_COPY],
                         .out = to,
                         .in = {from},
                         .arity = 1,
                         .uniform = uniform};
}

void la_map_fill_constant(char *to, const la_map_code *c, int k)
{
    const float single = (float)c->constants[k];
    const double full = c->constants[k];
    if (c->dtype == LA_F64)
        la_map_fill_vector(to, &full, sizeof full);
    else
        la_map_fill_vector(to, &single, sizeof single);
}
