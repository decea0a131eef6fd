"""Estimates of the transition matrix and the noise rate of given labels."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from skpresto.noise import (
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
    estimate_transition_matrix,
    noise_rate_from,
)
from skpresto.noise._counts import (
    joint_counts,
    rows_given_truth,
    shrunken_rows_given_truth,
)
from tests.naive_posterior import shrunken_transitions

quick = settings(deadline=None, derandomize=True, max_examples=60)
codes = npst.arrays(np.int64, 30, elements=st.integers(0, 3))


def count_by_loop(noisy, true):
    classes = sorted(set(noisy) | set(true))
    matrix = np.eye(len(classes))
    for i, actual in enumerate(classes):
        given_to = [a for a, b in zip(noisy, true, strict=True) if b == actual]
        if given_to:
            matrix[i] = [given_to.count(label) / len(given_to) for label in classes]
    return matrix


def confident_matrix_by_loop(noisy, proba):
    n_classes = proba.shape[1]
    threshold = {
        k: np.mean([p[k] for p, label in zip(proba, noisy, strict=True) if label == k])
        for k in set(noisy)
    }
    joint = np.zeros((n_classes, n_classes))
    for p, label in zip(proba, noisy, strict=True):
        confident = [k for k in sorted(threshold) if p[k] >= threshold[k]]
        if confident:
            joint[label, max(confident, key=lambda k: p[k])] += 1
    for k in set(noisy):
        if not joint[k].any():
            joint[k, k] = 1
        joint[k] *= np.sum(noisy == k) / joint[k].sum()
    return np.array(
        [
            joint[:, k] / joint[:, k].sum()
            if joint[:, k].any()
            else np.eye(n_classes)[k]
            for k in range(n_classes)
        ]
    )


@quick
@given(codes, codes)
def test_counting_equals_a_loop(noisy, true):
    matrix = estimate_transition_matrix(noisy, true)
    np.testing.assert_allclose(matrix, count_by_loop(noisy.tolist(), true.tolist()))
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-12)


@quick
@given(codes, st.integers(0, 2**31 - 1))
def test_confident_joint_equals_a_loop(noisy, seed):
    proba = np.random.RandomState(seed).dirichlet(np.full(4, 0.5), size=30)
    matrix = estimate_transition_matrix(noisy, pred_proba=proba, classes=range(4))
    np.testing.assert_allclose(
        matrix, confident_matrix_by_loop(noisy, proba), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (matrix >= 0).all()


def test_rows_are_true_classes_and_columns_are_given_labels():
    y_true = ["cat", "cat", "cat", "cat", "dog", "dog"]
    y_noisy = ["cat", "cat", "cat", "dog", "dog", "dog"]
    matrix = estimate_transition_matrix(y_noisy, y_true)
    assert matrix.tolist() == [[0.75, 0.25], [0.0, 1.0]]


@pytest.mark.parametrize("convert", [np.asarray, list, pd.Series])
def test_matrix_of_injected_noise_is_estimated(convert):
    y = np.random.RandomState(0).choice(["a", "b", "c"], size=20_000, p=[0.5, 0.3, 0.2])
    expected = np.array([[0.7, 0.2, 0.1], [0.0, 0.9, 0.1], [0.3, 0.3, 0.4]])
    y_noisy = TransitionMatrixNoise(expected, random_state=0).fit_transform(y)
    found = estimate_transition_matrix(convert(y_noisy), convert(y))
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_perfect_predictions_give_the_same_matrix_as_true_labels():
    y = np.random.RandomState(0).randint(3, size=3000)
    y_noisy = SymmetricNoise(0.3, random_state=0).fit_transform(y)
    found = estimate_transition_matrix(y_noisy, pred_proba=np.eye(3)[y])
    np.testing.assert_allclose(found, estimate_transition_matrix(y_noisy, y))


@pytest.mark.parametrize("injector", [PairNoise, SymmetricNoise])
@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_noise_rate_is_estimated_without_true_labels(injector, rate):
    X, y = load_digits(return_X_y=True)
    y_noisy = injector(rate, exact=True, random_state=0).fit_transform(y)
    proba = cross_val_predict(
        KNeighborsClassifier(20), X, y_noisy, method="predict_proba"
    )
    found = noise_rate_from(estimate_transition_matrix(y_noisy, pred_proba=proba))
    assert found == pytest.approx(rate, abs=0.03)


@quick
@given(st.floats(0, 1), st.integers(2, 6))
def test_noise_rate_of_symmetric_noise_does_not_depend_on_the_prior(rate, n_classes):
    matrix = SymmetricNoise(rate).fit(np.arange(n_classes)).transition_matrix_
    prior = np.arange(1.0, n_classes + 1)
    assert noise_rate_from(matrix) == pytest.approx(rate)
    assert noise_rate_from(matrix, prior / prior.sum()) == pytest.approx(rate)


def test_noise_rate_is_weighted_by_the_prior():
    matrix = [[1.0, 0.0], [0.5, 0.5]]
    assert noise_rate_from(matrix) == 0.25
    assert noise_rate_from(matrix, [0.9, 0.1]) == pytest.approx(0.05)


def counts_by_loop(noisy, true):
    joint = np.zeros((4, 4))
    for given_label, true_label in zip(noisy, true, strict=True):
        joint[given_label, true_label] += 1
    return joint


@quick
@given(codes, codes, st.sampled_from([np.uint8, np.int64]))
def test_joint_counts_equal_a_loop(noisy, true, dtype):
    joint = joint_counts(noisy.astype(dtype), true.astype(dtype), 4)
    assert joint.dtype == np.float64
    np.testing.assert_array_equal(joint, counts_by_loop(noisy, true))


@quick
@given(codes, codes, st.floats(0.01, 5), st.sampled_from([np.float32, np.float64]))
def test_smoothing_adds_samples_of_all_labels(noisy, true, smoothing, dtype):
    joint = joint_counts(noisy, true, 4)
    matrix = rows_given_truth(joint.astype(dtype), smoothing)
    expected = np.empty((4, 4))
    for j in range(4):
        for k in range(4):
            numerator = joint[k, j] + smoothing / 4
            expected[j, k] = numerator / (joint[:, j].sum() + smoothing)
    assert matrix.dtype == dtype
    np.testing.assert_allclose(matrix, expected, rtol=1e-6)


@quick
@given(codes, codes)
def test_one_sample_of_smoothing_equals_torch_bit_for_bit(noisy, true):
    joint = torch.from_numpy(joint_counts(noisy, true, 4)).float()
    counts = joint.t()
    totals = counts.sum(dim=1, keepdim=True) + 1
    expected = (counts + 1 / 4) / totals
    matrix = rows_given_truth(joint.numpy(), smoothing=1)
    np.testing.assert_array_equal(matrix, expected.numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
def test_without_smoothing_a_class_without_samples_keeps_its_label(dtype):
    joint = np.array([[3, 0], [1, 0]], dtype=dtype)
    matrix = rows_given_truth(joint)
    assert matrix.tolist() == [[0.75, 0.25], [0.0, 1.0]]
    assert matrix.dtype == (dtype if dtype == np.float32 else np.float64)
    assert joint.tolist() == [[3, 0], [1, 0]]


PROBA = np.full((2, 2), 0.5)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([0, 1],), "either y_true or pred_proba.*got neither"),
        (([0, 1], [0, 1], PROBA), "either y_true or pred_proba.*got both"),
        (([0, 1], [0, 1, 1]), "inconsistent numbers of samples"),
        (([0, 1], None, PROBA[:1]), "inconsistent numbers of samples"),
        (
            ([0, 1], None, np.full((2, 3), 1 / 3)),
            "each of 2 classes, but got 3 columns",
        ),
        (([0, 1], None, 3 * PROBA), "rows that sum to 1.*between 3 and 3.*softmax"),
        (([0, 1], None, [[1.5, -0.5]] * 2), "smallest entry is -0.5"),
        (
            ([0, 2], None, PROBA, [0, 1]),
            "y_noisy contains labels .* not among them: 2.*classes",
        ),
        (([0, 1], [0, 1], None, [1, 0]), r"sorted and distinct.*\[1, 0\]"),
        (([0, np.nan], [0, 1]), "missing values"),
    ],
)
def test_wrong_arguments_are_refused(arguments, match):
    names = ("y_noisy", "y_true", "pred_proba", "classes")
    with pytest.raises(ValueError, match=match):
        estimate_transition_matrix(**dict(zip(names, arguments, strict=False)))


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        ([1.0], r"each of the 2 classes.*shape \(1,\)"),
        ([0.5, 0.6], r"sum to 1, but got \[0.5, 0.6\]"),
        ([1.5, -0.5], "non-negative"),
        ([np.nan, 1.0], "non-negative"),
    ],
)
def test_wrong_priors_are_refused(prior, match):
    with pytest.raises(ValueError, match=match):
        noise_rate_from(np.eye(2), prior)


def test_noise_rate_of_a_wrong_matrix_is_refused():
    with pytest.raises(ValueError, match="noise_rate_from needs a row-stochastic"):
        noise_rate_from([[0.5, 0.4], [0, 1]])


@st.composite
def labelled_twice(draw):
    n_classes, n_samples = draw(st.integers(2, 5)), draw(st.integers(1, 80))
    rng = np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    true = rng.randint(n_classes, size=n_samples)
    is_wrong = rng.uniform(size=n_samples) < draw(st.floats(0, 1))
    other = (true + rng.randint(1, draw(st.integers(2, n_classes)), n_samples)) % (
        n_classes
    )
    return np.where(is_wrong, other, true), true, n_classes


@given(labelled_twice(), st.randoms(use_true_random=False))
def test_shrunken_matrices_equal_those_of_the_naive_twin(drawn, random):
    noisy, true, n_classes = drawn
    matrix = shrunken_rows_given_truth(noisy, true, n_classes)
    counts = joint_counts(noisy, true, n_classes).T.astype(int).tolist()
    np.testing.assert_allclose(matrix, shrunken_transitions(counts), rtol=1e-9)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert (matrix > 0).all()
    # Other names of the classes give the same matrix.
    name = np.array(random.sample(range(n_classes), n_classes))
    renamed = shrunken_rows_given_truth(name[noisy], name[true], n_classes)
    np.testing.assert_allclose(renamed[np.ix_(name, name)], matrix, rtol=1e-9)


@pytest.mark.parametrize("kind", [SymmetricNoise, PairNoise])
def test_uniform_noise_is_found_to_be_uniform_and_pair_noise_is_not(kind):
    true = np.arange(4000) % 20
    noisy = kind(0.4, random_state=0).fit_transform(true)
    matrix = shrunken_rows_given_truth(noisy, true, 20)
    exact = kind(0.4).fit(true).transition_matrix_
    counted = rows_given_truth(joint_counts(noisy, true, 20), smoothing=1)
    shrunken, plain = (np.abs(m - exact).sum(axis=1).mean() for m in (matrix, counted))
    assert shrunken < (0.5 if kind is SymmetricNoise else 1.05) * plain
