/* The options of a fit and their list of settings by parameter name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Options are made without a context, so the list lives in the C library's
 * memory. A failed allocation is kept in setting_error: gp_fit reports it. */
#include "config.h"

#include "gp_impl.h"

#include <stdlib.h>
#include <string.h>

gp_options gp_options_default(void)
{
    return (gp_options){.kernel = NULL};
}

void gp_options_clear(gp_options *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->n_settings; i++) {
        free(o->settings[i].name);
        free(o->settings[i].to);
    }
    free(o->settings);
    o->settings = NULL;
    o->n_settings = 0;
    o->setting_error = COVAR_OK;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

/* Appends `what` with own copies of the two names; `to` may be NULL only where
 * the kind has none. */
static void add(gp_options *o, gp_setting what, const char *name,
                const char *to)
{
    if (!o || o->setting_error != COVAR_OK)
        return;
    if (!name || (what.kind == GP_SET_TIE && !to)) {
        o->setting_error = COVAR_ERR_ARG;
        return;
    }
    gp_setting *grown =
        realloc(o->settings, (o->n_settings + 1) * sizeof(*grown));
    if (grown)
        o->settings = grown;
    what.name = copy_text(name);
    what.to = to ? copy_text(to) : NULL;
    if (!grown || !what.name || (to && !what.to)) {
        free(what.name);
        free(what.to);
        o->setting_error = COVAR_ERR_NOMEM;
        return;
    }
    o->settings[o->n_settings++] = what;
}

void gp_options_start(gp_options *o, const char *name, double value)
{
    add(o, (gp_setting){.kind = GP_SET_START, .a = value}, name, NULL);
}

void gp_options_fix(gp_options *o, const char *name, double value)
{
    add(o, (gp_setting){.kind = GP_SET_FIX, .a = value}, name, NULL);
}

void gp_options_fix_start(gp_options *o, const char *name)
{
    add(o, (gp_setting){.kind = GP_SET_FIX_START}, name, NULL);
}

void gp_options_bounds(gp_options *o, const char *name, double lower,
                       double upper)
{
    add(o, (gp_setting){.kind = GP_SET_BOUNDS, .a = lower, .b = upper}, name,
        NULL);
}

void gp_options_prior(gp_options *o, const char *name, gp_prior prior)
{
    add(o, (gp_setting){.kind = GP_SET_PRIOR, .prior = prior}, name, NULL);
}

void gp_options_tie(gp_options *o, const char *name, const char *to)
{
    add(o, (gp_setting){.kind = GP_SET_TIE}, name, to);
}
