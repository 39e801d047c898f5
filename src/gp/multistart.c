/* All starts of a fit: who runs, who is polished, who wins.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deterministic starts are polished; a spread of others is screened by
 * value and its best are polished too. With many rows this happens on a
 * random subset, and only the winner goes on with all rows: a likelihood has
 * its optima in nearly the same places there, at (subset / n)^3 of the cost.
 * Not so where the noise goes to its lower bound: the model then interpolates,
 * and the rows that are left out leave room for other optima. The winner's
 * start is then tried with all rows too (wine_red, which repeats rows: 17 and
 * 97 nats better in two of five splits). A start that fails is reported and
 * skipped; the fit fails when all do.
 *
 * Every start runs to its end. Giving up one that is far behind the best at
 * the pace of its last ten evaluations was tried: it saves a third of the
 * evaluations on CO2, but on the energy data the winning starts rest near a
 * lower optimum, at a pace that would need 10,000 evaluations, and then leave
 * it. */
#include "config.h"

#include "fit_impl.h"

#include <math.h>
#include <string.h>

#include <covar/rng.h>

#include "sobol.h"

#define NUMBERED(n)                                                            \
    "sobol " #n "0", "sobol " #n "1", "sobol " #n "2", "sobol " #n "3",        \
        "sobol " #n "4", "sobol " #n "5", "sobol " #n "6", "sobol " #n "7",    \
        "sobol " #n "8", "sobol " #n "9"
static const char *const spread_name[] = {
    "sobol 0",   "sobol 1",   "sobol 2",   "sobol 3",
    "sobol 4",   "sobol 5",   "sobol 6",   "sobol 7",
    "sobol 8",   "sobol 9",   NUMBERED(1), NUMBERED(2),
    NUMBERED(3), NUMBERED(4), NUMBERED(5), NUMBERED(6),
};
static const char *const start_name[] = {
    [GP_START_GIVEN] = "given",
    [GP_START_SHORT] = "short",
    [GP_START_LONG] = "long",
};
enum { SUBSET_STREAM = 0x67700001 };

/* A start and where it led. */
typedef struct entry {
    const char *name;
    double *start, *x; /* (n) */
    gp_result result;
} entry;

typedef struct race {
    gp_search *s;
    const gp_fit_input *in;
    gp_report *report;
    covar_heap *heap;
    size_t n; /* coordinates */
    entry entry[GP_MAX_RESTARTS];
    size_t n_entry;
    double *block, *spare; /* all starts and x; two more */
} race;

static void note_restart(race *r, const char *name, const gp_result *result)
{
    gp_report *report = r->report;
    bool failed = result->status != COVAR_OK;
    if (failed)
        report->notes |= GP_NOTE_RESTART_FAILED;
    if (report->n_restarts == GP_MAX_RESTARTS)
        return;
    report->restart[report->n_restarts++] = (gp_restart){
        .start = name,
        .objective = failed ? (double)NAN : result->value,
        .reason = failed ? covar_status_text(result->status) : result->reason};
}

/* A new entry at x; there is room for every start that run_all makes. */
static entry *enter(race *r, const char *name, const double *x)
{
    entry *e = &r->entry[r->n_entry];
    double *room = r->block + 2 * r->n * r->n_entry;
    *e = (entry){.name = name, .start = room, .x = room + r->n};
    r->n_entry++;
    memcpy(e->start, x, r->n * sizeof(*x));
    memcpy(e->x, x, r->n * sizeof(*x));
    return e;
}

static covar_status polish(race *r, const char *name, const double *x)
{
    entry *e = enter(r, name, x);
    COVAR_TRY(gp_search_polish(&e->result, r->s, e->x));
    note_restart(r, name, &e->result);
    r->s->done++;
    return COVAR_OK;
}

/* The entry with the highest value; the earlier one of equals. NULL: none. */
static entry *winner(race *r)
{
    entry *best = NULL;
    for (size_t i = 0; i < r->n_entry; i++) {
        entry *e = &r->entry[i];
        if (e->result.status == COVAR_OK && isfinite(e->result.value) &&
            (!best || e->result.value > best->result.value))
            best = e;
    }
    return best;
}

