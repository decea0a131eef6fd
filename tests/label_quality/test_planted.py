"""Planted errors against loops over every sample and class."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skpresto._label_quality import planted as module
from skpresto._label_quality.planted import planted_errors, sharpness


@st.composite
def posteriors(draw):
    n, k = draw(st.integers(4, 25)), draw(st.integers(2, 4))
    rng = np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    probability = rng.dirichlet(np.full(k, draw(st.floats(0.2, 2))), size=n) + 1e-3
    transitions = rng.dirichlet(np.ones(k), size=k) + np.eye(k)
    transitions /= transitions.sum(axis=1, keepdims=True)
    return probability, transitions, rng.randint(k, size=n)


def odds(row, transitions, label):
    """Return the log-odds that a label is wrong, by Bayes' rule."""
    joint = [p * transitions[j][label] for j, p in enumerate(row)]
    return math.log(sum(joint) - joint[label]) - math.log(joint[label])


def naive(probability, transitions, labels):
    """Return mean error and AUC, with every class of every sample planted."""
    given = [
        odds(row, transitions, label)
        for row, label in zip(probability, labels, strict=True)
    ]
    quality = [1 / (1 + math.exp(o)) for o in given]
    above = total = 0.0
    for i, row in enumerate(probability):
        for k in range(len(transitions)):
            if k == labels[i]:
                continue
            weight = quality[i] * transitions[labels[i]][k]
            score = odds(row, transitions, k)
            is_below = sum(o < score - 1e-12 for o in given)
            ties = sum(abs(o - score) <= 1e-12 for o in given)
            above += weight * (is_below + ties / 2) / len(given)
            total += weight
    return 1 - sum(quality) / len(quality), above / total


@given(posteriors())
def test_every_other_class_is_planted(drawn):
    probability, transitions, labels = drawn
    found = planted_errors(probability, transitions, labels)
    mean_error, auc = naive(*(values.tolist() for values in drawn))
    assert found.mean_error == pytest.approx(mean_error)
    assert found.auc == pytest.approx(auc, abs=1e-6)
    assert math.isfinite(found.slope)


@given(posteriors(), st.randoms(use_true_random=False))
def test_the_order_of_samples_and_classes_does_not_matter(drawn, random):
    probability, transitions, labels = drawn
    rows, classes = np.arange(len(labels)), np.arange(len(transitions))
    random.shuffle(rows)
    random.shuffle(classes)
    place = np.argsort(classes)
    found = planted_errors(probability, transitions, labels)
    other = planted_errors(
        probability[rows][:, classes],
        transitions[np.ix_(classes, classes)],
        place[labels[rows]],
    )
    assert other == pytest.approx(found, rel=1e-4, abs=1e-6)


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.RandomState(0)
    probability = rng.dirichlet(np.ones(3), size=500)
    transitions = 0.2 / 3 + 0.8 * np.eye(3)
    arguments = probability, transitions, rng.randint(3, size=500)
    whole = planted_errors(*arguments), sharpness(probability, arguments[2])
    monkeypatch.setattr(module, "_VALUES_AT_ONCE", 50)
    parts = planted_errors(*arguments), sharpness(probability, arguments[2])
    assert parts[0] == pytest.approx(whole[0])
    assert parts[1] == whole[1]


def test_of_many_labels_some_are_planted(monkeypatch):
    rng = np.random.RandomState(0)
    probability = rng.dirichlet(np.ones(3), size=3000)
    transitions = 0.2 / 3 + 0.8 * np.eye(3)
    labels = rng.randint(3, size=3000)
    whole = planted_errors(probability, transitions, labels)
    monkeypatch.setattr(module, "_MOST_PLANTED", 3000)
    some = planted_errors(probability, transitions, labels)
    assert some.mean_error == whole.mean_error
    assert some.auc == pytest.approx(whole.auc, abs=0.02)
    assert some.slope == pytest.approx(whole.slope, abs=0.1)


@pytest.mark.parametrize("slope", [0.7, 2.0])
def test_the_slope_is_found_where_real_errors_stand_as_planted_ones_do(slope):
    scores = [NormalDist().inv_cdf((i + 0.5) / 2000) for i in range(2000)]
    fraction = 1 / (1 + np.exp(2 - slope * np.array(scores)))
    mean_error = float(fraction.mean())
    density = fraction / (1 - fraction + fraction) / fraction.sum()
    found = module._slope(np.ones(2000), density, mean_error)
    assert math.exp(found) == pytest.approx(slope, rel=0.05)


def test_labels_that_are_better_predicted_than_stated_are_sharp():
    rng = np.random.RandomState(0)
    probability = rng.dirichlet(np.ones(3), size=3000)
    labels = [rng.choice(3, p=row) for row in probability]
    assert sharpness(probability, np.array(labels)) == pytest.approx(1, rel=0.2)
    assert sharpness(probability, probability.argmax(axis=1)) > 3
    assert sharpness(probability, rng.randint(3, size=3000)) < 0.4
