"""The report as a whole: where it comes from, its rows and its exports."""

import io
import json
import subprocess
import sys
from pathlib import PurePath

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import CrossPrestoppingClassifier, PrestoppingClassifier
from skpresto.audit import LabelReport
from skpresto.audit._constants import CROSS_FITTED, IN_SAMPLE
from tests.discovery import CLASSIFIERS, quick

# A few epochs are enough here, and too few for the stop rule to settle.
pytestmark = pytest.mark.filterwarnings("ignore:.*max_epochs:UserWarning")

COLUMNS = ["given", "suggested", "quality", "is_safe", "review_rank"]


def test_the_frame_has_one_row_per_sample_with_the_index_of_the_samples(
    report, fitted, animals
):
    X, y, _ = animals
    frame = report.frame
    assert list(frame.columns) == COLUMNS
    pd.testing.assert_index_equal(frame.index, X.index)
    assert frame["given"].tolist() == y.tolist()
    is_other = frame["suggested"] != fitted.suggested_labels_
    assert not (is_other & (fitted.suggested_labels_ != y)).any()
    assert report.is_suspect[is_other].all()
    assert np.array_equal(frame["quality"], fitted.label_quality_)
    assert np.array_equal(frame["is_safe"], fitted.safe_mask_)
    assert len(report) == len(X)


def test_the_index_of_y_is_used_where_the_samples_have_none(fitted, animals):
    X, y, _ = animals
    from_y = LabelReport.from_estimator(fitted, X.to_numpy(), y).frame
    pd.testing.assert_index_equal(from_y.index, y.index)
    plain = LabelReport.from_estimator(fitted, X.to_numpy(), y.to_numpy()).frame
    assert plain.index.tolist() == list(range(len(y)))


def test_the_review_ranks_are_a_permutation_that_sorts_the_quality(report):
    frame = report.frame.sort_values("review_rank")
    assert frame["review_rank"].tolist() == list(range(1, len(frame) + 1))
    assert frame["quality"].is_monotonic_increasing


def test_most_of_the_suspects_are_wrong(report, animals):
    _, y, y_true = animals
    is_wrong = pd.Series(y != y_true, index=y.index)
    suspects = report.suspects()
    assert len(suspects) == report.is_suspect.sum() == report.summary().n_suspects
    assert len(suspects) == (~report.frame["is_safe"]).sum()
    assert report.frame.index[report.is_suspect].isin(suspects.index).all()
    assert is_wrong[suspects.index].mean() > 0.7 > is_wrong.mean()
    assert suspects["review_rank"].tolist() == list(range(1, len(suspects) + 1))


def test_the_number_of_suspects_can_be_chosen(report):
    assert len(report.suspects(7)) == 7
    assert len(report.suspects(0)) == 0
    assert len(report.suspects(n=7, budget=5)) == 5
    assert len(report.suspects(budget=10**6)) == report.is_suspect.sum()


