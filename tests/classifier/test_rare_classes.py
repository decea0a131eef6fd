"""Rare classes under label noise: a warning if few labels are kept, and weights."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto._classifier.warnings import few_kept
from skpresto.exceptions import SafeSetWarning
from tests.discovery import StopAfter, quick

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def with_a_rare_class(seed, n_train=2000, n_test=4000):
    """Return data with 2 % of one class and 20 % wrong labels: X, y, X_test, y_test."""
    X, y = make_classification(
        n_samples=n_train + n_test,
        n_informative=10,
        n_classes=3,
        n_clusters_per_class=1,
        weights=[0.5, 0.48, 0.02],
        class_sep=1.3,
        flip_y=0,
        random_state=seed,
    )
    rng = np.random.RandomState(seed)
    is_wrong = rng.uniform(size=n_train) < 0.2
    moved = (y[:n_train] + rng.randint(1, 3, size=n_train)) % 3
    return X[:n_train], np.where(is_wrong, moved, y[:n_train]), X[n_train:], y[n_train:]


def rare_recall(clf, X, y):
    return recall_score(y, clf.predict(X), average=None)[2]


def test_balanced_weights_keep_a_rare_class_that_prestopping_loses():
    X, y, X_test, y_test = with_a_rare_class(seed=0)
    plain = DefaultClassifier(max_epochs=10, random_state=0).fit(X, y)
    clf = PrestoppingClassifier(max_epochs=10, random_state=0)
    with pytest.warns(SafeSetWarning, match="pass class_weight='balanced'"):
        lost = rare_recall(clf.fit(X, y), X_test, y_test)
    clf.set_params(class_weight="balanced")
    with warnings.catch_warnings():
        warnings.simplefilter("error", SafeSetWarning)
        found = rare_recall(clf.fit(X, y), X_test, y_test)
    assert found > lost + 0.1
    assert found > rare_recall(plain, X_test, y_test)


def fit_with_a_lost_class(**params):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 2)).astype(np.float32)
    y = np.array(["common", "other"] * 99 + ["rare"] * 2)
    X[y == "other"] += 5
    clf = quick(PrestoppingClassifier, stop=StopAfter(3), **params)
    with pytest.warns(SafeSetWarning) as caught:
        clf.fit(X, y)
    return [str(w.message) for w in caught if w.category is SafeSetWarning]


def test_the_warning_names_the_class_its_labels_and_the_way_out():
    assert fit_with_a_lost_class() == [
        "PrestoppingClassifier: few labels of class 'rare' (0 of 2) are in the safe "
        "set, so these classes may seldom or never be predicted. If they are rare, "
        "pass class_weight='balanced'; else add samples of these classes, or stop "
        "later (another stop rule, or more max_epochs)."
    ]


def test_the_warning_does_not_recommend_weights_that_are_given():
    (message,) = fit_with_a_lost_class(class_weight={"rare": 0.5})
    assert "Add samples of these classes, or stop later" in message
    assert "class_weight" not in message


def test_a_class_of_weight_zero_is_not_missed():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(300, 2)).astype(np.float32)
    y = np.arange(300) % 3
    X[:, 0] += 5 * y
    clf = quick(PrestoppingClassifier, stop=StopAfter(8), class_weight={1: 0})
    with warnings.catch_warnings():
        warnings.simplefilter("error", SafeSetWarning)
        clf.fit(X, y)
    assert 1 not in clf.predict(X)


counts = st.lists(st.integers(0, 400), min_size=2, max_size=6)


@given(n_given=counts, fractions=st.data(), is_weighted=st.booleans())
def test_few_labels_are_those_of_a_loop(n_given, fractions, is_weighted):
    n_kept = [fractions.draw(st.integers(0, n)) for n in n_given]
    expected = []
    for k, (n, kept) in enumerate(zip(n_given, n_kept, strict=True)):
        is_rare = 2 * n < sum(n_given) / len(n_given)
        least = n / 4 if is_rare and not is_weighted else n / 10
        if kept < least:
            expected.append(k)
    found = few_kept(np.array(n_given), np.array(n_kept), is_weighted=is_weighted)
    # Thresholds that are not representable may be a rounding error off.
    exact = {k for k, n in enumerate(n_given) if n_kept[k] * 10 == n}
    assert set(found) - exact == set(expected) - exact
