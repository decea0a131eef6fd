"""The samples of a page as data for its script: suspects and a control sample."""

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._label_quality.likeliest import Likeliest
from skpresto.audit._control import draw_control_sample
from skpresto.audit._page.about import About
from skpresto.audit._page.live import live_numbers
from skpresto.audit._page.similar import similar_samples
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
    if about.ids is not None:
        items["id"] = [about.ids[position] for position in positions]
    if about.spelled is not None:
        items["spelled"] = [about.spelled[position] for position in positions]
    if report.trajectories is not None:
        items["line"] = encode_lines(report.trajectories[positions])
    if report.likeliest is not None:
        items["likely"] = _likely(report.likeliest, positions)
    if view is not None:
        items |= view.cards(report, positions)
    return {
        "title": about.title,
        "kind": about.kind,
        "label": about.label_name,
        "id": about.id_name,
        "fingerprint": about.fingerprint or fingerprint_of_report(report, about),
        "classes": [str(label) for label in report.classes],
        "items": items,
        "epochs": None if report.trajectories is None else report.trajectories.shape[1],
        "isPictures": "image" in items and not {"text", "features"} & {*items},
        "similar": _similar(report, about, view, selection.suspects, items),
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
    }


def _similar(
    report: Any,
    about: About,
    view: SampleView | None,
    suspects: Positions,
    items: dict[str, list[Any]],
) -> list[Any]:
    if view is None:
        return []
    return similar_samples(report, view, suspects, items, partial(name_of, about))


def for_script(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data without the names that the script makes of ids and rows."""
    items = dict(data["items"])
    names = [f"row {row}" for row in items["row"]]
    if "id" in items:
        pairs = zip(items["id"], names, strict=True)
        names = [f"{value} · {name}" for value, name in pairs]
    if items["name"] == names:
        del items["name"]
    return data | {"items": items}


def row_of(about: About, position: int) -> int:
    """Return the row of a sample in the input."""
    return int(position if about.rows is None else about.rows[position])


def name_of(about: About, position: int) -> str:
    """Return what a sample is called on the page: its id comes first."""
    if about.names is None and about.ids is not None:
        return f"{about.ids[position]} · row {row_of(about, position)}"
    return _known_as(about, position)


def _known_as(about: About, position: int) -> str:
    if about.names is None:
        return f"row {row_of(about, position)}"
    return str(about.names[position])


def with_index(about: About, index: Any) -> About:
    """Return the same with ids by the index of a report, if it tells samples apart."""
    is_known = about.ids is not None or about.names is not None
    if is_known or about.rows is not None or index is None:
        return about
    ids = [str(value) for value in index]
    if len(set(ids)) < len(ids) or ids == [str(i) for i in range(len(ids))]:
        return about
    name = "index" if index.name is None else str(index.name)
    return replace(about, ids=ids, id_name=name)


def _likely(likeliest: Likeliest, positions: Positions) -> list[list[int]]:
    """Return the most probable classes: class, probability in 1/1000, and so on."""
    classes = likeliest.classes[positions].tolist()
    parts = (1000 * likeliest.probability[positions]).round().astype(int).tolist()
    return [
        [number for pair in zip(*row, strict=True) if pair[1] for number in pair]
        for row in zip(classes, parts, strict=True)
    ]


def fingerprint_of_report(report: Any, about: About) -> str:
    """Return a hash of the given labels and the names of the samples."""
    content = hashlib.sha256()
    labels = [str(label) for label in report.classes]
    for position, code in enumerate(report.given.tolist()):
        content.update(f"{_known_as(about, position)}\0{labels[code]}\0".encode())
    return content.hexdigest()
