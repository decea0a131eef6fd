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


@pytest.mark.parametrize("check", injector_checks(), ids=lambda check: check.__name__)
def test_pair_noise_by_a_mapping_keeps_the_contract(check):
    if check.__name__ == "check_injector_renames_with_classes":
        pytest.skip("a mapping names the classes")
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
        return super().transform(
            np.where(np.isin(y, self.classes_), y, np.asarray(y)[0]), X
        )


def test_contract_passes_an_honest_injector_of_a_third_party():
    check_injector(HonestNoise(random_state=0))


@pytest.mark.parametrize("broken", HonestNoise.__subclasses__())
def test_contract_catches_a_broken_injector(broken):
    with pytest.raises(AssertionError):
        check_injector(broken(random_state=0))
