"""Which labels flip: each by its own coin, or exactly as many as asked."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skpresto.noise._labels import Codes, parts

_COIN_VALUES = 2**32


class Flips(Protocol):
    """Choose the labels that flip, part after part of a label vector."""

    def choose(
        self, codes: Codes, rng: np.random.RandomState
    ) -> NDArray[np.intp]:  # pragma: no cover
        """Return the positions in ``codes`` of the labels that flip."""
        ...


class IndependentFlips:
    """Flip each label by a coin of its own, weighted by its class.

    A coin is a 32-bit number, half the cost of a float; a rate is hit to within
    1.2e-10.
    """

    def __init__(self, rates: NDArray[np.float64]) -> None:
        limits = np.rint(rates * _COIN_VALUES).astype(np.uint64)
        self._limits = limits if len(set(limits.tolist())) > 1 else limits[0]

    def choose(self, codes: Codes, rng: np.random.RandomState) -> NDArray[np.intp]:
        """Return the positions in ``codes`` of the labels that flip."""
        coins = rng.randint(_COIN_VALUES, size=len(codes), dtype=np.uint32)
        limits = self._limits[codes] if self._limits.ndim else self._limits
        if not self._limits.ndim and limits < _COIN_VALUES:
            limits = limits.astype(np.uint32)  # spares a wider copy of the coins
        return np.flatnonzero(coins < limits)


class ExactFlips:
    """Flip a fixed number of labels of each class, all choices equally likely.

    Parameters
    ----------
    n_labels : ndarray of shape (n_classes,)
        Labels there are of each class, in all parts together.
    n_flips : ndarray of shape (n_classes,)
        Labels to flip among them.
    """

    def __init__(self, n_labels: NDArray[np.intp], n_flips: NDArray[np.intp]) -> None:
        self._labels_left = n_labels.copy()
        self._flips_left = n_flips.copy()

    def choose(self, codes: Codes, rng: np.random.RandomState) -> NDArray[np.intp]:
        """Return the positions in ``codes`` of the labels that flip."""
        n_here = np.bincount(codes, minlength=len(self._labels_left))
        shuffled = rng.permutation(len(codes))
        by_class_then_chance = shuffled[np.argsort(codes[shuffled], kind="stable")]
        first_of_class = np.cumsum(n_here) - n_here
        sorted_codes = codes[by_class_then_chance]
        place_in_class = np.arange(len(codes)) - first_of_class[sorted_codes]
        n_flips_here = self._share_of_this_part(n_here, rng)
        return by_class_then_chance[place_in_class < n_flips_here[sorted_codes]]

    def _share_of_this_part(
        self, n_here: NDArray[np.intp], rng: np.random.RandomState
    ) -> NDArray[np.intp]:
        """Draw how many of the flips still due fall among the labels here."""
        share = np.zeros_like(n_here)
        here = np.flatnonzero(n_here)
        due, stay = self._flips_left[here], (self._labels_left - self._flips_left)[here]
        share[here] = rng.hypergeometric(due, stay, n_here[here])
        self._labels_left -= n_here
        self._flips_left -= share
        return share


def count_labels(codes: Codes, n_classes: int) -> NDArray[np.intp]:
    """Count the labels of each class without widening ``codes`` as a whole."""
    counts = np.zeros(n_classes, dtype=np.intp)
    for part in parts(len(codes)):
        counts += np.bincount(codes[part], minlength=n_classes)
    return counts


def apportion(total: int, quotas: NDArray[np.float64]) -> NDArray[np.intp]:
    """Split ``total`` into whole numbers, each less than one from its quota.

    Largest remainders are rounded up; equal ones in the order of the classes.
    ``total`` must be the sum of the quotas, rounded.
    """
    shares = np.floor(quotas).astype(np.intp)
    by_remainder = np.argsort(shares - quotas, kind="stable")
    shares[by_remainder[: total - shares.sum()]] += 1
    return shares
