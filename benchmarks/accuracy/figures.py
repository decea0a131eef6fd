"""Draw the results of a benchmark: the paper's figures 4 to 6, and what was repaired.

python benchmarks/accuracy/figures.py benchmarks/accuracy/results/laptop.jsonl
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import results
from cells import INJECTED
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from summary import CONTENDERS, DEFAULT, LIMIT, Contender, Row, Summary, prestopping
from tables import Q_GRID, name_of

from skpresto.plots import HistoryLengthDisplay, NoiseRateCurveDisplay
from skpresto.plots._axes import line_style

#: Ours first, so that they have the same colours in every figure.
ORDER = tuple(reversed(CONTENDERS))
FOLDER = Path(__file__).parents[2] / "docs" / "figures"


def noise_rates(summary: Summary) -> Figure | None:
    """Return test error against injected noise, a panel a data set and kind."""
    injected = [row for row in summary.rows if row.noise in INJECTED]
    by_data: dict[str, list[Row]] = {}
    for row in injected:
        by_data.setdefault(row.data, []).append(row)
    # A line needs more than one rate.
    shown = {d: rows for d, rows in by_data.items() if len({r.rate for r in rows}) > 1}
    if not shown:
        return None
    figure, axes = plt.subplots(
        len(shown),
        len(INJECTED),
        figsize=(9.5, 3.4 * len(shown)),
        layout="constrained",
        squeeze=False,
    )
    for line, (data, rows) in zip(axes, shown.items(), strict=True):
        clean = [row for row in summary.rows if row.data == data and not row.is_noisy]
        for ax, noise in zip(line, INJECTED, strict=True):
            wanted = clean + [row for row in rows if row.noise == noise]
            ax.set_title(f"{data}, {noise} noise")
            if runs := _runs(summary, wanted):
                NoiseRateCurveDisplay.from_results(runs, ax=ax)
                _drop_legend(ax)
    handles, labels = max(
        (ax.get_legend_handles_labels() for ax in axes.flat), key=lambda h: len(h[1])
    )
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _runs(summary: Summary, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return one entry a training, as the Displays want it."""
    return [
        {"method": c.method, "rate": row.rate, "seed": seed, "error": error}
        for c in ORDER
        for row in sorted(rows, key=lambda row: row.rate or 0)
        for seed, error in summary.values(row, c).items()
    ]


def real_noise(summary: Summary) -> Figure | None:
    """Return test error under labels that people and rules got wrong."""
    rows = [r for r in summary.rows if r.is_noisy and r.noise not in INJECTED]
    if not rows:
        return None

    def error(row: Row, contender: Contender) -> tuple[float, float] | None:
        found = summary.estimate(row, contender)
        return found and (found.mean, found.error or 0.0)

    figure, ax = _dots(summary, rows, (*ORDER, LIMIT), error)
    ax.set_xlabel("test error after the last epoch, with its standard error")
    return figure


def damage(summary: Summary) -> Figure | None:
    """Return which share of the damage each method repairs, on every noisy row."""
    repairs = {c: summary.repairs(c) for c in ORDER if c != DEFAULT}
    # Where there is hardly any damage, a share of it is chance.
    rows = [
        row
        for row in summary.rows
        if (found := summary.repair(row, DEFAULT)) and found.share is not None
    ]
    if not rows:
        return None

    def share(row: Row, contender: Contender) -> tuple[float, float] | None:
        repair = repairs[contender].get(row)
        return None if repair is None or repair.share is None else (repair.share, 0.0)

    figure, ax = _dots(summary, rows, tuple(repairs), share)
    ax.axvline(0, color="grey", lw=1)
    ax.axvline(1, color="grey", lw=1)
    ax.set_xlim(-1, 1.9)
    ax.set_xlabel(
        "damage repaired: 0 % is plain training, 100 % training on right labels only"
    )
    return figure


def _dots(
    summary: Summary,
    rows: Sequence[Row],
    contenders: Sequence[Contender],
    value_of: Callable[[Row, Contender], tuple[float, float] | None],
) -> tuple[Figure, Any]:
    """Return a figure with a line a row and a mark a contender."""
    size = (9.5, 1.6 + 0.34 * len(rows))
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    for number, contender in enumerate(contenders):
        found = [(y, value_of(row, contender)) for y, row in enumerate(rows)]
        known = [(y, *value) for y, value in found if value is not None]
        if known:
            y, x, error = zip(*known, strict=True)
            style = {**line_style(number), "linestyle": "none"}
            if number >= 7:  # colours and marks come again: hollow
                style["markerfacecolor"] = "white"
            is_ours = contender.method.startswith("Prestopping")
            size = 8 if is_ours else 5
            ax.errorbar(
                x, y, xerr=error, label=contender.method, markersize=size, **style
            )
    ax.set_yticks(range(len(rows)), [name_of(row, summary) for row in rows])
    ax.invert_yaxis()
    ax.grid(axis="y", alpha=0.3)
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


def _drop_legend(ax: Any) -> None:
    if ax.get_legend():
        ax.get_legend().remove()


FIGURES = (noise_rates, real_noise, damage, history_lengths)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what the results are enough for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    args = parser.parse_args(arguments)
    matplotlib.use("Agg")  # draws into files, needs no screen
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
