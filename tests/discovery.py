"""Every public classifier, parameters with which it is quick, and who is tested with.

The environment variable ``SKPRESTO_TESTS=all`` runs tests of the engine with every
classifier, and scikit-learn's checks at several numbers of epochs.
"""

import os

import pytest

import skpresto
from skpresto import baselines
from skpresto._data.training_data import PredictionRows
from skpresto.stopping import StopRule

#: Those that train networks; tests/cleaning is about the one that trains anything.
METHODS = [
    getattr(skpresto, name)
    for name in skpresto.__all__
    if name.endswith("Classifier") and name != "LabelCleaningClassifier"
]


class LearningToReweightClassifier(baselines.LearningToReweightClassifier):
    """Takes its training samples for clean ones, if ``fit`` gets no others.

    It would have to be left out otherwise wherever ``fit(X, y)`` is called, as in
    scikit-learn's checks.
    """

    def _check_request(self, given):
        if given["X_val"] is not None:
            super()._check_request(given)

    def _clean_rows(self, request):
        data = request.data
        if data.X_valid is not None:
            return super()._clean_rows(request)
        rows = data.rows_with_weight
        labels = data.labels if rows is None else data.labels[rows]
        return PredictionRows(data.X, rows, labels), data.weights_of(rows)


WITH_CLEAN_SAMPLES = {"LearningToReweightClassifier": LearningToReweightClassifier}
BASELINES = [
    WITH_CLEAN_SAMPLES.get(name) or getattr(baselines, name)
    for name in baselines.__all__
]
CLASSIFIERS = METHODS + BASELINES

RUNS_ALL = os.environ.get("SKPRESTO_TESTS") == "all"
#: One classifier for each way that a fit takes through the engine.
PATHS = {
    "one stage": skpresto.DefaultClassifier,
    "two phases": skpresto.PrestoppingClassifier,
    "new start": skpresto.PrestoppingPlusClassifier,  # and labels that it corrected
    "two networks": skpresto.CoTeachingPlusClassifier,
    "folds": skpresto.CrossPrestoppingClassifier,  # with several networks in the end
    "gradients": LearningToReweightClassifier,  # which the policy asks for
    "rounds": baselines.INCVClassifier,  # with splits of its own
}


def classifiers_for(*paths, among=CLASSIFIERS):
    """Return the classifiers with which a test of the engine is run.

    Parameters
    ----------
    *paths : str
        Keys of ``PATHS`` that the test is about; none means all.

    among : list of class, default=all
        Those to which the test applies.
    """
    if RUNS_ALL:
        return among
    return [PATHS[path] for path in paths or PATHS if PATHS[path] in among]


def on_paths(*paths, among=CLASSIFIERS):
    """Return a decorator that runs a test with ``Classifier`` on each of the paths."""
    return pytest.mark.parametrize("Classifier", classifiers_for(*paths, among=among))


#: Runs a test with every classifier: for what each method has to do by itself.
every = pytest.mark.parametrize("Classifier", CLASSIFIERS)
#: Runs a test of a refusal with a method and a baseline.
with_two = on_paths("two phases", "rounds")
#: A dozen epochs on small data rarely settle a stop rule or learn all classes.
short_fits_warn = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::skpresto.exceptions.FallbackWarning",
    "ignore::skpresto.exceptions.SafeSetWarning",
)

#: Settings under which a classifier is quick on small data.
QUICK = {"max_epochs": 12, "module__hidden": (16,), "batch_size": 64}

#: Settings under which it memorizes wrong labels.
MEMORIZING = {"max_epochs": 20, "batch_size": 32, "module__hidden": (128,)}

#: What keeps the number of runs small in methods that train more than once, and
#: makes those quicker that learn slowly, from few samples or in small steps.
FEWER_RUNS = {
    "CoTeachingClassifier": {"noise_rate": 0.2},
    "CoTeachingPlusClassifier": {"noise_rate": 0.2},
    "CrossPrestoppingClassifier": {"cv": 2, "assessor": None},
    "DecoupleClassifier": {"warm_up": 0.5},
    "DivideMixClassifier": {"warm_up": 0.5},
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
