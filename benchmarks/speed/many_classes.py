"""Measure the memory of a fit on many classes, in bytes per sample and class.

python benchmarks/speed/many_classes.py CrossPrestoppingClassifier 20000 5000
"""

import sys
import time
import warnings

import numpy as np
import torch
from memory import Peak
from torch import nn

import skpresto
from skpresto.stopping import NoiseRateStop


class Linear(nn.Module):
    """One layer, so that memory is that of the method and of the outputs."""

    def __init__(self, n_features, n_classes):
        super().__init__()
        self.layer = nn.Linear(n_features, n_classes)

    def forward(self, X):
        """Return logits."""
        return self.layer(X)


def main(name, n_samples, n_classes):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    rng = np.random.RandomState(0)
    y = np.append(np.arange(n_classes), rng.randint(n_classes, size=n_samples))
    y = y[:n_samples]
    X = rng.normal(size=(n_samples, 16)) + 3 * rng.normal(size=(n_classes, 16))[y]
    X = X.astype(np.float32)
    clf = getattr(skpresto, name)(
        Linear, stop=NoiseRateStop(0.99), max_epochs=4, lr=0.5, random_state=0
    )
    clf.fit(X[:2000], y[:2000] % 10)
    with Peak() as peak:
        started = time.perf_counter()
        clf.fit(X, y)
        seconds = time.perf_counter() - started
    n_bytes = peak.largest - peak.before
    print(
        f"{name}, {n_samples:,} samples of {n_classes:,} classes: {n_bytes / 1e6:.0f} "
        f"MB, {n_bytes / n_samples / n_classes:.1f} bytes per sample and class, "
        f"{seconds:.0f} s"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
