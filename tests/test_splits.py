"""Stratified splits equal naive versions of themselves, draw by draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from skpresto._splits import (
    apportion,
    assign_folds,
    first_of_each_class,
    hold_out,
    shuffled_by_class,
)

seeds = st.integers(0, 2**31 - 1)
label_vectors = st.lists(st.integers(0, 5), min_size=1, max_size=60).map(np.array)
fractions = st.floats(0.001, 0.999) | st.sampled_from([0.1, 0.2, 0.25, 0.5])
quota_vectors = st.lists(st.floats(0, 20), min_size=1, max_size=8).map(np.array)


def naive_apportion(total, quotas, limits):
    numbers = [int(np.floor(quota)) for quota in quotas]
    loss = {i: quotas[i] - numbers[i] for i in range(len(quotas))}
    can_grow = [i for i in loss if limits is None or numbers[i] < limits[i]]
    for i in sorted(can_grow, key=lambda i: -loss[i])[: max(total - sum(numbers), 0)]:
        numbers[i] += 1
    return numbers


def naive_order(labels, rng):
    """Sort a random permutation by class."""
    return sorted(rng.permutation(len(labels)).tolist(), key=lambda i: labels[i])


def naive_hold_out(labels, fraction, rng):
    counts = np.bincount(labels)
    quotas = [min(fraction * n, max(n - 1, 0)) for n in counts]
    numbers = [int(np.floor(quota)) for quota in quotas]
    n_more = min(round(fraction * len(labels)), len(labels) - 1) - sum(numbers)
    if sum(numbers) == 0:
        n_more = max(n_more, 1)
    can_spare = [k for k, n in enumerate(counts) if numbers[k] < n - 1]
    for k in sorted(can_spare, key=lambda k: numbers[k] - quotas[k])[: max(n_more, 0)]:
        numbers[k] += 1
    held = []
    for i in naive_order(labels, rng):
        if numbers[labels[i]] > 0:
            numbers[labels[i]] -= 1
            held.append(i)
    return sorted(held) or None


def reference_hold_out(labels, fraction, rng):
    """Vectorized as before this module existed, to fix results bit for bit."""
    counts = np.bincount(labels)
    quotas = np.minimum(fraction * counts, np.maximum(counts - 1, 0))
    n_held = np.floor(quotas).astype(int)
    n_more = min(round(fraction * len(labels)), len(labels) - 1) - n_held.sum()
    spare = np.flatnonzero(n_held < counts - 1)
    by_loss = spare[np.argsort((n_held - quotas)[spare], kind="stable")]
    n_held[by_loss[: max(n_more, int(n_held.sum() == 0))]] += 1
    order = rng.permutation(len(labels))
    by_class = np.argsort(labels[order], kind="stable")
    first_of_class = np.repeat(np.cumsum(counts) - counts, counts)
    rank = np.arange(len(labels)) - first_of_class
    held = order[by_class][rank < np.repeat(n_held, counts)]
    return np.sort(held) if len(held) else None


def naive_folds(labels, n_folds, rng):
    folds, n_assigned = [-1] * len(labels), 0
    for i in naive_order(labels, rng):
        if labels.tolist().count(labels[i]) > 1:
            folds[i] = n_assigned % n_folds
            n_assigned += 1
    return folds


def reference_folds(labels, n_parts, rng):
    """Vectorized as before this module existed, to fix results bit for bit."""
    order = rng.permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    is_only = np.bincount(labels)[labels[by_class]] == 1
    parts = np.full(len(labels), -1)
    shared = by_class[~is_only]
    parts[shared] = np.arange(len(shared)) % n_parts
    return parts


def assert_same_state(first, second):
    assert first.get_state()[2] == second.get_state()[2]
    np.testing.assert_array_equal(first.get_state()[1], second.get_state()[1])


@given(quota_vectors, st.booleans(), st.data())
def test_apportion_equals_a_loop(quotas, with_limits, data):
    limits = None
    if with_limits:
        sizes = st.lists(
            st.integers(-1, 20), min_size=len(quotas), max_size=len(quotas)
        )
        limits = np.array(data.draw(sizes))
    total = data.draw(st.integers(0, int(quotas.sum()) + len(quotas)))
    expected = naive_apportion(total, quotas, limits)
    assert apportion(total, quotas, limits).tolist() == expected


@given(quota_vectors)
def test_apportioned_numbers_sum_to_the_total_and_are_within_one(quotas):
    total = round(quotas.sum())
    numbers = apportion(total, quotas)
    assert numbers.sum() == total
    assert (np.abs(numbers - quotas) < 1 + 1e-9).all()


@given(label_vectors, seeds)
def test_order_equals_a_sorted_permutation(labels, seed):
    first, second = np.random.RandomState(seed), np.random.RandomState(seed)
    order = shuffled_by_class(labels, first)
    assert order.tolist() == naive_order(labels, second)
    assert_same_state(first, second)


@given(label_vectors, seeds, st.data())
def test_first_of_each_class_equals_a_loop(labels, seed, data):
    n_classes = int(labels.max()) + 1 + data.draw(st.integers(0, 2))
    sizes = st.lists(st.integers(0, 9), min_size=n_classes, max_size=n_classes)
    n_per_class = np.array(data.draw(sizes))
    order = shuffled_by_class(labels, np.random.RandomState(seed))
    expected = []
    for i in order.tolist():
        n_taken = sum(labels[j] == labels[i] for j in expected)
        if n_taken < n_per_class[labels[i]]:
            expected.append(i)
    assert first_of_each_class(order, labels, n_per_class).tolist() == expected


@given(label_vectors, fractions, seeds)
def test_hold_out_equals_naive_versions(labels, fraction, seed):
    rngs = [np.random.RandomState(seed) for _ in range(3)]
    rows = hold_out(labels, fraction, rngs[0])
    expected = reference_hold_out(labels, fraction, rngs[1])
    naive = naive_hold_out(labels, fraction, rngs[2])
    assert_same_state(rngs[0], rngs[1])
    assert_same_state(rngs[0], rngs[2])
    if expected is None:
        assert rows is None
        assert naive is None
        return
    assert rows.dtype == expected.dtype
    np.testing.assert_array_equal(rows, expected)
    assert rows.tolist() == naive


@given(label_vectors, fractions, seeds)
def test_hold_out_is_stratified_and_leaves_a_row_of_each_class(labels, fraction, seed):
    rows = hold_out(labels, fraction, np.random.RandomState(seed))
    counts = np.bincount(labels)
    if rows is None:
        assert counts.max() == 1
        return
    n_held_out = np.bincount(labels[rows], minlength=len(counts))
    assert len(set(rows.tolist())) == len(rows) >= 1
    assert (n_held_out < np.maximum(counts, 1)).all()
    assert (np.abs(n_held_out - fraction * counts) <= 1 + 1e-9).all()
    assert len(rows) <= max(1, round(fraction * len(labels)))


@given(label_vectors, st.integers(2, 7), seeds)
def test_folds_equal_naive_versions(labels, cv, seed):
    rngs = [np.random.RandomState(seed) for _ in range(3)]
    folds = assign_folds(labels, cv, rngs[0])
    expected = reference_folds(labels, cv, rngs[1])
    assert folds.dtype == expected.dtype
    np.testing.assert_array_equal(folds, expected)
    assert folds.tolist() == naive_folds(labels, cv, rngs[2])
    assert_same_state(rngs[0], rngs[1])


@given(label_vectors, st.integers(2, 7), seeds)
def test_folds_are_of_equal_size_in_every_class(labels, cv, seed):
    folds = assign_folds(labels, cv, np.random.RandomState(seed))
    is_only = np.bincount(labels)[labels] == 1
    assert (folds[is_only] == -1).all()
    shared = np.unique(labels[~is_only])
    for chosen in (~is_only, *(labels == label for label in shared)):
        sizes = np.bincount(folds[chosen], minlength=cv)
        assert sizes.max() - sizes.min() <= 1


@given(st.integers(10, 60), st.integers(2, 5), seeds)
def test_folds_of_a_splitter_are_its_test_folds(n_samples, n_splits, seed):
    labels = np.arange(n_samples) % 2
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    rng = np.random.RandomState(seed)
    folds = assign_folds(labels, splitter, rng)
    for fold, (_, test) in enumerate(splitter.split(labels, labels)):
        np.testing.assert_array_equal(np.flatnonzero(folds == fold), test)
    assert folds.min() == 0
    assert_same_state(rng, np.random.RandomState(seed))


def test_samples_in_no_test_fold_have_minus_one():
    rng = np.random.RandomState(0)
    folds = assign_folds(np.zeros(6, dtype=int), TimeSeriesSplit(2), rng)
    assert folds.tolist() == [-1, -1, 0, 0, 1, 1]
    given_folds = [0, 1, -1, 1]
    folds = assign_folds(np.array([0, 0, 1, 1]), PredefinedSplit(given_folds), rng)
    assert folds.tolist() == given_folds


def test_overlapping_test_folds_are_refused():
    splitter = ShuffleSplit(5, test_size=0.5, random_state=0)
    match = (
        r"MyClassifier needs .* disjoint.* samples of test fold 1 of cv=ShuffleSplit"
    )
    with pytest.raises(ValueError, match=match):
        assign_folds(
            np.zeros(10, int), splitter, np.random.RandomState(0), "MyClassifier"
        )


@pytest.mark.parametrize(
    ("cv", "n_folds"), [(1, 1), (0, 0), (-3, -3), (PredefinedSplit([0, 0, -1]), 1)]
)
def test_fewer_than_two_folds_are_refused(cv, n_folds):
    match = rf"needs at least 2 folds, but cv=.* gives {n_folds}\. Pass"
    with pytest.raises(ValueError, match=match):
        assign_folds(np.array([0, 1, 0]), cv, np.random.RandomState(0))


@pytest.mark.parametrize("cv", [None, 2.5, "stratified", True, KFold])
def test_what_is_neither_int_nor_splitter_is_refused(cv):
    with pytest.raises(TypeError, match=r"int or a splitter .* but got cv="):
        assign_folds(np.array([0, 1, 0]), cv, np.random.RandomState(0))
