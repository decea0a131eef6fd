"""Which labels are given around a sample, as any scikit-learn classifier predicts it.

A classifier that was trained on a wrong label may predict it for that reason, so every
probability here is out of sample: out of bag or out of fold.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from skpresto._label_quality.weighted_fit import fit_rows, seeded_clone
from skpresto._labels import Codes, Labels
from skpresto._sklearn import _safe_indexing
from skpresto._splits import assign_folds

#: The part of a probability that is shared equally by all classes, so that none is
#: excluded because a few trees never voted for it.
_SMOOTHING = 0.01

Probabilities = NDArray[np.float32]


class Split(NamedTuple):
    """Rows to train on, and other rows to predict."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass
class Assessor:
    """A classifier that predicts which label each sample is given, out of sample.

    Parameters
    ----------
    estimator : classifier or Pipeline
        With ``predict_proba``. A clone is fitted each time; every ``random_state`` that
        is None is filled.
    splits : list of Split or None
        Training and test rows of each fold, see :func:`splits_of`; None means
        out-of-bag predictions.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time, as in joblib.
    params : dict, default=None
        Further arguments of ``fit`` of the estimator.
    owner : str
        Name of the estimator that the user called, for error messages.
    """

    estimator: Any
    splits: Sequence[Split] | None
    n_jobs: int | None = None
    params: dict[str, Any] | None = None
    owner: str = "Cross-fitting"

    def __post_init__(self) -> None:
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"{self.owner} needs an assessor with predict_proba, but "
                f"{type(self.estimator).__name__} has none. Wrap it in "
                "sklearn.calibration.CalibratedClassifierCV, or pass another assessor."
            )

    def among(self, rows: NDArray[np.intp]) -> "Assessor":
        """Return the same assessor for some of the rows, which are sorted."""
        if self.splits is None:
            return self
        found = [
            Split(*(np.flatnonzero(np.isin(rows, part)) for part in split))
            for split in self.splits
        ]
        return replace(self, splits=[split for split in found if len(split.train)])

    def probabilities(
        self,
        X: Any,
        codes: Codes,
        classes: Labels,
        rng: np.random.RandomState,
        sample_weight: NDArray[Any] | None = None,
    ) -> Probabilities:
        """Return the probability of each label, by models not trained on the row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            Samples, as the estimator takes them.
        codes : ndarray of shape (n_samples,)
            Class numbers of the given labels.
        classes : ndarray of shape (n_classes,)
            The label of each class number.
        rng : RandomState
            Source of randomness.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights, for estimators that take them. Nothing is trained on rows of weight
            0; they are predicted all the same.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes), dtype=float32
            No class has the probability zero, but for rows of which nothing is known,
            such as those in no test fold: these are all zeros.
        """
        everything = np.arange(len(codes))
        has_weight = np.ones(len(codes), dtype=bool)
        if sample_weight is not None:
            has_weight = sample_weight > 0
        splits = self.splits
        if splits is None:
            splits = [Split(everything, everything[~has_weight])]
        models = [seeded_clone(self.estimator, rng) for _ in splits]
        predicted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_and_predict)(
                *(model, X, codes, classes, split.train[has_weight[split.train]]),
                *(sample_weight, split.test, self.splits is None, self.params),
            )
            for model, split in zip(models, splits, strict=True)
        )
        probability = np.zeros((len(codes), len(classes)), dtype=np.float32)
        for rows, columns, values in predicted:
            probability[np.ix_(rows, columns)] = values
        return _smoothed(probability)


