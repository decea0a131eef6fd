"""Lists of cells: rows of a table, and the methods that are run on them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from cells import CLASS_NOISE, CLEAN, Cell, Setting
from contenders import CLEAN_SUBSET, DEFAULT_RULE, METHODS

#: A noise and its rate, which is None for real noise.
Noise = tuple[str, float | None]
#: A data set and its noise.
DataRow = tuple[str, Noise]


@dataclass(frozen=True)
class Preset:
    """Settings by name, and the cells in the order in which they are run.

    ``measures`` is what is measured of a fit: "accuracy", "cost", or "quality", which
    is how well wrong labels are found.
    """

    settings: dict[str, Setting]
    cells: tuple[Cell, ...]
    measures: str = "accuracy"


def preset_of(
    settings: dict[str, Setting], cells: Iterable[Cell], measures: str = "accuracy"
) -> Preset:
    """Return a preset; cells that are part of several grids are run once."""
    return Preset(settings, tuple(dict.fromkeys(cells)), measures)


def cell_of(method: str, row: DataRow, seed: int) -> Cell:
    """Return the cell of a method, with the default stop rule if it has one."""
    data, noise = row
    if METHODS[method].takes_rule:
        return Cell(method, data, *noise, seed, q=10, rule=DEFAULT_RULE)
    return Cell(method, data, *noise, seed)


def methods_on(methods: Iterable[str], row: DataRow, seed: int) -> Iterator[Cell]:
    """Yield methods on one row."""
    for method in methods:
        cell = cell_of(method, row, seed)
        if method != CLEAN_SUBSET or cell.is_noisy:  # otherwise the same as Default
            yield cell


def grid(
    rows: Iterable[DataRow],
    seeds: Iterable[int],
    cells_on: Callable[[DataRow, int], Iterable[Cell]],
) -> list[Cell]:
    """Return all cells of some rows, one seed after the other."""
    rows = list(rows)
    return [c for seed in seeds for row in rows for c in cells_on(row, seed)]


def injected(data: Iterable[str], rate: float) -> list[DataRow]:
    """Return rows of pair and symmetric noise of one rate."""
    return [(name, (noise, rate)) for name in data for noise in CLASS_NOISE]


def clean(data: Iterable[str]) -> list[DataRow]:
    """Return rows without noise."""
    return [(name, (CLEAN, 0.0)) for name in data]
