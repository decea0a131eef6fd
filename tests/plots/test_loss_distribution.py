import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from skpresto.plots import LossDistributionDisplay

PROBA = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])


def test_the_loss_is_that_of_the_given_label():
    display = LossDistributionDisplay.from_predictions(
        ["b", "a", "a"], ["b", "b", "a"], PROBA, ["a", "b"]
    )
    frame = display.frame()
    np.testing.assert_allclose(frame["loss"], -np.log([0.5, 0.25, 1.0]))
    assert frame["is_true"].tolist() == [True, False, True]


def test_columns_of_proba_are_in_the_order_of_the_classes():
    display = LossDistributionDisplay.from_predictions(
        [7, 7, 3], [7, 7, 3], PROBA, [7, 3]
    )
    np.testing.assert_allclose(display.losses[:2], -np.log([0.5, 0.25]))


def test_a_label_with_probability_zero_has_a_large_but_finite_loss():
    display = LossDistributionDisplay.from_predictions([1], [0], [[1.0, 0.0]], [0, 1])
    assert 15 < display.losses[0] < 17


def test_any_fitted_classifier_can_be_plotted(noisy_blobs, legend_of):
    X, y, y_true = noisy_blobs
    clf = LogisticRegression().fit(X, y)
    display = LossDistributionDisplay.from_estimator(clf, X, y, y_true)
    expected = -np.log(clf.predict_proba(X)[np.arange(len(y)), y])
    np.testing.assert_allclose(display.losses, expected, rtol=1e-5)
    n_true = int((y == y_true).sum())
    assert legend_of(display) == [
        f"correct labels ({n_true} samples)",
        f"wrong labels ({len(y) - n_true} samples)",
    ]


def test_a_classifier_of_skpresto_can_be_plotted(fitted, noisy_blobs):
    display = LossDistributionDisplay.from_estimator(fitted, *noisy_blobs)
    by_truth = display.frame().groupby("is_true")["loss"].mean()
    assert by_truth[False] > by_truth[True]


def test_the_bars_of_each_group_sum_to_one():
    losses = [0.1, 0.2, 0.3, 2.0, 3.0]
    display = LossDistributionDisplay(losses, [True, True, True, False, False], bins=5)
    true, false = display.plot().ax_.patches
    width = (3.0 - 0.1) / 5
    for patch in (true, false):
        x, height = patch.get_xy()[:-1].T
        area = 0.5 * abs(np.dot(x, np.roll(height, 1)) - np.dot(height, np.roll(x, 1)))
        assert area / width == pytest.approx(1)


def test_no_tick_is_above_one():
    display = LossDistributionDisplay([0.1, 0.1, 2.0], [True, True, False]).plot()
    assert display.ax_.get_ylim()[1] > 1
    assert max(display.ax_.get_yticks()) == pytest.approx(1)


def test_a_group_may_be_empty(legend_of):
    display = LossDistributionDisplay([0.1, 0.2], [True, True]).plot()
    assert "wrong labels (0 samples)" in legend_of(display)


def test_labels_that_are_not_among_the_classes_are_rejected():
    with pytest.raises(ValueError, match=r"among the classes, but y contains \['c'\]"):
        LossDistributionDisplay.from_predictions(
            ["a", "b", "c"], ["a", "b", "b"], PROBA, ["a", "b"]
        )


def test_proba_needs_one_column_per_class():
    with pytest.raises(ValueError, match="for each of 3 classes, but got 2 columns"):
        LossDistributionDisplay.from_predictions([0, 1, 1], [0, 1, 1], PROBA, [0, 1, 2])


def test_an_unfitted_classifier_is_rejected():
    with pytest.raises(NotFittedError):
        LossDistributionDisplay.from_estimator(LogisticRegression(), PROBA, [0], [0])
