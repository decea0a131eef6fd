import numpy as np
import pytest


@pytest.fixture
def errors(accuracy):
    """Return a function that returns test errors of results by row and seed."""

    def errors(found):
        return accuracy.fits.by_seed(accuracy.fits.fits_of(found))

    return errors


def test_mean_and_standard_error_over_seeds(accuracy, result, errors):
    found = [result("Default", e, seed=s) for s, e in enumerate([0.1, 0.2, 0.6])]
    found += [result("ELR", 0.25), result("GCE", 0.1, noise="symmetric")]
    means = accuracy.fits.over_seeds(errors(found))
    row = "letter, pair 40 %"
    assert means.mean.at[row, "Default"] == pytest.approx(0.3)
    # Squared deviations 0.04, 0.01, 0.09; their sum over 2, over 3.
    assert means.error.at[row, "Default"] == pytest.approx((0.14 / 6) ** 0.5)
    means = means.of(["Default", "ELR", "SCE"])
    is_lowest = means.mean.eq(means.mean.min(axis=1), axis=0)
    shown = accuracy.layout.texts(means, is_lowest)
    dash = accuracy.layout.NOTHING
    assert list(accuracy.layout.markdown(shown)) == [
        "| data, noise | Default | ELR | SCE |",
        "|---|---|---|---|",
        f"| {row} | 30.0 ± 15.3 | **25.0** | {dash} |",
        f"| letter, symmetric 40 % | {dash} | {dash} | {dash} |",
        "",
    ]


def test_gap_closed_by_hand(accuracy, result, errors):
    found = errors(
        [
            result("Default", 0.30),
            result("clean subset", 0.10),
            result("Prestopping", 0.15),
            result("Default", 0.20, noise="symmetric"),
            result("clean subset", 0.16, noise="symmetric"),
            result("Prestopping", 0.21, noise="symmetric"),
            # A gap of half a point: not in the mean over rows, but in the sums.
            result("Default", 0.105, noise="lf", rate=None),
            result("clean subset", 0.100, noise="lf", rate=None),
            result("Prestopping", 0.095, noise="lf", rate=None),
            result("Default", 0.05, noise="clean", rate=0.0),
            result("Prestopping", 0.07, noise="clean", rate=0.0),
        ]
    )
    gaps = accuracy.fits.Gaps.of(found)
    assert dict(gaps.fraction["Prestopping"].round(9)) == pytest.approx(
        {
            "letter, lf 20 %": np.nan,
            "letter, pair 40 %": 0.75,
            "letter, symmetric 40 %": -0.25,
        },
        nan_ok=True,
    )
    assert gaps.fraction["Prestopping"].mean() == pytest.approx(0.25)
    # (0.15 - 0.01 + 0.01) / (0.20 + 0.04 + 0.005)
    assert gaps.pooled["Prestopping"] == pytest.approx(0.15 / 0.245)


def test_gaps_are_taken_over_common_seeds(accuracy, result, errors):
    found = [result("Default", e, seed=s) for s, e in enumerate([0.3, 0.9])]
    found += [result("clean subset", 0.1, seed=seed) for seed in (0, 1)]
    gaps = accuracy.fits.Gaps.of(errors([*found, result("Prestopping", 0.2, seed=0)]))
    assert gaps.fraction["Prestopping"].tolist() == pytest.approx([0.5])
    assert gaps.size["Default"].tolist() == pytest.approx([0.5])


def test_results_with_older_settings_are_not_used(result, errors):
    old = [result("Default", 0.9, seed=s, epochs=2) for s in range(3)]
    assert errors([*old, result("Default", 0.3)])["Default"].tolist() == [0.3]


def test_newer_files_replace_older_results(accuracy, result, tmp_path):
    paths = [tmp_path / "old.jsonl", tmp_path / "new.jsonl", tmp_path / "none.jsonl"]
    for path, errors in zip(paths, ({0: 0.5, 1: 0.4}, {0: 0.3}), strict=False):
        for seed, error in errors.items():
            accuracy.results.append(path, result("ELR", error, seed=seed))
    found = accuracy.results.read(*paths).values()
    assert [r["error_last"] for r in found] == [0.4, 0.3]
    assert accuracy.fits.read_fits(*paths)["error_last"].tolist() == [0.4, 0.3]


def test_other_rules_and_history_lengths_are_told_apart(accuracy, result):
    found = [result("Prestopping", 0.1), result("Prestopping", 0.2, q=5)]
    found += [result("Prestopping", 0.3, rule="oracle"), result("Default", 0.4)]
    kept = accuracy.fits.with_default_rule(accuracy.fits.fits_of(found))
    assert kept["error_last"].tolist() == [0.1, 0.4]
