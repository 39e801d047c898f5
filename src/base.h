/* Attributes and the one control-flow macro that every covar header needs.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_BASE_H
#define COVAR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define COVAR_API __attribute__((visibility("default")))
#define COVAR_MUST_CHECK __attribute__((warn_unused_result))
#define COVAR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define COVAR_API
#define COVAR_MUST_CHECK
#define COVAR_PRINTF(fmt, args)
#endif

/* Returns the status of `call` from the calling function unless it is OK. */
#define COVAR_TRY(call)                                                        \
    do {                                                                       \
        covar_status covar_try_status_ = (call);                               \
        if (covar_try_status_ != COVAR_OK)                                     \
            return covar_try_status_;                                          \
    } while (0)

#endif
