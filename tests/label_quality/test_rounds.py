"""Three rounds of a classifier: against loops, and on labels with planted errors."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import average_precision_score
from sklearn.naive_bayes import GaussianNB

from skpresto._label_quality.assessor import assessor_of
from skpresto._label_quality.rounds import assess_in_rounds
from skpresto.noise import PairNoise
from tests.naive_posterior import shrunken_transitions


class Prepared:
    """Stands for an assessor: predicts by the number of calls and by the weights."""

    def __init__(self, n_samples, n_classes, seed):
        rng = np.random.RandomState(seed)
        scores = rng.normal(scale=2, size=(3, n_samples, n_classes))
        self.rows = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
        self.weights = []

    def probabilities(self, X, codes, classes, rng, sample_weight=None):
        self.weights.append(sample_weight)
        return self.rows[len(self.weights) - 1]


def naive_transitions(probability, labels, is_counted):
    counts = [[0] * len(probability[0]) for _ in probability[0]]
    for row, label, counts_here in zip(probability, labels, is_counted, strict=True):
        if counts_here:
            counts[row.index(max(row))][label] += 1
    return shrunken_transitions(counts)


def naive_weights(probability, T, labels, is_counted):
    """Return weights by lead, and one half for two rows of a class that lost all."""
    joint = [
        [p * T[j][label] for j, p in enumerate(row)]
        for row, label in zip(probability, labels, strict=True)
    ]
    weights = []
    for row, label in zip(joint, labels, strict=True):
        lead = row[label] / (row[label] + max(row[:label] + row[label + 1 :]))
        weights.append(lead if lead >= 0.5 else 0.0)
    for label in set(labels):
        rows = [i for i, y in enumerate(labels) if y == label and is_counted[i]]
        if sum(weights[i] > 0 for i in rows) < 2:
            rows.sort(key=lambda i: -joint[i][label] / sum(joint[i]))
            for i in rows[:2]:
                weights[i] = 0.5
    return [w * c for w, c in zip(weights, is_counted, strict=True)]


def naive_rounds(rows, labels, is_counted):
    """Return probabilities, transitions, and the weights of each round, in loops."""
    V = q = rows[0]
    T, weights = naive_transitions(V, labels, is_counted), []
    for predicted in rows[1:]:
        weights.append(naive_weights(q, T, labels, is_counted))
        T = naive_transitions(predicted, labels, is_counted)
        q = []
        for around, row in zip(V, predicted, strict=True):
            product = [
                p * math.prod(t**v for t, v in zip(T[j], around, strict=True))
                for j, p in enumerate(row)
            ]
            q.append([p / sum(product) for p in product])
        T = naive_transitions(q, labels, is_counted)
    return q, T, weights


@given(st.integers(4, 20), st.integers(2, 4), st.integers(0, 9999), st.booleans())
def test_rounds_are_those_of_loops(n_samples, n_classes, seed, has_weights):
    rng = np.random.RandomState(seed)
    labels = rng.randint(n_classes, size=n_samples)
    weight = rng.randint(2, size=n_samples) * 1.0 if has_weights else None
    is_counted = [1.0] * n_samples if weight is None else weight.tolist()
    prepared = Prepared(n_samples, n_classes, seed)
    found = assess_in_rounds(
        prepared, None, labels, np.arange(n_classes), rng, sample_weight=weight
    )
    q, T, weights = naive_rounds(prepared.rows.tolist(), labels.tolist(), is_counted)
    np.testing.assert_allclose(found.probability, q, rtol=1e-6)
    np.testing.assert_allclose(found.transitions, T, rtol=1e-6)
    assert prepared.weights[0] is weight
    np.testing.assert_allclose(prepared.weights[1:], weights, rtol=1e-6)

    def further(prepared, n_rounds, start):
        how = {"sample_weight": weight, "n_rounds": n_rounds, "start": start}
        classes = np.arange(n_classes)
        return assess_in_rounds(prepared, None, labels, classes, rng, **how)

    prepared = Prepared(n_samples, n_classes, seed)
    first = further(prepared, 1, None)
    in_parts = further(prepared, 2, first)
    # What is given around each sample may be predicted anew.
    anew = Prepared(n_samples, n_classes, seed)
    predicted_anew = further(anew, 2, replace(first, around=None))
    for other in (in_parts, predicted_anew):
        assert np.array_equal(other.probability, found.probability)
        assert np.array_equal(other.transitions, found.transitions)


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(
        800, n_informative=8, n_classes=4, class_sep=1.5, random_state=0
    )
    return X, y, PairNoise(0.3, random_state=0).fit_transform(y)


def rounds_of(estimator, X, codes, weight=None, n_rounds=3):
    rng = np.random.RandomState(0)
    assessor = assessor_of(estimator, codes, rng)
    classes = np.arange(codes.max() + 1)
    return assess_in_rounds(assessor, X, codes, classes, rng, weight, n_rounds)


TREES = ExtraTreesClassifier(40, min_samples_leaf=3, bootstrap=True, oob_score=True)


def test_three_rounds_find_more_wrong_labels_than_one(noisy):
    X, y, given = noisy
    one, three = (
        average_precision_score(
            given != y, -rounds_of(TREES, X, given, None, n).quality()
        )
        for n in (1, 3)
    )
    assert three > one + 0.02
    assert three > 0.9


@pytest.mark.parametrize("estimator", [TREES, GaussianNB()])
def test_labels_of_held_out_rows_have_no_part_in_anything(noisy, estimator):
    """Rows of weight 0 are assessed, whatever their labels are."""
    X, y, given = noisy
    weight = np.ones(len(y))
    weight[::4] = 0
    if estimator is TREES:
        changed = given.copy()
        changed[::4] = (given[::4] + 1) % 4
        before, after = (rounds_of(estimator, X, c, weight) for c in (given, changed))
        assert np.array_equal(before.probability, after.probability)
        assert np.array_equal(before.transitions, after.transitions)
    predicted = rounds_of(estimator, X, given, weight).probability[::4].argmax(axis=1)
    assert np.mean(predicted == y[::4]) > 0.65


def test_likelihoods_of_held_out_labels_tell_how_much_a_classifier_knows(noisy):
    X, y, given = noisy
    weight = np.ones(len(y))
    weight[::4] = 0
    knowing, blind = (
        rounds_of(TREES, X_seen, given, weight).log_likelihoods()[::4].mean()
        for X_seen in (X, X[:, :1] * 0)
    )
    assert knowing > blind + 0.2
