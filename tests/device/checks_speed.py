"""Batches do not wait for the device, and launch few operators beside the network's."""

import numpy as np
import pytest

from tests.device.launches import loop_per_batch, per_batch
from tests.discovery import CLASSIFIERS, RUNS_ALL, on_paths, short_fits_warn

pytestmark = short_fits_warn

#: Most operators launched per batch by each method on a network of one layer, for which
#: a loop written by hand launches nine.
LAUNCHES = {
    "CORESClassifier": 32,
    "CoTeachingClassifier": 24,
    "CoTeachingPlusClassifier": 35,
    "CrossPrestoppingClassifier": 44,
    "DecoupleClassifier": 25,
    "DivideMixClassifier": 85,
    "ELRClassifier": 34,
    "INCVClassifier": 33,
    "JoCoRClassifier": 75,
    "LearningToReweightClassifier": 60,
    "MentorNetClassifier": 30,
    "PrestoppingPlusClassifier": 29,
    "SOPClassifier": 80,
    "SSRClassifier": 52,
    "SelfieClassifier": 47,
}


@pytest.fixture(autouse=True)
def only_where_it_is_counted(is_pretended):
    if not is_pretended:
        pytest.skip("waits and launches are counted on the pretend device")


def test_a_plain_loop_is_counted(points):
    assert loop_per_batch(*points) == 9


@on_paths()
def test_batches_of_a_table_do_not_wait(Classifier, points):
    found = per_batch(Classifier, *points)
    assert found.waits <= 0.1
    assert found.launches <= LAUNCHES.get(Classifier.__name__, 20)


@pytest.mark.parametrize("Classifier", CLASSIFIERS if RUNS_ALL else CLASSIFIERS[4:6])
def test_batches_of_pictures_do_not_wait(Classifier, pictures):
    X, y = (np.concatenate([array] * 4) for array in pictures)
    assert per_batch(Classifier, X, y).waits <= 0.3


def test_samples_that_are_not_kept_on_the_device_are_read_ahead(
    points, device, monkeypatch
):
    monkeypatch.setattr("skpresto._data.samples.MAX_KEPT", 0)
    assert per_batch(CLASSIFIERS[4], *points).waits <= 0.1
