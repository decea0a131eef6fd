import pytest


@pytest.fixture(scope="module")
def laptop(accuracy):
    return accuracy.presets.laptop()


def first(cells, **wanted):
    """Return the position of the first cell with these values."""
    return next(
        i
        for i, cell in enumerate(cells)
        if all(getattr(cell, name) == value for name, value in wanted.items())
    )


@pytest.mark.parametrize(
    "name", ["smoke", "laptop", "rivals", "cost", "quality", "paper"]
)
def test_cells_are_unique_and_have_settings(accuracy, name):
    preset = accuracy.presets.PRESETS[name]()
    assert len(set(preset.cells)) == len(preset.cells)
    assert len({cell.key for cell in preset.cells}) == len(preset.cells)
    assert {cell.data for cell in preset.cells} == set(preset.settings)
    for cell in preset.cells:
        method = accuracy.contenders.METHODS[cell.method]
        assert (cell.rule is None) == (not method.takes_rule)
    for setting in preset.settings.values():
        assert setting.source in accuracy.data.LOADERS


def test_heavy_and_real_noise_come_first(laptop):
    cells = laptop.cells
    assert (cells[0].method, cells[1].method) == ("Default", "clean subset")
    assert (cells[0].data, cells[0].noise, cells[0].rate) == ("letter", "pair", 0.4)
    second_seed = first(cells, seed=1)
    before = cells[:second_seed]
    assert all(c.rate == 0.4 or c.rate is None for c in before)
    assert {c.noise for c in before} >= {"worst", "one", "gazetteer", "lf", "symmetric"}
    order = [
        second_seed,
        first(cells, seed=2),
        first(cells, q=20),
        first(cells, data="fashion_mnist"),
        first(cells, rate=0.3),
        first(cells, rate=0.2),
        first(cells, rate=0.1),
        first(cells, data="letter", noise="clean"),
    ]
    assert order == sorted(order)


def test_the_laptop_preset_is_complete(laptop):
    def found(**wanted):
        return {
            (c.method, c.rule, c.q, c.seed)
            for c in laptop.cells
            if all(getattr(c, name) == value for name, value in wanted.items())
        }

    # Nine methods, four more rules, three seeds; on two rows four more q; and with
    # the heaviest noise the paper's Prestopping+.
    assert len(found(data="satimage", noise="pair", rate=0.2)) == 13 * 3
    assert len(found(data="letter", noise="pair", rate=0.4)) == 18 * 3
    assert len(found(data="cifar10n_feat", noise="worst")) == 18 * 3
    assert len(found(data="cifar10n", noise="worst")) == 13 * 2
    assert len(found(data="letter", noise="clean")) == 9 * 3


def test_clean_labels_are_run_without_rules_that_need_noise(laptop):
    clean = [cell for cell in laptop.cells if not cell.is_noisy]
    assert {c.rule for c in clean} == {None, "default rule", "validation"}
    assert "clean subset" not in {c.method for c in clean}


def test_no_cell_needs_true_labels_that_are_not_known(accuracy):
    cells = accuracy.presets.paper().cells
    animal = [c for c in cells if c.data.startswith("animal10n")]
    food = [c for c in cells if c.data.startswith("food101n")]
    assert {c.rule for c in animal} & {"oracle", "validation"} == set()
    assert "validation" in {c.rule for c in food}
    assert "oracle" not in {c.rule for c in food}
    assert "clean subset" not in {c.method for c in animal + food}


def where(cells, **wanted):
    """Return the cells with these values."""
    return [
        cell
        for cell in cells
        if all(getattr(cell, name) == value for name, value in wanted.items())
    ]


@pytest.fixture(scope="module")
def rivals(accuracy):
    return accuracy.presets.PRESETS["rivals"]()


def test_rivals_are_ordered_by_seed_then_cost_then_row(accuracy, rivals):
    cells = rivals.cells
    assert [c.seed for c in cells] == sorted(c.seed for c in cells)
    tiers = accuracy.rivals.TIERS
    tier_of = {name: i for i, names in enumerate(tiers) for name in names}
    for seed in range(3):
        order = [tier_of[c.method] for c in where(cells, seed=seed)]
        assert order == sorted(order)
    assert [c.method for c in cells[:4]] == list(tiers[0])
    assert len({(c.data, c.noise, c.rate) for c in cells[:4]}) == 1


def test_every_method_is_run_on_every_row_of_the_comparison(accuracy, rivals):
    n_rows = len(accuracy.rivals.TABLE_ROWS), len(accuracy.rivals.IMAGE_ROWS)
    assert n_rows == (18, 4)
    names = [m for m in accuracy.contenders.METHODS if m != "clean subset"]
    for name in names:
        found = where(rivals.cells, method=name)
        n_ctrl = 3 * (name in accuracy.rivals.CTRL_METHODS)
        is_network = accuracy.contenders.METHODS[name].is_network
        assert len(found) == 3 * n_rows[0] + 2 * n_rows[1] * is_network + n_ctrl, name
    clean = where(rivals.cells, noise="clean")
    assert "clean subset" not in {c.method for c in clean}
    assert {c.seed for c in where(rivals.cells, data="cifar10n")} == {0, 1}
    assert len(where(rivals.cells, data="letter", noise="instance", rate=0.3)) == 3 * 35


def test_cells_of_both_presets_have_the_same_settings(accuracy, laptop, rivals):
    common = set(laptop.cells) & set(rivals.cells)
    assert len(common) > 400
    for cell in common:
        assert laptop.settings[cell.data] == rivals.settings[cell.data]


def test_cost_is_measured_on_two_rows_for_every_other_method(accuracy):
    preset = accuracy.presets.PRESETS["cost"]()
    assert preset.measures == "cost"
    n_methods = len(accuracy.contenders.METHODS) - 1
    assert len(preset.cells) == 2 * n_methods
    assert "Default" not in {c.method for c in preset.cells}
    # Both rows of a method, then those of the next.
    assert preset.cells[0].method == preset.cells[1].method
