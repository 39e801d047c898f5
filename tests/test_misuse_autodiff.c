/* Misuse of graphs, programs, stores, modules and minimisers: NULL for every
 * pointer, numbers out of range, objects of different graphs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A builder that is given NULL (what a failed builder gave) passes it on.
 *
 * The file is longer than 400 lines: every public function has its line. */
#include "config.h"

#include "test_util.h"

#include <covar/autodiff.h>
#include <covar/optim.h>

#include <math.h>

typedef struct fixture {
    covar_context *ctx;
    ad_graph *g;
    ad_node *x, *A, *s; /* (n), (2,2), rank 0 */
} fixture;

static fixture begin(bool eager)
{
    static const double v[4] = {4, 1, 1, 3};
    fixture f = {.ctx = test_context()};
    const ad_graph_options o = {.eager = eager};
    CU_ASSERT_FATAL(ad_graph_create(&f.g, f.ctx, &o) == COVAR_OK);
    f.x = ad_constant(f.g, la_vec_f64(v, 4));
    f.A = ad_constant(f.g, la_mat_f64(v, 2, 2));
    f.s = ad_scalar(f.g, LA_F64, 2);
    CU_ASSERT_FATAL(f.x && f.A && f.s);
    return f;
}

static void end(fixture *f)
{
    ad_graph_free(f->g);
    covar_context_free(f->ctx);
}

/* NULL, with the graph's error and a sentence, which is then cleared. */
static void refused(fixture *f, const ad_node *y, int line)
{
    test_check(!y && ad_graph_error(f->g) != COVAR_OK &&
                   ad_graph_error_text(f->g)[0] != '\0',
               __FILE__, line, "a node or no error: %s",
               ad_graph_error_text(f->g));
    ad_graph_clear_error(f->g);
}

static void failed(fixture *f, covar_status status, int line)
{
    test_check(status != COVAR_OK && covar_error_text(f->ctx)[0] != '\0',
               __FILE__, line, "%s without a sentence",
               covar_status_name(status));
    ad_graph_clear_error(f->g);
    covar_error_clear(f->ctx);
}

#define REFUSED(y) refused(&f, y, __LINE__)
#define FAILED(status) failed(&f, status, __LINE__)
#define NONE(y) CU_ASSERT_PTR_NULL(y)

/* ---- Builders on nothing ------------------------------------------------ */

typedef ad_node *unary_fn(ad_node *x);
typedef ad_node *binary_fn(ad_node *a, ad_node *b);

static unary_fn *const unary[] = {
    ad_neg,         ad_abs,           ad_sign,         ad_floor,
    ad_ceil,        ad_round,         ad_square,       ad_recip,
    ad_sqrt,        ad_exp,           ad_expm1,        ad_log,
    ad_log1p,       ad_log1mexp,      ad_sin,          ad_cos,
    ad_tan,         ad_atan,          ad_sinh,         ad_cosh,
    ad_tanh,        ad_sigmoid,       ad_softplus,     ad_softplus_inv,
    ad_log_sigmoid, ad_erf,           ad_erfc,         ad_log_erfc,
    ad_ndtr,        ad_log_ndtr,      ad_is_finite,    ad_not,
    ad_transpose,   ad_cholesky,      ad_potri,        ad_eigh,
    ad_tril,        ad_triu,          ad_tri_phi,      ad_tri_sym,
    ad_symmetrise,  ad_extract_trian, ad_sum_log_diag, ad_stop_gradient,
};

static binary_fn *const binary[] = {
    ad_add,      ad_sub,    ad_mul,      ad_div,      ad_pow,
    ad_min,      ad_max,    ad_eq,       ad_ne,       ad_lt,
    ad_le,       ad_dot,    ad_matmul,   ad_chol_rev, ad_chol_solve,
    ad_add_diag, ad_gather, ad_jacobian, ad_hessian,
};

