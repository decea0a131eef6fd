"""The samples of a page as data for its script: suspects and a control sample."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.audit._control import draw_control_sample
from skpresto.audit._page.about import About
from skpresto.audit._page.live import live_numbers
from skpresto.audit._page.sparkline import encode_lines
from skpresto.audit._page.views import SampleView

Positions = NDArray[np.intp]

#: Labels of the control sample; fifty are worth checking.
N_CONTROLS = 200


@dataclass(frozen=True)
class Selection:
    """The samples that a page shows.

    Parameters
    ----------
    suspects : array of int
        Positions of the suspects that are listed, the most suspect first.
    controls : array of int
        Positions of the control sample, in random order.
    n_suspects : int
        Number of all suspects.
    """

    suspects: Positions
    controls: Positions
    n_suspects: int

    @property
    def positions(self) -> Positions:
        """All samples shown, suspects first."""
        further = np.setdiff1d(self.controls, self.suspects)
        return np.concatenate([self.suspects, further]).astype(np.intp)


def select_samples(report: Any, top: int) -> Selection:
    """Choose the suspects to list, and draw a control sample.

    Who reviews it does not know which labels are suspects, and any number of reviewed
    labels is a random sample.
    """
    n_suspects = int(report.is_suspect.sum())
    controls = draw_control_sample(report.order, n_suspects, N_CONTROLS)
    return Selection(report.order[: min(top, n_suspects)], controls, n_suspects)


def payload(
    report: Any, about: About, view: SampleView | None, selection: Selection
) -> dict[str, Any]:
    """Return the samples and what the script needs to know, as plain values."""
    positions = selection.positions
    index_of = {int(position): i for i, position in enumerate(positions)}
    items: dict[str, list[Any]] = {
        "row": [row_of(about, position) for position in positions],
        "name": [name_of(about, position) for position in positions],
        "given": report.given[positions].tolist(),
        "suggested": report.suggested[positions].tolist(),
        "quality": [float(f"{quality:.3g}") for quality in report.quality[positions]],
    }
    if about.spelled is not None:
        items["spelled"] = [about.spelled[position] for position in positions]
    if report.trajectories is not None:
        items["line"] = encode_lines(report.trajectories[positions])
    if view is not None:
        items |= view.cards(report, positions)
    return {
        "title": about.title,
        "kind": about.kind,
        "label": about.label_name,
        "fingerprint": about.fingerprint or fingerprint_of_report(report, about),
        "classes": [str(label) for label in report.classes],
        "textName": None if view is None else view.text_name,
        "items": items,
        "isSuspect": report.is_suspect[positions].tolist(),
        "suspects": [index_of[int(position)] for position in selection.suspects],
        "controls": [index_of[int(position)] for position in selection.controls],
        "spellings": [
            {"label": label, "given": [spelling for spelling, *_ in variants]}
            for label, variants in about.variants
        ],
        "nSuspects": selection.n_suspects,
        "live": live_numbers(report, positions),
        "rowsChecked": [row_of(about, i) for i in report.checked_positions[0]],
        "nLabels": len(report),
    }


def row_of(about: About, position: int) -> int:
    """Return the row of a sample in the input."""
    return int(position if about.rows is None else about.rows[position])


def name_of(about: About, position: int) -> str:
    """Return what a sample is called on the page."""
    if about.names is None:
        return f"row {row_of(about, position)}"
    return str(about.names[position])


def fingerprint_of_report(report: Any, about: About) -> str:
    """Return a hash of the given labels and the names of the samples."""
    content = hashlib.sha256()
    labels = [str(label) for label in report.classes]
    for position, code in enumerate(report.given.tolist()):
        content.update(f"{name_of(about, position)}\0{labels[code]}\0".encode())
    return content.hexdigest()
