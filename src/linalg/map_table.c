/* Facts about the rows of the map table, and the kernels to run them.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/map_table.h"

#define ROW_ARITY(row, name, n) [row] = n,
static const unsigned char arities[LA_ROW_COUNT] = {
    LA_MAP_LIST(ROW_ARITY) LA_SUPER_LIST(ROW_ARITY)};

static const unsigned char commuting[LA_ROW_COUNT] = {[LA_ADD] = 1,
                                                      [LA_MUL] = 1,
                                                      [LA_MIN] = 1,
                                                      [LA_MAX] = 1,
                                                      [LA_EQ] = 1,
                                                      [LA_NE] = 1,
                                                      [LA_FMA] = 1,
                                                      [LA_SUPER_FMS] = 1,
                                                      [LA_SUPER_FNMA] = 1,
                                                      [LA_SUPER_FMA_MUL] = 1,
                                                      [LA_SUPER_ADD_MUL] = 1,
                                                      [LA_SUPER_MUL_MUL] = 1,
                                                      [LA_SUPER_ADD_ADD] = 1};

/* Tenths of a ns for an f64 on AVX2; a plain row has 3. */
static const unsigned char costs[LA_ROW_COUNT] = {[LA_EXP] = 12,
                                                  [LA_EXPM1] = 14,
                                                  [LA_LOG] = 20,
                                                  [LA_LOG1P] = 20,
                                                  [LA_LOG1MEXP] = 50,
                                                  [LA_SIN] = 40,
                                                  [LA_COS] = 40,
                                                  [LA_TAN] = 60,
                                                  [LA_ATAN] = 40,
                                                  [LA_SINH] = 40,
                                                  [LA_COSH] = 40,
                                                  [LA_TANH] = 18,
                                                  [LA_SIGMOID] = 18,
                                                  [LA_SOFTPLUS] = 40,
                                                  [LA_SOFTPLUS_INV] = 45,
                                                  [LA_LOG_SIGMOID] = 40,
                                                  [LA_ERF] = 40,
                                                  [LA_ERFC] = 35,
                                                  [LA_LOG_ERFC] = 70,
                                                  [LA_NDTR] = 35,
                                                  [LA_LOG_NDTR] = 70,
                                                  [LA_POW] = 80,
                                                  [LA_SUPER_MUL_EXP] = 13,
                                                  [LA_SUPER_SUB_EXP] = 13,
                                                  [LA_SUPER_FMA_EXP] = 13,
                                                  [LA_SUPER_EXP_MUL] = 13,
                                                  [LA_SUPER_MUL_EXP_MUL] = 14,
                                                  [LA_SUPER_MUL_TANH] = 19,
                                                  [LA_SUPER_ADD_TANH] = 19,
                                                  [LA_SUPER_FMA_TANH] = 19,
                                                  [LA_SUPER_MUL_SIGMOID] = 19,
                                                  [LA_SUPER_ADD_SIGMOID] = 19,
                                                  [LA_SUPER_FMA_SIGMOID] = 19,
                                                  [LA_SUPER_MUL_SIGMOID_FMA] =
                                                      20};

int la_row_arity(int row)
{
    return arities[row];
}

bool la_row_commutes(int row)
{
    return commuting[row] != 0;
}

double la_row_cost(int row)
{
    const int tenths = costs[row] > 0 ? costs[row] : 3;
    return 0.1 * tenths;
}

extern const la_map_kernels la_map_kernels_f64_base, la_map_kernels_f32_base;
#if defined(HAVE_ISA_X86)
extern const la_map_kernels la_map_kernels_f64_v3, la_map_kernels_f32_v3;
extern const la_map_kernels la_map_kernels_f64_v4, la_map_kernels_f32_v4;
#endif

const la_map_kernels *la_map_kernels_of(covar_isa isa, la_dtype dtype)
{
#if defined(HAVE_ISA_X86)
    if (isa == COVAR_ISA_V4)
        return dtype == LA_F64 ? &la_map_kernels_f64_v4
                               : &la_map_kernels_f32_v4;
    if (isa == COVAR_ISA_V3)
        return dtype == LA_F64 ? &la_map_kernels_f64_v3
                               : &la_map_kernels_f32_v3;
#endif
    (void)isa;
    return dtype == LA_F64 ? &la_map_kernels_f64_base
                           : &la_map_kernels_f32_base;
}
