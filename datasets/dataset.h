/* Data sets: reading, describing, selecting, splitting, scaling, writing.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     dataset *d = NULL;
 *     dataset_xy all = {0}, train = {0};
 *     dataset_split split = {0};
 *     COVAR_TRY(dataset_load(&d, ctx, "concrete.h5"));
 *     COVAR_TRY(dataset_select(&all, ctx, d, NULL, NULL));
 *     COVAR_TRY(dataset_split_get(&split, ctx, d, 0));
 *     COVAR_TRY(dataset_xy_rows(&train, ctx, &all, split.train));
 *     COVAR_TRY(gp_fit(&model, ctx, train.X, train.y, NULL, NULL));
 *     dataset_xy_clear(&train), dataset_split_clear(&split);
 *     dataset_xy_clear(&all), dataset_free(d);
 *
 * A data set is a bag of named members (dense arrays on the host) and named
 * attributes (texts and numbers). The names with a meaning are
 *   X (n,d)        inputs, one row a case; a time series has its time here
 *   y (n)          target, NaN = missing;  Y (n,m) several targets
 *   labels (n)     classes from 0;  images (n,h,w)
 *   seq (total,d)  rows of all sequences, text (bytes) of all sentences:
 *                  number i is offsets[i] .. offsets[i+1]-1, offsets (n+1)
 *   fold (n)       split k tests on the rows with fold k; -1 always trains
 *   splits/train_k, splits/test_k, splits/valid_k   rows of split k, from 0
 * and the attributes name, title, task, source, licence, notes, columns and
 * columns_Y (names, comma-separated, of the columns of X and Y), target (name
 * of y), seq_scale and seq_offset (value = seq * scale + offset).
 * All other members and attributes are kept as well. Views that come out of a
 * data set stay valid until it is freed or that member is replaced.
 *
 * NULL for what must be there is COVAR_ERR_ARG; what is asked of a NULL data
 * set is 0, NULL or none.
 *
 * Threads: a data set that nobody changes may be read by any number of
 * threads. libhdf5 keeps global state and is usually built without locks:
 * dataset_load and dataset_save must not run while another thread uses HDF5,
 * here or elsewhere in the process. */
#ifndef COVAR_DATASET_H
#define COVAR_DATASET_H

#include <covar/linalg.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dataset dataset;

/* ---- Reading ----------------------------------------------------------- */

/* Reads a file: HDF5, CSV or IDX (the format of MNIST), told apart by content,
 * not by name. CSV and IDX may be compressed by gzip. `*out` is NULL on
 * failure; free it with dataset_free.
 *
 * HDF5: every dataset in the root and in its groups, one level deep ("g/m").
 * Element types become ours: floats f64 (f32 up to 4 bytes), unsigned bytes
 * u8, other integers i32, but 64-bit and unsigned 32-bit ones f64 when a value
 * does not fit i32 (an error when not exact there either). Attributes of the
 * root: fixed- or variable-length strings, numbers; lists are joined by
 * commas; others are skipped. Refused, by name: links other than hard ones,
 * deeper groups, more than 6 dims, compound and other types, data kept in
 * other files, filters that are not part of libhdf5, and a member that
 * declares more bytes than its stored bytes can hold (1032 x, the best that
 * deflate can do, + 1 MiB; all members together 1032 x the file + 16 MiB), so
 * memory is bounded by the size of the file. These checks come before any
 * allocation of ours. libhdf5 itself parses the file first, and its version
 * 1.10 is not safe against every file made to do harm: read such files in a
 * process of their own. Files from dataset_save carry checksums, which find
 * accidental damage.
 *
 * CSV: see dataset_load_csv, with every option left to be detected.
 * IDX: u8 arrays of 3 dims become `images`, integer vectors `labels` (i32),
 * real vectors `y`, matrices `X`, all else `data`.
 *
 * Errors: IO (cannot be opened or read), FORMAT (damaged, or a shape, type or
 * link from the list above), PARSE (CSV), UNSUPPORTED (gzip without zlib),
 * NOMEM. The sentence begins with the path. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_load(dataset **out,
                                                     covar_context *ctx,
                                                     const char *path);

typedef enum dataset_csv_header {
    DATASET_CSV_DETECT = 0, /* a header if one of its cells is no number */
    DATASET_CSV_HEADER,
    DATASET_CSV_NO_HEADER
} dataset_csv_header;

