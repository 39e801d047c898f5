/* Private: rows of the map table beyond the public ones, and their kernels.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A super row does the work of two or three plain rows in one pass over the
 * block. Its operands are those of the inner row followed by the remaining
 * ones of the outer row, in order: of (a - b) c they are a, b, c. */
#ifndef COVAR_LINALG_MAP_TABLE_H
#define COVAR_LINALG_MAP_TABLE_H

#include "linalg/linalg_impl.h"

/* X(ROW, "name", arity), numbered on from LA_MAP_COUNT. */
#define LA_SUPER_LIST(X)                                                      \
    X(LA_SUPER_FMS, "fms", 3)                 /* a b - c */                   \
    X(LA_SUPER_FNMA, "fnma", 3)               /* c - a b */                   \
    X(LA_SUPER_FMA_MUL, "fma_mul", 4)         /* (a b + c) d */               \
    X(LA_SUPER_ABS_ADD, "abs_add", 2)         /* |a| + b */                   \
    X(LA_SUPER_ABS_FMA, "abs_fma", 3)         /* |a| + b c */                 \
    X(LA_SUPER_ADD_MUL, "add_mul", 3)         /* (a + b) c */                 \
    X(LA_SUPER_SUB_MUL, "sub_mul", 3)         /* (a - b) c */                 \
    X(LA_SUPER_SUB_DIV, "sub_div", 3)         /* (a - b) / c */               \
    X(LA_SUPER_MUL_MUL, "mul_mul", 3)         /* a b c */                     \
    X(LA_SUPER_ADD_ADD, "add_add", 3)         /* a + b + c */                 \
    X(LA_SUPER_SUB_SQUARE, "sub_square", 2)   /* (a - b)^2 */                 \
    X(LA_SUPER_SQUARE_ADD, "square_add", 2)   /* a^2 + b */                   \
    X(LA_SUPER_MUL_EXP, "mul_exp", 2)         /* exp(a b) */                  \
    X(LA_SUPER_SUB_EXP, "sub_exp", 2)         /* exp(a - b) */                \
    X(LA_SUPER_FMA_EXP, "fma_exp", 3)         /* exp(a b + c) */              \
    X(LA_SUPER_EXP_MUL, "exp_mul", 2)         /* exp(a) b */                  \
    X(LA_SUPER_MUL_EXP_MUL, "mul_exp_mul", 3) /* exp(a b) c */                \
    X(LA_SUPER_MUL_TANH, "mul_tanh", 2)       /* tanh(a b) */                 \
    X(LA_SUPER_ADD_TANH, "add_tanh", 2)       /* tanh(a + b) */               \
    X(LA_SUPER_FMA_TANH, "fma_tanh", 3)       /* tanh(a b + c) */             \
    X(LA_SUPER_MUL_SIGMOID, "mul_sigmoid", 2) /* sigmoid(a b) */              \
    X(LA_SUPER_ADD_SIGMOID, "add_sigmoid", 2) /* sigmoid(a + b) */            \
    X(LA_SUPER_FMA_SIGMOID, "fma_sigmoid", 3) /* sigmoid(a b + c) */          \
    X(LA_SUPER_MUL_SIGMOID_FMA, "mul_sigmoid_fma", 4) /* sigmoid(a b) c + d */

#define LA_SUPER_CODE(row, name, arity) row,
enum la_super_row {
    LA_SUPER_BEFORE = LA_MAP_COUNT - 1,
    LA_SUPER_LIST(LA_SUPER_CODE) LA_ROW_COUNT
};
#undef LA_SUPER_CODE

enum { LA_ROW_MAX_ARITY = 4 };

/* Number of operands, 1 to 4. */
int la_row_arity(int row);

/* May the first two operands change places? */
bool la_row_commutes(int row);

/* ns an element, roughly: decides from where on a second thread pays. */
double la_row_cost(int row);

/* Operand k of a step. Registers fit in a byte; a fourth operand lives in the
 * high byte of the third. */
static inline int la_step_operand(const la_map_step *step, int k)
{
    return k < 3 ? step->in[k] & 0xff : step->in[2] >> 8;
}

/* out[i] = row(in[0][i], ...) for i < n. Bit k of `uniform`: operand k is one
 * value, at in[k] in every element of a block of LA_MAP_SPLAT bytes. `out` may
 * be an operand. */
typedef void la_row_fn(size_t n, void *out, const void *const *in,
                       unsigned uniform);

enum { LA_MAP_SPLAT = 64 };

/* The kernels of one element type and instruction set. By la_reduce_kind:
 * `reduce` gives the reduction of n elements (sums in double, in a fixed
 * order), `accumulate` takes each element into its own accumulator. */
typedef struct la_map_kernels {
    la_row_fn *row[LA_ROW_COUNT];
    double (*reduce[4])(size_t n, const void *x);
    void (*accumulate[4])(size_t n, double *acc, const void *x);
} la_map_kernels;

/* Checks a program and its operands; inputs broadcast to dim go to `full`
 * (n_in views). */
covar_status la_map_check(const la_exec *exec, const la_map_code *code,
                          int rank, const size_t *dim, const la_view *in,
                          const la_view *out, la_view *full);

/* The kernels of an instruction set; of a lower one where it is not built. */
const la_map_kernels *la_map_kernels_of(covar_isa isa, la_dtype dtype);

#endif
