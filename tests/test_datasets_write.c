/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "datasets_util.h"

#include <math.h>
#include <sys/stat.h>

/* All dtypes and ranks, special values, small and large. */
static dataset *make_set(covar_context *ctx, size_t large)
{
    dataset *d = NULL;
    const uint64_t bits[] = {0x7ff8000000000001,
                             0xfff8dead0000beef,
                             0x8000000000000000,
                             0x7ff0000000000000,
                             1,
                             0x7fefffffffffffff};
    double special[6];
    memcpy(special, bits, sizeof(bits));
    const float single[] = {-0.0f, 1e-45f, 3.4e38f, (float)NAN};
    const int32_t whole[] = {INT32_MIN, -1, 0, INT32_MAX};
    uint8_t byte[256];
    for (size_t i = 0; i < 256; i++)
        byte[i] = (uint8_t)i;
    TEST_OK(ctx, dataset_create(&d, ctx, "made"));
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", la_mat_f64(special, 3, 2)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "single", la_vec_f32(single, 4)));
    TEST_OK(ctx,
            dataset_set_member(ctx, d, "splits/train_0", la_vec_i32(whole, 4)));
    TEST_OK(ctx,
            dataset_set_member(ctx, d, "splits/test_0", la_vec_i32(whole, 0)));
    const size_t dim[6] = {2, 2, 4, 2, 4, 2};
    TEST_OK(ctx, dataset_set_member(ctx, d, "six",
                                    la_view_dense(byte, LA_U8, 6, dim)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "one", la_scalar_f64(special)));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "title",
                                       "Gr\xc3\xbc\xc3\x9f"
                                       "e"));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "notes", ""));
    TEST_OK(ctx, dataset_set_number(ctx, d, "seq_scale", 0.1));
    /* What deflate cannot shrink is stored without it. */
    uint8_t *noise = malloc(2 * large + 1);
    for (size_t i = 0; i < 2 * large; i++)
        noise[i] = (uint8_t)(i * 2654435761u >> 13 ^ i * i * 40503u >> 7);
    TEST_OK(ctx,
            dataset_set_member(ctx, d, "noise", la_vec_u8(noise, 2 * large)));
    free(noise);
    double *many = malloc((large + 1) * sizeof(*many));
    covar_rng rng = covar_rng_init(3, 4);
    covar_rng_normal(many, large, &rng);
    TEST_OK(ctx, dataset_set_member(ctx, d, "large",
                                    la_mat_f64(many, large / 3, 3)));
    free(many);
    return d;
}

static void round_trip(size_t large)
{
    covar_context *ctx = test_context();
    temp_path p = temp_name("write.h5");
    dataset *d = make_set(ctx, large), *back = NULL;
    TEST_OK(ctx, dataset_save(ctx, d, p.text));
    if (TEST_OK(ctx, dataset_load(&back, ctx, p.text))) {
        check_same(d, back);
        TEST_CLOSE(dataset_attribute_number(back, "seq_scale", 0.0), 0.1, 0.0);
    }
    dataset_free(back);
    dataset_free(d);
    remove(p.text);
    covar_context_free(ctx);
}

static void test_round_trip(void)
{
    static const size_t sizes[] = {0, 3, 8190, 8193, 100000};
    for (size_t i = 0; i < NELEM(sizes); i++)
        round_trip(sizes[i]);
}

static void test_reproducible(void)
{
    covar_context *ctx = test_context();
    temp_path p = temp_name("one.h5"), q = temp_name("two.h5");
    dataset *d = make_set(ctx, 30000);
    size_t n = 0, m = 0;
    TEST_OK(ctx, dataset_save(ctx, d, p.text));
    sleep(1); /* a second that would show in the file */
    TEST_OK(ctx, dataset_save(ctx, d, q.text));
    char *a = read_bytes(&n, p.text), *b = read_bytes(&m, q.text);
    CU_ASSERT(a && b && n == m && memcmp(a, b, n) == 0);
    free(a);
    free(b);
    dataset_free(d);
    remove(p.text);
    remove(q.text);
    covar_context_free(ctx);
}

