"""The classifier inside of what users pass to ``from_estimator``."""

from typing import Any

from sklearn.utils.validation import check_is_fitted


def classifier_in(estimator: Any, owner: str) -> Any:
    """Return the fitted classifier in a Pipeline, a search, or both.

    An estimator that is none of these, or is not fitted, is returned as it is.
    """
    if hasattr(estimator, "best_estimator_"):
        return classifier_in(estimator.best_estimator_, owner)
    if hasattr(estimator, "cv_results_"):
        raise ValueError(
            f"{owner} needs the best estimator of a search, but this "
            f"{type(estimator).__name__} has none. Search with refit=True."
        )
    if getattr(estimator, "steps", None):
        return classifier_in(estimator.steps[-1][1], owner)
    # Of NoisyTargetClassifier, which may have a Pipeline inside.
    inner = getattr(estimator, "__dict__", {}).get("classifier_")
    return estimator if inner is None else classifier_in(inner, owner)


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
