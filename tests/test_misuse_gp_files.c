/* Files that are no saved models, or damaged ones: a status and a sentence, and
 * never a model that answers otherwise than the one that was saved.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "test_gp.h"
#include "test_util.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_paths(void)
{
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT), *out = NULL;
    TEST_REFUSED(ctx, gp_save(m, ctx, ""), COVAR_ERR_IO,
                 "gp_save: a file name is needed");
    TEST_REFUSED(ctx, gp_load(&out, ctx, ""), COVAR_ERR_IO,
                 "gp_load: a file name is needed");
    TEST_REFUSED(ctx, gp_save(m, ctx, "/tmp"), COVAR_ERR_IO,
                 "/tmp: is a folder");
    TEST_REFUSED(ctx, gp_load(&out, ctx, "/tmp"), COVAR_ERR_IO,
                 "/tmp: is a folder");
    TEST_REFUSED(ctx, gp_load(&out, ctx, "/dev/null"), COVAR_ERR_IO,
                 "is not a file");
    TEST_REFUSED(ctx, gp_save(m, ctx, "no such/folder/x.h5"), COVAR_ERR_IO,
                 "No such file or directory");
    TEST_REFUSED(ctx, gp_load(&out, ctx, "no such file"), COVAR_ERR_IO,
                 "No such file or directory");
    char longer[5000];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    TEST_REFUSED(ctx, gp_save(m, ctx, longer), COVAR_ERR_IO, "too long");
    TEST_REFUSED(ctx, gp_load(&out, ctx, longer), COVAR_ERR_IO, "too long");
    CU_ASSERT_PTR_NULL(out);
    gp_model_free(m);
    covar_context_free(ctx);
}

/* HDF5, and text, that no gp_save has written. */
static void test_foreign_files(void)
{
    static const char name[] = "test_gp_files_foreign.h5";
    covar_context *ctx = test_context();
    gp_model *out = NULL;
    FILE *f = fopen(name, "wb");
    fputs("x,y\n1,2\n", f);
    fclose(f);
    TEST_REFUSED(ctx, gp_load(&out, ctx, name), COVAR_ERR_FORMAT,
                 "is no saved model (not a whole HDF5 file)");
    for (int with_schema = 0; with_schema < 2; with_schema++) {
        const double one[] = {1};
        const hsize_t dim[] = {1};
        hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t space = H5Screate_simple(1, dim, NULL);
        hid_t set =
            H5Dcreate2(file, with_schema ? "schema" : "X", H5T_NATIVE_DOUBLE,
                       space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, one);
        H5Dclose(set);
        H5Sclose(space);
        H5Fclose(file);
        TEST_REFUSED(ctx, gp_load(&out, ctx, name), COVAR_ERR_FORMAT,
                     "is not a covar model");
    }
    CU_ASSERT_PTR_NULL(out);
    remove(name);
    covar_context_free(ctx);
}

/* A number replaced by another in a file that libhdf5 finds sound. */
static void replace_number(const char *file, const char *member)
{
    hid_t f = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(f, member, H5P_DEFAULT);
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    uint8_t bytes[8 * SERIES_N * SERIES_N];
    CU_ASSERT_FATAL((size_t)H5Sget_simple_extent_npoints(space) *
                        H5Tget_size(type) <=
                    sizeof(bytes));
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
    bytes[0] ^= 1; /* the last bit of the first number */
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(f);
}

static void test_one_bit_of_each_member(void)
{
    static const char name[] = "test_gp_files_bit.h5";
    static const char *const members[] = {
        "kernel",  "options",   "numbers",  "parameters", "X",       "y",
        "col_min", "col_range", "col_mean", "x_shift",    "y_shift", "y_mean",
        "y_sd",    "beta",      "L",        "alpha",      "V",       "B"};
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT), *out = NULL;
    for (size_t i = 0; i < NELEM(members); i++) {
        char part[100];
        TEST_OK(ctx, gp_save(m, ctx, name));
        replace_number(name, members[i]);
        snprintf(part, sizeof(part),
                 "the numbers of '%s' do not match their checksum", members[i]);
        TEST_REFUSED(ctx, gp_load(&out, ctx, name), COVAR_ERR_FORMAT, part);
        TEST_CONTAINS(covar_error_text(ctx), name);
        CU_ASSERT_PTR_NULL(out);
    }
    remove(name);
    gp_model_free(m);
    covar_context_free(ctx);
}

