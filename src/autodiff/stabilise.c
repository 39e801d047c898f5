/* Before a derivative is taken: naive forms become stable ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * log(1 + exp(x)) becomes softplus(x), whose own vjp is right where the chain
 * rule through exp would give Inf / Inf; no rewrite ever has to recognise a
 * gradient. A wrt stays as it is, with all it needs. Eager graphs compute what
 * they are told. */
#include "config.h"

#include "autodiff/derive_impl.h"

covar_status ad_stabilise(ad_graph *g, ad_node **root, size_t n_root,
                          ad_node *const *wrt, size_t n)
{
    static const ad_phase phases[] = {AD_PHASE_CANONICAL, AD_PHASE_STABLE};
    if (g->eager)
        return COVAR_OK;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
        COVAR_TRY(ad_rewrite_opaque(g, phases[i], root, n_root, wrt, n));
    return COVAR_OK;
}
