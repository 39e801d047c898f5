/* Views and arrays.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "test_linalg.h"

static void test_names(void)
{
    TEST_INT(la_dtype_size(LA_F64), 8);
    TEST_INT(la_dtype_size(LA_F32), 4);
    TEST_INT(la_dtype_size(LA_I32), 4);
    TEST_INT(la_dtype_size(LA_U8), 1);
    TEST_TEXT(la_dtype_name(LA_F64), "f64");
    TEST_TEXT(la_dtype_name(LA_U8), "u8");
    CU_ASSERT(la_dtype_is_real(LA_F32));
    CU_ASSERT(!la_dtype_is_real(LA_I32));
}

static void test_views(void)
{
    double a[12];
    for (int i = 0; i < 12; i++)
        a[i] = i;
    const la_view m = la_mat_f64(a, 3, 4);
    TEST_INT(la_view_count(m), 12);
    CU_ASSERT(la_view_is_dense(m));
    const la_view t = la_view_transpose(m);
    TEST_INT(t.dim[0], 4);
    CU_ASSERT(!la_view_is_dense(t));
    CU_ASSERT_EQUAL(la_view_get(t, 1), 4.0);
    const la_view s = la_view_slice(m, 1, 1, 2);
    CU_ASSERT_EQUAL(la_view_get(s, 3), 6.0);
    CU_ASSERT(!la_view_is_dense(s));
    const la_view r = la_view_row(m, 2);
    TEST_INT(r.rank, 1);
    CU_ASSERT_EQUAL(la_view_get(r, 3), 11.0);
    const la_view d = la_view_diag(m);
    TEST_INT(d.dim[0], 3);
    CU_ASSERT_EQUAL(la_view_get(d, 2), 10.0);
    la_view_set(d, 2, -1);
    CU_ASSERT_EQUAL(a[10], -1.0);
    const la_view e = la_view_expand(r, 1);
    TEST_INT(e.rank, 2);
    TEST_INT(e.dim[1], 1);
    CU_ASSERT(la_view_same_dims(m, la_mat_f64(NULL, 3, 4)));
    CU_ASSERT(!la_view_same_dims(m, t));
    CU_ASSERT(la_view_is_dense(la_view_slice(m, 0, 1, 1)));
    CU_ASSERT(la_view_is_dense(la_mat_f64(NULL, 0, 4)));
}

static void test_views_out_of_range(void)
{
    double a[4] = {0};
    const la_view m = la_mat_f64(a, 2, 2);
    const size_t dim[7] = {1, 1, 1, 1, 1, 1, 1};
    CU_ASSERT(la_view_is_none(la_view_none()));
    CU_ASSERT(!la_view_is_none(m));
    CU_ASSERT(la_view_is_none(la_view_dense(a, LA_F64, 7, dim)));
    CU_ASSERT(la_view_is_none(la_view_slice(m, 2, 0, 1)));
    CU_ASSERT(la_view_is_none(la_view_slice(m, 0, 1, 2)));
    CU_ASSERT(la_view_is_none(la_view_slice(m, 0, 3, 0)));
    CU_ASSERT(la_view_is_none(la_view_row(m, 2)));
    CU_ASSERT(la_view_is_none(la_view_row(la_scalar_f64(a), 0)));
    CU_ASSERT(la_view_is_none(la_view_diag(la_vec_f64(a, 4))));
    CU_ASSERT(la_view_is_none(la_view_expand(m, 3)));
    TEST_INT(la_view_slice(m, 0, 2, 0).dim[0], 0);
}

static void test_broadcast(void)
{
    double a[3] = {1, 2, 3};
    la_view out;
    const size_t dim[2] = {3, 4}, wrong[2] = {4, 3};
    const la_view column = la_mat_f64(a, 3, 1);
    CU_ASSERT(la_view_broadcast(&out, column, 2, dim));
    CU_ASSERT_EQUAL(la_view_get(out, 11), 3.0);
    TEST_INT(out.stride[1], 0);
    CU_ASSERT(!la_view_broadcast(&out, column, 2, wrong));
    CU_ASSERT(!la_view_broadcast(&out, la_vec_f64(a, 3), 2, dim));
    CU_ASSERT(la_view_broadcast(&out, la_scalar_f64(a + 1), 2, dim));
    CU_ASSERT_EQUAL(la_view_get(out, 7), 2.0);
}

static void test_overlap(void)
{
    double a[10] = {0};
    CU_ASSERT(la_view_overlap(la_vec_f64(a, 5), la_vec_f64(a + 4, 5)));
    CU_ASSERT(!la_view_overlap(la_vec_f64(a, 5), la_vec_f64(a + 5, 5)));
    CU_ASSERT(!la_view_overlap(la_vec_f64(a, 0), la_vec_f64(a, 5)));
    CU_ASSERT(!la_view_overlap(la_view_none(), la_vec_f64(a, 5)));
    const la_view back =
        la_view_strided(a + 9, LA_F64, 1, (size_t[]){5}, (ptrdiff_t[]){-1});
    CU_ASSERT(la_view_overlap(back, la_vec_f64(a, 6)));
    CU_ASSERT(!la_view_overlap(back, la_vec_f64(a, 5)));
}

static void test_describe(void)
{
    char text[64];
    const size_t dim[3] = {10, 2, 3};
    TEST_TEXT(la_view_describe(text, sizeof text, la_mat_f64(NULL, 5, 3)),
              "f64 5x3");
    TEST_TEXT(
        la_view_describe(text, sizeof text, la_view_dense(text, LA_U8, 3, dim)),
        "u8 10x2x3");
    TEST_TEXT(la_view_describe(text, sizeof text, la_scalar_f32((float[]){1})),
              "f32 scalar");
    TEST_TEXT(la_view_describe(text, sizeof text, la_view_none()), "none");
    TEST_TEXT(la_view_describe(text, 6, la_mat_f64(NULL, 500, 3)), "f64 5");
}

static void test_get_set(void)
{
    double d = 0;
    float f = 0;
    int32_t i = 0;
    uint8_t u = 0;
    const la_view v[] = {la_scalar_f64(&d), la_scalar_f32(&f),
                         la_vec_i32(&i, 1), la_vec_u8(&u, 1)};
    for (size_t k = 0; k < NELEM(v); k++) {
        la_view_set(v[k], 0, 7);
        CU_ASSERT_EQUAL(la_view_get(v[k], 0), 7.0);
    }
}

static void test_arrays(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    la_array *a, *b;
    const size_t dim[2] = {3, 2};
    TEST_OK(ctx, la_array_create(&a, &exec, LA_F64, 2, dim));
    const la_view x = la_array_view(a);
    CU_ASSERT(la_view_is_dense(x));
    CU_ASSERT_EQUAL((uintptr_t)x.data % 64, 0);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(la_view_get(x, i), 0.0);
        la_view_set(x, i, (double)i);
    }
    TEST_OK(ctx, la_array_from_view(&b, &exec, la_view_transpose(x)));
    TEST_INT(la_array_view(b).dim[0], 2);
    CU_ASSERT_EQUAL(la_view_get(la_array_view(b), 1), 2.0);
    CU_ASSERT_PTR_EQUAL(la_array_retain(b), b);
    CU_ASSERT_PTR_NULL(la_array_retain(NULL));
    covar_context_free(ctx); /* arrays outlive their context */
    la_array_free(b);
    CU_ASSERT_EQUAL(la_view_get(la_array_view(b), 1), 2.0);
    la_array_free(b);
    la_array_free(a);
    la_array_free(NULL);
}

