/* HDF5 files that are damaged, or made to do harm: a sentence with the path,
 * never a crash, never memory beyond what the file's size allows.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "datasets_hdf5_util.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* The file must be refused with this sentence, and nothing may be kept. */
static void refuse(made_file *f, const char *sentence)
{
    test_allocator t = {0};
    covar_allocator a = test_allocator_use(&t);
    covar_context *ctx = test_context_with(&a);
    dataset *d = NULL;
    TEST_STATUS(ctx, made_load(&d, ctx, f), COVAR_ERR_FORMAT);
    TEST_CONTAINS(covar_error_text(ctx), sentence);
    TEST_CONTAINS(covar_error_text(ctx), f->path.text);
    CU_ASSERT_PTR_NULL(d);
    dataset_free(d);
    CU_ASSERT(t.peak_bytes < 1 << 20);
    covar_context_free(ctx);
    TEST_INT(t.live_blocks, 0);
    TEST_INT(t.mistakes, 0);
}

static const double one[] = {1.0};

static void test_links(void)
{
    made_file f = made_begin("links.h5");
    H5Lcreate_soft("/loop", f.file, "loop", H5P_DEFAULT, H5P_DEFAULT);
    refuse(&f, "`loop` is a soft link");
    f = made_begin("links.h5");
    H5Lcreate_external("/etc/passwd", "/X", f.file, "X", H5P_DEFAULT,
                       H5P_DEFAULT);
    refuse(&f, "`X` is a link into another file");
    f = made_begin("links.h5");
    made_member(&f, "splits/train_0", H5T_STD_I32LE, 1, (hsize_t[]){1}, one);
    H5Lcreate_hard(f.file, "/", f.file, "/splits/up", H5P_DEFAULT,
                   H5P_DEFAULT);
    refuse(&f, "`splits/up` is a group inside a group");
    f = made_begin("links.h5");
    H5Lcreate_hard(f.file, "/", f.file, "/up", H5P_DEFAULT, H5P_DEFAULT);
    refuse(&f, "`up/up` is a group inside a group");
    f = made_begin("links.h5");
    char name[400];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    made_member(&f, name, H5T_STD_I32LE, 1, (hsize_t[]){1}, one);
    refuse(&f, "is too long a name");
}

static void test_types(void)
{
    made_file f = made_begin("types.h5");
    hid_t type = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(type, "a", 0, H5T_NATIVE_DOUBLE);
    made_raw(&f, "X", type, 1, (hsize_t[]){1}, one);
    H5Tclose(type);
    refuse(&f, "`X` holds neither floats nor integers");
    f = made_begin("types.h5");
    type = H5Tvlen_create(H5T_NATIVE_DOUBLE);
    made_raw(&f, "y", type, 1, (hsize_t[]){1}, NULL);
    H5Tclose(type);
    refuse(&f, "`y` holds neither floats nor integers");
    f = made_begin("types.h5");
    type = H5Tcopy(H5T_NATIVE_INT64);
    H5Tset_size(type, 1 << 20);
    made_raw(&f, "y", type, 1, (hsize_t[]){1}, NULL);
    H5Tclose(type);
    refuse(&f, "`y` holds neither floats nor integers");
}

