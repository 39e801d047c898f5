#!/usr/bin/env python3
"""Value and gradient of an exact GP by scikit-learn, as bench_gp measures it.

RBF with one lengthscale per column, d = 8, ten parameters, one thread. Prints
the median milliseconds; needs python3-sklearn.
SPDX-License-Identifier: GPL-3.0-or-later
"""
import os
import statistics
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel


def median_ms(n, runs):
    rng = np.random.default_rng(1)
    x = rng.random((n, 8))
    y = np.sin(3 * x[:, 0]) + 0.1 * rng.standard_normal(n)
    kernel = ConstantKernel(1.0) * RBF(np.ones(8)) + WhiteKernel(0.1)
    gp = GaussianProcessRegressor(kernel, optimizer=None).fit(x, y)
    theta = gp.kernel_.theta
    times = []
    for _ in range(runs):
        begin = time.process_time()
        gp.log_marginal_likelihood(theta, eval_gradient=True)
        times.append(1e3 * (time.process_time() - begin))
    return statistics.median(times)


for n, runs in ((500, 7), (1000, 5), (2000, 3)):
    print(f"n = {n:5d}  value + gradient {median_ms(n, runs):9.2f} ms")
