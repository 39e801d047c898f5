/* Scores of Gaussian predictions.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   nlpd = mean of 1/2 log(2 pi v) + (y - m)^2 / (2 v)
 *   crps = mean of s (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)), z = (y-m)/s
 *   smse = mse / var(y);  msll = mean of nlpd - nlpd under N(train)
 * Sources: Rasmussen & Williams 2006, sec. 2.5; Gneiting & Raftery 2007, eq. 21
 * for crps. */
#include "config.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "gp_impl.h"

static double normal_nlpd(double y, double mean, double var)
{
    return 0.5 * (log(2 * M_PI * var) + (y - mean) * (y - mean) / var);
}

static double normal_crps(double y, double mean, double var)
{
    double s = sqrt(var), z = (y - mean) / s;
    double density = exp(-0.5 * z * z) / sqrt(2 * M_PI);
    return s * (z * (2 * gsl_cdf_ugaussian_P(z) - 1) + 2 * density -
                1 / sqrt(M_PI));
}

gp_scores gp_score(const double *y, const double *mean, const double *var,
                   size_t n, double train_mean, double train_var)
{
    gp_scores s = {.n = 0};
    if (n > 0 && (!y || !mean || !var))
        return (gp_scores){0, NAN, NAN, NAN, NAN, NAN, NAN};
    double square = 0, sum = 0, spread = 0, baseline = 0, inside = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i]))
            continue;
        double error = y[i] - mean[i];
        s.n++;
        sum += y[i];
        square += error * error;
        s.nlpd += normal_nlpd(y[i], mean[i], var[i]);
        s.crps += normal_crps(y[i], mean[i], var[i]);
        baseline += normal_nlpd(y[i], train_mean, train_var);
        inside += fabs(error) <= 1.959963984540054 * sqrt(var[i]);
    }
    double count = (double)s.n;
    for (size_t i = 0; i < n; i++)
        if (!isnan(y[i]))
            spread += (y[i] - sum / count) * (y[i] - sum / count);
    s.rmse = sqrt(square / count);
    s.smse = square / spread;
    s.msll = (s.nlpd - baseline) / count;
    s.nlpd /= count;
    s.crps /= count;
    s.coverage_95 = inside / count;
    return s;
}
