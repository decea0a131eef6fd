import pytest

FIELDS = {
    **{"epochs": 4, "rows": None, "test_rows": None, "module": None},
    **{"noise_rate": 0.2, "safe_precision": 0.9, "safe_recall": 0.8},
}


@pytest.fixture
def result(accuracy):
    """Return a function that returns the made-up result of one fit."""

    def result(method, error, noise="pair", rate=0.4, seed=0, **fields):
        row = ("letter", (noise, rate))
        cell = accuracy.grids.cell_of(method, row, seed)
        return {**vars(cell), **FIELDS, "error_last": error, **fields}

    return result


@pytest.fixture
def compare(accuracy):
    """Return a function that compares results, given costs by method."""

    def compare(found, **costs):
        summary = accuracy.summary.Summary(found)
        measured = [{"method": name, "cost": cost} for name, cost in costs.items()]
        costs = accuracy.costs.Costs(measured, summary)
        return accuracy.comparison.Comparison.of(summary, costs)

    return compare


def text(part, comparison):
    return "\n".join(part(comparison))


def test_costs_are_measured_or_derived_or_expected(accuracy, result, compare):
    found = [
        result("Default", 0.3, cpu_seconds=2.0),
        result("ELR", 0.2, cpu_seconds=5.0),
        result("Default", 0.3, noise="symmetric", cpu_seconds=1.0),
        result("ELR", 0.2, noise="symmetric", cpu_seconds=1.5),
        result("GCE", 0.2, cpu_seconds=3.0),
        result("SCE", 0.2),
    ]
    costs = compare(found, GCE=1.04).costs
    shown = [str(costs.of(name)) for name in ("Default", "ELR", "GCE", "SCE", "D2L")]
    assert shown == ["1.0", "\N{ALMOST EQUAL TO} 2.0", "1.0", "(1)", "(1)"]


def test_methods_are_grouped_by_measured_cost(accuracy, result, compare):
    names = ["Default", "CrossPrestopping", "Prestopping", "Co-teaching"]
    found = [result(name, 0.2) for name in names]
    comparison = compare(found, CrossPrestopping=3.4, Prestopping=0.9)
    assert list(comparison.groups.values()) == [
        ["Prestopping", "Default"],
        ["Co-teaching", "CrossPrestopping"],
        [],
    ]


def test_overview_by_hand(accuracy, result, compare):
    found = [
        result("Default", 0.30),
        result("clean subset", 0.10),
        result("Prestopping", 0.15),
        result("SELFIE", 0.12),
        result("Default", 0.20, noise="symmetric"),
        result("clean subset", 0.16, noise="symmetric"),
        result("Prestopping", 0.19, noise="symmetric"),
        result("Default", 0.05, noise="clean", rate=0.0),
        result("Prestopping", 0.07, noise="clean", rate=0.0),
        result("Prestopping", 0.07, noise="pair", rate=0.3),  # not a row of ours
    ]
    table = text(accuracy.comparison.overview, compare(found, Prestopping=1.2))
    # Gaps closed: 0.15 / 0.2 and 0.01 / 0.04; pooled 0.16 / 0.24.
    assert "| **Prestopping** | 1.2 | 50.0 | 66.7 | 1 of 2 | +2.0, +2.0 | 1 |" in table
    assert "| SELFIE (given noise rate) | (1) | 90.0 | 90.0 | 1 of 1 |  | 1 |" in table
    assert "### Five fits and more" in table


def test_lost_rows_are_paired_by_seed(accuracy, result, compare):
    found = [
        *(result("Prestopping", e, seed=s) for s, e in enumerate([0.2, 0.3, 0.7])),
        *(result("ELR", e, seed=s) for s, e in enumerate([0.1, 0.2])),
        result("Prestopping", 0.2, noise="symmetric"),
        result("ELR", 0.2, noise="symmetric"),  # level
        result("Prestopping", 0.2, noise="instance", rate=0.3),
        result("SELFIE", 0.1, noise="instance", rate=0.3),
    ]
    table = text(accuracy.comparison.lost_rows, compare(found))
    assert "- Lowest of 3 methods: 1 of 3 noisy rows (33 %)." in table
    without = "- Lowest of 2 methods, given nothing but the data: 2 of 3 noisy rows"
    assert f"{without} (67 %)." in table
    line = "| letter, pair 40 % | ELR | 15.0 ± 5.0 | 40.0 ± 15.3 | 10.0 ± 0.0 |"
    assert line in table
    assert "| letter, instance 30 % | SELFIE (given noise rate) | 10.0 |" in table
    assert "symmetric" not in table


def test_lowest_errors_of_a_group_are_bold(accuracy, result, compare):
    found = [result("Default", 0.3), result("ELR", 0.2), result("GCE", 0.2)]
    found.append(result("clean subset", 0.1))
    table = text(accuracy.comparison.errors_by_group, compare(found))
    assert "| letter, pair 40 % | 30.0 | **20.0** | **20.0** | 10.0 |" in table


