import numpy as np
import pytest

from skpresto import DefaultClassifier


def test_most_labels_of_the_rare_class_are_wrong(accuracy):
    split = accuracy.rare_class.make_split(seed=0, n_test=1000)
    assert split.X.shape == (4000, 20)
    assert split.X_test.shape == (1000, 20)
    assert np.mean(~split.is_correct) == pytest.approx(0.2, abs=0.02)
    is_rare = split.y == accuracy.rare_class.RARE
    assert 150 < is_rare.sum() < 300
    assert split.is_correct[is_rare].mean() < 0.25


def test_a_line_of_the_table_marks_warnings_and_has_means(accuracy):
    line = accuracy.rare_class.line("Method", [(0.5, 0.8, True), (0.7, 0.9, False)])
    assert line == "| Method | 0.50 / 0.80 * | 0.70 / 0.90 | 0.60 / 0.85 |"


def test_the_table_has_a_line_per_method_and_weighting(accuracy, monkeypatch):
    script, made = accuracy.rare_class, accuracy.rare_class.make_split
    monkeypatch.setattr(script, "METHODS", (DefaultClassifier,))
    monkeypatch.setattr(script, "make_split", lambda seed: made(seed, 400, 400))
    lines = list(script.table([0, 1]))
    assert lines[0] == "| method | seed 0 | seed 1 | mean |"
    names = [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]]
    assert names == ["Default", "Default, balanced", "Default, correct labels only"]
