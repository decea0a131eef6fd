import sys

import numpy as np
import pytest

from skpresto.datasets import load_image_folder


@pytest.fixture
def pets(tmp_path, save_picture):
    save_picture(tmp_path / "dog" / "2.PNG", size=(6, 4), color=(9, 8, 7))
    save_picture(tmp_path / "dog" / "1.png", size=(6, 4))
    save_picture(tmp_path / "cat" / "1.jpg", size=(6, 4))
    (tmp_path / "cat" / "notes.txt").touch()
    (tmp_path / "cat" / ".1.png").touch()
    (tmp_path / ".cache").mkdir()
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_classes_are_the_folders_with_images(pets):
    data = load_image_folder(pets)
    assert data.X.shape == (3, 3, 4, 6)
    assert data.X.dtype == np.uint8
    assert data.y.tolist() == [0, 1, 1]
    assert data.classes.tolist() == ["cat", "dog"]
    assert data.files.tolist() == ["cat/1.jpg", "dog/1.png", "dog/2.PNG"]
    assert data.X[2, :, 0, 0].tolist() == [9, 8, 7]


def test_images_are_resized(pets, save_picture):
    save_picture(pets / "cat" / "2.jpg", size=(500, 300))
    data = load_image_folder(pets, image_size=(5, 7), grayscale=True)
    assert data.X.shape == (4, 1, 5, 7)


def test_images_of_different_sizes_are_refused_without_image_size(pets, save_picture):
    save_picture(pets / "cat" / "2.jpg", size=(5, 3))
    with pytest.raises(
        ValueError, match=r"same size, but got 4 x 6 .*3 x 5.*image_size"
    ):
        load_image_folder(pets)


def test_class_numbers_are_positions_in_given_classes(pets):
    data = load_image_folder(pets, classes=["dog", "empty", "cat"])
    assert data.y.tolist() == [0, 0, 2]
    assert data.classes.tolist() == ["dog", "empty", "cat"]


def test_folders_must_be_those_of_the_given_classes(pets):
    with pytest.raises(ValueError, match=r"folders \['dog'\].*classes \['cow'\]"):
        load_image_folder(pets, classes=["cat", "cow"])


def test_folder_is_searched_in_the_data_folder(pets, monkeypatch):
    monkeypatch.setenv("SKPRESTO_DATA", str(pets.parent))
    assert len(load_image_folder(pets.name).y) == 3
    monkeypatch.setenv("SKPRESTO_DATA", str(pets))
    assert len(load_image_folder().y) == 3


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.*not a folder"):
        load_image_folder(tmp_path / "nowhere")


def test_folder_without_images_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="needs folders of images, <class>/"):
        load_image_folder(tmp_path)


def test_a_damaged_image_is_named(pets):
    (pets / "dog" / "3.png").write_bytes(b"not an image")
    with pytest.raises(ValueError, match=r"cannot decode .*3\.png.*remove it"):
        load_image_folder(pets)


def test_error_without_pillow(pets, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(
        ImportError, match=r"load_image_folder needs Pillow.*pip install"
    ):
        load_image_folder(pets)
