from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skpresto.noise import PairNoise, SymmetricNoise
from skpresto.plots import TransitionMatrixDisplay


def numbers_in(display):
    return [text.get_text() for text in display.ax_.texts]


def test_an_injector_is_drawn_with_its_classes():
    noise = PairNoise(rate=0.4).fit(["cat", "dog", "emu"])
    display = TransitionMatrixDisplay.from_injector(noise)
    np.testing.assert_array_equal(display.matrix, noise.transition_matrix_)
    frame = display.frame()
    assert frame.index.tolist() == frame.columns.tolist() == ["cat", "dog", "emu"]
    assert frame.loc["emu", "cat"] == pytest.approx(0.4)
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert ticks == ["cat", "dog", "emu"]


def test_labels_are_counted_with_true_classes_in_rows():
    y_true, y_noisy = [1, 1, 2, 2, 2, 2], [1, 3, 2, 2, 2, 1]
    frame = TransitionMatrixDisplay.from_labels(y_true, y_noisy).frame()
    assert frame.loc[1].tolist() == [0.5, 0, 0.5]
    assert frame.loc[2].tolist() == [0.25, 0.75, 0]
    assert frame.index.name == "true label"
    assert frame.columns.name == "given label"


def test_numbers_are_per_cent_and_zeros_are_left_out():
    matrix = [[0.6, 0.4, 0], [0, 0.956, 0.044], [0, 0, 1]]
    display = TransitionMatrixDisplay(matrix).plot()
    assert numbers_in(display) == ["60", "40", "96", "4.4", "100"]
    assert display.ax_.get_ylabel() == "true label"


def test_numbers_are_written_only_where_they_can_be_read():
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


def test_the_matrix_given_is_not_the_matrix_kept():
    matrix = np.eye(2)
    display = TransitionMatrixDisplay(matrix)
    matrix[0] = [0, 1]
    np.testing.assert_array_equal(display.matrix, np.eye(2))


def test_counts_are_refused():
    with pytest.raises(ValueError, match="TransitionMatrixDisplay needs a row-stochas"):
        TransitionMatrixDisplay([[5, 1], [0, 3]])


def test_a_name_a_class_is_needed():
    with pytest.raises(ValueError, match="a name for each of 2 classes, but got 3"):
        TransitionMatrixDisplay(np.eye(2), ["a", "b", "c"])


def test_an_unfitted_injector_is_refused():
    with pytest.raises(NotFittedError):
        TransitionMatrixDisplay.from_injector(PairNoise())
