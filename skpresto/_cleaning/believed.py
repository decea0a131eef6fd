"""Labels that are believed after an assessment, and a classifier fitted on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._label_quality.weighted_fit import (
    fit_rows,
    name_of_weights,
    seeded_clone,
)
from skpresto._labels import Codes, Labels

#: So many rows of each class are always learned, so that none is lost, and classifiers
#: can split some off to stop early.
_LEAST_OF_CLASS = 5


@dataclass(frozen=True)
class Believed:
    """The class that each row is taken for, and how much it counts.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class numbers.
    weights : ndarray of shape (n_samples,)
        Weights; rows of weight 0 are not learned.
    """

    codes: Codes
    weights: NDArray[Any]

    @classmethod
    def given(cls, codes: Codes, sample_weight: NDArray[Any] | None) -> "Believed":
        """Return the labels as they are given."""
        weights = np.ones(len(codes)) if sample_weight is None else sample_weight
        return cls(codes, weights)

    @classmethod
    def corrected(
        cls,
        posterior: NDArray[Any],
        codes: Codes,
        sample_weight: NDArray[Any] | None,
        takes_weights: bool,
    ) -> "Believed":
        """Return the most probable class of each row, weighted by its probability.

        Parameters
        ----------
        posterior : ndarray of shape (n_samples, n_classes)
            Class probabilities.
        codes, sample_weight
            Given labels and weights.
        takes_weights : bool
            Whether the classifier takes weights. If not, rows are kept whose class has
            at least an even chance.
        """
        classes = posterior.argmax(axis=1)
        certainty = posterior.max(axis=1).astype(np.float64)
        if not takes_weights:
            certainty = (certainty >= 0.5).astype(np.float64)
        given = cls.given(codes, sample_weight).weights
        has_weight = given > 0
        # What is kept of a class may be taken from another, which then needs its own.
        for _ in range(posterior.shape[1]):
            learned = classes[has_weight & (certainty > 0)]
            for number in _lost_classes(learned, codes[has_weight]):
                rows = np.flatnonzero(has_weight & (codes == number))
                likeliest = rows[np.argsort(-posterior[rows, number], kind="stable")]
                chosen = likeliest[:_LEAST_OF_CLASS]
                classes[chosen] = number
                certainty[chosen] = np.maximum(certainty[chosen], 0.5)
        return cls(classes, certainty * given)

    def fitted(
        self,
        estimator: Any,
        X: Any,
        classes: Labels,
        rng: np.random.RandomState,
        params: dict[str, Any],
        among: NDArray[np.intp] | None = None,
    ) -> "Fitted":
        """Return a clone of a classifier, fitted on these labels.

        Parameters
        ----------
        estimator : classifier
            The classifier.
        X : array-like of shape (n_samples, ...)
            The samples.
        classes : ndarray of shape (n_classes,)
            The label of each class number.
        rng : RandomState
            Fills each ``random_state`` that is None.
        params : dict
            Further arguments of ``fit``.
        among : ndarray, default=None
            Rows to fit on; None means all.
        """
        rows = np.flatnonzero(self.weights > 0)
        if among is not None:
            rows = np.intersect1d(rows, among)
        model = seeded_clone(estimator, rng)
        fit_rows(model, X, self.codes, classes, rows, self.weights, params)
        return Fitted(model, np.unique(self.codes[rows]).astype(np.intp))


@dataclass(frozen=True)
class Fitted:
    """A fitted classifier, and the class numbers of its columns."""

    model: Any
    columns: NDArray[np.intp]

    def probabilities(self, X: Any, n_classes: int) -> NDArray[Any]:
        """Return probabilities of all classes; certain ones if there are no others."""
        if hasattr(self.model, "predict_proba"):
            values = self.model.predict_proba(X)
            probability = np.zeros((len(values), n_classes), dtype=values.dtype)
            probability[:, self.columns] = values
            return probability
        labels = np.ravel(self.model.predict(X))
        found = np.searchsorted(np.ravel(self.model.classes_), labels)
        return np.eye(n_classes)[self.columns[found]]


def _lost_classes(learned: Codes, given: Codes) -> NDArray[np.intp]:
    """Return the classes of which too few rows are learned."""
    n_given = np.bincount(given)
    n_learned = np.bincount(learned, minlength=len(n_given))[: len(n_given)]
    return np.flatnonzero(n_learned < np.minimum(n_given, _LEAST_OF_CLASS))


def takes_weights(estimator: Any) -> bool:
    """Return whether a classifier can be fitted with weights of samples."""
    return name_of_weights(estimator) is not None
