/* Reading HDF5: types, attributes, layouts, sequences, description.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "datasets_hdf5_util.h"

#include <math.h>

/* Writes n doubles as `type` and expects our dtype and values back. */
static void check_type(hid_t type, la_dtype dtype, const double *value,
                       size_t n)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    made_file f = made_begin("type.h5");
    made_member(&f, "X", type, 1, (hsize_t[]){n}, value);
    if (TEST_OK(ctx, made_load(&d, ctx, &f))) {
        la_view x = dataset_member(d, "X");
        TEST_INT(x.dtype, dtype);
        for (size_t i = 0; i < n; i++)
            TEST_CLOSE(la_view_get(x, i), value[i], 0.0);
    }
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_types(void)
{
    const double small[] = {0, 1, 127}, sign[] = {-128, 127, 0};
    const double i16[] = {-32768, 32767}, u16[] = {0, 65535};
    const double i32[] = {-2147483648.0, 2147483647.0};
    const double u32[] = {0, 4294967295.0}, real[] = {1.5, -0.25};
    const double i64[] = {-9007199254740992.0, 9007199254740992.0};
    check_type(H5T_STD_U8LE, LA_U8, small, 3);
    check_type(H5T_STD_I8LE, LA_I32, sign, 3);
    check_type(H5T_STD_I16BE, LA_I32, i16, 2);
    check_type(H5T_STD_U16LE, LA_I32, u16, 2);
    check_type(H5T_STD_I32BE, LA_I32, i32, 2);
    check_type(H5T_STD_U32LE, LA_F64, u32, 2);
    check_type(H5T_STD_U32LE, LA_I32, small, 3);
    check_type(H5T_STD_I64LE, LA_F64, i64, 2);
    check_type(H5T_STD_I64BE, LA_I32, i32, 2);
    check_type(H5T_STD_U64LE, LA_I32, small, 3);
    check_type(H5T_IEEE_F32BE, LA_F32, real, 2);
    check_type(H5T_IEEE_F64BE, LA_F64, real, 2);
    check_type(H5T_NATIVE_LDOUBLE, LA_F64, real, 2);
}

static void test_wide(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    const int64_t beyond[] = {0, INT64_C(9007199254740993)};
    const uint64_t most[] = {UINT64_MAX};
    made_file f = made_begin("wide.h5");
    made_raw(&f, "X", H5T_NATIVE_INT64, 1, (hsize_t[]){2}, beyond);
    TEST_STATUS(ctx, made_load(&d, ctx, &f), COVAR_ERR_FORMAT);
    TEST_CONTAINS(covar_error_text(ctx),
                  "`X` holds an integer beyond 2^53 (element 1)");
    f = made_begin("wide.h5");
    made_raw(&f, "X", H5T_NATIVE_UINT64, 1, (hsize_t[]){1}, most);
    TEST_STATUS(ctx, made_load(&d, ctx, &f), COVAR_ERR_FORMAT);
    /* h5py's booleans */
    f = made_begin("wide.h5");
    hid_t truth = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(truth, "FALSE", &(int8_t){0});
    H5Tenum_insert(truth, "TRUE", &(int8_t){1});
    made_raw(&f, "X", truth, 1, (hsize_t[]){3}, (int8_t[]){1, 0, 1});
    H5Tclose(truth);
    if (TEST_OK(ctx, made_load(&d, ctx, &f))) {
        TEST_INT(dataset_member(d, "X").dtype, LA_I32);
        TEST_CLOSE(la_view_get(dataset_member(d, "X"), 2), 1.0, 0.0);
    }
    dataset_free(d);
    covar_context_free(ctx);
}