static void test_null_operands(void)
{
    fixture f = begin(false);
    for (size_t i = 0; i < NELEM(unary); i++)
        NONE(unary[i](NULL));
    for (size_t i = 0; i < NELEM(binary); i++) {
        NONE(binary[i](NULL, f.A));
        NONE(binary[i](f.A, NULL));
        NONE(binary[i](NULL, NULL));
        ad_graph_clear_error(f.g);
    }
    NONE(ad_sqdist(NULL, NULL));
    NONE(ad_sqdist(NULL, f.A));
    NONE(ad_where(NULL, f.s, f.s));
    NONE(ad_where(f.s, NULL, f.s));
    NONE(ad_where(f.s, f.s, NULL));
    NONE(ad_mvn_logpdf(NULL, f.x, f.A));
    NONE(ad_mvn_logpdf(f.x, NULL, f.A));
    NONE(ad_mvn_logpdf(f.x, f.x, NULL));
    NONE(ad_scatter_add(NULL, f.x, ad_fixed(3)));
    NONE(ad_scatter_add(f.x, NULL, ad_fixed(3)));
    end(&f);
}

static void test_null_with_numbers(void)
{
    fixture f = begin(false);
    const ad_dim d[2] = {ad_fixed(2), ad_fixed(2)};
    const int axes[2] = {1, 0};
    NONE(ad_add_scalar(NULL, 1));
    NONE(ad_scale(NULL, 1));
    NONE(ad_pow_scalar(NULL, 1));
    NONE(ad_sum(NULL, AD_ALL));
    NONE(ad_mean(NULL, AD_ALL));
    NONE(ad_reduce_max(NULL, AD_ALL));
    NONE(ad_reduce_min(NULL, AD_ALL));
    NONE(ad_expand(NULL, 0));
    NONE(ad_squeeze(NULL, 0));
    NONE(ad_reshape(NULL, 2, d));
    NONE(ad_broadcast(NULL, 2, d));
    NONE(ad_broadcast_like(NULL, f.A));
    NONE(ad_broadcast_like(f.A, NULL));
    NONE(ad_permute(NULL, axes));
    NONE(ad_slice(NULL, 0, d[0], d[0]));
    NONE(ad_pad(NULL, 0, d[0], d[0]));
    NONE(ad_cast(NULL, LA_F32));
    NONE(ad_gemm(1, LA_TRANS, NULL, LA_TRANS, f.A));
    NONE(ad_gemm(1, LA_TRANS, f.A, LA_TRANS, NULL));
    NONE(ad_syrk(1, LA_TRANS, NULL));
    NONE(ad_trmm(LA_LEFT, LA_LOWER, LA_TRANS, NULL, f.A));
    NONE(ad_trmm(LA_LEFT, LA_LOWER, LA_TRANS, f.A, NULL));
    NONE(ad_trsm(LA_LEFT, LA_LOWER, LA_TRANS, NULL, f.A));
    NONE(ad_trsm(LA_LEFT, LA_LOWER, LA_TRANS, f.A, NULL));
    NONE(ad_extract_diag(NULL, 0));
    NONE(ad_make_diag(NULL, 0));
    NONE(ad_make_trian(NULL, d[0]));
    NONE(ad_logsumexp(NULL, 0));
    NONE(ad_log_softmax(NULL, 0));
    NONE(ad_transform_value(AD_LOG, NULL));
    NONE(ad_name(NULL, "x"));
    NONE(ad_assume(NULL, 0));
    NONE(ad_out(NULL, 0));
    NONE(ad_value(NULL));
    NONE(ad_print(NULL));
    TEST_INT(ad_rank(NULL), 0);
    (void)ad_dim_of(NULL, 0);
    end(&f);
}

/* ---- Builders on what cannot be ----------------------------------------- */

