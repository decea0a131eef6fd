import pickle

import numpy as np
import pytest

from skpresto.datasets import load_cifar10, load_cifar100
from skpresto.datasets._cifar import CIFAR10, check_published_counts


def change(path, **entries):
    content = pickle.loads(path.read_bytes())
    content |= {key.encode(): value for key, value in entries.items()}
    path.write_bytes(pickle.dumps(content, protocol=2))


def test_cifar10_batches_are_concatenated(cifar10):
    data = load_cifar10(cifar10, check_counts=False)
    assert data.X_train.shape == (20, 3, 32, 32)
    assert data.X_train.dtype == np.uint8
    assert data.y_train.tolist() == [(4 + i) % 10 for i in range(20)]
    assert data.y_train.dtype == np.int64
    assert data.X_test.shape == (6, 3, 32, 32)
    assert data.classes.tolist() == [f"class {i}" for i in range(10)]


def test_pixels_have_the_right_position(cifar10):
    path = cifar10 / "cifar-10-batches-py" / "data_batch_1"
    pixels = np.zeros((4, 3072), dtype=np.uint8)
    pixels[2, 1024 * 1 + 32 * 5 + 7] = 9  # third image, green, row 5, column 7
    change(path, data=pixels)
    data = load_cifar10(cifar10 / "cifar-10-batches-py", check_counts=False)
    assert np.argwhere(data.X_train[:4]).tolist() == [[2, 1, 5, 7]]


def test_cifar100_has_fine_labels(cifar100):
    data = load_cifar100(cifar100, check_counts=False)
    assert data.X_train.shape == (12, 3, 32, 32)
    assert data.y_train.tolist() == list(range(0, 96, 8))
    assert len(data.classes) == 100


def test_files_with_str_keys_are_read(cifar100):
    path = cifar100 / "cifar-100-python" / "test"
    content = pickle.loads(path.read_bytes())
    path.write_bytes(pickle.dumps({k.decode(): v for k, v in content.items()}))
    assert len(load_cifar100(cifar100, check_counts=False).y_test) == 5


def test_all_images_are_normalized_by_the_training_images(cifar10):
    raw = load_cifar10(cifar10, check_counts=False)
    data = load_cifar10(cifar10, check_counts=False, normalize=True)
    X = raw.X_train.astype(float)
    mean, std = X.mean((0, 2, 3), keepdims=True), X.std((0, 2, 3), keepdims=True)
    assert data.X_train.dtype == data.X_test.dtype == np.float32
    np.testing.assert_allclose(data.X_train, (X - mean) / std, atol=1e-5)
    np.testing.assert_allclose(data.X_test, (raw.X_test - mean) / std, atol=1e-5)


def test_counts_are_checked(cifar10):
    with pytest.raises(
        ValueError, match=r"50000 training images.*got 20\..*check_counts=False"
    ):
        load_cifar10(cifar10)


def test_classes_must_be_equally_frequent():
    y_train, y_test = np.arange(50_000) % 10, np.arange(10_000) % 10
    check_published_counts(CIFAR10, y_train, y_test)
    y_test[0] = 1
    with pytest.raises(ValueError, match=r"test images.*of each class.*999 to 1001"):
        check_published_counts(CIFAR10, y_train, y_test)


@pytest.mark.parametrize("name", ["data_batch_3", "test_batch", "batches.meta"])
def test_a_missing_file_is_named(cifar10, name):
    (cifar10 / "cifar-10-batches-py" / name).unlink()
    with pytest.raises(FileNotFoundError, match=rf"load_cifar10 needs '{name}'"):
        load_cifar10(cifar10, check_counts=False)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"labels": [0, 1, 2]}, r"3 rows of 3072 bytes.*\(4, 3072\)"),
        ({"labels": [0, 1, 2, 10]}, "between 0 and 9, got 0 to 10"),
        ({"labels": [0, 1, 2, -1]}, "between 0 and 9, got -1 to 2"),
        ({"labels": [0.0, 1, 2, 3]}, "integers.*float64"),
        ({"data": np.zeros((4, 3072))}, "3072 bytes.*float64"),
    ],
)
def test_a_damaged_batch_is_refused(cifar10, entries, message):
    change(cifar10 / "cifar-10-batches-py" / "data_batch_2", **entries)
    with pytest.raises(
        ValueError, match=rf"(?s)data_batch_2.*{message}.*Download the file"
    ):
        load_cifar10(cifar10, check_counts=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], "expected a dict, got a list"),
        ({b"labels": []}, r"keys \['data', 'labels'\], got \['labels'\]"),
    ],
)
def test_a_file_with_other_content_is_refused(cifar10, content, message):
    path = cifar10 / "cifar-10-batches-py" / "test_batch"
    path.write_bytes(pickle.dumps(content))
    with pytest.raises(ValueError, match=message):
        load_cifar10(cifar10, check_counts=False)


def test_every_class_needs_a_name(cifar10):
    change(cifar10 / "cifar-10-batches-py" / "batches.meta", label_names=[b"cat"])
    with pytest.raises(ValueError, match="expected 10 names of classes, got 1"):
        load_cifar10(cifar10, check_counts=False)
