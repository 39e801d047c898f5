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
#define LA_SUPER_LIST(X) X(LA_SUPER_FMS, "fms", 3) /* a b - c */

#define LA_SUPER_CODE(row, name, arity) row,
enum la_super_row {
    LA_SUPER_BEFORE = LA_MAP_COUNT - 1,
    LA_SUPER_LIST(LA_SUPER_CODE) LA_ROW_COUNT
};
#undef LA_SUPER_CODE

/* Number of operands of any row, 1 to 4. */
int la_row_arity(int row);

/* Operand k of a step. Registers fit in a byte; a fourth operand lives in the
 * high byte of the third. */
static inline int la_step_operand(const la_map_step *step, int k)
{
    return k < 3 ? step->in[k] & 0xff : step->in[2] >> 8;
}

#endif
