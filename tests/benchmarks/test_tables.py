import pytest

FIELDS = {
    **{"epochs": 4, "rows": None, "test_rows": None, "module": None},
    **{"n_train": 100, "noise_rate": 0.4, "error_best_test": 0.01},
    **{"error_best_validation": 0.2, "safe_precision": 0.9, "safe_recall": 0.8},
    "seconds": 2.0,
}


@pytest.fixture
def result(accuracy):
    """Return a function that makes up the result of one fit."""

    def result(method, error, noise="pair", seed=0, rule=None, q=None, **fields):
        if method.startswith("Prestopping"):
            rule, q = rule or "default rule", q or 10
        rate = 0.0 if noise == "clean" else 0.4
        cell = accuracy.cells.Cell(method, "made up", noise, rate, seed, q, rule)
        return {**vars(cell), **FIELDS, "error_last": error, **fields}

    return result


@pytest.fixture
def summarise(accuracy):
    return accuracy.summary.Summary


def row(summary, noise="pair"):
    return next(row for row in summary.rows if row.noise == noise)


def text(part, summary):
    return "\n".join(part(summary))


def test_mean_and_standard_error_over_seeds(accuracy, result, summarise):
    errors = [0.1, 0.2, 0.6]
    summary = summarise(result("Default", e, seed=s) for s, e in enumerate(errors))
    estimate = summary.estimate(row(summary), accuracy.summary.DEFAULT)
    assert estimate.mean == pytest.approx(0.3)
    # Squared deviations 0.04, 0.01, 0.09; their sum over 2, over 3.
    assert estimate.error == pytest.approx((0.14 / 6) ** 0.5)
    assert accuracy.tables.with_error(estimate) == "30.0 ± 15.3"
    alone = summarise([result("Default", 0.25)])
    shown = alone.estimate(row(alone), accuracy.summary.DEFAULT)
    assert accuracy.tables.with_error(shown) == "25.0"


def test_damage_repaired_by_hand(accuracy, result, summarise):
    summary = summarise(
        [
            result("Default", 0.30),
            result("clean subset", 0.10),
            result("Prestopping", 0.15),
            result("Default", 0.20, noise="symmetric"),
            result("clean subset", 0.16, noise="symmetric"),
            result("Prestopping", 0.21, noise="symmetric"),
            # Damage of half a point: not in the mean of shares, but in the sums.
            result("Default", 0.105, noise="lf"),
            result("clean subset", 0.100, noise="lf"),
            result("Prestopping", 0.095, noise="lf"),
            result("Default", 0.05, noise="clean"),
            result("Prestopping", 0.07, noise="clean"),
        ]
    )
    repairs = summary.repairs(accuracy.summary.PRESTOPPING)
    shares = {row.noise: repair.share for row, repair in repairs.items()}
    assert shares["pair"] == pytest.approx(0.75)
    assert shares["symmetric"] == pytest.approx(-0.25)
    assert shares["lf"] is None
    assert "clean" not in shares
    found = repairs.values()
    assert accuracy.summary.mean_share(found) == pytest.approx(0.25)
    # (0.15 - 0.01 + 0.01) / (0.20 + 0.04 + 0.005)
    assert accuracy.summary.pooled_share(found) == pytest.approx(0.15 / 0.245)
    table = text(accuracy.tables.damage_repaired, summary)
    assert "(+1.0 points)" in table
    assert "| made up, pair 40 % | 20.0 |" in table


def test_damage_is_compared_over_the_seeds_that_all_have(accuracy, result, summarise):
    summary = summarise(
        [
            *(result("Default", e, seed=s) for s, e in enumerate([0.3, 0.9])),
            *(result("clean subset", e, seed=s) for s, e in enumerate([0.1, 0.1])),
            result("Prestopping", 0.2, seed=0),
        ]
    )
    repair = summary.repair(row(summary), accuracy.summary.PRESTOPPING)
    assert repair.share == pytest.approx(0.5)


def everyone(accuracy, result, errors, **fields):
    """Return results of all contenders: 0.3, unless named in ``errors``."""
    return [
        result(c.method, errors.get(c.method, 0.3), **fields)
        for c in accuracy.summary.CONTENDERS
    ]