/* ---- The spread --------------------------------------------------------- */

typedef struct candidate {
    double value;
    size_t index;
} candidate;

/* Sobol point `index` (a few dozen at most) of the shifted sequence. */
static void cube_point(double *u, size_t n, size_t index, uint64_t seed)
{
    covar_sobol points = covar_sobol_init(n);
    covar_sobol_shift(&points, seed);
    for (size_t i = 0; i <= index; i++)
        covar_sobol_next(u, &points);
}

static void spread_point(race *r, double *x, size_t index)
{
    double *u = r->spare + r->n;
    cube_point(u, r->n, index, r->in->options->seed);
    gp_start_spread(x, r->s->space, u);
}

/* Keeps the `most` best candidates in order of value, first come first. */
static void keep(candidate *list, size_t *n, size_t most, candidate c)
{
    size_t i = *n;
    while (i > 0 && c.value > list[i - 1].value) {
        if (i < most)
            list[i] = list[i - 1];
        i--;
    }
    if (i < most)
        list[i] = c;
    *n += *n < most;
}

static covar_status run_spread(race *r, size_t wanted)
{
    candidate list[GP_MAX_RESTARTS];
    size_t n = 0, screened = wanted > GP_SCREENED ? wanted : GP_SCREENED;
    double *x = r->spare;
    for (size_t i = 0; i < screened && !gp_search_is_over(r->s); i++) {
        gp_result result;
        spread_point(r, x, i);
        COVAR_TRY(gp_search_value(&result, r->s, x, 0, NULL));
        if (result.status == COVAR_OK)
            keep(list, &n, wanted, (candidate){result.value, i});
        else
            covar_error_clear(r->s->ctx);
    }
    for (size_t i = 0; i < n && !gp_search_is_over(r->s); i++) {
        spread_point(r, x, list[i].index);
        COVAR_TRY(polish(r, spread_name[list[i].index], x));
    }
    return COVAR_OK;
}

/* ---- The whole ---------------------------------------------------------- */

static covar_status run_deterministic(race *r, bool first_only)
{
    double *x = r->spare;
    gp_start first = gp_start_is_given(r->s->space->params) ? GP_START_GIVEN
                                                            : GP_START_SHORT;
    gp_start last = first_only ? first : GP_START_LONG;
    for (gp_start w = first; w <= last; w++) {
        if (w != first && gp_search_is_over(r->s))
            break;
        gp_start_place(x, r->s->space, w);
        COVAR_TRY(polish(r, start_name[w], x));
    }
    return COVAR_OK;
}

static covar_status subset_problem(gp_problem **problem, race *r)
{
    const gp_fit_input *in = r->in;
    size_t n = in->data->n;
    size_t *order = covar_heap_alloc(r->heap, n, sizeof(*order));
    uint64_t *work = covar_heap_alloc(r->heap, n, sizeof(*work));
    gp_data *part = NULL;
    covar_status status = COVAR_OK;
    if (order && work) {
        covar_rng rng = covar_rng_init(in->options->seed, SUBSET_STREAM);
        covar_rng_permutation(order, work, n, &rng);
        status =
            gp_data_select(&part, r->s->ctx, in->data, order, GP_SUBSET_ROWS);
    } else {
        status = covar_fail_nomem(r->s->ctx, "gp_fit");
    }
    if (status == COVAR_OK)
        status = gp_problem_create(problem, r->s->ctx, in->kernel, in->params,
                                   part, in->options);
    gp_data_free(part);
    covar_heap_free(r->heap, order);
    covar_heap_free(r->heap, work);
    if (status == COVAR_OK) {
        r->report->notes |= GP_NOTE_SUBSET;
        r->report->subset_rows = GP_SUBSET_ROWS;
    }
    return status;
}

