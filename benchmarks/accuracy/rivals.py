"""The comparison at equal cost: many methods on fewer rows, and what a fit costs.

Seeds are outermost and cheap methods come first, so that a run that is cut off has
compared whole groups of methods on all rows.
"""

from collections.abc import Iterator

from cells import INSTANCE, Cell
from contenders import (
    CLEAN_LEARNING,
    CLEAN_SUBSET,
    CROSS_CHEAP,
    CROSS_PRESTOPPING,
    CROSS_THREE,
    CROSS_TREES,
    DEFAULT,
    ESTIMATED,
    METHODS,
    PRESTOPPING,
    PRESTOPPING_PLUS,
)
from grids import DataRow, Preset, clean, grid, injected, methods_on, preset_of
from settings import ALL_OF_LETTER, LAPTOP

#: Methods from cheap to expensive; methods of a tier are run row by row.
TIERS: tuple[tuple[str, ...], ...] = (
    (DEFAULT, CLEAN_SUBSET, PRESTOPPING, "Active Bias"),
    ("ELR", "GCE", "SCE", "Bootstrap", "MentorNet", "D2L"),
    ("RandomForest", "ExtraTrees", "HistGradientBoosting"),
    (
        *("Co-teaching", f"Co-teaching{ESTIMATED}", "JoCoR", f"JoCoR{ESTIMATED}"),
        *("SELFIE", f"SELFIE{ESTIMATED}"),
        *("Co-teaching+", f"Co-teaching+{ESTIMATED}"),
        *(PRESTOPPING_PLUS, "Decouple", "Forward correction", "Learning to reweight"),
    ),
    (CROSS_PRESTOPPING, "four Prestopping", "seven Default", "four Co-teaching"),
    (CLEAN_LEARNING, f"three Co-teaching{ESTIMATED}", "INCV", "ITLM"),
    ("CleanLearning of Prestopping", "CleanLearning of HistGradientBoosting"),
)
#: Methods that were added later, and are run with seeds of their own.
NEWER = ("CORES", "GJS", "MORPH", "PES", "SOP", "SSR", "DivideMix")
#: CrossPrestopping with a second opinion, at three prices.
PRICES = (CROSS_CHEAP, CROSS_THREE, CROSS_TREES)
EVERYTHING = [m for some in (*TIERS, PRICES, NEWER) for m in some]
assert sorted(METHODS) == sorted(EVERYTHING)

REAL_NOISE: tuple[DataRow, ...] = (
    *(("cifar10n_feat", (noise, None)) for noise in ("worst", "random1", "aggregate")),
    ("music_genre", ("one", None)),
    ("yoruba_news", ("gazetteer", None)),
    ("youtube_weak", ("lf", None)),
)
_TABLES = ("letter", "satimage")
TABLE_ROWS: tuple[DataRow, ...] = (
    *injected(_TABLES, 0.4),
    *((data, (INSTANCE, 0.3)) for data in _TABLES),
    *REAL_NOISE,
    *injected(_TABLES, 0.2),
    *clean(_TABLES),
)
IMAGE_ROWS: tuple[DataRow, ...] = (
    *injected(["fashion_mnist"], 0.4),
    ("cifar10n", ("worst", None)),
    *clean(["fashion_mnist"]),
)
#: The rows of the comparison.
ROWS = TABLE_ROWS + IMAGE_ROWS
#: Images take long, and are run with the first seeds only.
N_SEEDS, N_IMAGE_SEEDS = 3, 2
#: Of the methods that were added later.
NEWER_SEEDS = (12, 13)

#: The experiments of CTRL with 20 % symmetric noise; those on satimage are in ROWS.
CTRL_ROWS: tuple[DataRow, ...] = tuple(
    (data, ("symmetric", 0.2)) for data in ALL_OF_LETTER
)
#: Methods that are run on these rows.
CTRL_METHODS = (
    *(DEFAULT, PRESTOPPING, "Active Bias", "ELR", "Co-teaching"),
    *(f"Co-teaching{ESTIMATED}", CROSS_PRESTOPPING, CLEAN_LEARNING),
)
#: Rows on which the cost of a fit is measured.
COST_ROWS: tuple[DataRow, ...] = (
    ("letter", ("pair", 0.4)),
    ("satimage", ("symmetric", 0.4)),
)


def _cells_of_tier(methods: tuple[str, ...], seed: int) -> Iterator[Cell]:
    """Yield all rows of some methods; trees are run on tables only."""
    networks = [name for name in methods if METHODS[name].is_network]
    for row in TABLE_ROWS:
        yield from methods_on(methods, row, seed)
    for row in CTRL_ROWS:
        yield from methods_on([m for m in methods if m in CTRL_METHODS], row, seed)
    for row in IMAGE_ROWS if seed < N_IMAGE_SEEDS else ():
        yield from methods_on(networks, row, seed)


def rivals() -> Preset:
    """Return the comparison with the methods of the field."""
    seeds = range(N_SEEDS)
    cells = [c for s in seeds for methods in TIERS for c in _cells_of_tier(methods, s)]
    return preset_of(LAPTOP | ALL_OF_LETTER, cells)


def prices() -> Preset:
    """Return CrossPrestopping with a second opinion on all rows of tables."""
    rows = grid(TABLE_ROWS, range(N_SEEDS), lambda *at: methods_on(PRICES, *at))
    return preset_of(LAPTOP, rows)


def newer() -> Preset:
    """Return methods that were added later, and what they are compared with."""
    compared = (DEFAULT, CLEAN_SUBSET, PRESTOPPING, "ELR", "GCE", *NEWER)
    rows = [("fashion_mnist", ("symmetric", 0.4)), *TABLE_ROWS]
    return preset_of(
        LAPTOP, grid(rows, NEWER_SEEDS, lambda *at: methods_on(compared, *at))
    )


def cost() -> Preset:
    """Return the cells that measure what a fit of each method costs."""
    without_default = [m for m in EVERYTHING if m != DEFAULT]
    cells = grid(
        COST_ROWS, [0], lambda row, seed: methods_on(without_default, row, seed)
    )
    cells.sort(key=lambda cell: without_default.index(cell.method))
    return preset_of({name: LAPTOP[name] for name, _ in COST_ROWS}, cells, "cost")
