"""The internals of skpresto that are timed; the only file here that imports them."""

from skpresto import DefaultClassifier
from skpresto._classifier.check import check_fit
from skpresto._classifier.spec import build_net
from skpresto._label_quality.history import PredictionHistory
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._methods._two_phases import LearnFromSafeSet
from skpresto._training.policy import LearnFromAll
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer


def trainer(module, X, y, q, **params):
    """Return the Trainer that all classifiers are trained with, started."""
    classifier = DefaultClassifier(module, **params)
    data = check_fit(classifier, X, y, None, None, None, None).data
    started = Trainer(*build_net(classifier, data), data, q)
    started.start()
    return started


def run_phase_one(runner, n_epochs=1):
    """Train on all labels."""
    runner.run(Stage("phase 1", LearnFromAll(), n_epochs))


def run_phase_two(runner, n_epochs=1):
    """Train on the safe set."""
    runner.run(Stage("phase 2", LearnFromSafeSet(runner.history), n_epochs))


def run_phase_two_with_quality(runner, n_epochs=1):
    """Train on the safe set, and average probabilities for the label quality."""
    policy = LearnFromSafeSet(runner.history)
    visits = MeanProbabilities(runner.labels, runner.data.n_classes)
    runner.run(Stage("phase 2", policy, n_epochs, recorders=[visits]))
    visits.unseen()  # adds up what has been collected


def history_bytes(n_samples, n_classes, q):
    """Return the memory of the prediction history."""
    return PredictionHistory(n_samples, n_classes=n_classes, length=q).nbytes
