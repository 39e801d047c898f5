/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "datasets_util.h"

#include <locale.h>
#include <math.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

static covar_status load_text(dataset **out, covar_context *ctx,
                              const char *text)
{
    return load_bytes(out, ctx, text, strlen(text));
}

/* Loads `text`; X must be rows x columns with these values and names. */
static void expect(const char *text, const char *names, size_t rows,
                   size_t columns, const double *value)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    if (TEST_OK(ctx, load_text(&d, ctx, text))) {
        la_view x = dataset_member(d, "X");
        TEST_INT(dataset_n(d), rows);
        TEST_INT(dataset_d(d), columns);
        TEST_TEXT(dataset_attribute(d, "columns"), names);
        if (la_view_count(x) == rows * columns)
            TEST_CLOSE_ARRAY(x.data, value, rows * columns, 0.0);
    }
    dataset_free(d);
    covar_context_free(ctx);
}

static void refuse(const char *text, covar_status status, const char *sentence)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    TEST_STATUS(ctx, load_text(&d, ctx, text), status);
    TEST_CONTAINS(covar_error_text(ctx), sentence);
    TEST_CONTAINS(covar_error_text(ctx), "dataset-");
    CU_ASSERT_PTR_NULL(d);
    dataset_free(d);
    covar_context_free(ctx);
}

static void test_shapes_of_text(void)
{
    const double six[] = {1, 2, 3, 4, 5, 6};
    expect("a,b,c\n1,2,3\n4,5,6\n", "a,b,c", 2, 3, six);
    expect("1,2,3\n4,5,6", "c1,c2,c3", 2, 3, six);
    expect("a;b;c\r\n1;2;3\r\n4;5;6\r\n", "a,b,c", 2, 3, six);
    expect("a\tb\tc\r1\t2\t3\r4\t5\t6", "a,b,c", 2, 3, six);
    expect("\xef\xbb\xbf"
           "a,b,c\n1,2,3\n4,5,6\n",
           "a,b,c", 2, 3, six);
    expect("# from a logger\n#\n\na , b,c\n\n 1, 2,3 \n  \n4,5,\t6\n\n",
           "a,b,c", 2, 3, six);
    expect("\"a,1\";\"b \"\"x\"\"\";c\n\"1\";2;3\n4;\"5\" ;6\n",
           "a;1,b \"x\",c", 2, 3, six);
    expect("\"a\nb\",b,c\n1,2,3\n4,5,6\n", "a b,b,c", 2, 3, six);
    expect("x\n1\n2\n3\n4\n5\n6\n", "x", 6, 1, six);
    expect("1\n2\n3\n4\n5\n6", "c1", 6, 1, six);
    expect(",b,c\n1,2,3\n4,5,6\n", "c1,b,c", 2, 3, six);
}

static void test_numbers(void)
{
    const double nan = (double)NAN, inf = (double)INFINITY;
    const double all[] = {nan, nan,  nan,     nan, nan,    nan, inf, -inf,
                          0.1, 1e23, -2.5e-3, 5.0, 4e-324, 0.5, 7.0, -0.0};
    expect("a,b,c,d,e,f,g,h\n,NA,n/a,NaN,NULL,?,inf,-Infinity\n"
           "0.1,1e23,-2.5E-3,+5.,4e-324,.5,007,-0\n",
           "a,b,c,d,e,f,g,h", 2, 8, all);
    const double third[] = {0.33333333333333331, 2.2250738585072014e-308};
    expect("0.333333333333333314829616256247390992939472198486328125,"
           "2.2250738585072014e-308\n",
           "c1,c2", 1, 2, third);
}

