"""The classifier whose training is plotted."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from skpresto._inner_estimators import classifier_in


def classifier_with_history(estimator: Any, owner: str) -> Any:
    """Return the classifier; raise if it is not fitted, or is not of this package."""
    classifier = classifier_in(estimator, owner)
    check_is_fitted(classifier)
    if not hasattr(classifier, "history_"):
        raise ValueError(
            f"{owner} needs a classifier of skpresto, whose history_ it plots, but "
            f"{type(classifier).__name__} has none. Pass a fitted "
            "PrestoppingClassifier or DefaultClassifier."
        )
    return classifier
