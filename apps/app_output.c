/* Files that results go to: checked before the work, so that no hour of
 * computing ends in a folder that does not exist.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "app.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST = 128, PATH = 4096 };

/* ".svg, .png or .pdf" */
static const char *list_of(char *list, const char *const *suffix)
{
    size_t used = 0;
    for (size_t i = 0; suffix[i] && used < LIST; i++)
        used += (size_t)snprintf(list + used, LIST - used, "%s%s",
                                 i == 0          ? ""
                                 : suffix[i + 1] ? ", "
                                                 : " or ",
                                 suffix[i]);
    return list;
}

bool app_has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && path[n - m - 1] != '/' && strcmp(path + n - m, suffix) == 0;
}

static bool has_any(const char *path, const char *const *suffix)
{
    for (; *suffix; suffix++)
        if (app_has_suffix(path, *suffix))
            return true;
    return false;
}

static int cannot(const char *app, const char *option, const char *path,
                  const char *why)
{
    fprintf(stderr, "%s: %s %s: %s\n", app, option, path, why);
    return APP_FAILED;
}

static int check_folder(const char *app, const char *option, const char *path)
{
    char folder[PATH], why[PATH + 64];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof(folder))
        return cannot(app, option, path, strerror(ENAMETOOLONG));
    snprintf(folder, sizeof(folder), "%.*s", (int)n, path);
    if (n == 0)
        strcpy(folder, slash ? "/" : ".");
    struct stat s;
    if (stat(folder, &s) != 0)
        snprintf(why, sizeof(why), "no folder %s: %s", folder, strerror(errno));
    else if (!S_ISDIR(s.st_mode))
        snprintf(why, sizeof(why), "%s is not a folder", folder);
    else if (access(folder, W_OK | X_OK) != 0)
        snprintf(why, sizeof(why), "folder %s cannot be written: %s", folder,
                 strerror(errno));
    else
        return APP_OK;
    return cannot(app, option, path, why);
}

int app_check_output(const char *app, const char *option, const char *path,
                     const char *const *suffix, const char *const *input)
{
    char list[LIST];
    struct stat to, from;
    if (!has_any(path, suffix))
        return app_usage_error(app, "%s '%s': expected a name ending in %s",
                               option, path, list_of(list, suffix));
    int status = check_folder(app, option, path);
    if (status != APP_OK || stat(path, &to) != 0)
        return status;
    if (S_ISDIR(to.st_mode))
        return cannot(app, option, path, "is a folder");
    for (; *input; input++)
        if (stat(*input, &from) == 0 && from.st_dev == to.st_dev &&
            from.st_ino == to.st_ino)
            return app_usage_error(app,
                                   "%s %s: is the same file as %s, which "
                                   "is read",
                                   option, path, *input);
    if (access(path, W_OK) != 0)
        return cannot(app, option, path, strerror(errno));
    return APP_OK;
}

int app_end_output(const char *app, int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    fprintf(stderr, "%s: standard output: writing failed: %s\n", app,
            strerror(errno));
    return APP_FAILED;
}

void app_leave_after_io(covar_context *ctx, int exit_code)
{
    if (covar_error_status(ctx) != COVAR_ERR_IO)
        return;
    covar_context_free(ctx);
    fflush(NULL);
    _exit(exit_code);
}
