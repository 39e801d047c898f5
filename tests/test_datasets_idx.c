/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "datasets_util.h"

/* Loads an IDX file of these bytes and checks the one member it becomes. */
static void expect(const void *bytes, size_t n, const char *name,
                   la_dtype dtype, int rank, const double *value)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    if (TEST_OK(ctx, load_bytes(&d, ctx, bytes, n))) {
        la_view x = dataset_member(d, name);
        TEST_INT(x.dtype, dtype);
        TEST_INT(x.rank, rank);
        TEST_INT(dataset_member_count(d), 1);
        for (size_t i = 0; x.data && i < la_view_count(x); i++)
            TEST_CLOSE(la_view_get(x, i), value[i], 0.0);
    }
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_types(void)
{
    const double u8[] = {0, 127, 128, 255}, i8[] = {0, 127, -128, -1};
    const double i16[] = {258, -2}, i32[] = {16909060, -2};
    const double real[] = {1.5, -0.1f}, wide[] = {0.1, -2.0};
    expect("\0\0\x08\x01\0\0\0\x04\x00\x7f\x80\xff", 12, "labels", LA_I32, 1,
           u8);
    expect("\0\0\x08\x02\0\0\0\x02\0\0\0\x02\x00\x7f\x80\xff", 16, "X", LA_U8,
           2, u8);
    expect("\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x02\x00\x7f\x80\xff", 20,
           "images", LA_U8, 3, u8);
    expect("\0\0\x09\x01\0\0\0\x04\x00\x7f\x80\xff", 12, "labels", LA_I32, 1,
           i8);
    expect("\0\0\x0b\x01\0\0\0\x02\x01\x02\xff\xfe", 12, "labels", LA_I32, 1,
           i16);
    expect("\0\0\x0c\x01\0\0\0\x02\x01\x02\x03\x04\xff\xff\xff\xfe", 16,
           "labels", LA_I32, 1, i32);
    expect("\0\0\x0d\x01\0\0\0\x02\x3f\xc0\0\0\xbd\xcc\xcc\xcd", 16, "y",
           LA_F32, 1, real);
    expect("\0\0\x0e\x02\0\0\0\x01\0\0\0\x02"
           "\x3f\xb9\x99\x99\x99\x99\x99\x9a\xc0\0\0\0\0\0\0\0",
           28, "X", LA_F64, 2, wide);
    expect("\0\0\x0e\x00\x3f\xb9\x99\x99\x99\x99\x99\x9a", 12, "data", LA_F64,
           0, wide);
    expect("\0\0\x08\x04\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01\x00", 21,
           "data", LA_U8, 4, u8);
    expect("\0\0\x08\x02\0\0\0\x00\0\0\0\x02", 12, "X", LA_U8, 2, NULL);
}

static void refuse(const void *bytes, size_t n, const char *sentence)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    TEST_STATUS(ctx, load_bytes(&d, ctx, bytes, n), COVAR_ERR_FORMAT);
    TEST_CONTAINS(covar_error_text(ctx), sentence);
    CU_ASSERT_PTR_NULL(d);
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_refusals(void)
{
    refuse("\0\0\x08\x07", 4, "IDX of 7 dims, more than 6");
    refuse("\0\0\x08\x02\0\0\0\x02\0\0", 10,
           "IDX is cut off: 10 bytes, a head takes 12");
    refuse("\0\0\x08\x01\0\0\0\x04\0\0\0", 11,
           "IDX is cut off: 11 bytes instead of 12");
    refuse("\0\0\x08\x01\0\0\0\x02\0\0\0", 11,
           "IDX is too long: 11 bytes instead of 10");
    refuse("\0\0\x0e\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16,
           "more elements than memory can hold");
    refuse("\0\0\x0e\x01\xff\xff\xff\xff", 8, "cut off: 8 bytes instead of");
    refuse("\0\0\x0a\x01\0\0\0\x01\x01", 9, "neither HDF5 nor IDX nor text");
}

static const char sample[] = "\0\0\x0b\x02\0\0\0\x02\0\0\0\x03"
                             "\0\x01\0\x02\0\x03\0\x04\0\x05\0\x06";

static void test_damage(void)
{
    covar_context *ctx = test_context();
    size_t n = sizeof(sample) - 1, arrays = 0;
    for (size_t cut = 0; cut < n; cut++) {
        dataset *d = NULL;
        CU_ASSERT(load_bytes(&d, ctx, sample, cut) != COVAR_OK);
        CU_ASSERT_PTR_NULL(d);
    }
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            char copy[sizeof(sample)];
            dataset *d = NULL;
            memcpy(copy, sample, n);
            copy[i] = (char)(copy[i] ^ (1 << bit));
            covar_status s = load_bytes(&d, ctx, copy, n);
            CU_ASSERT((s == COVAR_OK) == (d != NULL));
            arrays += s == COVAR_OK;
            dataset_free(d);
        }
    TEST_INT(arrays >= 12 * 8, 1);
    covar_context_free(ctx);
}

static covar_status load_sample(covar_context *ctx, void *data)
{
    dataset *d = NULL;
    temp_path *p = data;
    covar_status status = dataset_load(&d, ctx, p->text);
    dataset_free(d);
    return status;
}

static void test_allocations(void)
{
    temp_path p = temp_name("sweep.idx");
    CU_ASSERT(write_bytes(p.text, sample, sizeof(sample) - 1));
    test_allocation_sweep("idx", load_sample, &p);
    remove(p.text);
}

/* The IDX files of the Debian package dataset-fashion-mnist, when installed:
 * what the library reads gzipped and whole. */
static void test_fashion_mnist(void)
{
    static const char folder[] = "/usr/share/datasets/fashion-mnist";
    char path[200];
    covar_context *ctx = test_context();
    dataset *images = NULL, *labels = NULL;
    snprintf(path, sizeof(path), "%s/t10k-labels-idx1-ubyte.gz", folder);
    if (access(path, R_OK) != 0) {
        covar_context_free(ctx);
        CUTAP_SKIP("no package dataset-fashion-mnist");
    }
    TEST_OK(ctx, dataset_load(&labels, ctx, path));
    snprintf(path, sizeof(path), "%s/t10k-images-idx3-ubyte.gz", folder);
    TEST_OK(ctx, dataset_load(&images, ctx, path));
    if (images && labels) {
        la_view x = dataset_member(images, "images");
        TEST_INT(x.dim[0], 10000);
        TEST_INT(x.dim[1] * x.dim[2], 784);
        int count[10] = {0};
        la_view l = dataset_member(labels, "labels");
        for (size_t i = 0; i < la_view_count(l); i++)
            count[(int)la_view_get(l, i)]++;
        for (int k = 0; k < 10; k++)
            TEST_INT(count[k], 1000);
    }
    dataset_free(images);
    dataset_free(labels);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"types and ranks", test_types},
        {"refusals", test_refusals},
        {"damage", test_damage},
        {"every allocation fails", test_allocations},
        {"Fashion-MNIST", test_fashion_mnist},
    };
    return CUTAP_RUN("datasets idx", cases);
}
