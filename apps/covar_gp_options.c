/* covar-gp fit: from the command line to gp_options.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 128 };

/* "NAME=rest" -> name and rest; rest NULL without '='. */
static bool split_name(const char *item, char name[NAME_SIZE],
                       const char **rest)
{
    const char *equals = strchr(item, '=');
    size_t n = equals ? (size_t)(equals - item) : strlen(item);
    if (n == 0 || n >= NAME_SIZE)
        return false;
    memcpy(name, item, n);
    name[n] = '\0';
    *rest = equals ? equals + 1 : NULL;
    return true;
}

static bool read_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

static int add_settings(gp_options *o, const fit_line *line)
{
    char name[NAME_SIZE];
    const char *rest;
    double value;
    for (size_t i = 0; i < line->set.n; i++) {
        const char *item = line->set.item[i];
        if (!split_name(item, name, &rest) || !rest ||
            !read_number(rest, &value))
            return app_usage_error(APP,
                                   "--set %s: expected NAME=VALUE, a finite "
                                   "number",
                                   item);
        gp_options_start(o, name, value);
    }
    for (size_t i = 0; i < line->fix.n; i++) {
        const char *item = line->fix.item[i];
        if (!split_name(item, name, &rest) ||
            (rest && !read_number(rest, &value)))
            return app_usage_error(APP,
                                   "--fix %s: expected NAME or "
                                   "NAME=VALUE, a finite number",
                                   item);
        if (rest)
            gp_options_fix(o, name, value);
        else
            gp_options_fix_start(o, name);
    }
    if (!isnan(line->noise))
        gp_options_start(o, "noise_variance", line->noise);
    if (!isnan(line->fix_noise))
        gp_options_fix(o, "noise_variance", line->fix_noise);
    return APP_OK;
}

/* "lognormal(m,s)" and its like. */
static bool read_prior(const char *text, gp_prior *prior)
{
    static const struct {
        const char *word;
        gp_prior_kind kind;
    } word[] = {
        {"lognormal", GP_PRIOR_LOGNORMAL},
        {"gamma", GP_PRIOR_GAMMA},
        {"normal", GP_PRIOR_NORMAL},
    };
    if (strcmp(text, "flat") == 0) {
        *prior = (gp_prior){GP_PRIOR_FLAT, 0, 0};
        return true;
    }
    for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
        size_t n = strlen(word[i].word);
        char *end;
        if (strncmp(text, word[i].word, n) != 0 || text[n] != '(')
            continue;
        prior->kind = word[i].kind;
        prior->a = strtod(text + n + 1, &end);
        if (end == text + n + 1 || *end != ',')
            return false;
        const char *second = end + 1;
        prior->b = strtod(second, &end);
        return end != second && strcmp(end, ")") == 0;
    }
    return false;
}

static int add_priors(gp_options *o, const fit_line *line)
{
    char name[NAME_SIZE];
    for (size_t i = 0; i < line->prior.n; i++) {
        const char *item = line->prior.item[i], *rest;
        gp_prior prior;
        if (!split_name(item, name, &rest) || !rest ||
            !read_prior(rest, &prior))
            return app_usage_error(APP,
                                   "--prior %s: expected NAME="
                                   "lognormal(m,s), gamma(a,b), "
                                   "normal(m,s) or flat",
                                   item);
        gp_options_prior(o, name, prior);
    }
    return APP_OK;
}

static int set_jitter(gp_options *o, const char *text)
{
    if (!text || strcmp(text, "auto") == 0)
        return APP_OK;
    o->jitter = GP_JITTER_NONE;
    if (strcmp(text, "none") == 0)
        return APP_OK;
    o->jitter = GP_JITTER_FIXED;
    if (!read_number(text, &o->jitter_value) || !(o->jitter_value >= 0))
        return app_usage_error(APP,
                               "--jitter %s: expected auto, none or a "
                               "number >= 0",
                               text);
    return APP_OK;
}

/* Numbers that cannot be meant, whatever the data are. */
static int check_numbers(const fit_line *line)
{
    static const long most_restarts = GP_MAX_RESTARTS - 5;
    double f = line->test_fraction;
    if (line->noise <= 0)
        return app_usage_error(APP,
                               "--noise %g: a variance that a fit starts "
                               "from is above 0",
                               line->noise);
    if (line->fix_noise < 0)
        return app_usage_error(APP, "--fix-noise %g: a variance is 0 or more",
                               line->fix_noise);
    if (f <= 0 || f >= 1)
        return app_usage_error(APP,
                               "--test-fraction %g: expected a number "
                               "between 0 and 1: some rows to train on "
                               "and some to test on",
                               f);
    if (line->max_seconds < 0)
        return app_usage_error(APP,
                               "--max-seconds %g: expected 0 (no limit) "
                               "or more",
                               line->max_seconds);
    if (line->max_iterations == 0)
        return app_usage_error(APP, "--max-iterations 0: expected 1 or more; "
                                    "--no-fit evaluates only");
    if (line->restarts > most_restarts)
        return app_usage_error(APP, "--restarts %ld: expected 0 to %ld",
                               line->restarts, most_restarts);
    return APP_OK;
}

int fit_options(gp_options *o, gp_kernel **kernel, covar_context *ctx,
                const fit_line *line)
{
    static const gp_mean_kind mean[] = {GP_MEAN_CONSTANT, GP_MEAN_ZERO,
                                        GP_MEAN_LINEAR};
    static const gp_standardise standardise[] = {
        GP_STANDARDISE_XY, GP_STANDARDISE_NONE, GP_STANDARDISE_X,
        GP_STANDARDISE_Y};
    *o = gp_options_default();
    *kernel = NULL;
    if (line->dtype == 2)
        return app_usage_error(APP, "--dtype mixed is not available yet: use "
                                    "f64 or f32");
    if (line->kernel && gp_kernel_parse(kernel, ctx, line->kernel) != COVAR_OK)
        return app_usage_error(APP, "%s", covar_error_text(ctx));
    o->kernel = *kernel;
    o->mean = mean[line->mean];
    o->objective = (gp_objective)line->objective;
    o->standardise = standardise[line->standardise];
    o->dtype = line->dtype == 1 ? LA_F32 : LA_F64;
    o->no_fit = line->no_fit;
    if (line->restarts >= 0)
        o->restarts = line->restarts == 0 ? -1 : (int)line->restarts;
    if (line->max_iterations > 0)
        o->max_iterations = (size_t)line->max_iterations;
    o->max_seconds = line->max_seconds;
    o->seed = line->seed > 0 ? (uint64_t)line->seed : 0;
    int status = check_numbers(line);
    if (status == APP_OK)
        status = set_jitter(o, line->jitter);
    if (status == APP_OK)
        status = add_settings(o, line);
    return status == APP_OK ? add_priors(o, line) : status;
}