def test_a_pipeline_and_a_search_are_understood(animals):
    X, y, _ = animals
    pipeline = make_pipeline(StandardScaler(), quick(PrestoppingClassifier))
    grid = {"prestoppingclassifier__q": [5]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    from_search = LabelReport.from_estimator(search, X, y)
    from_pipeline = LabelReport.from_estimator(search.best_estimator_, X, y)
    pd.testing.assert_frame_equal(from_search.frame, from_pipeline.frame)
    assert from_search.X is X
    around = make_pipeline(StandardScaler(), GridSearchCV(pipeline, grid, cv=2))
    pd.testing.assert_frame_equal(
        LabelReport.from_estimator(around.fit(X, y), X, y).frame[["given"]],
        from_search.frame[["given"]],
    )


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: c.__name__)
def test_every_classifier_can_be_reported_on(classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(classifier, max_epochs=6).fit(X, y)
    report = LabelReport.from_estimator(clf, X, y)
    assert report.method == classifier.__name__
    assert 0 <= report.expected_errors().expected <= len(y)
    assert report.trajectories is None


def test_out_of_fold_quality_is_calibrated_by_planted_errors(noisy_blobs):
    X, y, _ = noisy_blobs
    cross = quick(CrossPrestoppingClassifier).fit(X, y)
    single = quick(PrestoppingClassifier).fit(X, y)
    reports = [LabelReport.from_estimator(clf, X, y) for clf in (cross, single)]
    ours, others = [report.calibration.evidence for report in reports]
    assert ours.constants == CROSS_FITTED
    assert ours.auc == cross.label_findings_.planted.auc
    assert others.constants == IN_SAMPLE
    held_out = min(r.holdout_error for r in single.history_ if r.holdout_error)
    assert others.rate_inputs[1] == pytest.approx(np.log(held_out / (1 - held_out)))


def test_the_given_label_of_a_suspect_is_never_suggested(noisy_blobs):
    X, y, _ = noisy_blobs
    for classifier in (CrossPrestoppingClassifier, PrestoppingClassifier):
        clf = quick(classifier).fit(X, y)
        for threshold in (None, 0.9):
            report = LabelReport.from_estimator(clf, X, y, threshold=threshold)
            suspects = report.suspects()
            assert len(suspects)
            assert (suspects["given"] != suspects["suggested"]).all()


def test_a_higher_threshold_suspects_more(probabilities):
    reports = [
        LabelReport.from_probabilities(*probabilities, threshold=t)
        for t in (0.01, 0.5, 0.99)
    ]
    sizes = [len(report.suspects()) for report in reports]
    assert sizes == [
        np.sum(r.quality < t) for r, t in zip(reports, (0.01, 0.5, 0.99), strict=True)
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert len(LabelReport.from_probabilities(*probabilities).suspects()) == sizes[1]
    with pytest.raises(ValueError, match="threshold between 0 and 1, got 5"):
        LabelReport.from_probabilities(*probabilities, threshold=5)


def test_checked_labels_narrow_the_numbers(probabilities):
    probability, y = probabilities
    X = pd.DataFrame({"a": range(120)}, index=[f"row {i}" for i in range(120)])
    before = LabelReport.from_probabilities(probability, y, X=X)
    sample = before.control_sample(30)
    assert sample.index.is_unique
    assert not sample.index.equals(before.control_sample(30, seed=1).index)
    assert before.control_sample(10).index.equals(sample.index[:10])
    is_suspect = pd.Series(before.is_suspect, index=X.index)
    n_drawn = is_suspect[before.control_sample(10).index].sum()
    assert n_drawn <= min(7, is_suspect.sum())
    answers = {row: int(row.split()[1]) < 12 for row in sample.index}
    after = LabelReport.from_probabilities(probability, y, X=X, checked=answers)
    widths = [np.subtract(*r.expected_errors()[:0:-1]) for r in (before, after)]
    assert widths[1] < widths[0]
    assert after.expected_errors().low <= 12 <= after.expected_errors().high


@pytest.mark.parametrize(
    ("checked", "message"),
    [
        ([1, 2], "checked= as a dict of rows .* got list"),
        ({0: "yes"}, "True .wrong. or False .right. .* got 'yes'"),
        ({0: True, 500: False}, "has no rows 500, .* which has 120 rows"),
    ],
)
def test_checks_that_cannot_be_understood_are_refused(probabilities, checked, message):
    with pytest.raises((TypeError, ValueError), match=message):
        LabelReport.from_probabilities(*probabilities, checked=checked)


def test_checks_need_an_index_without_duplicates(probabilities):
    X = pd.DataFrame({"a": range(120)}, index=[0] * 120)
    with pytest.raises(ValueError, match="index without duplicates"):
        LabelReport.from_probabilities(*probabilities, X=X, checked={0: True})


def test_csv_has_a_line_per_sample_and_no_formulas(report, tmp_path):
    text = report.to_csv()
    rows = pd.read_csv(io.StringIO(text))
    assert list(rows.columns) == ["animal", *COLUMNS]
    assert len(rows) == len(report)
    assert set(rows["given"]) == {"ant", "bee", "'=cat", "<b>dog"}
    assert np.allclose(rows["quality"], report.frame["quality"])
    assert report.to_csv(tmp_path / "labels.csv") is None
    assert (tmp_path / "labels.csv").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_cells_that_begin_as_a_formula_are_defused(first):
    name = f"{first}SUM(A1)"
    names = pd.Series([name, "b"], index=[name, "plain"])
    report = LabelReport.from_probabilities(np.eye(2), names, sorted([name, "b"]))
    rows = pd.read_csv(io.StringIO(report.to_csv()), index_col="row")
    assert rows.index.tolist() == [f"'{name}", "plain"]
    assert rows["given"].tolist() == [f"'{name}", "b"]
    assert set(rows["suggested"]) <= {f"'{name}", "b"}


def test_formulas_in_a_multi_index_and_in_names_are_defused():
    names = [
        ["=1", "@2", "plain", None],
        [-1, 2, 3, 4],
        [PurePath("+c"), "d", "e", "-5"],
    ]
    index = pd.MultiIndex.from_arrays(names, names=["=name", None, "-n"])
    X = pd.DataFrame({"x": range(4)}, index=index)
    report = LabelReport.from_probabilities(np.eye(2)[[0, 1, 0, 1]], [0, 1] * 2, X=X)
    rows = pd.read_csv(io.StringIO(report.to_csv()), dtype=str)
    assert rows.columns[:3].tolist() == ["'=name", "row 1", "'-n"]
    assert rows["'=name"].tolist()[:3] == ["'=1", "'@2", "plain"]
    assert rows["row 1"].tolist() == ["-1", "2", "3", "4"]
    assert rows["'-n"].tolist() == ["'+c", "d", "e", "-5"]
    assert json.loads(report.to_json())["labels"][1]["row"] == ["@2", 2, "d"]


@pytest.mark.parametrize("values", [["=a", "b"], [1, None], [pd.NaT, pd.Timestamp(0)]])
def test_an_index_of_any_type_is_written(values):
    X = pd.DataFrame({"x": [0, 1]}, index=pd.Index(values, name="given"))
    report = LabelReport.from_probabilities(np.eye(2), [0, 1], X=X)
    head, first, _ = report.to_csv().splitlines()
    assert head == "given,given,suggested,quality,is_safe,review_rank"
    assert not first.startswith("=")


def test_numbers_stay_numbers_in_csv(probabilities):
    probability, y = probabilities
    text = LabelReport.from_probabilities(probability, y - 1).to_csv()
    rows = pd.read_csv(io.StringIO(text), index_col="row")
    assert rows["given"].tolist() == (y - 1).tolist()


def test_json_holds_the_summary_and_all_rows(report, tmp_path):
    report.to_json(tmp_path / "labels.json")
    found = json.loads((tmp_path / "labels.json").read_text(encoding="utf-8"))
    assert found["summary"]["n_labels"] == len(report)
    assert found["summary"]["n_wrong"]["low"] <= found["summary"]["n_wrong"]["high"]
    assert len(found["labels"]) == len(report)
    first, row = found["labels"][0], report.frame.iloc[0]
    assert first["row"] == 1000
    assert first["given"] == row["given"]
    assert first["quality"] == row["quality"]


def test_labels_that_json_does_not_know_are_written_as_text():
    days = np.array(["2020-01-01", "2020-01-02"] * 2, dtype="datetime64[D]")
    report = LabelReport.from_probabilities(np.full((4, 2), 0.5), days)
    row = json.loads(report.to_json())["labels"][0]
    assert "2020-01-01" in row["given"]


def test_notebooks_show_escaped_text(report):
    html = report._repr_html_()
    assert "&lt;b&gt;dog" in html
    assert "<b>dog" not in html
    assert f"about {report.expected_errors().expected:,.0f} wrong" in html
    assert html.count("<td>ant</td>") >= 2  # of the classes and of the suspects
    assert html.count("<tr") == (1 + 4) + (2 + 10)


def test_the_report_says_what_it_is_about(report):
    assert repr(report).startswith("LabelReport by PrestoppingClassifier: 400 labels")


def test_the_plot_shows_suggestions_and_quality(report):
    display = report.plot()
    matrix, quality = display.axes_
    assert matrix.get_xlabel() == "suggested label"
    assert [t.get_text() for t in matrix.get_yticklabels()] == sorted(report.classes)
    counts = sum(patch.get_height() for patch in quality.patches[: 2 * 40])
    assert counts >= len(report)
    again = report.plot(axes=display.figure_.subplots(1, 2))
    assert again.figure_ is display.figure_


def test_dollar_signs_in_class_names_are_not_formulas():
    report = LabelReport.from_probabilities(np.eye(2), ["$x$", "y"])
    report.plot().figure_.canvas.draw()


def test_a_page_is_written_by_the_page_module(report, monkeypatch):
    written = []
    page = type(sys)("skpresto.audit._page")
    page.write_page = lambda *args, **options: written.append((args, options))
    monkeypatch.setitem(sys.modules, "skpresto.audit._page", page)
    report.to_html("report.html", title="Animals")
    assert written == [((report, "report.html"), {"title": "Animals"})]


def test_probabilities_are_reported_on_without_torch():
    code = (
        "import sys, numpy as np; from skpresto.audit import LabelReport;"
        "report = LabelReport.from_probabilities(np.eye(2), [0, 1]);"
        "report.summary(); report.to_csv();"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
