"""Which classifier assesses labels best, told from labels that may be wrong."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto._label_quality.assessor import Assessor, assessor_of, given_splits
from skpresto._label_quality.features import numeric_features
from skpresto._label_quality.rounds import N_ROUNDS, RoundsAssessment, assess_in_rounds
from skpresto._labels import Codes, Labels
from skpresto._sklearn import _safe_indexing
from skpresto._splits import hold_out

#: Rows on which classifiers are compared, at most: more would cost more than they tell.
MOST_COMPARED = 20_000
_HELD_OUT = 0.25
#: Standard errors by which a candidate is clearly better. In the first round, trees may
#: be behind a linear model that they leave far behind in the second.
_CLEAR_LEAD = 3
#: Rows that each tree is grown on, at most: trees of a million rows fill the memory.
MOST_OF_TREE = 300_000


@dataclass(frozen=True)
class Candidate:
    """A classifier that may assess labels, and the samples as it takes them.

    Parameters
    ----------
    assessor : Assessor
        The classifier, and its folds.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
        The samples.
    most_of_tree : int, default=None
        Rows that each tree of a forest is grown on, at most.
    """

    assessor: Assessor
    X: Any
    most_of_tree: int | None = None

    def among(self, rows: NDArray[np.intp]) -> "Candidate":
        """Return the same for some of the rows."""
        X = _safe_indexing(self.X, rows)
        return replace(self, assessor=self.assessor.among(rows), X=X)

    def assess(
        self,
        codes: Codes,
        classes: Labels,
        rng: np.random.RandomState,
        sample_weight: NDArray[Any] | None = None,
        **how: Any,
    ) -> RoundsAssessment:
        """Return what rounds find out about the labels.

        Parameters
        ----------
        codes, classes, rng, sample_weight, **how
            As in :func:`~skpresto._label_quality.rounds.assess_in_rounds`.
        """
        assessor, most = self.assessor, self.most_of_tree
        if most is not None and len(codes) > most:
            smaller = clone(assessor.estimator).set_params(
                max_samples=most / len(codes)
            )
            assessor = replace(assessor, estimator=smaller)
        return assess_in_rounds(
            assessor, self.X, codes, classes, rng, sample_weight, **how
        )


def classifiers_for(
    features: Any, n_jobs: int | None = None, n_trees: int = 100
) -> list[Any]:
    """Return classifiers of two kinds that are fitted in seconds.

    Trees know most about tables, and linear models about features that a network has
    made of images or texts. Neighbours were never the best of the three
    (benchmarks/NOTES.md).

    Parameters
    ----------
    features : {ndarray, sparse array} of shape (n_samples, n_features)
        The samples, see :func:`~skpresto._label_quality.features.numeric_features`.
    n_jobs : int, default=None
        Number of trees that are fitted at the same time.
    n_trees : int, default=100
        Number of trees.
    """
    trees = ExtraTreesClassifier(
        n_trees, min_samples_leaf=3, bootstrap=True, oob_score=True, n_jobs=n_jobs
    )
    linear = make_pipeline(
        SimpleImputer(keep_empty_features=True),
        StandardScaler(with_mean=not sparse.issparse(features)),
        LogisticRegression(C=0.1, max_iter=60, tol=1e-3),
    )
    return [trees, linear]


def candidates_for(
    X: Any,
    codes: Codes,
    rng: np.random.RandomState,
    *,
    n_jobs: int | None = None,
    n_trees: int = 100,
    **how: Any,
) -> list[Candidate]:
    """Return candidates for a table; none if the samples are not a table.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Samples of any kind.
    codes, rng, n_jobs, **how
        As in :func:`~skpresto._label_quality.assessor.assessor_of`.
    n_trees : int, default=100
        Number of trees.
    """
    features = numeric_features(X)
    if features is None:
        return []
    return [
        Candidate(
            assessor_of(each, codes, rng, n_jobs=n_jobs, **how),
            features,
            MOST_OF_TREE if hasattr(each, "max_samples") else None,
        )
        for each in classifiers_for(features, n_jobs, n_trees)
    ]


@dataclass(frozen=True)
class Comparison:
    """Rows that are held out, and those that classifiers are compared on.

    Held-out rows have weight 0 while labels are assessed: their labels have no part in
    anything but the comparison.

    Parameters
    ----------
    rows : ndarray of shape (n_compared,)
        Positions of all rows that are assessed, sorted; all if they are not many.
    train, held_out : ndarray
        Which of ``rows`` are trained on and held out, by their position there.
    """

    rows: NDArray[np.intp]
    train: NDArray[np.intp]
    held_out: NDArray[np.intp]

    def weights(self, sample_weight: NDArray[Any] | None) -> NDArray[Any]:
        """Return weights of ``rows``, 0 for all that are not trained on."""
        weights = np.zeros(len(self.rows))
        given = 1.0 if sample_weight is None else sample_weight[self.rows][self.train]
        weights[self.train] = given
        return weights


def likeliest(
    candidates: list[Candidate],
    codes: Codes,
    classes: Labels,
    compared: Comparison,
    sample_weight: NDArray[Any] | None,
    rng: np.random.RandomState,
) -> tuple[Candidate, RoundsAssessment]:
    """Return the candidate that explains held-out labels best, and what it found out.

    By the forward-corrected likelihood of the labels, which may be wrong: the
    probability ``sum_j p[j] * T[j, y]`` of the label y. After each round, candidates
    that are clearly worse than the best are dropped.

    Parameters
    ----------
    candidates : list of Candidate
        At least one.
    codes, classes, sample_weight, rng
        Of all rows, as in
        :meth:`~skpresto._label_quality.assessor.Assessor.probabilities`.
    compared : Comparison
        The rows on which to compare; what was found out is about these.
    """
    codes, weights = codes[compared.rows], compared.weights(sample_weight)
    parts = [each.among(compared.rows) for each in candidates]
    given = codes, classes, rng, weights
    found: dict[int, RoundsAssessment | None] = dict.fromkeys(range(len(parts)))
    for _ in range(N_ROUNDS):
        more = {
            i: parts[i].assess(*given, n_rounds=1, start=start)
            for i, start in found.items()
        }
        explained = {
            i: each.log_likelihoods()[compared.held_out] for i, each in more.items()
        }
        best = max(more, key=lambda i: explained[i].mean())
        found = {
            i: each
            for i, each in more.items()
            if not _is_clear(explained[best] - explained[i])
        }
    return candidates[best], more[best]


def _is_clear(leads: NDArray[Any]) -> bool:
    """Return whether the mean of differences is more than chance."""
    return bool(leads.mean() > _CLEAR_LEAD * leads.std() / np.sqrt(len(leads)))


def draw_comparison(
    codes: Codes,
    sample_weight: NDArray[Any],
    cv: Any,
    groups: Any,
    rng: np.random.RandomState,
    owner: str,
) -> Comparison | None:
    """Return rows to hold out, a quarter, or None if no class has two rows.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class numbers of the given labels.
    sample_weight : ndarray of shape (n_samples,)
        Weights; rows of weight 0 are not used.
    cv, groups, owner
        As in :func:`~skpresto._label_quality.assessor.assessor_of`. Of given folds, the
        first is held out, so that groups stay together.
    rng : RandomState
        Source of randomness.
    """
    used = np.flatnonzero(sample_weight > 0)
    if isinstance(cv, Integral):
        drawn = hold_out(codes[used], _HELD_OUT, rng)
        if drawn is None:
            return None
        train, held_out = np.delete(used, drawn), used[drawn]
    else:
        first = given_splits(codes, cv, groups, owner)[0]
        train, held_out = (np.intersect1d(part, used) for part in first)
    kept = min(1.0, MOST_COMPARED / (len(train) + len(held_out)))
    if kept < 1:
        train, held_out = (
            np.sort(rng.permutation(part)[: int(kept * len(part))])
            for part in (train, held_out)
        )
    is_large = len(codes) > MOST_COMPARED
    rows = np.union1d(train, held_out) if is_large else np.arange(len(codes))
    return Comparison(
        rows, np.searchsorted(rows, train), np.searchsorted(rows, held_out)
    )
