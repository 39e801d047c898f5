/* Private to src/gp: making sets of rows (data.c, data_measure.c).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_DATA_H
#define COVAR_GP_DATA_H

#include "gp_impl.h"

/* Fills statistics, shifts, constant columns and the duplicates flag of rows
 * that are in place. ARG when targets or inputs overflow. */
covar_status gp_data_measure(gp_data *data, covar_context *ctx,
                             const gp_options *options);

#endif