static void test_array_errors(void)
{
    covar_context *ctx = test_context();
    const la_exec exec = test_exec(ctx, 1);
    la_array *a = (la_array *)&exec;
    const size_t huge[3] = {SIZE_MAX / 4, 4, 4}, empty[2] = {SIZE_MAX, 0};
    TEST_STATUS(ctx, la_array_create(&a, &exec, LA_F64, 3, huge),
                COVAR_ERR_ARG);
    CU_ASSERT_PTR_NULL(a);
    TEST_CONTAINS(covar_error_text(ctx), "overflow");
    TEST_STATUS(ctx, la_array_create(&a, &exec, LA_F64, 7, huge),
                COVAR_ERR_ARG);
    TEST_CONTAINS(covar_error_text(ctx), "rank 7");
    TEST_OK(ctx, la_array_create(&a, &exec, LA_F64, 2, empty));
    TEST_INT(la_view_count(la_array_view(a)), 0);
    la_array_free(a);
    covar_context_free(ctx);
}

static covar_status make_two(covar_context *ctx, void *data)
{
    (void)data;
    const la_exec exec = test_exec(ctx, 1);
    la_array *a = NULL, *b = NULL;
    const size_t dim[2] = {3, 2};
    covar_status status = la_array_create(&a, &exec, LA_F32, 2, dim);
    if (status == COVAR_OK)
        status = la_array_from_view(&b, &exec, la_array_view(a));
    la_array_free(a);
    la_array_free(b);
    return status;
}

static void test_array_memory(void)
{
    test_allocation_sweep("arrays", make_two, NULL);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"dtypes", test_names},
        {"views", test_views},
        {"views out of range", test_views_out_of_range},
        {"broadcast", test_broadcast},
        {"overlap", test_overlap},
        {"describe", test_describe},
        {"get and set", test_get_set},
        {"arrays", test_arrays},
        {"array errors", test_array_errors},
        {"allocation failures", test_array_memory},
    };
    return CUTAP_RUN("linalg array", cases);
}
