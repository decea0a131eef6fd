"""Print CrossPrestopping at three prices beside other methods, on the same fits.

    python benchmarks/accuracy/price_tables.py

Methods are compared on the rows and seeds that each of the three settings was run with.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import results
from contenders import (
    CLEAN_SUBSET,
    CROSS_PRESTOPPING,
    DEFAULT,
    ESTIMATED,
    PRESTOPPING,
    long_name,
)
from fits import Gaps, by_seed, over_seeds, read_fits, with_default_rule
from layout import NOTHING, fraction, markdown, paragraph, percent, texts
from rivals import PRICES

FOLDER = Path(__file__).parent / "results"
#: What the three settings are compared with.
OTHERS = (
    *(DEFAULT, PRESTOPPING, "ELR", "Co-teaching", f"Co-teaching{ESTIMATED}"),
    *("four Prestopping", CROSS_PRESTOPPING, "four Co-teaching"),
)


class Prices:
    """Errors of the three settings, and of other methods with the same seeds."""

    def __init__(self, fits: pd.DataFrame, measured: pd.DataFrame) -> None:
        self.fits = with_default_rule(fits)
        names = [*OTHERS, *PRICES]
        self.errors = by_seed(self.fits).reindex(columns=[*names, CLEAN_SUBSET])
        self.errors = self.errors[self.errors[list(PRICES)].notna().any(axis=1)]
        self.costs = measured.groupby("method")["cost"].mean().reindex(names)


def gaps(prices: Prices) -> Iterator[str]:
    """Yield the gap closed by each setting, and by others on the same fits."""
    yield "## Gap closed at three prices\n"
    yield from paragraph(
        """In %, mean over noisy rows with a gap of at least one point. Every line is
        about the rows and seeds that one setting was run with; a dash is a method that
        was not run with all of them. Cost is measured in turn with Default."""
    )
    lines = {}
    for name, cost in prices.costs[list(PRICES)].items():
        same = prices.errors[prices.errors[name].notna()]
        found = Gaps.of(same)
        mean = found.fraction.mean().where(same.notna().all())
        shown = mean.reindex([*OTHERS[1:], *PRICES]).map(percent)
        shown[name] = f"**{shown[name]}**"
        rows = found.fraction[name].notna().sum()
        lines[name] = {
            "cost": NOTHING if cost != cost else f"{cost:.1f}",
            "rows": str(rows),
            "seeds": str(same.groupby(level="row", observed=True).size().max()),
            **shown.rename(long_name),
        }
    yield from markdown(pd.DataFrame(lines).T, "setting")


def errors(prices: Prices) -> Iterator[str]:
    """Yield the test errors, and the average precision of finding wrong labels."""
    yield "## Test error at three prices, %\n"
    columns = [*OTHERS, *PRICES, CLEAN_SUBSET]
    shown = texts(over_seeds(prices.errors).of(columns))
    names = [*map(long_name, columns[:-1]), "reference: clean subset"]
    yield from markdown(shown.set_axis(names, axis=1))


def precision(prices: Prices) -> Iterator[str]:
    """Yield the average precision of finding wrong labels."""
    yield "## Average precision of finding wrong labels at three prices\n"
    found = by_seed(prices.fits, "average_precision")
    found = found.reindex(columns=[CROSS_PRESTOPPING, *PRICES])
    found = found[found[list(PRICES)].notna().any(axis=1)]
    shown = texts(over_seeds(found), number=fraction)
    yield from markdown(shown)


def main() -> int:
    """Print all tables."""
    paths = [FOLDER / f"{name}.jsonl" for name in ("laptop", "rivals", "prices")]
    measured = pd.DataFrame(
        results.lines(FOLDER / "cost.jsonl"), columns=["method", "cost"]
    )
    prices = Prices(read_fits(*paths), measured)
    for part in (gaps, errors, precision):
        print("\n".join(part(prices)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