typedef struct dataset_csv_options {
    char separator; /* ',' ';' '\t' ...; 0 = detect */
    dataset_csv_header header;
    bool skip_text; /* leave columns with text out */
} dataset_csv_options;

/* Reads comma-separated text. Result: X f64 (n,c) with every column, attribute
 * `columns` from the header (else c1, c2, ...; a comma in a name becomes ';'),
 * attribute `target` = the name of the last column, what dataset_select takes
 * unless told otherwise. With skip_text also attribute `skipped_columns`.
 *
 * Accepted: separators , ; and tab (the most frequent in the first record);
 * quoted cells with "" for a quote, also across lines; LF, CRLF or CR; a UTF-8
 * byte order mark; blank lines; lines that start with # before the first
 * record. Numbers are decimal with a point, whatever the locale, and correctly
 * rounded; inf is allowed. Missing, NaN: an empty cell, NA, N/A, NaN, null, ?
 * in any case. Every record must have as many cells as the first.
 *
 * Errors: as dataset_load; PARSE names line, column and text of a cell that is
 * no number, a ragged record, an open quote; NAME: a repeated column name;
 * DATA: no records. Memory: 8 bytes a cell, doubled while reading, + the file.
 * options NULL = detect everything. */
COVAR_API COVAR_MUST_CHECK covar_status
dataset_load_csv(dataset **out, covar_context *ctx, const char *path,
                 const dataset_csv_options *options);

/* Reads a data set that is installed with the library, e.g. "co2_monthly";
 * see datasets/README.md for what they are. They lie in PREFIX/share/covar,
 * where PREFIX was fixed by configure, whatever the environment says: before
 * `make install` this fails (IO, with the path); from a source tree call
 * dataset_load("datasets/co2_monthly.h5"). Errors: NAME (not one of them), and
 * those of dataset_load. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_load_bundled(dataset **out,
                                                             covar_context *ctx,
                                                             const char *name);

/* Name of bundled set i, NULL past the last. */
COVAR_API const char *dataset_bundled_name(size_t i);

/* Frees the data set. Accepts NULL. */
COVAR_API void dataset_free(dataset *d);

/* ---- Looking ----------------------------------------------------------- */

/* The member as it is stored, dense; la_view_none() if there is none. */
COVAR_API la_view dataset_member(const dataset *d, const char *name);

COVAR_API size_t dataset_member_count(const dataset *d);
COVAR_API const char *dataset_member_name(const dataset *d, size_t i);

/* Text of an attribute; a number in the fewest of 15 to 17 digits that read
 * back to it; NULL if there is none. */
COVAR_API const char *dataset_attribute(const dataset *d, const char *name);

/* Value of an attribute that is one number; `otherwise` if there is none. */
COVAR_API double dataset_attribute_number(const dataset *d, const char *name,
                                          double otherwise);

COVAR_API size_t dataset_attribute_count(const dataset *d);
COVAR_API const char *dataset_attribute_name(const dataset *d, size_t i);

/* Number of cases: rows of X, else of y, Y, labels or images, else the number
 * of sequences, else 0. */
COVAR_API size_t dataset_n(const dataset *d);

/* Columns of X (1 for a vector); 0 without X. */
COVAR_API size_t dataset_d(const dataset *d);

/* Name of column j of X, of Y: from the attributes columns and columns_Y if
 * these have as many (distinct) names as there are columns, else x1, x2, ...
 * and y1, y2, ... NULL past the last. */
COVAR_API const char *dataset_column_name(const dataset *d, size_t j);
COVAR_API const char *dataset_output_name(const dataset *d, size_t j);

/* One column by name, (n), strided, of the type it is stored in: `y` (also
 * under the name in attribute target), a column of Y, a column of X, or a
 * vector member; searched in this order. la_view_none() if there is none. */
COVAR_API la_view dataset_column(const dataset *d, const char *name);

/* Number of sequences or sentences (0 without offsets), and the rows of
 * number i: a view (length,d) of seq or (length) of text; none past the last.
 * Offsets were checked when the file was read. */
