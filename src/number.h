/* Private: numbers as text, the same in every locale.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_NUMBER_H
#define COVAR_NUMBER_H

#include <covar/base.h>

enum { COVAR_NUMBER_TEXT = 32 }; /* room for any printed double */

/* Reads [+-] digits [. digits] [e [+-] digits] at the start of `text`. Returns
 * the number of bytes read, 0 when there is no number. An overflow gives an
 * infinity. Never reads "nan", "inf" or hexadecimals. */
size_t covar_number_read(double *value, const char *text);

/* Shortest of 15 to 17 significant digits that reads back to the same double;
 * "nan", "inf", "-inf". Returns buf. */
const char *covar_number_print(char buf[COVAR_NUMBER_TEXT], double value);

#endif