static void test_leaves(void)
{
    fixture f = begin(false);
    double one = 1;
    const ad_dim n = ad_symbol(f.g, "n");
    la_view odd = la_scalar_f64(&one), deep = odd;
    odd.dtype = (la_dtype)77;
    deep.rank = 99;
    REFUSED(ad_input(f.g, NULL, LA_F64, 1, &n));
    REFUSED(ad_input(f.g, "", LA_F64, 1, &n));
    REFUSED(ad_input(f.g, "x", LA_F64, 1, NULL));
    REFUSED(ad_input(f.g, "x", LA_F64, 99, &n));
    REFUSED(ad_input(f.g, "x", LA_F64, -3, &n));
    REFUSED(ad_input(f.g, "x", (la_dtype)77, 1, &n));
    REFUSED(ad_param(f.g, NULL, la_scalar_f64(&one)));
    REFUSED(ad_param(f.g, "p", la_view_none()));
    REFUSED(ad_param(f.g, "p", la_vec_f64(NULL, 3)));
    REFUSED(ad_param(f.g, "p", odd));
    REFUSED(ad_param(f.g, "p", deep));
    REFUSED(ad_constant(f.g, la_vec_f64(NULL, 3)));
    REFUSED(ad_constant(f.g, odd));
    REFUSED(ad_constant(f.g, deep));
    REFUSED(ad_scalar(f.g, (la_dtype)77, 1));
    REFUSED(ad_fill(f.g, LA_F64, 1, 1, NULL));
    REFUSED(ad_fill(f.g, LA_F64, 1, 99, &n));
    REFUSED(ad_fill(f.g, (la_dtype)77, 1, 1, &n));
    REFUSED(ad_eye(f.g, (la_dtype)77, n));
    REFUSED(ad_dim_value(f.g, (la_dtype)77, n));
    NONE(ad_input(NULL, "x", LA_F64, 1, &n));
    NONE(ad_param(NULL, "p", la_scalar_f64(&one)));
    NONE(ad_constant(NULL, la_scalar_f64(&one)));
    NONE(ad_scalar(NULL, LA_F64, 1));
    NONE(ad_fill(NULL, LA_F64, 1, 1, &n));
    NONE(ad_eye(NULL, LA_F64, n));
    NONE(ad_dim_value(NULL, LA_F64, n));
    end(&f);
}

static void test_axes_and_shapes(void)
{
    fixture f = begin(false);
    const ad_dim d[2] = {ad_fixed(2), ad_fixed(2)};
    const int twice[2] = {1, 1}, outside[2] = {0, 7};
    ad_node *const two[2] = {f.A, NULL};
    REFUSED(ad_sum(f.A, 1u << 9));
    REFUSED(ad_expand(f.A, 7));
    REFUSED(ad_expand(f.A, -1));
    REFUSED(ad_squeeze(f.A, 0));
    REFUSED(ad_squeeze(f.A, 9));
    REFUSED(ad_reshape(f.A, 2, NULL));
    REFUSED(ad_reshape(f.A, 99, d));
    REFUSED(ad_reshape(f.A, -1, d));
    REFUSED(ad_broadcast(f.A, 2, NULL));
    REFUSED(ad_broadcast(f.A, 99, d));
    REFUSED(ad_permute(f.A, NULL));
    REFUSED(ad_permute(f.A, twice));
    REFUSED(ad_permute(f.A, outside));
    REFUSED(ad_slice(f.A, 5, d[0], d[0]));
    REFUSED(ad_slice(f.A, -1, d[0], d[0]));
    REFUSED(ad_pad(f.A, 5, d[0], d[0]));
    REFUSED(ad_cast(f.A, (la_dtype)77));
    REFUSED(ad_logsumexp(f.A, 7));
    REFUSED(ad_log_softmax(f.A, -2));
    REFUSED(ad_out(f.A, 3));
    REFUSED(ad_out(f.A, -1));
    REFUSED(ad_concat(&f.A, 1, 7));
    REFUSED(ad_cholesky(f.x));
    REFUSED(ad_matmul(f.A, ad_name(f.s, "s")));
    NONE(ad_concat(NULL, 1, 0));
    NONE(ad_concat(&f.A, 0, 0));
    NONE(ad_concat(two, 2, 0));
    end(&f);
}

