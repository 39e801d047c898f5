/* Status codes: what every covar function that can fail returns.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The code says what kind of thing went wrong; the sentence with the numbers
 * in it is kept by the context (covar_error_text). */
#ifndef COVAR_STATUS_H
#define COVAR_STATUS_H

#include <covar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(code, text): the one list of codes and their short texts. */
#define COVAR_STATUS_LIST(X)                                                   \
    X(COVAR_OK, "success")                                                     \
    X(COVAR_ERR_ARG, "invalid argument")                                       \
    X(COVAR_ERR_SHAPE, "shapes do not match")                                  \
    X(COVAR_ERR_DTYPE, "element types do not match")                           \
    X(COVAR_ERR_NAME, "unknown or repeated name")                              \
    X(COVAR_ERR_PARSE, "text could not be parsed")                             \
    X(COVAR_ERR_NOMEM, "out of memory")                                        \
    X(COVAR_ERR_DATA, "the data do not determine the answer")                  \
    X(COVAR_ERR_NOT_PD, "matrix is not positive definite")                     \
    X(COVAR_ERR_SINGULAR, "matrix is singular")                                \
    X(COVAR_ERR_NUMERIC, "no finite or converged result")                      \
    X(COVAR_ERR_NO_GRAD, "the derivative does not exist")                      \
    X(COVAR_ERR_IO, "file could not be read or written")                       \
    X(COVAR_ERR_FORMAT, "file has the wrong format")                           \
    X(COVAR_ERR_DEVICE, "device failure or mismatch")                          \
    X(COVAR_ERR_UNSUPPORTED, "not supported in this combination")              \
    X(COVAR_ERR_STATE, "called in the wrong state")                            \
    X(COVAR_BUSY, "the store is in use by a program with updates")             \
    X(COVAR_POISONED, "an earlier error left nothing to work on")              \
    X(COVAR_CANCELLED, "stopped on request")

#define COVAR_STATUS_CODE(code, text) code,
typedef enum covar_status {
    COVAR_STATUS_LIST(COVAR_STATUS_CODE) COVAR_STATUS_COUNT
} covar_status;
#undef COVAR_STATUS_CODE

/* Short text of a code, e.g. "out of memory"; "unknown status" for a number
 * outside the list. Never NULL. Thread-safe. */
COVAR_API const char *covar_status_text(covar_status status);

/* Name of a code, e.g. "COVAR_ERR_NOMEM". Never NULL. Thread-safe. */
COVAR_API const char *covar_status_name(covar_status status);

#ifdef __cplusplus
}
#endif

#endif
