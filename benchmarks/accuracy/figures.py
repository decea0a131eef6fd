"""Draw the results of a benchmark: the paper's figures 4 to 6, and the gap closed.

python benchmarks/accuracy/figures.py benchmarks/accuracy/results/laptop.jsonl
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import results
from cells import CLASS_NOISE, INJECTED
from layout import name_of
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from summary import (
    CONTENDERS,
    DEFAULT,
    PRESTOPPING_METHODS,
    REFERENCE,
    Contender,
    Row,
    Summary,
    prestopping,
)
from tables import Q_GRID

from skpresto.plots import HistoryLengthDisplay, NoiseRateCurveDisplay
from skpresto.plots._axes import line_style

#: Prestopping methods first; a method has the same color in every figure.
ORDER = tuple(reversed(CONTENDERS))
FOLDER = Path(__file__).parents[2] / "docs" / "figures"
#: Plain training is grey: there are seven colors for the other methods.
GREY = {
    DEFAULT.method: {"color": "0.45", "marker": "o"},
    REFERENCE.method: {"color": "0.45", "marker": "s"},
}


def noise_rates(summary: Summary) -> Figure | None:
    """Return test error against injected noise, one panel per data set and kind."""
    injected = [row for row in summary.rows if row.noise in CLASS_NOISE]
    by_data: dict[str, list[Row]] = {}
    for row in injected:
        by_data.setdefault(row.data, []).append(row)
    # A line needs more than one rate.
    shown = {d: rows for d, rows in by_data.items() if len({r.rate for r in rows}) > 1}
    if not shown:
        return None
    figure, axes = plt.subplots(
        len(shown),
        len(CLASS_NOISE),
        figsize=(9.5, 3.8 * len(shown)),
        layout="constrained",
        squeeze=False,
    )
    for line, (data, rows) in zip(axes, shown.items(), strict=True):
        clean = [row for row in summary.rows if row.data == data and not row.is_noisy]
        for ax, noise in zip(line, CLASS_NOISE, strict=True):
            wanted = clean + [row for row in rows if row.noise == noise]
            ax.set_title(f"{data}, {noise} noise")
            if runs := _runs(summary, wanted):
                NoiseRateCurveDisplay.from_results(runs, ax=ax)
                _tidy(ax)
    handles, labels = max(
        (ax.get_legend_handles_labels() for ax in axes.flat), key=lambda h: len(h[1])
    )
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _runs(summary: Summary, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return one entry per fit, as the displays expect it."""
    return [
        {"method": c.method, "rate": row.rate, "seed": seed, "error": error}
        for c in ORDER
        for row in sorted(rows, key=lambda row: row.rate or 0)
        for seed, error in summary.values(row, c).items()
    ]


def _tidy(ax: Any) -> None:
    """Draw Default in grey; remove the legend and the space below the lines."""
    for container in ax.containers:
        if container.get_label() == DEFAULT.method:
            for part in matplotlib.cbook.flatten(container):
                part.set(color=GREY[DEFAULT.method]["color"])
            for cap in container.lines[1]:
                cap.set_markeredgecolor(GREY[DEFAULT.method]["color"])
    if ax.get_legend():
        ax.get_legend().remove()
    lowest = min(np.min(line.get_ydata()) for line in ax.get_lines())
    ax.set_ylim(bottom=0.85 * lowest)


def real_noise(summary: Summary) -> Figure | None:
    """Return the test error with real noisy labels."""
    rows = [r for r in summary.rows if r.is_noisy and r.noise not in INJECTED]
    if not rows:
        return None

    def error(row: Row, contender: Contender) -> tuple[float, float] | None:
        found = summary.estimate(row, contender)
        return found and (found.mean, found.error or 0.0)

    figure, ax = _dots(summary, rows, (*ORDER, REFERENCE), error)
    ax.set_xlabel("test error after the last epoch (bars: standard error)")
    return figure


def gap_closed(summary: Summary) -> Figure | None:
    """Return the fraction of the gap that each method closes, on every noisy row."""
    gaps = {c: summary.gaps(c) for c in ORDER if c != DEFAULT}
    # Fractions of very small gaps are mostly chance.
    rows = [
        row
        for row in summary.rows
        if (found := summary.gap(row, DEFAULT)) and found.fraction is not None
    ]
    if not rows:
        return None

    def fraction(row: Row, contender: Contender) -> tuple[float, float] | None:
        gap = gaps[contender].get(row)
        return None if gap is None or gap.fraction is None else (gap.fraction, 0.0)

    figure, ax = _dots(summary, rows, tuple(gaps), fraction)
    ax.axvline(0, color="grey", lw=1)
    ax.axvline(1, color="grey", lw=1)
    ax.set_xlim(-1, 2.15)
    ax.set_xlabel(
        "gap closed: 0 % is training on all labels, 100 % on the correct labels only"
    )
    return figure


def _dots(
    summary: Summary,
    rows: Sequence[Row],
    contenders: Sequence[Contender],
    value_of: Callable[[Row, Contender], tuple[float, float] | None],
) -> tuple[Figure, Any]:
    """Return a figure with one band per row and one marker per contender."""
    size = (9.5, 1.6 + 0.075 * len(contenders) * len(rows))
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    # Markers of a row are drawn below each other, so that none covers another one.
    offsets = np.linspace(-0.38, 0.38, len(contenders))
    for number, (contender, offset) in enumerate(zip(contenders, offsets, strict=True)):
        found = [(y + offset, value_of(row, contender)) for y, row in enumerate(rows)]
        known = [(y, *value) for y, value in found if value is not None]
        if known:
            y, x, error = zip(*known, strict=True)
            style = GREY.get(contender.method) or line_style(number)
            style = {**style, "linestyle": "none", "label": contender.method}
            size = 6 if contender in PRESTOPPING_METHODS else 4.5
            ax.errorbar(x, y, xerr=error, markersize=size, **style)
    for band in range(0, len(rows), 2):
        ax.axhspan(band - 0.5, band + 0.5, color="0.95", zorder=0)
    ax.set_yticks(range(len(rows)), [name_of(row, summary) for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    figure.legend(loc="outside lower center", ncols=5)
    return figure, ax


def history_lengths(summary: Summary) -> Figure | None:
    """Return test error against q."""
    runs = [
        {"noise": name_of(row, summary), "q": q, "seed": seed, "error": error}
        for row in summary.rows
        if summary.values(row, prestopping(q=1))
        for q in Q_GRID
        for seed, error in summary.values(row, prestopping(q=q)).items()
    ]
    if not runs:
        return None
    figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    HistoryLengthDisplay.from_results(runs, ax=ax)
    return figure


FIGURES = (noise_rates, real_noise, gap_closed, history_lengths)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the figures that there are results for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    args = parser.parse_args(arguments)
    matplotlib.use("Agg")  # no display is needed
    args.folder.mkdir(parents=True, exist_ok=True)
    summary = Summary(results.read(args.results).values())
    for draw in FIGURES:
        if (figure := draw(summary)) is not None:
            path = args.folder / f"benchmark_{draw.__name__}.png"
            figure.savefig(path, dpi=100)
            plt.close(figure)
            print(path.name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
