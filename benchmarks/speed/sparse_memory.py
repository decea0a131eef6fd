"""Measure the memory of a fit on a sparse matrix, beyond its input.

    python benchmarks/speed/sparse_memory.py            # a hidden layer of 16 units
    python benchmarks/speed/sparse_memory.py 256 256    # the built-in network

The matrix has 100,000 rows and 50,000 columns, and one entry in a thousand is not zero.
Dense it would take 20 GB.
"""

import sys
import warnings

import numpy as np
from memory import Peak
from scipy import sparse

from skpresto import PrestoppingClassifier

N_ROWS, N_COLUMNS, DENSITY = 100_000, 50_000, 0.001


def main(hidden):
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = sparse.random(
        N_ROWS, N_COLUMNS, DENSITY, format="csr", dtype=np.float32, random_state=rng
    )
    y = rng.integers(0, 10, N_ROWS)
    n_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    settings = {"module__hidden": hidden, "max_epochs": 2, "random_state": 0}
    # Memory that libraries take once, and keep, is not that of a fit.
    PrestoppingClassifier(**settings).fit(X[:1000, :100], y[:1000])
    with Peak() as peak:
        PrestoppingClassifier(**settings).fit(X, y)
    fit_bytes = peak.largest - peak.before
    print(
        f"sparse matrix of {n_bytes / 1e6:.0f} MB, hidden layers {hidden}: peak of "
        f"{fit_bytes / 1e6:.0f} MB beyond the input"
    )


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or (16,))
