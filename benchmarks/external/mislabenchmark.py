"""Run the audit on nazaretl/MisLaBenchmark, and write rows of that benchmark's tables.

    git clone https://github.com/nazaretl/MisLaBenchmark
    python benchmarks/external/mislabenchmark.py MisLaBenchmark --out results

Each table of its folder ``datasetsSample`` gets noise as there: "Sym" gives exactly
the rate of the rows another class at random, "Asym" draws these rows by the entropy of
a linear discriminant analysis. The labels that are not accepted are what a filter
flags. Two things to know when results are compared with the stored ones: these are of
features that were not standardized, which makes filters by distances (KDN, MCS) look
worse than they are; and the labels of ClinVarReal have nothing to do with its features,
so it is left out.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from sklearn.preprocessing import StandardScaler

from skpresto.audit import LabelReport
from skpresto.audit._fit import audit_estimator, fit_report

#: Seed by which that benchmark makes noise.
NOISE_SEED = 3423
LEFT_OUT = ("ClinVarReal",)
COLUMNS = ("data", "filter", "rate", "noise", "n", "seed")
QUICK, DEFAULT, NETWORK = "skpresto audit --quick", "skpresto audit", "skpresto network"


def main() -> int:
    """Audit the tables without a stored row, and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder of new rows")
    modes = [QUICK, DEFAULT, NETWORK]
    parser.add_argument("--modes", nargs="+", choices=modes, default=modes[:2])
    parser.add_argument("--sizes", nargs="+", type=int, default=[1000])
    parser.add_argument("--rates", nargs="+", type=float, default=[0.1, 0.3])
    parser.add_argument("--noise", nargs="+", default=["Asym", "Sym"])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, table in tables(args.checkout):
        path = args.out / f"{name}_skpresto.csv"
        done = set(stored(path)["key"]) if path.exists() else set()
        for n in args.sizes:
            for noise in args.noise:
                for rate in args.rates:
                    for mode in args.modes:
                        key = str([name, mode, rate, noise, n, 0])
                        if key not in done:
                            line = audited(table, mode, rate, noise, n)
                            with path.open("a", encoding="utf-8") as file:
                                file.write(f"{key}\tS\t{line}\t\n")
                            print(key, line, flush=True)
    print(comparison(args.checkout, args.out).to_string())
    return 0


def tables(checkout: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield name and rows of each table; the last column is the label."""
    for path in sorted((checkout / "datasetsSample").glob("*.csv.gz")):
        name = path.name.partition(".")[0]
        if name not in LEFT_OUT:
            # Some of the files are zip archives, whatever their name says.
            kind = "zip" if path.read_bytes()[:2] == b"PK" else "gzip"
            yield name, pd.read_csv(path, sep="\t", compression=kind)


def audited(table: pd.DataFrame, mode: str, rate: float, noise: str, n: int) -> str:
    """Return one row as that benchmark stores it: counts, seconds, and scores."""
    rows = table.sample(min(n, len(table)), random_state=0)
    X = StandardScaler().fit_transform(rows.iloc[:, :-1]).astype(np.float32)
    true = np.unique(rows.iloc[:, -1], return_inverse=True)[1]
    given = noisy(X, true, rate, noise)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as unsettled stop rules
        if mode == QUICK:  # as for any table
            report = LabelReport.from_classifier(None, X, given, random_state=0)
        else:
            estimator = audit_estimator(len(X), quick=mode == NETWORK)
            report = fit_report(estimator, X, given)
    seconds = time.process_time() - started
    is_wrong, flagged = given != true, report.is_suspect
    (tn, fp), (fn, tp) = confusion_matrix(is_wrong, flagged, labels=[False, True])
    scores = precision_recall_fscore_support(
        is_wrong, flagged, average="binary", zero_division=0
    )[:3]
    values = [tp, fp, tn, fn, round(seconds, 4), *np.round(scores, 4)]
    return "\t".join(map(str, values))


def noisy(X: np.ndarray, y: np.ndarray, rate: float, noise: str) -> np.ndarray:
    """Return labels of which a part is another class at random."""
    rng = np.random.RandomState(NOISE_SEED)
    weights = np.ones(len(y))
    if noise == "Asym":
        p = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X).clip(1e-12)
        weights = -(p * np.log(p)).sum(axis=1)
    wrong = rng.choice(len(y), round(rate * len(y)), False, weights / weights.sum())
    labels, n_classes = y.copy(), y.max() + 1
    labels[wrong] = (y[wrong] + 1 + rng.randint(n_classes - 1, size=len(wrong))) % (
        n_classes
    )
    return labels


def stored(path: Path) -> pd.DataFrame:
    """Return stored rows: the key as text, its parts, and the F score."""
    lines = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    whole = [line for line in lines if len(line) > 9 and line[0].startswith("[")]
    found = pd.DataFrame({"key": [line[0] for line in whole]})
    parts = [[p.strip(" '[]") for p in key.split(",")] for key in found["key"]]
    for i, column in enumerate(COLUMNS):
        found[column] = [part[i] if len(part) > i else "" for part in parts]
    found["F"] = pd.to_numeric([line[9] for line in whole], errors="coerce")
    return found.dropna()


def comparison(checkout: Path, out: Path) -> pd.DataFrame:
    """Return the mean F of each filter over the cells that were audited here.

    Of the stored filters, those with results for at least nine in ten of these cells.
    """
    cell = ["data", "noise", "rate", "n"]
    ours = pd.concat([stored(path) for path in sorted(out.glob("*_skpresto.csv"))])
    theirs = pd.concat(
        [stored(path) for path in sorted((checkout / "output").glob("*.csv"))]
    )
    wanted = ours.set_index(cell).index.unique()
    theirs = theirs[theirs.set_index(cell).index.isin(wanted)]
    both = pd.concat([ours, theirs])
    table = both.pivot_table("F", index=cell, columns="filter", aggfunc="mean")
    often = table.notna().mean() >= 0.9
    own = table.columns.str.startswith("skpresto")
    shown = table.loc[:, often | own]
    means = shown.groupby(["n", "noise", "rate"]).mean().T
    means.columns = [" ".join(column) for column in means.columns]
    means["all"], means["cells"] = shown.mean(), shown.notna().sum()
    return means.sort_values("all", ascending=False).round(3)


if __name__ == "__main__":
    raise SystemExit(main())
