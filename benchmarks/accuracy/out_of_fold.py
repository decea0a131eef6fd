"""cleanlab on out-of-fold probabilities: CleanLearning, and label quality scores."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict

N_FOLDS = 5
CLEANLAB_SCORES = (
    "self_confidence",
    "normalized_margin",
    "confidence_weighted_entropy",
)


def out_of_fold_probabilities(
    classifier: Any, X: np.ndarray, y: np.ndarray, seed: int
) -> np.ndarray:
    """Return the probabilities predicted by the fit that does not use each row.

    Folds and fits are those of CleanLearning with the same seed.
    """
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    found = cross_val_predict(classifier, X, y, cv=folds, method="predict_proba")
    return found.astype(np.float64)  # sums of float32 would differ in the last digits


def cleanlab_qualities(
    y: np.ndarray, probabilities: np.ndarray
) -> dict[str, np.ndarray]:
    """Return cleanlab's label quality scores by name."""
    from cleanlab.rank import get_label_quality_scores  # only few methods need it

    labels = np.unique(y, return_inverse=True)[1]
    return {
        score: get_label_quality_scores(
            labels, probabilities, method=score, adjust_pred_probs=False
        )
        for score in CLEANLAB_SCORES
    }


class OutOfFoldCleaning(BaseEstimator):
    """Fit on the rows that cleanlab's CleanLearning keeps.

    The out-of-fold probabilities are computed here as CleanLearning does, because it
    does not keep them, and all scores of cleanlab are wanted of the same fits.

    Parameters
    ----------
    classifier : estimator
        Cloned for each fold.
    seed : int
        Seed of the folds.

    Attributes
    ----------
    classifier_ : estimator
        The classifier that was given, fitted on the rows that are kept.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        The rows that are kept.
    label_quality_ : ndarray of shape (n_samples,)
        The label quality that CleanLearning reports.
    scores_ : dict of str to ndarray of shape (n_samples,)
        All label quality scores.
    """

    def __init__(self, classifier: Any, seed: int) -> None:
        self.classifier = classifier
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Find the labels to leave out, and fit on the others."""
        from cleanlab.classification import CleanLearning  # only few methods need it

        probabilities = out_of_fold_probabilities(
            clone(self.classifier), X, y, self.seed
        )
        cleaning = CleanLearning(
            self.classifier,
            cv_n_folds=N_FOLDS,
            seed=self.seed,
            find_label_issues_kwargs={"n_jobs": 1},  # cells already run in parallel
        )
        cleaning.fit(X, y, pred_probs=probabilities)
        issues = cleaning.get_label_issues()
        self.classifier_ = cleaning.clf
        self.safe_mask_ = ~issues["is_label_issue"].to_numpy()
        self.label_quality_ = issues["label_quality"].to_numpy()
        self.scores_ = cleanlab_qualities(y, probabilities)
        return self

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the accuracy."""
        return float(self.classifier_.score(X, y))
