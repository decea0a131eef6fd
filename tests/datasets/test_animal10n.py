import numpy as np
import pytest

from skpresto.datasets import load_animal10n


def test_labels_of_raw_images_are_in_their_names(animal_raw):
    data = load_animal10n(animal_raw, check_counts=False)
    assert data.X_train.shape == (10, 3, 64, 64)
    assert data.y_noisy.tolist() == list(range(10))
    assert data.files_train[3] == "3_img_3.jpg"
    assert data.X_test.shape == (1, 3, 64, 64)  # brought to the size of the others
    assert data.y_test.tolist() == [3]
    assert data.classes[[3, 5]].tolist() == ["coyote", "jaguar"]
    assert "y_train" not in data  # the truth is not known
    np.testing.assert_allclose(data.X_train[0, :, 0, 0], [200, 100, 50], atol=4)


def test_binary_version_is_read_in_the_order_of_its_files(animal_binary):
    data = load_animal10n(animal_binary, check_counts=False)
    assert data.y_noisy.tolist() == [0, 9, 4, 5]
    assert data.files_train.tolist() == ["500", "501", "500", "500"]
    assert data.X_train.dtype == np.uint8
    assert data.X_train[:, 0, 5, 5].tolist() == [0, 9, 4, 5]
    assert data.X_train[0, :, 63, 63].tolist() == [0, 1, 2]
    assert data.y_test.tolist() == [7]


def test_images_can_be_normalized(animal_binary):
    data = load_animal10n(animal_binary, check_counts=False, normalize=True)
    assert abs(data.X_train[:, 0].mean()) < 1e-5
    assert (data.X_train[:, 1] == 0).all()  # a channel that never changes


def test_counts_are_checked(animal_raw, animal_binary):
    with pytest.raises(ValueError, match=r"50000 training images.*ANIMAL-10N.*got"):
        load_animal10n(animal_raw)


def test_missing_test_images_are_refused(animal_raw):
    folder = animal_raw / "raw_image_ver" / "raw_image" / "testing"
    (folder / "3_img_7.jpg").unlink()
    with pytest.raises(FileNotFoundError, match="images in 'testing/'"):
        load_animal10n(animal_raw, check_counts=False)
    folder.rmdir()
    with pytest.raises(FileNotFoundError, match="images in 'testing/'"):
        load_animal10n(animal_raw, check_counts=False)


@pytest.mark.parametrize("name", ["cat_1.jpg", "12.jpg"])
def test_a_file_name_without_a_label_is_refused(animal_raw, save_picture, name):
    save_picture(animal_raw / "raw_image_ver" / "raw_image" / "training" / name)
    with pytest.raises(ValueError, match=rf"{name}.*like '3_img_12\.jpg'"):
        load_animal10n(animal_raw, check_counts=False)


def test_a_label_outside_of_the_classes_is_refused(animal_raw, save_picture):
    save_picture(
        animal_raw / "raw_image_ver" / "raw_image" / "training" / "10_img_1.jpg"
    )
    with pytest.raises(ValueError, match="between 0 and 9, got 0 to 10"):
        load_animal10n(animal_raw, check_counts=False)


@pytest.mark.parametrize("content", [b"", b"123"])
def test_a_truncated_binary_file_is_refused(animal_binary, content):
    (animal_binary / "ANIMAL-10N" / "data_batch_other.bin").write_bytes(content)
    with pytest.raises(ValueError, match=rf"of 12296 bytes, got {len(content)} bytes"):
        load_animal10n(animal_binary, check_counts=False)


def test_missing_binary_test_file_is_refused(animal_binary):
    (animal_binary / "ANIMAL-10N" / "test_batch.bin").unlink()
    with pytest.raises(FileNotFoundError, match=r"'test_batch\.bin' of ANIMAL-10N"):
        load_animal10n(animal_binary, check_counts=False)
