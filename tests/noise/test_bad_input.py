"""Error messages say who needs what, what was passed, and what to do instead."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skpresto.noise import (
    InstanceDependentNoise,
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
)

X = np.arange(8.0).reshape(4, 2)
RATED = [SymmetricNoise, PairNoise, InstanceDependentNoise]


@pytest.mark.parametrize("injector", RATED)
@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan, "0.2", None])
def test_rate_must_be_between_zero_and_one(injector, rate):
    name = injector.__name__
    with pytest.raises(ValueError, match=rf"'rate' parameter of {name} must be .*0.*1"):
        injector(rate).fit([0, 1, 0, 1], X)


@pytest.mark.parametrize("injector", RATED)
def test_noise_needs_a_second_class(injector):
    match = f"{injector.__name__} with rate=0.3 needs at least two classes, .* rate=0"
    with pytest.raises(ValueError, match=match):
        injector(0.3).fit(["a"] * 4, X)


@pytest.mark.parametrize("injector", RATED)
@pytest.mark.parametrize("exact", [False, True])
def test_one_class_is_accepted_at_rate_zero(injector, exact):
    noise = injector(0.0, exact=exact)
    assert noise.fit_transform(["a"] * 4, X).tolist() == ["a"] * 4
    assert noise.transition_matrix_.tolist() == [[1.0]]


def test_rows_that_differ_from_one_by_rounding_are_rescaled():
    matrix = np.full((3, 3), 1 / 3, dtype=np.float32)
    noise = TransitionMatrixNoise(matrix).fit([0, 1, 2])
    np.testing.assert_allclose(noise.transition_matrix_.sum(axis=1), 1, atol=1e-15)


@pytest.mark.parametrize("injector", RATED)
def test_unseen_labels_are_named(injector):
    noise = injector().fit(["a", "b", "a", "b"], X)
    name = injector.__name__
    match = f"{name} has the classes 'a', 'b', but y .* not among them: 'c', 'd'"
    with pytest.raises(ValueError, match=match):
        noise.transform(["a", "c", "d", "c"], X)


def test_five_of_many_unseen_labels_are_named():
    noise = SymmetricNoise().fit([0, 1])
    with pytest.raises(ValueError, match="11, 12, 13, 14, 15 and 3 more"):
        noise.transform(np.arange(11, 19))


def test_unseen_labels_below_between_and_above_the_classes_are_found():
    noise = SymmetricNoise().fit([2, 5])
    for label in (-1, 3, 6):
        with pytest.raises(ValueError, match=f"not among them: {label}"):
            noise.transform([2, label, 5])


def test_strings_do_not_match_numbers():
    noise = SymmetricNoise().fit([1, 2])
    with pytest.raises(ValueError, match="not among them: '1'"):
        noise.transform(["1"])


@pytest.mark.parametrize(
    "call",
    [
        lambda noise: noise.fit([0, 1]),
        lambda noise: noise.fit_transform([0, 1]),
        lambda noise: noise.fit([0, 1], X[:2]).transform([0, 1]),
    ],
)
def test_instance_dependent_noise_needs_samples(call):
    with pytest.raises(ValueError, match=r"needs the samples X.*fit_transform\(y, X\)"):
        call(InstanceDependentNoise())


def test_numbers_of_samples_and_labels_must_be_equal():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        InstanceDependentNoise().fit([0, 1, 0], X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SymmetricNoise().as_sampler().fit_resample(X, [0, 1, 0])


def test_samples_must_have_the_features_of_fit():
    noise = InstanceDependentNoise().fit([0, 1, 0, 1], X)
    with pytest.raises(ValueError, match=r"X has 1 features, but .* is expecting 2"):
        noise.transform([0, 1, 0, 1], X[:, :1])


@pytest.mark.parametrize(
    ("mapping", "match"),
    [
        (
            {"truk": "cat"},
            "truk' to 'cat', but 'truk' is not among .*'cat'",
        ),
        ({"cat": "lorry"}, "'lorry' is not among the classes of y: 'cat', 'truck'"),
        ({"cat": "cat"}, "mapping of 'cat' to itself.*Leave a class out"),
    ],
)
def test_wrong_mappings_are_refused(mapping, match):
    with pytest.raises(ValueError, match=match):
        PairNoise(mapping=mapping).fit(["cat", "truck"])


def test_error_for_a_wrong_mapping_does_not_list_all_of_many_classes():
    with pytest.raises(ValueError, match=r"8, 9, \.\.\.\. Use the labels"):
        PairNoise(mapping={-1: 0}).fit(np.arange(1000))


@pytest.mark.parametrize(
    "noise", [SymmetricNoise(), TransitionMatrixNoise(np.eye(2)), PairNoise()]
)
def test_transform_before_fit_raises(noise):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        noise.transform([0, 1])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = noise.transition_matrix_


def test_flip_probabilities_before_fit_raise():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        InstanceDependentNoise().flip_probabilities(X)


def test_error_for_noise_as_a_step_of_a_pipeline_names_the_alternatives():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipe = make_pipeline(SymmetricNoise(), LogisticRegression())
    with pytest.raises(
        ValueError,
        match=r"use NoisyTargetClassifier .*imbalanced-learn, .* noise\.as_sampler\(\)",
    ):
        pipe.fit(X, [0, 1, 0, 1])