COVAR_API size_t dataset_block_count(const dataset *d);
COVAR_API la_view dataset_block(const dataset *d, size_t i);

/* Block i as numbers: out = block * seq_scale + seq_offset (1 and 0 when
 * absent). out: f32 or f64 with the dims of dataset_block, any strides.
 * Errors: ARG (no such block), SHAPE, DTYPE. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_block_read(la_view out,
                                                           covar_context *ctx,
                                                           const dataset *d,
                                                           size_t i);

/* Number of NaN in a view on the host; 0 for integers. */
COVAR_API size_t dataset_nan_count(la_view x);

/* Describes the data set line by line: title, members with type, dims, range
 * and NaN count, splits, attributes. `line` has no newline and is at most 255
 * bytes long; it is valid only during the call. Cost: one pass over the data.
 */
typedef void dataset_line_fn(const char *line, void *data);
COVAR_API void dataset_describe(const dataset *d, dataset_line_fn *line,
                                void *data);

/* ---- Selecting inputs and a target ------------------------------------- */

/* Inputs and one target, as models take them. Zero-initialise, fill by a
 * function below, clear after use. */
typedef struct dataset_xy {
    la_view X; /* f64 (n,d), dense */
    la_view y; /* f64 (n), dense; none without a target */
    size_t n, d;
    const char *const *x_name; /* d names of the columns */
    const char *y_name;        /* NULL without a target */
    void *owned;
} dataset_xy;

/* Inputs X and a target by name. `target` is what dataset_column takes; NULL:
 * member y, else the column that attribute `target` names (CSV: the last);
 * "": no target. A target that is a column of X leaves the inputs, and so do
 * the columns named in `without` (NULL-terminated; NULL = none). Views and
 * names may point into d, which must live longer; what has to be converted or
 * thinned out is copied: 8 n (d + 1) bytes at most.
 *
 * Values are not checked here: see dataset_check_inputs. d may come out as 0.
 * Errors: NAME (the sentence lists the names there are), DATA (no member X, no
 * default target), SHAPE (X is not a matrix, or y has other rows), NOMEM; out
 * is then cleared. */
COVAR_API COVAR_MUST_CHECK covar_status
dataset_select(dataset_xy *out, covar_context *ctx, const dataset *d,
               const char *target, const char *const *without);

/* The rows `rows` i32 (m) of a selection, copied: for one side of a split.
 * The names point where those of xy point. Errors: ARG (a row outside
 * 0..n-1), SHAPE, DTYPE, NOMEM. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_xy_rows(dataset_xy *out,
                                                        covar_context *ctx,
                                                        const dataset_xy *xy,
                                                        la_view rows);

/* COVAR_ERR_DATA with row and column (from 0) and the name of the first NaN or
 * infinity in X, or of an infinity in y (NaN in y is a missing value). */
COVAR_API COVAR_MUST_CHECK covar_status
dataset_check_inputs(covar_context *ctx, const dataset_xy *xy);

COVAR_API void dataset_xy_clear(dataset_xy *xy);

/* ---- Splitting --------------------------------------------------------- */

/* Row numbers from 0, i32. Zero-initialise, clear after use. */
typedef struct dataset_split {
    la_view train;
    la_view test;
    la_view valid; /* none where the split has none */
    void *owned;
} dataset_split;

/* Number of stored splits: of consecutive splits/train_k, test_k from k = 0,
 * else max(fold) + 1, else 0. */
COVAR_API size_t dataset_split_count(const dataset *d);

/* Stored split k. Views of splits/ point into d; those made from fold are
 * copies. Errors: ARG (no split k), FORMAT (a row outside 0..n-1 or one that
 * is listed twice), NOMEM. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_split_get(dataset_split *out,
                                                          covar_context *ctx,
                                                          const dataset *d,
                                                          size_t k);

/* A random split of n rows: round(test_fraction n) of them, at least one and
 * at most n - 1, test. Both sides ascend. A function of the arguments alone
 * (covar_rng, stream 0). Errors: ARG (fraction outside (0,1), n < 2 or above
 * 2^31 - 1), NOMEM. */
