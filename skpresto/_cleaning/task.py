"""What a classifier is to be fitted on, after checks."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import indexable

from skpresto._cleaning.believed import Believed, takes_weights
from skpresto._cleaning.guard import explained
from skpresto._label_quality.choice import Candidate, Comparison
from skpresto._label_quality.rounds import RoundsAssessment
from skpresto._labels import Codes, Labels, classes_of, encode, label_vector
from skpresto._sklearn import (
    _check_method_params,
    _check_sample_weight,
    _safe_indexing,
)


@dataclass
class Task:
    """What a classifier is to be fitted on.

    Parameters
    ----------
    estimator : classifier
        It is cloned for each fit.
    X : array-like of shape (n_samples, ...)
        The samples.
    codes : ndarray of shape (n_samples,)
        Class numbers of the given labels.
    classes : ndarray of shape (n_classes,)
        The label of each class number.
    weights : ndarray of shape (n_samples,)
        Weights.
    params : dict
        Further arguments of ``fit``.
    rng : RandomState
        Source of randomness.
    """

    estimator: Any
    X: Any
    codes: Codes
    classes: Labels
    weights: NDArray[Any]
    params: dict[str, Any]
    rng: np.random.RandomState = field(repr=False)

    def among(self, compared: Comparison) -> "Task":
        """Return the task on some rows, of which those held out have weight 0."""
        rows = compared.rows
        return Task(
            self.estimator,
            _safe_indexing(self.X, rows),
            self.codes[rows],
            self.classes,
            compared.weights(self.weights),
            _check_method_params(self.X, self.params, indices=rows),
            self.rng,
        )

    def assess(
        self, candidate: Candidate, start: RoundsAssessment | None
    ) -> RoundsAssessment:
        """Return what a candidate finds out about the labels.

        If it was asked before while rows were held out, one round more is enough, and
        which labels are given around each sample, now with these rows.
        """
        given = self.codes, self.classes, self.rng, self.weights
        if start is None:
            return candidate.assess(*given)
        return candidate.assess(*given, start=replace(start, around=None), n_rounds=1)

    def corrected(self, assessment: RoundsAssessment) -> Believed:
        """Return the labels that are believed after an assessment."""
        return Believed.corrected(
            assessment.posterior(),
            self.codes,
            self.weights,
            takes_weights(self.estimator),
        )

    def fitted(self, believed: Believed) -> Any:
        """Return the classifier fitted on what is believed."""
        return believed.fitted(
            self.estimator, self.X, self.classes, self.rng, self.params
        )

    def explained(
        self, believed: Believed, rows: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return how well the classifier, fitted on this, explains labels of rows."""
        fitted = self.fitted(believed)
        values = fitted.probabilities(_safe_indexing(self.X, rows), len(self.classes))
        return explained(values, self.codes[rows])


def checked_task(
    owner: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    params: dict[str, Any],
    rng: np.random.RandomState,
) -> Task:
    """Return what is to be fitted; raise for labels and weights that cannot be.

    Parameters
    ----------
    owner : LabelCleaningClassifier
        Its ``estimator`` is to be fitted.
    X, y, sample_weight, params
        What its ``fit`` was given.
    rng : RandomState
        A seed is drawn from it.
    """
    name = type(owner).__name__
    X, labels = indexable(X, label_vector(y, name))
    weights = _weights(owner, labels, sample_weight)
    classes = classes_of(labels, name)
    codes = encode(labels, classes, name).astype(np.intp)
    n_classes = len(np.unique(codes[weights > 0]))
    if n_classes < 2:
        raise ValueError(
            f"{name} needs samples of at least 2 classes with a weight above 0, got "
            f"{n_classes} class. Check y and sample_weight."
        )
    own = np.random.RandomState(rng.randint(2**31 - 1))
    return Task(owner.estimator, X, codes, classes, weights, params, own)


def _weights(owner: Any, labels: Labels, sample_weight: Any) -> NDArray[Any]:
    if sample_weight is None:
        return np.ones(len(labels))
    weights = _check_sample_weight(
        sample_weight, labels, dtype=np.float64, ensure_non_negative=True
    )
    if len(set(weights.tolist()) - {0}) > 1 and not takes_weights(owner.estimator):
        raise ValueError(
            f"{type(owner).__name__} got sample_weight, but the fit of "
            f"{type(owner.estimator).__name__} takes none. Leave it out, or use a "
            "classifier whose fit has sample_weight."
        )
    return np.asarray(weights)
