"""Three rounds of a classifier: which labels are wrong, without a network."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._label_quality import bayes
from skpresto._label_quality.assessor import Assessor
from skpresto._label_quality.likeliest import Likeliest
from skpresto._label_quality.planted import (
    PlantedErrors,
    planted_errors,
    sharpness,
)
from skpresto._labels import Codes, Labels

#: A fourth round gains nothing (benchmarks/NOTES.md).
N_ROUNDS = 3
#: Rows of a class that are trained on even if its labels are all rejected.
_LEAST_OF_CLASS = 2


@dataclass(frozen=True)
class RoundsAssessment:
    """What rounds have found out about labels.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class numbers of the given labels.
    probability : ndarray of shape (n_samples, n_classes)
        Class probabilities, which the given label of the row had no part in.
    transitions : ndarray of shape (n_classes, n_classes)
        Probability of each given label (columns) for each class (rows).
    around : ndarray of shape (n_samples, n_classes), default=None
        Which labels are given around each sample, V. Further rounds predict it anew if
        it is None.
    """

    codes: Codes
    probability: NDArray[Any]
    transitions: NDArray[Any]
    around: Any = None

    def posterior(self) -> NDArray[Any]:
        """Return class probabilities after having seen the given labels."""
        return bayes.posterior(self.probability, self.codes, self.transitions)

    def quality(self) -> NDArray[Any]:
        """Return the posterior probability of each given label."""
        return bayes.quality_of(self.probability, self.codes, self.transitions)

    def suggested(self) -> NDArray[np.intp]:
        """Return the class of the highest posterior probability."""
        return np.asarray(self.posterior().argmax(axis=1))

    def likeliest(self) -> Likeliest:
        """Return the classes of the highest posterior probabilities."""
        return Likeliest.of(self.posterior())

    def planted(self) -> PlantedErrors:
        """Return what labels that are wrong on purpose tell about the probabilities."""
        known = self.probability.any(axis=1)
        probability, labels = self.probability[known], self.codes[known]
        sharp = sharpness(probability, labels)
        return planted_errors(probability, self.transitions, labels, sharp)

    def log_likelihoods(self) -> NDArray[Any]:
        """Return the forward-corrected log-likelihood of each given label."""
        return bayes.log_likelihoods(self.probability, self.codes, self.transitions)


def assess_in_rounds(
    assessor: Assessor,
    X: Any,
    codes: Codes,
    classes: Labels,
    rng: np.random.RandomState,
    sample_weight: NDArray[Any] | None = None,
    n_rounds: int = N_ROUNDS,
    start: RoundsAssessment | None = None,
) -> RoundsAssessment:
    """Assess labels by a classifier that is trained again on those that it believes.

    In the first round it predicts, out of sample, which label each sample is *given*:
    V. In each further round it is trained on the labels that are more probable than any
    other class, weighted by their lead. What it predicts then is about *classes*, and
    is multiplied by the evidence of V: how well each class explains the labels that are
    given around the sample. T, how often each class carries each label, is counted
    anew after each step.

    Parameters
    ----------
    assessor : Assessor
        The classifier, and its folds.
    X, codes, classes, rng
        As in :meth:`~skpresto._label_quality.assessor.Assessor.probabilities`.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights. Rows of weight 0 have no part in anything, but are assessed.
    n_rounds : int, default=3
        Number of rounds.
    start : RoundsAssessment, default=None
        What former rounds have found out, in which other rows may have had a weight.
        None means that there were none.
    """
    given_weight = np.ones(len(codes)) if sample_weight is None else sample_weight
    counted = np.flatnonzero(given_weight > 0)

    def count(probability: NDArray[Any]) -> NDArray[Any]:
        return bayes.count_transitions(probability[counted], codes[counted])

    if start is None or start.around is None:
        around = assessor.probabilities(X, codes, classes, rng, sample_weight)
        if start is None:
            start = RoundsAssessment(codes, around, count(around), around)
            n_rounds -= 1
        start = replace(start, around=around)
    probability, transitions = start.probability, start.transitions
    for _ in range(n_rounds):
        posterior = bayes.posterior(probability, codes, transitions)
        weights = given_weight * _weights_of_believed(posterior, codes, counted)
        probability = assessor.probabilities(X, codes, classes, rng, weights)
        evidence = bayes.evidence_of_labels_around(start.around, count(probability))
        probability = bayes.normalized(probability * evidence)
        transitions = count(probability)
    return RoundsAssessment(codes, probability, transitions, start.around)


def _weights_of_believed(
    posterior: NDArray[Any], codes: Codes, counted: NDArray[np.intp]
) -> NDArray[Any]:
    """Return weights by lead, with some rows of each class.

    Where nothing is known, as in no test fold, a label is neither believed nor not.
    """
    weights = bayes.weights_by_lead(posterior, codes)
    weights[~posterior.any(axis=1)] = 0.5
    labels = codes[counted]
    n_kept = np.bincount(labels[weights[counted] > 0], minlength=posterior.shape[1])
    for number in np.flatnonzero(n_kept < _LEAST_OF_CLASS):
        rows = counted[labels == number]
        likeliest = rows[np.argsort(-posterior[rows, number], kind="stable")]
        weights[likeliest[:_LEAST_OF_CLASS]] = 0.5
    return weights
