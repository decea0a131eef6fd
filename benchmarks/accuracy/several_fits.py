"""An ensemble of fits that differ in their seeds only."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone


class SeveralFits(BaseEstimator):
    """Average the predicted probabilities of independent fits.

    Parameters
    ----------
    classifier : estimator
        Cloned for each fit.
    n_members : int
        Number of fits.
    seed : int
        Their seeds are drawn with it.
    shares_rate : bool, default=False
        Whether the noise rate that the first fit has estimated is given to the others,
        which then need not estimate it again.

    Attributes
    ----------
    members_ : list of estimators
        The fitted classifiers.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether more than half of the members accept the label.
    label_quality_ : ndarray of shape (n_samples,)
        Mean of the members.
    """

    def __init__(
        self, classifier: Any, n_members: int, seed: int, shares_rate: bool = False
    ) -> None:
        self.classifier = classifier
        self.n_members = n_members
        self.seed = seed
        self.shares_rate = shares_rate

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Fit all members."""
        seeds = np.random.RandomState(self.seed).randint(2**31 - 1, size=self.n_members)
        self.members_: list[Any] = []
        for seed in seeds:
            member = clone(self.classifier).set_params(random_state=int(seed))
            if self.shares_rate and self.members_:
                member.set_params(noise_rate=self.members_[0].noise_rate_)
            self.members_.append(member.fit(X, y))
        accepted = np.mean([member.safe_mask_ for member in self.members_], axis=0)
        self.safe_mask_ = accepted > 0.5
        qualities = [member.label_quality_ for member in self.members_]
        self.label_quality_ = np.mean(qualities, axis=0)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the mean of the predicted probabilities."""
        return np.mean([member.predict_proba(X) for member in self.members_], axis=0)

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the accuracy."""
        predicted = self.predict_proba(X).argmax(axis=1)
        return float(np.mean(self.members_[0].classes_[predicted] == y))
