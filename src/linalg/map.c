/* Elementwise maps: names and the way to the device.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/check.h"
#include "linalg/map_plan.h"

#define MAP_NAME(row, name, arity) [row] = name,
static const char *const names[LA_MAP_COUNT] = {LA_MAP_LIST(MAP_NAME)};

const char *la_map_name(la_map_row row)
{
    return (unsigned)row < LA_MAP_COUNT ? names[row] : "unknown";
}

int la_map_arity(la_map_row row)
{
    return (unsigned)row < LA_MAP_COUNT ? la_row_arity((int)row) : 0;
}

covar_status la_map_run(const la_exec *exec, const la_map_code *code, int rank,
                        const size_t *dim, const la_view *in,
                        const la_view *out, void *work)
{
    la_view full[LA_MAP_MAX_REG];
    COVAR_TRY(la_map_check(exec, code, rank, dim, in, out, full));
    size_t reduced = 0;
    for (int k = 0; k < code->n_result; k++)
        if (code->results[k].reduce != LA_REDUCE_NONE)
            reduced += la_view_count(out[k]);
    if (!work && reduced > LA_MAP_STACK_ACC)
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "la_map_run: work is NULL, but the reduced results "
                          "have %zu elements, more than %d",
                          reduced, (int)LA_MAP_STACK_ACC);
    return la_device_of(exec)->map_run(exec, code, rank, dim, full, out, work);
}

covar_status la_map(const la_exec *exec, la_map_row row, la_view out,
                    const la_view *in)
{
    COVAR_TRY(la_check_exec(exec));
    if ((unsigned)row >= LA_MAP_COUNT)
        return covar_fail(exec->ctx, COVAR_ERR_ARG,
                          "la_map: there is no row %d", (int)row);
    const int arity = la_map_arity(row);
    const la_map_step step = {
        .row = (uint16_t)row, .out = (uint16_t)arity, .in = {0, 1, 2}};
    const la_map_result result = {.reg = (uint16_t)arity};
    const la_map_code code = {.dtype = out.dtype,
                              .n_in = arity,
                              .n_step = 1,
                              .n_result = 1,
                              .n_reg = arity + 1,
                              .steps = &step,
                              .results = &result};
    return la_map_run(exec, &code, out.rank, out.dim, in, &out, NULL);
}
