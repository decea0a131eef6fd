"""Which cells are run: settings by name, and a list of cells in order of priority."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cells import CLEAN, Cell, Setting
from contenders import (
    CLEAN_SUBSET,
    CROSS_PRESTOPPING,
    DEFAULT_RULE,
    METHODS,
    PRESTOPPING_PLUS,
    RULES,
)

#: A noise and its rate, which is None for real noise.
Noise = tuple[str, float | None]

#: Rules that are not run on clean labels.
_NEED_NOISE = ("noise rate", "memorized fraction", "oracle")
#: The order in which methods are run.
_ORDER = (
    *("Default", CLEAN_SUBSET, "Prestopping", CROSS_PRESTOPPING),
    *("Co-teaching", "SELFIE", "Active Bias", "Co-teaching+", "CleanLearning"),
)
assert {*_ORDER, PRESTOPPING_PLUS} == set(METHODS)


@dataclass(frozen=True)
class Preset:
    """Settings by name, and the cells in the order in which they are run."""

    settings: dict[str, Setting]
    cells: tuple[Cell, ...]


def contenders_on(data: str, noise: Noise, seed: int) -> Iterator[Cell]:
    """Yield every method once on one data set, with the default stop rule."""
    cell = Cell("Default", data, *noise, seed)
    for method in _ORDER:
        if method == CLEAN_SUBSET and not cell.is_noisy:
            continue  # the same as Default
        if METHODS[method].takes_rule:
            yield replace(cell, method=method, q=10, rule=DEFAULT_RULE)
        else:
            yield replace(cell, method=method)


def rules_on(data: str, noise: Noise, seed: int) -> Iterator[Cell]:
    """Yield Prestopping with the other stop rules."""
    cell = Cell("Prestopping", data, *noise, seed, q=10)
    for rule in [rule for rule in RULES if rule != DEFAULT_RULE]:
        if cell.is_noisy or rule not in _NEED_NOISE:
            yield replace(cell, rule=rule)


def everything_on(data: str, noise: Noise, seed: int) -> Iterator[Cell]:
    """Yield every method, and Prestopping with every stop rule."""
    yield from contenders_on(data, noise, seed)
    yield from rules_on(data, noise, seed)


def grid(
    rows: Iterable[tuple[str, Noise]], seeds: Iterable[int], cells_on=everything_on
) -> list[Cell]:
    """Return all cells of some rows, one seed after the other."""
    rows = list(rows)
    return [c for seed in seeds for row in rows for c in cells_on(*row, seed)]


def injected(data: Iterable[str], rate: float) -> list[tuple[str, Noise]]:
    """Return rows of pair and symmetric noise of one rate."""
    return [(name, (noise, rate)) for name in data for noise in ("pair", "symmetric")]


def clean(data: Iterable[str]) -> list[tuple[str, Noise]]:
    """Return rows without noise."""
    return [(name, (CLEAN, 0.0)) for name in data]


def q_on(data: str, noise: Noise, seed: int) -> Iterator[Cell]:
    """Yield Prestopping with the default rule for several history lengths."""
    for q in (1, 5, 10, 15, 20):
        yield Cell("Prestopping", data, *noise, seed, q=q, rule=DEFAULT_RULE)


def prestopping_plus_on(data: str, noise: Noise, seed: int) -> Iterator[Cell]:
    """Yield the paper's Prestopping+ with the default rule."""
    yield Cell(PRESTOPPING_PLUS, data, *noise, seed, q=10, rule=DEFAULT_RULE)


def smoke() -> Preset:
    """Return every method and rule once, on digits, to check that all of it runs."""
    rows = [("digits", ("pair", 0.4)), *clean(["digits"])]
    cells = grid(rows, [0]) + grid(rows[:1], [0], q_on)
    cells += grid(rows[:1], [0], prestopping_plus_on)
    return _preset({"digits": Setting("digits", epochs=4, seconds=0.1)}, cells)


def _images(source: str, seconds: float) -> Setting:
    """Return a setting for images that two cores can train on."""
    module = "SmallCNN on halved images"
    return Setting(
        source, epochs=30, rows=1500, test_rows=1000, module=module, seconds=seconds
    )


LAPTOP = {
    "letter": Setting("letter", epochs=30, rows=8000, seconds=5),
    "satimage": Setting("satimage", epochs=40, seconds=4),
    "cifar10n_feat": Setting("cifar10n_feat", epochs=25, seconds=12),
    "music_genre": Setting("music_genre", epochs=60, seconds=2),
    "yoruba_news": Setting("yoruba_news", epochs=60, seconds=3),
    "youtube_weak": Setting("youtube_weak", epochs=60, seconds=3),
    "fashion_mnist": _images("fashion_mnist", seconds=9),
    "cifar10n": _images("cifar10n", seconds=12),
}


def laptop() -> Preset:
    """Return the preset for tables and small images on two cores."""
    tables = ("letter", "satimage")
    main = [
        *injected(tables, 0.4),
        *(("cifar10n_feat", (n, None)) for n in ("worst", "random1", "aggregate")),
        ("music_genre", ("one", None)),
        ("yoruba_news", ("gazetteer", None)),
        ("youtube_weak", ("lf", None)),
    ]
    images = [
        *injected(["fashion_mnist"], 0.4),
        ("cifar10n", ("worst", None)),
        *clean(["fashion_mnist"]),
    ]
    q_rows = [("letter", ("pair", 0.4)), ("cifar10n_feat", ("worst", None))]
    seeds, few_seeds = range(3), range(2)
    cells = grid(main, seeds)
    cells += grid(q_rows, seeds, q_on)
    cells += grid(images, few_seeds)
    cells += grid(main, seeds, prestopping_plus_on)
    light = [row for rate in (0.3, 0.2, 0.1) for row in injected(tables, rate)]
    light += clean(tables)
    for cells_on in (contenders_on, rules_on):
        cells += grid(light, seeds, cells_on)
    return _preset(LAPTOP, cells)


def _paper_setting(source: str, module: str) -> Setting:
    return Setting(source, epochs=120, module=module, device="cuda", seconds=3600)


PAPER = {
    f"{source} {module}": _paper_setting(source, module)
    for source in ("cifar10", "cifar100", "animal10n", "food101n")
    for module in ("DenseNet", "VGG19")
}


def paper() -> Preset:
    """Return the experiments of the paper: its networks, images and 120 epochs."""
    cifar = [name for name in PAPER if name.startswith("cifar")]
    cells = [
        c
        for rate in (0.4, 0.3, 0.2, 0.1)
        for c in grid(injected(cifar, rate), range(3))
    ]
    cells += grid(clean(cifar), range(3))
    cells += [
        cell
        for cell in grid(
            [(n, ("web", None)) for n in PAPER if n not in cifar], range(3)
        )
        if _needs_no_true_labels(cell)
    ]
    return _preset(PAPER, cells)


def _needs_no_true_labels(cell: Cell) -> bool:
    """Return whether a cell can be run on data without true labels."""
    has_clean_rows = cell.data.startswith("food101n")
    needs_true_labels = cell.method == CLEAN_SUBSET or cell.rule == "oracle"
    return not needs_true_labels and (has_clean_rows or cell.rule != "validation")


def _preset(settings: dict[str, Setting], cells: Iterable[Cell]) -> Preset:
    return Preset(settings, tuple(dict.fromkeys(cells)))  # q=10 is part of two grids


PRESETS = {"smoke": smoke, "laptop": laptop, "paper": paper}
