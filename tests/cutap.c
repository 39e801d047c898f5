/* The bridge from CUnit to TAP.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cutap.h"

#include <CUnit/TestRun.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    const char *suite;
    char *name;
    void (*run)(void);
    void (*run_data)(const void *data);
    const void *data;
} entry;

static entry *entries;
static size_t n_entries;
static size_t current; /* tests run in the order in which they were added */
static size_t n_skipped;
static char skip_reason[256];

static void add_entry(entry e)
{
    entry *grown = realloc(entries, (n_entries + 1) * sizeof(*entries));
    char *name = strdup(e.name);
    if (!grown || !name) {
        printf("Bail out! out of memory\n");
        exit(99);
    }
    entries = grown;
    e.name = name;
    entries[n_entries++] = e;
}

static void run_current(void)
{
    const entry *e = &entries[current];
    if (e->run)
        e->run();
    else
        e->run_data(e->data);
}

static void print_result(const CU_pTest test, const CU_pSuite suite,
                         const CU_pFailureRecord failures)
{
    (void)test;
    (void)suite;
    const entry *e = &entries[current++];
    printf("%s %zu - %s/%s", failures ? "not ok" : "ok", current, e->suite,
           e->name);
    if (skip_reason[0] && !failures) {
        printf(" # SKIP %s", skip_reason);
        n_skipped++;
    }
    printf("\n");
    for (const CU_FailureRecord *f = failures; f; f = f->pNext)
        printf("# %s:%u: %s\n", f->strFileName, f->uiLineNumber,
               f->strCondition);
    skip_reason[0] = '\0';
    fflush(stdout);
}

/* Suites come in runs of equal names; CUnit keeps the order. */
static CU_ErrorCode register_all(void)
{
    CU_pSuite suite = NULL;
    for (size_t i = 0; i < n_entries; i++) {
        if (i == 0 || strcmp(entries[i].suite, entries[i - 1].suite) != 0)
            suite = CU_add_suite(entries[i].suite, NULL, NULL);
        if (!suite || !CU_add_test(suite, entries[i].name, run_current))
            return CU_get_error();
    }
    return CUE_SUCCESS;
}

static void free_all(void)
{
    CU_cleanup_registry();
    for (size_t i = 0; i < n_entries; i++)
        free(entries[i].name);
    free(entries);
    entries = NULL;
    n_entries = 0;
}

void cutap_add(const char *suite, const char *name,
               void (*run)(const void *data), const void *data)
{
    add_entry((entry){
        .suite = suite, .name = (char *)name, .run_data = run, .data = data});
}

int cutap_run(const char *suite, const cutap_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add_entry((entry){.suite = suite,
                          .name = (char *)cases[i].name,
                          .run = cases[i].run});
    return cutap_finish();
}

int cutap_finish(void)
{
    printf("1..%zu\n", n_entries);
    fflush(stdout);
    if (CU_initialize_registry() != CUE_SUCCESS ||
        register_all() != CUE_SUCCESS) {
        printf("Bail out! %s\n", CU_get_error_msg());
        return 99;
    }
    CU_set_test_complete_handler(print_result);
    CU_set_error_action(CUEA_IGNORE);
    CU_run_all_tests();
    unsigned failed = CU_get_number_of_failures();
    printf("# %u asserts, %u failed\n", CU_get_number_of_asserts(), failed);
    bool all_ran = current == n_entries;
    bool all_skipped = n_entries > 0 && n_skipped == n_entries;
    free_all();
    if (!all_ran)
        return 99;
    if (getenv("COVAR_TAP"))
        return 0;
    return failed ? 1 : all_skipped ? 77 : 0;
}

void cutap_skip(const char *why)
{
    snprintf(skip_reason, sizeof(skip_reason), "%s", why);
}

void cutap_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("# ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
}
