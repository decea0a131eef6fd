"""The audits of the benchmark: noisy data, a fit as the command line does it, a report.

Fits are stored in a folder, so that reports can be measured again without fitting.
"""

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import numpy as np
from cells import Cell, Setting
from data import Split, split_of

from skpresto.audit import LabelReport
from skpresto.audit._calibration import Evidence
from skpresto.audit._constants import IN_SAMPLE, OUT_OF_FOLD
from skpresto.audit._fit import audit_estimator
from skpresto.audit._from_estimator import fields_of_estimator

#: Name of a mode, and whether it is quick.
MODES = {"quick": True, "default": False}
#: Seeds by which the constants were fitted, and those of the tables.
DEVELOPMENT_SEEDS, SEEDS = (10, 11, 12, 13), (0, 1, 2)
#: Sets whose rules make labels that a network can only repeat.
IMPOSSIBLE = ("trec_rules",)

SETTINGS = {
    "letter": Setting("letter", epochs=0, rows=8000),
    "magic": Setting("magic", epochs=0, rows=5000),
    **{
        name: Setting(name, epochs=0)
        for name in (
            *("satimage", "spambase", "cifar10n_feat"),
            *("music_genre", "yoruba_news", "youtube_weak", "trec_rules"),
        )
    },
}


@dataclass(frozen=True)
class Audit:
    """One audit: mode, data set, noise, its rate (None if it is real) and seed."""

    mode: str
    data: str
    noise: str
    rate: float | None
    seed: int

    @property
    def name(self) -> str:
        """The audit as the name of a file."""
        rate = "" if self.rate is None else f"-{self.rate}"
        return f"{self.mode}-{self.data}-{self.noise}{rate}-{self.seed}"

    @property
    def split(self) -> Split:
        """The noisy data."""
        cell = Cell("audit", self.data, self.noise, self.rate, self.seed)
        return split_of(cell, SETTINGS[self.data])


Row = tuple[str, str, float | None]
#: Rows of the tables; for the default mode only those up to N_DEFAULT_RATES per set.
REAL_ROWS: tuple[Row, ...] = (
    ("music_genre", "one", None),
    ("yoruba_news", "gazetteer", None),
    ("youtube_weak", "lf", None),
    ("trec_rules", "rules", None),
    *(("cifar10n_feat", noise, None) for noise in ("worst", "random1", "aggregate")),
)
INJECTED: dict[str, tuple[tuple[str, float], ...]] = {
    "default": (("pair", 0.4), ("symmetric", 0.4), ("symmetric", 0.1)),
    "quick": (
        *(("pair", 0.4), ("symmetric", 0.4), ("symmetric", 0.1)),
        *(("symmetric", 0.2), ("pair", 0.2), ("pair", 0.1)),
    ),
}


def rows_of(mode: str, is_development: bool) -> list[Row]:
    """Return the rows of a mode; development has two data sets and a low rate more."""
    rows: list[Row] = [
        (data, *noise) for data in ("satimage", "letter") for noise in INJECTED[mode]
    ]
    if is_development:
        rates = (0.03, 0.1, 0.2, 0.3)
        rows += [(d, "symmetric", r) for d in ("spambase", "magic") for r in rates]
        rows += [(data, "symmetric", 0.03) for data in ("satimage", "letter")]
    return [*REAL_ROWS, *rows]


def fitted(audit: Audit, folder: Path) -> dict[str, Any]:
    """Return what a fit found out, from the folder if it is stored there."""
    path = folder / f"{audit.name}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        found = _fit(audit)
        unfinished = path.with_suffix(".unfinished.npz")
        np.savez(unfinished, **found)
        unfinished.rename(path)
    with np.load(path) as stored:
        return dict(stored)


def _fit(audit: Audit) -> dict[str, Any]:
    split = audit.split
    clf = audit_estimator(len(split.y), quick=MODES[audit.mode], seed=audit.seed)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as unsettled stop rules
        clf.fit(split.X, split.y)
    seconds = time.perf_counter() - started
    fields = fields_of_estimator(clf, split.y, "benchmark")
    evidence = fields["evidence"]
    return {
        "given": fields["given"],
        "true": np.searchsorted(clf.classes_, split.y_true),
        "suggested": fields["suggested"],
        "quality": fields["quality"],
        "is_safe": fields["is_safe"],
        "classes": clf.classes_,
        "disagreement": evidence.disagreement,
        "is_out_of_fold": evidence.constants is OUT_OF_FOLD,
        "seconds": seconds,
    }


def evidence_of(found: dict[str, Any]) -> Evidence:
    """Return the evidence of a stored fit, with the present constants."""
    return Evidence(
        OUT_OF_FOLD if found["is_out_of_fold"] else IN_SAMPLE,
        n_classes=len(found["classes"]),
        rejected_fraction=float(1 - found["is_safe"].mean()),
        disagreement=float(found["disagreement"]),
    )


def report_of(found: dict[str, Any], method: str) -> LabelReport:
    """Return the report of a stored fit."""
    return LabelReport(
        found["given"],
        found["suggested"],
        found["quality"],
        found["is_safe"],
        classes=found["classes"],
        evidence=evidence_of(found),
        method=method,
    )
