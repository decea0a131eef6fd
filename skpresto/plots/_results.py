"""Results of many trainings: read, averaged by group, drawn as lines."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from skpresto.plots._axes import line_style


def rows_of(results: Any, needs: Sequence[str], owner: str) -> list[dict[str, Any]]:
    """Return results as a list of dicts, or say what they lack.

    Parameters
    ----------
    results : DataFrame or iterable of dicts
        One row a training.
    needs : sequence of str
        Columns that every row must have, ``"error"`` among them.
    owner : str
        Who asks.
    """
    if hasattr(results, "to_dict"):
        results = results.to_dict("records")
    rows = [dict(row) for row in _iterable(results, owner)]
    if not rows:
        raise ValueError(
            f"{owner} needs at least one result, but got none. Pass a row for each "
            f"training, with {_listed(needs)}."
        )
    for number, row in enumerate(rows):
        _check_row(row, number, needs, owner)
    return rows


def _iterable(results: Any, owner: str) -> Iterable[Any]:
    if isinstance(results, Iterable) and not isinstance(results, (str, dict)):
        return results
    raise TypeError(
        f"{owner} needs results as a DataFrame or a list of dicts, one a training, but "
        f"got {type(results).__name__}."
    )


def _check_row(
    row: dict[str, Any], number: int, needs: Sequence[str], owner: str
) -> None:
    missing = [name for name in needs if name not in row]
    if missing:
        raise ValueError(
            f"{owner} needs {_listed(needs)} in every result, but result {number} has "
            f"no {_listed(missing)}; it has {_listed(list(row)) or 'nothing'}. Rename "
            "what is called otherwise."
        )
    if not 0 <= row["error"] <= 1:
        raise ValueError(
            f"{owner} needs errors as shares between 0 and 1, but result {number} has "
            f"an error of {row['error']}. Divide per cent by 100, and leave out "
            "trainings that failed."
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)


def mean_errors(
    rows: Sequence[dict[str, Any]], by: Sequence[str]
) -> dict[str, list[Any]]:
    """Return columns: the groups in order of appearance, and what their errors are.

    The standard error is that of the mean, nan for a single training.
    """
    groups: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row["error"])
    columns = {name: [key[i] for key in groups] for i, name in enumerate(by)}
    return {
        **columns,
        "error": [float(np.mean(errors)) for errors in groups.values()],
        "std_error": [_standard_error(errors) for errors in groups.values()],
        "n_trainings": [len(errors) for errors in groups.values()],
    }


def _standard_error(errors: Sequence[float]) -> float:
    if len(errors) == 1:
        return float("nan")
    return float(np.std(errors, ddof=1) / np.sqrt(len(errors)))


def draw_lines(ax: Any, columns: dict[str, list[Any]], line: str, x: str) -> int:
    """Draw a line with error bars for each value of ``line``; return their number."""
    names = list(dict.fromkeys(columns[line]))
    for number, name in enumerate(names):
        at = [i for i, other in enumerate(columns[line]) if other == name]
        at.sort(key=lambda i: columns[x][i])
        ax.errorbar(
            [columns[x][i] for i in at],
            [columns["error"][i] for i in at],
            # A single training has no standard error: no bar.
            yerr=np.nan_to_num([columns["std_error"][i] for i in at]),
            label=str(name),
            capsize=3,
            markersize=5,
            **line_style(number),
        )
    return len(names)
