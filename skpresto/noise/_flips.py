"""Which labels to flip: each independently, or a fixed number of each class."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skpresto._labels import Codes, parts
from skpresto._splits import first_of_each_class, shuffled_by_class

_N_VALUES = 2**32


class Flips(Protocol):
    """Choose the labels to flip, in consecutive parts of a label vector."""

    def choose(
        self, codes: Codes, rng: np.random.RandomState
    ) -> NDArray[np.intp]:  # pragma: no cover
        """Return the positions in ``codes`` of the labels to flip."""
        ...


class IndependentFlips:
    """Flip each label independently, with the probability of its class.

    The draws are 32-bit integers, which cost half of what floats cost; probabilities
    are rounded to multiples of 2**-32.

    Parameters
    ----------
    rates : ndarray of shape (n_classes,)
        Probability of each class that a label of it flips.
    """

    def __init__(self, rates: NDArray[np.float64]) -> None:
        thresholds = np.rint(rates * _N_VALUES).astype(np.uint64)
        is_same = len(set(thresholds.tolist())) == 1
        self._thresholds = thresholds[0] if is_same else thresholds

    def choose(self, codes: Codes, rng: np.random.RandomState) -> NDArray[np.intp]:
        """Return the positions in ``codes`` of the labels to flip."""
        draws = rng.randint(_N_VALUES, size=len(codes), dtype=np.uint32)
        if self._thresholds.ndim:
            return np.flatnonzero(draws < self._thresholds[codes])
        threshold = self._thresholds
        if threshold < _N_VALUES:
            threshold = threshold.astype(np.uint32)  # avoids a wider copy of the draws
        return np.flatnonzero(draws < threshold)


class ExactFlips:
    """Flip a fixed number of labels of each class, all choices equally likely.

    Parameters
    ----------
    n_labels : ndarray of shape (n_classes,)
        Number of labels of each class, in all parts together.
    n_flips : ndarray of shape (n_classes,)
        Number of them to flip.
    """

    def __init__(self, n_labels: NDArray[np.intp], n_flips: NDArray[np.intp]) -> None:
        self._labels_left = n_labels.copy()
        self._flips_left = n_flips.copy()

    def choose(self, codes: Codes, rng: np.random.RandomState) -> NDArray[np.intp]:
        """Return the positions in ``codes`` of the labels to flip."""
        order = shuffled_by_class(codes, rng)
        n_labels = np.bincount(codes, minlength=len(self._labels_left))
        return first_of_each_class(order, codes, self._draw_n_flips(n_labels, rng))

    def _draw_n_flips(
        self, n_labels: NDArray[np.intp], rng: np.random.RandomState
    ) -> NDArray[np.intp]:
        """Draw how many of the remaining flips of each class are in this part."""
        n_flips = np.zeros_like(n_labels)
        present = np.flatnonzero(n_labels)
        n_flipped = self._flips_left[present]
        n_kept = (self._labels_left - self._flips_left)[present]
        n_flips[present] = rng.hypergeometric(n_flipped, n_kept, n_labels[present])
        self._labels_left -= n_labels
        self._flips_left -= n_flips
        return n_flips


def count_labels(codes: Codes, n_classes: int) -> NDArray[np.intp]:
    """Count the labels of each class without converting all ``codes`` to ``intp``."""
    counts = np.zeros(n_classes, dtype=np.intp)
    for part in parts(len(codes)):
        counts += np.bincount(codes[part], minlength=n_classes)
    return counts
