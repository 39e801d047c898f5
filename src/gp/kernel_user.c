/* Kernels that are not words: a user's graph builder, and kernels on features.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Both are leaves that own opaque data; copies of the tree share them. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel_leaf.h"

enum { NAME_SIZE = 96 };

static const char *const none[] = {NULL};

/* ---- A user's builder -------------------------------------------------------
 */

typedef struct user_kernel {
    char name[NAME_SIZE];
    gp_kernel_fn *build;
    void *data;
    gp_user_param *param; /* names owned */
    size_t n_param;
} user_kernel;

static void user_release(gp_kernel *leaf)
{
    user_kernel *u = leaf->user;
    for (size_t i = 0; i < u->n_param; i++)
        covar_heap_free(leaf->heap, (char *)(uintptr_t)u->param[i].name);
    covar_heap_free(leaf->heap, u->param);
    covar_heap_free(leaf->heap, u);
}

static covar_status user_params(gp_params_maker *m, const gp_kernel *leaf)
{
    const user_kernel *u = leaf->user;
    for (size_t i = 0; i < u->n_param; i++) {
        const gp_user_param *given = &u->param[i];
        gp_param p = {.kind = GP_KIND_USER,
                      .log = given->positive,
                      .column = -1,
                      .d_active = 1,
                      .scale = 1,
                      .lower = given->positive ? 1e-12 : -INFINITY,
                      .upper = given->positive ? 1e12 : INFINITY,
                      .prior = {GP_PRIOR_FLAT, 0, 0},
                      .has_start = true,
                      .value = given->start};
        if (!isfinite(given->start) || (given->positive && given->start <= 0))
            return covar_fail(m->ctx, COVAR_ERR_ARG,
                              "kernel %s: %s cannot start at %g", u->name,
                              given->name, given->start);
        COVAR_TRY(gp_params_add(m, NULL, given->name, &p));
    }
    return COVAR_OK;
}

static ad_node *call_user(const gp_kernel *leaf, gp_build *b, ad_node *X,
                          ad_node *Z)
{
    enum { MOST = GP_MOST_PARAMS };
    const user_kernel *u = leaf->user;
    ad_node *param[MOST];
    for (size_t i = 0; i < u->n_param && i < MOST; i++)
        param[i] = gp_build_take(b);
    return u->build(param, X, Z, u->data);
}

static ad_node *user_build(const gp_kernel *leaf, gp_build *b)
{
    return call_user(leaf, b, b->X, b->Z);
}

/* The builder knows only matrices: the diagonal of the symmetric one. */
static ad_node *user_diag(const gp_kernel *leaf, gp_build *b)
{
    return ad_extract_diag(call_user(leaf, b, b->X, NULL), 0);
}

static const gp_kernel_type user_type = {
    .word = "user",
    .formula = "as built by the user",
    .arg_names = none,
    .params = user_params,
    .build = user_build,
    .diag = user_diag,
};

static bool copy_params(gp_kernel *leaf, user_kernel *u,
                        const gp_user_param *param, size_t n)
{
    u->param = covar_heap_calloc(leaf->heap, n > 0 ? n : 1, sizeof(*u->param));
    if (!u->param)
        return false;
    for (size_t i = 0; i < n; i++) {
        u->param[i] = param[i];
        u->param[i].name = covar_heap_strdup(leaf->heap, param[i].name);
        if (!u->param[i].name)
            return false;
        u->n_param++;
    }
    return true;
}

static gp_kernel *opaque_leaf(const gp_kernel_type *type, size_t size,
                              void (*release)(gp_kernel *))
{
    covar_heap *heap = covar_heap_create(NULL);
    gp_kernel *leaf = gp_node_create(heap, GP_FORM_LEAF);
    covar_heap_release(heap);
    void *user = leaf ? covar_heap_calloc(leaf->heap, 1, size) : NULL;
    if (!user) {
        gp_kernel_free(leaf);
        return NULL;
    }
    leaf->type = type;
    leaf->user = user;
    leaf->user_release = release;
    return leaf;
}

