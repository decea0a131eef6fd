"""Properties that hold for all labels, rates and seeds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.stats import binom

from skpresto.noise import (
    InstanceDependentNoise,
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
)
from skpresto.noise._draws import random_state_of

quick = settings(deadline=None, derandomize=True, max_examples=60)

seeds = st.integers(0, 2**31 - 1)
rates = st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.2, 0.4, 0.5, 1.0])
label_vectors = st.one_of(
    npst.arrays(np.int64, st.integers(2, 60), elements=st.integers(-3, 3)),
    npst.arrays(np.uint8, st.integers(2, 60), elements=st.integers(250, 255)),
    npst.arrays(np.bool_, st.integers(2, 60)),
    npst.arrays(np.int64, st.integers(2, 60)),
    st.lists(st.sampled_from(["", "a", "bb", "é", "zebra"]), min_size=2, max_size=60),
    st.lists(st.sampled_from("xyz"), min_size=2, max_size=60).map(
        lambda labels: np.array(labels, dtype=object)
    ),
).filter(lambda y: len(set(np.asarray(y).tolist())) > 1)


@st.composite
def stochastic_matrices(draw, n_classes):
    weights = draw(
        npst.arrays(
            np.float64, (n_classes, n_classes), elements=st.floats(0, 1, width=32)
        )
    )
    weights[weights.sum(axis=1) < 1e-3] = 1
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def cases(draw, kinds=("symmetric", "pair", "matrix", "instance"), exact=None):
    """An injector of any kind, with labels and samples for it."""
    y = np.asarray(draw(label_vectors))
    kind, seed = draw(st.sampled_from(kinds)), draw(seeds)
    exact = draw(st.booleans()) if exact is None else exact
    X = np.random.RandomState(seed).standard_normal((len(y), 2)).round(1)
    if kind == "matrix":
        matrix = draw(stochastic_matrices(len(np.unique(y))))
        noise = TransitionMatrixNoise(matrix, exact=exact, random_state=seed)
    else:
        injector = {
            "symmetric": SymmetricNoise,
            "pair": PairNoise,
            "instance": InstanceDependentNoise,
        }[kind]
        noise = injector(draw(rates), exact=exact, random_state=seed)
    return noise, y, X


@quick
@given(cases())
def test_transition_matrix_is_row_stochastic(case):
    noise, y, X = case
    matrix = noise.fit(y, X).transition_matrix_
    assert (matrix >= 0).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-12)


@quick
@given(cases(kinds=("symmetric", "pair")))
def test_diagonal_is_one_minus_the_rate(case):
    noise, y, _ = case
    diagonal = noise.fit(y).transition_matrix_.diagonal()
    np.testing.assert_allclose(diagonal, 1 - noise.rate, rtol=0, atol=1e-15)


@quick
@given(cases(kinds=("symmetric", "pair", "instance")))
def test_rate_zero_changes_nothing(case):
    noise, y, X = case
    noise.set_params(rate=0)
    np.testing.assert_array_equal(noise.fit_transform(y, X), y)
    np.testing.assert_array_equal(noise.transition_matrix_, np.eye(len(noise.classes_)))
    assert noise.realized_rate_ == 0


@quick
@given(cases(kinds=("symmetric", "pair", "instance")))
def test_rate_one_changes_every_label(case):
    noise, y, X = case
    noise.set_params(rate=1)
    assert (noise.fit_transform(y, X) != y).all()
    assert noise.flipped_mask_.all()
    assert noise.realized_rate_ == 1


@quick
@given(cases())
def test_labels_stay_in_classes_and_flips_are_recorded(case):
    noise, y, X = case
    noisy = noise.fit_transform(y, X)
    assert set(noisy.tolist()) <= set(noise.classes_.tolist())
    assert noisy.dtype == y.dtype
    np.testing.assert_array_equal(noise.flipped_mask_, noisy != y)
    assert noise.realized_rate_ == pytest.approx(np.mean(noisy != y))


@quick
@given(cases())
def test_same_random_state_gives_the_same_result(case):
    noise, y, X = case
    first = noise.fit_transform(y, X)
    np.testing.assert_array_equal(noise.transform(y, X), first)
    one = noise.set_params(random_state=np.random.RandomState(7)).fit_transform(y, X)
    two = noise.set_params(random_state=np.random.RandomState(7)).fit_transform(y, X)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("injector", [SymmetricNoise, PairNoise])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_noise_injected_twice_has_the_product_matrix(injector, n_classes, exact, seed):
    y = np.arange(20_000) % n_classes
    noise = injector(0.3, exact=exact, random_state=seed)
    twice = noise.fit_transform(noise.fit_transform(y))
    matrix = noise.transition_matrix_ @ noise.transition_matrix_
    found = [
        [np.mean(twice[y == i] == j) for j in range(n_classes)]
        for i in range(n_classes)
    ]
    np.testing.assert_allclose(found, matrix, atol=0.03)


def test_a_random_state_instance_does_not_depend_on_the_labels():
    """So that results of earlier versions can be had again."""
    y, other = np.arange(1000) % 2, np.arange(1000) // 500
    masks = []
    for labels in (y, other):
        noise = SymmetricNoise(0.3, random_state=np.random.RandomState(0))
        noise.fit_transform(labels)
        masks.append(noise.flipped_mask_)
    np.testing.assert_array_equal(*masks)
    draws = np.random.RandomState(0).randint(2**32, size=1000, dtype=np.uint32)
    np.testing.assert_array_equal(masks[0], draws < 0.3 * 2**32)


@pytest.mark.parametrize("n_labels", [0, 5, 2**18 + 3])
def test_draws_depend_on_all_labels(n_labels):
    codes = (np.arange(n_labels) % 3).astype(np.uint8)
    changed = codes.copy()
    changed[-1:] = (changed[-1:] + 1) % 3
    first, again, other = (
        random_state_of(7, c, 3).randint(2**31) for c in (codes, codes, changed)
    )
    assert first == again
    assert (first != other) == (n_labels > 0)


def test_a_class_that_appears_late_is_numbered_last():
    codes = np.zeros(2**18 + 10, dtype=np.uint8)
    codes[-1] = 2
    codes[5] = 1
    swapped = np.array([2, 0, 1], dtype=np.uint8)[codes]
    assert random_state_of(7, codes, 3).randint(2**31) == random_state_of(
        7, swapped, 3
    ).randint(2**31)


@quick
@given(cases())
def test_input_and_global_random_state_are_not_changed(case):
    noise, y, X = case
    y.flags.writeable = X.flags.writeable = False
    y_before, X_before, before = y.copy(), X.copy(), np.random.get_state()[1].copy()
    noise.fit_transform(y, X)
    np.testing.assert_array_equal(y, y_before)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


@quick
@given(cases())
def test_renaming_classes_in_the_same_order_renames_noisy_labels(case):
    noise, y, X = case
    noisy = noise.fit_transform(y, X)
    classes = noise.classes_
    names = np.array([f"{i:03} renamed" for i in range(len(classes))])
    renamed = noise.fit_transform(names[np.searchsorted(classes, y)], X)
    np.testing.assert_array_equal(renamed, names[np.searchsorted(classes, noisy)])


@quick
@given(cases(exact=False), st.randoms(use_true_random=False))
def test_renaming_classes_in_another_order_flips_the_same_labels(case, random):
    """Which labels flip depends on the order of rows, not on the names of classes."""
    noise, y, X = case
    noise.fit_transform(y, X)
    flipped, classes = noise.flipped_mask_, noise.classes_
    order = list(range(len(classes)))
    random.shuffle(order)
    if isinstance(noise, TransitionMatrixNoise):
        back = np.argsort(order)
        noise.set_params(matrix=np.asarray(noise.matrix)[np.ix_(back, back)])
    noise.fit_transform(np.array(order)[np.searchsorted(classes, y)], X)
    np.testing.assert_array_equal(noise.flipped_mask_, flipped)


@quick
@given(label_vectors, rates, seeds, st.randoms(use_true_random=False))
def test_renaming_classes_and_mapping_renames_pair_noise(y, rate, seed, random):
    y = np.asarray(y)
    classes = np.unique(y)
    targets = np.roll(classes, 1)
    mapping = dict(zip(classes.tolist(), targets.tolist(), strict=True))
    names = [f"name {i}" for i in range(len(classes))]
    random.shuffle(names)
    name = dict(zip(classes.tolist(), names, strict=True))
    noisy = PairNoise(rate, mapping, random_state=seed).fit_transform(y)
    renamed = PairNoise(
        rate, {name[a]: name[b] for a, b in mapping.items()}, random_state=seed
    ).fit_transform([name[label] for label in y.tolist()])
    assert renamed.tolist() == [name[label] for label in noisy.tolist()]


@quick
@given(cases(kinds=("pair",)))
def test_pair_noise_moves_a_label_only_to_the_next_class(case):
    noise, y, _ = case
    noisy = noise.fit_transform(y)
    position = {label: k for k, label in enumerate(noise.classes_.tolist())}
    steps = {
        (position[b] - position[a]) % len(position)
        for a, b in zip(y.tolist(), noisy.tolist(), strict=True)
    }
    assert steps <= {0, 1}


@quick
@given(st.integers(2, 6).flatmap(lambda k: st.tuples(*[st.permutations(range(k))] * 2)))
def test_composition_of_deterministic_noises_has_the_product_matrix(permutations):
    n_classes = len(permutations[0])
    first, second = (np.eye(n_classes)[list(order)] for order in permutations)
    y = np.arange(3 * n_classes) % n_classes
    once = TransitionMatrixNoise(first).fit_transform(y)
    twice = TransitionMatrixNoise(second).fit_transform(once)
    product = TransitionMatrixNoise(first @ second).fit(y)
    np.testing.assert_array_equal(twice, product.transform(y))
    np.testing.assert_array_equal(product.transition_matrix_, first @ second)


@quick
@given(st.data(), st.integers(2, 5))
def test_product_of_transition_matrices_is_a_transition_matrix(data, n_classes):
    first = data.draw(stochastic_matrices(n_classes))
    second = data.draw(stochastic_matrices(n_classes))
    noise = TransitionMatrixNoise(first @ second).fit(np.arange(n_classes))
    np.testing.assert_allclose(noise.transition_matrix_, first @ second, atol=1e-14)


@quick
@given(cases(kinds=("symmetric", "pair", "instance"), exact=True))
def test_exact_mode_flips_the_exact_number_of_labels(case):
    noise, y, X = case
    noise.fit_transform(y, X)
    assert noise.flipped_mask_.sum() == round(noise.rate * len(y))


@quick
@given(label_vectors, rates, seeds)
def test_exact_pair_noise_counts_only_classes_in_the_mapping(y, rate, seed):
    y = np.asarray(y)
    first, second = np.unique(y)[:2]
    mapping = {first: second}
    noise = PairNoise(rate, mapping, exact=True, random_state=seed)
    noise.fit_transform(y)
    assert noise.flipped_mask_.sum() == round(rate * int((y == first).sum()))
    assert not noise.flipped_mask_[y != first].any()


@quick
@given(cases(kinds=("symmetric", "pair", "matrix"), exact=True))
def test_exact_mode_flips_the_rate_of_each_class_to_within_one_label(case):
    noise, y, _ = case
    noise.fit_transform(y)
    rates_of_classes = 1 - noise.transition_matrix_.diagonal()
    for label, rate in zip(noise.classes_, rates_of_classes, strict=True):
        of_class = y == label
        n_flips = noise.flipped_mask_[of_class].sum()
        assert abs(n_flips - rate * of_class.sum()) < 1 + 1e-9


@quick
@given(
    st.sampled_from([SymmetricNoise, PairNoise, InstanceDependentNoise]),
    st.floats(0, 1),
    st.integers(2, 5),
    seeds,
)
def test_realized_rate_is_within_binomial_bounds(injector, rate, n_classes, seed):
    """A correct injector is outside the bounds in one of a million examples.

    The number of flips varies less than a binomial if flip probabilities differ between
    samples, so the bounds hold for instance-dependent noise too.
    """
    y = np.arange(2000) % n_classes
    X = np.random.RandomState(seed).standard_normal((len(y), 3))
    noise = injector(rate, random_state=seed)
    noise.fit_transform(y, X)
    low, high = binom.ppf([5e-7, 1 - 5e-7], len(y), rate)
    assert low <= noise.flipped_mask_.sum() <= high
