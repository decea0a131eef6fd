"""Reports by three rounds of any classifier."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from skpresto.audit import LabelReport
from skpresto.cli import main
from skpresto.noise import PairNoise, SymmetricNoise


@pytest.fixture(scope="module")
def table():
    """A table with an index, given labels, and which of them are wrong."""
    X, y = make_classification(
        600,
        n_features=6,
        n_informative=6,
        n_redundant=0,
        n_classes=3,
        n_clusters_per_class=1,
        class_sep=1.5,
        flip_y=0,
        random_state=0,
    )
    names = np.array(["ant", "bee", "cat"])
    given = PairNoise(0.2, random_state=0).fit_transform(y)
    frame = pd.DataFrame(X, index=np.arange(600) + 1000).add_prefix("x")
    return frame, pd.Series(names[given], index=frame.index), given != y


TREES = ExtraTreesClassifier(30, bootstrap=True, oob_score=True, min_samples_leaf=3)


@pytest.mark.parametrize("estimator", [None, TREES, GaussianNB()])
def test_wrong_labels_come_first_and_are_counted(table, estimator):
    X, y, is_wrong = table
    report = LabelReport.from_classifier(estimator, X, y, random_state=0)
    first = report.suspects(80)
    assert is_wrong[first.index - 1000].mean() > 0.9
    low, high = report.expected_errors()[1:]
    assert low <= is_wrong.sum() <= high
    kind = "LogisticRegression" if estimator is None else type(estimator).__name__
    assert report.method == f"three rounds of {kind}"
    again = LabelReport.from_classifier(estimator, X, y, random_state=0)
    assert np.array_equal(again.quality, report.quality)


def test_trees_are_chosen_for_what_is_not_linear():
    X = np.random.RandomState(0).normal(size=(400, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    given = SymmetricNoise(0.2, random_state=0).fit_transform(y)
    report = LabelReport.from_classifier(None, X, given, random_state=0)
    assert report.method == "three rounds of ExtraTreesClassifier"
    assert np.mean((given != y)[report.suspects(50).index]) > 0.85


def test_texts_need_a_classifier_for_texts():
    texts = ["good word", "bad word", "good day", "bad day"] * 20
    y = np.array([0, 1, 0, 1] * 20)
    y[:4] = 1 - y[:4]
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    report = LabelReport.from_classifier(model, texts, y, random_state=0)
    assert sorted(report.suspects().index) == [0, 1, 2, 3]
    with pytest.raises(TypeError, match="Pass one for these samples"):
        LabelReport.from_classifier(None, texts, y)


def test_groups_and_samples_that_are_not_predicted(table):
    X, y, _ = table
    groups = np.arange(len(y)) // 3
    how = {"cv": GroupKFold(3), "groups": groups, "random_state": 0}
    for estimator in (None, GaussianNB()):
        report = LabelReport.from_classifier(estimator, X, y, **how)
        assert report.frame["is_safe"].mean() > 0.6
    some = [(np.arange(300, 600), np.arange(300))]
    report = LabelReport.from_classifier(GaussianNB(), X, y, cv=some)
    assert report.quality[300:].std() < report.quality[:300].std() / 2


def test_the_quick_audit_of_a_table_loads_no_torch(table, tmp_path, monkeypatch):
    X, y, is_wrong = table
    monkeypatch.chdir(tmp_path)
    X.assign(kind=y).to_csv("t.csv", index=False)
    code = """
import sys
from skpresto.cli import main
assert main("audit t.csv --label kind --quick --table found.csv".split()) == 0
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    found = pd.read_csv("found.csv")
    assert is_wrong[found["quality"].argsort()[:80]].mean() > 0.9


def test_epochs_ask_for_a_network(table, tmp_path, monkeypatch, capsys):
    X, y, _ = table
    monkeypatch.chdir(tmp_path)
    X.assign(kind=y)[:60].to_csv("t.csv", index=False)
    arguments = ["audit", "t.csv", "--label", "kind", "--quick", "--epochs", "2"]
    assert main(arguments) == 0
    assert "epochs" in (tmp_path / "t-audit.html").read_text(encoding="utf-8")