static size_t parts_left(void)
{
    char command[100];
    snprintf(command, sizeof(command),
             "ls -d dataset-%ld-*.part 2> /dev/null | wc -l", (long)getpid());
    FILE *f = popen(command, "r");
    size_t n = 99;
    if (f && fscanf(f, "%zu", &n) != 1)
        n = 99;
    if (f)
        pclose(f);
    return n;
}

static void test_atomic(void)
{
    covar_context *ctx = test_context();
    temp_path folder = temp_name("folder"), p = temp_name("old.h5");
    char inside[100];
    dataset *d = make_set(ctx, 0), *back = NULL;
    TEST_OK(ctx, dataset_save(ctx, d, p.text));
    TEST_OK(ctx, dataset_set_number(ctx, d, "version", 2.0));
    TEST_OK(ctx, dataset_save(ctx, d, p.text)); /* replaces */
    TEST_OK(ctx, dataset_load(&back, ctx, p.text));
    if (back)
        TEST_CLOSE(dataset_attribute_number(back, "version", 0), 2.0, 0.0);
    dataset_free(back);
    snprintf(inside, sizeof(inside), "%s/absent/x.h5", folder.text);
    TEST_STATUS(ctx, dataset_save(ctx, d, inside), COVAR_ERR_IO);
    TEST_CONTAINS(covar_error_text(ctx), inside);
    TEST_STATUS(ctx, dataset_save_csv(ctx, d, inside), COVAR_ERR_IO);
    /* The name of a folder cannot be taken: nothing is left behind. */
    CU_ASSERT(mkdir(folder.text, 0777) == 0);
    TEST_STATUS(ctx, dataset_save(ctx, d, folder.text), COVAR_ERR_IO);
    TEST_STATUS(ctx, dataset_save_csv(ctx, d, folder.text), COVAR_ERR_IO);
    TEST_INT(parts_left(), 0);
    rmdir(folder.text);
    remove(p.text);
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_members(void)
{
    covar_context *ctx = test_context();
    dataset *d = make_set(ctx, 0);
    const double six[] = {1, 2, 3, 4, 5, 6}, turned[] = {1, 3, 5, 2, 4, 6};
    static const char *const bad[] = {"", "/a", "a/", "a/b/c", ".", "a//b"};
    size_t n = dataset_member_count(d);
    for (size_t i = 0; i < NELEM(bad); i++)
        TEST_STATUS(ctx, dataset_set_member(ctx, d, bad[i], la_vec_f64(six, 6)),
                    COVAR_ERR_NAME);
    TEST_STATUS(ctx, dataset_set_attribute(ctx, d, "", "x"), COVAR_ERR_NAME);
    la_view t = la_view_transpose(la_mat_f64(six, 3, 2));
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", t));
    TEST_INT(dataset_member_count(d), n);
    TEST_CLOSE_ARRAY(dataset_member(d, "X").data, turned, 6, 0.0);
    TEST_INT(dataset_d(d), 3);
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", la_view_none()));
    TEST_INT(dataset_member_count(d), n - 1);
    CU_ASSERT(la_view_is_none(dataset_member(d, "X")));
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", la_view_none()));
    /* Offsets are checked, and refused ones leave the old. */
    const int32_t good[] = {0, 2, 6}, wrong[] = {0, 7, 6};
    TEST_OK(ctx, dataset_set_member(ctx, d, "seq", la_vec_f64(six, 6)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "offsets", la_vec_i32(good, 3)));
    TEST_STATUS(ctx,
                dataset_set_member(ctx, d, "offsets", la_vec_i32(wrong, 3)),
                COVAR_ERR_FORMAT);
    TEST_INT(dataset_block_count(d), 2);
    TEST_INT(dataset_block(d, 1).dim[0], 4);
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_csv(void)
{
    covar_context *ctx = test_context();
    temp_path p = temp_name("table.csv");
    dataset *d = NULL, *back = NULL;
    const double x[] = {0.1, 1e300, -5e-324, 2}, y[] = {(double)NAN, 4};
    const double all[] = {0.1, 1e300, (double)NAN, -5e-324, 2, 4};
    TEST_OK(ctx, dataset_create(&d, ctx, "made"));
    TEST_STATUS(ctx, dataset_save_csv(ctx, d, p.text), COVAR_ERR_DATA);
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", la_mat_f64(x, 2, 2)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "y", la_vec_f64(y, 2)));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "columns", "a \"b\";c,d"));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "target", "d"));
    TEST_OK(ctx, dataset_save_csv(ctx, d, p.text));
    if (TEST_OK(ctx, dataset_load(&back, ctx, p.text))) {
        TEST_TEXT(dataset_attribute(back, "columns"), "a \"b\";c,d,y");
        TEST_TEXT(dataset_attribute(back, "target"), "y");
        TEST_CLOSE_ARRAY(dataset_member(back, "X").data, all, 6, 0.0);
    }
    TEST_OK(ctx, dataset_set_member(ctx, d, "y", la_vec_f64(y, 1)));
    TEST_STATUS(ctx, dataset_save_csv(ctx, d, p.text), COVAR_ERR_SHAPE);
    TEST_CONTAINS(covar_error_text(ctx), "`X` has 2 rows, but `y` has 1");
    dataset_free(back);
    dataset_free(d);
    remove(p.text);
    covar_context_free(ctx);
}

