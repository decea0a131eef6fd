"""The labels of a report with the decisions that were made about them."""

from pathlib import Path
from typing import Any

import numpy as np

from skpresto._labels import decode
from skpresto.audit._carried_over import carried_over
from skpresto.audit._decisions import read_decisions
from skpresto.audit._page import About
from skpresto.audit._page.payload import fingerprint_of_report


def decided_labels(report: Any, path: Any) -> Any:
    """Return labels as a Series with the index of a report, without discarded rows.

    Parameters
    ----------
    report : LabelReport
        The report whose page the decisions come from, or one on other samples with
        the same ids as index.
    path : path
        The exported decisions.
    """
    import pandas as pd

    decisions = read_decisions(Path(path))
    owner = f"This {type(report).__name__}"
    fingerprint = fingerprint_of_report(report, About())
    if decisions.id_name is None or report.index is None:
        decisions.check_fingerprint(fingerprint, owner)
    names = [str(label) for label in report.classes]
    labels = [names[code] for code in report.given.tolist()]
    found = carried_over(
        decisions, fingerprint, labels, lambda: list(map(str, report.index)), owner
    )
    found.check_labels(labels, owner, ())
    original = dict(zip(names, report.classes.tolist(), strict=True))
    kind = type(report.classes.tolist()[0])
    new = kind if kind in (int, float) else str
    values = decode(report.given, report.classes).astype(object)
    for row, label in found.of_all_rows(labels).items():
        values[row] = original[label] if label in original else new(label)
    series = pd.Series(values.tolist(), index=report.index, name="label")
    keep = np.ones(len(series), dtype=bool)
    keep[list(found.discarded)] = False
    return series[keep]