def assessor_of(
    estimator: Any,
    codes: Codes,
    rng: np.random.RandomState,
    *,
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
    params: dict[str, Any] | None = None,
    owner: str = "Cross-fitting",
) -> Assessor:
    """Return an assessor whose folds are drawn; see :class:`Assessor`.

    Parameters
    ----------
    estimator, n_jobs, params, owner
        As in :class:`Assessor`.
    codes : ndarray of shape (n_samples,)
        Class numbers of the given labels.
    rng : RandomState
        Source of randomness.
    cv : int, splitter or iterable, default=5
        Number of folds, stratified by label, unless the estimator predicts out of bag,
        as forests with ``oob_score=True`` do; not inside a Pipeline, whose other steps
        may have learned from the labels. Or a scikit-learn splitter, or pairs of
        training and test rows. These are always used: rows out of the bag have
        relatives in it if samples come in groups.
    groups : array-like of shape (n_samples,), default=None
        Groups of samples, for a splitter that needs them.
    """
    splits: list[Split] | None
    if not isinstance(cv, Integral):
        splits = given_splits(codes, cv, groups, owner)
    elif getattr(estimator, "oob_score", False):
        splits = None
    else:
        folds = assign_folds(codes, cv, rng, owner)
        numbers = range(int(folds.max()) + 1)
        splits = [
            Split(np.flatnonzero(folds != k), np.flatnonzero(folds == k))
            for k in numbers
        ]
    return Assessor(estimator, splits, n_jobs, params, owner)


def given_splits(codes: Codes, cv: Any, groups: Any, owner: str) -> list[Split]:
    """Return what a splitter or an iterable says, checked."""
    is_splitter = hasattr(cv, "split") and not isinstance(cv, (str, type))
    if not is_splitter and (isinstance(cv, str) or not hasattr(cv, "__iter__")):
        raise TypeError(
            f"{owner} needs cv to be an int, a splitter with a method split(X, y), or "
            f"pairs of training and test rows, but got cv={cv!r}. Pass for example "
            "cv=5 or StratifiedKFold(5)."
        )
    everything = np.arange(len(codes))
    try:
        # Splitters read only the length of X.
        nothing = np.zeros((len(codes), 1))
        pairs = cv.split(nothing, codes, groups) if is_splitter else cv
        splits = [Split(everything[train], everything[test]) for train, test in pairs]
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(
            f"{owner} cannot split {len(codes)} samples with cv={cv!r}: {error} To "
            "keep groups together, pass groups to fit, or the fold of each sample as "
            "sklearn.model_selection.PredefinedSplit."
        ) from error
    n_tests = np.zeros(len(codes), dtype=np.intp)
    for train, test in splits:
        n_tests[test] += 1
        if len(np.intersect1d(train, test)):
            raise ValueError(
                f"{owner} needs predictions by models that were not trained on the "
                f"row, but with cv={cv!r} some training rows are test rows of the same "
                "fold. Use for example StratifiedKFold."
            )
    if n_tests.max() != 1:
        raise ValueError(
            f"{owner} needs disjoint test folds, so that each sample is predicted "
            f"once, but with cv={cv!r} some sample is in {n_tests.max()} of them. Use "
            "for example StratifiedKFold."
        )
    return splits


def _fit_and_predict(
    model: Any,
    X: Any,
    codes: Codes,
    classes: Labels,
    train: NDArray[np.intp],
    weights: NDArray[Any] | None,
    test: NDArray[np.intp],
    is_out_of_bag: bool,
    params: dict[str, Any] | None,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]:
    """Fit a model; return predicted rows, their columns and their probabilities."""
    columns = np.unique(codes[train]).astype(np.intp)
    if len(columns) < 2:  # which few classifiers can be fitted on
        rows = np.concatenate([train, test]) if is_out_of_bag else test
        return rows, columns, np.ones((len(rows), len(columns)))
    with warnings.catch_warnings():
        # Of rows that every tree was trained on nothing is known.
        warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
        warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
        fit_rows(model, X, codes, classes, train, weights, params)
    values = np.empty((0, len(columns)))
    if len(test):
        values = model.predict_proba(_safe_indexing(X, test))
    if is_out_of_bag:
        out_of_bag = np.nan_to_num(model.oob_decision_function_)
        test = np.concatenate([train, test])
        values = np.concatenate([out_of_bag, values])
    return test, columns, values


def _smoothed(probability: Probabilities) -> Probabilities:
    """Return rows that sum to one, in which no class is excluded; zeros remain."""
    totals = probability.sum(axis=1, keepdims=True)
    is_known = totals > 0
    probability *= (1 - _SMOOTHING) / np.where(is_known, totals, 1)
    probability += is_known * np.float32(_SMOOTHING / probability.shape[1])
    return probability
