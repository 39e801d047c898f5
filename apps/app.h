/* What the apps share: command lines, cancelling, progress, JSON.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_APP_H
#define COVAR_APP_H

#include <covar/context.h>
#include <stdio.h>

enum { APP_OK = 0, APP_FAILED = 1, APP_USAGE = 2 };

/* ---- Command lines ------------------------------------------------------ */

typedef enum app_option_kind {
    APP_FLAG,   /* bool *: set to true */
    APP_TEXT,   /* const char ** */
    APP_REAL,   /* double *, finite */
    APP_COUNT,  /* long *, >= 0 */
    APP_CHOICE, /* int *: index into `choices` */
    APP_REPEAT  /* app_list *: may be given many times */
} app_option_kind;

typedef struct app_list {
    const char *item[64];
    size_t      n;
} app_list;

typedef struct app_option {
    const char        *name; /* "--kernel"; NULL ends the table */
    app_option_kind    kind;
    size_t             offset; /* in the options struct */
    const char *const *choices;
} app_option;

/* Reads argv[1..]: options into `out` by the table, the rest into `rest`.
 * Accepts "--name value" and "--name=value"; "--" ends the options. On an
 * error says so on stderr and returns false. */
bool app_parse(const char *app, int argc, char **argv, const app_option *table,
               void *out, app_list *rest);

/* Says "app: sentence" and where help is, on stderr; returns APP_USAGE. */
int app_usage_error(const char *app, const char *format, ...)
    COVAR_PRINTF(2, 3);

/* --threads: 0 to APP_MOST_THREADS. Says so and returns false otherwise. */
enum { APP_MOST_THREADS = 1024 };
bool app_check_threads(const char *app, long threads);

/* Says the context's error on stderr; returns APP_FAILED. */
int app_failure(const char *app, const covar_context *ctx);

/* ---- Files -------------------------------------------------------------- */

/* Does the name end in `suffix`, with something before it? */
bool app_has_suffix(const char *path, const char *suffix);

/* Can the file `path`, given by `option`, be written? To be asked before any
 * work. `suffix`: the endings it may have; `input`: files that are read and
 * must stay; both end with NULL. Returns APP_OK, or says why not and returns
 * APP_USAGE (ending, or the same file) or APP_FAILED (the folder is not there,
 * may not be written, or the name is taken by a folder). */
int app_check_output(const char *app, const char *option, const char *path,
                     const char *const *suffix, const char *const *input);

/* Ends what was printed: `exit_code`, or APP_FAILED after saying that standard
 * output could not be written. */
int app_end_output(const char *app, int exit_code);

/* Ends the program if the context's last failure was in reading or writing a
 * file; to be called last. libhdf5 1.10 crashes in its exit handler after a
 * write that failed (a full disk), so that handler is not run. */
void app_leave_after_io(covar_context *ctx, int exit_code);

/* ---- Running ------------------------------------------------------------ */

/* Ctrl-C and SIGTERM ask `ctx` to stop at its best point; a second one ends
 * the program at once. NULL takes the handlers away. */
void app_cancel_on_signal(covar_context *ctx);

/* A progress bar on stderr if that is a terminal and not `quiet`. */
void app_show_progress(covar_context *ctx, bool quiet);
void app_end_progress(void);

/* A line on stderr when OpenBLAS runs kernels far older than the processor:
 * Debian 12's does on processors newer than it. */
void app_blas_note(const char *app);

/* ---- JSON --------------------------------------------------------------- */

/* Writes one JSON value with commas and indentation; numbers as %.17g, what is
 * not finite as null. `key` NULL inside arrays. */
typedef struct app_json {
    FILE *file;
    int   depth;
    bool  first;
} app_json;

void app_json_open(app_json *j, const char *key, char bracket); /* { or [ */
void app_json_close(app_json *j, char bracket);
void app_json_number(app_json *j, const char *key, double value);
void app_json_count(app_json *j, const char *key, size_t value);
void app_json_text(app_json *j, const char *key, const char *value);
void app_json_bool(app_json *j, const char *key, bool value);
void app_json_null(app_json *j, const char *key);

#endif
