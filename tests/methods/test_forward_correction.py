import numpy as np
import pytest

from skpresto import DefaultClassifier
from skpresto.baselines import ForwardCorrectionClassifier
from skpresto.losses import ForwardCorrectionLoss
from skpresto.plots import TransitionMatrixDisplay
from tests.discovery import MEMORIZING, quick

MATRIX = 0.65 * np.eye(4) + 0.35 * np.eye(4)[[1, 2, 3, 0]]


def test_the_matrix_is_estimated_and_wrong_labels_are_memorized_less(
    memorizable, plain
):
    X, y, _, X_test, y_test = memorizable
    clf = quick(ForwardCorrectionClassifier, **MEMORIZING).fit(X, y)
    deviations = np.abs(clf.transition_matrix_ - MATRIX), np.abs(np.eye(4) - MATRIX)
    assert deviations[0].sum() < 0.8 * deviations[1].sum()
    np.testing.assert_allclose(clf.transition_matrix_.sum(axis=1), 1, atol=1e-6)
    assert clf.score(X_test, y_test) > plain.score(X_test, y_test) + 0.05
    stages = [record.stage for record in clf.history_]
    assert stages[-20:] == ["train"] * 20
    assert set(stages[:-20]) == {"estimate"}


def test_a_given_matrix_is_used(memorizable):
    X, y, _, X_test, _ = memorizable
    clf = quick(ForwardCorrectionClassifier, **MEMORIZING, transition_matrix=MATRIX)
    clf.fit(X, y)
    np.testing.assert_allclose(clf.transition_matrix_, MATRIX, atol=1e-6)
    assert {record.stage for record in clf.history_} == {"train"}
    same = quick(
        DefaultClassifier, **MEMORIZING, criterion=ForwardCorrectionLoss(MATRIX)
    )
    np.testing.assert_array_equal(
        same.fit(X, y).predict_proba(X_test), clf.predict_proba(X_test)
    )


def test_weights_of_zero_are_no_anchors(memorizable):
    X, y, *_ = memorizable
    weights = np.ones(len(y))
    weights[500:] = 0
    clf = quick(ForwardCorrectionClassifier).fit(X, y, sample_weight=weights)
    alone = quick(ForwardCorrectionClassifier).fit(X[:500], y[:500])
    np.testing.assert_array_equal(clf.transition_matrix_, alone.transition_matrix_)
    np.testing.assert_array_equal(clf.predict_proba(X), alone.predict_proba(X))


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
def test_single_rows_of_a_class_are_trained_to_the_end():
    X = np.eye(6, dtype=np.float32)
    clf = quick(ForwardCorrectionClassifier, max_epochs=2, q=1).fit(X, np.arange(6))
    assert [record.stage for record in clf.history_] == ["estimate"] * 2 + ["train"] * 2


def test_the_matrix_can_be_plotted(noisy_blobs):
    pytest.importorskip("matplotlib").use("Agg")
    X, y, _ = noisy_blobs
    clf = quick(ForwardCorrectionClassifier, max_epochs=3).fit(X, y)
    display = TransitionMatrixDisplay.from_estimator(clf)
    np.testing.assert_allclose(display.matrix, clf.transition_matrix_)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (
            np.eye(3),
            "a row and a column of transition_matrix for each of the 4 classes",
        ),
        (np.ones((4, 4)), "rows of transition_matrix to be probabilities"),
        ("T", "'transition_matrix' parameter of ForwardCorrectionClassifier"),
    ],
)
def test_a_matrix_that_does_not_fit_is_refused(noisy_blobs, matrix, message):
    X, y, _ = noisy_blobs
    with pytest.raises(ValueError, match=message):
        quick(ForwardCorrectionClassifier, transition_matrix=matrix).fit(X, y)
