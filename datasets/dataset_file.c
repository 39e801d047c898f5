/* Whole files in, and files that appear only when they are complete.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * zlib's gzread hands uncompressed files through unchanged. */
#include "config.h"

#include "dataset_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

enum { FIRST_ROOM = 1 << 16, MOST_AT_ONCE = 1 << 30 };

#ifdef HAVE_ZLIB
typedef gzFile source;

static source source_open(const char *path)
{
    return gzopen(path, "rb");
}

static long source_read(source s, char *to, size_t n)
{
    return gzread(s, to, (unsigned)n);
}

/* NULL, or what was wrong; a cut gzip stream shows only here. */
static const char *source_close(source s, long last_read)
{
    int code = Z_OK;
    const char *text = gzerror(s, &code);
    bool bad = last_read < 0 || (code != Z_OK && code != Z_STREAM_END);
    const char *reason = !bad                  ? NULL
                         : code == Z_BUF_ERROR ? "the gzip stream is cut off"
                         : code == Z_ERRNO     ? strerror(errno)
                         : code == Z_MEM_ERROR ? "out of memory"
                         : text[0] != '\0'     ? "the gzip stream is damaged"
                                               : "read error";
    return gzclose(s) != Z_OK && !reason ? "the gzip stream is cut off"
                                         : reason;
}
#else
typedef FILE *source;

static source source_open(const char *path)
{
    return fopen(path, "rb");
}

static long source_read(source s, char *to, size_t n)
{
    size_t got = fread(to, 1, n, s);
    return ferror(s) ? -1 : (long)got;
}

static const char *source_close(source s, long last_read)
{
    fclose(s);
    return last_read < 0 ? "read error" : NULL;
}
#endif

/* Reads to the end into a block that doubles; one byte stays free. */
static covar_status read_all(char **out, size_t *size, covar_context *ctx,
                             covar_heap *heap, source s, long *got)
{
    size_t room = FIRST_ROOM, used = 0;
    char *block = covar_heap_alloc(heap, room, 1);
    *got = 1;
    while (block && *got > 0) {
        if (used + 1 == room) {
            char *grown = room > (size_t)PTRDIFF_MAX / 2
                              ? NULL
                              : covar_heap_grow(heap, block, used, 2 * room, 1);
            if (!grown)
                break;
            block = grown;
            room *= 2;
        }
        size_t most = room - used - 1;
        *got = source_read(s, block + used,
                           most < MOST_AT_ONCE ? most : MOST_AT_ONCE);
        used += *got > 0 ? (size_t)*got : 0;
    }
    if (!block || *got > 0) {
        covar_heap_free(heap, block);
        return covar_fail_nomem(ctx, "dataset_load");
    }
    block[used] = '\0';
    *out = block;
    *size = used;
    return COVAR_OK;
}

covar_status dataset_file_read(char **out, size_t *size, covar_context *ctx,
                               covar_heap *heap, const char *path)
{
    *out = NULL;
    source s = source_open(path);
    if (!s)
        return covar_fail(ctx, COVAR_ERR_IO, "%s: cannot be opened: %s", path,
                          strerror(errno));
    long got = 0;
    covar_status status = read_all(out, size, ctx, heap, s, &got);
    const char *reason = source_close(s, got);
    if (status == COVAR_OK && reason)
        status = covar_fail(ctx, COVAR_ERR_IO, "%s: %s", path, reason);
    if (status == COVAR_OK && *size >= 2 && memcmp(*out, "\x1f\x8b", 2) == 0)
        status = covar_fail(ctx, COVAR_ERR_UNSUPPORTED,
                            "%s is compressed by gzip%s", path,
#ifdef HAVE_ZLIB
                            " twice"
#else
                            " and this library was built without zlib"
#endif
        );
    if (status != COVAR_OK) {
        covar_heap_free(heap, *out);
        *out = NULL;
    }
    return status;
}

covar_status dataset_file_begin(char **out, covar_context *ctx,
                                covar_heap *heap, const char *path)
{
    enum { TRIES = 1000, SUFFIX_BYTES = 64 };
    size_t bytes = strlen(path) + SUFFIX_BYTES;
    char *part = covar_heap_alloc(heap, bytes, 1);
    *out = NULL;
    if (!part)
        return covar_fail_nomem(ctx, "dataset_save");
    for (int k = 0; k < TRIES; k++) {
        snprintf(part, bytes, "%s.%ld.%d.part", path, (long)getpid(), k);
        int file = open(part, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (file >= 0) {
            close(file);
            *out = part;
            return COVAR_OK;
        }
        if (errno != EEXIST)
            break;
    }
    covar_fail(ctx, COVAR_ERR_IO, "%s: cannot be written: %s", path,
               strerror(errno));
    covar_heap_free(heap, part);
    return COVAR_ERR_IO;
}

static bool force_to_disk(const char *path)
{
    int file = open(path, O_WRONLY);
    if (file < 0)
        return false;
    bool good = fsync(file) == 0;
    return close(file) == 0 && good;
}

covar_status dataset_file_end(covar_context *ctx, covar_heap *heap, char *part,
                              const char *path, covar_status status)
{
    if (status == COVAR_OK && (!force_to_disk(part) || rename(part, path) != 0))
        status = covar_fail(ctx, COVAR_ERR_IO, "%s: cannot be written: %s",
                            path, strerror(errno));
    if (status != COVAR_OK)
        unlink(part);
    covar_heap_free(heap, part);
    return status;
}
