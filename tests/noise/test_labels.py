"""Labels of any type are accepted, and noisy labels are of the same type."""

import numpy as np
import pandas as pd
import pytest

from skpresto._labels import (
    PART_SIZE,
    classes_of,
    decode,
    encode,
    in_kind_of,
    label_vector,
    parts,
)
from skpresto.noise import (
    InstanceDependentNoise,
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
)

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
def test_pair_noise_accepts_labels_of_any_type(y):
    noisy = PairNoise(rate=1.0).fit_transform(y)
    classes = np.unique(y)
    assert noisy.dtype == y.dtype
    expected = np.roll(classes, -1)[np.searchsorted(classes, y)]
    np.testing.assert_array_equal(noisy, expected)


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_unseen_labels_of_any_type_are_refused(y):
    noise = SymmetricNoise(rate=0).fit(y[y != y[0]])
    with pytest.raises(ValueError, match="labels that are not among them"):
        noise.transform(y)


def test_longer_labels_of_fit_are_not_truncated_in_transform():
    noise = PairNoise(rate=1.0).fit(["a", "much longer"])
    assert noise.transform(["a", "a"]).tolist() == ["much longer"] * 2


def test_an_array_is_returned_for_a_list():
    noisy = SymmetricNoise(0.0).fit_transform(["x", "y"])
    assert isinstance(noisy, np.ndarray)
    assert noisy.tolist() == ["x", "y"]


def test_transform_of_an_empty_vector_is_empty():
    noise = SymmetricNoise().fit([0, 1])
    assert noise.transform(np.array([], dtype=int)).shape == (0,)
    assert noise.realized_rate_ == 0


def test_whole_floats_equal_integers():
    noise = PairNoise(rate=1.0).fit([1, 2])
    assert noise.transform([1.0, 2.0]).tolist() == [2, 1]


def test_classes_far_apart_are_accepted():
    y = np.array([0, 10**15, 5, 10**15])
    assert PairNoise(rate=1.0).fit_transform(y).tolist() == [5, 0, 10**15, 0]


@pytest.mark.parametrize("n_classes", [255, 256, 300, 70_000])
def test_many_classes_are_accepted(n_classes):
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


def test_categories_without_a_noisy_label_are_refused():
    noise = PairNoise(rate=1.0).fit(["a", "b"])
    y = pd.Series(["a", "a"], dtype=pd.CategoricalDtype(["a"]))
    with pytest.raises(ValueError, match="not among the categories of y: 'b'"):
        noise.transform(y)


def test_series_of_another_dtype_gets_the_labels_of_fit():
    noise = PairNoise(rate=1.0).fit([1000, 2])
    noisy = noise.transform(pd.Series([2, 2], dtype="int8"))
    assert noisy.tolist() == [1000, 1000]


def test_samples_may_be_a_dataframe():
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "age": [4.0, 3.0, 1.0, 1.0]})
    y = pd.Series(["a", "b", "a", "b"], index=[9, 8, 7, 6])
    noise = InstanceDependentNoise(0.5, exact=True, random_state=0)
    noisy = noise.fit_transform(y, X)
    assert noisy.index.tolist() == [9, 8, 7, 6]
    assert noise.feature_names_in_.tolist() == ["size", "age"]


def test_a_column_vector_is_flattened_with_scikit_learns_warning():
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        noisy = SymmetricNoise(0.0).fit([[0], [1]])
    assert noisy.classes_.tolist() == [0, 1]


def test_rows_of_the_matrix_are_in_the_order_of_sorted_classes():
    noise = TransitionMatrixNoise([[0, 1, 0], [0, 1, 0], [1, 0, 0]])
    assert noise.fit_transform(["c", "b", "a"]).tolist() == ["a", "b", "b"]


def test_all_of_several_parts_are_processed():
    y = np.repeat(["a", "b"], [PART_SIZE, 5])
    noise = PairNoise(rate=1.0)
    noisy = noise.fit_transform(y)
    assert noise.classes_.tolist() == ["a", "b"]
    assert (noisy[-5:] == "a").all()


@pytest.mark.parametrize("injector", [SymmetricNoise, InstanceDependentNoise])
def test_random_state_none_uses_the_global_random_state(injector):
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


def test_html_representation_of_a_fitted_injector():
    assert "SymmetricNoise" in SymmetricNoise().fit([0, 1])._repr_html_()


@pytest.mark.parametrize(
    ("y_val", "match"),
    [
        (None, "Owner requires y_val to be passed, but the target y_val is None"),
        (
            np.eye(2),
            r"Owner needs a 1-D y_val .* \(2, 2\).* y_val\.argmax\(axis=1\)\.$",
        ),
        ([0.5, 1.0], "Unknown label type: continuous. Owner .* y_val contains"),
        (["a", None], "Owner needs a label for every sample, but y_val contains"),
        (np.array(["a", pd.NA], dtype=object), "but y_val contains missing values"),
        (np.array([np.float32("nan"), 1], dtype=object), "y_val contains missing"),
    ],
)
def test_errors_name_the_owner_and_the_argument(y_val, match):
    with pytest.raises(ValueError, match=match):
        label_vector(y_val, "Owner", "y_val")


def test_errors_of_encoding_name_the_owner_and_the_argument():
    labels = label_vector(["a", "b"], "Owner")
    with pytest.raises(ValueError, match="Owner needs at least one label.* y_val is"):
        classes_of(labels[:0], "Owner", "y_val")
    mixed = np.array(["a", 1], dtype=object)
    with pytest.raises(TypeError, match="Owner needs labels of one type.*y_val"):
        classes_of(mixed, "Owner", "y_val")
    match = "Owner has the classes 'a', but y_val .*: 'b'. Remove .* or add rows"
    with pytest.raises(ValueError, match=match):
        encode(labels, labels[:1], "Owner", "y_val", way_out="add rows")
    series = pd.Series(["a"], dtype="category")
    with pytest.raises(ValueError, match="Owner returns .* of y_val: 'b'. Pass y_val"):
        in_kind_of(series, labels[1:], "Owner", "y_val")


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_decoding_inverts_encoding(y):
    classes = classes_of(y, "Owner")
    np.testing.assert_array_equal(classes, np.unique(y))
    assert classes.dtype == y.dtype
    codes = encode(y, classes, "Owner")
    np.testing.assert_array_equal(codes, np.unique(y, return_inverse=True)[1])
    np.testing.assert_array_equal(decode(codes, classes), y)


def test_parts_cover_all_samples_once():
    for n_samples in range(12):
        covered = [i for part in parts(n_samples, 5) for i in range(n_samples)[part]]
        assert covered == list(range(n_samples))
