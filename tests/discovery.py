"""Every public classifier, and parameters with which it is quick."""

import skpresto
from skpresto import baselines
from skpresto._data.training_data import PredictionRows
from skpresto.stopping import StopRule

METHODS = [
    getattr(skpresto, name) for name in skpresto.__all__ if name.endswith("Classifier")
]


class LearningToReweightClassifier(baselines.LearningToReweightClassifier):
    """Takes its training samples for clean ones, if ``fit`` gets no others.

    It would have to be left out otherwise wherever ``fit(X, y)`` is called, as in
    scikit-learn's checks.
    """

    def _check_fit_requirements(self, given):
        if given["X_val"] is not None:
            super()._check_fit_requirements(given)

    def _clean_rows(self, data):
        if data.X_valid is not None:
            return super()._clean_rows(data)
        rows = data.rows_with_weight
        labels = data.labels if rows is None else data.labels[rows]
        return PredictionRows(data.X, rows, labels), data.weights_of(rows)


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
    "LearningToReweightClassifier": {"lr": 0.03},  # few samples decide on a step
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