static ad_node *of_other_graph(const fixture *f, ad_graph **g)
{
    static const double v[4] = {1, 2, 3, 4};
    *g = NULL;
    CU_ASSERT_FATAL(ad_graph_create(g, f->ctx, NULL) == COVAR_OK);
    return ad_constant(*g, la_vec_f64(v, 4));
}

static void test_two_graphs(void)
{
    fixture f = begin(false);
    ad_graph *g;
    ad_node *z = of_other_graph(&f, &g), *dx = NULL;
    CU_ASSERT_PTR_NULL(ad_add(f.x, z));
    ad_graph_clear_error(f.g);
    ad_graph_clear_error(g);
    FAILED(ad_grad(&dx, ad_sum(f.x, AD_ALL), &z, 1));
    ad_graph_free(g);
    end(&f);
}

/* ---- Graphs and sizes --------------------------------------------------- */

static void test_graphs(void)
{
    fixture f = begin(false);
    ad_graph *g = NULL;
    char text[32];
    size_t value;
    TEST_INT(ad_graph_create(&g, NULL, NULL), COVAR_ERR_ARG);
    FAILED(ad_graph_create(NULL, f.ctx, NULL));
    ad_graph_free(NULL);
    TEST_INT(ad_graph_error(NULL), COVAR_POISONED);
    CU_ASSERT_PTR_NOT_NULL(ad_graph_error_text(NULL));
    ad_graph_clear_error(NULL);
    NONE(ad_graph_store(NULL));
    NONE(ad_graph_context(NULL));
    CU_ASSERT_FALSE(ad_graph_is_eager(NULL));
    TEST_INT(ad_graph_node_count(NULL), 0);
    ad_graph_release(NULL, ad_graph_mark(NULL));
    ad_scope_push(NULL, "a");
    ad_scope_push(f.g, NULL);
    ad_scope_pop(NULL);
    ad_scope_pop(f.g);
    ad_scope_pop(f.g);
    ad_set_site(NULL, "f", 1);
    ad_set_site(f.g, NULL, 1);
    ad_text_free(NULL, NULL);
    ad_text_free(f.g, NULL);
    const ad_dim n = ad_symbol(NULL, "n"), m = ad_symbol(f.g, NULL);
    (void)n, (void)m;
    ad_graph_clear_error(f.g);
    CU_ASSERT(ad_dim_equal(NULL, ad_fixed(1), ad_fixed(1)) != COVAR_OK);
    FAILED(ad_dim_equal(f.g, ad_fixed(1), ad_fixed(2)));
    (void)ad_dim_add(n, m);
    (void)ad_dim_div(ad_fixed(4), 0);
    ad_graph_clear_error(f.g);
    CU_ASSERT_FALSE(ad_dim_is_fixed(ad_symbol(f.g, "k"), &value));
    (void)ad_dim_is_fixed(ad_fixed(3), NULL);
    (void)ad_dim_same(n, m);
    (void)ad_dim_sub(ad_fixed(1), ad_fixed(2));
    (void)ad_dim_mul(ad_fixed(SIZE_MAX), ad_fixed(2));
    (void)ad_dim_min(ad_fixed(1), ad_fixed(2));
    ad_graph_clear_error(f.g);
    TEST_TEXT(ad_dim_text(NULL, 0, ad_fixed(1)), "");
    CU_ASSERT_PTR_NOT_NULL(ad_dim_text(text, sizeof(text), ad_fixed(1)));
    end(&f);
}

/* ---- Derivatives -------------------------------------------------------- */