/* Why there can be no such kernel, as a broken one; NULL: there can. */
static gp_kernel *check_user(const char *name, gp_kernel_fn *build,
                             const gp_user_param *param, size_t n)
{
    if (!name || !build || (n > 0 && !param))
        return gp_kernel_broken("gp_user_kernel: %s is NULL", !name ? "name"
                                                              : !build
                                                                  ? "build"
                                                                  : "param");
    if (name[0] == '\0' || strlen(name) >= NAME_SIZE)
        return gp_kernel_broken("gp_user_kernel: the name has %zu letters; 1 "
                                "to %d are allowed",
                                strlen(name), NAME_SIZE - 1);
    if (n > GP_MOST_PARAMS)
        return gp_kernel_broken("gp_user_kernel: %zu parameters; at most %d "
                                "are allowed",
                                n, GP_MOST_PARAMS);
    for (size_t i = 0; i < n; i++) {
        const gp_user_param *p = &param[i];
        if (!p->name || p->name[0] == '\0')
            return gp_kernel_broken("gp_user_kernel: parameter %zu has no name",
                                    i);
        if (!isfinite(p->start) || (p->positive && p->start <= 0))
            return gp_kernel_broken("gp_user_kernel: %.40s cannot start at %g",
                                    p->name, p->start);
        for (size_t j = 0; j < i; j++)
            if (strcmp(param[j].name, p->name) == 0)
                return gp_kernel_broken("gp_user_kernel: two parameters are "
                                        "called %.40s",
                                        p->name);
    }
    return NULL;
}

gp_kernel *gp_user_kernel(const char *name, gp_kernel_fn *build, void *data,
                          const gp_user_param *param, size_t n_param)
{
    gp_kernel *fault = check_user(name, build, param, n_param);
    if (fault)
        return fault;
    gp_kernel *leaf =
        opaque_leaf(&user_type, sizeof(user_kernel), user_release);
    if (!leaf)
        return gp_kernel_or_no_memory(NULL);
    user_kernel *u = leaf->user;
    snprintf(u->name, sizeof(u->name), "%s", name);
    u->build = build;
    u->data = data;
    if (!copy_params(leaf, u, param, n_param)) {
        gp_kernel_free(leaf);
        leaf = NULL;
    }
    return gp_kernel_or_no_memory(gp_sum_of(leaf));
}

/* ---- Features
 * ------------------------------------------------------------------ */

typedef struct feature_kernel {
    ad_module *module;
    gp_kernel *base;
} feature_kernel;

static void feature_release(gp_kernel *leaf)
{
    feature_kernel *f = leaf->user;
    ad_module_free(f->module);
    gp_kernel_free(f->base);
    covar_heap_free(leaf->heap, f);
}

/* One entry for each element of each array: "module.W[7]". */
static covar_status module_params(gp_params_maker *m, const ad_module *module)
{
    for (size_t i = 0; i < ad_module_param_count(module); i++) {
        la_view init = ad_module_param_init(module, i);
        bool positive = ad_module_param_transform(module, i) != AD_IDENTITY;
        for (size_t j = 0; j < la_view_count(init); j++) {
            char name[NAME_SIZE];
            gp_param p = {.kind = GP_KIND_USER,
                          .log = positive,
                          .column = -1,
                          .d_active = 1,
                          .scale = 1,
                          .lower = positive ? 1e-12 : -INFINITY,
                          .upper = positive ? 1e12 : INFINITY,
                          .prior = {GP_PRIOR_FLAT, 0, 0},
                          .has_start = true,
                          .value = la_view_get(init, j)};
            snprintf(name, sizeof(name), "%.32s.%.32s[%zu]",
                     ad_module_name(module), ad_module_param_name(module, i),
                     j);
            COVAR_TRY(gp_params_add(m, NULL, name, &p));
        }
    }
    return COVAR_OK;
}

/* The module's output for x, its parameters taken from the free values. */
static ad_node *features(const ad_module *module, gp_build *b, ad_node *x)
{
    enum { MOST = GP_MOST_PARAMS };
    ad_node *param[MOST];
    for (size_t i = 0; i < ad_module_param_count(module) && i < MOST; i++) {
        la_view init = ad_module_param_init(module, i);
        ad_dim dim[LA_MAX_DIMS];
        bool log = ad_module_param_transform(module, i) != AD_IDENTITY;
        for (int k = 0; k < init.rank; k++)
            dim[k] = ad_fixed(init.dim[k]);
        ad_node *value = gp_build_take_free(b, la_view_count(init));
        param[i] = ad_reshape(log ? ad_exp(value) : value, init.rank, dim);
    }
    return ad_module_apply_with(module, param, x);
}