static void test_refusals(void)
{
    refuse("", COVAR_ERR_DATA, "no rows of numbers");
    refuse("\n\n", COVAR_ERR_DATA, "no rows of numbers");
    refuse("a,b\n", COVAR_ERR_DATA, "no rows of numbers");
    refuse("a,b\n1,2\n3\n", COVAR_ERR_PARSE,
           "line 3 has 1 cells, but the first record has 2");
    refuse("a,b\n1,2,3\n", COVAR_ERR_PARSE, "line 2 has 3 cells");
    refuse("a,b\n1,2\n\n3,x y\n", COVAR_ERR_PARSE,
           "line 4, column 2 (`b`): `x y` is not a number");
    refuse("a;b\n1;2,5\n", COVAR_ERR_PARSE,
           "`2,5` is not a number (decimals take a point)");
    refuse("a,b\n1,0x10\n", COVAR_ERR_PARSE, "`0x10`");
    refuse("a,b\n1,1e999\n", COVAR_ERR_PARSE, "`1e999`");
    refuse("a,b\n1,1.5.2\n", COVAR_ERR_PARSE, "`1.5.2`");
    refuse("a,b\n1,\"2\n3,4\n", COVAR_ERR_PARSE,
           "line 2: the quote in cell 2 is never closed");
    refuse("a,b\n1,\"2\"3\n", COVAR_ERR_PARSE,
           "line 2: cell 2 goes on after its quote");
    refuse("a,b,a\n1,2,3\n", COVAR_ERR_NAME,
           "columns 1 and 3 are both named `a`");
    refuse("\xff\xfe"
           "a",
           COVAR_ERR_FORMAT, "UTF-16");
}

static void test_binary(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    TEST_STATUS(ctx,
                load_bytes(&d, ctx,
                           "1,2\n3,\0"
                           "4\n",
                           9),
                COVAR_ERR_FORMAT);
    TEST_CONTAINS(covar_error_text(ctx), "neither HDF5 nor IDX nor text");
    TEST_STATUS(ctx, dataset_load(&d, ctx, "no/such/file.csv"), COVAR_ERR_IO);
    TEST_CONTAINS(covar_error_text(ctx), "no/such/file.csv: cannot be opened");
    TEST_STATUS(ctx, dataset_load(&d, ctx, "."), COVAR_ERR_IO);
    TEST_CONTAINS(covar_error_text(ctx), "is not a file");
    covar_context_free(ctx);
}

static void test_options(void)
{
    covar_context *ctx = test_context();
    dataset *d = NULL;
    temp_path p = temp_name("options.csv");
    const char text[] = "id;kind;1\n5;red;6\n7;blue;8\n";
    CU_ASSERT(write_bytes(p.text, text, strlen(text)));
    dataset_csv_options o = {.skip_text = true};
    if (TEST_OK(ctx, dataset_load_csv(&d, ctx, p.text, &o))) {
        const double value[] = {5, 6, 7, 8};
        TEST_TEXT(dataset_attribute(d, "columns"), "id,1");
        TEST_TEXT(dataset_attribute(d, "skipped_columns"), "kind");
        TEST_TEXT(dataset_attribute(d, "target"), "1");
        TEST_INT(dataset_d(d), 2);
        TEST_CLOSE_ARRAY(dataset_member(d, "X").data, value, 4, 0.0);
    }
    dataset_free(d);
    o.header = DATASET_CSV_NO_HEADER;
    if (TEST_OK(ctx, dataset_load_csv(&d, ctx, p.text, &o))) {
        TEST_INT(dataset_n(d), 3); /* the column id is text now */
        TEST_TEXT(dataset_attribute(d, "columns"), "c3");
    }
    dataset_free(d);
    o = (dataset_csv_options){.separator = ','};
    TEST_STATUS(ctx, dataset_load_csv(&d, ctx, p.text, &o), COVAR_ERR_PARSE);
    o.separator = '\n';
    TEST_STATUS(ctx, dataset_load_csv(&d, ctx, p.text, &o), COVAR_ERR_ARG);
    CU_ASSERT(write_bytes(p.text, "1,2\n3,4\n", 8));
    o = (dataset_csv_options){.header = DATASET_CSV_HEADER};
    if (TEST_OK(ctx, dataset_load_csv(&d, ctx, p.text, &o)))
        TEST_TEXT(dataset_attribute(d, "columns"), "1,2");
    dataset_free(d);
    CU_ASSERT(write_bytes(p.text, "a,b\nx,y\n", 8));
    o = (dataset_csv_options){.skip_text = true};
    TEST_STATUS(ctx, dataset_load_csv(&d, ctx, p.text, &o), COVAR_ERR_DATA);
    TEST_CONTAINS(covar_error_text(ctx), "no column of numbers");
    remove(p.text);
    covar_context_free(ctx);
}

/* A locale with a decimal comma changes nothing. */
static void test_locale(void)
{
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8",
                                        "fr_FR.UTF-8", "de_DE"};
    const double value[] = {1.5, 2.25};
    const char *found = NULL;
    for (size_t i = 0; i < NELEM(comma) && !found; i++)
        found = setlocale(LC_ALL, comma[i]);
    if (!found)
        CUTAP_SKIP("no locale with a decimal comma");
    expect("1.5,2.25\n", "c1,c2", 1, 2, value);
    setlocale(LC_ALL, "C");
}

