import warnings

from skpresto.stopping import EpochRecord
from tests.discovery import every, quick


@every
def test_every_stage_of_a_classifier_is_documented(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    with warnings.catch_warnings():
        # Twelve epochs are too few for some of the methods, which does not matter here.
        warnings.simplefilter("ignore")
        clf = quick(Classifier).fit(X, y)
    stages = {record.stage for record in clf.history_}
    assert stages
    assert all(f'``"{stage}"``' in EpochRecord.__doc__ for stage in stages)
