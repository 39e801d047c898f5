/* Comparisons that print their operands, contexts, and shared files.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_util.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool test_check(bool good, const char *file, int line, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    CU_assertImplementation(good, (unsigned)line, text, file, "", CU_FALSE);
    return good;
}

static bool within(double a, double b, double allowed)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return fabs(a - b) <= allowed;
}

bool test_close(double actual, double expected, double tolerance,
                const char *what, const char *file, int line)
{
    double scale = fmax(1.0, fabs(expected));
    return test_check(within(actual, expected, tolerance * scale), file, line,
                      "%s = %.17g, not %.17g: error %.3g > %.3g", what, actual,
                      expected, fabs(actual - expected) / scale, tolerance);
}

bool test_rel(double actual, double expected, double tolerance,
              const char *what, const char *file, int line)
{
    double scale = fabs(expected);
    return test_check(within(actual, expected, tolerance * scale), file, line,
                      "%s = %.17g, not %.17g: relative error %.3g > %.3g", what,
                      actual, expected, fabs(actual - expected) / scale,
                      tolerance);
}

bool test_close_array(const double *actual, const double *expected, size_t n,
                      double tolerance, const char *what, const char *file,
                      int line)
{
    double scale = DBL_MIN;
    for (size_t i = 0; i < n; i++)
        if (isfinite(expected[i]))
            scale = fmax(scale, fabs(expected[i]));
    size_t bad = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        if (within(actual[i], expected[i], tolerance * scale))
            continue;
        if (bad++ == 0)
            first = i;
    }
    if (bad == 0)
        return test_check(true, file, line, "%s", what);
    return test_check(false, file, line,
                      "%s: %zu of %zu wrong, first [%zu] = %.17g, not %.17g: "
                      "error %.3g > %.3g of the largest",
                      what, bad, n, first, actual[first], expected[first],
                      fabs(actual[first] - expected[first]) / scale, tolerance);
}

static double read_real(const char *p, size_t size)
{
    if (size == sizeof(float)) {
        float x;
        memcpy(&x, p, sizeof(x));
        return (double)x;
    }
    double x = NAN;
    if (size == sizeof(double))
        memcpy(&x, p, sizeof(x));
    return x;
}

bool test_same_bits(const void *actual, const void *expected, size_t n,
                    size_t size, const char *what, const char *file, int line)
{
    const char *a = actual, *b = expected;
    size_t bad = 0, first = 0;
    for (size_t i = 0; i < n; i++)
        if (memcmp(a + i * size, b + i * size, size) != 0 && bad++ == 0)
            first = i;
    if (bad == 0)
        return test_check(true, file, line, "%s", what);
    return test_check(false, file, line,
                      "%s: %zu of %zu differ, first [%zu] = %.17g, not %.17g",
                      what, bad, n, first, read_real(a + first * size, size),
                      read_real(b + first * size, size));
}

bool test_int(long long actual, long long expected, const char *what,
              const char *file, int line)
{
    return test_check(actual == expected, file, line, "%s = %lld, not %lld",
                      what, actual, expected);
}

bool test_text(const char *actual, const char *expected, const char *what,
               const char *file, int line)
{
    bool same = actual && strcmp(actual, expected) == 0;
    return test_check(same, file, line, "%s = \"%s\", not \"%s\"", what,
                      actual ? actual : "(null)", expected);
}

bool test_contains(const char *text, const char *part, const char *what,
                   const char *file, int line)
{
    bool found = text && strstr(text, part);
    return test_check(found, file, line, "%s = \"%s\" lacks \"%s\"", what,
                      text ? text : "(null)", part);
}

bool test_status(const covar_context *ctx, covar_status actual,
                 covar_status expected, const char *what, const char *file,
                 int line)
{
    return test_check(actual == expected, file, line, "%s: %s, not %s (%s)",
                      what, covar_status_name(actual),
                      covar_status_name(expected), covar_error_text(ctx));
}

static covar_isa isa_from_text(const char *text)
{
    if (strcmp(text, "baseline") == 0 || strcmp(text, "base") == 0)
        return COVAR_ISA_BASELINE;
    if (strcmp(text, "v3") == 0)
        return COVAR_ISA_V3;
    if (strcmp(text, "v4") == 0)
        return COVAR_ISA_V4;
    return COVAR_ISA_AUTO;
}

covar_context *test_context_with(const covar_allocator *allocator)
{
    covar_context *ctx = covar_context_create_with(allocator);
    if (!ctx) {
        printf("Bail out! no context\n");
        exit(99);
    }
    const char *isa = getenv("COVAR_ISA");
    const char *threads = getenv("COVAR_THREADS");
    if (isa)
        covar_context_set_isa(ctx, isa_from_text(isa));
    if (threads)
        covar_context_set_threads(ctx, (int)strtol(threads, NULL, 10));
    return ctx;
}

covar_context *test_context(void)
{
    return test_context_with(NULL);
}

bool test_shared_path(char *path, size_t size, const char *name)
{
    const char *shared = getenv("COVAR_SHARED");
    int n = shared ? snprintf(path, size, "%s/%s", shared, name)
                   : snprintf(path, size, "%s/../shared/%s", TEST_SRCDIR, name);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

bool test_source_path(char *path, size_t size, const char *name)
{
    int n = snprintf(path, size, "%s/%s", TEST_SRCDIR, name);
    return n > 0 && (size_t)n < size;
}
