"""Print the label-quality results as markdown tables.

python benchmarks/label_quality/table.py
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import accuracy_scripts  # noqa: F401
import results
from detection import CLEANLAB
from layout import NOTHING, markdown
from ranking import METRICS
from summary import Estimate

RESULTS = Path(__file__).parent / "results.jsonl"
#: Data set, noise and rate.
Row = tuple[str, str, float | None]
#: Method and score.
Column = tuple[str, str]


class Scores:
    """All results by row, column and seed."""

    def __init__(self, found: Iterable[dict[str, Any]]) -> None:
        self._scores: dict[tuple[Row, Column], dict[int, dict[str, float]]] = {}
        self._rates: dict[Row, dict[int, float]] = {}
        for result in found:
            row = (result["data"], result["noise"], result["rate"])
            self._rates.setdefault(row, {})[result["seed"]] = result["noise_rate"]
            for score, values in result["scores"].items():
                by_seed = self._scores.setdefault((row, (result["method"], score)), {})
                by_seed[result["seed"]] = values

    @property
    def rows(self) -> list[Row]:
        """Rows by data set and noise, high rates first."""
        known = list(dict.fromkeys(data for data, _, _ in self._rates))
        return sorted(
            self._rates, key=lambda row: (known.index(row[0]), row[1], -(row[2] or 0))
        )

    @property
    def columns(self) -> list[Column]:
        """Columns in the order of their first result, cleanlab last."""
        found = dict.fromkeys(column for _, column in self._scores)
        return sorted(found, key=lambda column: column[0] == CLEANLAB)

    def noise_rate(self, row: Row) -> float:
        """Return the mean noise rate, which is the average precision of chance."""
        rates = self._rates[row].values()
        return sum(rates) / len(rates)

    def estimate(self, row: Row, column: Column, metric: str) -> Estimate | None:
        """Return the mean over seeds with its standard error."""
        by_seed = self._scores.get((row, column), {})
        # Older results have fewer metrics.
        return Estimate.of([v[metric] for v in by_seed.values() if metric in v])

    def mean(self, column: Column, metric: str) -> float | None:
        """Return the mean over rows, or None if a row has no result."""
        found = [self.estimate(row, column, metric) for row in self.rows]
        if None in found or not found:
            return None
        return sum(estimate.mean for estimate in found) / len(found)

    def n_seeds(self, row: Row) -> str:
        """Return the number of seeds, as a range if methods differ in it."""
        counts = {len(v) for (of_row, _), v in self._scores.items() if of_row == row}
        return "-".join(str(count) for count in sorted({min(counts), max(counts)}))


def text_of(estimate: Estimate | None, is_highest: bool = False) -> str:
    if estimate is None:
        return NOTHING
    spread = "" if estimate.error is None else f" ± {estimate.error:.3f}"
    text = f"{estimate.mean:.3f}{spread}"
    return f"**{text}**" if is_highest else text


def table(scores: Scores, metric: str) -> Iterator[str]:
    """Yield a table with one line per data set and noise."""
    lines = [
        [*_head_of(scores, row), *_cells_of(scores, row, metric)] for row in scores.rows
    ]
    means = [scores.mean(column, metric) for column in scores.columns]
    shown = [NOTHING if mean is None else f"{mean:.3f}" for mean in means]
    lines.append(["**mean over rows**", "", "", *shown])
    head = [f"{method}: `{score}`" for method, score in scores.columns]
    yield from markdown(["data, noise", "noise rate", "seeds", *head], lines)


def _head_of(scores: Scores, row: Row) -> list[str]:
    data, noise, rate = row
    nominal = "" if rate is None else f" {100 * rate:.0f} %"
    actual = f"{scores.noise_rate(row):.3f}"
    return [f"{data}, {noise}{nominal}", actual, scores.n_seeds(row)]


def _cells_of(scores: Scores, row: Row, metric: str) -> list[str]:
    estimates = [scores.estimate(row, column, metric) for column in scores.columns]
    highest = max((e.mean for e in estimates if e is not None), default=None)
    return [text_of(e, e is not None and e.mean == highest) for e in estimates]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one table per metric."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    scores = Scores(results.read(parser.parse_args(arguments).results).values())
    print("Mean over seeds ± standard error; the highest value of a row in bold. The")
    print("noise rate is the average precision of a random order.\n")
    for metric, title in METRICS.items():
        print(f"## {title[0].upper()}{title[1:]} of finding wrong labels\n")
        print("\n".join(table(scores, metric)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