/* Columns of the module's output for d inputs, found on a scratch graph. */
static covar_status feature_count(size_t *k, covar_context *ctx,
                                  const ad_module *module, size_t d)
{
    ad_graph *g = NULL;
    COVAR_TRY(ad_graph_create(&g, ctx, NULL));
    ad_dim dim[] = {ad_symbol(g, "n"), ad_fixed(d)};
    ad_node *phi = ad_module_apply(module, ad_input(g, "X", LA_F64, 2, dim));
    covar_status status = ad_graph_error(g);
    if (status == COVAR_OK &&
        (!phi || ad_rank(phi) != 2 || !ad_dim_is_fixed(ad_dim_of(phi, 1), k)))
        status = covar_fail(ctx, COVAR_ERR_SHAPE,
                            "feature kernel: module %s must give (n, k) with "
                            "k fixed",
                            ad_module_name(module));
    ad_graph_free(g);
    return status;
}

/* The base sees feature columns of unknown size: range and sd 1 each. */
static covar_status feature_params(gp_params_maker *m, const gp_kernel *leaf)
{
    const feature_kernel *f = leaf->user;
    size_t k = 0;
    COVAR_TRY(module_params(m, f->module));
    COVAR_TRY(feature_count(&k, m->ctx, f->module, m->data->d));
    double *unit = covar_heap_alloc(m->data->heap, k + 1, sizeof(*unit));
    if (!unit)
        return covar_fail_nomem(m->ctx, "gp_feature_kernel");
    for (size_t i = 0; i < k; i++)
        unit[i] = 1;
    gp_data scaled = *m->data;
    scaled.d = k;
    scaled.n = 0;
    scaled.col_range = scaled.col_sd = unit;
    gp_params_maker inner = *m;
    inner.data = &scaled;
    covar_status status = gp_params_add_kernel(&inner, f->base);
    covar_heap_free(m->data->heap, unit);
    return status;
}

static gp_build on_features(const feature_kernel *f, gp_build *b)
{
    size_t first = b->next;
    gp_build inner = *b;
    inner.X = features(f->module, b, b->X);
    if (b->Z) {
        gp_build again = *b;
        again.next = first;
        inner.Z = features(f->module, &again, b->Z);
    }
    inner.next = b->next;
    return inner;
}

static ad_node *feature_build(const gp_kernel *leaf, gp_build *b)
{
    const feature_kernel *f = leaf->user;
    gp_build inner = on_features(f, b);
    ad_node *K = gp_kernel_build(f->base, &inner);
    b->next = inner.next;
    return K;
}

static ad_node *feature_diag(const gp_kernel *leaf, gp_build *b)
{
    const feature_kernel *f = leaf->user;
    gp_build inner = on_features(f, b);
    ad_node *k = gp_kernel_diag(f->base, &inner);
    b->next = inner.next;
    return k;
}

static const gp_kernel_type feature_type = {
    .word = "feature",
    .formula = "base(phi(x), phi(z))",
    .arg_names = none,
    .params = feature_params,
    .build = feature_build,
    .diag = feature_diag,
};

gp_kernel *gp_feature_kernel(ad_module *features_of, gp_kernel *base)
{
    gp_kernel *fault = gp_kernel_fault("gp_feature_kernel", base, base);
    size_t count = features_of ? ad_module_param_count(features_of) : 0;
    if (!fault && !features_of)
        fault = gp_kernel_broken("gp_feature_kernel: the module is NULL");
    if (!fault && count > GP_MOST_PARAMS)
        fault = gp_kernel_broken("gp_feature_kernel: the module has %zu "
                                 "parameter arrays; at most %d are allowed",
                                 count, GP_MOST_PARAMS);
    gp_kernel *leaf = NULL;
    if (!fault)
        leaf =
            opaque_leaf(&feature_type, sizeof(feature_kernel), feature_release);
    if (!leaf) {
        gp_kernel_free(base);
        return gp_kernel_or_no_memory(fault);
    }
    feature_kernel *f = leaf->user;
    f->module = ad_module_retain(features_of);
    f->base = base;
    return gp_kernel_or_no_memory(gp_sum_of(leaf));
}

const char *gp_leaf_title(const gp_kernel *leaf)
{
    if (leaf->type == &user_type)
        return ((const user_kernel *)leaf->user)->name;
    if (leaf->type == &feature_type)
        return ad_module_name(((const feature_kernel *)leaf->user)->module);
    return leaf->type->word;
}
