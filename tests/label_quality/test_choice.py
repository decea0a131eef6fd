"""Who assesses labels, and what it is fitted on."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier

from skpresto._label_quality.assessor import assessor_of
from skpresto._label_quality.choice import (
    MOST_OF_TREE,
    Candidate,
    Comparison,
    candidates_for,
    likeliest,
)

DRAWN = []


class RecordedTrees(ExtraTreesClassifier):
    """Trees that note how many rows each of them is grown on."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        DRAWN.append({len(set(rows)) for rows in self.estimators_samples_})
        return self


@pytest.fixture
def problem():
    X, y = make_classification(300, n_informative=6, class_sep=2, random_state=0)
    return X, y.astype(np.intp), np.array([0, 1])


@pytest.mark.parametrize(("rows", "is_limited"), [(300, True), (90, False)])
def test_a_tree_is_grown_on_so_many_rows_at_most(problem, rows, is_limited):
    X, codes, classes = problem
    rng = np.random.RandomState(0)
    trees = RecordedTrees(30, bootstrap=True, oob_score=True)
    candidate = Candidate(assessor_of(trees, codes, rng), X, most_of_tree=100)
    DRAWN.clear()
    kept = np.arange(rows)
    found = candidate.among(kept).assess(codes[kept], classes, rng)
    assert len(DRAWN) == 3
    # Of n rows drawn with replacement from n, 63 % are different.
    assert max(max(sizes) for sizes in DRAWN) <= (100 if is_limited else 90)
    assert (max(DRAWN[0]) > 0.5 * rows) == (not is_limited)
    assert (found.suggested() == codes[kept]).mean() > 0.8
    assert candidate.assessor.estimator.max_samples is None


def test_only_trees_are_limited(problem):
    X, codes, _ = problem
    found = candidates_for(X, codes, np.random.RandomState(0))
    assert [candidate.most_of_tree for candidate in found] == [MOST_OF_TREE, None]


def test_who_is_clearly_behind_does_no_further_round(problem):
    X, codes, classes = problem
    rng = np.random.RandomState(0)
    n_fits = {}

    class Counted(ExtraTreesClassifier):
        def fit(self, X, y, sample_weight=None):
            n_fits[self.max_depth] = n_fits.get(self.max_depth, 0) + 1
            return super().fit(X, y, sample_weight)

    def compared(*depths):
        n_fits.clear()
        trees = [
            Counted(20, max_depth=d, bootstrap=True, oob_score=True) for d in depths
        ]
        candidates = [Candidate(assessor_of(each, codes, rng), X) for each in trees]
        held_out = np.arange(0, 300, 4)
        comparison = Comparison(
            np.arange(300), np.delete(np.arange(300), held_out), held_out
        )
        weights = np.ones(300)
        best, found = likeliest(candidates, codes, classes, comparison, weights, rng)
        assert (found.suggested() == codes).mean() > 0.8
        return best.assessor.estimator.max_depth

    X[:, 0] = codes + np.random.RandomState(0).normal(scale=0.2, size=300)
    assert compared(1, 8) == 8
    assert n_fits == {1: 1, 8: 3}
    compared(20, 21)
    assert n_fits == {20: 3, 21: 3}
