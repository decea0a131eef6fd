"""Validation, averaging and plotting of the results of several trainings."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from skpresto.plots._axes import line_style


def rows_of(results: Any, needs: Sequence[str], owner: str) -> list[dict[str, Any]]:
    """Return results as a list of dicts, after checking that they are complete.

    Parameters
    ----------
    results : DataFrame or iterable of dicts
        One row per training.
    needs : sequence of str
        Required columns, including ``"error"``.
    owner : str
        Name to use in error messages.
    """
    if hasattr(results, "to_dict"):
        results = results.to_dict("records")
    rows = [dict(row) for row in _iterable(results, owner)]
    if not rows:
        raise ValueError(
            f"{owner} needs at least one result, but got none. Pass one row per "
            f"training, with {_listed(needs)}."
        )
    for number, row in enumerate(rows):
        _check_row(row, number, needs, owner)
    return rows


def _iterable(results: Any, owner: str) -> Iterable[Any]:
    if isinstance(results, Iterable) and not isinstance(results, (str, dict)):
        return results
    raise TypeError(
        f"{owner} needs results as a DataFrame or a list of dicts, one per training, "
        f"but got {type(results).__name__}."
    )


def _check_row(
    row: dict[str, Any], number: int, needs: Sequence[str], owner: str
) -> None:
    missing = [name for name in needs if name not in row]
    if missing:
        raise ValueError(
            f"{owner} needs {_listed(needs)} in every result, but result {number} has "
            f"no {_listed(missing)}; it has {_listed(list(row)) or 'no columns'}. Add "
            "or rename columns."
        )
    if not 0 <= row["error"] <= 1:
        raise ValueError(
            f"{owner} needs errors as fractions between 0 and 1, but result {number} "
            f"has an error of {row['error']}. Divide percentages by 100, and remove "
            "failed trainings."
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)


def mean_errors(
    rows: Sequence[dict[str, Any]], by: Sequence[str]
) -> dict[str, list[Any]]:
    """Return columns with the mean error per group, in order of appearance.

    The standard error is that of the mean, and nan for a single training.
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
    """Plot a line with error bars per value of ``line``; return the number of lines."""
    names = list(dict.fromkeys(columns[line]))
    for number, name in enumerate(names):
        at = [i for i, other in enumerate(columns[line]) if other == name]
        at.sort(key=lambda i: columns[x][i])
        ax.errorbar(
            [columns[x][i] for i in at],
            [columns["error"][i] for i in at],
            # A single training has no standard error and gets no error bar.
            yerr=np.nan_to_num([columns["std_error"][i] for i in at]),
            label=str(name),
            capsize=3,
            markersize=5,
            **line_style(number),
        )
    return len(names)