COVAR_API COVAR_MUST_CHECK covar_status
dataset_split_random(dataset_split *out, covar_context *ctx, size_t n,
                     double test_fraction, uint64_t seed);

/* Split k of the random 90/10 splits that the Bayesian regression literature
 * uses for the UCI sets (Hernandez-Lobato and Adams 2015; Gal and Ghahramani
 * 2016), in their order: MT19937 seeded once with 1, then for every split a
 * Fisher-Yates shuffle of 0..n-1 from the end, drawing by masked rejection;
 * train = the first round(0.9 n). Cost O(k n). Errors: ARG (n = 0 or above
 * 2^31 - 1, k above 9999), NOMEM. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_split_literature(
    dataset_split *out, covar_context *ctx, size_t n, size_t k);

COVAR_API void dataset_split_clear(dataset_split *split);

/* ---- Standardising ----------------------------------------------------- */

/* Mean and standard deviation of columns: z = (x - mean) / sd. */
typedef struct dataset_scale dataset_scale;

/* Takes mean and sd (ddof 0) of each column of x, f64 or f32 (n,d) or (n),
 * over the rows `rows` (i32; none = all): give it the training rows. In a
 * vector NaN counts as missing and is left out; in a matrix it is an error.
 * A constant column has its own value as mean and sd 0: it is centred to 0,
 * not divided. Sums are taken in long double about the first value. Errors:
 * DATA (no rows, only missing ones, or a value that is not finite, with row
 * and column), ARG (row number), SHAPE, DTYPE, NOMEM. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_scale_fit(dataset_scale **out,
                                                          covar_context *ctx,
                                                          la_view x,
                                                          la_view rows);

/* z = (x - mean) / sd and back, x = z sd + mean; NaN stays NaN. Any strides;
 * out may be the same view as the input. Errors: SHAPE, DTYPE. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_scale_apply(
    la_view out, covar_context *ctx, const dataset_scale *s, la_view x);
COVAR_API COVAR_MUST_CHECK covar_status dataset_scale_invert(
    la_view out, covar_context *ctx, const dataset_scale *s, la_view z);

/* f64 (d); sd 0 marks a constant column. Valid until the scale is freed. */
COVAR_API la_view dataset_scale_mean(const dataset_scale *s);
COVAR_API la_view dataset_scale_sd(const dataset_scale *s);

COVAR_API void dataset_scale_free(dataset_scale *s);

/* ---- Making and writing ------------------------------------------------ */

/* An empty data set with attribute `name`. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_create(dataset **out,
                                                       covar_context *ctx,
                                                       const char *name);

/* Sets, or replaces, a member by a copy of x (host, any strides). The name is
 * NAME or GROUP/NAME. x none removes it. Errors: NAME, ARG, NOMEM; d is then
 * unchanged. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_set_member(covar_context *ctx,
                                                           dataset *d,
                                                           const char *name,
                                                           la_view x);

/* Sets, or replaces, an attribute. Errors: NAME (empty), NOMEM. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_set_attribute(
    covar_context *ctx, dataset *d, const char *name, const char *text);
COVAR_API COVAR_MUST_CHECK covar_status dataset_set_number(covar_context *ctx,
                                                           dataset *d,
                                                           const char *name,
                                                           double value);

/* Writes HDF5 in the layout above, first under a temporary name beside `path`,
 * renamed when complete: `path` is either untouched or whole. Members below 64
 * KiB are contiguous, larger ones chunked, shuffled and deflated. Reading the
 * file back gives the same bits. The file does not depend on time or place; it
 * needs libhdf5 1.10 or later; its descriptions and its deflated members carry
 * checksums.
 * Errors: IO, NOMEM. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_save(covar_context *ctx,
                                                     const dataset *d,
                                                     const char *path);

/* Writes the columns of X, then y, then those of Y, with a header, as CSV,
 * numbers such that they read back to the same bits, NaN as an empty cell;
 * temporary name as above. Errors: IO, SHAPE (different numbers of rows), DATA
 * (nothing to write), NOMEM. */
COVAR_API COVAR_MUST_CHECK covar_status dataset_save_csv(covar_context *ctx,
                                                         const dataset *d,
                                                         const char *path);

#ifdef __cplusplus
}
#endif

#endif