static void test_gzip(void)
{
#ifdef HAVE_ZLIB
    covar_context *ctx = test_context();
    dataset *d = NULL;
    temp_path p = temp_name("csv.gz");
    gzFile f = gzopen(p.text, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    for (int i = 0; i < 20000; i++)
        gzprintf(f, "%d,%d\n", i, i * i % 1000);
    gzclose(f);
    if (TEST_OK(ctx, dataset_load(&d, ctx, p.text))) {
        TEST_INT(dataset_n(d), 20000);
        TEST_CLOSE(la_view_get(dataset_member(d, "X"), 2 * 19999 + 1),
                   19999 * 19999 % 1000, 0.0);
    }
    dataset_free(d);
    size_t n = 0;
    char *bytes = read_bytes(&n, p.text);
    for (size_t k = 1; bytes && k < 20; k++) {
        CU_ASSERT(load_bytes(&d, ctx, bytes, n * k / 20) != COVAR_OK);
        CU_ASSERT_PTR_NULL(d);
    }
    free(bytes);
    remove(p.text);
    covar_context_free(ctx);
#else
    CUTAP_SKIP("built without zlib");
#endif
}

static const char sample[] = "\"t, s\",b,c\n1,2,3\n4,\"5\",NA\n-7e1,8,inf\n";

/* Cut anywhere, or with any byte replaced: a table or a sentence. */
static void test_damage(void)
{
    covar_context *ctx = test_context();
    static const char odd[] = {0, '"', ',', '\n', '\r', ';', 'x', '\xff'};
    size_t n = sizeof(sample) - 1, errors = 0, tables = 0;
    for (size_t cut = 0; cut <= n; cut++)
        for (size_t k = 0; k <= sizeof(odd); k++) {
            char copy[sizeof(sample)];
            dataset *d = NULL;
            memcpy(copy, sample, n);
            if (k < sizeof(odd) && cut < n)
                copy[cut] = odd[k];
            covar_status s =
                load_bytes(&d, ctx, copy, k == sizeof(odd) ? cut : n);
            CU_ASSERT((s == COVAR_OK) == (d != NULL));
            CU_ASSERT(s == COVAR_OK || covar_error_text(ctx)[0] != '\0');
            errors += s != COVAR_OK;
            tables += s == COVAR_OK;
            dataset_free(d);
        }
    cutap_note("%zu tables, %zu errors", tables, errors);
    CU_ASSERT(errors > 0 && tables > 0);
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
    temp_path p = temp_name("sweep.csv");
    CU_ASSERT(write_bytes(p.text, sample, sizeof(sample) - 1));
    test_allocation_sweep("csv", load_sample, &p);
    remove(p.text);
}

static void test_large(void)
{
    enum { ROWS = 5000, COLUMNS = 40 };
    covar_context *ctx = test_context();
    dataset *d = NULL;
    size_t n = 0;
    char *text = malloc(ROWS * COLUMNS * 26);
    double *value = malloc(ROWS * COLUMNS * sizeof(*value));
    covar_rng rng = covar_rng_init(1, 2);
    covar_rng_normal(value, ROWS * COLUMNS, &rng);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        n += (size_t)sprintf(text + n, "%.17g%c", value[i],
                             i % COLUMNS == COLUMNS - 1 ? '\n' : ',');
    if (TEST_OK(ctx, load_bytes(&d, ctx, text, n)))
        TEST_SAME_BITS(dataset_member(d, "X").data, value, ROWS * COLUMNS,
                       sizeof(*value));
    dataset_free(d);
    free(value);
    free(text);
    covar_context_free(ctx);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"shapes of text", test_shapes_of_text},
        {"numbers and missing cells", test_numbers},
        {"refusals name line and column", test_refusals},
        {"binary, absent, folder", test_binary},
        {"options", test_options},
        {"decimal comma in the locale", test_locale},
        {"gzip, whole and cut", test_gzip},
        {"damage", test_damage},
        {"200000 numbers to the bit", test_large},
        {"every allocation fails", test_allocations},
    };
    return CUTAP_RUN("datasets csv", cases);
}
