"""Every public classifier, and parameters with which it is quick."""

import skpresto
from skpresto import baselines
from skpresto.stopping import StopRule

METHODS = [
    getattr(skpresto, name) for name in skpresto.__all__ if name.endswith("Classifier")
]


class LearningToReweightClassifier(baselines.LearningToReweightClassifier):
    """Takes the training samples for clean ones, since others come without any.

    Otherwise it would have to be left out wherever ``fit(X, y)`` is called, as in
    scikit-learn's checks.
    """

    def fit(
        self, X, y=None, sample_weight=None, *, X_val=None, y_val=None, y_true=None
    ):
        if X_val is None and y_val is None:
            X_val, y_val = X, y
        clean = {"X_val": X_val, "y_val": y_val}
        return super().fit(X, y, sample_weight, **clean, y_true=y_true)


WITH_CLEAN_SAMPLES = {"LearningToReweightClassifier": LearningToReweightClassifier}
BASELINES = [
    WITH_CLEAN_SAMPLES.get(name) or getattr(baselines, name)
    for name in baselines.__all__
]
#: All of them. Tests of what does not depend on the method, such as how samples are
#: read, and that take long, use ``METHODS`` only.
CLASSIFIERS = METHODS + BASELINES

#: Settings under which a classifier is quick on small data.
QUICK = {"max_epochs": 12, "module__hidden": (16,), "batch_size": 64}

#: What keeps the number of runs small in methods that train more than once, and
#: makes those quicker that learn slowly, from few samples or in small steps.
FEWER_RUNS = {
    "CoTeachingClassifier": {"noise_rate": 0.2},
    "CoTeachingPlusClassifier": {"noise_rate": 0.2},
    "CrossPrestoppingClassifier": {"cv": 2},
    "DecoupleClassifier": {"warm_up": 0.5},
    "INCVClassifier": {"rounds": 1},
    "ITLMClassifier": {"noise_rate": 0.2, "rounds": 1},
    "JoCoRClassifier": {"noise_rate": 0.2},
    "MentorNetClassifier": {"percentile": 80},
    "SelfieClassifier": {"noise_rate": 0.2, "restarts": 0, "q": 5},
}


class StopAfter(StopRule):
    """A rule as a user would write it."""

    def __init__(self, n_epochs=3):
        self.n_epochs = n_epochs

    def candidate(self, records):
        return min(self.n_epochs, len(records)) - 1

    def is_settled(self, records):
        return len(records) >= self.n_epochs


def quick(classifier, **params):
    """Return a classifier that trains in a fraction of a second."""
    fewer_runs = FEWER_RUNS.get(classifier.__name__, {})
    return classifier(**{**QUICK, **fewer_runs, "random_state": 0, **params})
