"""Decisions that were exported from the page."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any

from skpresto.audit._sources.base import nearest_name

FORMAT = "skpresto decisions"
#: Version 2 has spellings; version 3 ids, discarded rows, new classes and reviewers.
VERSIONS = (1, 2, 3)


@dataclass(frozen=True)
class Decision:
    """What a person decided about one label.

    Parameters
    ----------
    row : int or None
        Row of the audited data; None if only the id is known.
    given : str
        The given label.
    label : str or None
        The decided label; None if unsure or discarded.
    id : str or None
        What identifies the row in other files, too.
    is_discarded : bool, default=False
        Whether the row is to be left out of the data.
    """

    row: int | None
    given: str
    label: str | None
    id: str | None = None
    is_discarded: bool = False


@dataclass(frozen=True)
class Decisions:
    """What a person decided about labels.

    Parameters
    ----------
    path : Path
        The file that they were read from.
    source : str
        Name of the data.
    kind : str
        "table", "images" or "samples".
    label : str or None
        The label column.
    fingerprint : str
        Identifies the content of the data.
    made : tuple of Decision
        One for each label that was decided.
    id_name : str or None
        The column of the ids; None if rows are known by their position alone.
    new_classes : tuple of str
        Decided labels that were made a class on the page.
    spellings : dict of str to str
        The class as which a spelling is written, wherever it occurs.
    checked : dict of int to bool
        Rows of the control sample that were decided there, and whether their label is
        wrong.
    left_out : tuple of str
        Sentences about decisions that do not fit the data they are carried over to.
    """

    path: Path
    source: str
    kind: str
    label: str | None
    fingerprint: str
    made: tuple[Decision, ...]
    id_name: str | None = None
    new_classes: tuple[str, ...] = ()
    spellings: dict[str, str] = field(default_factory=dict)
    checked: dict[int, bool] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def changes(self) -> dict[int, tuple[str, str]]:
        """Given and new label by row, where they differ."""
        return {
            d.row: (d.given, d.label)
            for d in self.made
            if d.row is not None and d.label is not None and d.label != d.given
        }

    @property
    def discarded(self) -> set[int]:
        """Rows to be left out of the data."""
        return {d.row for d in self.made if d.is_discarded and d.row is not None}

    @property
    def n_kept(self) -> int:
        """Number of labels that were kept."""
        return sum(d.label == d.given for d in self.made)

    @property
    def n_unsure(self) -> int:
        """Number of labels that nobody was sure about."""
        return sum(d.label is None and not d.is_discarded for d in self.made)

    def of_all_rows(self, labels: Sequence[str | None]) -> dict[int, str]:
        """Return the new label of each row that gets one.

        Parameters
        ----------
        labels : sequence of str or None
            The label of each row.
        """
        respelled = {
            row: self.spellings[label]
            for row, label in enumerate(labels)
            if label is not None and label in self.spellings
        }
        return respelled | {row: label for row, (_, label) in self.changes.items()}

    def check_fingerprint(self, fingerprint: str, path: Any) -> None:
        """Raise if the decisions are about other data."""
        if fingerprint != self.fingerprint:
            raise ValueError(
                f"{self.path} holds decisions about {self.source!r} with the "
                f"fingerprint {self.fingerprint[:12]}, but {path} has the fingerprint "
                f"{fingerprint[:12]}: it is other data, or was changed since the "
                "audit. Apply them to the data that was audited, or audit it again."
            )

    def check_labels(
        self, labels: Sequence[str | None], path: Any, new_classes: Sequence[str]
    ) -> None:
        """Raise unless the decisions fit the labels of the data.

        Parameters
        ----------
        labels : sequence of str or None
            The label of each row; None where it is missing.
        path : Path
            The data, for error messages.
        new_classes : sequence of str
            Classes that may be decided on beside those of the data, and those that
            were made on the page.
        """
        classes = dict.fromkeys(label for label in labels if label is not None)
        known = {*classes, *new_classes, *self.new_classes}
        for decision in self.made:
            row, given, label = decision.row, decision.given, decision.label
            if row is None or not (decision.is_discarded or label not in (None, given)):
                continue
            found = labels[row] if row < len(labels) else "no such row"
            if row >= len(labels) or found != given:
                raise ValueError(
                    f"{self.path} says that row {row} of {path} has the label "
                    f"{given!r}, but it has {found!r}. Nothing was written. Export the "
                    "decisions again."
                )
            if label is not None and label not in known:
                subject = f"row {row} of {path}"
                raise self._unknown_label(label, subject, [*classes])
        for spelling, label in self.spellings.items():
            if label not in classes:
                subject = f"rows with the label {spelling!r} of {path}"
                raise self._unknown_label(label, subject, [*classes])

    def _unknown_label(self, label: str, subject: str, classes: list[str]) -> Exception:
        return ValueError(
            f"{self.path} gives {subject} the label {label!r}, which is no class of "
            f"it. {nearest_name(label, classes, 'classes')} Correct the decision, or "
            f"pass --new-class {shlex.quote(label)} if it is a new class. Nothing was "
            "written."
        )


def read_decisions(path: Path) -> Decisions:
    """Read decisions, and raise if the file does not hold any."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"{path} cannot be read as JSON: {error}. Export the decisions as JSON."
        ) from None
    if isinstance(content, list):
        content = _of_label_studio(path, content)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(
            f"{path} does not hold decisions. Export them as JSON from the page that "
            "'skpresto audit' writes, or from Label Studio, in the format 'JSON'."
        )
    if content.get("version") not in VERSIONS:
        raise ValueError(
            f"{path} has version {content.get('version')!r} of the format, but this "
            f"release reads version {VERSIONS[-1]}. Use the release that made the page."
        )
    try:
        return _parsed(path, content)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(
            f"{path} is not complete, or was changed by hand. Export the decisions "
            "again."
        ) from None


def _of_label_studio(path: Path, tasks: list[Any]) -> dict[str, Any] | None:
    """Return the decisions in an export of Label Studio; None if it is another file."""
    from skpresto.audit._tools.label_studio import decisions_of

    try:
        return decisions_of(tasks)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise ValueError(
            f"{path} is an export of Label Studio that does not fit the labeling "
            "config of 'skpresto audit --label-studio', or was changed by hand."
        ) from None


def _parsed(path: Path, content: dict[str, Any]) -> Decisions:
    made = tuple(map(_decision, content["decisions"]))
    for known in ([d.row for d in made], [d.id for d in made]):
        found = [value for value in known if value is not None]
        if len(set(found)) < len(found):
            raise ValueError  # two decisions about a row may contradict each other
    return Decisions(
        path=path,
        source=str(content["source"]),
        kind=str(content["kind"]),
        label=_text(content["label"]),
        fingerprint=str(content["fingerprint"]),
        made=made,
        id_name=_text(content.get("id")),
        new_classes=tuple(map(str, content.get("new_classes", []))),
        checked={
            index(d["row"]): bool(d["wrong"])
            for d in content["decisions"]
            if d.get("wrong") is not None
        },
        spellings={
            str(pair["given"]): str(pair["label"])
            for pair in content.get("spellings", [])
        },
    )


def _decision(entry: dict[str, Any]) -> Decision:
    row = None if entry["row"] is None else index(entry["row"])
    if (row is None and entry.get("id") is None) or (row is not None and row < 0):
        raise ValueError
    return Decision(
        row=row,
        given=str(entry["given"]),
        label=_text(entry["label"]),
        id=_text(entry.get("id")),
        is_discarded=entry.get("decision") == "discard",
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
