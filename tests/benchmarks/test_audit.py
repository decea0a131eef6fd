import json

import numpy as np
import pytest


@pytest.fixture
def fits(audit, tmp_path):
    """A folder with probabilities that were not made by training."""
    rng = np.random.RandomState(0)
    for mode, data, noise, rate in (
        ("forest", "iris", "symmetric", 0.3),
        ("linear", "moons", "pair", 0.1),
        ("boosting", "moons", "clean", None),
    ):
        true = rng.randint(3, size=300)
        is_wrong = rng.uniform(size=300) < (rate or 0)
        given = np.where(is_wrong, (true + 1) % 3, true)
        scores = rng.normal(size=(300, 3)) + 4 * np.eye(3)[true]
        probability = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        name = audit.audits.Audit(mode, data, noise, rate, 0).name
        found = {"given": given, "true": true, "probability": probability}
        np.savez(tmp_path / f"{name}.npz", **found, seconds=1.0)
    return tmp_path


@pytest.fixture
def chosen(audit, monkeypatch):
    """Let the benchmark audit what is stored."""
    made = [
        audit.audits.Audit("forest", "iris", "symmetric", 0.3, 0),
        audit.audits.Audit("linear", "moons", "pair", 0.1, 0),
        audit.audits.Audit("boosting", "moons", "clean", None, 0),
        audit.audits.Audit("boosting", "moons", "near", 0.1, 0),
    ]
    monkeypatch.setattr(audit.audits, "audits_of", lambda *_: made)
    return made


@pytest.fixture
def measured(audit, fits, chosen):
    path = fits / "results.jsonl"
    arguments = ["--stored", "--fits", str(fits), "--results", str(path)]
    for _ in range(2):
        assert audit.run.main([*arguments, "--kinds", "ready"]) == 0
    return list(audit.run.results.lines(path))


def test_stored_fits_are_measured_once(measured):
    assert [r["audit"]["data"] for r in measured] == ["iris", "moons", "moons"]
    first = measured[0]
    assert set(first["before"]) == {"suspects", "first 100", "all"}
    for when in ("before", "after"):
        expected, low, high, true, n = first[when]["all"]
        assert (true, n) == (first["n_wrong"], 300)
        assert low <= expected <= high
    assert first["f1"] <= first["best_f1"] <= 1
    assert len(first["classes"]) == 3


def test_f1_is_that_of_the_first_labels(audit):
    found = audit.run.f1_of_first(np.array([True, False, True]))
    assert found.tolist() == [0, 2 / 3, 0.5, 0.8]


def test_tables_show_coverage_and_clean_labels_apart(audit, measured):
    measured[0]["before"]["all"] = [10, 5, 20, 300, 300]
    measured[1]["before"]["all"] = [30, 20, 40, 30, 300]
    lines = list(audit.table.count_table(measured, "before"))
    assert [line.split("|")[1].strip() for line in lines[2:4]] == [
        "ready",
        "ready, clean labels",
    ]
    assert "0.50 / " in lines[2]
    assert any("moons" in line for line in audit.table.clean_table(measured))
    assert len(list(audit.table.decision_table(measured))) == 4


def test_the_comparison_has_a_column_per_method(audit):
    result = {"data": "digits", "n_labels": 10, "noise_rate": 0.4, "seed": 0}
    scores = {"average_precision": 0.5, "precision_at_100": 0.25, "seconds": 3.0}
    results = [{**result, "method": m, **scores} for m in ("audit", "Datalab")]
    lines = list(audit.table.datalab_table(results))
    assert lines[0] == "| data | rows | noise rate | audit | Datalab |"
    assert lines[2].endswith("| 0.500 / 0.25 / 3 s | 0.500 / 0.25 / 3 s |")


def test_constants_are_fitted(audit, fits, chosen, capsys):
    known = chosen[:3]
    module = audit.fit_constants
    found = [module.Fit(a, audit.audits.fitted(a, fits)) for a in known]
    constants = module.fit_constants(found)
    assert all(np.isfinite(value).all() for value in constants)
    assert constants.rate_spread > 0
    assert "left-out coverage" in capsys.readouterr().out


def test_no_held_out_set_is_fitted(audit):
    fitted, held_out = audit.audits.FITTED, audit.audits.HELD_OUT
    assert not set(fitted) & set(held_out)
    assert len(held_out) >= 8


def test_committed_results_cover_the_truth(audit):
    text = audit.run.RESULTS.read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in text]
    kinds = {audit.table.kind_of(r) for r in found}
    assert {"ready", "ready, clean labels"} <= kinds
    for when in ("before", "after"):
        counts = [
            count
            for result in found
            if result["audit"]["noise"] != "clean"
            for count in result[when].values()
        ]
        covered = [low <= true <= high for _, low, high, true, _ in counts]
        assert len(counts) > 150
        assert np.mean(covered) >= 0.8
