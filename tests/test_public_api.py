import importlib

import pytest

import skpresto
from skpresto import baselines


def test_every_public_name_can_be_imported():
    for name in skpresto.__all__:
        assert getattr(skpresto, name).__name__ == name
    assert set(skpresto.__all__) <= set(dir(skpresto))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Prestopper'"):
        skpresto.Prestopper  # noqa: B018


def test_every_baseline_can_be_imported_and_is_documented():
    for name in baselines.__all__:
        classifier = getattr(baselines, name)
        assert classifier.__name__ == name
        assert "References" in classifier.__doc__
    assert set(baselines.__all__) <= set(dir(baselines))
    with pytest.raises(AttributeError, match="has no attribute 'Guess'"):
        baselines.Guess  # noqa: B018


def test_the_seven_methods_of_the_paper_and_two_more_are_public():
    classes = [name for name in skpresto.__all__ if name.endswith("Classifier")]
    assert sorted(classes) == [
        "ActiveBiasClassifier",
        "CoTeachingClassifier",
        "CoTeachingPlusClassifier",
        "CrossPrestoppingClassifier",
        "DefaultClassifier",
        "LabelCleaningClassifier",
        "PrestoppingClassifier",
        "PrestoppingPlusClassifier",
        "SelfieClassifier",
    ]


PUBLIC_MODULES = [
    "stopping",
    "noise",
    "plots",
    "datasets",
    "modules",
    "losses",
    "audit",
    "baselines",
]


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_public_modules_list_what_they_offer(module):
    loaded = importlib.import_module(f"skpresto.{module}")
    for name in loaded.__all__:
        assert getattr(loaded, name).__doc__


def test_version_is_that_of_the_package():
    assert skpresto.__version__.count(".") == 2
