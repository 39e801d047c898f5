/* How much memory a fit needs, and whether it is there.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search holds the arena of its program (asked from the program itself),
 * later the model holds the factor: the two do not meet. Rows are copied for
 * the fit, as the program's inputs and for the model. */
#include "config.h"

#include "check.h"
#include "fit_impl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COPIES = 3 };

size_t gp_fit_bytes(size_t n, size_t d, size_t p, la_dtype dtype, size_t search)
{
    size_t columns = gp_sum(d, p + 2);
    size_t rows = gp_product(n, columns, COPIES * sizeof(double));
    size_t factor = gp_product(n, n, la_dtype_size(dtype));
    return gp_sum(rows, search > factor ? search : factor);
}

/* What the system says it could give; 0 when it does not say. */
size_t gp_free_bytes(void)
{
    size_t kilobytes = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "MemAvailable: %zu", &kilobytes) == 1)
            break;
    if (f)
        fclose(f);
    if (kilobytes > 0)
        return kilobytes * 1024;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}

covar_status gp_check_memory(covar_context *ctx, gp_problem *problem,
                             const gp_data *data, const gp_options *options)
{
    size_t search;
    COVAR_TRY(gp_problem_plan(problem, options->objective, data->n, &search));
    size_t need =
        gp_fit_bytes(data->n, data->d, data->p, options->dtype, search);
    size_t limit =
        options->max_bytes > 0 ? options->max_bytes : gp_free_bytes();
    if (limit == 0 || need <= limit)
        return COVAR_OK;
    return covar_fail(
        ctx, COVAR_ERR_NOMEM,
        "gp_fit: an exact fit of %zu rows needs %zu bytes but %s "
        "%zu: take fewer rows%s",
        data->n, need,
        options->max_bytes > 0 ? "max_bytes is" : "the machine has", limit,
        options->dtype == LA_F64 ? ", or dtype f32 for half" : "");
}

/* A few rows that look like nothing in particular. */
static covar_status sample_data(gp_data **out, covar_context *ctx, size_t d,
                                const gp_options *options)
{
    enum { ROWS = 4 };
    covar_heap *heap = covar_context_heap(ctx);
    double *X = covar_heap_calloc(heap, ROWS * d, sizeof(*X));
    static const double y[ROWS] = {0, 1, 3, 2}, ones[ROWS] = {1, 1, 1, 1};
    if (!X)
        return covar_fail_nomem(ctx, "gp_bytes_needed");
    for (size_t i = 0; i < ROWS * d; i++)
        X[i] = (double)((i * i + i) % 7) + (double)(i / d);
    gp_options o = *options;
    o.weights = o.weights ? ones : NULL;
    o.noise_per_point = o.noise_per_point ? ones : NULL;
    covar_status status = gp_data_create(out, ctx, la_mat_f64(X, ROWS, d),
                                         la_vec_f64(y, ROWS), &o);
    covar_heap_free(heap, X);
    return status;
}

static covar_status plan(size_t *bytes, covar_context *ctx, size_t n, size_t d,
                         const gp_options *options)
{
    gp_kernel *kernel = gp_kernel_retain(options->kernel);
    gp_data *data = NULL;
    gp_params params = {.heap = NULL};
    gp_problem *problem = NULL;
    covar_status status = COVAR_OK;
    if (!kernel)
        status = gp_kernel_parse(&kernel, ctx, "matern52(ard)");
    if (status == COVAR_OK)
        status = sample_data(&data, ctx, d, options);
    if (status == COVAR_OK)
        status = gp_params_create(&params, ctx, kernel, data, options);
    if (status == COVAR_OK)
        status =
            gp_problem_create(&problem, ctx, kernel, &params, data, options);
    if (status == COVAR_OK)
        status = gp_problem_plan(problem, options->objective, n, bytes);
    gp_problem_free(problem);
    gp_params_clear(&params);
    gp_data_free(data);
    gp_kernel_free(kernel);
    return status;
}

size_t gp_bytes_needed(size_t n, size_t d, const gp_options *options)
{
    enum { MOST_PLANNED = 1 << 20 }; /* columns that an example is made of */
    gp_options o = options ? *options : gp_options_default();
    covar_context *ctx = covar_context_create();
    bool sound = ctx && d > 0 && gp_check_options(ctx, &o) == COVAR_OK;
    size_t search = 0;
    if (o.mean == GP_MEAN_USER)
        o.mean = GP_MEAN_ZERO; /* nothing of the user's is called */
    o.column_name = NULL;
    if (sound && (d > MOST_PLANNED || n > (size_t)1 << 31 ||
                  plan(&search, ctx, n, d, &o) != COVAR_OK))
        search = gp_product(n, n, la_dtype_size(o.dtype) * 5 / 2);
    covar_context_free(ctx);
    return sound ? gp_fit_bytes(n, d, 1, o.dtype, search) : 0;
}
