import gzip

import numpy as np
import pytest

from skpresto.datasets import load_fashion_mnist


def unpack(folder):
    for path in list(folder.glob("*.gz")):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()


@pytest.mark.parametrize("is_compressed", [True, False])
def test_idx_files_are_read(fashion, is_compressed):
    if not is_compressed:
        unpack(fashion / "fashion-mnist")
    data = load_fashion_mnist(fashion, check_counts=False)
    assert data.X_train.shape == (20, 1, 28, 28)
    assert data.X_train[1, 0, 0, :2].tolist() == [784 % 251, 785 % 251]
    assert data.y_train.tolist() == [*range(10), *range(10)]
    assert data.X_test.shape == (10, 1, 28, 28)
    assert data.classes[9] == "Ankle boot"


def test_layout_of_torchvision_is_found(fashion):
    (fashion / "FashionMNIST").mkdir()
    (fashion / "fashion-mnist").rename(fashion / "FashionMNIST" / "raw")
    assert len(load_fashion_mnist(fashion, check_counts=False).y_train) == 20


def test_npz_file_is_read(fashion, tmp_path_factory):
    data = load_fashion_mnist(fashion, check_counts=False)
    folder = tmp_path_factory.mktemp("npz")
    names = ["y_train", "y_test"]
    arrays = {"X_train": data.X_train[:, 0], "X_test": data.X_test[:, 0]}
    np.savez(folder / "fashion_mnist.npz", **arrays, **{n: data[n] for n in names})
    again = load_fashion_mnist(folder, check_counts=False)
    assert again.keys() == data.keys()
    for name in data:
        np.testing.assert_array_equal(again[name], data[name])


def test_npz_file_needs_test_images(tmp_path):
    np.savez(tmp_path / "fashion_mnist.npz", X_train=np.zeros((2, 3)), y_train=[0, 1])
    with pytest.raises(ValueError, match=r"fashion_mnist\.npz.*expected.*'X_test'"):
        load_fashion_mnist(tmp_path, check_counts=False)


def test_images_can_be_normalized(fashion):
    X = load_fashion_mnist(fashion, check_counts=False, normalize=True).X_train
    assert X.dtype == np.float32
    assert abs(X.mean()) < 1e-5
    assert abs(X.std() - 1) < 1e-5


def test_counts_are_checked(fashion):
    with pytest.raises(ValueError, match="60000 train images.*got 20"):
        load_fashion_mnist(fashion)


def test_complete_data_set_passes_the_check_of_counts(tmp_path):
    arrays = {}
    for name, n in [("train", 60_000), ("test", 10_000)]:
        arrays[f"X_{name}"] = np.zeros((n, 28, 28), dtype=np.uint8)
        arrays[f"y_{name}"] = np.arange(n) % 10
    np.savez(tmp_path / "fashion_mnist.npz", **arrays)
    assert len(load_fashion_mnist(tmp_path).y_test) == 10_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an idx file of bytes"),
        (b"1234567", "not an idx file"),
        (b"\x00\x00\x08", "not an idx file"),
        (b"\x00\x00\x08\x00", "not an idx file"),
        (b"\x00\x00\x08\x03\x00", "not an idx file"),
        (b"\x00\x00\x08\xff" + b"\x00\x00\x00\x01" * 255 + b"1", "not an idx file"),
        (b"\x00\x00\x0d\x01\x00\x00\x00\x01abcd", "not an idx file"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x05abc", r"shape \(5,\), got 3 bytes"),
        (b"\x00\x00\x08\x01\xff\xff\xff\xffabc", r"shape \(4294967295,\), got 3 b"),
    ],
)
@pytest.mark.parametrize("is_compressed", [True, False])
def test_a_damaged_idx_file_is_refused(
    fashion, limited_memory, content, message, is_compressed
):
    path = fashion / "fashion-mnist" / "t10k-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(content))
    if not is_compressed:
        unpack(path.parent)
    with pytest.raises(ValueError, match=rf"t10k-labels.*{message}"):
        load_fashion_mnist(fashion, check_counts=False)


def test_a_gzip_bomb_is_not_decompressed(fashion, monkeypatch):
    monkeypatch.setattr("skpresto.datasets._fashion_mnist._MAX_BYTES", 1000)
    path = fashion / "fashion-mnist" / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(bytes(100_000)))
    with pytest.raises(ValueError, match="more than 1000 bytes when decompressed"):
        load_fashion_mnist(fashion, check_counts=False)


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"\x00" * 99, mtime=0)[:-9]],
    ids=["no gzip", "cut off"],
)
def test_a_damaged_compressed_file_is_refused(fashion, content):
    (fashion / "fashion-mnist" / "t10k-labels-idx1-ubyte.gz").write_bytes(content)
    with pytest.raises(ValueError, match="cannot be decompressed|it is cut off"):
        load_fashion_mnist(fashion, check_counts=False)


def test_numbers_of_images_and_labels_must_be_equal(fashion):
    folder = fashion / "fashion-mnist"
    labels = folder / "train-labels-idx1-ubyte.gz"
    (folder / "train-images-idx3-ubyte.gz").write_bytes(labels.read_bytes())
    with pytest.raises(ValueError, match=r"20 images of 28x28 .*shape \(20,\)"):
        load_fashion_mnist(fashion, check_counts=False)


def test_a_missing_file_is_named(fashion):
    (fashion / "fashion-mnist" / "t10k-images-idx3-ubyte.gz").unlink()
    with pytest.raises(FileNotFoundError, match="'t10k-images-idx3-ubyte' of Fashion"):
        load_fashion_mnist(fashion, check_counts=False)