static void test_dims(void)
{
    const hsize_t large = (hsize_t)1 << 40;
    made_file f = made_begin("dims.h5");
    made_member(&f, "X", H5T_IEEE_F64LE, 7,
                (hsize_t[]){1, 1, 1, 1, 1, 1, 1}, one);
    refuse(&f, "`X` has 7 dims, more than 6");
    f = made_begin("dims.h5");
    hid_t space = H5Screate(H5S_NULL);
    H5Dclose(H5Dcreate2(f.file, "X", H5T_IEEE_F64LE, space, H5P_DEFAULT,
                        H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    refuse(&f, "`X` has no dims");
    /* 1e18 elements, never written. */
    f = made_begin("dims.h5");
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(f.plan, 2, (hsize_t[]){16, 16});
    made_member(&f, "X", H5T_STD_U8LE, 2, (hsize_t[]){1000000000, 1000000000},
                NULL);
    H5Pclose(f.plan);
    refuse(&f, "`X` declares 1e+18 bytes, but the 0 bytes stored");
    /* The same with one chunk written. */
    f = made_begin("dims.h5");
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(f.plan, 1, (hsize_t[]){1000});
    H5Pset_deflate(f.plan, 9);
    made_member(&f, "X", H5T_IEEE_F64LE, 1, &large, NULL);
    hid_t set = H5Dopen2(f.file, "X", H5P_DEFAULT);
    hid_t all = H5Dget_space(set), memory = H5Screate_simple(
        1, (hsize_t[]){1}, NULL);
    H5Sselect_hyperslab(all, H5S_SELECT_SET, (hsize_t[]){5}, NULL,
                        (hsize_t[]){1}, NULL);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, all, H5P_DEFAULT, one);
    H5Sclose(memory);
    H5Sclose(all);
    H5Dclose(set);
    H5Pclose(f.plan);
    refuse(&f, "bytes stored cannot hold that many");
    /* A product that overflows 64 bits. */
    f = made_begin("dims.h5");
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(f.plan, 3, (hsize_t[]){1, 1, 1});
    made_member(&f, "X", H5T_STD_U8LE, 3, (hsize_t[]){large, large, large},
                NULL);
    H5Pclose(f.plan);
    refuse(&f, "`X` has more elements than memory can hold");
}

static void test_chunks(void)
{
    /* libhdf5 would allocate this chunk before it reads anything. */
    made_file f = made_begin("chunks.h5");
    const hsize_t none = H5S_UNLIMITED;
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(f.plan, 1, (hsize_t[]){500000000});
    hid_t space = H5Screate_simple(1, (hsize_t[]){1}, &none);
    hid_t set = H5Dcreate2(f.file, "X", H5T_IEEE_F64LE, space, H5P_DEFAULT,
                           f.plan, H5P_DEFAULT);
    CU_ASSERT(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(f.plan);
    refuse(&f, "`X` has chunks that are larger than its stored bytes");
    /* Declared small, but many: the budget of the whole file ends it. */
    f = made_begin("chunks.h5");
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(f.plan, 1, (hsize_t[]){1000});
    for (int i = 0; i < 1100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m%d", i);
        made_member(&f, name, H5T_STD_U8LE, 1, (hsize_t[]){1000000}, NULL);
    }
    H5Pclose(f.plan);
    covar_context *ctx = test_context();
    dataset *d = NULL;
    TEST_STATUS(ctx, made_load(&d, ctx, &f), COVAR_ERR_FORMAT);
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_other_files(void)
{
    made_file f = made_begin("outside.h5");
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(f.plan, "/etc/passwd", 0, 8);
    made_member(&f, "X", H5T_IEEE_F64LE, 1, (hsize_t[]){1}, NULL);
    H5Pclose(f.plan);
    refuse(&f, "`X` keeps its data in other files");
    f = made_begin("outside.h5");
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(1, (hsize_t[]){1}, NULL);
    H5Pset_virtual(f.plan, space, "other.h5", "X", space);
    H5Sclose(space);
    made_member(&f, "X", H5T_IEEE_F64LE, 1, (hsize_t[]){1}, NULL);
    H5Pclose(f.plan);
    refuse(&f, "`X` keeps its data in other files");
}

/* A small file with something of everything. */
static char *make_sample(size_t *n)
{
    made_file f = made_begin("sample.h5");
    double value[600];
    for (size_t i = 0; i < NELEM(value); i++)
        value[i] = (double)(i % 7);
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(f.plan, 2, (hsize_t[]){100, 3});
    H5Pset_shuffle(f.plan);
    H5Pset_deflate(f.plan, 9);
    made_member(&f, "X", H5T_IEEE_F64LE, 2, (hsize_t[]){200, 3}, value);
    H5Pclose(f.plan);
    f.plan = H5P_DEFAULT;
    made_member(&f, "y", H5T_IEEE_F64LE, 1, (hsize_t[]){200}, value);
    made_member(&f, "splits/train_0", H5T_STD_I32LE, 1, (hsize_t[]){5},
                value);
    made_member(&f, "splits/test_0", H5T_STD_I64LE, 1, (hsize_t[]){5}, value);
    hid_t type = H5Tcopy(H5T_C_S1), variable = H5Tcopy(H5T_C_S1);
    hid_t space = H5Screate(H5S_SCALAR);
    const char *text = "of any length";
    H5Tset_size(type, 6);
    H5Tset_size(variable, H5T_VARIABLE);
    hid_t a = H5Acreate2(f.file, "name", type, space, H5P_DEFAULT,
                         H5P_DEFAULT);
    H5Awrite(a, type, "sample");
    H5Aclose(a);
    a = H5Acreate2(f.file, "notes", variable, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, variable, &text);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(variable);
    H5Tclose(type);
    made_end(&f);
    char *bytes = read_bytes(n, f.path.text);
    remove(f.path.text);
    return bytes;
}

enum { LOADED = 40, REFUSED = 41 }; /* exit codes that nothing else uses */

/* How a child ended, and what loading gave it. */
typedef struct outcome {
    int loaded, refused, crashed;
} outcome;

/* Loads in a child process, so that a crash inside libhdf5 is seen as one;
 * memory and time are bounded. */
static void try_bytes(outcome *o, const char *bytes, size_t n)
{
    temp_path p = temp_name("try.h5");
    CU_ASSERT(write_bytes(p.text, bytes, n));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        covar_context *ctx = covar_context_create();
        dataset *d = NULL;
        alarm(20);
        covar_status s = dataset_load(&d, ctx, p.text);
        bool named = strstr(covar_error_text(ctx), p.text) != NULL;
        dataset_free(d);
        _exit(s == COVAR_OK ? LOADED : named ? REFUSED : 1);
    }
    int end = 0;
    waitpid(child, &end, 0);
    remove(p.text);
    int code = WIFEXITED(end) ? WEXITSTATUS(end) : -1;
    o->loaded += code == LOADED;
    o->refused += code == REFUSED;
    o->crashed += code != LOADED && code != REFUSED;
}

static void test_cut(void)
{
    size_t n = 0;
    char *sample = make_sample(&n);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sample);
    outcome o = {0, 0, 0};
    for (size_t cut = 0; cut < n; cut += 1 + cut / 40)
        try_bytes(&o, sample, cut);
    TEST_INT(o.loaded, 0);
    TEST_INT(o.crashed, 0);
    cutap_note("%zu bytes cut in %d places", n, o.refused);
    o = (outcome){0, 0, 0};
    try_bytes(&o, sample, n);
    TEST_INT(o.loaded, 1);
    free(sample);
}

/* Bytes replaced one at a time, every `step`-th. */
static void test_flips(void)
{
    size_t n = 0;
    char *sample = make_sample(&n);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sample);
    static const unsigned char flip[] = {0xff, 0x01, 0x80};
    const char *all = getenv("COVAR_SLOW_TESTS");
    size_t step = all ? 1 : 37;
    outcome o = {0, 0, 0};
    for (size_t i = 0; i < n; i += step)
        for (size_t k = all ? 0 : i % NELEM(flip); k < NELEM(flip);
             k += all ? 1 : NELEM(flip)) {
            char old = sample[i];
            int before = o.crashed;
            sample[i] = (char)(sample[i] ^ flip[k]);
            try_bytes(&o, sample, n);
            if (o.crashed > before)
                cutap_note("crash: byte %zu ^ %#x", i, flip[k]);
            sample[i] = old;
        }
    cutap_note("%d flips: %d loaded, %d refused, %d crashed",
               o.loaded + o.refused + o.crashed, o.loaded, o.refused,
               o.crashed);
    TEST_INT(o.crashed, 0);
    free(sample);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"links", test_links},
        {"types", test_types},
        {"dims", test_dims},
        {"chunks", test_chunks},
        {"data in other files", test_other_files},
        {"cut", test_cut},
        {"bytes flipped", test_flips},
    };
    return CUTAP_RUN("datasets hostile", cases);
}
