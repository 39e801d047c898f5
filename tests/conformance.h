/* The conformance suite: what every operator must satisfy, tested from its
 * `example` alone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     int main(void)
 *     {
 *         conformance_add("ops", ad_ops);
 *         return cutap_finish();
 *     }
 *
 * For every variant of every operator, f64 and f32, with and without a batch
 * dim: inferred shapes and structure facts hold; f32 agrees with f64; one
 * thread with two; in place with out of place; wrong inputs give a status and
 * a sentence; a failing allocation leaks nothing; vjp and jvp agree with
 * central differences and with each other; second derivatives agree with
 * differences of first ones. An operator without an example fails.
 * COVAR_ONLY=name in the environment runs one operator. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include "autodiff/autodiff_impl.h"
#include "test_util.h"

/* Adds one test per operator of the NULL-terminated list. */
void conformance_add(const char *suite, const ad_op *const *ops);

/* ---- Shared by the suite's files ---------------------------------------- */

enum { SUBJECT_MAX_LEAF = 32 };

/* One application of an operator: an example plus leaves that a check adds.
 * Leaf i has the values value[i] + t direction[i]. */
typedef struct subject {
    covar_context *ctx;
    ad_example e;
    size_t n;
    la_dtype dtype;
    ad_node *leaf[SUBJECT_MAX_LEAF];
    double *value[SUBJECT_MAX_LEAF];
    double *direction[SUBJECT_MAX_LEAF]; /* NULL: none */
    int n_leaf;
    size_t n_check; /* counts of what was checked */
} subject;

/* False when the variant does not exist (or, with a failed assertion, when
 * the example is wrong). */
bool subject_init(subject *s, covar_context *ctx, const ad_op *op, size_t n,
                  la_dtype dtype, int variant, size_t n_batch);
void subject_clear(subject *s);

/* A new leaf of the type of x, standard normal values of this seed. */
ad_node *subject_leaf(subject *s, const ad_node *x, const char *name,
                      uint64_t seed);

/* Values of y[n] with every leaf at value + t direction, as arrays that the
 * caller frees; false with a failed assertion. */
bool subject_evaluate(subject *s, ad_node *const *y, size_t n, double t,
                      la_array **out);

/* The same for one node, as doubles (free them); NULL after a failure. */
double *subject_values(subject *s, ad_node *y, double t, size_t *count);

/* Asserts `good`; prints operator, variant, size, then the format. */
bool subject_check(subject *s, bool good, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is the suite to look at derivatives of this operator? */
bool subject_is_smooth(const subject *s);

/* max |x|, and max |a - b|; infinite when there are NaN in one only. */
double max_abs(const double *x, size_t n);
double max_gap(const double *a, const double *b, size_t n);

/* The checks; each returns how many assertions it made. */
size_t conformance_values(covar_context *ctx, const ad_op *op, int variant);
size_t conformance_threads(covar_context *ctx, const ad_op *op, int variant);
size_t conformance_in_place(covar_context *ctx, const ad_op *op, int variant);
size_t conformance_bad_input(covar_context *ctx, const ad_op *op, int variant);
size_t conformance_memory(const ad_op *op, int variant);
size_t conformance_first(covar_context *ctx, const ad_op *op, int variant);
size_t conformance_second(covar_context *ctx, const ad_op *op, int variant);

#endif
