"""Several processes compute what one computes, and all of them the same."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from skpresto.baselines import ITLMClassifier, PESClassifier
from tests.discovery import classifiers_for
from tests.parallel import cases

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "train_parallel.py"
#: They need the gradients, or the features, of all samples of a batch.
REFUSED = {
    "LearningToReweightClassifier": "Learning to Reweight",
    "SSRClassifier": "SSR",
    "DivideMixClassifier": "DivideMix",
}
#: One of each path, one that needs the losses of all samples, and one that trains some
#: layers alone.
SHARED = [*classifiers_for(), ITLMClassifier, PESClassifier]
NAMES = sorted({c.__name__ for c in SHARED} - REFUSED.keys())
FURTHER = {
    # The route without fallback, with an assessor, and the estimate of the noise rate.
    "CrossPrestoppingClassifier": {"cv": 3, "max_epochs": 10, "assessor": "auto"},
    "CoTeachingPlusClassifier": {"noise_rate": None},
}


def assert_alike(found, expected, tolerance=1e-12):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if value.dtype.kind == "f":
            np.testing.assert_allclose(
                found[name], value, rtol=tolerance, atol=tolerance, err_msg=name
            )
        else:
            np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_two_processes_compute_what_one_computes(name, pair):
    further = FURTHER.get(name, {})
    expected = cases.fit_alike(name, False, further)
    for found in pair.results(cases.fit_alike, name, True, further):
        assert_alike(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_three_processes_compute_what_one_computes(name, trio):
    """With sample weights, class weights and validation data."""
    expected = cases.fit_alike(name, False, {}, is_weighted=True)
    for found in trio.results(cases.fit_alike, name, True, {}, True):
        assert_alike(found, expected)


def test_the_fallback_of_cross_prestopping_is_the_same_too(pair):
    name = "CrossPrestoppingClassifier"
    expected = cases.fit_alike(name, False, {}, has_labels=False)
    assert expected["used_fallback_"]
    for found in pair.results(cases.fit_alike, name, True, {}, False, False):
        assert_alike(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_all_processes_have_the_same_bits(name, trio):
    """With BatchNorm, dropout, and no seed."""
    first, *others = trio.results(cases.fit_mixing, name)
    assert others == [first, first]


@pytest.mark.parametrize("name", REFUSED)
def test_a_method_that_needs_whole_batches_is_refused(name, pair):
    for message in pair.results(cases.message_of_refusal, name):
        assert message.startswith(f"{REFUSED[name]} cannot be used in data_parallel")


def test_the_result_can_be_used_by_one_process_alone(trio):
    stored, *others = trio.results(cases.predict_and_store_in_first)
    assert others == [None, None]
    clf = pickle.loads(stored)
    assert clf.predict(cases.noisy_blobs()[0]).shape == (150,)


def test_the_example_runs(pair, tmp_path):
    shown, nothing = pair.results(cases.run_example, str(EXAMPLE), str(tmp_path))
    assert float(re.search(r"Test accuracy: (\S+)", shown)[1]) > 0.85
    assert "phase 2  epoch  12" in shown
    assert nothing == ""
