from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skpresto import CrossPrestoppingClassifier, DefaultClassifier
from skpresto.noise import PairNoise, SymmetricNoise
from skpresto.plots import TransitionMatrixDisplay
from skpresto.stopping import NoiseRateStop
from tests.discovery import quick


def numbers_in(display):
    return [text.get_text() for text in display.ax_.texts]


def test_an_injector_is_plotted_with_its_classes():
    noise = PairNoise(rate=0.4).fit(["cat", "dog", "emu"])
    display = TransitionMatrixDisplay.from_injector(noise)
    np.testing.assert_array_equal(display.matrix, noise.transition_matrix_)
    frame = display.frame()
    assert frame.index.tolist() == frame.columns.tolist() == ["cat", "dog", "emu"]
    assert frame.loc["emu", "cat"] == pytest.approx(0.4)
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert ticks == ["cat", "dog", "emu"]


def test_the_estimate_of_a_classifier_is_plotted_with_its_classes(noisy_blobs):
    X, y, _ = noisy_blobs
    names = np.array(["ant", "bee", "cat", "dog"])
    clf = quick(CrossPrestoppingClassifier, cv=2, stop=NoiseRateStop(0.5))
    display = TransitionMatrixDisplay.from_estimator(clf.fit(X, names[y]))
    np.testing.assert_allclose(display.matrix, clf.transition_matrix_)
    frame = display.frame()
    assert frame.index.tolist() == frame.columns.tolist() == names.tolist()
    # Labels were moved to the next class.
    assert frame.loc["ant", "bee"] > frame.loc["ant", "cat"]


def test_a_classifier_without_a_transition_matrix_is_rejected(fitted):
    match = "PrestoppingClassifier has no transition_matrix_"
    with pytest.raises(ValueError, match=match):
        TransitionMatrixDisplay.from_estimator(fitted)


def test_an_unfitted_classifier_is_rejected():
    with pytest.raises(NotFittedError):
        TransitionMatrixDisplay.from_estimator(DefaultClassifier())


def test_counted_labels_have_true_classes_in_rows():
    y_true, y_noisy = [1, 1, 2, 2, 2, 2], [1, 3, 2, 2, 2, 1]
    frame = TransitionMatrixDisplay.from_labels(y_true, y_noisy).frame()
    assert frame.loc[1].tolist() == [0.5, 0, 0.5]
    assert frame.loc[2].tolist() == [0.25, 0.75, 0]
    assert frame.index.name == "true label"
    assert frame.columns.name == "given label"


def test_numbers_are_percentages_and_zeros_are_omitted():
    matrix = [[0.6, 0.4, 0], [0, 0.956, 0.044], [0, 0, 1]]
    display = TransitionMatrixDisplay(matrix).plot()
    assert numbers_in(display) == ["60", "40", "96", "4.4", "100"]
    assert display.ax_.get_ylabel() == "true label"


def test_numbers_are_shown_only_if_cells_are_large_enough():
    noise = SymmetricNoise(rate=0.4).fit(np.arange(20))
    display = TransitionMatrixDisplay.from_injector(noise)
    assert numbers_in(display) == []
    _, large = plt.subplots(figsize=(12, 12))
    assert len(numbers_in(display.plot(large))) == 20**2


@pytest.mark.parametrize("n_classes", [3, 10, 26, 100])
def test_names_of_classes_do_not_overlap(n_classes):
    display = TransitionMatrixDisplay(np.eye(n_classes)).plot()
    display.figure_.draw_without_rendering()
    for axis in ("x", "y"):
        labels = getattr(display.ax_, f"get_{axis}ticklabels")()
        boxes = [label.get_window_extent() for label in labels]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_the_matrix_is_copied():
    matrix = np.eye(2)
    display = TransitionMatrixDisplay(matrix)
    matrix[0] = [0, 1]
    np.testing.assert_array_equal(display.matrix, np.eye(2))


def test_a_matrix_of_counts_is_rejected():
    with pytest.raises(ValueError, match="TransitionMatrixDisplay needs a row-stochas"):
        TransitionMatrixDisplay([[5, 1], [0, 3]])


def test_every_class_needs_a_name():
    with pytest.raises(ValueError, match="a name for each of 2 classes, but got 3"):
        TransitionMatrixDisplay(np.eye(2), ["a", "b", "c"])


def test_an_unfitted_injector_is_rejected():
    with pytest.raises(NotFittedError):
        TransitionMatrixDisplay.from_injector(PairNoise())
