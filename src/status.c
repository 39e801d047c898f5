/* Names and short texts of the status codes.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <covar/status.h>

#define TEXT(code, text) [code] = text,
#define NAME(code, text) [code] = #code,

static const char *const texts[COVAR_STATUS_COUNT] = {COVAR_STATUS_LIST(TEXT)};
static const char *const names[COVAR_STATUS_COUNT] = {COVAR_STATUS_LIST(NAME)};

/* Enumerators start at 0, but a caller may pass any number. */
static bool is_known(covar_status status)
{
    return (unsigned)status < (unsigned)COVAR_STATUS_COUNT;
}

const char *covar_status_text(covar_status status)
{
    return is_known(status) ? texts[status] : "unknown status";
}

const char *covar_status_name(covar_status status)
{
    return is_known(status) ? names[status] : "COVAR_UNKNOWN";
}
