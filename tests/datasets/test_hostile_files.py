"""Files and folders that lie, leave their place, or cannot be read."""

import os
from pathlib import Path

import pytest
from PIL import Image

import skpresto.datasets as datasets
from skpresto.datasets import (
    load_animal10n,
    load_food101n,
    load_image_folder,
)
from skpresto.datasets._pictures import _allocated


@pytest.fixture
def pets(tmp_path, save_picture):
    save_picture(tmp_path / "pets" / "cat" / "1.png", size=(6, 4))
    save_picture(tmp_path / "pets" / "dog" / "1.png", size=(6, 4))
    return tmp_path / "pets"


# lists


@pytest.mark.parametrize("name", ["classes.txt", "verified_train.tsv"])
def test_a_list_that_is_not_utf_8_is_named(food, name):
    path = food / "Food-101N_release" / "meta" / name
    path.write_bytes(path.read_bytes() + b"caf\xe9/1.jpg\t1\n")
    with pytest.raises(ValueError, match=rf"{name}.*is not text in UTF-8"):
        load_food101n(food, check_counts=False)


@pytest.mark.parametrize(
    "key",
    [
        "dish_000/../../../secret.jpg",
        "dish_000/..",
        "dish_000/sub/a.jpg",
        "dish_000//etc/passwd",
        "dish_000/..\\..\\a.jpg",
        "dish_000",
    ],
)
def test_a_list_cannot_name_files_elsewhere(food, save_picture, key):
    save_picture(food.parent / "secret.jpg")
    path = food / "Food-101N_release" / "meta" / "verified_train.tsv"
    path.write_text(f"{key}\t1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"expected lines of <class>/<image>, got"):
        load_food101n(food, check_counts=False)


# pictures


def huge_picture(path, width=20_000, height=20_000):
    """Write the header of a bitmap, with 400 million pixels that are not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (1, 1)).save(path, format="BMP")
    content = bytearray(path.read_bytes())
    content[18:26] = width.to_bytes(4, "little") + height.to_bytes(4, "little")
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("side", "message"),
    [
        (20_000, r"400000000 pixels.*larger max_pixels.*PIL\.Image\.MAX_IMAGE_PIXELS"),
        (11_000, "it has 121000000 pixels, more than max_pixels=100000000"),
    ],
)
def test_a_huge_picture_is_not_decoded(pets, limited_memory, side, message):
    huge_picture(pets / "cat" / "2.bmp", side, side)
    with pytest.raises(ValueError, match=rf"does not decode .*2\.bmp.*{message}"):
        load_image_folder(pets, image_size=4)


def test_the_limit_of_pixels_is_an_argument(pets):
    with pytest.raises(ValueError, match="it has 24 pixels, more than max_pixels=23"):
        load_image_folder(pets, max_pixels=23)
    assert len(load_image_folder(pets, max_pixels=24).y) == 2
    assert len(load_image_folder(pets, max_pixels=None).y) == 2


@pytest.mark.parametrize("load", [load_animal10n, load_food101n])
def test_published_pictures_have_a_limit_too(load, animal_raw, food):
    with pytest.raises(ValueError, match="more than max_pixels=4100"):
        load(food, check_counts=False, max_pixels=4100)


@pytest.mark.parametrize("size", [0, -3, 2.5, "64", (3,), (3, 0), (3, 4, 5), True])
def test_the_size_of_images_is_checked(pets, size):
    with pytest.raises(ValueError, match="needs image_size to be a positive int or"):
        load_image_folder(pets, image_size=size)


def test_the_size_of_images_has_the_same_limit(pets):
    with pytest.raises(ValueError, match="at most max_pixels=100000000 pixels, but"):
        load_image_folder(pets, image_size=10_001)


@pytest.mark.parametrize("limit", [0, -1, 1.5, "all", False])
def test_the_limit_of_pixels_is_checked(pets, limit):
    with pytest.raises(ValueError, match="max_pixels to be a positive int or None"):
        load_image_folder(pets, max_pixels=limit)


def test_images_that_do_not_fit_into_memory_are_refused():
    with pytest.raises(
        MemoryError, match=r"load_it needs .* GB for .* images of 9 x 8 pixels.*image_"
    ):
        _allocated("load_it", (2**55, 3, 9, 8))


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"BM" + b"\xff" * 60])
def test_a_damaged_picture_is_named(pets, content):
    (pets / "dog" / "2.png").write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot decode .*2\.png.*remove it"):
        load_image_folder(pets)


# links and folders


def test_links_to_files_elsewhere_are_followed_only_if_asked_for(pets, save_picture):
    save_picture(pets.parent / "private.png", size=(6, 4))
    (pets / "cat" / "2.png").symlink_to(pets.parent / "private.png")
    with pytest.raises(
        ValueError, match=r"2\.png' is a link to .*private\.png.*follow_symlinks=True"
    ):
        load_image_folder(pets)
    assert len(load_image_folder(pets, follow_symlinks=True).y) == 3


def test_links_within_the_folder_are_followed(pets):
    (pets / "cat" / "2.png").symlink_to(pets / "dog" / "1.png")
    assert len(load_image_folder(pets).y) == 3


def test_the_folder_itself_may_be_a_link(pets):
    (pets.parent / "linked").symlink_to(pets)
    assert len(load_image_folder(pets.parent / "linked").y) == 2


def test_a_folder_of_a_class_elsewhere_is_refused(pets, save_picture):
    save_picture(pets.parent / "cow" / "1.png", size=(6, 4))
    (pets / "cow").symlink_to(pets.parent / "cow")
    with pytest.raises(ValueError, match="is a link to"):
        load_image_folder(pets)


@pytest.mark.parametrize("load", [load_animal10n, load_food101n])
def test_published_pictures_are_not_links(load, animal_raw, food):
    image = next(food.glob("**/0_img_0.jpg" if load is load_animal10n else "**/a.jpg"))
    image.rename(food.parent / image.name)
    image.symlink_to(food.parent / image.name)
    with pytest.raises(ValueError, match=rf"{load.__name__} needs images in .*a link"):
        load(food, check_counts=False)
    data = load(food, check_counts=False, follow_symlinks=True)
    assert len(data.X_train) == len(data.y_noisy)


def test_a_link_to_nothing_is_named(pets):
    (pets / "cat" / "2.png").symlink_to(pets / "cat" / "nothing.png")
    with pytest.raises(ValueError, match=r"cannot decode .*2\.png"):
        load_image_folder(pets)


@pytest.mark.parametrize("classes", ["cat", ["cat", "cat", "dog"]])
def test_classes_are_different_names(pets, classes):
    with pytest.raises(ValueError, match="classes to be a sequence of different names"):
        load_image_folder(pets, classes=classes)


def test_classes_are_folders_in_the_folder(pets):
    with pytest.raises(ValueError, match=r"the classes \['\.\./pets/cat'\] without"):
        load_image_folder(pets, classes=["../pets/cat", "cat", "dog"])


def denied(path, *args, **kwargs):
    raise PermissionError(13, "Permission denied")


def test_an_unreadable_folder_is_named(cifar10, monkeypatch):
    (cifar10 / "cifar-10-batches-py").rename(cifar10 / "elsewhere")
    (cifar10 / "cifar-10").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path.name != "cifar-10")
    with pytest.raises(
        FileNotFoundError, match=r"load_cifar10 .*cannot read \['.*cifar-10'\]"
    ):
        datasets.load_cifar10(cifar10, check_counts=False)


def test_an_unreadable_folder_of_images_is_named(pets, monkeypatch):
    monkeypatch.setattr(Path, "iterdir", denied)
    with pytest.raises(
        PermissionError,
        match=r"load_image_folder cannot read '.*pets': Permission denied\. Check",
    ):
        load_image_folder(pets)


def test_an_unreadable_file_is_named(food, monkeypatch):
    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(PermissionError, match=r"load_food101n cannot read .*classes"):
        load_food101n(food, check_counts=False)


LOADERS = [getattr(datasets, n) for n in datasets.__all__ if n.startswith("load_")]


@pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)
@pytest.mark.parametrize("folder", [3, 2.5, ["data"], b"data", "~no such user/data"])
def test_a_folder_is_a_path(load, folder):
    with pytest.raises(
        (TypeError, RuntimeError),
        match=rf"{load.__name__} needs (folder|file) to be a path, .*but got",
    ):
        load(folder)


@pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)
@pytest.mark.parametrize("folder", ["", "no\0where", "x" * 5000])
def test_a_folder_that_cannot_exist_is_not_found(load, folder):
    with pytest.raises(FileNotFoundError, match=f"{load.__name__} needs"):
        load(folder)
