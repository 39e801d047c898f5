/* Numbers as text, the same in every locale: the decimal point is always '.',
 * whatever setlocale was called with.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 400 };

static size_t digits(const char *s)
{
    size_t n = 0;
    while (s[n] >= '0' && s[n] <= '9')
        n++;
    return n;
}

/* Length of the number at the start of s; *point = place of its '.', or the
 * length when it has none. */
static size_t scan(const char *s, size_t *point)
{
    size_t i = s[0] == '+' || s[0] == '-' ? 1 : 0;
    size_t whole = digits(s + i), part = 0;
    i += whole;
    *point = i;
    if (s[i] == '.') {
        part = digits(s + i + 1);
        i += 1 + part;
    }
    if (whole + part == 0)
        return 0;
    if (s[i] == 'e' || s[i] == 'E') {
        size_t sign = s[i + 1] == '+' || s[i + 1] == '-' ? 1 : 0;
        size_t power = digits(s + i + 1 + sign);
        if (power > 0)
            i += 1 + sign + power;
    }
    return i;
}

size_t covar_number_read(double *value, const char *text)
{
    size_t point, length = scan(text, &point);
    char local[LONGEST_NUMBER + 16];
    const char *mark = localeconv()->decimal_point;
    if (length == 0 || length > LONGEST_NUMBER || strlen(mark) > 8)
        return 0;
    size_t k = 0;
    for (size_t i = 0; i < length; i++) {
        if (i == point && text[i] == '.') {
            memcpy(local + k, mark, strlen(mark));
            k += strlen(mark);
        } else {
            local[k++] = text[i];
        }
    }
    local[k] = '\0';
    *value = strtod(local, NULL);
    return length;
}

static void print_digits(char buf[COVAR_NUMBER_TEXT], int precision, double x)
{
    const char *mark = localeconv()->decimal_point;
    snprintf(buf, COVAR_NUMBER_TEXT, "%.*g", precision, x);
    char *found = strcmp(mark, ".") != 0 ? strstr(buf, mark) : NULL;
    if (found) {
        *found = '.';
        memmove(found + 1, found + strlen(mark),
                strlen(found + strlen(mark)) + 1);
    }
}

const char *covar_number_print(char buf[COVAR_NUMBER_TEXT], double value)
{
    if (isnan(value))
        return strcpy(buf, "nan");
    if (isinf(value))
        return strcpy(buf, value > 0 ? "inf" : "-inf");
    for (int precision = 15; precision <= 17; precision++) {
        double back;
        print_digits(buf, precision, value);
        if (covar_number_read(&back, buf) > 0 && back == value)
            break;
    }
    return buf;
}
