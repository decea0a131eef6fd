"""Every public classifier, found by being there."""

import skpresto

CLASSIFIERS = [
    getattr(skpresto, name) for name in skpresto.__all__ if name.endswith("Classifier")
]

#: Settings under which a classifier is quick on small data.
QUICK = {"max_epochs": 12, "module__hidden": (16,), "batch_size": 64}

#: What makes the methods that train more than once train once.
FEWER_RUNS = {
    "CoTeachingClassifier": {"noise_rate": 0.2},
    "CoTeachingPlusClassifier": {"noise_rate": 0.2},
    "SelfieClassifier": {"noise_rate": 0.2, "restarts": 0, "q": 5},
}


def quick(classifier, **params):
    """Return a classifier that trains in a fraction of a second."""
    fewer_runs = FEWER_RUNS.get(classifier.__name__, {})
    return classifier(**{**QUICK, **fewer_runs, "random_state": 0, **params})
