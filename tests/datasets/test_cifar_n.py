import numpy as np
import pytest
import torch

from skpresto.datasets import load_cifar10, load_cifar10n, load_cifar100, load_cifar100n

KEYS = ["aggre_label", "random_label1", "random_label2", "random_label3", "worse_label"]
NAMES = ["aggregate", "random1", "random2", "random3", "worst"]


def labels_for(y_train):
    """Different noisy labels for each key, in the order of the images."""
    noisy = {key: (y_train + i) % 10 for i, key in enumerate(KEYS)}
    return {"clean_label": y_train, **noisy}


def save_npy(path, content):
    np.save(path, np.array(content, dtype=object), allow_pickle=True)


@pytest.fixture
def labels(cifar10):
    return labels_for(load_cifar10(cifar10, check_counts=False).y_train)


@pytest.fixture
def shuffled(labels):
    """Labels in another order, and the position of each row among the images."""
    positions = np.random.default_rng(0).permutation(20)
    return {key: column[positions] for key, column in labels.items()}, positions


def assert_same_labels(data, labels):
    assert list(data.noisy_labels) == NAMES
    for name, key in zip(NAMES, KEYS, strict=True):
        np.testing.assert_array_equal(data.noisy_labels[name], labels[key])
    np.testing.assert_array_equal(data.y_train, labels["clean_label"])


@pytest.mark.parametrize("kind", ["arrays", "lists", "tensors"])
@pytest.mark.parametrize("place", [".", "cifar-10-100n/data", "cifar-10-batches-py"])
def test_torch_file_is_read(cifar10, labels, kind, place):
    convert = {"arrays": np.asarray, "lists": np.ndarray.tolist}.get(kind, torch.tensor)
    (cifar10 / place).mkdir(parents=True, exist_ok=True)
    content = {key: convert(column) for key, column in labels.items()}
    torch.save(content, cifar10 / place / "CIFAR-10_human.pt")
    data = load_cifar10n(cifar10, check_counts=False)
    assert_same_labels(data, labels)
    np.testing.assert_array_equal(data.y_noisy, labels["worse_label"])


@pytest.mark.parametrize(("noise", "key"), list(zip(NAMES, KEYS, strict=True)))
def test_noise_is_chosen_by_name(cifar10, labels, noise, key):
    save_npy(cifar10 / "CIFAR-10_human_ordered.npy", labels)
    data = load_cifar10n(cifar10, noise=noise, check_counts=False, normalize=True)
    np.testing.assert_array_equal(data.y_noisy, labels[key])
    assert data.X_train.dtype == np.float32


def test_unknown_noise_is_refused(cifar10):
    with pytest.raises(ValueError, match=r"one of \['aggregate'.*got 'worse'"):
        load_cifar10n(cifar10, noise="worse")


@pytest.mark.parametrize("place", [".", ".."])
def test_rows_in_another_order_are_reordered(cifar10, labels, shuffled, place):
    content, positions = shuffled
    folder = cifar10 / "cifar-n"
    folder.mkdir()
    save_npy(folder / "CIFAR-10_human_ordered.npy", content)
    np.save(folder / place / "image_order_c10.npy", positions)
    assert_same_labels(load_cifar10n(cifar10, check_counts=False), labels)


def test_rows_in_an_unknown_order_are_refused(cifar10, shuffled):
    save_npy(cifar10 / "CIFAR-10_human_ordered.npy", shuffled[0])
    with pytest.raises(
        ValueError,
        match=r"load_cifar10n needs.*human_ordered\.npy in the order of the images.*"
        r"differs in .* of 20 rows\. Use CIFAR-10_human\.pt, or put image_order_c10",
    ):
        load_cifar10n(cifar10, check_counts=False)


def test_a_wrong_order_file_is_refused(cifar10, shuffled):
    save_npy(cifar10 / "CIFAR-10_human_ordered.npy", shuffled[0])
    np.save(cifar10 / "image_order_c10.npy", np.arange(20))
    with pytest.raises(ValueError, match=r"Use CIFAR-10_human\.pt"):
        load_cifar10n(cifar10, check_counts=False)
    np.save(cifar10 / "image_order_c10.npy", np.zeros(20, dtype=int))
    with pytest.raises(ValueError, match="each of the numbers 0 to 19 once"):
        load_cifar10n(cifar10, check_counts=False)


def test_torch_file_in_another_order_is_refused(cifar10, shuffled):
    torch.save(shuffled[0], cifar10 / "CIFAR-10_human.pt")
    with pytest.raises(
        ValueError, match=r"Use CIFAR-10_human_ordered\.npy together with image_order"
    ):
        load_cifar10n(cifar10, check_counts=False)


def test_labels_of_other_images_are_refused(cifar10, labels):
    short = {key: column[:-1] for key, column in labels.items()}
    torch.save(short, cifar10 / "CIFAR-10_human.pt")
    with pytest.raises(ValueError, match="19 labels for 20 images"):
        load_cifar10n(cifar10, check_counts=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"clean_label": [0]}, r"key 'aggre_label', got \['clean_label'\]"),
        ([], "expected a dict .* got list"),
    ],
)
def test_a_file_without_the_labels_is_refused(cifar10, content, message):
    torch.save(content, cifar10 / "CIFAR-10_human.pt")
    with pytest.raises(ValueError, match=message):
        load_cifar10n(cifar10, check_counts=False)


def test_error_for_missing_labels_names_the_file_and_its_source(cifar10):
    with pytest.raises(
        FileNotFoundError,
        match=r"load_cifar10n needs 'CIFAR-10_human\.pt' or .*UCSC-REAL/cifar-10-100n",
    ):
        load_cifar10n(cifar10, check_counts=False)


def test_error_for_missing_images_names_the_loader(tmp_path):
    with pytest.raises(FileNotFoundError, match="load_cifar10n needs 'data_batch_1'"):
        load_cifar10n(tmp_path)


@pytest.mark.parametrize("key", ["noisy_label", "noise_label"])
def test_cifar100n_is_read_with_either_key(cifar100, key):
    clean = load_cifar100(cifar100, check_counts=False).y_train
    content = {"clean_label": clean, key: clean[::-1].copy()}
    torch.save(content, cifar100 / "CIFAR-100_human.pt")
    data = load_cifar100n(cifar100, check_counts=False)
    np.testing.assert_array_equal(data.y_noisy, clean[::-1])
    np.testing.assert_array_equal(data.noisy_labels["noisy"], data.y_noisy)


def test_a_damaged_order_of_rows_is_named(cifar10, shuffled):
    save_npy(cifar10 / "CIFAR-10_human_ordered.npy", shuffled[0])
    path = cifar10 / "image_order_c10.npy"
    np.save(path, shuffled[1])
    for content in (path.read_bytes()[:-3], b"text"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"c10\.npy.*not an \.npy file of numbers"):
            load_cifar10n(cifar10, check_counts=False)
