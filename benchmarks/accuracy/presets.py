"""Which cells are run: settings by name, and a list of cells in order of priority."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from cells import Cell
from contenders import (
    CLEAN_LEARNING,
    CLEAN_SUBSET,
    CROSS_PRESTOPPING,
    DEFAULT_RULE,
    PRESTOPPING,
    PRESTOPPING_PLUS,
    RULES,
)
from grids import (
    DataRow,
    Preset,
    cell_of,
    clean,
    grid,
    injected,
    methods_on,
    preset_of,
)
from rivals import EVERYTHING, REAL_NOISE, cost, newer, prices, rivals
from settings import LAPTOP, PAPER, SMOKE

#: Rules that are not run on clean labels.
_NEED_NOISE = ("noise rate", "memorized fraction", "oracle")
#: The methods of the presets laptop and paper, in the order in which they are run.
_METHODS = (
    *("Default", CLEAN_SUBSET, "Prestopping", CROSS_PRESTOPPING),
    *("Co-teaching", "SELFIE", "Active Bias", "Co-teaching+", "CleanLearning"),
)
#: Methods of the preset quality that are run with one seed.
_OTHERS_WITH_SCORES = (
    *("Default", "Active Bias", "Co-teaching", "SELFIE"),
    *(PRESTOPPING_PLUS, CROSS_PRESTOPPING),
)


#: Every method once, with the default stop rule.
contenders_on = partial(methods_on, _METHODS)


def rules_on(row: DataRow, seed: int) -> Iterator[Cell]:
    """Yield Prestopping with the other stop rules."""
    cell = cell_of("Prestopping", row, seed)
    for rule in [rule for rule in RULES if rule != DEFAULT_RULE]:
        if cell.is_noisy or rule not in _NEED_NOISE:
            yield replace(cell, rule=rule)


def everything_on(row: DataRow, seed: int) -> Iterator[Cell]:
    """Yield every method, and Prestopping with every stop rule."""
    yield from contenders_on(row, seed)
    yield from rules_on(row, seed)


def q_on(row: DataRow, seed: int) -> Iterator[Cell]:
    """Yield Prestopping with the default rule for several history lengths."""
    for q in (1, 5, 10, 15, 20):
        yield replace(cell_of("Prestopping", row, seed), q=q)


def smoke() -> Preset:
    """Return every method and rule once, on digits, to check that all of it runs."""
    noisy, without_noise = ("digits", ("pair", 0.4)), clean(["digits"])
    cells = grid([noisy, *without_noise], [0], everything_on)
    cells += grid([noisy], [0], q_on)
    cells += grid([noisy], [0], partial(methods_on, EVERYTHING))
    few = _METHODS[:3]
    cells += methods_on(few, ("digits", ("instance", 0.3)), 0)
    return preset_of(SMOKE, cells)


def laptop() -> Preset:
    """Return the preset for tables and small images on two cores."""
    tables = ("letter", "satimage")
    main = [*injected(tables, 0.4), *REAL_NOISE]
    images = [
        *injected(["fashion_mnist"], 0.4),
        ("cifar10n", ("worst", None)),
        *clean(["fashion_mnist"]),
    ]
    q_rows = [("letter", ("pair", 0.4)), ("cifar10n_feat", ("worst", None))]
    seeds, few_seeds = range(3), range(2)
    cells = grid(main, seeds, everything_on)
    cells += grid(q_rows, seeds, q_on)
    cells += grid(images, few_seeds, everything_on)
    cells += grid(main, seeds, partial(methods_on, [PRESTOPPING_PLUS]))
    light = [row for rate in (0.3, 0.2, 0.1) for row in injected(tables, rate)]
    light += clean(tables)
    for cells_on in (contenders_on, rules_on):
        cells += grid(light, seeds, cells_on)
    return preset_of(LAPTOP, cells)


def quality() -> Preset:
    """Return the fits whose scores of labels are compared with cleanlab's."""
    heavy = (("pair", 0.4), ("symmetric", 0.4), ("symmetric", 0.2))
    rows = [(data, noise) for data in ("letter", "satimage") for noise in heavy]
    rows += REAL_NOISE
    cells = grid(rows, range(3), partial(methods_on, (PRESTOPPING, CLEAN_LEARNING)))
    cells += grid(rows, [0], partial(methods_on, _OTHERS_WITH_SCORES))
    return preset_of({data: LAPTOP[data] for data, _ in rows}, cells, "quality")


def paper() -> Preset:
    """Return the experiments of the paper: its networks, images and 120 epochs."""
    cifar = [name for name in PAPER if name.startswith("cifar")]
    others = [(name, ("web", None)) for name in PAPER if name not in cifar]
    cells = [
        c
        for rate in (0.4, 0.3, 0.2, 0.1)
        for c in grid(injected(cifar, rate), range(3), everything_on)
    ]
    cells += grid(clean(cifar), range(3), everything_on)
    cells += [
        cell
        for cell in grid(others, range(3), everything_on)
        if _needs_no_true_labels(cell)
    ]
    return preset_of(PAPER, cells)


def _needs_no_true_labels(cell: Cell) -> bool:
    """Return whether a cell can be run on data without true labels."""
    has_clean_rows = cell.data.startswith("food101n")
    needs_true_labels = cell.method == CLEAN_SUBSET or cell.rule == "oracle"
    return not needs_true_labels and (has_clean_rows or cell.rule != "validation")


PRESETS = {
    "smoke": smoke,
    "laptop": laptop,
    "rivals": rivals,
    "newer": newer,
    "prices": prices,
    "cost": cost,
    "quality": quality,
    "paper": paper,
}
