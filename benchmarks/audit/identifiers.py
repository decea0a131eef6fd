"""How many wrong labels a quick audit finds in a sorted file with an identifier.

    SKPRESTO_DATA=... python benchmarks/audit/identifiers.py

3,000 rows of satimage, an eighth of the labels wrong, sorted by the given label, with
one identifier more: in the order of the rows, with its values shuffled, and with the
rows shuffled. Each line says how many wrong labels are suspects, beside the same file
without the identifier, whether the audit names the column, and how many are found with
--use.
"""

import contextlib
import hashlib
import io
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from skpresto.cli import main
from skpresto.noise import SymmetricNoise

ORDERS = ("sorted", "values shuffled", "rows shuffled")


def sorted_file(n_rows=3000):
    """Return features, labels and whether they are wrong, sorted by label."""
    data = np.load(Path(os.environ["SKPRESTO_DATA"]) / "satimage.npz")
    rows = np.random.RandomState(0).permutation(len(data["y_train"]))[:n_rows]
    true = data["y_train"][rows]
    given = SymmetricNoise(0.125, random_state=0).fit_transform(true)
    order = np.argsort(given, kind="stable")
    frame = pd.DataFrame(data["X_train"][rows][order].astype(float)).add_prefix("band")
    labels = np.array([f"cover {label}" for label in given[order]])
    return frame, labels, (given != true)[order]


def identifiers(n):
    """Return identifiers of n rows by name."""
    rng, start = np.random.RandomState(0), pd.Timestamp("2024-01-01")
    gaps = np.cumsum(rng.exponential(900, n)).round()
    return {
        "none": None,
        "text, IMG_00017": [f"IMG_{i:05}" for i in range(n)],
        "file names": [f"scan ({i}).tif" for i in range(n)],
        "integers, step 1": np.arange(n) + 1000,
        "integers, step 3": np.arange(n) * 3 + 17,
        "integers, steps 1 to 8": np.cumsum(rng.randint(1, 9, n)),
        "MD5 hashes": [hashlib.md5(str(i).encode()).hexdigest() for i in range(n)],
        "random integers": rng.randint(2**60, size=n),
        "timestamps, every 41 s": start + pd.to_timedelta(41 * np.arange(n), "s"),
        "timestamps, random gaps": start + pd.to_timedelta(gaps, "s"),
        "running floats": np.arange(n) * 0.1 + rng.uniform(size=n) * 0.2,
    }


def audit(frame, *options):
    """Return which rows are suspects, and whether a column is named."""
    frame.to_csv("t.csv", index=False)
    arguments = ["audit", "t.csv", "--label", "cover", "--quick", "--table", "r.csv"]
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
        assert main([*arguments, "--force", *options]) == 0
    is_named = "'key'" in shown.getvalue()
    return ~pd.read_csv("r.csv")["is_safe"].astype(bool).to_numpy(), is_named


def measure():
    frame, labels, is_wrong = sorted_file()
    print(f"{len(frame)} rows, {is_wrong.sum()} wrong labels")
    for order in ORDERS:
        rng = np.random.RandomState(1)
        rows = np.arange(len(frame))
        if order == "rows shuffled":
            rows = rng.permutation(rows)
        without = None
        for name, values in identifiers(len(frame)).items():
            table = frame.copy()
            if values is not None:
                column = pd.Series(values)
                if order == "values shuffled":
                    column = column.sample(frac=1, random_state=1).reset_index(
                        drop=True
                    )
                table.insert(0, "key", column)
            table = table.assign(cover=labels).iloc[rows]
            suspects, is_named = audit(table)
            found = int((suspects & is_wrong[rows]).sum())
            without = found if values is None else without
            line = f"{order:16}{name:25}{found} of {without}, named: {is_named}"
            if values is not None and order == "sorted":
                forced, _ = audit(table, "--use", "key")
                line += f"; with --use: {int((forced & is_wrong[rows]).sum())}"
            print(line, flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        measure()
