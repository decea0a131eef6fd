"""scikit-learn's own checks, on every public classifier, with one expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from skpresto import DefaultClassifier, PrestoppingClassifier
from tests.discovery import CLASSIFIERS, RUNS_ALL, short_fits_warn


class UserModule(nn.Module):
    """A network as a user would write it, which gets the size of the data."""

    def __init__(self, n_features, n_classes, width=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features, width), nn.ReLU(), nn.Linear(width, n_classes)
        )

    def forward(self, X):
        return self.layers(X)


#: The methods that train several times do so once, but for one of each kind. Those that
#: learn where networks disagree, or by what they agree on, need a few epochs before.
ONCE = {
    "CoTeachingPlusClassifier": {"noise_rate": 0.1, "warm_up": 0.75},
    "CrossPrestoppingClassifier": {"cv": 2},
    "DecoupleClassifier": {"warm_up": 0.75},
    "DivideMixClassifier": {"warm_up": 0.5},
    "ForwardCorrectionClassifier": {"max_epochs": 8},
    "INCVClassifier": {"rounds": 2},
    "ITLMClassifier": {"noise_rate": 0.1, "rounds": 2},
    "SelfieClassifier": {"noise_rate": 0.1, "restarts": 1},
    "JoCoRClassifier": {"noise_rate": 0.1},
}


def estimators(max_epochs):
    """Return every classifier, and two with a module of the user."""
    short = {"max_epochs": max_epochs, "batch_size": 32}
    built_in = [c(**{**short, **ONCE.get(c.__name__, {})}) for c in CLASSIFIERS]
    with_module = DefaultClassifier, PrestoppingClassifier
    return built_in + [c(UserModule, **short) for c in with_module]


#: Mini-batches of repeated samples are not those of weighted samples: they have other
#: rows, their number differs, and so do the random numbers of a fit. scikit-learn
#: checks its own MLPClassifier with a solver that uses no mini-batches.
REASON = "mini-batches of weighted samples differ from those of repeated samples"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": REASON,
    "check_sample_weight_equivalence_on_sparse_data": REASON,
}


@short_fits_warn
@pytest.mark.filterwarnings("ignore:SCIPY_ARRAY_API is not set")
@parametrize_with_checks(
    [e for n in ((4, 8, 20) if RUNS_ALL else (4,)) for e in estimators(n)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)
