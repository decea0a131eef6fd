import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skpresto.metrics import memorization_precision, memorization_recall

rows = st.lists(
    st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 2)),
    min_size=1,
    max_size=20,
)


@given(rows)
def test_precision_and_recall_equal_counting(rows):
    memorized, y, y_true = (list(column) for column in zip(*rows, strict=True))
    both = sum(m and a == b for m, a, b in rows)
    n_correct = sum(a == b for _, a, b in rows)
    precision = memorization_precision(memorized, y, y_true)
    recall = memorization_recall(memorized, y, y_true)
    assert (
        (precision == pytest.approx(both / sum(memorized)))
        if any(memorized)
        else (np.isnan(precision))
    )
    assert (
        (recall == pytest.approx(both / n_correct)) if n_correct else (np.isnan(recall))
    )


@given(rows)
def test_they_are_equal_if_as_many_samples_are_memorized_as_are_correct(rows):
    memorized, y, y_true = (list(column) for column in zip(*rows, strict=True))
    n_correct = sum(a == b for a, b in zip(y, y_true, strict=True))
    both = sum(m and a == b for m, a, b in rows)
    if both:
        same = memorization_precision(memorized, y, y_true) == memorization_recall(
            memorized, y, y_true
        )
        assert same == (sum(memorized) == n_correct)


def test_mask_must_be_boolean():
    with pytest.raises(ValueError, match="boolean mask.*dtype int64.*safe_mask_"):
        memorization_precision([1, 0], [0, 0], [0, 1])


def test_lengths_must_be_equal():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        memorization_recall([True], [0, 0], [0, 1])


@pytest.mark.parametrize("metric", [memorization_precision, memorization_recall])
@pytest.mark.parametrize(
    ("y", "y_true"),
    [
        ([0, 1], ["0", "1"]),
        (["0", "1"], [0, 1]),
        (np.array([0, 1], dtype=object), np.array(["a", "b"], dtype=object)),
        ([b"a", b"b"], ["a", "b"]),
        (np.array(["2020-01-01"] * 2, dtype="M8[D]"), [1, 2]),
    ],
)
def test_labels_of_another_type_are_not_simply_wrong(metric, y, y_true):
    with pytest.raises(
        TypeError, match=rf"{metric.__name__} needs y and y_true of the same type"
    ):
        metric([True, True], y, y_true)


@pytest.mark.parametrize(
    ("y", "y_true"), [([True, False], [1, 0]), ([0.0, 1.0], [0, 1]), ([0, 0], [1, 1])]
)
def test_numbers_of_any_type_can_be_compared(y, y_true):
    expected = np.mean([a == b for a, b in zip(y, y_true, strict=True)])
    assert memorization_precision([True, True], y, y_true) == expected


def test_missing_labels_are_neither_correct_nor_wrong():
    with pytest.raises(ValueError, match="y_true contains missing values"):
        memorization_precision([True, True], ["a", "b"], ["a", None])
