/* Forms super rows: one pass over the block instead of two.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A pair (inner, outer) is fused when the inner step's register is read by the
 * outer step alone, and nothing that the inner step reads is written between
 * the two. A product fused into a sum is rounded once where the processor has
 * a fused multiply-add; all else gives the same bits. */
#include <config.h>

#include "linalg/map_table.h"

/* `outer` with the result of `inner` as operand `slot` is `fused`, whose
 * operands are those of the inner row and then the others of the outer. */
typedef struct pair_rule {
    uint8_t inner, outer, slot, fused;
} pair_rule;

static const pair_rule rules[] = {
    {LA_MUL, LA_ADD, 0, LA_FMA},
    {LA_MUL, LA_ADD, 1, LA_FMA},
    {LA_MUL, LA_SUB, 0, LA_SUPER_FMS},
    {LA_MUL, LA_SUB, 1, LA_SUPER_FNMA},
    {LA_SQUARE, LA_ADD, 0, LA_SUPER_SQUARE_ADD},
    {LA_SQUARE, LA_ADD, 1, LA_SUPER_SQUARE_ADD},
    {LA_FMA, LA_MUL, 0, LA_SUPER_FMA_MUL},
    {LA_FMA, LA_MUL, 1, LA_SUPER_FMA_MUL},
    {LA_ABS, LA_FMA, 2, LA_SUPER_ABS_FMA},
    {LA_SUB, LA_MUL, 0, LA_SUPER_SUB_MUL},
    {LA_SUB, LA_MUL, 1, LA_SUPER_SUB_MUL},
    {LA_SUB, LA_DIV, 0, LA_SUPER_SUB_DIV},
    {LA_SUB, LA_SQUARE, 0, LA_SUPER_SUB_SQUARE},
    {LA_MUL, LA_EXP, 0, LA_SUPER_MUL_EXP},
    {LA_SUB, LA_EXP, 0, LA_SUPER_SUB_EXP},
    {LA_FMA, LA_EXP, 0, LA_SUPER_FMA_EXP},
    {LA_SUPER_MUL_EXP, LA_MUL, 0, LA_SUPER_MUL_EXP_MUL},
    {LA_SUPER_MUL_EXP, LA_MUL, 1, LA_SUPER_MUL_EXP_MUL},
    {LA_EXP, LA_MUL, 0, LA_SUPER_EXP_MUL},
    {LA_EXP, LA_MUL, 1, LA_SUPER_EXP_MUL},
    {LA_MUL, LA_TANH, 0, LA_SUPER_MUL_TANH},
    {LA_ADD, LA_TANH, 0, LA_SUPER_ADD_TANH},
    {LA_FMA, LA_TANH, 0, LA_SUPER_FMA_TANH},
    {LA_MUL, LA_SIGMOID, 0, LA_SUPER_MUL_SIGMOID},
    {LA_ADD, LA_SIGMOID, 0, LA_SUPER_ADD_SIGMOID},
    {LA_FMA, LA_SIGMOID, 0, LA_SUPER_FMA_SIGMOID},
    {LA_SUPER_MUL_SIGMOID, LA_FMA, 0, LA_SUPER_MUL_SIGMOID_FMA},
    {LA_SUPER_MUL_SIGMOID, LA_FMA, 1, LA_SUPER_MUL_SIGMOID_FMA},
    {LA_ADD, LA_MUL, 0, LA_SUPER_ADD_MUL},
    {LA_ADD, LA_MUL, 1, LA_SUPER_ADD_MUL},
    {LA_ABS, LA_ADD, 0, LA_SUPER_ABS_ADD},
    {LA_ABS, LA_ADD, 1, LA_SUPER_ABS_ADD},
    {LA_MUL, LA_MUL, 0, LA_SUPER_MUL_MUL},
    {LA_MUL, LA_MUL, 1, LA_SUPER_MUL_MUL},
    {LA_ADD, LA_ADD, 0, LA_SUPER_ADD_ADD},
    {LA_ADD, LA_ADD, 1, LA_SUPER_ADD_ADD},
};

static bool reads(const la_map_step *s, int reg)
{
    for (int k = 0; k < la_row_arity(s->row); k++)
        if (la_step_operand(s, k) == reg)
            return true;
    return false;
}

static bool reads_twice(const la_map_step *s, int reg)
{
    int count = 0;
    for (int k = 0; k < la_row_arity(s->row); k++)
        count += la_step_operand(s, k) == reg;
    return count > 1;
}

/* The step that gives `reg` its value before step i, or -1. */
static int writer(const la_map_step *steps, int i, int reg)
{
    while (--i >= 0 && steps[i].out != reg)
        ;
    return i;
}

static bool is_result(const la_map_code *code, int reg)
{
    for (int k = 0; k < code->n_result; k++)
        if (code->results[k].reg == reg)
            return true;
    return false;
}

/* Is the value that step i writes read by step j only? */
static bool only_reader(const la_map_step *steps, int n, int i, int j,
                        const la_map_code *code)
{
    const int reg = steps[i].out;
    int k = i + 1;
    for (; k < n; k++) {
        if (k != j && reads(&steps[k], reg))
            return false;
        if (k >= j && steps[k].out == reg)
            return true; /* another value from here on */
    }
    return !is_result(code, reg);
}

/* Is a register that step i reads written before step j? */
static bool operands_change(const la_map_step *steps, int i, int j)
{
    for (int k = i + 1; k < j; k++)
        if (reads(&steps[i], steps[k].out))
            return true;
    return false;
}

static void set_operands(la_map_step *s, const int *reg, int n)
{
    for (int k = 0; k < n && k < 3; k++)
        s->in[k] = (uint16_t)reg[k];
    if (n > 3)
        s->in[2] = (uint16_t)(reg[2] | reg[3] << 8);
}

static la_map_step fuse(const pair_rule *rule, const la_map_step *inner,
                        const la_map_step *outer)
{
    la_map_step s = {.row = rule->fused, .out = outer->out};
    int reg[LA_ROW_MAX_ARITY + 1], n = 0;
    for (int k = 0; k < la_row_arity(inner->row); k++)
        reg[n++] = la_step_operand(inner, k);
    for (int k = 0; k < la_row_arity(outer->row); k++)
        if (k != rule->slot)
            reg[n++] = la_step_operand(outer, k);
    set_operands(&s, reg, n);
    return s;
}

/* Fuses one step into step j if some rule allows it. */
static bool fuse_into(la_map_step *steps, int *n, int j,
                      const la_map_code *code)
{
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        const pair_rule *rule = &rules[r];
        if (steps[j].row != rule->outer)
            continue;
        const int reg = la_step_operand(&steps[j], rule->slot);
        const int i = writer(steps, j, reg);
        if (i < 0 || steps[i].row != rule->inner)
            continue;
        if (reads_twice(&steps[j], reg) || operands_change(steps, i, j) ||
            !only_reader(steps, *n, i, j, code))
            continue;
        steps[j] = fuse(rule, &steps[i], &steps[j]);
        for (int k = i; k + 1 < *n; k++)
            steps[k] = steps[k + 1];
        --*n;
        return true;
    }
    return false;
}

int la_map_optimise(la_map_step *steps, int n_step, const la_map_code *code)
{
    int n = steps && code ? n_step : 0;
    for (int j = 0; j < n; j++)
        if (steps[j].row >= LA_ROW_COUNT)
            return n_step; /* la_map_run says what is wrong */
    for (bool changed = true; changed;) {
        changed = false;
        for (int j = 0; j < n && !changed; j++)
            changed = fuse_into(steps, &n, j, code);
    }
    return n;
}
