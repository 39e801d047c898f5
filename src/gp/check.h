/* Private to src/gp: what the verbs ask of their arguments (check.c).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every check returns COVAR_OK or a status with a sentence that names the
 * function, the argument and the numbers. */
#ifndef COVAR_GP_CHECK_H
#define COVAR_GP_CHECK_H

#include "gp_impl.h"

/* One of a function's pointers, for gp_check_pointers. */
typedef struct gp_pointer {
    const char *name;
    const void *p;
} gp_pointer;

/* "WHO: NAME is NULL" for the first that is. ctx may be NULL: ARG without a
 * sentence. */
#define GP_CHECK_POINTERS(ctx, who, ...)                                       \
    gp_check_pointers(                                                         \
        ctx, who, (const gp_pointer[]){__VA_ARGS__},                           \
        sizeof((const gp_pointer[]){__VA_ARGS__}) / sizeof(gp_pointer))
covar_status gp_check_pointers(covar_context *ctx, const char *who,
                               const gp_pointer *list, size_t n);

/* An input of f64 or f32 in host memory: there, of a known type and rank, with
 * data, and not larger than the machine. */
covar_status gp_check_view(covar_context *ctx, const char *who,
                           const char *name, la_view x);

covar_status gp_check_real(covar_context *ctx, const char *who,
                           const char *name, la_dtype dtype);

/* value is one of the names of an enum, counted from 0: else ARG with both. */
covar_status gp_check_enum(covar_context *ctx, const char *who,
                           const char *what, long value,
                           const char *const *name, size_t n);

/* a b c, or SIZE_MAX where that does not fit. */
size_t gp_product(size_t a, size_t b, size_t c);
size_t gp_sum(size_t a, size_t b); /* likewise */

/* NOMEM when `bytes` of workspace are more than the machine has free. */
covar_status gp_check_room(covar_context *ctx, const char *who, size_t bytes);
size_t gp_free_bytes(void); /* 0: not known; memory.c */

/* Results that must be finite: NUMERIC, with the row and, of the input at that
 * row, the column farthest from the training rows. x (rows, cols). */
covar_status gp_check_result(covar_context *ctx, const char *who,
                             const char *what, const gp_model *m, la_view Xs,
                             const double *x, size_t rows, size_t cols);

bool gp_is_far(const gp_model *m, la_view Xs, size_t row);

/* Puts `who` in front of a sentence that names gp_fit, whose parts other verbs
 * share. Returns status. */
covar_status gp_fail_as(covar_context *ctx, covar_status status,
                        const char *who);

#endif
