/* Names of what a report says.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "fit_impl.h"

static const char *const note_names[GP_NOTE_COUNT] = {
    "JITTER",         "MAX_ITER",  "MAX_TIME",       "CANCELLED",
    "NOISE_FLOOR",    "AT_BOUND",  "DUPLICATE_ROWS", "DROPPED_COLUMN",
    "RESTART_FAILED", "LOW_RCOND", "SUBSET",
};

const char *gp_note_name(unsigned bit_index)
{
    return bit_index < GP_NOTE_COUNT ? note_names[bit_index] : "";
}

const char *gp_reason(ad_stop stop)
{
    if (stop == AD_STOP_ITERATIONS)
        return "max_iterations";
    return stop == AD_STOP_SECONDS ? "max_seconds" : ad_stop_name(stop);
}