static void test_derivatives(void)
{
    fixture f = begin(false);
    ad_node *y = ad_sum(ad_square(f.x), AD_ALL), *d = NULL;
    ad_node *const none[1] = {NULL};
    FAILED(ad_grad(NULL, y, &f.x, 1));
    FAILED(ad_grad(&d, NULL, &f.x, 1));
    FAILED(ad_grad(&d, y, NULL, 1));
    FAILED(ad_grad(&d, y, none, 1));
    FAILED(ad_grad(&d, y, &f.x, -1));
    FAILED(ad_grad(&d, f.x, &f.x, 1));
    FAILED(ad_lop(NULL, &y, &y, 1, &f.x, 1, NULL));
    FAILED(ad_lop(&d, NULL, &y, 1, &f.x, 1, NULL));
    FAILED(ad_lop(&d, &y, NULL, 1, &f.x, 1, NULL));
    FAILED(ad_lop(&d, &y, &y, 1, NULL, 1, NULL));
    FAILED(ad_lop(&d, none, &y, 1, &f.x, 1, NULL));
    FAILED(ad_rop(NULL, &y, 1, &f.x, &f.x, 1));
    FAILED(ad_rop(&d, NULL, 1, &f.x, &f.x, 1));
    FAILED(ad_rop(&d, &y, 1, NULL, &f.x, 1));
    FAILED(ad_rop(&d, &y, 1, &f.x, NULL, 1));
    FAILED(ad_rop(&d, none, 1, &f.x, &f.x, 1));
    FAILED(ad_hvp(NULL, y, &f.x, &f.x, 1));
    FAILED(ad_hvp(&d, NULL, &f.x, &f.x, 1));
    FAILED(ad_hvp(&d, y, NULL, &f.x, 1));
    FAILED(ad_hvp(&d, y, &f.x, NULL, 1));
    FAILED(ad_hvp(&d, y, &f.x, none, 1));
    CU_ASSERT_PTR_NULL(d);
    end(&f);
}

static covar_status no_step(ad_graph *body, ad_node *const *x, ad_node **out,
                            void *data)
{
    (void)body, (void)x, (void)out, (void)data;
    return COVAR_OK;
}

static void test_bodies_and_random(void)
{
    fixture f = begin(false);
    const ad_dim n = ad_fixed(3);
    ad_scan_spec s = {.n_seq = 1, .n_carry = 1, .n_result = 0};
    NONE(ad_scan(NULL));
    NONE(ad_scan(&s));
    s.seq = s.carry = &f.x;
    NONE(ad_scan(&s)); /* no step */
    ad_graph_clear_error(f.g);
    s.step = no_step;
    REFUSED(ad_scan(&s)); /* which gives nothing */
    s.carry = NULL;
    NONE(ad_scan(&s));
    s.n_carry = -2;
    NONE(ad_scan(&s));
    ad_graph_clear_error(f.g);
    ad_rng r = ad_rng_create(NULL, "key", 1);
    NONE(r.key);
    NONE(ad_rng_next(&r));
    NONE(ad_rng_next(NULL));
    NONE(ad_normal(&r, LA_F64, 1, &n));
    NONE(ad_normal(NULL, LA_F64, 1, &n));
    NONE(ad_uniform(&r, LA_F64, 1, &n));
    NONE(ad_uniform(NULL, LA_F64, 1, &n));
    r = ad_rng_create(f.g, NULL, 1);
    NONE(r.key);
    ad_graph_clear_error(f.g);
    r = ad_rng_create(f.g, "key", 1);
    REFUSED(ad_normal(&r, LA_F64, 1, NULL));
    REFUSED(ad_normal(&r, (la_dtype)77, 1, &n));
    REFUSED(ad_uniform(&r, LA_F64, 99, &n));
    REFUSED(ad_uniform(&r, LA_F64, 1, NULL));
    end(&f);
}

/* ---- Programs ----------------------------------------------------------- */

