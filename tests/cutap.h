/* Runs CUnit tests and prints their results as TAP, one line for each test.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     static void test_add(void)
 *     {
 *         CU_ASSERT_EQUAL(1 + 1, 2);
 *     }
 *
 *     int main(void)
 *     {
 *         static const cutap_case cases[] = {
 *             {"add", test_add},
 *         };
 *         return CUTAP_RUN("arithmetic", cases);
 *     }
 *
 * Run by hand a program returns 0 (all passed), 1 (a failure), 77 (all
 * skipped) or 99 (could not start). With COVAR_TAP set it returns 0 whenever
 * it came to its end: then the TAP lines carry the verdict. */
#ifndef CUTAP_H
#define CUTAP_H

#include <stddef.h>
#include <CUnit/CUnit.h>
#include <CUnit/TestDB.h>

typedef struct cutap_case {
    const char *name;
    void (*run)(void);
} cutap_case;

/* Runs n cases as one suite; returns the exit status for main. */
int cutap_run(const char *suite, const cutap_case *cases, size_t n);
#define CUTAP_RUN(suite, cases)                                                \
    cutap_run(suite, cases, sizeof(cases) / sizeof((cases)[0]))

/* For tests made from a table, such as one per operator: add as many as
 * needed (name is copied, data is borrowed), then call cutap_finish once. */
void cutap_add(const char *suite, const char *name,
               void (*run)(const void *data), const void *data);
int cutap_finish(void);

/* Marks the running test as skipped and leaves it. */
void cutap_skip(const char *why);
#define CUTAP_SKIP(why)                                                        \
    do {                                                                       \
        cutap_skip(why);                                                       \
        return;                                                                \
    } while (0)

/* Prints a comment line; for figures worth reading in the log. */
void cutap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
