"""Every public classifier, found by being there."""

import skpresto

CLASSIFIERS = [
    getattr(skpresto, name) for name in skpresto.__all__ if name.endswith("Classifier")
]

#: Settings under which a classifier is quick on small data.
QUICK = {"max_epochs": 12, "module__hidden": (16,), "batch_size": 64}


def quick(classifier, **params):
    """Return a classifier that trains in a fraction of a second."""
    return classifier(**{**QUICK, "random_state": 0, **params})