/* Empty, scalar, six dims, chunked with every filter, compact. */
static void test_layouts(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    const double v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    made_file f = made_begin("layouts.h5");
    made_member(&f, "empty", H5T_IEEE_F64LE, 2, (hsize_t[]){0, 3}, v);
    made_member(&f, "one", H5T_IEEE_F64LE, 0, NULL, v);
    made_member(&f, "six", H5T_IEEE_F64LE, 6, (hsize_t[]){2, 1, 2, 1, 2, 1}, v);
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(f.plan, 1, (hsize_t[]){3});
    H5Pset_shuffle(f.plan);
    H5Pset_deflate(f.plan, 9);
    H5Pset_fletcher32(f.plan);
    made_member(&f, "chunked", H5T_IEEE_F64LE, 1, (hsize_t[]){8}, v);
    H5Pclose(f.plan);
    f.plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(f.plan, H5D_COMPACT);
    made_member(&f, "group/compact", H5T_IEEE_F64LE, 1, (hsize_t[]){8}, v);
    H5Pclose(f.plan);
    f.plan = H5P_DEFAULT;
    if (TEST_OK(ctx, made_load(&d, ctx, &f))) {
        TEST_INT(dataset_member_count(d), 5);
        TEST_INT(dataset_member(d, "empty").dim[1], 3);
        TEST_INT(dataset_member(d, "one").rank, 0);
        TEST_INT(dataset_member(d, "six").rank, 6);
        TEST_CLOSE_ARRAY(dataset_member(d, "six").data, v, 8, 0.0);
        TEST_CLOSE_ARRAY(dataset_member(d, "chunked").data, v, 8, 0.0);
        TEST_CLOSE_ARRAY(dataset_member(d, "group/compact").data, v, 8, 0.0);
    }
    dataset_free(d);
    covar_context_free(ctx);
}

static void put_strings(hid_t root, const char *name, H5T_str_t pad,
                        size_t size, hsize_t n, const void *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t space = n > 0 ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
    H5Tset_size(type, size);
    H5Tset_strpad(type, pad);
    hid_t a = H5Acreate2(root, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type, text);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
}

static void put_numbers(hid_t root, const char *name, hid_t type, hsize_t n,
                        const void *value)
{
    hid_t space = n > 0 ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
    hid_t a = H5Acreate2(root, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type, value);
    H5Aclose(a);
    H5Sclose(space);
}

static void test_attributes(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    made_file f = made_begin("attributes.h5");
    const char *variable = "of any length", *list[] = {"one", "", "three"};
    put_strings(f.file, "full", H5T_STR_NULLPAD, 4, 0, "full");
    put_strings(f.file, "padded", H5T_STR_NULLPAD, 8, 0, "pad\0\0\0\0");
    put_strings(f.file, "ended", H5T_STR_NULLTERM, 8, 0, "end\0xyz");
    put_strings(f.file, "blanks", H5T_STR_SPACEPAD, 6, 0, "two   ");
    put_strings(f.file, "pair", H5T_STR_NULLPAD, 2, 2, "ab\0c");
    put_strings(f.file, "variable", H5T_STR_NULLTERM, H5T_VARIABLE, 0,
                &variable);
    put_strings(f.file, "list", H5T_STR_NULLTERM, H5T_VARIABLE, 3, list);
    put_numbers(f.file, "real", H5T_NATIVE_FLOAT, 0, &(float){0.5f});
    put_numbers(f.file, "whole", H5T_NATIVE_INT64, 0, &(int64_t){-7});
    put_numbers(f.file, "single", H5T_NATIVE_DOUBLE, 1, &(double){2.0});
    put_numbers(f.file, "numbers", H5T_NATIVE_DOUBLE, 2, (double[]){1, 2.5});
    hid_t pair = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(pair, "a", 0, H5T_NATIVE_INT32);
    put_numbers(f.file, "compound", pair, 0, (int32_t[]){1, 2});
    H5Tclose(pair);
    static const struct {
        const char *name, *text;
    } expected[] = {{"full", "full"},       {"padded", "pad"},
                    {"ended", "end"},       {"blanks", "two"},
                    {"pair", "ab,"},        {"variable", "of any length"},
                    {"list", "one,,three"}, {"real", "0.5"},
                    {"whole", "-7"},        {"single", "2"},
                    {"numbers", "1,2.5"}};
    if (TEST_OK(ctx, made_load(&d, ctx, &f))) {
        for (size_t i = 0; i < NELEM(expected); i++)
            TEST_TEXT(dataset_attribute(d, expected[i].name), expected[i].text);
        CU_ASSERT_PTR_NULL(dataset_attribute(d, "compound"));
        TEST_CLOSE(dataset_attribute_number(d, "whole", 0), -7.0, 0.0);
        TEST_CLOSE(dataset_attribute_number(d, "full", 3.0), 3.0, 0.0);
        TEST_CLOSE(dataset_attribute_number(d, "absent", 4.0), 4.0, 0.0);
    }
    dataset_free(d);
    covar_context_free(ctx);
}

