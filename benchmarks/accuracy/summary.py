"""Statistics of the results: means over seeds, gaps closed, lowest errors."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from cells import CLEAN, SETTINGS, Cell
from contenders import CLEAN_SUBSET, DEFAULT_RULE, METHODS
from results import cell_of

#: Fractions of smaller gaps are mostly chance: one percentage point of error.
MIN_GAP = 0.01


class Row(NamedTuple):
    """A data set and its noise: one line of a table."""

    data: str
    noise: str
    rate: float | None

    @property
    def is_noisy(self) -> bool:
        """Whether some labels are wrong."""
        return self.noise != CLEAN


class Contender(NamedTuple):
    """A method with its stop rule and history length: one column of a table."""

    method: str
    rule: str | None = None
    q: int | None = None


def contender_of(method: str) -> Contender:
    """Return a method, with the default stop rule if it has one."""
    if METHODS[method].takes_rule:
        return Contender(method, DEFAULT_RULE, 10)
    return Contender(method)


def prestopping(rule: str = DEFAULT_RULE, q: int = 10) -> Contender:
    """Return Prestopping with a stop rule."""
    return Contender("Prestopping", rule, q)


DEFAULT = Contender("Default")
REFERENCE = Contender(CLEAN_SUBSET)
PRESTOPPING = prestopping()
PRESTOPPING_PLUS = Contender("Prestopping+", DEFAULT_RULE, 10)
CROSS_PRESTOPPING = Contender("CrossPrestopping", DEFAULT_RULE, 10)
#: The paper's Prestopping+ is not among them: it was run on some rows only.
PRESTOPPING_METHODS = (PRESTOPPING, CROSS_PRESTOPPING)
OTHER_METHODS = (
    *(DEFAULT, Contender("Active Bias"), Contender("Co-teaching")),
    *(Contender("Co-teaching+"), Contender("SELFIE"), Contender("CleanLearning")),
)
CONTENDERS = OTHER_METHODS + PRESTOPPING_METHODS


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and its standard error, which is None for one seed."""

    mean: float
    error: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate | None":
        """Return the estimate from one value per seed, or None if there are none."""
        if not values:
            return None
        n = len(values)
        error = float(np.std(values, ddof=1) / n**0.5) if n > 1 else None
        return cls(float(np.mean(values)), error)


@dataclass(frozen=True)
class Gap:
    """The error that noise adds to plain training on one row, and what is recovered.

    ``size`` is the error of Default less that of the clean subset, ``closed`` the error
    of Default less that of a method.
    """

    size: float
    closed: float

    @property
    def fraction(self) -> float | None:
        """Fraction of the gap that is closed, or None if the gap is very small."""
        return self.closed / self.size if self.size >= MIN_GAP else None


class Summary:
    """All results by row, contender and seed.

    Parameters
    ----------
    results : iterable of dict
        In the order in which they were written. If the settings of a data set were
        changed in between, only results with the newest settings are used.
    """

    def __init__(self, results: Iterable[dict[str, Any]]) -> None:
        results = list(results)
        newest = {result["data"]: _settings(result) for result in results}
        self._found: dict = defaultdict(lambda: defaultdict(dict))
        self.rates: dict[Row, float] = {}
        for result in results:
            if _settings(result) == newest[result["data"]]:
                self._add(cell_of(result), result)

    def _add(self, cell: Cell, result: dict[str, Any]) -> None:
        row = Row(cell.data, cell.noise, cell.rate)
        contender = Contender(cell.method, cell.rule, cell.q)
        self._found[row][contender][cell.seed] = result
        self.rates[row] = result["noise_rate"]

    @property
    def rows(self) -> list[Row]:
        """Rows with a result by data set and noise, high rates first, clean last."""
        known = list(dict.fromkeys(row.data for row in self._found))
        return sorted(
            self._found,
            key=lambda r: (
                known.index(r.data),
                not r.is_noisy,
                r.noise,
                -self.rates[r] if r.rate is None else -r.rate,
            ),
        )

    def results(self, row: Row, contender: Contender) -> dict[int, dict[str, Any]]:
        """Return whole results by seed."""
        return dict(sorted(self._found.get(row, {}).get(contender, {}).items()))

    def values(
        self, row: Row, contender: Contender, field: str = "error_last"
    ) -> dict[int, float]:
        """Return the values of a result field by seed, where they are known."""
        # Older results have fewer fields.
        known = {s: r.get(field) for s, r in self.results(row, contender).items()}
        return {seed: value for seed, value in known.items() if value is not None}

    def estimate(
        self, row: Row, contender: Contender, field: str = "error_last"
    ) -> Estimate | None:
        """Return the mean of a result field over the seeds."""
        return Estimate.of(list(self.values(row, contender, field).values()))

    def gap(
        self, row: Row, contender: Contender, field: str = "error_last"
    ) -> Gap | None:
        """Return the gap of a row and what is closed of it, over common seeds."""
        columns = [
            self.values(row, DEFAULT),
            self.values(row, REFERENCE),
            self.values(row, contender, field),
        ]
        seeds = set.intersection(*map(set, columns))
        if not seeds or not row.is_noisy:
            return None
        default, clean, own = (np.mean([c[s] for s in seeds]) for c in columns)
        return Gap(float(default - clean), float(default - own))

    def gaps(self, contender: Contender, field: str = "error_last") -> dict[Row, Gap]:
        """Return the gaps of all noisy rows where they are known."""
        found = {row: self.gap(row, contender, field) for row in self.rows}
        return {row: gap for row, gap in found.items() if gap is not None}

    def lowest(self, row: Row, among: Sequence[Contender]) -> Contender | None:
        """Return the contender with the lowest mean error."""
        found = {c: e.mean for c in among if (e := self.estimate(row, c)) is not None}
        return min(found, key=lambda c: found[c]) if found else None

    def paired(self, row: Row, first: Contender, second: Contender) -> Estimate | None:
        """Return the error of ``first`` less that of ``second``, over common seeds."""
        one, other = self.values(row, first), self.values(row, second)
        return Estimate.of([one[seed] - other[seed] for seed in one if seed in other])

    def is_complete(self, row: Row) -> bool:
        """Return whether every contender has a result."""
        return all(self.values(row, contender) for contender in CONTENDERS)

    def margin(
        self, row: Row, among: Sequence[Contender] = PRESTOPPING_METHODS
    ) -> float | None:
        """Return the lowest error of some methods minus that of the other methods."""
        own = self.lowest(row, among)
        other = self.lowest(row, OTHER_METHODS)
        if own is None or other is None:
            return None
        return self.estimate(row, own).mean - self.estimate(row, other).mean

    def difference(
        self, row: Row, first: Contender, others: Sequence[Contender]
    ) -> float | None:
        """Return the error of ``first`` less the lowest error of ``others``."""
        found = [self.estimate(row, contender) for contender in (first, *others)]
        if None in found:
            return None
        return found[0].mean - min(estimate.mean for estimate in found[1:])


def mean_fraction(gaps: Iterable[Gap]) -> float | None:
    """Return the mean fraction closed, without rows of very small gaps."""
    fractions = [gap.fraction for gap in gaps if gap.fraction is not None]
    return float(np.mean(fractions)) if fractions else None


def pooled_fraction(gaps: Iterable[Gap]) -> float | None:
    """Return the sum of what is closed over the sum of the gaps."""
    gaps = list(gaps)
    size = sum(gap.size for gap in gaps)
    return sum(gap.closed for gap in gaps) / size if size > 0 else None


def _settings(result: dict[str, Any]) -> tuple:
    return tuple(result.get(name) for name in SETTINGS)