/* What a loaded model says. */
typedef struct answers {
    double x[8];
} answers;

static answers ask(const gp_model *m, covar_context *ctx)
{
    answers a = {{0}};
    double at[] = {0.3, 2.2};
    gp_prediction p = {.mean = a.x, .var_f = a.x + 2, .var_y = a.x + 4};
    TEST_OK(ctx, gp_predict(m, ctx, la_mat_f64(at, 2, 1), &p));
    a.x[6] = gp_log_det(m);
    a.x[7] = gp_param_value(m, 1);
    return a;
}

enum { MOST_BYTES = 1 << 17 };

/* What the children tell: they may die of what libhdf5 makes of a file. */
typedef struct telling {
    size_t next;   /* byte to go on with */
    size_t wrong;  /* loaded, and answered otherwise */
    size_t loaded; /* loaded, and answered the same */
    size_t refused, silent;
} telling;

static void flip_from(telling *t, uint8_t *bytes, size_t n, size_t step,
                      const answers *right)
{
    static const char name[] = "test_gp_files_flip.h5";
    covar_context *ctx = test_context();
    while (t->next < n) {
        size_t i = t->next;
        gp_model *m = NULL;
        t->next += step;
        bytes[i] ^= (uint8_t)(1u << (i / step % 8));
        FILE *f = fopen(name, "wb");
        if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
            _exit(2);
        bytes[i] ^= (uint8_t)(1u << (i / step % 8));
        covar_error_clear(ctx);
        if (gp_load(&m, ctx, name) != COVAR_OK) {
            t->refused++;
            t->silent += covar_error_text(ctx)[0] == '\0';
            continue;
        }
        answers a = ask(m, ctx);
        bool same = memcmp(&a, right, sizeof(a)) == 0;
        t->wrong += !same;
        t->loaded += same;
        gp_model_free(m);
    }
    remove(name);
    covar_context_free(ctx);
}

/* One bit of every so many bytes of a whole file: refused, or of no effect. */
static void test_flipped_bits(void)
{
    static const char name[] = "test_gp_files_whole.h5";
    static uint8_t bytes[MOST_BYTES];
    covar_context *ctx = test_context();
    gp_model *m = gp_small_model(ctx, "rbf", GP_MEAN_CONSTANT);
    TEST_OK(ctx, gp_save(m, ctx, name));
    answers right = ask(m, ctx);
    gp_model_free(m);
    covar_context_free(ctx);
    FILE *f = fopen(name, "rb");
    size_t n = f ? fread(bytes, 1, MOST_BYTES, f) : 0, deaths = 0;
    if (f)
        fclose(f);
    remove(name);
    CU_ASSERT_FATAL(n > 1000 && n < MOST_BYTES);
    telling *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(t != MAP_FAILED);
    while (t->next < n) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            flip_from(t, bytes, n, 7, &right);
            _exit(0);
        }
        int status = 0;
        CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child);
        deaths += status != 0;
        CU_ASSERT_FATAL(deaths < 100);
    }
    cutap_note("%zu bytes: %zu flips refused, %zu without effect, %zu wrong, "
               "%zu children died inside libhdf5",
               n, t->refused, t->loaded, t->wrong, deaths);
    TEST_INT(t->wrong, 0);
    TEST_INT(t->silent, 0);
    CU_ASSERT(t->refused > n / 14);
    munmap(t, sizeof(*t));
}

int main(void)
{
    static const cutap_case cases[] = {
        {"paths", test_paths},
        {"foreign files", test_foreign_files},
        {"one bit of each member", test_one_bit_of_each_member},
        {"one bit anywhere", test_flipped_bits},
    };
    return CUTAP_RUN("gp_files", cases);
}
