/* Files written to a disk that is full: a status and a sentence, nothing left
 * behind, and a program that ends as it should (libhdf5 writes what it could
 * not write once more at exit, and crashes if it still cannot).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Needs a small file system of its own, which Linux gives to root, and to
 * others where user namespaces are allowed; skipped elsewhere. */
#define _GNU_SOURCE
#include <config.h>

#include <covar/dataset.h>
#include <covar/gp.h>
#include <covar/rng.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#include <sys/mount.h>
#endif

#include "test_util.h"

enum { N = 200, DISK = 400 };

static char disk[] = "/tmp/covar-disk-XXXXXX";

/* A disk of DISK KiB in a mount namespace that ends with this process. */
static bool make_disk(void)
{
#if defined(__linux__)
    char size[32];
    snprintf(size, sizeof size, "size=%dk", DISK);
    if (!mkdtemp(disk))
        return false;
    if (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0)
        if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount("tmpfs", disk, "tmpfs", 0, size) == 0)
            return true;
    rmdir(disk);
#endif
    return false;
}

/* All but `left` KiB of the disk are taken. */
static void fill_disk(int left)
{
    char path[64];
    static char block[1024];
    snprintf(path, sizeof path, "%s/filler", disk);
    FILE *f = fopen(path, "wb");
    for (int i = 0; f && i < DISK - left; i++)
        fwrite(block, 1, sizeof block, f);
    if (f)
        fclose(f);
}

/* The number of files on the disk; removes them. */
static int clear_disk(void)
{
    int n = 0;
    DIR *dir = opendir(disk);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", disk, e->d_name);
        n += unlink(path) == 0;
    }
    if (dir)
        closedir(dir);
    return n;
}

typedef covar_status save_fn(covar_context *ctx, const void *what,
                             const char *path);

static covar_status save_model(covar_context *ctx, const void *what,
                               const char *path)
{
    return gp_save(what, ctx, path);
}

static covar_status save_dataset(covar_context *ctx, const void *what,
                                 const char *path)
{
    return dataset_save(ctx, what, path);
}

/* Saves with ever more room; it must fail at first and succeed at last. */
static void save_with_room(covar_context *ctx, save_fn *save, const void *what)
{
    int failures = 0;
    covar_status status = COVAR_ERR_IO;
    char path[64];
    snprintf(path, sizeof path, "%s/file.h5", disk);
    for (int left = 0; left <= DISK; left += 12) {
        fill_disk(left);
        status = save(ctx, what, path);
        if (status != COVAR_OK) {
            TEST_INT(status, COVAR_ERR_IO);
            TEST_CONTAINS(covar_error_text(ctx), "file.h5");
            failures++;
        }
        TEST_INT(clear_disk(), status == COVAR_OK ? 2 : 1);
    }
    TEST_INT(status, COVAR_OK);
    CU_ASSERT(failures > 2);
}

static void test_model(void)
{
    static double x[N], y[N];
    covar_context *ctx = test_context();
    gp_options o = gp_options_default();
    gp_model *m = NULL;
    for (int i = 0; i < N; i++) {
        x[i] = 0.05 * i;
        y[i] = sin(x[i]) + 0.1 * sin(37.0 * i);
    }
    TEST_OK(ctx,
            gp_fit(&m, ctx, la_mat_f64(x, N, 1), la_vec_f64(y, N), &o, NULL));
    save_with_room(ctx, save_model, m);
    gp_model_free(m);
    covar_context_free(ctx);
}

/* Noise, so that it does not compress: chunks wait in libhdf5's cache. */
static void test_dataset(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    double *big = malloc(30000 * sizeof *big);
    covar_rng rng = covar_rng_init(1, 0);
    covar_rng_normal(big, 30000, &rng);
    TEST_OK(ctx, dataset_create(&d, ctx, "noise"));
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", la_mat_f64(big, 10000, 3)));
    for (int i = 0; i < 6; i++) {
        char name[24];
        snprintf(name, sizeof name, "part/%d", i);
        TEST_OK(ctx, dataset_set_member(ctx, d, name, la_vec_f64(big, 300)));
    }
    save_with_room(ctx, save_dataset, d);
    dataset_free(d);
    free(big);
    covar_context_free(ctx);
}

static void test_nothing(void)
{
    CUTAP_SKIP("no file system of its own can be mounted");
}

int main(void)
{
    static const cutap_case cases[] = {
        {"a model", test_model},
        {"a data set", test_dataset},
    };
    static const cutap_case none[] = {{"all", test_nothing}};
    if (!make_disk())
        return CUTAP_RUN("disk full", none);
    const int failed = CUTAP_RUN("disk full", cases);
    umount(disk);
    rmdir(disk);
    return failed;
}
