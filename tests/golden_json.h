/* Golden values: a small JSON reader for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     golden *file = golden_open("gp_public.json");
 *     const golden *c = golden_case(file, "G01");
 *     double X[5];
 *     size_t n = golden_numbers(c, "inputs/X", X, NELEM(X));
 *     TEST_CLOSE(lml, golden_number(c, "expected/lml"), 1e-10);
 *     golden_close(file);
 *
 * Paths are member names and array indices joined by '/'. What is missing
 * fails the running test, with the path, and reads as NaN, 0 or NULL. */
#ifndef GOLDEN_JSON_H
#define GOLDEN_JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct golden golden;

/* Reads tests/golden/NAME, or parses a text. NULL, with a failed assertion
 * that names line and what was expected, when that is not possible. */
golden *golden_open(const char *name);
golden *golden_parse(const char *text, const char *name);
void golden_close(golden *file);

/* The member of file/"cases" whose "id" starts with `id`. */
const golden *golden_case(const golden *file, const char *id);

/* The value at `path`; golden_has asks without failing. */
const golden *golden_at(const golden *from, const char *path);
bool golden_has(const golden *from, const char *path);

/* A number (null and non-finite words: NaN); the text of a string. */
double golden_number(const golden *from, const char *path);
const char *golden_text(const golden *from, const char *path);

/* All numbers of a nested array, row by row, into out (max); their count. */
size_t golden_numbers(const golden *from, const char *path, double *out,
                      size_t max);

/* Members of an array or object, and the name of member i of an object. */
size_t golden_length(const golden *from, const char *path);
const char *golden_name(const golden *from, const char *path, size_t i);

#endif