def test_wins_are_counted_and_losses_listed(accuracy, result, summarise):
    summary = summarise(
        [
            *everyone(accuracy, result, {"Prestopping+": 0.1}),
            *everyone(accuracy, result, {"SELFIE": 0.25}, noise="symmetric"),
            *everyone(accuracy, result, {"Default": 0.28}, noise="clean"),
            result("Prestopping", 0.5, noise="lf"),  # the others are not run yet
            result("Default", 0.4, noise="lf"),
        ]
    )
    table = text(accuracy.tables.wins, summary)
    assert "In 1 of 2 noisy rows with all contenders (50 %)." in table
    assert "clean ones included: 3." in table
    line = "| made up, symmetric 40 % | SELFIE | 25.0 | Prestopping | 30.0 | 5.0 |"
    assert line in table
    assert "| made up, clean | Default | 28.0 | Prestopping | 30.0 | 2.0 |" in table


def test_lowest_contender_is_bold_and_gaps_are_dashes(accuracy, result, summarise):
    found = [result("Default", 0.3), result("Prestopping", 0.2)]
    summary = summarise([*found, result("clean subset", 0.1)])
    table = text(accuracy.tables.errors, summary)
    dash = accuracy.tables.NOTHING
    cells = ["30.0", *[dash] * 5, "**20.0**", dash, "20.0", "10.0"]
    assert f"| made up, pair 40 % | {' | '.join(cells)} |" in table


def test_rules_are_compared_with_the_best_supervised_one(accuracy, result, summarise):
    rules = accuracy.contenders.RULES
    errors = dict(zip(rules, [0.20, 0.18, 0.25, 0.19, 0.10], strict=True))
    found = [result("Prestopping", e, rule=r) for r, e in errors.items()]
    table = text(accuracy.tables.stop_rules, summarise(found))
    assert "- best of the supervised ones but the oracle, in each row: 2.0" in table
    assert "- best of all supervised ones, in each row: 10.0 (1 rows)" in table
    assert "- noise rate: -5.0 (1 rows)" in table


def test_lengths_of_history_are_side_by_side(accuracy, result, summarise):
    found = [result("Prestopping", q / 100, q=q) for q in (1, 5, 10, 20)]
    table = text(accuracy.tables.history_lengths, summarise(found))
    assert f"| 1.0 | 5.0 | 10.0 | {accuracy.tables.NOTHING} | 20.0 |" in table


def test_published_and_present_methods_are_side_by_side(accuracy, result, summarise):
    names = [accuracy.contenders.AS_PUBLISHED, "Prestopping", "Prestopping+"]
    found = [result(name, 0.1 * i) for i, name in enumerate(names, start=1)]
    table = text(accuracy.tables.as_published, summarise(found))
    safe = " (90.0 / 80.0)"
    cells = [number + safe for number in ("10.0", "20.0", "30.0")]
    assert f"| {' | '.join(cells)} |" in table


def test_times_are_multiples_of_plain_training(accuracy, result, summarise):
    found = [result("Default", 0.1), result("Co-teaching", 0.1, seconds=5.0)]
    table = text(accuracy.tables.times, summarise(found))
    dash = accuracy.tables.NOTHING
    assert f"| made up, pair 40 % | {dash} | 2.5 | {dash} |" in table


def test_figures_are_drawn_of_what_there_is(accuracy, result, tmp_path):
    found = [
        {**result(m, e, seed=seed, q=q), "rate": rate, "noise": noise}
        for m, e in (("Default", 0.3), ("clean subset", 0.1), ("Prestopping", 0.15))
        for noise, rate in (("pair", 0.4), ("pair", 0.2), ("worst", None))
        for seed in (0, 1)
        for q in ((1, 10) if m == "Prestopping" else (None,))
    ]
    path = tmp_path / "results.jsonl"
    for each in found:
        accuracy.results.append(path, each)
    assert accuracy.figures.main([str(path), str(tmp_path / "figures")]) == 0
    drawn = {picture.name for picture in (tmp_path / "figures").iterdir()}
    parts = ("damage", "history_lengths", "noise_rates", "real_noise")
    assert drawn == {f"benchmark_{part}.png" for part in parts}


def test_no_results_no_figures(accuracy, tmp_path):
    assert accuracy.figures.main([str(tmp_path / "none"), str(tmp_path / "new")]) == 0
    assert list((tmp_path / "new").iterdir()) == []


def test_results_under_older_settings_do_not_count(accuracy, result, summarise):
    old = [result("Default", 0.9, seed=s, epochs=2) for s in range(3)]
    summary = summarise([*old, result("Default", 0.3)])
    assert summary.values(row(summary), accuracy.summary.DEFAULT) == {0: 0.3}


def test_an_empty_file_makes_empty_tables(accuracy, summarise):
    for part in accuracy.tables.PARTS:
        assert text(part, summarise([])).startswith("## ")
