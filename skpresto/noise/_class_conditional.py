"""Noise that depends only on the class of a label."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._labels import Codes, parts
from skpresto._splits import apportion
from skpresto.noise._base import BaseLabelNoise
from skpresto.noise._flips import ExactFlips, Flips, IndependentFlips, count_labels


class BaseClassConditionalNoise(BaseLabelNoise):
    """Choose the labels to flip by their class, then draw their new classes.

    New classes are drawn only for labels that flip, and labels are processed in parts:
    no array of shape (n_samples, n_classes) is created.
    """

    _parameter_constraints: dict = {
        **BaseLabelNoise._parameter_constraints,
        "exact": ["boolean"],
    }

    exact: bool

    def _draw(self, codes: Codes, X: Any, rng: np.random.RandomState) -> Codes:
        noisy = codes.copy()
        flips = self._flips(codes)
        for part in parts(len(codes)):
            flipped = flips.choose(codes[part], rng)
            if len(flipped):
                noisy[part][flipped] = self._draw_other(codes[part][flipped], rng)
        return noisy

    def _flips(self, codes: Codes) -> Flips:
        rates = self._flip_rates()
        if not self.exact:
            return IndependentFlips(rates)
        n_labels = count_labels(codes, len(self.classes_))
        n_flips = apportion(self._n_exact_flips(n_labels), rates * n_labels)
        return ExactFlips(n_labels, n_flips)

    def _n_exact_flips(self, n_labels: NDArray[np.intp]) -> int:
        return round(float(self._flip_rates() @ n_labels))

    @abstractmethod
    def _flip_rates(self) -> NDArray[np.float64]:
        """Return, for each class, the probability that a label of it flips."""

    @abstractmethod
    def _draw_other(self, codes: Codes, rng: np.random.RandomState) -> Codes:
        """Return a new class number, different from its own, for each label."""


def refuse_noise_in_one_class(owner: str, rate: float, classes: NDArray[Any]) -> None:
    """Raise if labels should flip but there is no other class to flip to."""
    if rate > 0 and len(classes) < 2:
        raise ValueError(
            f"{owner} with rate={rate} needs at least two classes, but y contains only "
            f"one class: {classes.tolist()[0]!r}. Pass labels of more classes, or "
            "rate=0."
        )
