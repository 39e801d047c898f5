/* What to say to a parameter name that a model does not have.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "gp_impl.h"

#include <stdio.h>
#include <string.h>

enum { LIST_SIZE = 600, LONGEST = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t gp_edit_distance(const char *a, const char *b, size_t m)
{
    size_t row[LONGEST + 1];
    size_t n = least(strlen(a), LONGEST);
    m = least(m, LONGEST);
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            size_t exchanged = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = least(exchanged, least(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[m];
}

/* The names so far, and the one that is nearest to what was asked. */
typedef struct name_list {
    const char *asked, *nearest;
    size_t distance, used;
    char text[LIST_SIZE];
} name_list;

static void add(name_list *l, const char *name)
{
    size_t n = strlen(l->asked);
    bool begins = n > 2 && strncmp(name, l->asked, n) == 0;
    size_t stem = strcspn(name, strchr(l->asked, '[') ? "" : "[");
    size_t distance = begins ? 1 : gp_edit_distance(l->asked, name, stem);
    if (distance < l->distance) {
        l->distance = distance;
        l->nearest = name;
    }
    if (l->used < LIST_SIZE)
        l->used += (size_t)snprintf(l->text + l->used, LIST_SIZE - l->used,
                                    "%s%s", l->used > 0 ? ", " : "", name);
}

covar_status gp_unknown_name(covar_context *ctx, const gp_params *p,
                             const gp_options *options, const char *name)
{
    name_list l = {.asked = name, .distance = SIZE_MAX};
    for (size_t i = 0; i < p->n; i++)
        if (!p->param[i].dropped)
            add(&l, p->param[i].name);
    if (options->mean == GP_MEAN_CONSTANT || options->mean == GP_MEAN_LINEAR)
        add(&l, "mean.constant");
    if (options->mean == GP_MEAN_LINEAR)
        add(&l, "mean.slope[column]");
    bool near = l.nearest && l.distance <= 1 + strlen(name) / 3;
    return covar_fail(
        ctx, COVAR_ERR_NAME, "no parameter is called %.80s%s%s%s known: %s%s",
        name, near ? "; did you mean " : ";", near ? l.nearest : "",
        near ? "?" : "", l.text, l.used >= LIST_SIZE ? "..." : "");
}
