import pandas as pd
import pytest

ROW = ["data", "noise", "rate"]


@pytest.fixture(scope="module")
def cells_of(accuracy):
    """Return a function that returns the cells of a preset as a table."""
    return lambda name: pd.DataFrame(accuracy.presets.PRESETS[name]().cells)


@pytest.mark.parametrize(
    "name", ["smoke", "laptop", "rivals", "cost", "quality", "paper"]
)
def test_cells_are_unique_and_have_settings(accuracy, name):
    preset = accuracy.presets.PRESETS[name]()
    assert len({cell.key for cell in preset.cells}) == len(preset.cells)
    assert {cell.data for cell in preset.cells} == set(preset.settings)
    for cell in preset.cells:
        method = accuracy.contenders.METHODS[cell.method]
        assert (cell.rule is None) == (not method.takes_rule)
    for setting in preset.settings.values():
        assert setting.source in accuracy.data.LOADERS


def test_the_stored_results_are_those_of_the_presets(accuracy):
    for name in ("laptop", "rivals", "cost", "quality"):
        preset = accuracy.presets.PRESETS[name]()
        path = accuracy.comparison.FOLDER / f"{name}.jsonl"
        found = accuracy.results.read(path)
        assert set(found) <= set(preset.cells)
        for cell, result in found.items():
            assert accuracy.results.is_done(result, preset.settings[cell.data])


def test_heavy_and_real_noise_come_first(cells_of):
    cells = cells_of("laptop")
    assert cells["method"][:2].tolist() == ["Default", "clean subset"]
    before = cells[: cells["seed"].eq(1).idxmax()]
    assert set(before["rate"].dropna()) == {0.4}
    assert {"worst", "one", "gazetteer", "lf", "symmetric"} <= set(before["noise"])
    firsts = {"seed": 1, "q": 20, "data": "fashion_mnist", "rate": 0.3}
    order = [cells[name].eq(value).idxmax() for name, value in firsts.items()]
    assert order == sorted(order)


def test_the_laptop_preset_is_complete(cells_of):
    # Nine methods, four more rules, three seeds; on two rows four more q; and with
    # the heaviest noise the paper's Prestopping+.
    count = cells_of("laptop").groupby(ROW, dropna=False).size()
    assert count["satimage", "pair", 0.2] == 13 * 3
    assert count["letter", "pair", 0.4] == 18 * 3
    assert count["cifar10n_feat", "worst"].item() == 18 * 3
    assert count["cifar10n", "worst"].item() == 13 * 2
    assert count["letter", "clean", 0.0] == 9 * 3


def test_clean_labels_are_run_without_rules_that_need_noise(cells_of):
    clean = cells_of("laptop").query("noise == 'clean'")
    assert set(clean["rule"].dropna()) == {"default rule", "validation"}
    assert "clean subset" not in set(clean["method"])


def test_no_cell_needs_true_labels_that_are_not_known(cells_of):
    cells = cells_of("paper").query("noise == 'web'")
    rules = cells.groupby(cells["data"].str.split().str[0])["rule"].agg(set)
    assert not rules["animal10n"] & {"oracle", "validation"}
    assert "validation" in rules["food101n"]
    assert "oracle" not in rules["food101n"]
    assert "clean subset" not in set(cells["method"])


def test_rivals_are_ordered_by_seed_then_cost(accuracy, cells_of):
    cells = cells_of("rivals")
    tiers = accuracy.rivals.TIERS
    tier_of = {name: i for i, names in enumerate(tiers) for name in names}
    order = cells.assign(tier=cells["method"].map(tier_of))[["seed", "tier"]]
    assert order.equals(order.sort_values(["seed", "tier"], kind="stable"))
    assert cells["method"][:4].tolist() == list(tiers[0])
    assert len(cells[:4].drop_duplicates(ROW)) == 1


def test_every_method_is_run_on_every_row_of_the_comparison(accuracy, cells_of):
    cells, methods = cells_of("rivals"), accuracy.contenders.METHODS
    n_tables, n_images = 18, 4
    not_rivals = {"clean subset", *accuracy.rivals.PRICES, *accuracy.rivals.NEWER}
    for name in [name for name in methods if name not in not_rivals]:
        n_ctrl = 3 * (name in accuracy.rivals.CTRL_METHODS)
        n_wanted = 3 * n_tables + 2 * n_images * methods[name].is_network + n_ctrl
        assert (cells["method"] == name).sum() == n_wanted, name
    assert set(cells.query("data == 'cifar10n'")["seed"]) == {0, 1}


def test_settings_of_other_prices_are_run_on_the_same_tables(accuracy, cells_of):
    cells, rivals = (
        cells_of("prices"),
        cells_of("rivals").query("method == 'ExtraTrees'"),
    )
    assert set(cells["method"]) == set(accuracy.rivals.PRICES)
    for _, own in cells.groupby("method"):
        same = [*ROW, "seed"]
        assert (
            own[same].reset_index(drop=True).equals(rivals[same].reset_index(drop=True))
        )


def test_newer_methods_are_run_on_the_same_tables_with_seeds_of_their_own(
    accuracy, cells_of
):
    cells = cells_of("newer")
    assert set(cells["seed"]) == {12, 13}
    for name in accuracy.rivals.NEWER:
        assert (cells["method"] == name).sum() == 2 * (18 + 1)


def test_cost_is_measured_on_two_rows_for_every_other_method(accuracy, cells_of):
    counts = cells_of("cost")["method"].value_counts(sort=False)
    assert set(counts) == {2}
    assert set(counts.index) == set(accuracy.contenders.METHODS) - {"Default"}
