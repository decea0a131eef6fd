"""Print the comparison at equal cost, from results of the presets rivals and cost.

    python benchmarks/accuracy/comparison.py

Where a cell was not run in the preset rivals, its result of the preset laptop is used,
which lacks some of the columns.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import finding_tables
import results
from contenders import CROSS_PRESTOPPING, METHODS, PRESTOPPING
from costs import COMPARED, Costs
from kinds import by_kind
from layout import markdown, name_of, paragraph, percent, table, with_error
from rivals import ROWS
from summary import (
    DEFAULT,
    REFERENCE,
    Contender,
    Estimate,
    Row,
    Summary,
    contender_of,
    mean_fraction,
    pooled_fraction,
)

FOLDER = Path(__file__).parent / "results"
#: The methods of this project, each compared within its group.
OWN = (PRESTOPPING, CROSS_PRESTOPPING)
#: Means that differ by less are equal: errors are multiples of one test row.
TIE = 1e-9


class Comparison(NamedTuple):
    """All results, the rows of the comparison, and the methods by group of cost."""

    summary: Summary
    costs: Costs
    rows: tuple[Row, ...]
    groups: dict[str, list[str]]

    @classmethod
    def of(cls, summary: Summary, costs: Costs) -> "Comparison":
        """Return the comparison of the methods that have a result."""
        wanted = [Row(data, *noise) for data, noise in ROWS]
        rows = tuple(row for row in summary.rows if row in wanted)
        methods = [
            name
            for name in COMPARED
            if any(summary.values(row, contender_of(name)) for row in rows)
        ]
        groups = costs.groups(methods)
        return cls(summary, costs, rows, {g.name: names for g, names in groups.items()})

    @property
    def noisy_rows(self) -> list[Row]:
        """The rows with wrong labels."""
        return [row for row in self.rows if row.is_noisy]

    def lowest(self, row: Row, methods: Sequence[str]) -> str | None:
        """Return the method with the lowest mean error."""
        found = self.summary.lowest(row, [contender_of(name) for name in methods])
        return found and found.method

    def is_lowest(self, row: Row, method: str, methods: Sequence[str]) -> bool:
        """Return whether no other method has a lower mean error."""
        own = self.summary.estimate(row, contender_of(method))
        lowest = self.lowest(row, methods)
        if own is None or lowest is None:
            return False
        other = self.summary.estimate(row, contender_of(lowest))
        return own.mean <= other.mean + TIE

    def n_lowest(self, method: str, methods: Sequence[str]) -> int:
        """Return in how many noisy rows no other method has a lower error."""
        return sum(self.is_lowest(row, method, methods) for row in self.noisy_rows)

    def has_result(self, row: Row, method: str) -> bool:
        """Return whether a method was run on a row."""
        return bool(self.summary.values(row, contender_of(method)))


def long_name(method: str) -> str:
    """Return the name of a method, with what it is given."""
    given = METHODS[method].is_given
    return f"{method} (given {given})" if given else method


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
    head = ["method", "cost", "gap closed, %", "pooled, %", "lowest", "clean", "seeds"]
    for name, methods in comparison.groups.items():
        yield f"### {name}\n"
        lines = [_line_of(comparison, method, methods) for method in methods]
        yield from markdown(head, lines)


def _line_of(comparison: Comparison, method: str, group: Sequence[str]) -> list[str]:
    contender = contender_of(method)
    gaps = [comparison.summary.gap(row, contender) for row in comparison.noisy_rows]
    known = [gap for gap in gaps if gap is not None]
    n_rows = sum(comparison.has_result(r, method) for r in comparison.noisy_rows)
    return [
        f"**{method}**" if method in OWN else long_name(method),
        str(comparison.costs.of(method)),
        percent(mean_fraction(known)),
        percent(pooled_fraction(known)),
        f"{comparison.n_lowest(method, group)} of {n_rows}",
        _clean_difference(comparison, contender),
        _seeds(comparison, contender),
    ]


def _clean_difference(comparison: Comparison, contender: Contender) -> str:
    clean = [row for row in comparison.rows if not row.is_noisy]
    found = [comparison.summary.paired(row, contender, DEFAULT) for row in clean]
    values = [100 * estimate.mean for estimate in found if estimate is not None]
    mean = Estimate.of(values)
    return "" if mean is None else f"{mean.mean:+.1f}, {max(values):+.1f}"


def _seeds(comparison: Comparison, contender: Contender) -> str:
    counts = [len(comparison.summary.values(r, contender)) for r in comparison.rows]
    known = sorted({count for count in counts if count})
    return "-".join(str(count) for count in sorted({known[0], known[-1]}))


def errors_by_group(comparison: Comparison) -> Iterator[str]:
    """Yield the test errors of each group."""
    yield "## Test error after the last epoch by group of cost, %\n"
    yield from paragraph(
        "Mean over seeds ± standard error; the lowest error of a group in bold."
    )
    summary = comparison.summary
    for name, methods in comparison.groups.items():
        yield f"### {name}\n"

        def cell(method: str, group: Sequence[str] = methods) -> Callable[[Row], str]:
            def text(row: Row) -> str:
                shown = with_error(summary.estimate(row, contender_of(method)))
                is_lowest = comparison.is_lowest(row, method, group)
                return f"**{shown}**" if is_lowest else shown

            return text

        columns = {long_name(method): cell(method) for method in methods}
        columns["reference: clean subset"] = lambda row: with_error(
            summary.estimate(row, REFERENCE)
        )
        yield from table(summary, comparison.rows, columns)


def lost_rows(comparison: Comparison) -> Iterator[str]:
    """Yield, for each own method, the rows in which another of its group is lower."""
    yield "## Rows lost within a group\n"
    for methods in comparison.groups.values():
        for own in [method for method in OWN if method in methods]:
            yield from _lost_by(comparison, own, methods)


def _lost_by(comparison: Comparison, own: str, group: Sequence[str]) -> Iterator[str]:
    yield f"### {own}\n"
    without_help = [m for m in group if not METHODS[m].is_given]
    rows = [row for row in comparison.noisy_rows if comparison.has_result(row, own)]
    for among, words in ((group, ""), (without_help, ", given nothing but the data")):
        n_lowest = comparison.n_lowest(own, among)
        share = f"{100 * n_lowest / len(rows):.0f} %" if rows else "no rows"
        counts = f"{n_lowest} of {len(rows)} noisy rows ({share})"
        yield f"- Lowest of {len(among)} methods{words}: {counts}."
    yield ""
    lost = [
        [name_of(row, comparison.summary), *_loss(comparison, row, own, lowest)]
        for row in comparison.rows
        if comparison.has_result(row, own)
        and not comparison.is_lowest(row, own, group)
        and (lowest := comparison.lowest(row, group)) is not None
    ]
    if lost:
        head = ["data, noise", "lowest", "its error", "own error", "difference, points"]
        yield from markdown(head, lost)


def _loss(comparison: Comparison, row: Row, own: str, lowest: str) -> list[str]:
    summary = comparison.summary
    one, other = contender_of(own), contender_of(lowest)
    return [
        long_name(lowest),
        with_error(summary.estimate(row, other)),
        with_error(summary.estimate(row, one)),
        with_error(summary.paired(row, one, other)),
    ]


PARTS = (
    *(overview, by_kind, errors_by_group, lost_rows),
    *(finding_tables.overview, finding_tables.by_group, finding_tables.ctrl),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = ["laptop.jsonl", "rivals.jsonl"]
    default = [FOLDER / name for name in names]
    parser.add_argument("results", nargs="*", type=Path, default=default)
    parser.add_argument("--cost", type=Path, default=FOLDER / "cost.jsonl")
    args = parser.parse_args(arguments)
    summary = Summary(results.read_all(args.results).values())
    costs = Costs(results.read(args.cost).values(), summary)
    comparison = Comparison.of(summary, costs)
    for part in PARTS:
        print("\n".join(part(comparison)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