static covar_status whole_problem(gp_problem **problem, race *r)
{
    const gp_fit_input *in = r->in;
    COVAR_TRY(gp_problem_create(problem, r->s->ctx, in->kernel, in->params,
                                in->data, in->options));
    return gp_check_memory(r->s->ctx, *problem, in->data, in->options);
}

static bool noise_is_at_floor(const race *r, const double *x)
{
    const gp_space *space = r->s->space;
    for (size_t i = 0; i < space->n; i++)
        if (space->index[i] == space->params->n - 1)
            return x[i] <= space->lower[i] + 1e-6; /* logarithms */
    return false;
}

/* From where the entry began, with all rows; it keeps the better end. */
static covar_status start_again(race *r, entry *e)
{
    gp_result again;
    if (gp_search_is_over(r->s))
        return COVAR_OK;
    COVAR_TRY(gp_search_polish(&again, r->s, e->start));
    note_restart(r, "all rows, from the start", &again);
    if (again.status == COVAR_OK && again.value > e->result.value) {
        memcpy(e->x, e->start, r->n * sizeof(*e->x));
        e->result = again;
    }
    return COVAR_OK;
}

/* The winner on the subset goes on with all rows; should it fail there, the
 * next best does. */
static covar_status go_on_with_all(race *r, gp_problem **problem)
{
    gp_problem_free(*problem);
    *problem = NULL;
    COVAR_TRY(whole_problem(problem, r));
    r->s->problem = *problem;
    r->s->best = -INFINITY;
    for (entry *e = winner(r); e; e = winner(r)) {
        gp_result all = e->result;
        if (gp_search_is_over(r->s)) /* its value is of the subset */
            return COVAR_OK;
        COVAR_TRY(gp_search_polish(&all, r->s, e->x));
        note_restart(r, "all rows", &all);
        e->result = all;
        if (all.status == COVAR_OK) {
            for (size_t i = 0; i < r->n_entry; i++)
                if (&r->entry[i] != e)
                    r->entry[i].result.value = (double)NAN;
            return noise_is_at_floor(r, e->x) ? start_again(r, e) : COVAR_OK;
        }
    }
    return COVAR_OK;
}

static covar_status run_all(race *r, gp_problem **problem)
{
    int restarts = r->in->options->restarts;
    bool first_only = restarts == -1;
    size_t wanted = restarts > 0 ? (size_t)restarts : first_only ? 0 : 3;
    bool subset = !first_only && r->in->data->n > GP_SUBSET_ROWS;
    COVAR_TRY(subset ? subset_problem(problem, r) : whole_problem(problem, r));
    r->s->problem = *problem;
    r->s->total = wanted + (first_only ? 1 : 2) + subset;
    COVAR_TRY(run_deterministic(r, first_only));
    if (wanted > 0)
        COVAR_TRY(run_spread(r, wanted));
    return subset ? go_on_with_all(r, problem) : COVAR_OK;
}

covar_status gp_multistart(double *x, gp_result *result, gp_search *s,
                           gp_problem **problem, const gp_fit_input *in,
                           gp_report *report)
{
    race r = {.s = s,
              .in = in,
              .report = report,
              .heap = covar_context_heap(s->ctx),
              .n = s->space->n};
    const size_t rows = 2 * GP_MAX_RESTARTS;
    r.block = covar_heap_calloc(r.heap, r.n * (rows + 2), sizeof(*r.block));
    if (!r.block)
        return covar_fail_nomem(s->ctx, "gp_fit");
    r.spare = r.block + r.n * rows;
    covar_status status = run_all(&r, problem);
    entry *best = status == COVAR_OK ? winner(&r) : NULL;
    if (best) {
        status = gp_search_without_jitter(&best->result, s, best->x);
        memcpy(x, best->x, r.n * sizeof(*x));
        *result = best->result;
    } else if (status == COVAR_OK) {
        *result = r.entry[0].result;
        memcpy(x, r.entry[0].x, r.n * sizeof(*x));
    }
    covar_heap_free(r.heap, r.block);
    return status;
}
