import pandas as pd
import pytest


@pytest.fixture
def compare(accuracy):
    """Return a function that compares results, given costs by method."""

    def compare(found, **costs):
        measured = pd.DataFrame(costs.items(), columns=["method", "cost"])
        return accuracy.comparison.Comparison(accuracy.fits.fits_of(found), measured)

    return compare


def text(part, comparison):
    return "\n".join(part(comparison))


def test_costs_are_measured_or_derived_or_expected(result, compare):
    found = [
        result("Default", 0.3, cpu_seconds=2.0),
        result("ELR", 0.2, cpu_seconds=5.0),
        result("Default", 0.3, noise="symmetric", cpu_seconds=1.0),
        result("ELR", 0.2, noise="symmetric", cpu_seconds=1.5),
        result("GCE", 0.2, cpu_seconds=3.0),
        result("SCE", 0.2),
    ]
    costs = compare(found, GCE=1.04).costs["text"]
    expected = {"Default": "1.0", "SCE": "(1)", "GCE": "1.0"}
    assert dict(costs) == {**expected, "ELR": "\N{ALMOST EQUAL TO} 2.0"}


def test_methods_are_grouped_by_measured_cost(result, compare):
    names = ["Default", "CrossPrestopping", "Prestopping", "Co-teaching"]
    found = [result(name, 0.2) for name in names]
    comparison = compare(found, CrossPrestopping=3.4, Prestopping=0.9)
    assert list(comparison.groups.values()) == [
        ["Prestopping", "Default"],
        ["Co-teaching", "CrossPrestopping"],
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
    comparison = compare(found, Prestopping=1.2)
    table = text(accuracy.comparison.overview, comparison)
    # Gaps closed: 0.15 / 0.2 and 0.01 / 0.04; pooled 0.16 / 0.24.
    assert "| **Prestopping** | 1.2 | 50.0 | 66.7 | 1 of 2 | +2.0, +2.0 | 1 |" in table
    assert "| SELFIE (given noise rate) | (1) | 90.0 | 90.0 | 1 of 1 |  | 1 |" in table
    kinds = text(accuracy.comparison.by_kind, comparison)
    assert "1 of pair noise, 1 of symmetric noise, 0 of instance noise, 0 of" in kinds
    dash = accuracy.layout.NOTHING
    assert f"| Prestopping | 75.0 | 25.0 | {dash} | {dash} |" in kinds


def test_lost_rows_are_paired_by_seed(accuracy, result, compare):
    found = [
        *(result("Prestopping", e, seed=s) for s, e in enumerate([0.2, 0.3, 0.7])),
        *(result("ELR", e, seed=s) for s, e in enumerate([0.1, 0.2])),
        result("Prestopping", 0.2, noise="symmetric"),
        result("ELR", 0.2, noise="symmetric"),  # level
        result("Prestopping", 0.2, noise="instance", rate=0.3),
        result("SELFIE", 0.1, noise="instance", rate=0.3),
        result("Default", 0.9),
    ]
    table = text(accuracy.comparison.lost_rows, compare(found))
    assert "- Lowest of 4 methods: 1 of 3 noisy rows (33 %)." in table
    without = "- Lowest of 3 methods, given nothing but the data: 2 of 3 noisy rows"
    assert f"{without} (67 %)." in table
    line = "| letter, pair 40 % | ELR | 15.0 ± 5.0 | 40.0 ± 15.3 | 10.0 ± 0.0 |"
    assert line in table
    assert "| letter, instance 30 % | SELFIE (given noise rate) | 10.0 |" in table
    assert "symmetric" not in table


def test_scores_are_compared_within_a_group(accuracy, result, compare):
    def metrics(value):
        return dict.fromkeys(accuracy.ranking.METRICS, value)

    scores = {"aum": metrics(0.6), "log_margin": metrics(0.9)}
    of_cleanlab = {"self_confidence": metrics(0.7), "normalized_margin": metrics(None)}
    found = [
        result("Default", 0.3, scores=scores, **metrics(0.5)),
        result("ELR", 0.3, **metrics(0.8)),
        result("ELR", 0.3, noise="symmetric", **metrics(0.6)),
        result("CleanLearning", 0.3, scores=of_cleanlab, **metrics(0.7)),
        result("GCE", 0.3),  # without the fields, as in older results
    ]
    comparison = compare(found)
    table = text(accuracy.finding_tables.overview, comparison)
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines]
    shown = {c[0]: (set(c[1:-1]), c[-1]) for c in cells if c[0] != "score"}
    assert shown == {
        "Default": ({"0.500"}, "0 of 1"),
        "Default: AUM": ({"0.600"}, "0 of 1"),
        "Default: log margin of mean probabilities": ({"0.900"}, "1 of 1"),
        "ELR": ({"0.700"}, "1 of 2"),
        "cleanlab: self-confidence": ({"0.700"}, "1 of 1"),
    }
    by_row = text(accuracy.finding_tables.by_group, comparison)
    assert "| letter, pair 40 % | 0.200 | 0.500 | 0.600 | **0.900** | 0.800 |" in by_row


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(1, 1, 1.0), (0.8, 1, 0.8), (None, 0, 0.2), (0.75, 0.75, 0.6), (None, None, None)],
)
def test_labels_assessed_rightly(accuracy, precision, recall, expected):
    # Of ten labels two are wrong. Trees assess none.
    fit = {"noise_rate": 0.2, "safe_precision": precision, "safe_recall": recall}
    rightly = accuracy.finding_tables.assessed_rightly(pd.DataFrame([fit]))[0]
    assert expected is None if pd.isna(rightly) else rightly == pytest.approx(expected)
