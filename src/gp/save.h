/* Private to src/gp: the layout of a model file (save.c, load.c).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_GP_SAVE_H
#define COVAR_GP_SAVE_H

#include "h5.h"
#include "model_impl.h"

#define GP_SCHEMA "covar-gp-model/2"

/* Columns of member "parameters", one row for each of the table. */
enum { VALUE, LOWER, UPPER, SCALE, FIXED, PRIOR_KIND, PRIOR_A, PRIOR_B, TIE,
       GRADIENT, PARAMETER_COLUMNS };

/* Places in member "options". */
enum { MEAN, MEAN_PLUGIN, OBJECTIVE, STANDARDISE, DTYPE, JITTER, MEAN_GIVEN,
       MISSING, DUPLICATES, OPTION_COUNT };

/* Places in member "numbers". */
enum { LML, LML_STANDARDISED, OBJECTIVE_VALUE, LOG_DET, JITTER_RELATIVE,
       JITTER_ABSOLUTE, RCOND, JITTER_VALUE, NUMBER_COUNT };

/* A vector or matrix of a gp_data by name; *at is NULL when absent. */
typedef struct gp_member {
    const char *name;
    double    **at;
    size_t      rows, cols; /* cols 0: a vector */
} gp_member;

enum { GP_DATA_MEMBERS = 12 };

size_t  gp_data_members(gp_member list[GP_DATA_MEMBERS], gp_data *d);
la_view gp_member_view(const gp_member *m);

#endif
