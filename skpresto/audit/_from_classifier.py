"""A report by three rounds of any scikit-learn classifier, without torch."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, indexable

from skpresto._inner_estimators import inner_estimators
from skpresto._label_quality.assessor import assessor_of
from skpresto._label_quality.choice import (
    Candidate,
    candidates_for,
    draw_comparison,
    likeliest,
)
from skpresto._label_quality.rounds import RoundsAssessment
from skpresto._labels import Codes, Labels, classes_of, encode, label_vector
from skpresto.audit._constants import ROUNDS
from skpresto.audit._decided import safe_by
from skpresto.audit._evidence import planted_evidence
from skpresto.audit._samples import index_of


class ReportsByClassifier:
    """Adds ``from_classifier`` to a report."""

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **fields: Any) -> None:
            """See the report."""

    @classmethod
    def from_classifier(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        cv: Any = 5,
        groups: Any = None,
        sample_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        threshold: float | None = None,
        checked: Mapping[Any, bool] | None = None,
    ) -> Self:
        """Report on labels by three rounds of any scikit-learn classifier.

        It is fitted on all labels, then twice on those that are believed; each sample
        is predicted by models that were not trained on it. torch is not loaded.

        Parameters
        ----------
        estimator : classifier, Pipeline or None
            It is cloned, and must have ``predict_proba``. None chooses from trees and a
            linear model, for samples that are a table: by the likelihood of held-out
            given labels, corrected for label noise. Trees are better on columns that
            mean something, linear models on features of images and texts, such as the
            embeddings of a foundation model.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            The samples, as the classifier takes them. Their pandas index is kept.
        y : array-like of shape (n_samples,)
            Given labels.
        cv : int, splitter or iterable, default=5
            Number of folds, stratified by label; not used by forests with
            ``oob_score=True``, which predict out of bag. Or a scikit-learn splitter, or
            pairs of training and test rows, with disjoint test rows.
        groups : array-like of shape (n_samples,), default=None
            Groups of samples, for a splitter that keeps them together.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for a classifier that takes them.
        n_jobs : int, default=None
            Number of folds, or of trees, that are fitted at the same time.
        random_state : int, RandomState instance or None, default=None
            Determines folds, and every ``random_state`` inside that is None.
        threshold : float, default=None
            Labels of a lower quality are suspects: more are found, and more correct
            ones are suspected, the higher it is. None means 0.5.
        checked : dict, default=None
            Labels that were checked, see :class:`LabelReport`.

        Returns
        -------
        report : LabelReport
            The report.
        """
        owner = f"{cls.__name__}.from_classifier"
        how = {"cv": cv, "groups": groups, "n_jobs": n_jobs}
        fields = fields_of_classifier(
            estimator, X, y, owner, sample_weight, random_state, **how
        )
        fields |= safe_by(threshold, fields["quality"], owner)
        return cls(**fields, index=index_of(X, y), X=X, checked=checked)


def fields_of_classifier(
    estimator: Any,
    X: Any,
    y: Any,
    owner: str,
    sample_weight: Any = None,
    random_state: Any = None,
    **how: Any,
) -> dict[str, Any]:
    """Return what a report is made of, from three rounds of clones of a classifier.

    Parameters
    ----------
    estimator, X, y, sample_weight, random_state
        As in :meth:`ReportsByClassifier.from_classifier`.
    owner : str
        Name of the function that the user called, for error messages.
    **how : dict
        ``cv``, ``groups`` and ``n_jobs``, if not the defaults.
    """
    labels = label_vector(y, owner)
    classes = classes_of(labels, owner)
    codes = encode(labels, classes, owner).astype(np.intp)
    weights = None if sample_weight is None else np.asarray(sample_weight)
    indexed, _ = indexable(X, labels)
    rng = np.random.RandomState(check_random_state(random_state).randint(2**31 - 1))
    how = {"cv": 5, "groups": None, "owner": owner, **how}
    chosen = _candidate(estimator, indexed, codes, classes, weights, rng, how)
    found = chosen.assess(codes, classes, rng, weights)
    *_, last = inner_estimators(chosen.assessor.estimator)
    method = f"three rounds of {type(last).__name__}"
    return fields_of_rounds(found, classes) | {"method": method}


def fields_of_rounds(found: RoundsAssessment, classes: Labels) -> dict[str, Any]:
    """Return what a report is made of, from what rounds have found out."""
    quality = found.quality()
    return {
        "given": found.codes,
        "suggested": found.suggested(),
        "likeliest": found.likeliest(),
        "quality": quality,
        "is_safe": quality >= 0.5,
        "classes": classes,
        "evidence": planted_evidence(ROUNDS, found.planted()),
        "method": "three rounds",
    }


def _candidate(
    estimator: Any,
    X: Any,
    codes: Codes,
    classes: Labels,
    weights: NDArray[Any] | None,
    rng: np.random.RandomState,
    how: dict[str, Any],
) -> Candidate:
    """Return the classifier with its folds, or the one that knows most."""
    owner = how["owner"]
    if estimator is not None:
        return Candidate(assessor_of(estimator, codes, rng, **how), X)
    candidates = candidates_for(X, codes, rng, **how)
    if not candidates:
        raise TypeError(
            f"{owner} can choose a classifier for tables of numbers and names only. "
            "Pass one for these samples, such as "
            "make_pipeline(TfidfVectorizer(), LogisticRegression()) for texts."
        )
    used = np.ones(len(codes)) if weights is None else weights
    compared = draw_comparison(codes, used, how["cv"], how["groups"], rng, owner)
    if compared is None:
        return candidates[0]
    return likeliest(candidates, codes, classes, compared, used, rng)[0]
