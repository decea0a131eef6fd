import json
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.utils import Bunch

METHODS = ["Prestopping", "CrossPrestopping"]


def load_blobs():
    X, y = make_blobs(300, centers=3, cluster_std=1.0, random_state=0)
    X = X.astype(np.float32)
    return Bunch(X_train=X[:200], y_train=y[:200], X_test=X[200:], y_test=y[200:])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.jsonl"


@pytest.fixture
def run(accuracy, label_quality, path, monkeypatch):
    """Return a function that runs the benchmark on two rows of synthetic data."""
    accuracy.data._rows_of.cache_clear()
    setting = accuracy.cells.Setting("blobs", epochs=6)
    monkeypatch.setitem(accuracy.data.LOADERS, "blobs", load_blobs)
    monkeypatch.setattr(label_quality.run, "SETTINGS", {"blobs": setting})
    rows = [("blobs", ("symmetric", 0.2)), ("blobs", ("pair", 0.3))]
    monkeypatch.setattr(label_quality.run, "ROWS", rows)

    def run(*arguments):
        return label_quality.run.main(
            ["--jobs", "1", "--results", str(path), *arguments]
        )

    yield run
    accuracy.data._rows_of.cache_clear()


def test_scores_of_fitted_classifiers(label_quality, run, path, capsys):
    assert run("--methods", *METHODS, "--seeds", "0", "1") == 0
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(found) == 2 * 2 * len(METHODS)
    for result in found:
        assert set(result["scores"]) == {"label_agreement_", "label_quality_"}
        for score in result["scores"].values():
            assert result["noise_rate"] < score["average_precision"] <= 1
            assert 0.5 < score["auroc"] <= 1
    capsys.readouterr()
    assert label_quality.table.main([str(path)]) == 0
    shown = capsys.readouterr().out
    assert "## Average precision of finding wrong labels" in shown
    assert "| CrossPrestopping: `label_quality_` |" in shown
    assert shown.count("| blobs, pair 30 % | ") == 5
    assert shown.count("| **mean over rows** |") == 5


@pytest.mark.skipif(not find_spec("cleanlab"), reason="needs cleanlab")
def test_cleanlab_scores_of_out_of_fold_probabilities(accuracy, run, path):
    assert run("--methods", "cleanlab", "--seeds", "0") == 0
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(found) == 2
    for result in found:
        assert list(result["scores"]) == list(accuracy.out_of_fold.CLEANLAB_SCORES)
        score = result["scores"]["self_confidence"]
        assert score["average_precision"] > result["noise_rate"]


def test_finished_fits_are_not_repeated(run, path, capsys):
    assert run("--methods", "Default", "--seeds", "0") == 0
    content = path.read_bytes()
    assert "0 of 2 cells have a result" in capsys.readouterr().out
    path.write_bytes(content[:-30])
    assert run("--methods", "Default", "--seeds", "0") == 0
    assert "1 of 2 cells have a result" in capsys.readouterr().out
    assert run("--methods", "Default", "--seeds", "0") == 0
    assert "2 of 2 cells have a result" in capsys.readouterr().out
    assert len(path.read_text().splitlines()) == 2


def test_a_failing_fit_does_not_stop_others(label_quality, run, path, monkeypatch):
    measure = label_quality.detection.measure

    def fail_on_pair(cell, setting):
        if cell.noise == "pair":
            raise RuntimeError("failed on purpose")
        return measure(cell, setting)

    monkeypatch.setattr(label_quality.detection, "measure", fail_on_pair)
    assert run("--methods", "Default", "--seeds", "0") == 1
    assert len(path.read_text().splitlines()) == 1


def test_scores_of_a_run_of_default(label_quality, run, path):
    assert run("--methods", "Default", "--seeds", "0") == 0
    for line in path.read_text().splitlines():
        result = json.loads(line)
        for name in ("aum", "log_margin"):
            score = result["scores"][name]
            assert score["average_precision"] > result["noise_rate"]


def test_results_of_older_versions_have_fewer_metrics(label_quality, capsys):
    scores = {"score": {"average_precision": 0.5, "auroc": 0.6}}
    row = {"data": "made up", "noise": "pair", "rate": 0.4, "noise_rate": 0.25}
    result = {**row, "method": "A", "seed": 0, "scores": scores}
    table = list(
        label_quality.table.table(
            label_quality.table.Scores([result]), "precision_at_k"
        )
    )
    dash = label_quality.table.NOTHING
    assert table[2] == f"| made up, pair 40 % | 0.250 | 1 | {dash} |"


def test_table_by_hand(label_quality):
    def result(method, seed, value, noise="pair"):
        scores = {"score": {"average_precision": value, "auroc": value}}
        row = {"data": "made up", "noise": noise, "rate": 0.4, "noise_rate": 0.25}
        return {**row, "method": method, "seed": seed, "scores": scores}

    scores = label_quality.table.Scores(
        [
            *(result("A", seed, value) for seed, value in enumerate([0.1, 0.2, 0.6])),
            result("B", 0, 0.5),
            result("A", 0, 0.7, noise="symmetric"),
        ]
    )
    lines = list(label_quality.table.table(scores, "auroc"))
    dash = label_quality.table.NOTHING
    assert lines[2:5] == [
        "| made up, pair 40 % | 0.250 | 1-3 | 0.300 ± 0.153 | **0.500** |",
        f"| made up, symmetric 40 % | 0.250 | 1 | **0.700** | {dash} |",
        f"| **mean over rows** |  |  | 0.500 | {dash} |",
    ]


def test_every_row_has_a_setting_and_a_loader(accuracy, label_quality):
    run = label_quality.run
    assert len(set(run.ROWS)) == len(run.ROWS) == 12
    for data, _ in run.ROWS:
        assert run.SETTINGS[data].source in accuracy.data.LOADERS
    laptop = {(c.data, (c.noise, c.rate)) for c in accuracy.presets.laptop().cells}
    assert set(run.ROWS) <= laptop