static void test_compiling(void)
{
    fixture f = begin(false);
    ad_node *x = ad_input(f.g, "x", LA_F64, 0, NULL), *y = ad_exp(x);
    ad_program *p = NULL;
    ad_signature empty = {1, NULL};
    FAILED(ad_compile(NULL, f.g, AD_SIGNATURE(AD_IN(x), AD_OUT(y)), NULL));
    CU_ASSERT(ad_compile(&p, NULL, AD_SIGNATURE(AD_IN(x), AD_OUT(y)), NULL) !=
              COVAR_OK);
    FAILED(ad_compile(&p, f.g, NULL, NULL));
    FAILED(ad_compile(&p, f.g, &empty, NULL));
    FAILED(ad_compile(&p, f.g, AD_SIGNATURE(AD_IN(x), AD_OUT(NULL)), NULL));
    FAILED(ad_compile(&p, f.g, AD_SIGNATURE(AD_IN(NULL), AD_OUT(y)), NULL));
    FAILED(ad_compile(&p, f.g, AD_SIGNATURE(AD_OUT(y)), NULL));
    FAILED(ad_compile(
        &p, f.g, AD_SIGNATURE(AD_IN(x), {(ad_slot_kind)77, y, NULL}), NULL));
    FAILED(
        ad_compile(&p, f.g, AD_SIGNATURE(AD_IN(x), AD_UPDATE(y, NULL)), NULL));
    NONE(p);
    NONE(ad_program_retain(NULL));
    ad_program_free(NULL);
    TEST_INT(ad_program_step_count(NULL), 0);
    TEST_INT(ad_program_count(NULL, "exp"), 0);
    NONE(ad_program_print(NULL));
    end(&f);
}

static void test_running(void)
{
    fixture f = begin(false);
    const ad_dim n = ad_symbol(f.g, "n");
    ad_node *x = ad_input(f.g, "x", LA_F64, 1, &n), *y = ad_exp(x);
    ad_program *p = NULL;
    ad_runner *r = NULL;
    double v[2] = {1, 2}, w[2];
    la_view in = la_vec_f64(v, 2), out = la_vec_f64(w, 2);
    la_view gone = la_vec_f64(NULL, 2), odd = in, deep = in;
    odd.dtype = (la_dtype)77;
    deep.rank = 99;
    size_t bytes, count = 7;
    TEST_OK(f.ctx,
            ad_compile(&p, f.g, AD_SIGNATURE(AD_IN(x), AD_OUT(y)), NULL));
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    TEST_INT(ad_program_count(p, NULL), 0);
    FAILED(ad_runner_create(NULL, p, NULL, f.ctx));
    FAILED(ad_runner_create(&r, NULL, NULL, f.ctx));
    TEST_INT(ad_runner_create(&r, p, NULL, NULL), COVAR_ERR_ARG);
    TEST_OK(f.ctx, ad_runner_create(&r, p, NULL, f.ctx));
    TEST_INT(ad_run(NULL, &in, &out), COVAR_ERR_ARG);
    FAILED(ad_run(r, NULL, &out));
    FAILED(ad_run(r, &in, NULL));
    FAILED(ad_run(r, &gone, &out));
    FAILED(ad_run(r, &in, &gone));
    FAILED(ad_run(r, &odd, &out));
    FAILED(ad_run(r, &in, &odd));
    FAILED(ad_run(r, &deep, &out));
    FAILED(ad_run(r, &in, &deep));
    FAILED(ad_run(r, &in, &in));
    TEST_OK(f.ctx, ad_run(r, &in, &out)); /* and it still works */
    FAILED(ad_run(r, &gone, &out));
    FAILED(ad_run(r, &in, &gone));
    TEST_INT(ad_run_many(NULL, 3, &in, &out, NULL), COVAR_ERR_ARG);
    TEST_OK(f.ctx, ad_run_many(r, 3, &in, &out, NULL));
    TEST_INT(ad_runner_plan(NULL, &in, &bytes, NULL), COVAR_ERR_ARG);
    FAILED(ad_runner_plan(r, NULL, &bytes, NULL));
    TEST_OK(f.ctx, ad_runner_plan(r, &in, NULL, NULL));
    NONE(ad_runner_info(NULL, "x", &count));
    TEST_INT(count, 0);
    NONE(ad_runner_info(r, NULL, &count));
    NONE(ad_runner_info(r, "x", NULL));
    ad_runner_free(NULL);
    ad_runner_free(r);
    ad_program_free(p);
    end(&f);
}

