"""Measure the memory of a fit beyond its input.

python benchmarks/speed/memory.py 1000000 array     # or memmap
"""

import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from contenders import SmallMLP, table

from skpresto import PrestoppingClassifier

STATUS = Path("/proc/self/status")


def memory_of_a_fit(full):
    """Yield one sentence per kind of input, measured in a process of its own."""
    if not STATUS.exists():
        return
    n_samples = 2_000_000 if full else 500_000
    for kind in ("array", "memmap"):
        command = [sys.executable, __file__, str(n_samples), kind]
        output = subprocess.run(command, capture_output=True, text=True, check=True)
        input_bytes, fit_bytes = map(int, output.stdout.split())
        yield (
            f"fit on {n_samples:,} rows of 32 numbers, float32 {kind} of "
            f"{input_bytes / 1e6:.0f} MB: peak of {fit_bytes / 1e6:.0f} MB beyond the "
            f"input, {fit_bytes / n_samples:.0f} bytes per sample"
        )


def own_bytes():
    """Return the anonymous memory of this process, without mapped files."""
    lines = STATUS.read_text().splitlines()
    return next(int(x.split()[1]) * 1024 for x in lines if x.startswith("RssAnon"))


class Peak:
    """The peak memory of this process while the block runs."""

    def __enter__(self):
        self.largest = self.before = own_bytes()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        while not self._is_over.is_set():
            self.largest = max(self.largest, own_bytes())
            time.sleep(0.002)

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()


def main(n_samples, kind):
    warnings.simplefilter("ignore")
    X, y = table(n_samples)
    n_bytes = X.nbytes
    settings = {"max_epochs": 16, "batch_size": 4096, "random_state": 0}
    PrestoppingClassifier(SmallMLP, **settings).fit(X[:10_000], y[:10_000])
    with tempfile.NamedTemporaryFile() as file:
        if kind == "memmap":
            X.tofile(file.name)
            X = np.memmap(file.name, np.float32, "r", shape=X.shape)
        with Peak() as peak:
            PrestoppingClassifier(SmallMLP, **settings).fit(X, y)
    print(n_bytes, peak.largest - peak.before)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
