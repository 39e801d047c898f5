#!/usr/bin/env python3
"""Value and gradient of an exact GP by PyTorch, as bench_gp measures it.

RBF with one lengthscale per column, d = 8, ten parameters, one thread. Prints
the median milliseconds; needs python3-torch.
SPDX-License-Identifier: GPL-3.0-or-later
"""
import math
import statistics
import time

import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def nlml(theta, x, y):
    variance, noise = theta[0].exp(), theta[9].exp()
    scaled = x / theta[1:9].exp()
    r2 = torch.cdist(scaled, scaled, compute_mode="use_mm_for_euclid_dist")
    k = variance * torch.exp(-0.5 * r2**2)
    k = k + noise * torch.eye(len(y))
    chol = torch.linalg.cholesky(k)
    z = torch.linalg.solve_triangular(chol, y[:, None], upper=False)
    half = chol.diagonal().log().sum()
    return 0.5 * (z**2).sum() + half + 0.5 * len(y) * math.log(2 * math.pi)


def median_ms(n, runs):
    torch.manual_seed(1)
    x = torch.rand(n, 8)
    y = torch.sin(3 * x[:, 0]) + 0.1 * torch.randn(n)
    theta = torch.zeros(10)
    theta[9] = math.log(0.1)
    theta.requires_grad_(True)
    times = []
    for _ in range(runs):
        begin = time.process_time()
        torch.autograd.grad(nlml(theta, x, y), theta)
        times.append(1e3 * (time.process_time() - begin))
    return statistics.median(times)


for n, runs in ((500, 7), (1000, 5), (2000, 3)):
    print(f"n = {n:5d}  value + gradient {median_ms(n, runs):9.2f} ms")
