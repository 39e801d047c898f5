/* What most tests need: contexts, an allocator that fails on request,
 * comparisons that print their operands, and the way to shared data.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tests may read the environment (the library may not):
 *   COVAR_ISA      baseline, v3 or v4: limit of the contexts made here
 *   COVAR_THREADS  thread count of the contexts made here
 *   COVAR_SHARED   folder with the data sets and golden values */
#ifndef TEST_UTIL_H
#define TEST_UTIL_H

#include <covar/context.h>
#include "cutap.h"

#define NELEM(array) (sizeof(array) / sizeof((array)[0]))

/* A context set up from the environment. Never NULL: ends the program. */
covar_context *test_context(void);
covar_context *test_context_with(const covar_allocator *allocator);

/* ---- an allocator that counts, checks and fails ---- */

/* Single-threaded. `fail_at` = k makes the k-th allocation from now fail, 0
 * none. `mistakes` counts frees of a wrong size or of what is not a block. */
typedef struct test_allocator {
    size_t fail_at;
    size_t allocations; /* attempts since the last test_allocator_arm */
    size_t live_blocks;
    size_t live_bytes;
    size_t peak_bytes;
    size_t mistakes;
    bool failed; /* the requested failure has happened */
} test_allocator;

/* `t` must be zeroed first and outlive everything made with the result. */
covar_allocator test_allocator_use(test_allocator *t);

/* Starts counting anew; the k-th allocation from here fails. */
void test_allocator_arm(test_allocator *t, size_t k);

/* Runs `body` on a fresh context, again and again, with its first, second,
 * third ... allocation failing, until it meets no failure. Asserts that each
 * failure is reported as COVAR_ERR_NOMEM with a sentence, that nothing leaks,
 * and that at least one allocation failed; notes how many did and returns it.
 * `body` frees what it makes, in either case. */
typedef covar_status test_body(covar_context *ctx, void *data);
size_t test_allocation_sweep(const char *what, test_body *body, void *data);

/* ---- comparisons; failures print both sides ---- */

/* |actual - expected| <= tolerance * max(1, |expected|)?  NaN equals NaN and
 * infinities equal themselves. */
#define TEST_CLOSE(actual, expected, tolerance)                                \
    test_close(actual, expected, tolerance, #actual, __FILE__, __LINE__)

/* |actual - expected| <= tolerance * |expected|. */
#define TEST_REL(actual, expected, tolerance)                                  \
    test_rel(actual, expected, tolerance, #actual, __FILE__, __LINE__)

/* max |actual - expected| <= tolerance * max |expected|, over n doubles. */
#define TEST_CLOSE_ARRAY(actual, expected, n, tolerance)                       \
    test_close_array(actual, expected, n, tolerance, #actual, __FILE__,        \
                     __LINE__)

/* Equal bit for bit (floats or doubles, `size` bytes each). */
#define TEST_SAME_BITS(actual, expected, n, size)                              \
    test_same_bits(actual, expected, n, size, #actual, __FILE__, __LINE__)

#define TEST_INT(actual, expected)                                             \
    test_int((long long)(actual), (long long)(expected), #actual, __FILE__,    \
             __LINE__)
#define TEST_TEXT(actual, expected)                                            \
    test_text(actual, expected, #actual, __FILE__, __LINE__)
#define TEST_CONTAINS(text, part)                                              \
    test_contains(text, part, #text, __FILE__, __LINE__)

/* The call gives this status; prints names and the sentence if not. */
#define TEST_STATUS(ctx, call, expected)                                       \
    test_status(ctx, call, expected, #call, __FILE__, __LINE__)
#define TEST_OK(ctx, call) TEST_STATUS(ctx, call, COVAR_OK)

bool test_close(double actual, double expected, double tolerance,
                const char *what, const char *file, int line);
bool test_rel(double actual, double expected, double tolerance,
              const char *what, const char *file, int line);
bool test_close_array(const double *actual, const double *expected, size_t n,
                      double tolerance, const char *what, const char *file,
                      int line);
bool test_same_bits(const void *actual, const void *expected, size_t n,
                    size_t size, const char *what, const char *file, int line);
bool test_int(long long actual, long long expected, const char *what,
              const char *file, int line);
bool test_text(const char *actual, const char *expected, const char *what,
               const char *file, int line);
bool test_contains(const char *text, const char *part, const char *what,
                   const char *file, int line);
bool test_status(const covar_context *ctx, covar_status actual,
                 covar_status expected, const char *what, const char *file,
                 int line);

/* Records a failed assertion with a printf-made text unless `good`. */
bool test_check(bool good, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- shared data ---- */

/* Full path of `name` below the shared folder, written to `path`; false when
 * there is no such file. The folder is COVAR_SHARED or ../shared beside the
 * source folder. */
bool test_shared_path(char *path, size_t size, const char *name);

/* Full path of `name` below the source folder; false when it does not fit. */
bool test_source_path(char *path, size_t size, const char *name);

/* Leaves the test, as skipped, when the shared file is not there. */
#define TEST_SHARED(path, name)                                                \
    do {                                                                       \
        if (!test_shared_path(path, sizeof(path), name))                       \
            CUTAP_SKIP("no shared file " name);                                \
    } while (0)

#endif