/* ---- Stores, modules, minimisers ---------------------------------------- */

static void test_stores(void)
{
    fixture f = begin(false);
    ad_store *s = NULL;
    double one = 1;
    la_view odd = la_scalar_f64(&one), deep = odd;
    odd.dtype = (la_dtype)77;
    deep.rank = 99;
    FAILED(ad_store_create(NULL, f.ctx));
    TEST_INT(ad_store_create(&s, NULL), COVAR_ERR_ARG);
    NONE(ad_store_retain(NULL));
    ad_store_free(NULL);
    TEST_INT(ad_store_count(NULL), 0);
    NONE(ad_store_name(NULL, 0));
    CU_ASSERT(la_view_is_none(ad_store_view(NULL, "a")));
    TEST_OK(f.ctx, ad_store_create(&s, f.ctx));
    NONE(ad_store_name(s, 0));
    CU_ASSERT(la_view_is_none(ad_store_view(s, NULL)));
    FAILED(ad_store_set(NULL, f.ctx, "a", la_scalar_f64(&one)));
    TEST_INT(ad_store_set(s, NULL, "a", la_scalar_f64(&one)), COVAR_ERR_ARG);
    FAILED(ad_store_set(s, f.ctx, NULL, la_scalar_f64(&one)));
    FAILED(ad_store_set(s, f.ctx, "a", la_view_none()));
    FAILED(ad_store_set(s, f.ctx, "a", la_vec_f64(NULL, 3)));
    FAILED(ad_store_set(s, f.ctx, "a", odd));
    FAILED(ad_store_set(s, f.ctx, "a", deep));
    TEST_INT(ad_store_count(s), 0);
    ad_store_free(s);
    end(&f);
}

static ad_node *identity(const ad_module *m, ad_node *const *param, ad_node *x,
                         void *data)
{
    (void)m, (void)param, (void)data;
    return x;
}

static void test_modules(void)
{
    fixture f = begin(false);
    ad_module *m = NULL;
    double one = 1;
    const la_view v = la_scalar_f64(&one), gone = la_vec_f64(NULL, 3);
    FAILED(ad_module_create(NULL, f.ctx, "m", identity, NULL, NULL));
    TEST_INT(ad_module_create(&m, NULL, "m", identity, NULL, NULL),
             COVAR_ERR_ARG);
    FAILED(ad_module_create(&m, f.ctx, NULL, identity, NULL, NULL));
    FAILED(ad_module_create(&m, f.ctx, "m", NULL, NULL, NULL));
    NONE(m);
    TEST_OK(f.ctx, ad_module_create(&m, f.ctx, "m", identity, NULL, NULL));
    FAILED(ad_module_add_param(NULL, f.ctx, "p", v, AD_LOG));
    TEST_INT(ad_module_add_param(m, NULL, "p", v, AD_LOG), COVAR_ERR_ARG);
    FAILED(ad_module_add_param(m, f.ctx, NULL, v, AD_LOG));
    FAILED(ad_module_add_param(m, f.ctx, "p", la_view_none(), AD_LOG));
    FAILED(ad_module_add_param(m, f.ctx, "p", gone, AD_LOG));
    FAILED(ad_module_add_param(m, f.ctx, "p", v, (ad_transform)77));
    TEST_INT(ad_module_param_count(m), 0);
    NONE(ad_module_param_name(m, 0));
    CU_ASSERT(la_view_is_none(ad_module_param_init(m, 0)));
    TEST_INT(ad_module_param_transform(m, 0), AD_IDENTITY);
    NONE(ad_module_retain(NULL));
    ad_module_free(NULL);
    NONE(ad_module_name(NULL));
    TEST_INT(ad_module_param_count(NULL), 0);
    NONE(ad_module_param_name(NULL, 0));
    CU_ASSERT(la_view_is_none(ad_module_param_init(NULL, 0)));
    TEST_INT(ad_module_param_transform(NULL, 0), AD_IDENTITY);
    NONE(ad_module_apply(NULL, f.x));
    NONE(ad_module_apply(m, NULL));
    NONE(ad_module_apply_with(NULL, &f.x, f.x));
    NONE(ad_module_apply_with(m, &f.x, NULL));
    CU_ASSERT(isnan(ad_transform_forward((ad_transform)77, 1)));
    CU_ASSERT(isnan(ad_transform_inverse((ad_transform)77, 1)));
    REFUSED(ad_transform_value((ad_transform)77, f.s));
    ad_module_free(m);
    end(&f);
}

