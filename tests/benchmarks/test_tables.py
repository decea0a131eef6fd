import pytest

FIELDS = {
    **{"epochs": 4, "rows": None, "test_rows": None, "module": None},
    **{"n_train": 100, "noise_rate": 0.4, "error_best_test": 0.01},
    **{"error_best_validation": 0.2, "safe_precision": 0.9, "safe_recall": 0.8},
    "seconds": 2.0,
}


@pytest.fixture
def result(accuracy):
    """Return a function that returns the made-up result of one fit."""

    def result(method, error, noise="pair", seed=0, rule=None, q=None, **fields):
        if accuracy.contenders.METHODS[method].takes_rule:
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
    assert accuracy.layout.with_error(estimate) == "30.0 ± 15.3"
    alone = summarise([result("Default", 0.25)])
    shown = alone.estimate(row(alone), accuracy.summary.DEFAULT)
    assert accuracy.layout.with_error(shown) == "25.0"


def test_gap_closed_by_hand(accuracy, result, summarise):
    summary = summarise(
        [
            result("Default", 0.30),
            result("clean subset", 0.10),
            result("Prestopping", 0.15),
            result("Default", 0.20, noise="symmetric"),
            result("clean subset", 0.16, noise="symmetric"),
            result("Prestopping", 0.21, noise="symmetric"),
            # A gap of half a point: not in the mean over rows, but in the sums.
            result("Default", 0.105, noise="lf"),
            result("clean subset", 0.100, noise="lf"),
            result("Prestopping", 0.095, noise="lf"),
            result("Default", 0.05, noise="clean"),
            result("Prestopping", 0.07, noise="clean"),
        ]
    )
    gaps = summary.gaps(accuracy.summary.PRESTOPPING)
    fractions = {row.noise: gap.fraction for row, gap in gaps.items()}
    assert fractions["pair"] == pytest.approx(0.75)
    assert fractions["symmetric"] == pytest.approx(-0.25)
    assert fractions["lf"] is None
    assert "clean" not in fractions
    found = gaps.values()
    assert accuracy.summary.mean_fraction(found) == pytest.approx(0.25)
    # (0.15 - 0.01 + 0.01) / (0.20 + 0.04 + 0.005)
    assert accuracy.summary.pooled_fraction(found) == pytest.approx(0.15 / 0.245)
    table = text(accuracy.tables.gap_closed, summary)
    assert "(+1.0 points)" in table
    assert "| made up, pair 40 % | 20.0 |" in table


def test_gaps_are_taken_over_common_seeds(accuracy, result, summarise):
    summary = summarise(
        [
            *(result("Default", e, seed=s) for s, e in enumerate([0.3, 0.9])),
            *(result("clean subset", e, seed=s) for s, e in enumerate([0.1, 0.1])),
            result("Prestopping", 0.2, seed=0),
        ]
    )
    gap = summary.gap(row(summary), accuracy.summary.PRESTOPPING)
    assert gap.fraction == pytest.approx(0.5)


def all_methods(accuracy, result, errors, **fields):
    """Return results of all methods: 0.3 unless given in ``errors``."""
    return [
        result(c.method, errors.get(c.method, 0.3), **fields)
        for c in accuracy.summary.CONTENDERS
    ]


def test_wins_are_counted_and_losses_listed(accuracy, result, summarise):
    summary = summarise(
        [
            *all_methods(accuracy, result, {"CrossPrestopping": 0.1}),
            *all_methods(accuracy, result, {"SELFIE": 0.25}, noise="symmetric"),
            *all_methods(accuracy, result, {"Default": 0.28}, noise="clean"),
            result("Prestopping", 0.5, noise="lf"),  # without the other methods
            result("Default", 0.4, noise="lf"),
        ]
    )
    table = text(accuracy.tables.wins, summary)
    assert "1 of the 2 noisy rows with all methods (50 %)." in table
    # With pair noise Prestopping is level with the other methods.
    assert "Prestopping alone, without the other of the two: 1." in table
    assert "CrossPrestopping alone, without the other of the two: 1." in table
    assert "clean ones included: 3." in table
    line = "| made up, symmetric 40 % | SELFIE | 25.0 | Prestopping | 30.0 | 5.0 |"
    assert line in table
    assert "| made up, clean | Default | 28.0 | Prestopping | 30.0 | 2.0 |" in table


def test_lowest_error_is_bold_and_missing_ones_are_dashes(accuracy, result, summarise):
    found = [result("Default", 0.3), result("Prestopping", 0.2)]
    summary = summarise([*found, result("clean subset", 0.1)])
    table = text(accuracy.tables.errors, summary)
    dash = accuracy.layout.NOTHING
    cells = ["30.0", *[dash] * 5, "**20.0**", dash, "20.0", "10.0"]
    assert f"| made up, pair 40 % | {' | '.join(cells)} |" in table


def test_rules_are_compared_with_the_best_supervised_one(accuracy, result, summarise):
    rules = accuracy.contenders.RULES
    errors = dict(zip(rules, [0.20, 0.18, 0.25, 0.19, 0.10], strict=True))
    found = [result("Prestopping", e, rule=r) for r, e in errors.items()]
    table = text(accuracy.tables.stop_rules, summarise(found))
    assert "- best supervised rule per row, without the oracle: 2.0" in table
    assert "- best supervised rule per row: 10.0 (1 rows)" in table
    assert "- noise rate: -5.0 (1 rows)" in table


def test_history_lengths_are_side_by_side(accuracy, result, summarise):
    found = [result("Prestopping", q / 100, q=q) for q in (1, 5, 10, 20)]
    table = text(accuracy.tables.history_lengths, summarise(found))
    assert f"| 1.0 | 5.0 | 10.0 | {accuracy.layout.NOTHING} | 20.0 |" in table


def test_paper_methods_are_beside_crossprestopping(accuracy, result, summarise):
    names = ["Prestopping+", "Prestopping", "CrossPrestopping"]
    found = [result(name, 0.1 * i) for i, name in enumerate(names, start=1)]
    table = text(accuracy.tables.paper_methods, summarise(found))
    safe = " (90.0 / 80.0)"
    cells = [number + safe for number in ("10.0", "20.0", "30.0")]
    assert f"| {' | '.join(cells)} |" in table


def test_times_are_relative_to_default(accuracy, result, summarise):
    found = [result("Default", 0.1), result("Co-teaching", 0.1, seconds=5.0)]
    table = text(accuracy.tables.times, summarise(found))
    dash = accuracy.layout.NOTHING
    assert f"| made up, pair 40 % | {dash} | 2.5 | {dash} |" in table


def test_figures_are_drawn_from_the_results(accuracy, result, tmp_path):
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
    parts = ("gap_closed", "history_lengths", "noise_rates", "real_noise")
    assert drawn == {f"benchmark_{part}.png" for part in parts}


def test_no_results_no_figures(accuracy, tmp_path):
    assert accuracy.figures.main([str(tmp_path / "none"), str(tmp_path / "new")]) == 0
    assert list((tmp_path / "new").iterdir()) == []


def test_results_with_older_settings_are_not_used(accuracy, result, summarise):
    old = [result("Default", 0.9, seed=s, epochs=2) for s in range(3)]
    summary = summarise([*old, result("Default", 0.3)])
    assert summary.values(row(summary), accuracy.summary.DEFAULT) == {0: 0.3}


def test_an_empty_file_gives_empty_tables(accuracy, summarise):
    for part in accuracy.tables.PARTS:
        assert text(part, summarise([])).startswith("## ")