/* A user block before the file proper, and the name without attributes. */
static void test_user_block(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    temp_path p = temp_name("block.more.h5");
    hid_t plan = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(plan, 1024);
    hid_t file = H5Fcreate(p.text, H5F_ACC_TRUNC, plan, H5P_DEFAULT);
    H5Fclose(file);
    H5Pclose(plan);
    if (TEST_OK(ctx, dataset_load(&d, ctx, p.text))) {
        TEST_INT(dataset_member_count(d), 0);
        TEST_INT(dataset_n(d), 0);
        TEST_CONTAINS(dataset_attribute(d, "name"), "block");
    }
    dataset_free(d);
    remove(p.text);
    covar_context_free(ctx);
}

static void test_sequences(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    const double seq[] = {0, 10, 20, 30, 40, 50}, offsets[] = {0, 1, 1, 3};
    double out[4];
    made_file f = made_begin("seq.h5");
    made_member(&f, "seq", H5T_STD_U8LE, 2, (hsize_t[]){3, 2}, seq);
    made_member(&f, "offsets", H5T_STD_I64LE, 1, (hsize_t[]){4}, offsets);
    put_numbers(f.file, "seq_scale", H5T_NATIVE_DOUBLE, 0, &(double){0.5});
    put_numbers(f.file, "seq_offset", H5T_NATIVE_DOUBLE, 0, &(double){-1.0});
    TEST_OK(ctx, made_load(&d, ctx, &f));
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    TEST_INT(dataset_block_count(d), 3);
    TEST_INT(dataset_n(d), 3);
    TEST_INT(dataset_block(d, 1).dim[0], 0);
    TEST_INT(dataset_block(d, 2).dim[0], 2);
    CU_ASSERT(la_view_is_none(dataset_block(d, 3)));
    const double third[] = {9, 14, 19, 24};
    TEST_OK(ctx, dataset_block_read(la_mat_f64(out, 2, 2), ctx, d, 2));
    TEST_CLOSE_ARRAY(out, third, 4, 0.0);
    TEST_STATUS(ctx, dataset_block_read(la_mat_f64(out, 2, 2), ctx, d, 3),
                COVAR_ERR_ARG);
    TEST_STATUS(ctx, dataset_block_read(la_mat_f64(out, 1, 2), ctx, d, 2),
                COVAR_ERR_SHAPE);
    TEST_STATUS(ctx,
                dataset_block_read(la_vec_u8((uint8_t *)out, 2), ctx, d, 2),
                COVAR_ERR_DTYPE);
    dataset_free(d);
    static const double bad[][4] = {{0, 2, 1, 3}, {0, 1, 2, 4}, {-1, 1, 2, 3}};
    for (size_t i = 0; i < NELEM(bad); i++) {
        f = made_begin("seq.h5");
        made_member(&f, "seq", H5T_STD_U8LE, 2, (hsize_t[]){3, 2}, seq);
        made_member(&f, "offsets", H5T_STD_I64LE, 1, (hsize_t[]){4}, bad[i]);
        TEST_STATUS(ctx, made_load(&d, ctx, &f), COVAR_ERR_FORMAT);
        TEST_CONTAINS(covar_error_text(ctx), "offsets[");
        CU_ASSERT_PTR_NULL(d);
    }
    covar_context_free(ctx);
}

