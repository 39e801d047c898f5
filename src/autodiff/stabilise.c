/* Before a derivative is taken: naive forms become stable ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The canonical and stable rules run between wrt and the roots, in the graph
 * itself; the user's nodes stay, and the derivative is taken of the rewritten
 * ones. An eager graph is the reference: it does as it is told. */
#include "config.h"

#include "autodiff/derive_impl.h"

covar_status ad_stabilise(ad_graph *g, ad_node **root, size_t n_root,
                          ad_node *const *wrt, size_t n)
{
    if (g->eager)
        return COVAR_OK;
    COVAR_TRY(ad_rewrite_opaque(g, AD_PHASE_CANONICAL, root, n_root, wrt, n));
    return ad_rewrite_opaque(g, AD_PHASE_STABLE, root, n_root, wrt, n);
}
