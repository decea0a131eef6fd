import numpy as np
import pytest

from skpresto.datasets import load_npz


@pytest.fixture
def save(tmp_path):
    """Return a function that writes arrays and returns the path."""

    def write(arrays, **changes):
        path = tmp_path / "data.npz"
        both = {**arrays, **changes}
        np.savez(path, **{name: a for name, a in both.items() if a is not None})
        return path

    return write


def test_channels_are_moved_to_the_second_axis(save, arrays):
    data = load_npz(save(arrays))
    assert data.X_train.shape == (6, 3, 8, 9)
    np.testing.assert_array_equal(data.X_train[4, 2], arrays["X_train"][4, :, :, 2])
    assert data.X_test.shape == (2, 3, 8, 9)


@pytest.mark.parametrize(
    ("shape", "channels_last", "expected"),
    [
        ((8, 9, 3), None, (3, 8, 9)),
        ((3, 8, 9), None, (3, 8, 9)),
        ((3, 8, 3), None, (3, 8, 3)),
        ((3, 8, 3), True, (3, 3, 8)),
        ((8, 9, 1), None, (1, 8, 9)),
        ((8, 9, 3), False, (8, 9, 3)),
        ((8, 9), None, (1, 8, 9)),
        ((8,), None, (8,)),
    ],
)
def test_channel_axis_is_recognized_by_its_length(save, shape, channels_last, expected):
    X = np.zeros((2, *shape), dtype=np.uint8)
    data = load_npz(
        save({"X_train": X, "y_train": [0, 1]}), channels_last=channels_last
    )
    assert data.X_train.shape == (2, *expected)


def test_sequences_are_not_treated_as_images(save):
    data = load_npz(save({"X_train": np.zeros((2, 5, 6)), "y_train": ["a", "b"]}))
    assert data.X_train.shape == (2, 5, 6)
    assert data.y_train.tolist() == ["a", "b"]


def test_all_noisy_labels_are_returned(save, arrays):
    data = load_npz(save(arrays))
    assert sorted(data.noisy_labels) == ["crowd", "worst"]
    assert "y_noisy" not in data
    assert "y_train_crowd" not in data
    np.testing.assert_array_equal(data.index_train, np.arange(6))


def test_noise_is_chosen_by_its_source(save, arrays):
    data = load_npz(save(arrays), noise="worst")
    np.testing.assert_array_equal(data.y_noisy, arrays["y_train_worst"])


def test_a_single_source_is_chosen_by_default(save, arrays):
    data = load_npz(save(arrays, y_train_worst=None, y_train=None))
    np.testing.assert_array_equal(data.y_noisy, arrays["y_train_crowd"])


def test_clean_data_have_no_noisy_labels(save, arrays):
    data = load_npz(save(arrays, y_train_worst=None, y_train_crowd=None))
    assert not {"noisy_labels", "y_noisy"} & set(data)


def test_unknown_source_is_refused(save, arrays):
    with pytest.raises(ValueError, match=r"\['crowd', 'worst'\].*got 'best'"):
        load_npz(save(arrays), noise="best")


def test_tables_are_normalized_by_column(save):
    X = np.array([[0, 5, 1], [2, 5, 3]], dtype=np.float16)
    arrays = {"X_train": X, "y_train": [0, 1], "X_valid": X + 2, "y_valid": [0, 1]}
    assert load_npz(save(arrays)).X_train.dtype == np.float32
    data = load_npz(save(arrays), normalize=True)
    assert data.X_train.tolist() == [[-1, 0, -1], [1, 0, 1]]
    assert data.X_valid.tolist() == [[1, 2, 1], [3, 2, 3]]


def test_file_is_searched_in_the_data_folder(save, arrays, monkeypatch):
    path = save(arrays)
    monkeypatch.setenv("SKPRESTO_DATA", str(path.parent))
    assert len(load_npz("data.npz").y_test) == 2
    with pytest.raises(FileNotFoundError, match=r"'other\.npz', but found it neither"):
        load_npz("other.npz")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X_train": None}, "needs the arrays X_train and y_train or"),
        (
            {"y_train": None, "y_train_crowd": None, "y_train_worst": None},
            "needs the arrays X_train and y_train or",
        ),
        ({"y_train": [0, 1]}, r"y_train for each row.*\(2,\) and.*\(6, 8, 9, 3\)"),
        ({"y_train_crowd": [[0]] * 6}, r"y_train_crowd for each row.*\(6, 1\)"),
        ({"y_test": None}, "y_test for each row of X_test, but got no array and"),
        ({"X_test": None}, "y_test for each row of X_test, .* and no array"),
        ({"y_valid": [1]}, "y_valid for each row of X_valid"),
        ({"y_test": [0, 3]}, r"integers from 0 to 2 in y_test.*\[0, 3\]"),
        ({"y_test": [-1, 2]}, r"integers from 0 to 2 in y_test.*\[-1, 2\]"),
        (
            {"y_test": ["ant", "cow"]},
            r"integers from 0 to 2 in y_test.*\['ant', 'cow'\]",
        ),
        ({"X_test": np.zeros((2, 8, 8, 3))}, "samples of the same shape"),
        (
            {"classes": np.array(["a", None], dtype=object)},
            "without pickled.*numpy.savez",
        ),
    ],
)
def test_inconsistent_arrays_are_refused(save, arrays, changes, message):
    with pytest.raises(ValueError, match=message):
        load_npz(save(arrays, **changes))


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 cut"])
def test_a_file_of_another_format_is_refused(tmp_path, content):
    path = tmp_path / "data.npz"
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"an \.npz file without pickled .* cannot read"
    ):
        load_npz(path)


def test_a_single_array_is_refused(tmp_path):
    np.save(tmp_path / "data.npy", np.arange(3))
    with pytest.raises(
        ValueError, match=r"an \.npz file without pickled .* cannot read"
    ):
        load_npz(tmp_path / "data.npy")
