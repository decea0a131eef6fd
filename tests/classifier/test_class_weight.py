"""Weights of classes multiply those of samples, as in scikit-learn."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

from skpresto import DefaultClassifier
from skpresto._classifier.weights import training_weights
from tests.discovery import on_paths, quick, short_fits_warn

pytestmark = short_fits_warn

NAMES = np.array(["ant", "bee", "cat"])


def weights_of(labels, sample_weight, class_weight):
    owner = SimpleNamespace(classes_=NAMES, class_weight=class_weight)
    return training_weights(owner, np.array(labels), sample_weight, owner.classes_)


@given(
    labels=st.lists(st.integers(0, 2), min_size=3, max_size=30).map(
        lambda labels: [0, 1, 2, *labels]
    ),
    data=st.data(),
)
def test_weights_are_those_of_a_loop(labels, data):
    given_weights = data.draw(
        st.none()
        | st.lists(
            st.sampled_from([0.5, 1.0, 2.0]),
            min_size=len(labels),
            max_size=len(labels),
        )
    )
    values = st.sampled_from([0.25, 1, 3.0])
    class_weight = data.draw(
        st.none()
        | st.just("balanced")
        | st.dictionaries(st.sampled_from(NAMES), values)
    )
    own = given_weights or [1.0] * len(labels)
    expected = []
    for label, weight in zip(labels, own, strict=True):
        if class_weight == "balanced":
            of_class = sum(w for w, k in zip(own, labels, strict=True) if k == label)
            expected.append(weight * sum(own) / (3 * of_class))
        else:
            expected.append(weight * (class_weight or {}).get(NAMES[label], 1.0))
    weights = weights_of(labels, given_weights, class_weight)
    if weights is None:
        assert np.allclose(expected, expected[0])
    else:
        largest = max(expected)
        assert weights.tolist() == pytest.approx([w / largest for w in expected])


@on_paths()
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 3: 0.5}])
def test_class_weights_are_sample_weights_by_given_label(
    Classifier, class_weight, noisy_blobs
):
    X, y, _ = noisy_blobs
    X, y = X[:120], y[:120]
    clf = quick(Classifier, max_epochs=3)
    by_sample = clf.fit(X, y, compute_sample_weight(class_weight, y)).predict_proba(X)
    weighted = clone(clf).set_params(class_weight=class_weight).fit(X, y)
    np.testing.assert_allclose(weighted.predict_proba(X), by_sample, atol=1e-5)


def test_a_class_of_more_weight_is_predicted_more_often():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(300, 2)).astype(np.float32)
    y = np.where(rng.uniform(size=300) < 0.9, "common", "rare")
    fractions = []
    for class_weight in (None, "balanced", {"rare": 1000}):
        clf = quick(DefaultClassifier, class_weight=class_weight).fit(X, y)
        fractions.append(np.mean(clf.predict(X) == "rare"))
    assert fractions[0] < 0.1 < fractions[1] < 0.9 < fractions[2]


def test_a_class_of_weight_zero_is_left_out(blobs):
    X, y = blobs
    clf = quick(DefaultClassifier, class_weight={3: 0}).fit(X, y)
    assert clf.classes_.tolist() == [0, 1, 2, 3]
    assert 3 not in clf.predict(X)


def test_balanced_weights_on_balanced_data_change_no_bit(blobs):
    X, y = blobs
    plain = quick(DefaultClassifier, max_epochs=3).fit(X, y)
    balanced = clone(plain).set_params(class_weight="balanced").fit(X, y)
    np.testing.assert_array_equal(plain.predict_proba(X), balanced.predict_proba(X))


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"dog": 2}, r"got a class_weight for \['dog'\], which y does not contain"),
        ({"ant": 0, "bee": 0}, r"at least 2 classes with a weight above 0, got \['cat"),
        (
            dict.fromkeys(NAMES, 0),
            r"at least 2 classes with a weight above 0, got \[\]",
        ),
    ],
)
def test_class_weights_that_cannot_be_used(class_weight, message):
    with pytest.raises(ValueError, match=message):
        weights_of([0, 1, 2, 0], None, class_weight)


def test_all_classes_with_a_weight_may_be_more_than_those_in_y():
    """As in a fold of cross-validation that lacks a rare class."""
    class_weight = {"ant": 1, "bee": 2, "cat": 4, "dog": 8}
    assert weights_of([0, 1, 2], None, class_weight).tolist() == [0.25, 0.5, 1.0]
