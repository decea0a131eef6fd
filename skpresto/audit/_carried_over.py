"""Decisions that are carried over to corrected or reordered data, by their ids."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from skpresto._labels import shortened
from skpresto.audit._decisions import Decision, Decisions


def carried_over(
    decisions: Decisions,
    fingerprint: str,
    labels: Sequence[str | None],
    ids: Callable[[], Sequence[str]],
    path: Any,
) -> Decisions:
    """Return decisions with the rows of some data, which need not be that audited.

    Rows of the audited data itself are known. Of other data, they are found by their
    ids, and decisions are left out whose row is not there, or has another label now.

    Parameters
    ----------
    decisions : Decisions
        What was decided.
    fingerprint : str
        Of the data.
    labels : sequence of str or None
        The label of each row.
    ids : callable
        Returns what identifies each row; called if it is needed.
    path : Path
        The data, for error messages.
    """
    is_audited = fingerprint == decisions.fingerprint
    if is_audited and all(decision.row is not None for decision in decisions.made):
        return decisions
    known = ids()
    n_rows = Counter(known)
    row_of = {value: row for row, value in enumerate(known)}
    placed: list[Decision] = []
    absent: list[str] = []
    changed: list[str] = []
    for decision in decisions.made:
        row, name = decision.row, decision.id or f"row {decision.row}"
        if not is_audited or row is None:
            row = row_of.get(str(decision.id)) if decision.id is not None else None
            if row is None:
                absent.append(name)
                continue
            if n_rows[name] > 1:
                raise ValueError(
                    f"{path} has the id {name!r} in {n_rows[name]} rows, so that it is "
                    f"not clear to which {decisions.path} refers. Nothing was written. "
                    "Ids need to be different."
                )
            found = labels[row]
            if found is None or found not in (decision.given, decision.label):
                changed.append(name)
                continue
            decision = replace(decision, row=row, given=found)
        placed.append(decision)
    if decisions.made and len(absent) == len(decisions.made):
        raise ValueError(
            f"{path} has none of the ids that {decisions.path} is about, such as "
            f"{absent[0]!r}. It is other data. Nothing was "
            "written."
        )
    left_out = _sentences(absent, "not in the data") + _sentences(
        changed, "neither the label that was given nor the one that was decided"
    )
    return replace(decisions, made=tuple(placed), left_out=left_out)


def _sentences(ids: list[str], reason: str) -> tuple[str, ...]:
    if not ids:
        return ()
    return (f"Left out, {reason}: {len(ids):,} ({shortened(list(map(repr, ids)))}).",)
