"""Every injector satisfies the contract, and the checks detect violations."""

import numpy as np
import pytest

from skpresto.noise import (
    BaseLabelNoise,
    InstanceDependentNoise,
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
)
from skpresto.noise.testing import check_injector, example_data, injector_checks

MATRIX = [[0.7, 0.3, 0.0], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0]]

INJECTORS = [
    SymmetricNoise(rate=0.3, random_state=0),
    SymmetricNoise(rate=0.3, exact=True, random_state=0),
    SymmetricNoise(rate=1.0, random_state=0),
    PairNoise(rate=0.4, random_state=0),
    PairNoise(rate=0.4, exact=True, random_state=0),
    TransitionMatrixNoise(MATRIX, random_state=0),
    TransitionMatrixNoise(MATRIX, exact=True, random_state=0),
    InstanceDependentNoise(rate=0.3, random_state=0),
    InstanceDependentNoise(rate=0.3, exact=True, random_state=0),
    InstanceDependentNoise(rate=0.05, spread=0, random_state=0),
]


@pytest.mark.parametrize("check", injector_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("injector", INJECTORS, ids=repr)
def test_injectors_satisfy_the_contract(injector, check):
    check(injector, *example_data())


@pytest.mark.parametrize(
    "check",
    [
        check
        for check in injector_checks()
        # the mapping contains class names
        if check.__name__ != "check_injector_is_independent_of_names"
    ],
    ids=lambda check: check.__name__,
)
def test_pair_noise_with_a_mapping_satisfies_the_contract(check):
    check(PairNoise(0.4, {2: 0, 0: 1}, random_state=0), *example_data())


class CorrectNoise(BaseLabelNoise):
    """Satisfies the contract; each subclass below violates it in one way."""

    def __init__(self, rate=0.5, random_state=None):
        self.rate = rate
        self.random_state = random_state

    def _draw(self, codes, X, rng):
        return np.where(rng.random_sample(len(codes)) < self.rate, 0, codes)

    def _transition_matrix(self):
        matrix = (1 - self.rate) * np.eye(len(self.classes_))
        matrix[:, 0] += self.rate
        return matrix


class UsesGlobalRandomState(CorrectNoise):
    def _draw(self, codes, X, rng):
        return np.where(np.random.random_sample(len(codes)) < self.rate, 0, codes)


class HasWrongMatrix(CorrectNoise):
    def _transition_matrix(self):
        return np.eye(len(self.classes_))


class HasMatrixWithWrongSums(CorrectNoise):
    def _transition_matrix(self):
        return 1.01 * super()._transition_matrix()


class FlipsAtRateZero(CorrectNoise):
    def _draw(self, codes, X, rng):
        return np.roll(codes, 1)


class SetsStateInInit(CorrectNoise):
    def __init__(self, rate=0.5, random_state=None):
        super().__init__(rate, random_state)
        self.calls = 0


class ChangesItsInput(CorrectNoise):
    def transform(self, y, X=None):
        y[:] = super().transform(y, X)
        return y


class ReturnsClassNumbers(CorrectNoise):
    def transform(self, y, X=None):
        return np.searchsorted(self.classes_, super().transform(y, X))


class ReturnsNoSeries(CorrectNoise):
    def transform(self, y, X=None):
        return np.asarray(super().transform(y, X))


class IsNotReproducible(CorrectNoise):
    def _draw(self, codes, X, rng):
        return super()._draw(codes, X, np.random.RandomState())


class DrawsTheSameForNoisyLabels(CorrectNoise):
    """Exchanges the first two classes, at the same places in every call."""

    def _draw(self, codes, X, rng):
        if isinstance(self.random_state, int):
            rng = np.random.RandomState(self.random_state)
        is_flipped = (rng.random_sample(len(codes)) < self.rate) & (codes < 2)
        return np.where(is_flipped, 1 - codes.astype(int), codes)


class AcceptsUnseenLabels(CorrectNoise):
    def transform(self, y, X=None):
        is_seen = np.isin(y, self.classes_)
        return super().transform(np.where(is_seen, y, self.classes_[0]), X)


class KeepsRecordAfterRefit(CorrectNoise):
    def fit(self, y, X=None):
        record = vars(self).get("flipped_mask_")
        super().fit(y, X)
        if record is not None:
            self.flipped_mask_ = record
        return self


class CannotBePickled(CorrectNoise):
    def _fit_noise(self, labels, X):
        self.labels_ = lambda: labels


DETECTED_BY = {
    UsesGlobalRandomState: "check_injector_leaves_global_random_state",
    HasWrongMatrix: "check_injector_draws_from_its_matrix",
    HasMatrixWithWrongSums: "check_injector_has_stochastic_matrix",
    FlipsAtRateZero: "check_injector_changes_nothing_at_rate_zero",
    SetsStateInInit: "check_injector_can_be_cloned",
    ChangesItsInput: "check_injector_leaves_its_input",
    ReturnsClassNumbers: "check_injector_keeps_labels_in_classes",
    ReturnsNoSeries: "check_injector_returns_series",
    IsNotReproducible: "check_injector_is_reproducible",
    DrawsTheSameForNoisyLabels: "check_injector_draws_anew_for_noisy_labels",
    AcceptsUnseenLabels: "check_injector_refuses_bad_labels",
    KeepsRecordAfterRefit: "check_injector_can_be_refitted",
    CannotBePickled: "check_injector_can_be_pickled",
}


def test_checks_pass_for_a_correct_injector():
    check_injector(CorrectNoise(random_state=0))


@pytest.mark.parametrize(
    ("wrong", "name"), DETECTED_BY.items(), ids=[c.__name__ for c in DETECTED_BY]
)
def test_checks_detect_a_wrong_injector(wrong, name):
    (check,) = [check for check in injector_checks() if check.__name__ == name]
    X, y = example_data()
    y = y + 1 if wrong is ReturnsClassNumbers else y
    with pytest.raises((AssertionError, AttributeError)):
        check(wrong(random_state=0), X, y)
