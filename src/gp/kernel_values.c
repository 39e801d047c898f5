/* A kernel with a table's parameter values written into its text form.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tree is walked in the table's order; entries belong to a leaf as long
 * as their path starts with the leaf's. Opaque leaves keep their own. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "kernel_tree.h"

enum { PATH_SIZE = 160 };

typedef struct walk {
    const gp_params *params;
    size_t next;
} walk;

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool write_leaf(gp_kernel *leaf, walk *w, const char *path)
{
    for (; w->next < w->params->n; w->next++) {
        const gp_param *p = &w->params->param[w->next];
        if (!starts_with(p->path, path))
            break;
        if (!leaf->user && !p->dropped &&
            !gp_node_set_arg(leaf, p->path + strlen(path), p->value, p->fixed))
            return false;
    }
    return true;
}

/* "lengthscale=1" given for all gives way to one entry per column. */
static void drop_common_args(gp_kernel *leaf)
{
    for (size_t i = 0; leaf->ard && i < leaf->n_arg;) {
        if (strcmp(leaf->arg[i].name, "lengthscale") == 0) {
            covar_heap_free(leaf->heap, leaf->arg[i].name);
            leaf->arg[i] = leaf->arg[--leaf->n_arg];
        } else {
            i++;
        }
    }
}

static bool write_sum(gp_kernel *sum, walk *w, const char *path)
{
    char inner[PATH_SIZE];
    for (size_t t = 0; t < sum->n_child; t++) {
        gp_kernel *term = sum->child[t];
        if (gp_term_has_variance(term))
            term->number = w->params->param[w->next++].value;
        for (size_t f = 0; f < term->n_child; f++) {
            gp_kernel *factor = term->child[f];
            snprintf(inner, sizeof(inner), "%.96s%zu.%zu.", path, t, f);
            if (factor->form == GP_FORM_LEAF && !factor->user)
                drop_common_args(factor);
            bool ok = factor->form == GP_FORM_SUM
                          ? write_sum(factor, w, inner)
                          : write_leaf(factor, w, inner);
            if (!ok)
                return false;
        }
    }
    return true;
}

covar_status gp_kernel_with_values(gp_kernel **out, covar_context *ctx,
                                   const gp_kernel *k, const gp_params *p)
{
    walk w = {.params = p};
    *out = gp_kernel_copy(k);
    if (*out && write_sum(*out, &w, ""))
        return COVAR_OK;
    gp_kernel_free(*out);
    *out = NULL;
    return covar_fail_nomem(ctx, "gp_kernel_with_values");
}
