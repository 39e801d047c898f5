/* covar-gp: Gaussian process regression from the shell.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "covar-gp.h"

#include <covar/covar.h>
#include <string.h>

static const char help[] =
    "Usage: covar-gp fit DATA [options]\n"
    "       covar-gp predict MODEL.h5 INPUTS [options]\n"
    "       covar-gp info FILE\n"
    "\n"
    "Fits a Gaussian process to a data set (HDF5, CSV or IDX), predicts with\n"
    "a saved one, or describes a file.\n"
    "\n"
    "fit:\n"
    "  --target NAME         what to model (default: y, or the last column)\n"
    "  --kernel EXPR         e.g. 'rbf(ard)+0.5*periodic(period:=1)[0]'\n"
    "                        (default: matern52(ard))\n"
    "  --mean zero|constant|linear          (default: constant)\n"
    "  --objective ml|map|loo               (default: ml)\n"
    "  --prior NAME=lognormal(m,s)|gamma(a,b)|normal(m,s)|flat\n"
    "  --noise V             where the noise variance starts\n"
    "  --fix-noise V         its fixed value\n"
    "  --noise-column NAME   a column of known noise variances\n"
    "  --skip-text           leave columns of a CSV file with text out\n"
    "  --set NAME=VALUE      where a parameter starts\n"
    "  --fix NAME[=VALUE]    keep a parameter fixed\n"
    "  --no-fit              evaluate at the given parameters\n"
    "  --jitter auto|none|VALUE\n"
    "  --standardise none|x|y|xy            (default: xy)\n"
    "  --split K             train and test by the file's split K (from 0)\n"
    "  --test-fraction F     test on a random part of the rows\n"
    "  --restarts R          extra polished starts, at most 60; 0: the first "
    "only\n"
    "  --max-iterations N    of a start\n"
    "  --max-seconds S       looked at between evaluations; 0: no limit\n"
    "  --dtype f64|f32        (mixed: not yet)\n"
    "  --save MODEL.h5       keep the fitted model\n"
    "  --plot FILE.svg       draw it (also .png, .pdf); leaves FILE.gp, "
    "FILE.dat\n"
    "  --report text|json\n"
    "\n"
    "predict: columns are matched by name, where file and model have names\n"
    "  -o OUT.h5|OUT.csv     where to write (default: CSV on stdout)\n"
    "  --samples S           also S joint samples of f\n"
    "\n"
    "all: --threads N --seed S --quiet --help --version\n"
    "Exit status: 0 a usable result, 1 none or not written, 2 usage.\n";

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return app_end_output(APP, APP_OK);
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("covar-gp (covar) %s\n", covar_version());
            return app_end_output(APP, APP_OK);
        }
    }
    if (argc < 2)
        return app_usage_error(APP, "expected fit, predict or info");
    if (strcmp(argv[1], "fit") == 0)
        return run_fit(argc - 1, argv + 1);
    if (strcmp(argv[1], "predict") == 0)
        return run_predict(argc - 1, argv + 1);
    if (strcmp(argv[1], "info") == 0)
        return run_info(argc - 1, argv + 1);
    return app_usage_error(APP,
                           "unknown command %s: expected fit, predict or "
                           "info",
                           argv[1]);
}
