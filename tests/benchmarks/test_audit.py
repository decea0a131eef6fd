import numpy as np
import pytest


@pytest.fixture
def fits(audit, tmp_path):
    """A folder with fits of two data sets that were not made by training."""
    rng = np.random.RandomState(0)
    for data in ("satimage", "letter"):
        for seed in (0, 10):
            true = rng.randint(3, size=600)
            is_wrong = rng.uniform(size=600) < 0.3
            quality = 1 / (1 + np.exp(rng.normal(size=600) + 4 * is_wrong - 2))
            np.savez(
                tmp_path / f"quick-{data}-pair-0.4-{seed}.npz",
                given=np.where(is_wrong, (true + 1) % 3, true),
                true=true,
                suggested=true,
                quality=quality,
                is_safe=quality >= 0.5,
                classes=np.arange(3),
                disagreement=0.35,
                is_out_of_fold=False,
                seconds=1.0,
            )
    return tmp_path


def test_stored_fits_are_measured_once(audit, fits, capsys):
    path = fits / "results.jsonl"
    arguments = ["--stored", "--fits", str(fits), "--results", str(path), "--jobs", "1"]
    for _ in range(2):
        assert audit.run.main(arguments) == 0
    found = list(audit.run.results.lines(path))
    assert [r["audit"]["data"] for r in found] == ["satimage", "letter"]
    first = found[0]
    assert set(first["counts"]) == {"50", "100", "200", "500", "estimated", "all"}
    expected, low, high, true, n = first["counts"]["all"]
    assert n == 600
    assert true == round(first["noise_rate"] * 600)
    assert low <= expected <= high
    assert len(first["classes"]) == 3
    assert audit.run.main([*arguments, "--again"]) == 0
    assert len(list(audit.run.results.lines(path))) == 2


def test_tables_show_coverage_and_misses(audit, fits):
    path = fits / "results.jsonl"
    arguments = ["--stored", "--fits", str(fits), "--results", str(path), "--jobs", "1"]
    audit.run.main(arguments)
    results = list(audit.run.results.lines(path))
    results[0]["counts"]["all"] = [10, 5, 20, 300, 600]
    lines = list(audit.table.coverage_table(results))
    assert lines[-4].startswith("| errors among all labels | 2 | 0.500 |")
    text = "\n".join(audit.table.count_table(results, seed=0))
    assert "10 (5 to 20), 300 ✗" in text
    assert "satimage, pair 40 %" in text


def test_the_comparison_has_a_column_per_method(audit):
    result = {"data": "digits", "n_labels": 10, "noise_rate": 0.4, "seed": 0}
    scores = {"average_precision": 0.5, "precision_at_100": 0.25, "seconds": 3.0}
    results = [{**result, "method": m, **scores} for m in ("audit", "Datalab")]
    lines = list(audit.table.datalab_table(results))
    assert lines[0] == "| data | rows | noise rate | audit | Datalab |"
    assert lines[2].endswith("| 0.500 / 0.25 / 3 s | 0.500 / 0.25 / 3 s |")


def test_constants_are_fitted_to_development_seeds(audit, fits, capsys):
    found = audit.fit_constants.stored_fits("quick", fits)
    assert [fit.data for fit in found] == ["satimage", "letter"]
    constants = audit.fit_constants.fit_constants(found)
    assert constants.rate_spread[0] >= audit.fit_constants.LEAST_SPREAD
    assert all(np.isfinite(value).all() for value in constants)
    assert "left out" in capsys.readouterr().out


def test_rows_of_development_include_low_noise(audit):
    rows = audit.audits.rows_of("default", is_development=True)
    assert ("letter", "symmetric", 0.03) in rows
    assert ("trec_rules", "rules", None) in audit.audits.rows_of("quick", False)


def test_committed_results_cover_the_truth(audit):
    found = list(audit.run.results.lines(audit.run.RESULTS))
    usual = [r for r in found if r["audit"]["data"] not in audit.audits.IMPOSSIBLE]
    for mode in audit.audits.MODES:
        counts = [
            count
            for result in usual
            if result["audit"]["mode"] == mode
            for count in result["counts"].values()
        ]
        covered = [low <= true <= high for _, low, high, true, _ in counts]
        assert len(counts) > 200
        assert np.mean(covered) >= 0.85
