"""What the template shows: headline, classes, confusions, and the first suspects."""

from datetime import datetime
from typing import Any

import numpy as np

import skpresto
from skpresto.audit._page.about import About
from skpresto.audit._page.sparkline import line_points
from skpresto.audit._sentences import about_suspects, rests_on, why_not
from skpresto.noise._counts import joint_counts

#: Suspects per page of the list, and those that are readable without JavaScript.
PAGE_SIZE = 25
#: Classes of the matrix; of more classes, those with most suspects are shown.
_MOST_CLASSES = 24
_N_SHADES = 6
_NUMBERS_TO_REVIEW = (10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000)
#: Size of the curve of expected errors.
_WIDTH, _HEIGHT = 320, 150


def page_context(report: Any, about: About, data: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the template."""
    summary = report.summary()
    return {
        "about": about,
        "version": skpresto.__version__,
        "made": datetime.now().astimezone().strftime("%d %B %Y, %H:%M"),
        "summary": summary,
        "class_names": data["classes"],
        "sentences": {
            "cannot_tell": "" if summary.is_known else _because(summary),
            "suspects": about_suspects(summary),
            "rests_on": rests_on(summary),
        },
        "class_order": _class_order(summary),
        "matrix": _matrix(report),
        "review": _review_numbers(report, data["nSuspects"]),
        "data": data,
        "first": [_card(data, i) for i in data["suspects"][:PAGE_SIZE]],
        "blank": _blank(data),
    }


def _because(summary: Any) -> str:
    reason = why_not(summary)
    return reason[0].upper() + reason[1:]


def _class_order(summary: Any) -> list[int]:
    """Return the numbers of the classes, those with most confusions first."""
    number = {id(c): i for i, c in enumerate(summary.by_class)}
    return [number[id(c)] for c in summary.worst_first()]


def _card(data: dict[str, Any], item: int) -> dict[str, Any]:
    card = {name: values[item] for name, values in data["items"].items()}
    card["given"] = data["classes"][card["given"]]
    card["suggested"] = data["classes"][card["suggested"]]
    if "line" in card:
        card["points"] = line_points(card["line"])
    return card


def _blank(data: dict[str, Any]) -> dict[str, Any]:
    """Return a card without content, which the script copies."""
    blank: dict[str, Any] = dict.fromkeys(data["items"])
    return blank | ({"points": ""} if "line" in blank else {}) | {"quality": ""}


def _matrix(report: Any) -> dict[str, Any]:
    """Return the number of suspects by given and suggested class, with shades."""
    among = report.is_suspect
    counts = joint_counts(
        report.given[among], report.suggested[among], len(report.classes)
    ).astype(int)
    involved = counts.sum(axis=0) + counts.sum(axis=1)
    shown = np.sort(np.argsort(-involved, kind="stable")[:_MOST_CLASSES])
    part = counts[np.ix_(shown, shown)]
    shades = np.ceil(np.sqrt(part / max(part.max(), 1)) * _N_SHADES).astype(int)
    return {
        "classes": shown.tolist(),
        "counts": part.tolist(),
        "shades": shades.tolist(),
        "n_hidden": len(counts) - len(shown),
    }


def _review_numbers(report: Any, n_suspects: int) -> dict[str, Any]:
    """Return how many of the first labels are wrong, as a table and as a curve."""
    end = min(max(2 * n_suspects, 20), len(report))
    numbers = [n for n in _NUMBERS_TO_REVIEW if n < end]
    total = max(report.expected_errors().expected, 1e-9)
    found = [(n, report.expected_errors(n)) for n in (*numbers, end)]
    table = [(n, errors, min(errors.expected / total, 1.0)) for n, errors in found]
    steps = np.unique(np.linspace(0, end, 61).round().astype(int))
    estimates = np.array([report.expected_errors(int(n)) for n in steps])
    highest = max(float(estimates[:, 2].max()), 1.0)
    x = _WIDTH * steps / end
    y = _HEIGHT * (1 - estimates / highest)
    upper = [f"{a:.1f},{b:.1f}" for a, b in zip(x, y[:, 2], strict=True)]
    lower = [f"{a:.1f},{b:.1f}" for a, b in zip(x, y[:, 1], strict=True)]
    return {
        "table": table,
        "n_suspects": n_suspects,
        "band": " ".join(upper + lower[::-1]),
        "curve": " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y[:, 0], strict=True)),
        "mark": f"{_WIDTH * n_suspects / end:.1f}",
        "width": _WIDTH,
        "height": _HEIGHT,
        "end": end,
        "highest": highest,
    }
