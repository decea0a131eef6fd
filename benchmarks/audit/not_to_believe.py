"""Audits whose numbers are wrong: labels that are as regular as the truth.

    SKPRESTO_DATA=path/to/folder python benchmarks/audit/not_to_believe.py

The figures of "When not to believe it" in docs/audit.md: labels by rules, half of the
labels wrong, and a genre whose most frequent label is wrong, audited from CSV files
with and without ``--quick``.
"""

import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import numpy as np
import pandas as pd
from against_datalab import from_csv, texts, words
from layout import markdown
from sklearn.metrics import average_precision_score

from skpresto.audit import LabelReport
from skpresto.audit._fit import audit_estimator, fit_report
from skpresto.datasets import load_npz
from skpresto.noise import PairNoise, SymmetricNoise


def half_wrong(noise: Any, folder: Path, seed: int) -> tuple[Any, np.ndarray]:
    """Return satimage with half of its labels wrong."""
    data = load_npz("satimage.npz")
    return _table(folder, data, noise.fit_transform(data["y_train"]))


def of_people(folder: Path, seed: int) -> tuple[Any, np.ndarray]:
    """Return clips with the label that most of their listeners gave."""
    data = load_npz("music_genre.npz")
    return _table(folder, data, data["noisy_labels"]["mv"])


def _table(folder: Path, data: Any, given: np.ndarray) -> tuple[Any, np.ndarray]:
    frame = pd.DataFrame(data["X_train"]).add_prefix("column ")
    return from_csv(folder, frame, words(given)), words(data["y_train"])


CASES: dict[str, Callable[..., tuple[Any, np.ndarray]]] = {
    "labels by rules (trec_rules)": texts,
    "50 % pair noise (satimage)": partial(half_wrong, PairNoise(0.5, random_state=0)),
    "50 % symmetric noise (satimage)": partial(
        half_wrong, SymmetricNoise(0.5, random_state=0)
    ),
    "majority of listeners (music_genre)": of_people,
}


def main() -> int:
    """Print what two audits state, and what is true."""
    print("\n".join(markdown(pd.DataFrame(_rows()), index=None)))
    return 0


def _rows() -> Iterator[dict[str, Any]]:
    for case, make in CASES.items():
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source, true = make(Path(folder), 0)
            X, y = source.features(0), np.asarray(source.labels)
            report = LabelReport.from_classifier(None, X, y, random_state=0)
            yield _row(case, "--quick", report, true)
            report = fit_report(audit_estimator(len(y)), X, y)
            yield _row(case, "default", report, true)


def _row(case: str, mode: str, report: LabelReport, true: np.ndarray) -> dict[str, Any]:
    frame = report.frame
    is_wrong = frame["given"].to_numpy() != true
    is_suspect = report.is_suspect
    precision = average_precision_score(is_wrong, -report.quality)
    stated = "{:.0f} ({:.0f} to {:.0f})"
    # The class of whose labels the largest fraction is wrong.
    wrong_of = pd.Series(is_wrong).groupby(true).mean()
    members = true == wrong_of.idxmax()
    return {
        "labels": case,
        "audit": mode,
        "wrong": f"{is_wrong.sum()} of {len(true)}",
        "stated": stated.format(*report.expected_errors(len(true))),
        "accepted": f"{1 - is_suspect.mean():.0%}",
        "accepted of the wrong": f"{1 - is_suspect[is_wrong].mean():.0%}",
        "first 100": str(is_wrong[report.order[:100]].sum()),
        "first 100, stated": stated.format(*report.expected_errors(100)),
        "average precision": f"{precision:.2f}",
        "worst class": f"{wrong_of.idxmax()}: {is_wrong[members].sum()} of "
        f"{members.sum()} wrong, {(~is_suspect & is_wrong & members).sum()} accepted",
    }


if __name__ == "__main__":
    raise SystemExit(main())
