"""The estimators inside of what users pass: pipelines, searches, and others."""

from collections.abc import Iterator
from typing import Any


def inner_estimators(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and the one that it contains, and so on inside that.

    A search contains its best estimator, a Pipeline its last step, and a fitted
    NoisyTargetClassifier its classifier. Nothing is yielded for None.
    """
    while estimator is not None:
        yield estimator
        steps = getattr(estimator, "steps", None)
        own = getattr(estimator, "__dict__", {})
        inner = steps[-1][1] if steps else own.get("classifier_")
        estimator = getattr(estimator, "best_estimator_", inner)


def classifier_in(estimator: Any, owner: str) -> Any:
    """Return the classifier in a Pipeline, a search, or both.

    An estimator that is none of these, or is not fitted, is returned as it is.
    ``owner`` is the name of the function that the user called, for the error message.
    """
    *_, inner = [estimator, *inner_estimators(estimator)]
    if hasattr(inner, "cv_results_"):
        raise ValueError(
            f"{owner} needs the best estimator of a search, but this "
            f"{type(inner).__name__} has none. Search with refit=True."
        )
    return inner
