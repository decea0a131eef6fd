import zipfile

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


def header_of(shape, dtype=np.uint8):
    """Return the header of an .npy file, without its data."""
    head = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    text = f"{head}\n".encode()
    return np.lib.format.magic(1, 0) + len(text).to_bytes(2, "little") + text


def write_zip(path, compression=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


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


@pytest.mark.parametrize("noise", ["best", 3, ("crowd",)])
def test_unknown_source_is_refused(save, arrays, noise):
    with pytest.raises(
        ValueError, match=r"noise to be one of the sources \['crowd', 'worst'\].*got"
    ) as caught:
        load_npz(save(arrays), noise=noise)
    assert f"but got {noise!r}." in str(caught.value)


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
        ({"classes": np.array("one")}, r"classes to be a 1-D array.*shape \(\)"),
        ({"X_train": np.zeros(6)}, r"for each row of X_train.*shape \(6,\)"),
        ({"X_train": np.array(3.0)}, r"for each row of X_train.*shape \(\)"),
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


def test_an_unreadable_npz_file_is_named(tmp_path, monkeypatch):
    def denied(path):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "data.npz").touch()
    monkeypatch.setattr(zipfile, "ZipFile", denied)
    with pytest.raises(
        PermissionError, match=r"load_npz cannot read .*data\.npz.*Permission denied"
    ):
        load_npz(tmp_path / "data.npz")


# --- files that lie --------------------------------------------------------------


def test_an_npz_bomb_is_not_decompressed(tmp_path, limited_memory):
    zeros = header_of((10**7,)) + bytes(10**7)
    path = write_zip(tmp_path / "bomb.npz", X_train=zeros)
    # The zip file says that it has four billion bytes when decompressed.
    n_bytes, lie = len(zeros).to_bytes(4, "little"), b"\xfe\xff\xff\xff"
    path.write_bytes(path.read_bytes().replace(n_bytes, lie))
    with pytest.raises(
        ValueError,
        match=r"does not decompress .*bomb\.npz.*4294967294 bytes when decompressed"
        r".*max_bytes=1000000\. Pass a larger",
    ):
        load_npz(path, max_bytes=1_000_000)


def test_the_limit_of_decompression_is_an_argument(tmp_path):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X_train=np.zeros((100, 100)), y_train=np.zeros(100, int))
    with pytest.raises(ValueError, match=r"more than max_bytes=50000\."):
        load_npz(path, max_bytes=50_000)
    assert load_npz(path, max_bytes=100_000).X_train.shape == (100, 100)
    assert load_npz(path, max_bytes=None).X_train.shape == (100, 100)


def test_a_file_without_compression_may_be_larger_than_the_limit(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X_train=np.zeros((100, 100)), y_train=np.zeros(100, int))
    assert load_npz(path, max_bytes=1).X_train.shape == (100, 100)


@pytest.mark.parametrize("max_bytes", [0, -1, 2.5, "1", True])
def test_the_limit_of_decompression_is_checked(tmp_path, max_bytes):
    with pytest.raises(ValueError, match="max_bytes to be a positive int or None"):
        load_npz(tmp_path / "data.npz", max_bytes=max_bytes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header_of((2**40,)) + b"few", "allocate 1.00 TiB|EOF: reading array data"),
        (header_of((5,)) + b"few", "EOF: reading array data, expected 5 bytes got 3"),
        (header_of((-2,)), "negative dimensions"),
        (header_of((1,), object) + b"N.", "Object arrays cannot be loaded"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "EOF: reading array header"),
        (b"text", "'X_train', which is not an array"),
    ],
)
def test_a_header_that_lies_is_found_out(tmp_path, content, message):
    path = write_zip(tmp_path / "data.npz", X_train=content)
    with pytest.raises(ValueError, match=rf"(?s)load_npz needs an \.npz .*({message})"):
        load_npz(path)


def test_only_arrays_are_read_from_an_npz_file(tmp_path):
    path = tmp_path / "data.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X_train.txt", "text")
    with pytest.raises(ValueError, match=r"'X_train\.txt', which is not an array"):
        load_npz(path)


def test_empty_test_data_are_read(tmp_path, arrays):
    arrays |= {"X_test": arrays["X_test"][:0], "y_test": np.zeros(0)}
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)
    assert len(load_npz(path).y_test) == 0


@pytest.mark.parametrize("X", [np.array([["a"], ["b"]]), np.zeros((2, 0))])
def test_what_is_not_a_number_is_not_normalized(tmp_path, X):
    path = tmp_path / "data.npz"
    np.savez(path, X_train=X, y_train=[0, 1])
    with pytest.raises(ValueError, match="normalize=True needs numbers in X_train"):
        load_npz(path, normalize=True)
    assert len(load_npz(path).y_train) == 2
