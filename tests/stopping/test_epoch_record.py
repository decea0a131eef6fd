import warnings

import pytest

from skpresto.stopping import EpochRecord
from tests.discovery import CLASSIFIERS, quick


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_stage_of_a_classifier_is_documented(classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    with warnings.catch_warnings():
        # Twelve epochs are too few for some of the methods, which does not matter here.
        warnings.simplefilter("ignore")
        clf = quick(classifier).fit(X, y)
    stages = {record.stage for record in clf.history_}
    assert stages
    assert all(f'``"{stage}"``' in EpochRecord.__doc__ for stage in stages)
