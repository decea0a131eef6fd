"""Labels of any type go in, and come out as what they were."""

import numpy as np
import pandas as pd
import pytest

from skpresto.noise import (
    InstanceDependentNoise,
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
)
from skpresto.noise._labels import PART

LABELS = {
    "strings": np.array(["b", "aaa", "c", "b"]),
    "objects": np.array(["b", "aaa", "c", "b"], dtype=object),
    "integers with gaps": np.array([7, -2, 10**9, 7]),
    "integers at the ends": np.array([2**63 - 1, -(2**63), 0, 0]),
    "unsigned integers": np.array([2**64 - 1, 2**63, 0, 0], dtype=np.uint64),
    "small unsigned integers": np.array([0, 255, 3, 0], dtype=np.uint8),
    "unsigned integers from zero": np.array([0, 9, 3, 0], dtype=np.uint64),
    "small integers": np.array([-128, 127, 0, 0], dtype=np.int8),
    "whole floats": np.array([1.0, 2.0, 5.0, 1.0]),
    "booleans": np.array([True, False, True, True]),
    "bytes": np.array([b"x", b"yy", b"x", b"x"]),
    "days": np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="M8[D]"),
}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_pair_noise_on_any_type_rotates_the_classes(y):
    noisy = PairNoise(rate=1.0).fit_transform(y)
    classes = np.unique(y)
    assert noisy.dtype == y.dtype
    expected = np.roll(classes, -1)[np.searchsorted(classes, y)]
    np.testing.assert_array_equal(noisy, expected)


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_a_label_never_seen_is_named_whatever_its_type(y):
    noise = SymmetricNoise(rate=0).fit(y[y != y[0]])
    with pytest.raises(ValueError, match="labels that fit never saw"):
        noise.transform(y)


def test_longer_labels_of_fit_are_not_cut_in_transform():
    noise = PairNoise(rate=1.0).fit(["a", "much longer"])
    assert noise.transform(["a", "a"]).tolist() == ["much longer"] * 2


def test_lists_come_back_as_arrays():
    noisy = SymmetricNoise(0.0).fit_transform(["x", "y"])
    assert isinstance(noisy, np.ndarray)
    assert noisy.tolist() == ["x", "y"]


def test_transform_of_no_labels_gives_no_labels():
    noise = SymmetricNoise().fit([0, 1])
    assert noise.transform(np.array([], dtype=int)).shape == (0,)
    assert noise.realized_rate_ == 0


def test_whole_floats_and_integers_are_the_same_labels():
    noise = PairNoise(rate=1.0).fit([1, 2])
    assert noise.transform([1.0, 2.0]).tolist() == [2, 1]


def test_classes_far_apart_need_no_table():
    y = np.array([0, 10**15, 5, 10**15])
    assert PairNoise(rate=1.0).fit_transform(y).tolist() == [5, 0, 10**15, 0]


@pytest.mark.parametrize("n_classes", [255, 256, 300, 70_000])
def test_many_classes_keep_their_numbers(n_classes):
    y = np.arange(n_classes) * 3
    noise = SymmetricNoise(1.0, random_state=0)
    noisy = noise.fit_transform(y)
    assert np.isin(noisy, y).all()
    assert (noisy != y).all()
    assert len(np.unique(noisy)) > n_classes / 2


@pytest.mark.parametrize(
    "dtype", ["int64", "object", "str", "string", "category", "Int64", "boolean"]
)
@pytest.mark.parametrize("injector", [SymmetricNoise, PairNoise])
def test_series_keep_index_name_and_dtype(injector, dtype):
    values = {
        "int64": [3, 1, 2, 1],
        "Int64": [3, 1, 2, 1],
        "boolean": [True, False, True, True],
    }.get(dtype, ["c", "a", "b", "a"])
    y = pd.Series(values, index=list("wxyz"), name="kind", dtype=dtype)
    noise = injector(0.5, exact=True, random_state=0)
    noisy = noise.fit_transform(y)
    assert isinstance(noisy, pd.Series)
    pd.testing.assert_index_equal(noisy.index, y.index)
    assert noisy.name == "kind"
    assert noisy.dtype == y.dtype
    np.testing.assert_array_equal(noise.flipped_mask_, (noisy != y).to_numpy(bool))
    assert noise.flipped_mask_.sum() == 2


@pytest.mark.parametrize("dtype", ["object", "str", "string", "category", "Int64"])
def test_series_with_missing_labels_are_refused(dtype):
    y = pd.Series([1, None, 2] if dtype == "Int64" else ["a", None, "b"], dtype=dtype)
    with pytest.raises(ValueError, match="y holds missing values"):
        SymmetricNoise().fit(y)


def test_categories_that_cannot_hold_the_noise_are_refused():
    noise = PairNoise(rate=1.0).fit(["a", "b"])
    y = pd.Series(["a", "a"], dtype=pd.CategoricalDtype(["a"]))
    with pytest.raises(ValueError, match="categories of y do not hold: 'b'"):
        noise.transform(y)


def test_series_of_another_dtype_than_fitted_takes_the_labels_of_fit():
    noise = PairNoise(rate=1.0).fit([1000, 2])
    noisy = noise.transform(pd.Series([2, 2], dtype="int8"))
    assert noisy.tolist() == [1000, 1000]


def test_dataframes_serve_as_samples():
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "age": [4.0, 3.0, 1.0, 1.0]})
    y = pd.Series(["a", "b", "a", "b"], index=[9, 8, 7, 6])
    noise = InstanceDependentNoise(0.5, exact=True, random_state=0)
    noisy = noise.fit_transform(y, X)
    assert noisy.index.tolist() == [9, 8, 7, 6]
    assert noise.feature_names_in_.tolist() == ["size", "age"]


def test_a_column_of_labels_is_taken_with_scikit_learns_warning():
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        noisy = SymmetricNoise(0.0).fit([[0], [1]])
    assert noisy.classes_.tolist() == [0, 1]


def test_matrix_rows_stand_for_sorted_classes():
    noise = TransitionMatrixNoise([[0, 1, 0], [0, 1, 0], [1, 0, 0]])
    assert noise.fit_transform(["c", "b", "a"]).tolist() == ["a", "b", "b"]


def test_labels_in_several_parts_are_all_seen():
    y = np.repeat(["a", "b"], [PART, 5])
    noise = PairNoise(rate=1.0)
    noisy = noise.fit_transform(y)
    assert noise.classes_.tolist() == ["a", "b"]
    assert (noisy[-5:] == "a").all()


@pytest.mark.parametrize("injector", [SymmetricNoise, InstanceDependentNoise])
def test_without_random_state_the_global_one_is_used_as_in_scikit_learn(injector):
    y, X = np.arange(200) % 3, np.random.RandomState(0).standard_normal((200, 2))
    state = np.random.get_state()
    try:
        np.random.seed(3)
        first, second = (injector(0.5).fit_transform(y, X) for _ in range(2))
        np.random.seed(3)
        again = injector(0.5).fit_transform(y, X)
    finally:
        np.random.set_state(state)
    assert (first != second).any()
    np.testing.assert_array_equal(first, again)


def test_html_shows_a_fitted_injector():
    assert "SymmetricNoise" in SymmetricNoise().fit([0, 1])._repr_html_()
