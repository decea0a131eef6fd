"""Print the comparison at equal cost, from results of the presets rivals and cost.

    python benchmarks/accuracy/comparison.py

Where a cell was not run in the preset rivals, its result of the preset laptop is used,
which lacks some of the columns.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import finding_tables
import pandas as pd
import results
from cells import INSTANCE
from contenders import (
    CLEAN_SUBSET,
    CROSS_PRESTOPPING,
    DEFAULT,
    METHODS,
    PRESTOPPING,
    long_name,
)
from costs import costs_of, groups_of
from fits import Gaps, by_seed, over_seeds, read_fits, with_default_rule
from layout import markdown, paragraph, percent, texts, with_error
from rivals import ROWS

FOLDER = Path(__file__).parent / "results"
#: The methods of this project, each compared within its group.
OWN = (PRESTOPPING, CROSS_PRESTOPPING)
#: Means that differ by less are equal: errors are multiples of one test row.
TIE = 1e-9
#: Kinds of noise; noise that was not injected is real.
KINDS = ["pair", "symmetric", INSTANCE, "real"]


class Comparison:
    """All results on the rows of the comparison, and the methods by group of cost.

    Attributes
    ----------
    all_fits, fits : DataFrame
        Fits on all rows, and those on the rows of the comparison.
    errors : DataFrame
        Test errors by row and seed, and by method.
    means : Means
        Of the errors over seeds, with a column for every method.
    rows : DataFrame
        Kind of noise and noise rate of each row.
    noisy : Index
        The rows with wrong labels.
    gaps : Gaps
        Of the errors.
    costs : DataFrame
        See :func:`costs.costs_of`.
    groups : dict of str to list of str
        The methods that have a result, by group of cost, without the reference.
    """

    def __init__(self, fits: pd.DataFrame, measured: pd.DataFrame) -> None:
        self.all_fits = with_default_rule(fits)
        self.fits = self.all_fits[self.all_fits["where"].isin(ROWS)]
        self.errors = by_seed(self.fits).reindex(columns=[*METHODS]).dropna(how="all")
        self.means = over_seeds(self.errors)
        self.rows = self.fits.groupby("row", observed=True).agg(
            is_noisy=("is_noisy", "first"),
            noise=("noise", "first"),
            rate=("row_rate", "first"),
        )
        self.rows["kind"] = self.rows["noise"].where(
            self.rows["noise"].isin(KINDS), "real"
        )
        self.noisy = self.rows.index[self.rows["is_noisy"]]
        self.gaps = Gaps.of(self.errors)
        has_result = self.means.mean.notna().any()
        methods = [m for m in METHODS if m != CLEAN_SUBSET and has_result[m]]
        self.costs = costs_of(methods, measured, self.all_fits)
        self.groups = groups_of(self.costs)

    def is_lowest(self, methods: Sequence[str]) -> pd.DataFrame:
        """Return, by row and method, whether none of them has a lower mean error."""
        means = self.means.mean[list(methods)]
        return means.le(means.min(axis=1) + TIE, axis=0)


def overview(comparison: Comparison) -> Iterator[str]:
    """Yield a line per method: cost, gap closed, rows with the lowest error."""
    yield "## Overview by cost\n"
    yield from paragraph(
        """Cost is the CPU time of a fit in fits of Default: measured in turn with
        Default; after \N{ALMOST EQUAL TO} from the fits of the comparison itself; in
        parentheses, only expected. Gap closed is (Default - method) / (Default - clean
        subset): its mean over the noisy rows with a gap of at least one point, and
        pooled over all of them. Lowest: noisy rows in which the method has the lowest
        error of its group, of those it was run on. Clean: its error minus that of
        Default on clean labels, in points, mean and largest."""
    )
    for name, methods in comparison.groups.items():
        yield f"### {name}\n"
        noisy = comparison.means.mean.loc[comparison.noisy, methods]
        n_lowest = comparison.is_lowest(methods).loc[comparison.noisy].sum()
        lines = {
            "cost": comparison.costs["text"][methods],
            "gap closed, %": comparison.gaps.fraction.mean().map(percent),
            "pooled, %": comparison.gaps.pooled.map(percent),
            "lowest": n_lowest.map(str) + " of " + noisy.notna().sum().map(str),
            "clean": _clean_differences(comparison),
            "seeds": _seeds(comparison),
        }
        table = pd.DataFrame(lines).loc[methods]
        yield from markdown(table.rename(_emphasized), "method")


def _emphasized(method: str) -> str:
    return f"**{method}**" if method in OWN else long_name(method)


def _clean_differences(comparison: Comparison) -> pd.Series:
    errors = comparison.errors.drop(list(comparison.noisy), level="row")
    points = 100 * over_seeds(errors.sub(errors[DEFAULT], axis=0)).mean
    shown = points.agg(["mean", "max"]).map("{:+.1f}".format)
    return (shown.loc["mean"] + ", " + shown.loc["max"]).where(points.notna().any(), "")


def _seeds(comparison: Comparison) -> pd.Series:
    counts = comparison.errors.groupby(level="row", observed=True).count()
    counts = counts.where(counts > 0).agg(["min", "max"])
    return counts.apply(lambda c: "-".join(f"{n:.0f}" for n in c.drop_duplicates()))


def by_kind(comparison: Comparison) -> Iterator[str]:
    """Yield the pooled fraction of the gap that each method closes, by kind."""
    yield "## Gap closed by kind of noise\n"
    kinds = comparison.rows["kind"][comparison.noisy]
    found = ", ".join(f"{(kinds == kind).sum()} of {kind} noise" for kind in KINDS)
    yield from paragraph(f"In %, pooled over rows: {found}.")
    size, closed = comparison.gaps
    kinds = kinds[size.index]
    pooled = {
        kind: Gaps(size[kinds == kind], closed[kinds == kind]).pooled for kind in KINDS
    }
    shown = pd.DataFrame(pooled).map(percent)
    for name, methods in comparison.groups.items():
        yield f"### {name}\n"
        yield from markdown(shown.loc[methods], "method")


def errors_by_group(comparison: Comparison) -> Iterator[str]:
    """Yield the test errors of each group."""
    yield "## Test error after the last epoch by group of cost, %\n"
    yield from paragraph(
        "Mean over seeds ± standard error; the lowest error of a group in bold."
    )
    for name, methods in comparison.groups.items():
        yield f"### {name}\n"
        columns = [*methods, CLEAN_SUBSET]
        is_lowest = comparison.is_lowest(methods).assign(**{CLEAN_SUBSET: False})
        shown = texts(comparison.means.of(columns), is_lowest)
        names = [*map(long_name, methods), "reference: clean subset"]
        yield from markdown(shown.set_axis(names, axis=1))


def lost_rows(comparison: Comparison) -> Iterator[str]:
    """Yield, for each own method, the rows in which another of its group is lower."""
    yield "## Rows lost within a group\n"
    for methods in comparison.groups.values():
        for own in [method for method in OWN if method in methods]:
            yield f"### {own}\n"
            yield from _counts_of(comparison, own, methods)
            yield from _lost_by(comparison, own, methods)


def _counts_of(comparison: Comparison, own: str, group: list[str]) -> Iterator[str]:
    n_rows = comparison.means.mean.loc[comparison.noisy, own].notna().sum()
    without_help = [m for m in group if not METHODS[m].is_given]
    for among, words in ((group, ""), (without_help, ", given nothing but the data")):
        n_lowest = comparison.is_lowest(among).loc[comparison.noisy, own].sum()
        share = f"{100 * n_lowest / n_rows:.0f} %" if n_rows else "no rows"
        counts = f"{n_lowest} of {n_rows} noisy rows ({share})"
        yield f"- Lowest of {len(among)} methods{words}: {counts}."
    yield ""


def _lost_by(comparison: Comparison, own: str, group: list[str]) -> Iterator[str]:
    means = comparison.means.mean[group]
    is_lost = means[own].notna() & ~comparison.is_lowest(group)[own]
    lowest = means[is_lost].idxmin(axis=1)
    if lowest.empty:
        return
    shown = texts(comparison.means)
    errors = comparison.errors
    differences = {
        row: over_seeds(errors[[own]].sub(errors[method], axis=0)).of([own])
        for row, method in lowest.items()
    }
    table = {
        "lowest": lowest.map(long_name),
        "its error": [shown.at[at] for at in lowest.items()],
        "own error": shown.loc[lowest.index, own],
        "difference, points": [
            with_error(*(part.at[row, own] for part in found))
            for row, found in differences.items()
        ],
    }
    yield from markdown(pd.DataFrame(table))


PARTS = (
    *(overview, by_kind, errors_by_group, lost_rows),
    *(finding_tables.overview, finding_tables.by_group, finding_tables.ctrl),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = [FOLDER / name for name in ("laptop.jsonl", "rivals.jsonl")]
    parser.add_argument("results", nargs="*", type=Path, default=default)
    parser.add_argument("--cost", type=Path, default=FOLDER / "cost.jsonl")
    args = parser.parse_args(arguments)
    measured = pd.DataFrame(results.lines(args.cost), columns=["method", "cost"])
    comparison = Comparison(read_fits(*args.results), measured)
    for part in PARTS:
        print("\n".join(part(comparison)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
