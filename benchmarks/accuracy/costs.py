"""What a fit of each method costs, in fits of Default, and groups of similar cost."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from contenders import CLEAN_SUBSET, METHODS
from summary import DEFAULT, Row, Summary, contender_of


class Source(Enum):
    """Where a cost is known from."""

    SIDE_BY_SIDE = "{:.1f}"
    FITS = "\N{ALMOST EQUAL TO} {:.1f}"
    EXPECTED = "({:.0f})"


class Cost(NamedTuple):
    """A cost in fits of Default, and where it is known from."""

    value: float
    source: Source

    def __str__(self) -> str:
        return self.source.value.format(self.value)


class Group(NamedTuple):
    """Methods with a cost of up to ``upper`` fits."""

    name: str
    upper: float


GROUPS = (
    Group("About one fit", 1.5),
    Group("Two to four fits", 4.25),
    Group("Five fits and more", np.inf),
)


class Costs:
    """The cost of each method.

    Parameters
    ----------
    measured : iterable of dict
        Results of the preset cost, where methods and Default are fitted in turn.
    summary : Summary
        Results of the comparison. For methods that the preset cost was not run with,
        their CPU time is compared with that of Default on the same row.
    """

    def __init__(self, measured: Iterable[dict[str, Any]], summary: Summary) -> None:
        self._side_by_side: dict[str, list[float]] = {}
        for result in measured:
            self._side_by_side.setdefault(result["method"], []).append(result["cost"])
        self._summary = summary

    def of(self, method: str) -> Cost:
        """Return the mean cost over rows, or the expected one if none was measured."""
        if found := self._side_by_side.get(method):
            return Cost(float(np.mean(found)), Source.SIDE_BY_SIDE)
        if method == DEFAULT.method:
            return Cost(1.0, Source.SIDE_BY_SIDE)
        ratios = [r for row in self._summary.rows if (r := self._ratio(row, method))]
        if ratios:
            return Cost(float(np.mean(ratios)), Source.FITS)
        return Cost(METHODS[method].cost, Source.EXPECTED)

    def _ratio(self, row: Row, method: str) -> float | None:
        own, plain = (
            self._summary.estimate(row, contender, "cpu_seconds")
            for contender in (contender_of(method), DEFAULT)
        )
        return own.mean / plain.mean if own and plain else None

    def groups(self, methods: Sequence[str]) -> dict[Group, list[str]]:
        """Return methods by group, each from cheap to expensive."""
        found: dict[Group, list[str]] = {group: [] for group in GROUPS}
        for method in sorted(methods, key=lambda name: self.of(name).value):
            group = next(g for g in GROUPS if self.of(method).value <= g.upper)
            found[group].append(method)
        return found


#: Every method but the reference.
COMPARED = tuple(name for name in METHODS if name != CLEAN_SUBSET)
