"""What results say together: means over seeds, damage repaired, who was lowest."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from cells import CLEAN, SETTINGS, Cell
from contenders import CLEAN_SUBSET, DEFAULT_RULE
from results import cell_of

#: Below this damage a ratio to it is mostly chance: one point of error.
LEAST_DAMAGE = 0.01


class Row(NamedTuple):
    """A data set with a noise: one line of a table."""

    data: str
    noise: str
    rate: float | None

    @property
    def is_noisy(self) -> bool:
        """Whether some labels are wrong."""
        return self.noise != CLEAN


class Contender(NamedTuple):
    """A method, and what it was run with: one column of a table."""

    method: str
    rule: str | None = None
    q: int | None = None


def prestopping(rule: str = DEFAULT_RULE, q: int = 10) -> Contender:
    """Return Prestopping under a rule."""
    return Contender("Prestopping", rule, q)


DEFAULT = Contender("Default")
LIMIT = Contender(CLEAN_SUBSET)
PRESTOPPING = prestopping()
PRESTOPPING_PLUS = Contender("Prestopping+", DEFAULT_RULE, 10)
OURS = (PRESTOPPING, PRESTOPPING_PLUS)
RIVALS = (
    *(DEFAULT, Contender("Active Bias"), Contender("Co-teaching")),
    *(Contender("Co-teaching+"), Contender("SELFIE"), Contender("CleanLearning")),
)
CONTENDERS = RIVALS + OURS


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its standard error, which one seed does not have."""

    mean: float
    error: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate | None":
        """Return the estimate from one value a seed, or None if there are none."""
        if not values:
            return None
        n = len(values)
        error = float(np.std(values, ddof=1) / n**0.5) if n > 1 else None
        return cls(float(np.mean(values)), error)


@dataclass(frozen=True)
class Repair:
    """How much of the damage that noise does is repaired, on one row."""

    damage: float
    repaired: float

    @property
    def share(self) -> float | None:
        """Share of the damage, or None where there is hardly any."""
        return self.repaired / self.damage if self.damage >= LEAST_DAMAGE else None


class Summary:
    """All results by row, contender and seed.

    Parameters
    ----------
    results : iterable of dict
        In the order in which they were written. Where the settings of a data set were
        changed in between, only results under the newest count.
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
        """Rows with a result: by data set and noise, high rates first, clean last."""
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

    def values(
        self, row: Row, contender: Contender, field: str = "error_last"
    ) -> dict[int, float]:
        """Return a number of the results by seed, where it is known."""
        found = self._found.get(row, {}).get(contender, {})
        return {s: r[field] for s, r in sorted(found.items()) if r[field] is not None}

    def estimate(
        self, row: Row, contender: Contender, field: str = "error_last"
    ) -> Estimate | None:
        """Return the mean of a number over the seeds."""
        return Estimate.of(list(self.values(row, contender, field).values()))

    def repair(
        self, row: Row, contender: Contender, field: str = "error_last"
    ) -> Repair | None:
        """Return how much of the damage on a row is repaired, over common seeds."""
        columns = [
            self.values(row, DEFAULT),
            self.values(row, LIMIT),
            self.values(row, contender, field),
        ]
        seeds = set.intersection(*map(set, columns))
        if not seeds or not row.is_noisy:
            return None
        default, limit, own = (np.mean([c[s] for s in seeds]) for c in columns)
        return Repair(float(default - limit), float(default - own))

    def repairs(
        self, contender: Contender, field: str = "error_last"
    ) -> dict[Row, Repair]:
        """Return the repairs of all noisy rows where they are known."""
        found = {row: self.repair(row, contender, field) for row in self.rows}
        return {row: repair for row, repair in found.items() if repair is not None}

    def lowest(self, row: Row, among: Sequence[Contender]) -> Contender | None:
        """Return who has the lowest mean error of those with a result."""
        found = {c: e.mean for c in among if (e := self.estimate(row, c)) is not None}
        return min(found, key=lambda c: found[c]) if found else None

    def is_complete(self, row: Row) -> bool:
        """Return whether every contender has a result."""
        return all(self.values(row, contender) for contender in CONTENDERS)

    def margin(self, row: Row) -> float | None:
        """Return by how much the better of ours is worse than the best rival."""
        own, rival = self.lowest(row, OURS), self.lowest(row, RIVALS)
        if own is None or rival is None:
            return None
        return self.estimate(row, own).mean - self.estimate(row, rival).mean

    def difference(
        self, row: Row, first: Contender, others: Sequence[Contender]
    ) -> float | None:
        """Return the error of ``first`` less the lowest of ``others``, if all known."""
        found = [self.estimate(row, contender) for contender in (first, *others)]
        if None in found:
            return None
        return found[0].mean - min(estimate.mean for estimate in found[1:])


def mean_share(repairs: Iterable[Repair]) -> float | None:
    """Return the mean of the shares, without rows of hardly any damage."""
    shares = [repair.share for repair in repairs if repair.share is not None]
    return float(np.mean(shares)) if shares else None


def pooled_share(repairs: Iterable[Repair]) -> float | None:
    """Return what is repaired on all rows together, of the damage on all of them."""
    repairs = list(repairs)
    damage = sum(repair.damage for repair in repairs)
    return sum(r.repaired for r in repairs) / damage if damage > 0 else None


def _settings(result: dict[str, Any]) -> tuple:
    return tuple(result.get(name) for name in SETTINGS)
