import shutil

import pytest

from skpresto.datasets import load_food101n


def rewrite(path, old, new):
    path.write_text(path.read_text().replace(old, new))


def test_verified_images_are_loaded_with_their_verification(food):
    data = load_food101n(food, check_counts=False)
    assert data.X_train.shape == (3, 3, 64, 64)
    assert data.y_noisy.tolist() == [0, 1, 2]
    assert data.verified_train.tolist() == [1, 0, 1]
    assert data.files_train.tolist()[0] == "dish_000/a.jpg"
    assert "y_train" not in data  # a wrong label's true class is not known
    assert len(data.classes) == 101


def test_validation_images_have_correct_labels(food):
    data = load_food101n(food, check_counts=False)
    assert data.files_valid.tolist() == ["dish_004/f.jpg"]
    assert data.y_valid.tolist() == [4]
    assert data.X_valid.shape == (1, 3, 64, 64)


def test_test_images_are_those_of_food_101(food):
    data = load_food101n(food, check_counts=False)
    assert data.files_test.tolist() == ["dish_005/12.jpg"]
    assert data.y_test.tolist() == [5]


def test_subset_all_is_all_but_the_validation_images(food):
    data = load_food101n(food, subset="all", image_size=(16, 20), check_counts=False)
    assert data.X_train.shape == (4, 3, 16, 20)
    assert data.y_noisy.tolist() == [0, 1, 2, 2]
    assert data.verified_train.tolist() == [1, 0, 1, -1]


def test_food_101_is_not_needed_without_test_images(food):
    shutil.rmtree(food / "food-101")
    with pytest.raises(
        FileNotFoundError, match=r"'meta/test\.txt' of Food-101, .*with_test=False"
    ):
        load_food101n(food, check_counts=False)
    data = load_food101n(food, check_counts=False, with_test=False, normalize=True)
    assert "X_test" not in data
    assert data.X_valid.dtype == "float32"


def test_unknown_subset_is_refused(food):
    with pytest.raises(ValueError, match="'verified' or 'all', but got 'clean'"):
        load_food101n(food, subset="clean")


def test_counts_are_checked(food):
    with pytest.raises(ValueError, match=r"52868 lines of verified_train\.tsv.*got 3"):
        load_food101n(food)


def test_a_missing_image_is_named(food):
    (food / "Food-101N_release" / "images" / "dish_001" / "b.jpg").unlink()
    with pytest.raises(FileNotFoundError, match=r"'images/dish_001/b\.jpg' of FOOD"):
        load_food101n(food, check_counts=False)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("verified_train.tsv", "a.jpg\t1", "a.jpg\tyes", r"0 or 1, got .*yes'"),
        ("verified_train.tsv", "a.jpg\t1", "a.jpg", r"and 0 or 1, got"),
        ("verified_train.tsv", "dish_000", "stone", r"\['stone'\] are not among"),
        ("verified_val.tsv", "f.jpg\t1", "f.jpg\t0", "no image is listed for X_valid"),
        ("classes.txt", "dish_009\n", "", "101 names of classes.*got 100"),
    ],
)
def test_a_damaged_list_is_refused(food, name, old, new, message):
    rewrite(food / "Food-101N_release" / "meta" / name, old, new)
    with pytest.raises(ValueError, match=message):
        load_food101n(food, check_counts=False)


def test_an_empty_list_is_refused(food):
    (food / "Food-101N_release" / "meta" / "verified_val.tsv").write_text("")
    with pytest.raises(ValueError, match="at least one line"):
        load_food101n(food, check_counts=False)
