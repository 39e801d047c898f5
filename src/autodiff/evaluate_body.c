/* The reference evaluator for one step of a body.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "autodiff/autodiff_impl.h"

#include <string.h>

/* Sizes that no input of a body tells: those of the graph around it. */
static void take_outer(const ad_graph *g, size_t *symbol, const ad_graph *outer,
                       const size_t *outer_symbol)
{
    size_t n = outer_symbol ? ad_dim_symbol_count(outer->dims) : 0;
    for (size_t i = 0; i < ad_dim_symbol_count(g->dims); i++)
        for (size_t j = 0; j < n && symbol[i] == AD_UNBOUND; j++)
            if (strcmp(ad_dim_symbol_name(g->dims, i),
                       ad_dim_symbol_name(outer->dims, j)) == 0)
                symbol[i] = outer_symbol[j];
}

covar_status ad_evaluate_body(const la_exec *exec, const ad_body *b,
                              const ad_graph *outer, const size_t *symbol,
                              const la_view *x, la_array **out)
{
    covar_heap *heap = b->g->heap;
    size_t n = ad_dim_symbol_count(b->g->dims);
    size_t *own = covar_heap_alloc(heap, n, sizeof(*own));
    bool *bound = covar_heap_calloc(heap, n, sizeof(*bound));
    for (int i = 0; i < b->n_out; i++)
        out[i] = NULL;
    covar_status status =
        own && bound ? COVAR_OK : covar_fail_nomem(exec->ctx, "scan");
    for (size_t i = 0; status == COVAR_OK && i < n; i++)
        own[i] = AD_UNBOUND;
    for (int i = 0; status == COVAR_OK && i < b->n_in; i++)
        for (int k = 0; k < x[i].rank; k++)
            (void)ad_dim_bind(b->in[i]->type->dim[k], x[i].dim[k], own, bound);
    if (status == COVAR_OK) {
        take_outer(b->g, own, outer, symbol);
        status = ad_evaluate_at(b->g, exec, own, b->in, x, (size_t)b->n_in,
                                b->out, (size_t)b->n_out, out);
    }
    covar_heap_free(heap, bound);
    covar_heap_free(heap, own);
    return status;
}
