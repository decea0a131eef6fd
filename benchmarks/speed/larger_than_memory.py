"""Peak memory of fits from files that are larger than memory.

    python benchmarks/speed/larger_than_memory.py            # 20 GB each
    python benchmarks/speed/larger_than_memory.py --gigabytes 2 --sources memmap

Each fit is a process of its own; its peak of resident memory is what Linux reports
(VmHWM, pages of memory maps included). Rows are images of 3 x 32 x 32 numbers in
float32, as flat rows, for a network with one small layer, so that reading counts.

- memmap: a ``np.memmap`` over a sparse file, of which the first rows have content.
- dataset: a ``Dataset`` that reads single rows of the same file.
- parquet: a ``ParquetDataset``; the file has the same rows, and since equal rows are
  compressed, its size is printed too. With ``--dense``, all numbers are random and
  stored as they are, so that the file has the full size.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

N_FEATURES = 3 * 32 * 32
ROW_BYTES = 4 * N_FEATURES
#: Rows at the begin of the sparse file that are not zero.
N_WRITTEN = 5000
#: Rows of a row group: 25 MB.
GROUP = 2048
SOURCES = ("memmap", "dataset", "parquet")


def some_rows(n_rows: int, seed: int) -> np.ndarray:
    draws = np.random.default_rng(seed).random((n_rows, N_FEATURES), np.float32)
    draws[:, 0] += np.arange(n_rows) % 2
    return draws


def write_sparse(path: Path, n_rows: int) -> None:
    """Write a file of zeros that takes up space for its first rows only."""
    with open(path, "wb") as file:
        file.write(some_rows(min(N_WRITTEN, n_rows), 0).tobytes())
        file.truncate(n_rows * ROW_BYTES)


def write_parquet(path: Path, n_rows: int, is_dense: bool) -> None:
    """Write the same rows, or random ones, in row groups."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema(
        [("pixels", pa.list_(pa.float32(), N_FEATURES)), ("label", pa.int8())]
    )
    encoding = {"use_dictionary": False, "compression": "none" if is_dense else "zstd"}
    with parquet.ParquetWriter(path, schema, **encoding) as writer:
        for start in range(0, n_rows, GROUP):
            n = min(GROUP, n_rows - start)
            values = np.zeros((n, N_FEATURES), np.float32)
            if is_dense or start < N_WRITTEN:
                values = some_rows(n, start)
            pixels = pa.FixedSizeListArray.from_arrays(values.ravel(), N_FEATURES)
            labels = pa.array(labels_of(np.arange(start, start + n)), pa.int8())
            writer.write_table(pa.table([pixels, labels], schema=schema), GROUP)


def labels_of(rows: np.ndarray) -> np.ndarray:
    return rows % 2


def data_of(source: str, path: Path, n_rows: int) -> tuple:
    """Return X and y; y is None where X has the labels."""
    y = labels_of(np.arange(n_rows)).astype(np.int8)
    if source == "memmap":
        return np.memmap(path, np.float32, "r", shape=(n_rows, N_FEATURES)), y
    if source == "dataset":
        return rows_of(path, n_rows), y
    from skpresto.datasets import ParquetDataset

    return ParquetDataset(path, label="label"), None


def rows_of(path: Path, n_rows: int):
    """Return a Dataset as a user would write it."""
    import torch
    from torch.utils.data import Dataset

    class Rows(Dataset):
        def __init__(self) -> None:
            self.file = os.open(path, os.O_RDONLY)

        def __len__(self) -> int:
            return n_rows

        def __getitem__(self, row: int):
            content = os.pread(self.file, ROW_BYTES, int(row) * ROW_BYTES)
            return torch.frombuffer(bytearray(content), dtype=torch.float32)

    return Rows()


def fit(source: str, path: Path, n_rows: int, method: str, n_epochs: int) -> None:
    """Fit, and print seconds and peak memory before and after."""
    import skpresto

    X, y = data_of(source, path, n_rows)
    before, started = peak(), time.process_time()
    clf = getattr(skpresto, method)(
        module__hidden=(16,), max_epochs=n_epochs, batch_size=512, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few epochs
        clf.fit(X, y)
    seconds = time.process_time() - started
    print(
        f"{source:8s} {n_rows:,} rows, {n_rows * ROW_BYTES / 1e9:.1f} GB as float32, "
        f"{os.stat(path).st_blocks * 512 / 1e9:.2f} GB on disk: {method} of "
        f"{len(clf.history_)} epochs, peak {peak() / 1e9:.2f} GB ({before / 1e9:.2f} "
        f"before), {seconds:.0f} s of CPU",
        flush=True,
    )


def peak() -> int:
    """Return the peak of resident memory of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("VmHWM is not in /proc/self/status")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=20)
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--method", default="DefaultClassifier")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--dense", action="store_true", help="random Parquet rows")
    parser.add_argument("--folder", help="for the files, which are deleted afterwards")
    parser.add_argument("--fit", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    n_rows = int(given.gigabytes * 1e9 / ROW_BYTES)
    if given.fit is not None:
        source, path = given.fit
        fit(source, Path(path), n_rows, given.method, given.epochs)
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for source in given.sources:
            path = Path(folder) / ("X.parquet" if source == "parquet" else "X.dat")
            if not path.exists():
                if source == "parquet":
                    write_parquet(path, n_rows, given.dense)
                else:
                    write_sparse(path, n_rows)
            again = [sys.executable, *sys.argv, "--fit", source, str(path)]
            subprocess.run(again, check=True)


if __name__ == "__main__":
    main()
