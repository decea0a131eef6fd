"""The most probable classes of each sample, few enough to keep for every sample."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

#: Classes that are kept of each sample.
N_KEPT = 5


class Likeliest(NamedTuple):
    """The most probable classes of each sample, and their probabilities.

    Parameters
    ----------
    classes : ndarray of shape (n_samples, n_kept)
        Class numbers, the most probable first; at most five.
    probability : ndarray of shape (n_samples, n_kept)
        Posterior probabilities, which are not calibrated.
    """

    classes: NDArray[np.int32]
    probability: NDArray[np.float32]

    @classmethod
    def of(cls, posterior: NDArray[Any]) -> Self:
        """Return the most probable classes; of equal ones, that of the lowest number.

        Examples
        --------
        >>> likeliest = Likeliest.of(np.array([[0.25, 0.0, 0.75], [0.5, 0.5, 0.0]]))
        >>> likeliest.classes.tolist()
        [[2, 0, 1], [0, 1, 2]]
        >>> likeliest.besides(np.array([2, 1])).tolist()
        [0, 0]
        """
        left = np.array(posterior)
        rows = np.arange(len(left))
        classes, probability = [], []
        for _ in range(min(N_KEPT, left.shape[1])):
            highest = left.argmax(axis=1)
            classes.append(highest.astype(np.int32))
            probability.append(left[rows, highest].astype(np.float32))
            left[rows, highest] = -1
        return cls(np.stack(classes, axis=1), np.stack(probability, axis=1))

    @classmethod
    def joined(cls, parts: list["Likeliest"]) -> Self:
        """Return the same of all samples, from those of successive blocks."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def besides(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """Return the most probable class of each sample that is not its label."""
        is_label = self.classes[:, 0] == labels
        second = self.classes[:, min(1, self.classes.shape[1] - 1)]
        return np.where(is_label, second, self.classes[:, 0]).astype(np.intp)