static covar_status quadratic(double *value, double *g, const double *x,
                              size_t n, void *data)
{
    (void)data;
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        *value += x[i] * x[i];
        if (g)
            g[i] = 2 * x[i];
    }
    return COVAR_OK;
}

static void test_minimisers(void)
{
    fixture f = begin(false);
    double x = 3, one = 1;
    ad_problem p = {.n = 1, .eval = quadratic}, none = {.n = 1};
    ad_optim_report r;
    ad_optim_options o = ad_optim_options_default();
    ad_slot slot[8];
    size_t n = 7;
    TEST_INT(ad_minimise(&r, NULL, &p, &x, NULL), COVAR_ERR_ARG);
    FAILED(ad_minimise(&r, f.ctx, NULL, &x, NULL));
    FAILED(ad_minimise(&r, f.ctx, &p, NULL, NULL));
    FAILED(ad_minimise(&r, f.ctx, &none, &x, NULL));
    o.gradient_tol = -1;
    FAILED(ad_minimise(&r, f.ctx, &p, &x, &o));
    o.gradient_tol = NAN;
    FAILED(ad_minimise(&r, f.ctx, &p, &x, &o));
    TEST_CLOSE(x, 3, 0);
    TEST_OK(f.ctx, ad_minimise(NULL, f.ctx, &p, &x, NULL));
    CU_ASSERT_PTR_NOT_NULL(ad_stop_name((ad_stop)77));
    ad_node *w = ad_param(f.g, "w", la_scalar_f64(&one));
    ad_node *loss = ad_square(w), *nothing = NULL;
    FAILED(ad_adam(NULL, &n, loss, &w, 1, NULL));
    FAILED(ad_adam(slot, NULL, loss, &w, 1, NULL));
    CU_ASSERT(ad_adam(slot, &n, NULL, &w, 1, NULL) != COVAR_OK);
    FAILED(ad_adam(slot, &n, loss, NULL, 1, NULL));
    FAILED(ad_adam(slot, &n, loss, &nothing, 1, NULL));
    FAILED(ad_adam(slot, &n, loss, &w, -1, NULL));
    end(&f);
}

int main(void)
{
    static const cutap_case cases[] = {
        {"NULL operands", test_null_operands},
        {"NULL operands with numbers", test_null_with_numbers},
        {"leaves", test_leaves},
        {"axes and shapes", test_axes_and_shapes},
        {"two graphs", test_two_graphs},
        {"graphs and sizes", test_graphs},
        {"derivatives", test_derivatives},
        {"bodies and random numbers", test_bodies_and_random},
        {"compiling", test_compiling},
        {"running", test_running},
        {"stores", test_stores},
        {"modules", test_modules},
        {"minimisers", test_minimisers},
    };
    return CUTAP_RUN("misuse autodiff", cases);
}
