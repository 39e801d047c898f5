# Writes datasets.txt from a folder of HDF5 files, with h5py and exact sums,
# independently of covar:  python3 datasets.py FOLDER > datasets.txt
# SPDX-License-Identifier: GPL-3.0-or-later
import glob, math, os, sys
import h5py
import numpy as np


def our_type(a):
    if a.dtype.kind == "f":
        return "f64" if a.dtype.itemsize > 4 else "f32"
    if a.dtype == np.uint8:
        return "u8"
    fits = a.size == 0 or (a.min() >= -2**31 and a.max() < 2**31)
    return "i32" if fits else "f64"


print("# set NAME n d splits; then a line for each member outside of splits:")
print("# member NAME type dims, number of NaN, sum of the others (exact, then")
print("# rounded once to a double). Made by datasets.py.")
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.h5"))):
    name = os.path.basename(path)[:-3]
    f = h5py.File(path, "r")
    members = {k: f[k][()] for k in f if isinstance(f[k], h5py.Dataset)}
    n = 0
    for k in ("X", "y", "Y", "labels", "images"):
        if k in members:
            n = members[k].shape[0]
            break
    else:
        n = len(members["offsets"]) - 1 if "offsets" in members else 0
    d = members["X"].shape[1] if "X" in members else 0
    splits = 0
    if "splits" in f:
        while "train_%d" % splits in f["splits"]:
            splits += 1
    elif "fold" in members:
        splits = int(members["fold"].max()) + 1
    print("set", name, n, d, splits)
    for k in sorted(members):
        a = members[k]
        nan = int(np.isnan(a).sum()) if a.dtype.kind == "f" else 0
        if a.dtype.kind == "f":
            total = math.fsum(float(v) for v in a.ravel() if v == v)
        else:
            total = float(int(a.astype(np.int64).sum()))
        print("member", k, our_type(a), "x".join(map(str, a.shape)), nan,
              repr(total))