def metrics(accuracy, value):
    return dict.fromkeys(accuracy.ranking.METRICS, value)


def test_scores_are_compared_within_a_group(accuracy, result, compare):
    scores = {"aum": metrics(accuracy, 0.6), "log_margin": metrics(accuracy, 0.9)}
    found = [
        result("Default", 0.3, scores=scores, **metrics(accuracy, 0.5)),
        result("ELR", 0.3, **metrics(accuracy, 0.8)),
        result("ELR", 0.3, noise="symmetric", **metrics(accuracy, 0.6)),
        result("CleanLearning", 0.3, **metrics(accuracy, 0.7)),
        result("GCE", 0.3),  # without the fields, as in older results
    ]
    found[-2]["scores"] = {
        "self_confidence": metrics(accuracy, 0.7),
        "normalized_margin": metrics(accuracy, None),
    }
    comparison = compare(found)
    table = text(accuracy.finding_tables.overview, comparison)
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines]
    shown = {c[0]: (set(c[1:-1]), c[-1]) for c in cells if c[0] != "score"}
    log_margin = "Default: log margin of mean probabilities"
    assert shown == {
        "Default": ({"0.500"}, "0 of 1"),
        "Default: AUM": ({"0.600"}, "0 of 1"),
        log_margin: ({"0.900"}, "1 of 1"),
        "ELR": ({"0.700"}, "1 of 2"),
        "cleanlab: self-confidence": ({"0.700"}, "1 of 1"),
    }
    by_row = text(accuracy.finding_tables.by_group, comparison)
    assert "| letter, pair 40 % | 0.200 | 0.500 | 0.600 | **0.900** | 0.800 |" in by_row


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(1.0, 1.0, 1.0), (0.8, 1.0, 0.8), (None, 0.0, 0.2), (0.75, 0.75, 0.6)],
)
def test_labels_assessed_rightly(accuracy, precision, recall, expected):
    # Of ten labels two are wrong.
    found = {"noise_rate": 0.2, "safe_precision": precision, "safe_recall": recall}
    rightly = accuracy.finding_tables.assessed_rightly(found)
    assert rightly == pytest.approx(expected)


def test_trees_assess_no_labels(accuracy):
    result = {"noise_rate": 0.2, "safe_precision": None, "safe_recall": None}
    assert accuracy.finding_tables.assessed_rightly(result) is None


def test_published_figures_are_beside_ours(accuracy, result, compare):
    found = [result("Default", 0.1, "symmetric", 0.2, seed=seed) for seed in (0, 1)]
    for each in found:
        each["data"] = "letter, all rows"
    found.append({**result("Prestopping", 0.1, "symmetric", 0.2), "data": "satimage"})
    table = text(accuracy.finding_tables.ctrl, compare(found))
    dash = accuracy.layout.NOTHING
    assert "| CTRL, as published | 98.4 | 95.7 |" in table
    # 0.8 * 0.8 correct labels accepted, and 0.2 - 0.64 / 9 wrong ones rejected.
    assert f"| Default | 76.9 ± 0.0 | {dash} |" in table
    assert f"| Prestopping | {dash} | 76.9 |" in table
    assert "| nothing rejected | 80.0 | 80.0 |" in table


def test_all_tables_are_printed_from_the_stored_results(accuracy, capsys):
    assert accuracy.comparison.main([]) == 0
    shown = capsys.readouterr().out
    for title in ("Overview by cost", "Rows lost", "Finding wrong labels"):
        assert f"## {title}" in shown


def test_newer_files_replace_older_results(accuracy, result, tmp_path):
    paths = [tmp_path / "old.jsonl", tmp_path / "new.jsonl", tmp_path / "none.jsonl"]
    for path, errors in zip(paths, ({0: 0.5, 1: 0.4}, {0: 0.3}), strict=False):
        for seed, error in errors.items():
            accuracy.results.append(path, result("ELR", error, seed=seed))
    found = accuracy.results.read_all(paths).values()
    assert [r["error_last"] for r in found] == [0.4, 0.3]


def test_gaps_are_pooled_by_kind_of_noise(accuracy, result, compare):
    found = []
    for noise, rate, error in [("pair", 0.4, 0.1), ("symmetric", 0.4, 0.25)]:
        at = {"noise": noise, "rate": rate}
        found += [result("Default", 0.3, **at), result("clean subset", 0.1, **at)]
        found += [result("ELR", error, **at)]
    shown = text(accuracy.kinds.by_kind, compare(found))
    assert (
        "1 of pair noise, 1 of symmetric noise, 0 of instance noise, 0 of real" in shown
    )
    nothing = accuracy.layout.NOTHING
    assert f"| ELR | 100.0 | 25.0 | {nothing} | {nothing} |" in shown
    assert (
        accuracy.kinds.kind_of(accuracy.summary.Row("x", "gazetteer", None)) == "real"
    )