/* Some shared sets: written, read back, equal to the bit. */
static void test_shared(void)
{
    static const char *const files[] = {
        "data/spoken_digits.h5", "data/trec.h5",   "data/presidents.h5",
        "data/seatbelts.h5",     "data/boston.h5", "data/mcycle.h5"};
    covar_context *ctx = test_context();
    temp_path p = temp_name("shared.h5");
    size_t sets = 0;
    for (size_t i = 0; i < NELEM(files); i++) {
        char path[600];
        dataset *d = NULL, *back = NULL;
        if (!test_shared_path(path, sizeof(path), files[i]))
            continue;
        TEST_OK(ctx, dataset_load(&d, ctx, path));
        if (d)
            TEST_OK(ctx, dataset_save(ctx, d, p.text));
        if (d && TEST_OK(ctx, dataset_load(&back, ctx, p.text)))
            check_same(d, back);
        dataset_free(d);
        dataset_free(back);
        sets++;
    }
    remove(p.text);
    covar_context_free(ctx);
    if (sets == 0)
        CUTAP_SKIP("no shared data sets");
}

static covar_status save_made(covar_context *ctx, void *data)
{
    const double x[] = {1, 2, 3, 4};
    temp_path *p = data;
    dataset *d = NULL, *back = NULL;
    covar_status status = dataset_create(&d, ctx, "made");
    if (status == COVAR_OK)
        status = dataset_set_member(ctx, d, "X", la_mat_f64(x, 2, 2));
    if (status == COVAR_OK)
        status = dataset_set_number(ctx, d, "version", 1.0);
    if (status == COVAR_OK)
        status = dataset_save_csv(ctx, d, p->text);
    if (status == COVAR_OK)
        status = dataset_save(ctx, d, p->text);
    if (status == COVAR_OK)
        status = dataset_load(&back, ctx, p->text);
    dataset_free(back);
    dataset_free(d);
    return status;
}

static void test_allocations(void)
{
    temp_path p = temp_name("sweep.h5");
    test_allocation_sweep("write", save_made, &p);
    TEST_INT(parts_left(), 0);
    remove(p.text);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"round trip to the bit", test_round_trip},
        {"same bytes at another time", test_reproducible},
        {"whole or not at all", test_atomic},
        {"members", test_members},
        {"CSV", test_csv},
        {"shared sets", test_shared},
        {"every allocation fails", test_allocations},
    };
    return CUTAP_RUN("datasets write", cases);
}
