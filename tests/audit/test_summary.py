"""The summary against counts in loops."""

import dataclasses
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from skpresto.audit import LabelReport

# A few epochs are enough here, and too few for the stop rule to settle.
pytestmark = pytest.mark.filterwarnings("ignore:.*max_epochs:UserWarning")


@pytest.fixture
def summary(report):
    return report.summary()


def test_the_numbers_of_a_class_are_counted(report, summary):
    frame = report.frame
    suspects = report.suspects()
    for part in summary.by_class:
        rows = suspects[suspects["given"] == part.label]
        assert part.n_labels == (frame["given"] == part.label).sum()
        assert part.n_suspects == len(rows)
        others = Counter(s for s in rows["suggested"] if s != part.label)
        assert part.n_confused == max(others.values())
        assert others[part.confusion] == part.n_confused
        is_member = (frame["given"] == part.label).to_numpy()
        expected = report.error_probability[is_member].sum()
        assert part.n_wrong.expected == pytest.approx(expected)
        assert part.noise_rate.low <= expected / part.n_labels <= part.noise_rate.high


def test_the_parts_add_up(report, summary):
    assert summary.n_labels == sum(part.n_labels for part in summary.by_class)
    assert summary.n_suspects == sum(part.n_suspects for part in summary.by_class)
    total = sum(part.n_wrong.expected for part in summary.by_class)
    assert summary.n_wrong.expected == pytest.approx(total)
    assert summary.n_wrong == pytest.approx(report.expected_errors())


def test_the_matrix_counts_given_and_suggested_labels(report, summary):
    frame = report.frame
    expected = pd.crosstab(frame["given"], frame["suggested"])
    pd.testing.assert_frame_equal(summary.matrix_frame(), expected, check_names=True)


def test_the_table_is_readable(summary):
    lines = repr(summary).splitlines()
    assert lines[0].startswith("LabelSummary by PrestoppingClassifier: 400 labels")
    assert lines[1].startswith(f"{summary.n_suspects} labels are suspects, of which")
    assert "trained on these labels; no label was checked" in lines[2]
    assert lines[3].split()[:3] == ["given", "labels", "suspects"]
    assert len(lines) == 4 + 4
    assert "%" in lines[4]


def test_the_biggest_confusions_come_first(summary):
    confused = [part.n_confused for part in summary.worst_first()]
    assert confused == sorted(confused, reverse=True)
    first = str(summary.worst_first()[0].label)
    assert repr(summary).splitlines()[4].startswith(first)


def test_where_errors_cannot_be_told_no_number_is_the_headline():
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=400)
    probability = rng.dirichlet([20, 20], size=400)
    report = LabelReport.from_probabilities(probability, y)
    summary = report.summary()
    assert not summary.is_known
    assert "cannot be told" in summary.headline()
    assert f"in only {100 * report.evidence.auc:.0f} % of pairs" in summary.headline()
    assert "wrong (" not in repr(summary).splitlines()[1]
    answers = {row: i % 3 == 0 for i, row in enumerate(report.control_sample(40).index)}
    checked = dataclasses.replace(report, checked=answers).summary()
    assert checked.is_known
    assert "about" in checked.headline()
    assert "rest on 40 labels checked by hand" in repr(checked)
    assert checked.to_dict()["n_checked"] == 40


def test_the_classes_come_as_a_frame(summary):
    frame = summary.frame()
    assert frame.index.tolist() == ["<b>dog", "=cat", "ant", "bee"]
    assert (frame["noise_rate_low"] <= frame["noise_rate"]).all()
    assert frame["labels"].sum() == 400


def test_classes_without_labels_or_suspects_are_reported_on_too():
    pred_proba = np.tile([0.98, 0.01, 0.01], (20, 1))
    report = LabelReport.from_probabilities(pred_proba, [0] * 20, classes=[0, 1, 2])
    first, _, last = report.summary().by_class
    assert first.confusion is None
    assert first.n_confused == 0
    assert last.n_labels == 0
    assert last.noise_rate == (0, 0, 0)
