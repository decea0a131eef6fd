"""A summary of a report: how many labels are wrong, overall and by class."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._labels import Labels
from skpresto.audit._calibration import ErrorCalibration, ErrorEstimate
from skpresto.audit._sentences import about_suspects, headline, percent, rests_on
from skpresto.noise._counts import joint_counts
from skpresto.plots._axes import frame_of

Cells = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class ClassSummary:
    """The labels of one class.

    Parameters
    ----------
    label : object
        The given label.
    n_labels, n_suspects : int
        How many samples carry it, and how many of them are suspects.
    n_wrong, noise_rate : ErrorEstimate
        How many of these labels are wrong, and which fraction.
    confusion : object or None
        The class suggested most often for the suspects; None if there is none.
    n_confused : int
        How often it is suggested.
    """

    label: Any
    n_labels: int
    n_suspects: int
    n_wrong: ErrorEstimate
    noise_rate: ErrorEstimate
    confusion: Any
    n_confused: int


@dataclass(frozen=True, repr=False)
class LabelSummary:
    """How many labels are wrong, overall and by class.

    Parameters
    ----------
    method : str
        What the report is based on.
    n_labels, n_suspects : int
        Number of labels, and of suspects.
    n_wrong, noise_rate : ErrorEstimate
        How many labels are wrong, and which fraction, with 90 % intervals.
    by_class : tuple of ClassSummary
        The same by given label.
    matrix : ndarray of shape (n_classes, n_classes)
        Numbers of samples by given label (rows) and suggested label (columns).
    classes : ndarray of shape (n_classes,)
        Labels of the rows and columns.
    n_wrong_suspects : ErrorEstimate
        How many of the suspects are wrong.
    evidence : str
        What the numbers are estimated from.
    n_checked : int
        Labels that were checked by hand.
    auc : float or None
        How often a label that was made wrong on purpose looks more wrong than a given
        one; None if that was not tried.
    is_known : bool
        Whether there is evidence for a lower limit of the number of wrong labels.
    """

    method: str
    n_labels: int
    n_suspects: int
    n_wrong: ErrorEstimate
    noise_rate: ErrorEstimate
    by_class: tuple[ClassSummary, ...]
    matrix: NDArray[np.int64]
    classes: Labels
    n_wrong_suspects: ErrorEstimate
    evidence: str
    n_checked: int
    auc: float | None
    is_known: bool

    def frame(self) -> Any:
        """Return the classes as a DataFrame, one row per given label."""
        rows = [
            {
                "given": c.label,
                "labels": c.n_labels,
                "suspects": c.n_suspects,
                "wrong": c.n_wrong.expected,
                "noise_rate": c.noise_rate.expected,
                "noise_rate_low": c.noise_rate.low,
                "noise_rate_high": c.noise_rate.high,
                "confusion": c.confusion,
                "confused": c.n_confused,
            }
            for c in self.by_class
        ]
        return frame_of(rows).set_index("given")

    def matrix_frame(self) -> Any:
        """Return the matrix with given labels as index and suggested as columns."""
        names = list(self.classes)
        frame = frame_of(self.matrix).set_axis(names).set_axis(names, axis="columns")
        return frame.rename_axis(index="given", columns="suggested")

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, such as for JSON."""
        return {
            "method": self.method,
            "n_labels": self.n_labels,
            "n_suspects": self.n_suspects,
            "n_wrong_suspects": self.n_wrong_suspects._asdict(),
            "n_checked": self.n_checked,
            "rests_on": rests_on(self),
            "is_known": self.is_known,
            "n_wrong": self.n_wrong._asdict(),
            "noise_rate": self.noise_rate._asdict(),
            "classes": [
                {
                    **vars(c),
                    "n_wrong": c.n_wrong._asdict(),
                    "noise_rate": c.noise_rate._asdict(),
                }
                for c in self.by_class
            ],
            "matrix": self.matrix.tolist(),
        }

    def headline(self) -> str:
        """Return the summary as one sentence."""
        return headline(self)

    def worst_first(self) -> list[ClassSummary]:
        """Return the classes, those of which most labels are confused first."""
        return sorted(self.by_class, key=lambda c: (-c.n_confused, -c.n_suspects))

    def table(
        self, by_class: Iterable[ClassSummary] | None = None
    ) -> tuple[Cells, list[Cells]]:
        """Return the classes, or some of them, as texts: a head and a line for each."""
        head = ("given", "labels", "suspects", "wrong (90 % interval)", "most often")
        lines = [
            (
                str(c.label),
                f"{c.n_labels:,}",
                f"{c.n_suspects:,}",
                percent(c.noise_rate),
                "" if c.confusion is None else f"{c.confusion} ({c.n_confused:,})",
            )
            for c in (self.worst_first() if by_class is None else by_class)
        ]
        return head, lines

    def __repr__(self) -> str:
        head, lines = self.table()
        widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
        text = [
            f"LabelSummary by {self.method}: {self.headline()}",
            about_suspects(self),
            rests_on(self),
        ]
        text += [
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True))
            for line in (head, *lines)
        ]
        return "\n".join(line.rstrip() for line in text)


def summarize(report: Any, calibration: ErrorCalibration) -> LabelSummary:
    """Return the summary of a report."""
    given, suggested, is_suspect = report.given, report.suggested, report.is_suspect
    n_classes, names = len(report.classes), report.classes.tolist()
    n_wrong = calibration.total()
    matrix = joint_counts(given, suggested, n_classes).astype(np.int64)
    suspects = joint_counts(given[is_suspect], suggested[is_suspect], n_classes)
    n_suspects = suspects.sum(axis=1)
    np.fill_diagonal(suspects, 0)
    by_class = []
    for number, (label, others) in enumerate(zip(names, suspects, strict=True)):
        wrong = calibration.total(given == number, is_class=True)
        n_labels = int(matrix[number].sum())
        likeliest = int(others.argmax())
        by_class.append(
            ClassSummary(
                label=label,
                n_labels=n_labels,
                n_suspects=int(n_suspects[number]),
                n_wrong=wrong,
                noise_rate=wrong / n_labels,
                confusion=names[likeliest] if others.any() else None,
                n_confused=int(others[likeliest]),
            )
        )
    return LabelSummary(
        method=report.method,
        n_labels=len(given),
        n_suspects=int(is_suspect.sum()),
        n_wrong=n_wrong,
        noise_rate=n_wrong / len(given),
        by_class=tuple(by_class),
        matrix=matrix,
        classes=report.classes,
        n_wrong_suspects=calibration.total(is_suspect),
        evidence=report.evidence.rests_on,
        n_checked=calibration.n_checked,
        auc=report.evidence.auc,
        is_known=calibration.is_known,
    )
