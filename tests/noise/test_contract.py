"""Every injector keeps the contract, and the contract catches those that do not."""

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
def test_injectors_keep_the_contract(injector, check):
    check(injector, *example_data())


@pytest.mark.parametrize(
    "check",
    [
        check
        for check in injector_checks()
        # a mapping names the classes
        if check.__name__ != "check_injector_renames_with_classes"
    ],
    ids=lambda check: check.__name__,
)
def test_pair_noise_by_a_mapping_keeps_the_contract(check):
    check(PairNoise(0.4, {2: 0, 0: 1}, random_state=0), *example_data())


class HonestNoise(BaseLabelNoise):
    """The mistakes below are made one at a time in subclasses of this."""

    def __init__(self, rate=0.5, random_state=None):
        self.rate = rate
        self.random_state = random_state

    def _draw(self, codes, X, rng):
        return np.where(rng.random_sample(len(codes)) < self.rate, 0, codes)

    def _transition_matrix(self):
        matrix = (1 - self.rate) * np.eye(len(self.classes_))
        matrix[:, 0] += self.rate
        return matrix


class StealsFromTheGlobalState(HonestNoise):
    def _draw(self, codes, X, rng):
        return np.where(np.random.random_sample(len(codes)) < self.rate, 0, codes)


class ClaimsAnotherMatrix(HonestNoise):
    def _transition_matrix(self):
        return np.eye(len(self.classes_))


class MatrixDoesNotSumToOne(HonestNoise):
    def _transition_matrix(self):
        return 1.01 * super()._transition_matrix()


class NoisyAtRateZero(HonestNoise):
    def _draw(self, codes, X, rng):
        return np.roll(codes, 1)


class KeepsStateInInit(HonestNoise):
    def __init__(self, rate=0.5, random_state=None):
        super().__init__(rate, random_state)
        self.calls = 0


class WritesIntoItsInput(HonestNoise):
    def transform(self, y, X=None):
        y[:] = super().transform(y, X)
        return y


class NumbersInsteadOfLabels(HonestNoise):
    def transform(self, y, X=None):
        return np.searchsorted(self.classes_, super().transform(y, X))


class LosesTheIndex(HonestNoise):
    def transform(self, y, X=None):
        return np.asarray(super().transform(y, X))


class NeverTheSameTwice(HonestNoise):
    def _draw(self, codes, X, rng):
        return super()._draw(codes, X, np.random.RandomState())


class SwallowsAnything(HonestNoise):
    def transform(self, y, X=None):
        known = np.isin(y, self.classes_)
        return super().transform(np.where(known, y, self.classes_[0]), X)


class HoldsOnToItsRecords(HonestNoise):
    def fit(self, y, X=None):
        record = vars(self).get("flipped_mask_")
        super().fit(y, X)
        if record is not None:
            self.flipped_mask_ = record
        return self


class CannotBePickled(HonestNoise):
    def _fit_noise(self, labels, X):
        self.source_ = lambda: labels


class CopiesItsSamples(HonestNoise):
    def fit_resample(self, X, y):
        return X.copy(), self.fit_transform(y, X)


CAUGHT_BY = {
    StealsFromTheGlobalState: "check_injector_spares_global_random_state",
    ClaimsAnotherMatrix: "check_injector_draws_by_its_matrix",
    MatrixDoesNotSumToOne: "check_injector_has_stochastic_matrix",
    NoisyAtRateZero: "check_injector_changes_nothing_at_rate_zero",
    KeepsStateInInit: "check_injector_can_be_cloned",
    WritesIntoItsInput: "check_injector_spares_its_input",
    NumbersInsteadOfLabels: "check_injector_keeps_labels_in_classes",
    LosesTheIndex: "check_injector_keeps_series",
    NeverTheSameTwice: "check_injector_repeats_itself",
    SwallowsAnything: "check_injector_refuses_bad_labels",
    HoldsOnToItsRecords: "check_injector_forgets_earlier_fits",
    CannotBePickled: "check_injector_survives_pickling",
    CopiesItsSamples: "check_injector_resamples",
}


def test_contract_passes_an_honest_injector_of_a_third_party():
    check_injector(HonestNoise(random_state=0))


@pytest.mark.parametrize(
    ("broken", "name"), CAUGHT_BY.items(), ids=[c.__name__ for c in CAUGHT_BY]
)
def test_contract_catches_a_broken_injector(broken, name):
    (check,) = [check for check in injector_checks() if check.__name__ == name]
    X, y = example_data()
    y = y + 1 if broken is NumbersInsteadOfLabels else y
    with pytest.raises((AssertionError, AttributeError)):
        check(broken(random_state=0), X, y)
