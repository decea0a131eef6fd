"""Draw the results of a benchmark: the paper's figures 4 to 6, and the gap closed.

python benchmarks/accuracy/figures.py benchmarks/accuracy/results/laptop.jsonl
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cells import CLASS_NOISE, CLEAN, INJECTED
from contenders import CLEAN_SUBSET, DEFAULT, DEFAULT_RULE, PRESTOPPING
from fits import Gaps, Means, by_seed, read_fits, with_default_rule
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from tables import CONTENDERS, PRESTOPPING_METHODS, Q_GRID, means_of

from skpresto.plots import HistoryLengthDisplay, NoiseRateCurveDisplay
from skpresto.plots._axes import line_style

#: Prestopping methods first; a method has the same color in every figure.
ORDER = list(reversed(CONTENDERS))
FOLDER = Path(__file__).parents[2] / "docs" / "figures"
#: Plain training is grey: there are seven colors for the other methods.
GREY = {
    DEFAULT: {"color": "0.45", "marker": "o"},
    CLEAN_SUBSET: {"color": "0.45", "marker": "s"},
}


def noise_rates(fits: pd.DataFrame) -> Figure | None:
    """Return test error against injected noise, one panel per data set and kind."""
    injected = fits[fits["noise"].isin(CLASS_NOISE)]
    n_rates = injected.sort_values("row").groupby("data", sort=False)["rate"].nunique()
    shown = n_rates.index[n_rates > 1]  # a line needs more than one rate
    if shown.empty:
        return None
    figure, axes = plt.subplots(
        len(shown),
        len(CLASS_NOISE),
        figsize=(9.5, 3.8 * len(shown)),
        layout="constrained",
        squeeze=False,
    )
    runs = with_default_rule(fits[fits["method"].isin(ORDER)])
    # Lines are drawn in the order of methods.
    order = runs["method"].map(ORDER.index)
    runs = runs.assign(order=order, error=runs["error_last"])
    runs = runs.sort_values(["order", "rate", "seed"])
    for line, data in zip(axes, shown, strict=True):
        for ax, noise in zip(line, CLASS_NOISE, strict=True):
            ax.set_title(f"{data}, {noise} noise")
            own = runs[(runs["data"] == data) & runs["noise"].isin([noise, CLEAN])]
            if not own.empty:
                NoiseRateCurveDisplay.from_results(own, ax=ax)
                _tidy(ax)
    handles, labels = max(
        (ax.get_legend_handles_labels() for ax in axes.flat), key=lambda h: len(h[1])
    )
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _tidy(ax: Any) -> None:
    """Draw Default in grey; remove the legend and the space below the lines."""
    for container in ax.containers:
        if container.get_label() == DEFAULT:
            for part in matplotlib.cbook.flatten(container):
                part.set(color=GREY[DEFAULT]["color"])
            for cap in container.lines[1]:
                cap.set_markeredgecolor(GREY[DEFAULT]["color"])
    if ax.get_legend():
        ax.get_legend().remove()
    lowest = min(np.min(line.get_ydata()) for line in ax.get_lines())
    ax.set_ylim(bottom=0.85 * lowest)


def real_noise(fits: pd.DataFrame) -> Figure | None:
    """Return the test error with real noisy labels."""
    real = fits[fits["is_noisy"] & ~fits["noise"].isin(INJECTED)]
    if real.empty:
        return None
    figure, ax = _dots(means_of(real, [*ORDER, CLEAN_SUBSET]))
    ax.set_xlabel("test error after the last epoch (bars: standard error)")
    return figure


def gap_closed(fits: pd.DataFrame) -> Figure | None:
    """Return the fraction of the gap that each method closes, on every noisy row."""
    fraction = Gaps.of(by_seed(with_default_rule(fits))).fraction
    # Fractions of very small gaps are mostly chance.
    fraction = fraction[fraction[DEFAULT].notna()]
    if fraction.empty:
        return None
    fraction = fraction.reindex(columns=[name for name in ORDER if name != DEFAULT])
    figure, ax = _dots(Means(fraction, 0 * fraction))
    ax.axvline(0, color="grey", lw=1)
    ax.axvline(1, color="grey", lw=1)
    ax.set_xlim(-1, 2.15)
    ax.set_xlabel(
        "gap closed: 0 % is training on all labels, 100 % on the correct labels only"
    )
    return figure


def _dots(means: Means) -> tuple[Figure, Any]:
    """Return a figure with one band per row and one marker per method."""
    rows, methods = means.mean.axes
    size = (9.5, 1.6 + 0.075 * len(methods) * len(rows))
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    # Markers of a row are drawn below each other, so that none covers another one.
    offsets = np.linspace(-0.38, 0.38, len(methods))
    for number, (method, offset) in enumerate(zip(methods, offsets, strict=True)):
        is_known = means.mean[method].notna()
        if is_known.any():
            y = np.flatnonzero(is_known) + offset
            x, error = (part.loc[is_known, method].fillna(0) for part in means)
            style = GREY.get(method) or line_style(number)
            style = {**style, "linestyle": "none", "label": method}
            size = 6 if method in PRESTOPPING_METHODS else 4.5
            ax.errorbar(x, y, xerr=error, markersize=size, **style)
    for band in range(0, len(rows), 2):
        ax.axhspan(band - 0.5, band + 0.5, color="0.95", zorder=0)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    figure.legend(loc="outside lower center", ncols=5)
    return figure, ax


def history_lengths(fits: pd.DataFrame) -> Figure | None:
    """Return test error against q, on rows with q = 1."""
    own = fits[(fits["method"] == PRESTOPPING) & (fits["rule"] == DEFAULT_RULE)]
    own = own[own["q"].isin(Q_GRID) & own["row"].isin(own.loc[own["q"] == 1, "row"])]
    if own.empty:
        return None
    runs = own.sort_values(["row", "q", "seed"]).astype({"row": str, "q": int})
    runs = runs.assign(noise=runs["row"], error=runs["error_last"])
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
    fits = read_fits(args.results)
    for draw in FIGURES:
        if (figure := draw(fits)) is not None:
            path = args.folder / f"benchmark_{draw.__name__}.png"
            figure.savefig(path, dpi=100)
            plt.close(figure)
            print(path.name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
