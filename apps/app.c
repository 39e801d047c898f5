/* Command lines, cancelling and progress for the apps.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "app.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int app_usage_error(const char *app, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", app);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry '%s --help'.\n", app);
    va_end(args);
    return APP_USAGE;
}

int app_failure(const char *app, const covar_context *ctx)
{
    fprintf(stderr, "%s: %s\n", app, covar_error_text(ctx));
    return APP_FAILED;
}

/* ---- Command lines ------------------------------------------------------- */

static bool bad(const char *app, const char *format, const char *a,
                const char *b)
{
    char text[512];
    snprintf(text, sizeof(text), format, a, b);
    app_usage_error(app, "%s", text);
    return false;
}

static bool read_choice(const char *app, const app_option *o, int *out,
                        const char *value)
{
    char list[256] = "";
    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], value) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
                 o->choices[i]);
    }
    char text[512];
    snprintf(text, sizeof(text), "%s %.60s: expected one of %s", o->name, value,
             list);
    return bad(app, "%s%s", text, "");
}

static bool read_value(const char *app, const app_option *o, char *field,
                       const char *value)
{
    char *end = NULL;
    errno = 0;
    switch (o->kind) {
    case APP_FLAG:
        break;
    case APP_TEXT:
        *(const char **)(void *)field = value;
        return true;
    case APP_REAL:
        *(double *)(void *)field = strtod(value, &end);
        return (end != value && !*end && isfinite(*(double *)(void *)field)) ||
               bad(app, "%s '%s': expected a finite number", o->name, value);
    case APP_COUNT:
        *(long *)(void *)field = strtol(value, &end, 10);
        return (end != value && !*end && errno == 0 && *value != '-') ||
               bad(app,
                   errno == ERANGE
                       ? "%s %s: is too large"
                       : "%s '%s': expected a whole number, 0 or more",
                   o->name, value);
    case APP_CHOICE:
        return read_choice(app, o, (int *)(void *)field, value);
    case APP_REPEAT: {
        app_list *list = (app_list *)(void *)field;
        if (list->n == sizeof(list->item) / sizeof(list->item[0]))
            return bad(app, "%s: given more than 64 times%s", o->name, "");
        list->item[list->n++] = value;
        return true;
    }
    }
    return false;
}

static const app_option *find(const app_option *table, const char *arg,
                              size_t length)
{
    for (; table->name; table++)
        if (strlen(table->name) == length &&
            strncmp(table->name, arg, length) == 0)
            return table;
    return NULL;
}

bool app_parse(const char *app, int argc, char **argv, const app_option *table,
               void *out, app_list *rest)
{
    bool options = true;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (options && strcmp(arg, "--") == 0) {
            options = false;
            continue;
        }
        if (!options || arg[0] != '-' || !arg[1]) {
            if (rest->n == sizeof(rest->item) / sizeof(rest->item[0]))
                return bad(app, "too many arguments at %s%s", arg, "");
            rest->item[rest->n++] = arg;
            continue;
        }
        const char *equals = strchr(arg, '=');
        size_t length = equals ? (size_t)(equals - arg) : strlen(arg);
        const app_option *o = find(table, arg, length);
        if (!o)
            return bad(app, "unknown option %s%s", arg, "");
        char *field = (char *)out + o->offset;
        if (o->kind == APP_FLAG) {
            if (equals)
                return bad(app, "%s takes no value%s", o->name, "");
            *(bool *)(void *)field = true;
            continue;
        }
        const char *value = equals ? equals + 1 : argv[i + 1];
        if (!equals && i + 1 == argc)
            return bad(app, "%s needs a value%s", o->name, "");
        i += !equals;
        if (!read_value(app, o, field, value))
            return false;
    }
    return true;
}

bool app_check_threads(const char *app, long threads)
{
    if (threads >= 0 && threads <= APP_MOST_THREADS)
        return true;
    app_usage_error(app, "--threads %ld: expected 0 (all processors) to %d",
                    threads, APP_MOST_THREADS);
    return false;
}

/* ---- Cancelling: the one thing a signal handler can reach
 * -------------------- */

static covar_context *volatile cancel_target;

static void on_signal(int number)
{
    covar_context *ctx = cancel_target;
    if (!ctx || covar_cancelled(ctx)) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    covar_cancel(ctx);
}

void app_cancel_on_signal(covar_context *ctx)
{
    struct sigaction action = {.sa_handler = ctx ? on_signal : SIG_DFL};
    cancel_target = ctx;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- Progress
 * ----------------------------------------------------------------- */

enum { BAR = 30 };

static bool show(const covar_progress *p, void *data)
{
    (void)data;
    int filled = p->total > 0 ? (int)(BAR * p->done / p->total) : 0;
    fprintf(stderr, "\r%s [%.*s%*s] %zu", p->task, filled,
            "##############################", BAR - filled, "", p->done);
    if (p->total > 0)
        fprintf(stderr, "/%zu", p->total);
    if (isfinite(p->value))
        fprintf(stderr, "  objective %.6g", p->value);
    fprintf(stderr, "  %.1f s\033[K", p->seconds);
    return true;
}

void app_show_progress(covar_context *ctx, bool quiet)
{
    if (!quiet && isatty(STDERR_FILENO))
        covar_context_set_progress(ctx, show, NULL);
}

void app_end_progress(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}