typedef struct lines {
    char text[4000];
    size_t longest;
} lines;

static void collect(const char *line, void *data)
{
    lines *l = data;
    size_t n = strlen(line);
    l->longest = n > l->longest ? n : l->longest;
    strncat(l->text, line, sizeof(l->text) - strlen(l->text) - 1);
    strncat(l->text, "\n", sizeof(l->text) - strlen(l->text) - 1);
}

static void test_description(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    lines l = {{0}, 0};
    char notes[600];
    const double x[] = {1, 2, -0.5, 4}, y[] = {(double)NAN, 7};
    memset(notes, 'n', sizeof(notes) - 1);
    notes[sizeof(notes) - 1] = '\0';
    TEST_OK(ctx, dataset_create(&d, ctx, "made"));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "title", "A title"));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "columns", "a,b"));
    TEST_OK(ctx, dataset_set_attribute(ctx, d, "notes", notes));
    TEST_OK(ctx, dataset_set_member(ctx, d, "X", la_mat_f64(x, 2, 2)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "y", la_vec_f64(y, 2)));
    TEST_OK(ctx, dataset_set_member(ctx, d, "fold",
                                    la_vec_i32((int32_t[]){0, 1}, 2)));
    dataset_describe(d, collect, &l);
    TEST_CONTAINS(l.text, "A title\nmemory, n = 2, d = 2\n");
    TEST_CONTAINS(l.text, "f64 2x2          -0.5 .. 4\n");
    TEST_CONTAINS(l.text, "f64 2            7 .. 7, 1 NaN, 0 infinite\n");
    TEST_CONTAINS(l.text, "splits: 2 folds\ncolumns of X: a, b\n");
    TEST_INT(l.longest, 255);
    dataset_free(d);
    covar_context_free(ctx);
}

static covar_status load_file(covar_context *ctx, void *data)
{
    dataset *d = NULL;
    made_file *f = data;
    covar_status status = dataset_load(&d, ctx, f->path.text);
    dataset_free(d);
    return status;
}

static void test_allocations(void)
{
    made_file f = made_begin("sweep.h5");
    const char *list[] = {"a", "b"};
    made_member(&f, "X", H5T_IEEE_F64LE, 2, (hsize_t[]){1, 2},
                (double[]){1, 2});
    made_member(&f, "wide", H5T_STD_I64LE, 1, (hsize_t[]){2}, (double[]){1, 2});
    put_strings(f.file, "fixed", H5T_STR_NULLPAD, 4, 0, "text");
    put_strings(f.file, "list", H5T_STR_NULLTERM, H5T_VARIABLE, 2, list);
    put_numbers(f.file, "numbers", H5T_NATIVE_DOUBLE, 2, (double[]){1, 2});
    made_end(&f);
    test_allocation_sweep("hdf5", load_file, &f);
    remove(f.path.text);
}

/* The caller's way of printing HDF5 errors comes back. */
static void test_error_printing(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    H5E_auto2_t before = NULL, after = NULL;
    void *data = NULL;
    H5Eget_auto2(H5E_DEFAULT, &before, &data);
    TEST_STATUS(ctx, load_bytes(&d, ctx, "\x89HDF\r\n\x1a\nrest", 12),
                COVAR_ERR_FORMAT);
    TEST_CONTAINS(covar_error_text(ctx), "is not readable as HDF5: ");
    H5Eget_auto2(H5E_DEFAULT, &after, &data);
    CU_ASSERT(before != NULL && before == after);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"element types", test_types},
        {"wide integers, booleans", test_wide},
        {"layouts", test_layouts},
        {"attributes", test_attributes},
        {"user block", test_user_block},
        {"sequences", test_sequences},
        {"description", test_description},
        {"error printing", test_error_printing},
        {"every allocation fails", test_allocations},
    };
    return CUTAP_RUN("datasets hdf5", cases);
}
