"""Small files in the formats of the published data sets."""

import gzip
import pickle
import struct
import tracemalloc

import numpy as np
import pytest
from PIL import Image

N_DISHES = 101


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    """Keep the tests from reading data sets of the machine."""
    monkeypatch.delenv("SKPRESTO_DATA", raising=False)


def dump(path, content):
    """Write a pickle of protocol 2, with bytes for str, as Python 2 did."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(content, protocol=2))


def cifar_batch(labels, key, seed):
    rng = np.random.default_rng(seed)
    data = rng.integers(256, size=(len(labels), 3072), dtype=np.uint8)
    return {b"data": data, key: [int(label) for label in labels]}


@pytest.fixture
def cifar10(tmp_path):
    """Five batches of four images, and six test images; returns the parent folder."""
    folder = tmp_path / "cifar-10-batches-py"
    for i in range(1, 6):
        labels = (np.arange(4) + 4 * i) % 10
        dump(folder / f"data_batch_{i}", cifar_batch(labels, b"labels", seed=i))
    dump(folder / "test_batch", cifar_batch(np.arange(6), b"labels", seed=6))
    names = [f"class {i}".encode() for i in range(10)]
    dump(folder / "batches.meta", {b"label_names": names})
    return tmp_path


@pytest.fixture
def cifar100(tmp_path):
    folder = tmp_path / "cifar-100-python"
    dump(folder / "train", cifar_batch(np.arange(12) * 8, b"fine_labels", seed=1))
    dump(folder / "test", cifar_batch(np.arange(5), b"fine_labels", seed=2))
    names = [f"class {i}".encode() for i in range(100)]
    dump(folder / "meta", {b"fine_label_names": names})
    return tmp_path


@pytest.fixture
def save_picture():
    def save(path, size=(64, 64), color=(200, 100, 50)):
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", size, color).save(path, quality=95)

    return save


@pytest.fixture
def animal_raw(tmp_path, save_picture):
    folder = tmp_path / "raw_image_ver" / "raw_image"
    for label in range(10):
        save_picture(folder / "training" / f"{label}_img_{label}.jpg")
    save_picture(folder / "testing" / "3_img_7.jpg", size=(80, 70))
    return tmp_path


def animal_records(labels):
    pixels = [
        bytes([label]) * 4096 + b"\x01" * 4096 + b"\x02" * 4096 for label in labels
    ]
    heads = [struct.pack(">II", 500 + i, label) for i, label in enumerate(labels)]
    return b"".join(head + body for head, body in zip(heads, pixels, strict=True))


@pytest.fixture
def animal_binary(tmp_path):
    folder = tmp_path / "ANIMAL-10N"
    folder.mkdir()
    (folder / "data_batch_1.bin").write_bytes(animal_records([0, 9]))
    (folder / "data_batch_2.bin").write_bytes(animal_records([4]))
    (folder / "data_batch_10.bin").write_bytes(animal_records([5]))
    (folder / "test_batch.bin").write_bytes(animal_records([7]))
    return tmp_path


@pytest.fixture
def food(tmp_path, save_picture):
    """Four training images, three of them verified, and two validation images."""
    dishes = [f"dish_{i:03d}" for i in range(N_DISHES)]
    keys = ["dish_000/a.jpg", "dish_001/b.jpg", "dish_002/c.jpg", "dish_002/d.jpg"]
    valid = ["dish_003/e.jpg", "dish_004/f.jpg"]
    place, meta = tmp_path / "Food-101N_release", tmp_path / "Food-101N_release/meta"
    for key in keys + valid:
        save_picture(place / "images" / key, size=(90, 60))
    meta.mkdir()
    head = "class_name/key\tverification_label"
    write_lines(meta / "classes.txt", "class_name", *dishes)
    write_lines(meta / "imagelist.tsv", "class_name/key", *keys, *valid)
    rows = [
        f"{key}\t{is_correct}" for key, is_correct in zip(keys, [1, 0, 1], strict=False)
    ]
    write_lines(meta / "verified_train.tsv", head, *rows)
    rows = [
        f"{key}\t{is_correct}" for key, is_correct in zip(valid, [0, 1], strict=True)
    ]
    write_lines(meta / "verified_val.tsv", head, *rows)

    save_picture(tmp_path / "food-101" / "images" / "dish_005" / "12.jpg")
    (tmp_path / "food-101" / "meta").mkdir()
    write_lines(tmp_path / "food-101" / "meta" / "test.txt", "dish_005/12")
    return tmp_path


def write_lines(path, *lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


@pytest.fixture
def fashion(tmp_path):
    folder = tmp_path / "fashion-mnist"
    folder.mkdir()
    for start, n in [("train", 20), ("t10k", 10)]:
        images = np.arange(n * 784).reshape(n, 28, 28) % 251
        parts = {"images-idx3": images, "labels-idx1": np.arange(n) % 10}
        for name, array in parts.items():
            (folder / f"{start}-{name}-ubyte.gz").write_bytes(
                gzip.compress(idx(array), mtime=0)
            )
    return tmp_path


@pytest.fixture
def arrays():
    """Arrays of an npz file, for tests to change and save."""
    rng = np.random.default_rng(0)
    return {
        "X_train": rng.integers(256, size=(6, 8, 9, 3), dtype=np.uint8),
        "y_train": np.array([0, 1, 2, 0, 1, 2]),
        "y_train_crowd": np.array([0, 1, 2, 0, 1, 0]),
        "y_train_worst": np.array([1, 1, 2, 0, 0, 0]),
        "X_test": rng.integers(256, size=(2, 8, 9, 3), dtype=np.uint8),
        "y_test": np.array([0, 2]),
        "classes": np.array(["ant", "bee", "cow"]),
        "index_train": np.arange(6),
    }


@pytest.fixture
def limited_memory():
    """Fail if a test has allocated more than 64 MB at once."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26
