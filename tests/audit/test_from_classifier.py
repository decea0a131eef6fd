"""Reports by three rounds of any classifier."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

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
    # Trees and a linear model are about as good here.
    kind = r"\w+" if estimator is None else type(estimator).__name__
    assert re.fullmatch(f"three rounds of {kind}", report.method)
    again = LabelReport.from_classifier(estimator, X, y, random_state=0)
    assert np.array_equal(again.quality, report.quality)


def test_clones_of_a_fitted_classifier_assess_labels_that_they_were_not_fitted_on(
    table,
):
    X, y, is_wrong = table
    memorizing = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(memorizing, {"decisiontreeclassifier__max_depth": [None]})
    for fitted in (memorizing.fit(X, y), search.fit(X, y)):
        assert fitted.score(X, y) == 1  # so that it finds nothing itself
        report = LabelReport.from_estimator(fitted, X, y, threshold=0.4)
        assert is_wrong[report.suspects(40).index - 1000].mean() > 0.8
        assert report.method == "three rounds of DecisionTreeClassifier"
        assert np.array_equal(report.is_safe, report.quality >= 0.4)
        expected = LabelReport.from_classifier(memorizing, X, y, random_state=0)
        assert np.array_equal(report.quality, expected.quality)


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


@pytest.fixture
def small_table(table, tmp_path, monkeypatch):
    """t.csv with 300 rows, in the working directory."""
    X, y, _ = table
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    X.assign(kind=y)[:300].to_csv("t.csv", index=False)
    Path("models_of_mine.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n"
        "from skpresto import LabelCleaningClassifier\n"
        "bayes = GaussianNB(var_smoothing=1e-3)\n"
        "def make(): return GaussianNB()\n"
        "cleaning = LabelCleaningClassifier(bayes, assessor=bayes, guard=False)\n"
        "number = 3\n"
    )


AUDIT = ["audit", "t.csv", "--label", "kind", "--table", "found.csv", "--force"]


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("sklearn.naive_bayes.GaussianNB", "three rounds of GaussianNB"),
        ("models_of_mine:bayes", "three rounds of GaussianNB"),
        ("models_of_mine.make", "three rounds of GaussianNB"),
        ("models_of_mine:cleaning", "LabelCleaningClassifier"),
    ],
)
def test_the_command_line_takes_any_classifier(small_table, table, name, method):
    assert main([*AUDIT, "--model", name]) == 0
    assert method in Path("t-audit.html").read_text(encoding="utf-8")
    found = pd.read_csv("found.csv")
    assert table[2][:300][found["quality"].argsort()[:40]].mean() > 0.85


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "nowhere:clf"], "No module named 'nowhere'"),
        (["--model", "clf"], "no module"),
        (["--model", "models_of_mine:other"], "models_of_mine has no other"),
        (["--model", "models_of_mine:number"], "'int' object is not callable"),
        (["--model", "sklearn.svm.LinearSVC"], "predict_proba"),
        (["--model", "skpresto.LabelCleaningClassifier"], "default parameters"),
        (["--model", "model.pkl"], "runs any code"),
        (["--model", "models_of_mine:bayes", "--quick"], "--quick"),
        (["--model", "models_of_mine:bayes", "--epochs", "3"], "--epochs"),
    ],
)
def test_a_model_that_cannot_be_taken_is_refused(small_table, capsys, arguments, words):
    assert main([*AUDIT, *arguments]) == 1
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1
    assert not Path("found.csv").exists()
