import pytest

import skpresto.datasets as datasets
from skpresto.datasets import load_cifar10
from skpresto.datasets._source import Source

PUBLISHED = {
    "load_animal10n": "dm.kaist.ac.kr",
    "load_cifar10": "cifar-10-python.tar.gz",
    "load_cifar10n": "cifar-10-python.tar.gz",
    "load_cifar100": "cifar-100-python.tar.gz",
    "load_cifar100n": "cifar-100-python.tar.gz",
    "load_fashion_mnist": "zalandoresearch",
    "load_food101n": "kuanghuei.github.io",
}

SOURCE = Source(
    "load_it", "It", "https://example.org", folders=("the-set",), below=("x",)
)


@pytest.mark.parametrize(("loader", "home"), list(PUBLISHED.items()))
class TestEveryPublishedDataSet:
    def test_error_for_a_missing_file_names_it_and_its_source(
        self, tmp_path, loader, home
    ):
        with pytest.raises(FileNotFoundError) as caught:
            getattr(datasets, loader)(tmp_path)
        message = str(caught.value)
        assert message.startswith(f"{loader} needs '")
        assert repr(str(tmp_path)) in message
        assert home in message
        assert "SKPRESTO_DATA" in message

    def test_error_without_a_folder(self, loader, home):
        with pytest.raises(
            FileNotFoundError, match=rf"{loader} needs a folder.*SKPRESTO_DATA is not"
        ):
            getattr(datasets, loader)()

    def test_error_for_a_folder_that_does_not_exist(self, tmp_path, loader, home):
        with pytest.raises(
            FileNotFoundError, match=rf"{loader} .*not a folder.*{home}"
        ):
            getattr(datasets, loader)(tmp_path / "nowhere")


def test_data_folder_comes_from_the_environment(cifar10, monkeypatch):
    monkeypatch.setenv("SKPRESTO_DATA", str(cifar10))
    assert len(load_cifar10(check_counts=False).y_train) == 20


def test_given_folder_takes_precedence_over_the_environment(
    cifar10, tmp_path_factory, monkeypatch
):
    monkeypatch.setenv("SKPRESTO_DATA", str(tmp_path_factory.mktemp("empty")))
    assert len(load_cifar10(cifar10, check_counts=False).y_train) == 20


@pytest.mark.parametrize("place", [".", "the-set", "The_Set", "TheSet/x", "x"])
def test_usual_folder_names_are_found_in_any_spelling(tmp_path, place):
    folder = tmp_path / place
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "marker").touch()
    assert SOURCE.find(tmp_path, "other", "marker") == folder


def test_folder_of_the_usual_name_takes_precedence_over_the_base(tmp_path):
    (tmp_path / "marker").touch()
    (tmp_path / "the-set").mkdir()
    (tmp_path / "the-set" / "marker").touch()
    assert SOURCE.find(tmp_path, "marker") == tmp_path / "the-set"


def test_other_folders_are_not_searched(tmp_path):
    (tmp_path / "another").mkdir()
    (tmp_path / "another" / "marker").touch()
    with pytest.raises(FileNotFoundError, match=r"'marker' of It.*names like the-set"):
        SOURCE.find(tmp_path, "marker")


def test_a_folder_is_not_accepted_as_a_file(tmp_path):
    (tmp_path / "train").mkdir()
    assert SOURCE.find(tmp_path, "train/") == tmp_path
    with pytest.raises(FileNotFoundError, match="'train'"):
        SOURCE.find(tmp_path, "train")
